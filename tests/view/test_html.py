"""Animations: one file, no network, and something moves in it."""

from __future__ import annotations

import re

import numpy as np
import pytest
from browser import chromium, needs_chromium
from free_flight import FreeFlight

import linkwork as lw
from linkwork.view import write_html
from linkwork.view.framing import frame_bodies
from linkwork.view.html import _chosen_frames


def recorded(tmp_path, bodies=5, steps=60):
    scene = lw.Scene(gravity=(0, 0, -1))
    spread = [(2.0 * k, 0, 5.0) for k in range(bodies)]
    links = scene.add_bodies(lw.Box(1, 0.5, 2), spread, angular_velocities=(0, 3, 0))
    scene.add_body(lw.Cylinder(0.3, 4), position=(0, 0, 2), fixed=True)
    scene.add_body(mass=1, inertia=(1, 1, 1.5), position=(0, 3, 5))
    scene.add_body(lw.Plane(), fixed=True)
    scene.add_joint(lw.Ball(), links[0], links[1], at=(1, 0, 5))
    sim = lw.Simulation(scene, FreeFlight(), dt=1 / 30)
    with sim.record(tmp_path / "run.lwr", fps=30):
        sim.step(steps)
    return lw.Recording(tmp_path / "run.lwr")


def test_the_file_needs_nothing_from_outside(tmp_path):
    made = write_html(recorded(tmp_path), tmp_path / "a.html", title="<balls & boxes>")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert (made.frames, made.shown) == (61, 8)
    assert made.size == (tmp_path / "a.html").stat().st_size
    assert "<title>&lt;balls &amp; boxes&gt;</title>" in page
    # Names of XML namespaces look like addresses, but nobody goes there.
    addresses = set(re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)([^"']+)["']""", page))
    assert not {address for address in addresses if address.startswith(("http", "//", "/"))}


def test_nothing_is_printed(tmp_path, capsys):
    write_html(recorded(tmp_path), tmp_path / "a.html")
    assert capsys.readouterr().out == ""


def test_long_recordings_lose_frames_and_huge_ones_bodies(tmp_path):
    recording = recorded(tmp_path, steps=300)
    assert len(_chosen_frames(recording, 8, 30.0, 1e9)) == 301
    assert len(_chosen_frames(recording, 8, 10.0, 1e9)) == 101
    assert len(_chosen_frames(recording, 10_000, 30.0, 28e6)) == 100
    assert len(_chosen_frames(recording, 10**6, 30.0, 28e6)) == 60
    small = write_html(recording, tmp_path / "a.html", megabytes=28 * 8 * 60 / 2 * 1e-6)
    assert (small.frames, small.shown) == (60, 5)


def test_a_recording_without_frames_is_refused(tmp_path):
    recording = recorded(tmp_path, steps=1)
    recording.frames = recording.frames[:0]
    with pytest.raises(lw.LinkworkError, match="no whole frame"):
        write_html(recording, tmp_path / "a.html")


def test_the_camera_sees_all_bodies_in_all_frames(tmp_path):
    recording = recorded(tmp_path)
    framing = frame_bodies(recording, list(range(len(recording))))
    forward = (framing.centre - framing.eye) / framing.distance
    right = np.cross(forward, (0, 0, 1))
    right /= np.linalg.norm(right)
    for frame in recording:
        seen = frame.positions[:-1] - framing.eye
        depth = seen @ forward
        assert (depth > 0).all()
        tangent = np.tan(0.5 * framing.field_of_view)
        assert (np.abs(seen @ right) < 1.6 * tangent * depth).all()
        assert (np.abs(seen @ np.cross(right, forward)) < tangent * depth).all()
    assert framing.floor <= min(frame.positions[:-1, 2].min() for frame in recording)


def test_the_floor_lies_under_what_stands_on_it_though_shapes_reach_to_one_side(tmp_path):
    scene = lw.Scene()
    scene.add_body(lw.Compound([(lw.Box(0.2, 0.2, 2.0), (0.0, 0.0, 1.0))]), position=(3, 0, 0), fixed=True)
    scene.add_body(lw.Compound([(lw.Box(1.0, 0.1, 0.1), (0.5, 0.0, 0.0))]), position=(3, 0, 2))
    sim = lw.Simulation(scene, FreeFlight(), dt=1e-6)
    with sim.record(tmp_path / "run.lwr"):
        sim.step()
    framing = frame_bodies(lw.Recording(tmp_path / "run.lwr"), [0])
    assert framing.floor == pytest.approx(0.0, abs=1e-6)
    assert framing.distance < 5.0


def bodies_shown(page):
    """A picture with bodies beside the notice about software rendering and above the play bar."""
    picture = page.pixels()[:300, 320:]
    return picture if (picture[..., 2] - picture[..., 0] > 25).sum() > 2000 else None


@needs_chromium
def test_the_page_shows_the_bodies_and_plays(tmp_path):
    write_html(recorded(tmp_path), tmp_path / "a.html")
    with chromium(tmp_path, width=640, height=500) as page:
        page.open((tmp_path / "a.html").as_uri())
        early = page.wait_for(lambda: bodies_shown(page), what="a picture of the bodies")
        page.wait_for(lambda: (np.abs(page.pixels()[:300, 320:] - early).max(axis=2) > 40).sum() > 500, what="motion")
        assert page.errors == []
