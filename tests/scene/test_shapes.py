"""Closed-form moments, bounding boxes and surfaces of the basic shapes."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.model.moments import polyhedron_moments
from linkwork.scene.shapes import Shape


def moments_by_slices(radius: Callable[[np.ndarray], np.ndarray], cuts: list[float]) -> tuple[float, np.ndarray]:
    """Volume and second moments of a body of revolution, from discs and Gauss points between the cuts."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    volume, second = 0.0, np.zeros(3)
    for low, high in pairwise(cuts):
        z = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        w = 0.5 * (high - low) * weights
        area = np.pi * radius(z) ** 2
        across = w @ (np.pi * radius(z) ** 4 / 4.0)
        volume += w @ area
        second += [across, across, w @ (area * z * z)]
    return volume, np.diag(second)


def capsule_radius(r: float, h: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda z: np.sqrt(np.maximum(r * r - np.maximum(np.abs(z) - 0.5 * h, 0.0) ** 2, 0.0))


ROUND = {
    "sphere": (lw.Sphere(0.7), capsule_radius(0.7, 0.0), [-0.7, 0.7]),
    "cylinder": (lw.Cylinder(0.3, 1.4), lambda z: np.full_like(z, 0.3), [-0.7, 0.7]),
    "capsule": (lw.Capsule(0.3, 1.4), capsule_radius(0.3, 1.4), [-1.0, -0.7, 0.7, 1.0]),
    "short capsule": (lw.Capsule(0.3, 0.0), capsule_radius(0.3, 0.0), [-0.3, 0.3]),
}


@pytest.mark.parametrize(("shape", "radius", "cuts"), ROUND.values(), ids=ROUND.keys())
def test_round_shapes_have_the_moments_of_their_slices(shape: Shape, radius: object, cuts: list[float]) -> None:
    volume, centroid, second = shape.moments()
    expected_volume, expected_second = moments_by_slices(radius, cuts)
    assert volume == pytest.approx(expected_volume, rel=1e-13)
    np.testing.assert_array_equal(centroid, 0.0)
    np.testing.assert_allclose(second, expected_second, rtol=1e-12)


def test_a_box_has_the_moments_of_its_mesh() -> None:
    box = lw.Box(0.1, 0.02, 0.7)
    volume, _, second = box.moments()
    expected = polyhedron_moments(*box.surface())
    assert volume == pytest.approx(expected[0], rel=1e-13)
    np.testing.assert_allclose(second, expected[2], atol=1e-16)


SHAPES = {
    "box": lw.Box(0.1, 0.2, 0.3),
    "sphere": lw.Sphere(0.4),
    "capsule": lw.Capsule(0.2, 0.5),
    "cylinder": lw.Cylinder(0.2, 0.5),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_surfaces_are_closed_solids_near_the_true_volume(shape: Shape) -> None:
    mesh = lw.Mesh(*shape.surface())
    assert float(mesh.moments()[0]) == pytest.approx(float(shape.moments()[0]), rel=0.04)
    np.testing.assert_allclose(mesh.extent, shape.extent, rtol=0.01)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES.keys())
def test_the_bounding_box_of_a_turned_shape_just_holds_its_surface(shape: Shape) -> None:
    turn = Rotation.from_euler("xyz", [0.4, 1.1, -0.7]).as_matrix()
    vertices = shape.surface()[0] @ turn.T
    low, high = shape.reach(turn)
    assert (vertices >= low - 1e-12).all()
    assert (vertices <= high + 1e-12).all()
    np.testing.assert_allclose(vertices.max(axis=0), high, rtol=0.02)
    np.testing.assert_allclose(vertices.min(axis=0), low, rtol=0.02)


def test_extents_are_the_largest_full_lengths() -> None:
    assert lw.Box(0.1, 0.5, 0.2).extent == 0.5
    assert lw.Sphere(0.2).extent == 0.4
    assert lw.Capsule(0.2, 0.5).extent == pytest.approx(0.9)
    assert lw.Cylinder(0.2, 0.5).extent == 0.5
    assert lw.Cylinder(0.5, 0.1).extent == 1.0


ARRAYS = {
    "box": (lw.Box, ([0.1, 0.2, 0.3], 0.5, [0.3, 0.1, 0.2])),
    "sphere": (lw.Sphere, ([0.1, 0.2, 0.3],)),
    "capsule": (lw.Capsule, (0.1, [0.0, 0.2, 0.3])),
    "cylinder": (lw.Cylinder, ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3])),
}


@pytest.mark.parametrize(("kind", "sizes"), ARRAYS.values(), ids=ARRAYS.keys())
def test_array_dimensions_are_one_shape_for_each_body(kind: type, sizes: tuple[object, ...]) -> None:
    shapes = kind(*sizes)
    volumes, centroids, seconds = shapes.moments()
    vertices, faces = shapes.surface()
    assert shapes.count == 3
    for i in range(3):
        one = shapes.member(i)
        assert one.count is None
        np.testing.assert_array_equal(one.moments()[0], volumes[i])
        np.testing.assert_array_equal(one.moments()[1], centroids[i])
        np.testing.assert_array_equal(one.moments()[2], seconds[i])
        np.testing.assert_array_equal(one.surface()[0], vertices[i])
        np.testing.assert_array_equal(one.surface()[1], faces)
        assert one.extent == shapes.extent[i]


def test_a_plane_is_drawn_at_its_offset_along_the_unit_normal() -> None:
    plane = lw.Plane((0.0, 3.0, 4.0), offset=2.0)
    vertices, faces = plane.surface()
    np.testing.assert_allclose(vertices @ [0.0, 0.6, 0.8], 2.0)
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert (normals @ [0.0, 0.6, 0.8] > 0.0).all()


def test_shapes_do_not_change_when_the_array_they_came_from_does() -> None:
    lengths = np.array([1.0, 2.0])
    boxes = lw.Box(lengths, 1.0, 1.0)
    lengths[0] = 7.0
    assert boxes.moments()[0][0] == 1.0
