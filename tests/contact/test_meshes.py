"""Meshes and heightfields under convex bodies: one surface, not many triangles."""

from __future__ import annotations

import numpy as np
import pytest
from contact.convex_pairs import Shape, box, capsule, cylinder, measure, sphere
from contact.finding import Found
from scipy.spatial import Delaunay
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.geom import HULL
from linkwork.contact.hulls import Polyhedron

TURN = [0, 0.5**0.5, 0, 0.5**0.5]  # z to x


def slab(cells: int, size: float, thickness: float) -> lw.Mesh:
    """A solid whose top, at z = 0, is cut into triangles."""
    field = lw.Heightfield(np.zeros((cells + 1, cells + 1)), size=(size, size))
    top, faces = field.surface()
    bottom = top - [0, 0, thickness]
    n = len(top)
    runs = {(int(f[i]), int(f[(i + 1) % 3])) for f in faces for i in range(3)}
    border = [(a, b) for a, b in runs if (b, a) not in runs]
    sides = [t for a, b in border for t in ((b, a, n + a), (b, n + a, n + b))]
    return lw.Mesh(np.concatenate([top, bottom]), np.concatenate([faces, faces[:, ::-1] + n, sides]))


FLOORS = {
    "heightfield": lambda: lw.Heightfield(np.zeros((33, 33)), size=(4.0, 4.0)),
    "mesh": lambda: slab(32, 4.0, 0.5),
}
BODIES = {
    "sphere": (lw.Sphere(0.2), None, 1, 0.2),
    "box": (lw.Box(0.4, 0.5, 0.3), None, 4, 0.15),
    "lying capsule": (lw.Capsule(0.2, 0.5), TURN, 2, 0.2),
    "standing cylinder": (lw.Cylinder(0.2, 0.4), None, 4, 0.2),
    "hull": (lw.ConvexHull([(1, 0, 0), (-1, 1, 0), (-1, -1, 0), (0, 0, 0.5)]), None, 3, 0.0),
}


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("gap", [-1e-4, -1e-9, 1e-4])
def test_a_flat_floor_of_triangles_pushes_straight_up(floor: str, body: str, gap: float) -> None:
    shape, rotation, fewest, height = BODIES[body]
    scene = lw.Scene()
    scene.add_body(FLOORS[floor](), fixed=True)
    scene.add_body(shape, rotation=rotation, position=(0, 0, height + gap))
    found = Found(scene)
    start = found.x[1].copy()
    for at in np.random.default_rng(0).uniform(-0.5, 0.5, (25, 2)):
        found.x[1, :2] = start[:2] + at
        contacts = found.launch()
        assert fewest <= len(contacts["gap"]) <= 4
        assert (contacts["body_a"] == 1).all()
        np.testing.assert_allclose(contacts["normal"], np.tile((0, 0, 1), (len(contacts["gap"]), 1)), atol=1e-9)
        np.testing.assert_allclose(contacts["gap"], gap, atol=1e-9)
        on_a, on_b = found.surface_points(contacts)
        np.testing.assert_allclose(on_b[:, 2], 0.0, atol=1e-9)
        if fewest > 2:  # the centre of mass stands between the contacts
            assert Delaunay(on_a[:, :2]).find_simplex(found.x[1, :2]) >= 0


@pytest.mark.parametrize("floor", FLOORS)
def test_a_ball_rolls_over_the_edges_between_triangles_without_a_kick(floor: str) -> None:
    scene = lw.Scene()
    scene.add_body(FLOORS[floor](), fixed=True)
    scene.add_body(
        lw.Sphere(0.1), position=(-1.0, -0.7, 0.1 - 1e-6), velocity=(1.0, 0.61, 0), angular_velocity=(-6.1, 10, 0)
    )
    found = Found(scene)
    for step in range(150):
        contacts = found.step()
        assert len(contacts["gap"]) == 1
        np.testing.assert_allclose(contacts["normal"][0], (0, 0, 1), atol=1e-9)
        assert contacts["predecessor"][0] == (-1 if step == 0 else 0)


@pytest.mark.parametrize("floor", FLOORS)
@pytest.mark.parametrize("shape", [lw.Sphere(0.005), lw.Box(0.01, 0.01, 0.01)])
def test_small_bodies_at_100_m_per_s_do_not_pass(floor: str, shape: lw.Sphere | lw.Box) -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(FLOORS[floor](), fixed=True)
    scene.add_body(shape, position=(0.0213, 0.0371, 0.4), velocity=(3.0, 0, -100.0))
    scene.add_body(shape, position=(0.3, 0.0371, 0.4), velocity=(100.0, 0, 0.0))
    scene.add_body(shape, position=(0.6, 0.0371, 0.4), velocity=(0, 0, 100.0))
    contacts = Found(scene).launch()
    assert set(contacts["body_a"].tolist()) == {1}
    np.testing.assert_allclose(contacts["normal"], np.tile((0, 0, 1), (len(contacts["gap"]), 1)), atol=1e-9)
    np.testing.assert_allclose(contacts["gap"], 0.395, atol=1e-9)


