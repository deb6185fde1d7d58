"""Normals at the corners of triangles: rounded where a surface bends gently, sharp at its edges."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["corner_normals"]

CREASE = math.cos(math.radians(40.0))
ROUNDS = 64


def corner_normals(vertices: NDArray[np.float32], faces: NDArray[np.int32]) -> NDArray[np.float32]:
    """Normals (f, 3, 3) at the corners: the mean of the faces around a vertex that are turned by less than 40 degrees.

    Vertices at the same place count as one. Faces count by their angles at the vertex, so that the diagonals of
    quadrilaterals do not matter.
    """
    _, same = np.unique(vertices, axis=0, return_inverse=True)
    corners = same.reshape(-1)[faces]
    points = vertices.astype(np.float64)[faces]
    areas = np.cross(points[:, 1] - points[:, 0], points[:, 2] - points[:, 0])
    size = np.linalg.norm(areas, axis=1, keepdims=True)
    units = areas / np.maximum(size, 1e-300)
    order = np.argsort(corners.reshape(-1), kind="stable")
    vertex = corners.reshape(-1)[order]
    face = order // 3
    onward, back = points[:, [1, 2, 0]] - points, points[:, [2, 0, 1]] - points
    angles = np.arctan2(size, np.einsum("fci,fci->fc", onward, back)).reshape(-1)[order]
    starts = np.searchsorted(vertex, np.arange(corners.max(initial=-1) + 2))
    own = np.arange(len(faces))[:, None]
    total = np.zeros((len(faces), 3, 3))
    begin, count = starts[corners], np.diff(starts)[corners]
    # one neighbour of every corner at a time; a vertex with more than ROUNDS faces keeps the first of them
    for turn in range(min(int(count.max(initial=0)), ROUNDS)):
        there = turn < count
        place = np.minimum(begin + turn, len(face) - 1)
        other = np.where(there, face[place], own)
        alike = there & (np.einsum("fi,fci->fc", units, units[other]) > CREASE)
        total += np.where(alike[:, :, None], angles[place][:, :, None] * units[other], 0.0)
    length = np.linalg.norm(total, axis=2, keepdims=True)
    normals = np.where(length > 1e-300, total / np.maximum(length, 1e-300), units[:, None, :])
    return np.asarray(normals, dtype=np.float32)
