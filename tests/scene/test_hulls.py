"""Convex hulls and heightfields as shapes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull as Quickhull
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.contact.hulls import Polyhedron


def ring(count: int, z: float) -> np.ndarray:
    turn = 2 * np.pi * np.arange(count) / count
    return np.stack([np.cos(turn), np.sin(turn), np.full(count, z)], axis=1)


CLOUDS = {
    "cube with points inside, on faces and on edges": (np.mgrid[0:3, 0:3, 0:3].reshape(3, -1).T * 0.5, 8, 6),
    "prism": (np.concatenate([ring(24, -1.0), ring(24, 1.0)]), 48, 26),
    "prism in single precision": (
        np.concatenate([ring(24, -1.0), ring(24, 1.0)])
        @ Rotation.random(random_state=1).as_matrix().astype(np.float32),
        48,
        26,
    ),
    "pyramid": (np.concatenate([ring(7, 0.0), [[0, 0, 1]]]), 8, 8),
    "doubled corners": (np.tile(np.eye(4, 3), (3, 1)), 4, 4),
    "far away": (1e3 + np.concatenate([ring(6, -1.0), ring(6, 1.0)]), 12, 8),
}


@pytest.mark.parametrize("name", CLOUDS)
def test_coplanar_triangles_become_one_polygon(name: str) -> None:
    points, corners, faces = CLOUDS[name]
    hull = lw.ConvexHull(points)
    assert (len(hull.vertices), len(hull.loops)) == (corners, faces)
    solid = Polyhedron(hull.vertices, hull.loops)
    edges = solid.edges()
    assert corners - len(edges) + faces == 2
    heights = hull.vertices @ solid.normals().T
    for face, loop in enumerate(hull.loops):
        np.testing.assert_allclose(heights[loop, face], heights[:, face].max(), atol=2e-6)


def test_a_hull_has_the_mass_of_its_solid() -> None:
    box = lw.ConvexHull([(x, y, z) for x in (-1, 1) for y in (-0.5, 0.5) for z in (-0.2, 0.2)])
    for one, other in zip(box.moments(), lw.Box(2.0, 1.0, 0.4).moments(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-14)
    cloud = np.random.default_rng(0).normal(size=(300, 3))
    np.testing.assert_allclose(lw.ConvexHull(cloud).moments()[0], Quickhull(cloud).volume, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_the_surface_of_a_hull_is_a_closed_mesh(seed: int) -> None:
    cloud = np.random.default_rng(seed).normal(size=(40, 3))
    vertices, faces = lw.ConvexHull(cloud).surface()
    lw.Mesh(vertices, faces)


def test_a_heightfield_is_drawn_with_its_triangles_upwards() -> None:
    heights = np.random.default_rng(0).normal(size=(4, 6))
    field = lw.Heightfield(heights, size=(3.0, 10.0))
    vertices, faces = field.surface()
    np.testing.assert_allclose(field.spacing, (1.0, 2.0))
    np.testing.assert_allclose(vertices[:, 2].reshape(4, 6), heights)
    corners = vertices[faces]
    up = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2]
    np.testing.assert_allclose(up, 2.0)
    np.testing.assert_allclose(vertices[:, :2].mean(axis=0), 0.0, atol=1e-12)
    low, high = field.reach(np.eye(3))
    np.testing.assert_allclose(high - low, (3.0, 10.0, np.ptp(heights)))


FLAT = np.zeros((3, 3))
BAD = {
    "three points": (lambda: lw.ConvexHull(np.eye(3)), r"p of at least 4, got \(3, 3\)"),
    "not points": (lambda: lw.ConvexHull([1, 2, 3, 4]), r"shape \(p, 3\)"),
    "nan": (lambda: lw.ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, np.nan)]), r"entry 3.*finite"),
    "one place": (lambda: lw.ConvexHull(np.ones((5, 3))), "in one place"),
    "a line": (lambda: lw.ConvexHull(np.outer(np.arange(5), (1, 2, 3))), "on a line"),
    "a plane": (lambda: lw.ConvexHull(np.c_[np.random.default_rng(0).normal(size=(9, 2)), np.zeros(9)]), "in a plane"),
    "heights in a row": (lambda: lw.Heightfield([1.0, 2.0], spacing=1.0), r"shape \(m, n\)"),
    "infinite height": (lambda: lw.Heightfield([[0, 1], [np.inf, 2]], spacing=1.0), "heights must be finite"),
    "no spacing": (lambda: lw.Heightfield(FLAT), "either spacing"),
    "spacing and size": (lambda: lw.Heightfield(FLAT, spacing=1.0, size=(1, 1)), "either spacing"),
    "zero spacing": (lambda: lw.Heightfield(FLAT, spacing=0.0), "above zero"),
    "heightfield that moves": (
        lambda: lw.Scene().add_body(lw.Heightfield(FLAT, spacing=1.0)),
        "no mass and cannot move",
    ),
    "heightfield as a part": (lambda: lw.Compound([lw.Heightfield(FLAT, spacing=1.0)]), "cannot be part of a body"),
    "rolling friction": (lambda: lw.Material(rolling_friction=-1.0), "rolling_friction must be zero or more"),
    "torsional friction": (lambda: lw.Material(torsional_friction=np.nan), "torsional_friction must be finite"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused_with_a_reason(what: str) -> None:
    make, message = BAD[what]
    with pytest.raises(lw.SceneError, match=message):
        make()


def test_material_columns_reach_the_model() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0), material=lw.Material(rolling_friction=0.01, torsional_friction=0.02))
    model = scene.build()
    assert (model.contact_rolling_friction[0], model.contact_torsional_friction[0]) == (0.01, 0.02)
