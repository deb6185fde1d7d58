"""Convex polyhedra as tables for kernels: polygon faces, loops and unique edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.geom import Hulls

__all__ = ["CUBE", "HullTables", "Polyhedron"]

Array = NDArray[np.float64]
Int = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """A convex polyhedron.

    Attributes:
        vertices: (v, 3) m.
        loops: vertices around each face, counter-clockwise from outside.
    """

    vertices: Array
    loops: tuple[Int, ...]

    def normals(self) -> Array:
        """Outward unit normals (f, 3), from the areas that the loops enclose."""
        doubled = np.array([_doubled_area(self.vertices[loop]) for loop in self.loops])
        return np.asarray(doubled / np.linalg.norm(doubled, axis=1, keepdims=True))

    def thinnest(self) -> float:
        """Smallest width across a face, m."""
        normals = self.normals()
        heights = normals @ self.vertices.T
        return float((heights.max(axis=1) - heights.min(axis=1)).min())

    def edges(self) -> Int:
        """Unique edges (e, 4): from, to, the face whose loop runs so, and the face beyond."""
        runs = {
            (int(a), int(b)): face
            for face, loop in enumerate(self.loops)
            for a, b in zip(loop, np.roll(loop, -1), strict=True)
        }
        return np.array([(a, b, face, runs[b, a]) for (a, b), face in runs.items() if a < b], dtype=np.int32)


def _doubled_area(corners: Array) -> Array:
    """Vector area times two; about a corner, so that a face far from the origin keeps its digits."""
    spokes = corners[1:] - corners[0]
    return np.asarray(np.cross(spokes[:-1], spokes[1:]).sum(axis=0))


CUBE = Polyhedron(
    np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)]),
    tuple(
        np.array(loop, dtype=np.int32)
        for loop in ([0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3])
    ),
)


class HullTables:
    """The cube and the given polyhedra, one after the other, on a device.

    Attributes:
        hulls: the tables for kernels.
        vertices, faces, edges: (1 + n, 2) first and count, of the cube and of each polyhedron.
    """

    def __init__(self, polyhedra: Sequence[Polyhedron] = (), device: str = "cpu") -> None:
        all_of_them = (CUBE, *polyhedra)
        edges = [one.edges() for one in all_of_them]
        self.vertices = _ranges([len(one.vertices) for one in all_of_them])
        self.faces = _ranges([len(one.loops) for one in all_of_them])
        self.edges = _ranges([len(one) for one in edges])
        loops = [loop for one in all_of_them for loop in one.loops]
        starts = np.concatenate([[0], np.cumsum([len(loop) for loop in loops])]).astype(np.int32)
        edge_table = np.concatenate(edges)
        self.hulls = Hulls()
        self.hulls.vertex = wp.array(
            np.concatenate([one.vertices for one in all_of_them]), dtype=wp.vec3d, device=device
        )
        self.hulls.face_normal = wp.array(
            np.concatenate([one.normals() for one in all_of_them]), dtype=wp.vec3d, device=device
        )
        self.hulls.loop_start = wp.array(starts, dtype=wp.int32, device=device)
        self.hulls.loop = wp.array(np.concatenate(loops), dtype=wp.int32, device=device)
        for name, column in zip(("edge_from", "edge_to", "edge_left", "edge_right"), edge_table.T, strict=True):
            setattr(self.hulls, name, wp.array(np.ascontiguousarray(column), dtype=wp.int32, device=device))


def _ranges(counts: Sequence[int]) -> Int:
    stops = np.cumsum(counts)
    return np.stack([stops - counts, counts], axis=1).astype(np.int32)
