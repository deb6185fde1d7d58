"""Contacts of whole scenes: what is found, recognised, missed on purpose, and reported at the start."""

from __future__ import annotations

import numpy as np
import pytest
import warp as wp
from contact.finding import FIELDS, Found
from scipy.spatial.transform import Rotation

import linkwork as lw


def plate_and_ball(start, velocity, radius: float = 0.005, **plate) -> Found:
    """A plate of 1 cm, 1 m wide, its top at z = 0, and a small ball."""
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Box(1.0, 1.0, 0.01), position=(0, 0, -0.005), fixed=True, **plate)
    scene.add_body(lw.Sphere(radius), position=start, velocity=velocity)
    return Found(scene)


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("height", [0.01, 0.2, 0.5, 0.9])
def test_a_ball_at_100_m_per_s_meets_a_plate_of_one_centimetre(side: int, height: float) -> None:
    middle = -0.005
    found = plate_and_ball((0.1, 0.2, middle + side * height), (0, 0, -100.0 * side))
    contacts = found.launch()
    assert len(contacts["gap"]) == 1
    towards_ball = 1.0 if contacts["body_a"][0] == 1 else -1.0
    np.testing.assert_allclose(contacts["normal"][0] * towards_ball, (0, 0, side), atol=1e-9)
    np.testing.assert_allclose(contacts["gap"][0], height - 0.005 - 0.005, atol=1e-9)


def test_a_ball_that_stops_short_or_flies_past_meets_nothing() -> None:
    for start, velocity in [
        ((0, 0, 1.2), (0, 0, -100.0)),  # too far
        ((0, 0, 0.2), (0, 0, 100.0)),  # away
        ((-0.7, 0.0, 0.1), (100.0, 0, 0)),  # along the plate, above it
        ((0.6, 0.0, 0.05), (0, 0, -100.0)),  # down beside the edge
        ((0.4, 0.0, 0.205), (100.0, 0, -100.0)),  # down across the edge, 4 mm clear of it
    ]:
        found = plate_and_ball(start, velocity)
        assert len(found.launch()["gap"]) == 0, start


def test_a_ball_that_hits_the_edge_is_turned_aside_by_the_edge() -> None:
    found = plate_and_ball((0.5 + 0.003, 0.0, 0.5), (0, 0, -100.0))
    contacts = found.launch()
    normal = contacts["normal"][0] * (1.0 if contacts["body_a"][0] == 1 else -1.0)
    # the ball's centre is 3 mm beyond the edge and its radius 5 mm, up to the depth at which it counts as touching
    np.testing.assert_allclose(normal, (0.6, 0.0, 0.8), atol=0.03)


def test_two_fast_balls_meet_where_their_paths_cross_and_pass_where_they_do_not() -> None:
    for offset, hits in ((0.0, 1), (0.015, 1), (0.025, 0)):
        scene = lw.Scene(gravity=(0, 0, 0))
        scene.add_body(lw.Sphere(0.01), position=(-0.5, 0, 0), velocity=(100, 0, 0))
        scene.add_body(lw.Sphere(0.01), position=(0.5, offset, 0), velocity=(-100, 0, 0))
        contacts = Found(scene).launch()
        assert len(contacts["gap"]) == hits
        if hits:
            across = np.sqrt(0.02**2 - offset**2)
            np.testing.assert_allclose(np.abs(contacts["normal"][0]), (across / 0.02, offset / 0.02, 0), atol=0.02)


def test_a_spinning_blade_meets_the_ball_in_its_way() -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Box(2.0, 0.02, 0.02), angular_velocity=(0, 0, 100.0))
    scene.add_body(lw.Sphere(0.03), position=(0.6, 0.6, 0))
    scene.add_body(lw.Sphere(0.03), position=(0.3, -0.6, 0))  # behind the blade
    found = Found(scene)
    contacts = found.launch()
    assert len(contacts["gap"]) == 1
    assert set(contacts["body_a"].tolist() + contacts["body_b"].tolist()) == {0, 1}