def test_a_ball_on_a_ridge_and_in_a_valley_feels_the_slopes() -> None:
    x = np.array([-1.0, 0.0, 1.0])
    for sign, expected in ((-1.0, [(0, 0, 1)]), (1.0, [(-(0.5**0.5), 0, 0.5**0.5), (0.5**0.5, 0, 0.5**0.5)])):
        scene = lw.Scene()
        scene.add_body(lw.Heightfield(np.tile(sign * np.abs(x)[:, None], (1, 3)), spacing=1.0), fixed=True)
        height = 0.1 if sign < 0 else 0.1 * 2**0.5
        scene.add_body(lw.Sphere(0.1), position=(0.0, 0.13, height))
        contacts = Found(scene).launch()
        found = contacts["normal"][np.argsort(contacts["normal"][:, 0])]
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_a_mesh_stands_on_a_plane_with_its_hull() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Plane(), fixed=True)
    scene.add_body(slab(4, 1.0, 0.2), position=(0, 0, 0.2 - 1e-6))
    contacts = Found(scene).launch()
    assert len(contacts["gap"]) == 4
    np.testing.assert_allclose(contacts["gap"], -1e-6, atol=1e-12)
    np.testing.assert_allclose(contacts["normal"][:, 2] * np.where(contacts["body_a"] == 1, 1, -1), 1.0)


def test_a_moving_mesh_carries_its_triangles_along() -> None:
    scene = lw.Scene(gravity=(0, 0, 0))
    turn = [np.sin(0.3), 0, 0, np.cos(0.3)]
    scene.add_body(slab(8, 1.0, 0.2), rotation=turn, position=(5, 6, 7))
    n = np.array([0, -np.sin(0.6), np.cos(0.6)])
    scene.add_body(lw.Sphere(0.1), position=(5, 6, 7) + 0.0995 * n)
    contacts = Found(scene).launch()
    np.testing.assert_allclose(contacts["normal"], [n], atol=1e-9)
    np.testing.assert_allclose(contacts["gap"], -5e-4, atol=1e-9)


def test_two_meshes_are_refused_with_a_reason() -> None:
    scene = lw.Scene()
    scene.add_body(slab(2, 1.0, 0.2), position=(0, 0, 0.2), name="lid")
    scene.add_body(slab(2, 1.0, 0.2), fixed=True, name="pot")
    with pytest.raises(lw.SceneError, match=r'"lid".*"pot".*ConvexHull.*ignore_contact'):
        Found(scene)
    scene.ignore_contact(scene.bodies[0], scene.bodies[1])
    assert Found(scene).finder is not None


CLOUD = np.random.default_rng(8).normal(size=(25, 3)) * 0.4
CONVEX = {
    "sphere": (lw.Sphere(0.2), sphere(0.2)),
    "box": (lw.Box(0.2, 0.4, 0.6), box(0.1, 0.2, 0.3)),
    "capsule": (lw.Capsule(0.1, 0.4), capsule(0.1, 0.2)),
    "cylinder": (lw.Cylinder(0.2, 0.4), cylinder(0.2, 0.2)),
}


@pytest.mark.parametrize("target", [-2e-4, 5e-4])
@pytest.mark.parametrize("name", CONVEX)
def test_the_mesh_of_a_convex_solid_is_touched_like_the_solid(name: str, target: float) -> None:
    shape, twin = CONVEX[name]
    solid = lw.ConvexHull(CLOUD)
    other = Shape(HULL, (1.0, 1.0, 1.0), hull=Polyhedron(solid.vertices, solid.loops)).at((0, 0, 0))
    rng = np.random.default_rng(4)
    count = 60
    turns = Rotation.random(count, random_state=4)
    at = rng.normal(size=(count, 3)) * 2
    pairs = [(twin.at(p, R), other) for p, R in zip(at, turns, strict=True)]
    gap, normal, _, _ = measure(pairs)
    at -= (gap - target)[:, None] * normal
    gap, normal, _, _ = measure([(twin.at(p, R), other) for p, R in zip(at, turns, strict=True)])
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Mesh(*solid.surface()), fixed=True)
    scene.add_bodies(shape, at, rotations=turns.as_matrix())
    scene.ignore_contact(scene.bodies[1], None)
    found = Found(scene)
    contacts = found.launch()
    on_mesh = (contacts["body_a"] == 0) | (contacts["body_b"] == 0)
    for body in range(2, count + 1):
        mine = on_mesh & (contacts["body_a"] == body)
        assert mine.any(), body
        # directions that touch a rim are settled to a hundred thousandth of the size
        least = contacts["gap"][mine].min()
        if target > 0.0:
            np.testing.assert_allclose(least, gap[body - 1], atol=1e-5)
        else:  # triangles do not know the solid's least depth: each has its own, along a normal of the solid nearby
            assert 2.0 * target < least < gap[body - 1] + 1e-5
