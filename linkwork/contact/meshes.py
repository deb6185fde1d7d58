"""Triangle meshes and heightfields as tables: triangles, what lies around each of them, and a tree of their boxes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.triangles import Meshes

__all__ = ["MeshTables", "Surface"]

Array = NDArray[np.float64]
Faces = NDArray[np.int64]
Surface = tuple[Array, Faces]


class MeshTables:
    """Surfaces one after the other on a device.

    Attributes:
        meshes: tables for kernels.
    """

    def __init__(self, surfaces: Sequence[Surface], first_triangle: tuple[int, int, int], device: str) -> None:
        vertex_starts = np.cumsum([0] + [len(vertices) for vertices, _ in surfaces])
        face_starts = np.cumsum([0] + [len(faces) for _, faces in surfaces])
        vertices = np.concatenate([np.zeros((0, 3)), *(points for points, _ in surfaces)])
        faces = np.concatenate(
            [np.zeros((0, 3), np.int64), *(f + start for (_, f), start in zip(surfaces, vertex_starts, strict=False))]
        )
        stars, neighbours = _stars(faces, len(vertices))
        self._trees = [_tree(points[triangles], device) for points, triangles in surfaces]
        made = self.meshes = Meshes()
        made.first_hull_vertex, made.first_hull_face, made.first_hull_edge = first_triangle
        made.tree = wp.array([tree.id for tree in self._trees], dtype=wp.uint64, device=device)
        made.first = wp.array(face_starts[:-1], dtype=wp.int32, device=device)
        made.corner = wp.array(faces.astype(np.int32).ravel(), dtype=wp.int32, device=device)
        made.opposite = wp.array(_opposite(faces).ravel(), dtype=wp.int32, device=device)
        made.vertex = wp.array(vertices, dtype=wp.vec3d, device=device)
        made.star = wp.array(stars, dtype=wp.int32, device=device)
        made.neighbour = wp.array(neighbours, dtype=wp.int32, device=device)


def _tree(corners: Array, device: str) -> wp.Bvh:
    """Boxes around triangles in single precision, rounded outwards."""
    low, high = corners.min(axis=1), corners.max(axis=1)
    down = np.nextafter(low.astype(np.float32), np.float32(-np.inf))
    up = np.nextafter(high.astype(np.float32), np.float32(np.inf))
    return wp.Bvh(wp.array(down, dtype=wp.vec3, device=device), wp.array(up, dtype=wp.vec3, device=device))


def _opposite(faces: Faces) -> NDArray[np.int32]:
    """(f, 3): beyond the edge from corner i to i + 1, the third corner of the neighbour; -1 at a border."""
    runs = np.stack([faces, np.roll(faces, -1, axis=1)], axis=-1).reshape(-1, 2)
    base = int(faces.max(initial=0)) + 1
    forward, backward = runs[:, 0] * base + runs[:, 1], runs[:, 1] * base + runs[:, 0]
    order = np.argsort(forward, kind="stable")
    at = np.searchsorted(forward, backward, sorter=order)
    found = np.minimum(at, len(order) - 1)
    there = forward[order[found]] == backward if len(order) else np.zeros(0, bool)
    run = order[found] if len(order) else found
    third = faces.reshape(-1)[run // 3 * 3 + (run % 3 + 2) % 3] if len(order) else found
    return np.where(there, third, -1).astype(np.int32).reshape(-1, 3)


def _stars(faces: Faces, vertices: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """The neighbours of each vertex: where they start (v + 1,), and all of them."""
    runs = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    both = np.unique(np.concatenate([runs, runs[:, ::-1]]), axis=0)
    starts = np.concatenate([[0], np.cumsum(np.bincount(both[:, 0], minlength=vertices))])
    return starts.astype(np.int32), both[:, 1].astype(np.int32)