def test_a_sliding_box_keeps_its_keys_and_a_ball_its_contact() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Box(20.0, 20.0, 1.0), position=(0, 0, -0.5), fixed=True)
    scene.add_body(lw.Box(0.2, 0.3, 0.1), position=(0, 0, 0.05), velocity=(0.7, 0.2, 0), angular_velocity=(0, 0, 0.5))
    scene.add_body(lw.Sphere(0.1), position=(3, 0, 0.1), velocity=(1.0, 0, 0), angular_velocity=(0, 10.0, 0))
    scene.add_body(lw.Cylinder(0.1, 0.2), position=(-3, 0, 0.1), velocity=(0.4, 0.1, 0), angular_velocity=(0, 0, 0.7))
    scene.add_body(lw.Capsule(0.1, 0.2), position=(0, 3, 0.1), rotation=[0, 0.5**0.5, 0, 0.5**0.5], velocity=(0, 1, 0))
    found = Found(scene)
    first = found.step()
    assert len(first["gap"]) >= 4 + 1 + 3 + 2
    assert (first["predecessor"] == -1).all()
    for _ in range(30):
        later = found.step()
        order = later["predecessor"]
        assert (order >= 0).all()
        assert sorted(order.tolist()) == list(range(len(order)))
        for name in ("geom_a", "geom_b", "key"):
            np.testing.assert_array_equal(later[name], first[name][order])
        first = later


ON_A_PLANE = {
    "sphere": (lw.Sphere(0.1), None, 0.1, 1),
    "capsule": (lw.Capsule(0.1, 0.3), [0, 0.5**0.5, 0, 0.5**0.5], 0.1, 2),
    "cylinder": (lw.Cylinder(0.1, 0.3), None, 0.15, 4),
    "box": (lw.Box(0.1, 0.2, 0.3), None, 0.15, 4),
    "hull": (lw.ConvexHull([(1, 0, 0), (-1, 1, 0), (-1, -1, 0), (0, 0, 1)]), None, 0.0, 3),
    "compound": (
        lw.Compound([lw.Sphere(0.1), (lw.Sphere(0.1), (0.3, 0, 0)), (lw.Box(0.2, 0.2, 0.2), (0, 0.5, 0))]),
        None,
        0.1,
        6,
    ),
}


@pytest.mark.parametrize("name", ON_A_PLANE)
@pytest.mark.parametrize("speed", [0.0, -20.0])
def test_what_falls_on_a_plane_is_found_in_time(name: str, speed: float) -> None:
    shape, rotation, height, count = ON_A_PLANE[name]
    scene = lw.Scene()
    plane = scene.add_body(lw.Plane((0, 1, 1), 0.3), fixed=True)
    normal = np.array([0, 0.5**0.5, 0.5**0.5])
    turn = np.array([-np.sin(np.pi / 8), 0, 0, np.cos(np.pi / 8)])
    R = Rotation.from_quat(turn) * (Rotation.identity() if rotation is None else Rotation.from_quat(rotation))
    above = max(0.0, -0.9 * speed * 1e-2)
    scene.add_body(shape, rotation=R, position=(0.3 + height + above) * normal, velocity=speed * normal)
    contacts = Found(scene).launch()
    assert plane.index == 0
    assert len(contacts["gap"]) == count
    np.testing.assert_allclose(contacts["gap"], above, atol=1e-12)
    np.testing.assert_allclose(contacts["normal"], np.tile(normal, (count, 1)), atol=1e-12)


def test_gaps_follow_from_the_points_normals_and_radii() -> None:
    found = Found(heap(80, 3))
    contacts = found.launch()
    assert len(contacts["gap"]) > 50
    on_a, on_b = found.surface_points(contacts)
    np.testing.assert_allclose(np.einsum("ni,ni->n", on_a - on_b, contacts["normal"]), contacts["gap"], atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(contacts["normal"], axis=1), 1.0, rtol=1e-12)


def heap(count: int, seed: int) -> lw.Scene:
    rng = np.random.default_rng(seed)
    scene = lw.Scene()
    points = rng.normal(size=(10, 3)) * 0.1
    shapes = [
        lw.Sphere(0.15),
        lw.Capsule(0.1, 0.2),
        lw.Cylinder(0.12, 0.2),
        lw.Box(0.2, 0.3, 0.1),
        lw.ConvexHull(points),
    ]
    shapes.append(lw.Compound([lw.Sphere(0.1), (lw.Box(0.1, 0.1, 0.4), (0.1, 0, 0))]))
    for _ in range(count):
        axis = rng.normal(size=4)
        scene.add_body(
            shapes[rng.integers(len(shapes))],
            position=rng.uniform(0, 0.2 * count ** (1 / 3), 3),
            rotation=axis / np.linalg.norm(axis),
            velocity=rng.normal(size=3),
            angular_velocity=rng.normal(size=3),
        )
    scene.add_body(lw.Plane(), fixed=True)
    return scene


