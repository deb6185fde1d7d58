"""Second moments and principal frames against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import ConvexHull, Delaunay
from scipy.spatial.transform import Rotation

from linkwork.model.moments import (
    box_extents,
    inertia_of,
    join_moments,
    polyhedron_moments,
    principal_frames,
    second_moments_of,
)


def hull_faces(points: np.ndarray) -> np.ndarray:
    """Outward triangles of the convex hull."""
    hull = ConvexHull(points)
    faces = hull.simplices.copy()
    corners = points[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("fi,fi->f", normals, hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward][:, ::-1]
    return faces


def delaunay_moments(points: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
    """Sums over solid tetrahedra with a 4-point rule that is exact to second degree."""
    corners = points[Delaunay(points).simplices]
    edges = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(edges)) / 6.0
    near, far = (5.0 + 3.0 * np.sqrt(5.0)) / 20.0, (5.0 - np.sqrt(5.0)) / 20.0
    nodes = np.einsum("qc,tci->tqi", far + (near - far) * np.eye(4), corners)
    volume = volumes.sum()
    centroid = np.einsum("t,tqi->i", volumes, nodes) / 4.0 / volume
    arms = nodes - centroid
    return volume, centroid, np.einsum("t,tqi,tqj->ij", volumes, arms, arms) / 4.0


@pytest.mark.parametrize("seed", range(5))
def test_polyhedron_moments_equal_a_sum_over_tetrahedra(seed: int) -> None:
    points = np.random.default_rng(seed).normal(size=(40, 3)) * [1.0, 0.3, 2.0] + [3.0, -5.0, 1.0]
    volume, centroid, second = polyhedron_moments(points, hull_faces(points))
    expected = delaunay_moments(points)
    assert volume == pytest.approx(expected[0], rel=1e-12)
    np.testing.assert_allclose(centroid, expected[1], rtol=1e-11)
    np.testing.assert_allclose(second, expected[2], atol=1e-11 * np.abs(second).max())


def test_polyhedron_moments_keep_their_digits_far_from_the_origin() -> None:
    points = np.random.default_rng(1).normal(size=(30, 3))
    faces = hull_faces(points)
    near, far = polyhedron_moments(points, faces), polyhedron_moments(points + 1e4, faces)
    np.testing.assert_allclose(far[2], near[2], rtol=1e-8, atol=1e-8)


def test_joined_moments_equal_those_of_the_union() -> None:
    points = np.random.default_rng(3).normal(size=(50, 3))
    corners = points[Delaunay(points).simplices]
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
    parts = [polyhedron_moments(c if np.linalg.det(c[1:] - c[0]) > 0 else c[[0, 2, 1, 3]], faces) for c in corners]
    volume, centroid, second = join_moments(*(np.array(column) for column in zip(*parts, strict=True)))
    expected = polyhedron_moments(points, hull_faces(points))
    assert volume == pytest.approx(expected[0], rel=1e-11)
    np.testing.assert_allclose(centroid, expected[1], atol=1e-11)
    np.testing.assert_allclose(second, expected[2], atol=1e-11 * second.max())


def test_inertia_and_second_moments_are_inverse_to_each_other() -> None:
    second = np.diag([1.0, 2.0, 4.0])
    inertia = np.diag(inertia_of(np.array([1.0, 2.0, 4.0])))
    np.testing.assert_allclose(inertia, np.diag([6.0, 5.0, 3.0]))
    np.testing.assert_allclose(second_moments_of(inertia), second)


def test_box_extents_invert_the_moments_of_a_box() -> None:
    edges, mass = np.array([[0.3, 0.1, 0.7]]), np.array([2.5])
    np.testing.assert_allclose(box_extents(mass[:, None] * edges**2 / 12.0, mass), edges)


def test_box_extents_give_a_flat_body_a_thin_edge() -> None:
    np.testing.assert_allclose(box_extents(np.array([[1.0, 4.0, 0.0]]), np.array([12.0])), [[1.0, 2.0, 2e-3]])


def random_tensors(values: np.ndarray, seed: int = 0) -> np.ndarray:
    turns = Rotation.random(len(values), random_state=seed).as_matrix()
    return turns @ (values[:, :, None] * np.eye(3)) @ turns.transpose(0, 2, 1)


SPECTRA = {
    "distinct": [1.0, 2.0, 5.0],
    "two low equal": [1.0, 1.0, 5.0],
    "two high equal": [1.0, 5.0, 5.0],
    "all equal": [2.0, 2.0, 2.0],
    "flat": [0.0, 2.0, 5.0],
    "nearly equal": [1.0, 1.0 + 1e-9, 5.0],
    "slender": [1e-8, 1e-8, 1.0],
}


@pytest.mark.parametrize("values", SPECTRA.values(), ids=SPECTRA.keys())
def test_principal_frames_diagonalise(values: list[float]) -> None:
    tensors = random_tensors(np.tile(values, (200, 1)))
    moments, axes = principal_frames(tensors)
    np.testing.assert_allclose(axes.transpose(0, 2, 1) @ axes, np.tile(np.eye(3), (200, 1, 1)), atol=1e-13)
    np.testing.assert_allclose(np.linalg.det(axes), 1.0, atol=1e-13)
    rebuilt = axes @ (moments[:, :, None] * np.eye(3)) @ axes.transpose(0, 2, 1)
    np.testing.assert_allclose(rebuilt, tensors, atol=1e-11 * max(values))
    np.testing.assert_allclose(np.sort(moments, axis=1), np.tile(np.sort(values), (200, 1)), atol=1e-11 * max(values))


def test_a_diagonal_tensor_keeps_its_axes_in_any_order_of_moments() -> None:
    tensors = np.array([np.diag(v) for v in ([3.0, 1.0, 2.0], [1.0, 1.0, 1.0], [0.0, 5.0, 5.0])])
    moments, axes = principal_frames(tensors)
    assert np.array_equal(axes, np.tile(np.eye(3), (3, 1, 1)))
    assert np.array_equal(moments, np.diagonal(tensors, axis1=1, axis2=2))


@pytest.mark.parametrize("values", [[1.0, 2.0, 5.0], [5.0, 1.0, 2.0], [1.0, 5.0, 1.0]])
def test_a_slightly_turned_tensor_keeps_nearly_the_same_axes(values: list[float]) -> None:
    turn = Rotation.from_rotvec([1e-4, -2e-4, 3e-4]).as_matrix()
    moments, axes = principal_frames((turn @ np.diag(values) @ turn.T)[None])
    np.testing.assert_allclose(moments[0], values, rtol=1e-7)
    assert np.abs(axes[0] - np.eye(3)).max() < 4e-4


def test_equal_moments_take_the_smallest_turn_whatever_the_rounding() -> None:
    axis = np.array([0.6, 0.0, 0.8])
    tensor = np.eye(3) + 4.0 * np.outer(axis, axis)
    noise = np.random.default_rng(0).normal(size=(50, 3, 3)) * 1e-15
    _, axes = principal_frames(tensor + noise + noise.transpose(0, 2, 1))
    expected = np.array([[0.8, 0.0, 0.6], [0.0, 1.0, 0.0], [-0.6, 0.0, 0.8]])
    np.testing.assert_allclose(axes, np.tile(expected, (50, 1, 1)), atol=1e-13)
