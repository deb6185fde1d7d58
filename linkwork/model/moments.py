"""Mass moments: second moments J = integral of rho x x^T, principal frames, and integrals over closed meshes."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from numpy.typing import NDArray

__all__ = ["box_extents", "inertia_of", "join_moments", "polyhedron_moments", "principal_frames", "second_moments_of"]

Array = NDArray[np.float64]

# below this, relative to the largest moment, an off-diagonal entry or a gap between two moments counts as zero
NEGLIGIBLE = 1e-12


def second_moments_of(inertia: Array) -> Array:
    """J = tr(I)/2 - I for inertia tensors (..., 3, 3), kg m^2."""
    trace = np.trace(inertia, axis1=-2, axis2=-1)
    return np.asarray(0.5 * trace[..., None, None] * np.eye(3) - inertia)


def inertia_of(moments: Array) -> Array:
    """Principal inertia I_i = sum(J) - J_i for principal second moments (..., 3), kg m^2."""
    return np.asarray(moments.sum(axis=-1, keepdims=True) - moments)


def box_extents(moments: Array, mass: Array) -> Array:
    """Edges (n, 3), m, of the uniform boxes with these masses (n,) and principal second moments (n, 3).

    Edges below 1e-3 of the largest one are replaced by that: flat bodies need some volume to be stiff, and thin rods
    that are given by their inertia would be stretched by their own weight.
    """
    edges = np.sqrt(12.0 * moments / mass[:, None])
    return np.asarray(np.maximum(edges, 1e-3 * edges.max(axis=1, keepdims=True)))


def principal_frames(moments: Array) -> tuple[Array, Array]:
    """Principal second moments (n, 3) and axes (n, 3, 3) of symmetric second moments (n, 3, 3).

    The columns of the axes are right-handed and lie as near to the given axes as they can: a tensor that is already
    diagonal keeps the identity, and equal moments leave the choice of axes to the smallest turn.
    """
    values = np.ascontiguousarray(np.diagonal(moments, axis1=1, axis2=2))
    axes = np.broadcast_to(np.eye(3), moments.shape).copy()
    scale = np.abs(moments).max(axis=(1, 2))
    skew = np.abs(moments[:, [0, 0, 1], [1, 2, 2]]).max(axis=1)
    turned = np.flatnonzero(skew > NEGLIGIBLE * scale)
    if len(turned):
        values = values.copy()
        values[turned], axes[turned] = _turned_frames(moments[turned], scale[turned])
    return values, axes


def _turned_frames(moments: Array, scale: Array) -> tuple[Array, Array]:
    eigenvalues, vectors = np.linalg.eigh(moments)
    values, axes = _nearest_to_identity(eigenvalues, vectors)
    low_pair = eigenvalues[:, 1] - eigenvalues[:, 0] <= NEGLIGIBLE * scale
    high_pair = eigenvalues[:, 2] - eigenvalues[:, 1] <= NEGLIGIBLE * scale
    for pair, lone in ((low_pair & ~high_pair, 2), (high_pair & ~low_pair, 0)):
        if pair.any():
            equal = eigenvalues[pair][:, [i for i in range(3) if i != lone]].mean(axis=1)
            values[pair], axes[pair] = _axially_symmetric(eigenvalues[pair, lone], equal, vectors[pair, :, lone])
    return values, axes


def _nearest_to_identity(eigenvalues: Array, vectors: Array) -> tuple[Array, Array]:
    """Order and orient eigenvectors so that column i is the one along axis i, right-handed."""
    orders = np.array(list(permutations(range(3))))
    alignment = np.abs(vectors[:, np.arange(3), orders].reshape(len(vectors), 6, 3)).sum(axis=2)
    # ties are decided by the first order within rounding, so that noise does not choose
    order = orders[np.argmax(alignment >= alignment.max(axis=1, keepdims=True) - 1e-9, axis=1)]
    values = np.take_along_axis(eigenvalues, order, axis=1)
    axes = np.take_along_axis(vectors, order[:, None, :], axis=2)
    along = np.diagonal(axes, axis1=1, axis2=2)
    axes = axes * np.where(along < 0.0, -1.0, 1.0)[:, None, :]
    mirrored = np.flatnonzero(np.linalg.det(axes) < 0.0)
    least = np.argmin(np.abs(along[mirrored]), axis=1)
    axes[mirrored, :, least] *= -1.0
    return values, axes


def _axially_symmetric(lone: Array, equal: Array, axis: Array) -> tuple[Array, Array]:
    """Turn the given axes by the smallest rotation that brings the best aligned one onto the symmetry axis."""
    rows = np.arange(len(axis))
    nearest = np.argmax(np.abs(axis), axis=1)
    axis = axis * np.where(axis[rows, nearest] < 0.0, -1.0, 1.0)[:, None]
    unit = np.eye(3)[nearest]
    turn = np.cross(unit, axis)
    cross = np.zeros((len(axis), 3, 3))
    cross[:, [2, 0, 1], [1, 2, 0]] = turn
    cross[:, [1, 2, 0], [2, 0, 1]] = -turn
    axes = np.eye(3) + cross + cross @ cross / (1.0 + axis[rows, nearest])[:, None, None]
    values = np.repeat(equal[:, None], 3, axis=1)
    values[rows, nearest] = lone
    return values, axes


def polyhedron_moments(vertices: Array, faces: NDArray[np.int64]) -> tuple[float, Array, Array]:
    """Volume, centroid and second moments about the centroid (unit density) inside a closed triangle mesh.

    Sums signed tetrahedra between each triangle and a point near the mesh: exact for any closed polyhedron.
    """
    origin = vertices.mean(axis=0)
    corners = (vertices - origin)[faces]
    six_volumes = np.einsum("fi,fi->f", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    corner_sum = corners.sum(axis=1)
    volume = float(six_volumes.sum() / 6.0)
    first = six_volumes @ corner_sum / 24.0
    second = np.einsum("f,fki,fkj->ij", six_volumes, corners, corners, optimize=True)
    second += np.einsum("f,fi,fj->ij", six_volumes, corner_sum, corner_sum, optimize=True)
    if volume == 0.0:
        return 0.0, origin, second / 120.0
    centroid = first / volume
    return volume, origin + centroid, second / 120.0 - volume * np.outer(centroid, centroid)


def join_moments(volumes: Array, centroids: Array, seconds: Array) -> tuple[float, Array, Array]:
    """Volume, centroid and second moments of several parts (k,), (k, 3), (k, 3, 3) taken together (parallel axes)."""
    volume = float(volumes.sum())
    centroid = volumes @ centroids / volume
    arms = centroids - centroid
    return volume, centroid, seconds.sum(axis=0) + np.einsum("k,ki,kj->ij", volumes, arms, arms)