def test_the_same_scene_gives_the_same_bits() -> None:
    one, other = Found(heap(60, 5)), Found(heap(60, 5))
    for _ in range(3):
        a, b = one.step(), other.step()
        for name in (*FIELDS, "predecessor"):
            np.testing.assert_array_equal(a[name], b[name])


def test_a_launch_can_be_captured_and_replayed() -> None:
    found = Found(heap(40, 6))
    found.launch()
    Q, V = found.arrays()
    with wp.ScopedCapture(device="cpu") as capture:
        found.finder.launch(Q, V, found.dt)
        found.finder.keep()
    wp.capture_launch(capture.graph)
    first = found.contacts()
    wp.capture_launch(capture.graph)
    again = found.contacts()
    for name in FIELDS:
        np.testing.assert_array_equal(first[name], again[name])
    np.testing.assert_array_equal(again["predecessor"], np.arange(len(again["gap"])))


def test_too_many_contacts_are_noticed_and_found_after_growing() -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_bodies(lw.Sphere(1.0), np.random.default_rng(0).normal(size=(80, 3)) * 0.1)
    found = Found(scene)
    Q, V = found.arrays()
    found.finder.launch(Q, V, found.dt)
    assert found.finder.overflowed
    contacts = found.launch()
    assert not found.finder.overflowed
    assert len(contacts["gap"]) == 80 * 79 // 2
    assert len({(a, b) for a, b in zip(contacts["geom_a"], contacts["geom_b"], strict=True)}) == 80 * 79 // 2


def test_growing_keeps_the_contacts_of_the_step_before() -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_bodies(lw.Sphere(0.1), np.arange(80)[:, None] * [0.201, 0, 0])
    found = Found(scene)
    before = found.step()
    assert len(before["gap"]) == 79
    crowd = found.x.copy()
    found.x = np.where(np.arange(80)[:, None] < 40, crowd, 100.0 + 1e-3 * crowd)
    after = found.launch()
    assert len(after["gap"]) == 39 + 40 * 39 // 2
    known = after["predecessor"] >= 0
    assert known.sum() == 39 + 39


def test_a_restored_state_recognises_the_same_contacts() -> None:
    found = Found(heap(40, 7))
    found.step()
    state = found.finder.state()
    pose = found.x.copy(), found.R.copy()
    first = found.step()
    found.step()
    found.finder.restore(state)
    found.x, found.R = pose
    again = found.step()
    for name in (*FIELDS, "predecessor"):
        np.testing.assert_array_equal(first[name], again[name])


def test_overlaps_at_the_start_are_named_with_their_depth() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(0.5), position=(0, 0, 0))
    scene.add_body(lw.Sphere(0.5), position=(0.9, 0, 0))
    scene.add_body(lw.Sphere(0.5), position=(0, 0.7, 0))
    scene.add_body(lw.Sphere(0.5), position=(0, 1.7, 0))  # touches
    found = Found(scene)
    report = found.finder.start_overlaps(found.arrays()[0])
    assert [(one.a, one.b) for one in report] == [(0, 2), (0, 1)]
    np.testing.assert_allclose([one.depth for one in report], [0.3, 0.1], atol=1e-12)


@pytest.mark.parametrize("ignore", [True, False])
def test_bodies_that_overlap_at_the_start_collide_once_they_have_come_apart(ignore: bool) -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Sphere(0.5))
    scene.add_body(lw.Sphere(0.5), position=(0.95, 0, 0), velocity=(1.0, 0, 0))
    found = Found(scene, dt=0.02)
    found.finder.start_overlaps(found.arrays()[0], ignore=ignore)
    counts = [len(found.step()["gap"]) for _ in range(4)]
    assert counts == ([0, 0, 0, 1] if ignore else [1, 1, 1, 1])
    found.v = -found.v
    found.step()  # back within a step's reach
    assert [len(found.step()["gap"]) for _ in range(5)] == [1] * 5


def test_a_pair_that_leaps_apart_within_a_step_collides_afterwards() -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Sphere(0.5))
    scene.add_body(lw.Sphere(0.5), position=(0.95, 0, 0))
    found = Found(scene)
    found.finder.start_overlaps(found.arrays()[0])
    assert len(found.step()["gap"]) == 0
    found.x[1] = (5, 0, 0)
    found.step()
    found.x[1] = (0.95, 0, 0)
    assert len(found.step()["gap"]) == 1
