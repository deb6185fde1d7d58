"""Convex polyhedra as tables for kernels: polygon faces, loops and unique edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

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
    """The cube, the given polyhedra and triangles, one after the other, on a device.

    A triangle is a flat polyhedron: two faces, the first with the triangle's normal, and three edges.

    Attributes:
        hulls: the tables for kernels.
        vertices, faces, edges: (1 + n, 2) first and count, of the cube and of each polyhedron.
        first_triangle: (3,) first vertex, face and edge of the first triangle.
    """

    def __init__(
        self, polyhedra: Sequence[Polyhedron] = (), device: str = "cpu", triangles: Array | None = None
    ) -> None:
        all_of_them = (CUBE, *polyhedra)
        edges = [one.edges() for one in all_of_them]
        self.vertices = _ranges([len(one.vertices) for one in all_of_them])
        self.faces = _ranges([len(one.loops) for one in all_of_them])
        self.edges = _ranges([len(one) for one in edges])
        loops = [loop for one in all_of_them for loop in one.loops]
        corners = np.zeros((0, 3, 3)) if triangles is None else triangles
        count = len(corners)
        self.first_triangle = (int(self.vertices[-1].sum()), int(self.faces[-1].sum()), int(self.edges[-1].sum()))
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        normals = across / np.linalg.norm(across, axis=1, keepdims=True)
        flat_edges = np.array([[0, 1, 0, 1], [1, 2, 0, 1], [0, 2, 1, 0]], dtype=np.int32)
        edge_table = np.concatenate([*edges, np.tile(flat_edges, (count, 1))])
        lengths = np.concatenate([[len(loop) for loop in loops], np.full(2 * count, 3)])
        both_sides = np.tile(np.array([0, 1, 2, 0, 2, 1], dtype=np.int32), count)

        def table(values: list[NDArray[Any]], dtype: Any) -> wp.array:
            return wp.array(np.concatenate(values), dtype=dtype, device=device)

        self.hulls = Hulls()
        self.hulls.vertex = table([*(one.vertices for one in all_of_them), corners.reshape(-1, 3)], wp.vec3d)
        both_normals = np.stack([normals, -normals], axis=1).reshape(-1, 3)
        self.hulls.face_normal = table([*(one.normals() for one in all_of_them), both_normals], wp.vec3d)
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        self.hulls.loop_start = table([starts], wp.int32)
        self.hulls.loop = table([*loops, both_sides], wp.int32)
        for name, column in zip(("edge_from", "edge_to", "edge_left", "edge_right"), edge_table.T, strict=True):
            setattr(self.hulls, name, table([column], wp.int32))


def _ranges(counts: Sequence[int]) -> Int:
    stops = np.cumsum(counts)
    return np.stack([stops - counts, counts], axis=1).astype(np.int32)
