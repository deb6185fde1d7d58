"""Stills: right side up, in the picture, lit from above, and the same every time."""

from __future__ import annotations

import numpy as np
import pytest
from free_flight import FreeFlight
from PIL import Image

import linkwork as lw
from linkwork.view import still
from linkwork.view.framing import frame_bodies
from linkwork.view.motion import Present
from linkwork.view.painting.surfaces import corner_normals

SMALL = (160, 120)


def painted(source, path, **how):
    """Pixels (h, w, 3) of a small still."""
    return np.asarray(Image.open(still(source, path, size=SMALL, **how)).convert("RGB"), np.int64)


def simulation(*places, ground=False):
    """Boxes of half a metre at some places; nothing moves by itself."""
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_bodies(lw.Box(0.5, 0.5, 0.5), places, velocities=(1, 0, 0))
    if ground:
        scene.add_body(lw.Plane(), fixed=True)
    return lw.Simulation(scene, FreeFlight(), dt=0.1)


def blue(picture):
    """Which pixels show a moving body."""
    return picture[..., 2] - picture[..., 0] > 25


def test_a_body_higher_up_is_higher_in_the_picture_and_one_to_the_right_is_further_right(tmp_path):
    high = simulation((0, 0, 0), (0, 0, 1.5), (1.5, 0, 0))
    rows, columns = np.nonzero(blue(painted(high, tmp_path / "a.png", direction=(0, -1, 0.2))))
    corner = (rows > 60) & (columns > 80)
    assert (rows < 60).any()
    assert corner.any()
    assert not ((rows < 55) & (columns > 85)).any()


def test_bodies_fill_most_of_the_picture_and_touch_no_side(tmp_path):
    seen = blue(painted(simulation((0, 0, 0), (3, 0, 0), (0, 0, 2)), tmp_path / "a.png"))
    assert not any(side.any() for side in (seen[0], seen[-1], seen[:, 0], seen[:, -1]))
    rows, columns = np.nonzero(seen)
    assert max(np.ptp(rows) / SMALL[1], np.ptp(columns) / SMALL[0]) > 0.6


def test_tops_are_brighter_than_sides_and_the_floor_is_darker_under_a_body(tmp_path):
    sim = simulation((0, 0, 0.8), ground=True)
    lit = painted(sim, tmp_path / "a.png", direction=(0, -1, 0.6))
    column = lit[:, 80].sum(axis=1)
    body = np.flatnonzero(blue(lit)[:, 80])
    assert column[body[2]] > 1.2 * column[body[-3]]
    floor = lit[~blue(lit)].sum(axis=1)
    assert floor.min() < 0.75 * np.median(floor)


def test_the_same_state_gives_the_same_picture(tmp_path):
    sim = simulation((0, 0, 0), (1, 0, 0))
    assert (painted(sim, tmp_path / "a.png") == painted(sim, tmp_path / "b.png")).all()


def test_a_picture_far_from_the_origin_is_as_sharp(tmp_path):
    near, far = simulation((0, 0, 0.25)), simulation((1e5, 1e5, 0.25))
    pictures = [painted(sim, tmp_path / "a.png") for sim in (near, far)]
    assert (blue(pictures[0]) != blue(pictures[1])).sum() < 20


def test_a_recording_shows_the_frame_nearest_to_the_time(tmp_path):
    sim = simulation((0, 0, 0), (0, 0, 2))
    with sim.record(tmp_path / "run.lwr", fps=10):
        sim.step(20)
    early, late = (painted(tmp_path / "run.lwr", tmp_path / "a.png", at=t, whole_motion=True) for t in (0.0, 2.0))
    columns = [np.nonzero(blue(picture))[1].mean() for picture in (early, late)]
    assert columns[1] - columns[0] > 20
    last = painted(lw.Recording(tmp_path / "run.lwr"), tmp_path / "a.png", whole_motion=True)
    assert (last == late).all()


def test_what_cannot_be_shown_is_refused(tmp_path):
    sim = simulation((0, 0, 0))
    with pytest.raises(lw.LinkworkError, match=r"nothing to show at 5.0 s: it is known only at 0 s"):
        still(sim, tmp_path / "a.png", at=5.0)
    with pytest.raises(lw.LinkworkError, match="width and height from 16 to 8192 pixels, got"):
        still(sim, tmp_path / "a.png", size=(0, 10))
    with pytest.raises(lw.LinkworkError, match="direction must be three numbers, not all zero"):
        still(sim, tmp_path / "a.png", direction=(0, 0, 0))
    with pytest.raises(lw.LinkworkError, match="needs a simulation, a recording or the file"):
        still(17, tmp_path / "a.png")
    with pytest.raises(lw.LinkworkError, match="cannot be written"):
        still(sim, tmp_path / "nowhere" / "a.png")


def test_normals_are_rounded_on_a_barrel_and_sharp_at_its_rim():
    vertices, faces = lw.Cylinder(1.0, 2.0).surface()
    vertices, faces = vertices.astype(np.float32), faces.astype(np.int32)
    normals = corner_normals(vertices, faces)
    points = vertices[faces].astype(np.float64)
    flat = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    lid = np.abs(flat[:, 2]) > 0.9 * np.linalg.norm(flat, axis=1)
    assert np.allclose(np.abs(normals[lid][..., 2]), 1.0, atol=1e-6)
    outward = points[~lid][..., :2] / np.linalg.norm(points[~lid][..., :2], axis=-1, keepdims=True)
    assert np.allclose(normals[~lid][..., :2], outward, atol=1e-5)


def test_of_many_bodies_the_one_that_sticks_out_is_in_the_picture():
    places = np.zeros((20_002, 3))
    places[:, 0] = np.linspace(0.0, 1.0, len(places))
    places[20_001] = (0.5, 0.0, -9.0)
    scene = lw.Scene()
    scene.add_bodies(lw.Box(0.1, 0.1, 0.1), places)
    framing = frame_bodies(Present(lw.Simulation(scene, FreeFlight(), dt=0.1)), [0])
    assert framing.floor == pytest.approx(-9.05, abs=1e-6)
