"""Closed triangle meshes as shapes: mass moments by exact volume integrals, and a reason when a mesh has none."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError
from linkwork.model.moments import polyhedron_moments
from linkwork.scene.inputs import Array, Label, numbers
from linkwork.scene.shapes import Faces, Shape

__all__ = ["Mesh"]


class Mesh(Shape):
    """A solid bounded by triangles, in the body's frame.

    Args:
        vertices: (v, 3) m.
        faces: (f, 3) vertex indices, counter-clockwise seen from outside.

    Raises:
        SceneError: the surface is open, inverted, inconsistently oriented, degenerate or encloses nothing.

    Examples:
        >>> gear = Mesh.load("gear.stl", scale=1e-3)
    """

    def __init__(self, vertices: ArrayLike, faces: ArrayLike, *, source: str = "Mesh") -> None:
        points = _vertices(vertices, source)
        triangles = _faces(faces, len(points), source)
        _require_closed(triangles, source)
        _require_areas(points, triangles, source)
        volume, centroid, second = polyhedron_moments(points, triangles)
        span = float((points.max(axis=0) - points.min(axis=0)).max())
        _require_volume(volume, second, span, source)
        for array in (points, triangles):
            array.flags.writeable = False
        self.vertices = points
        self.faces = triangles
        self._moments = (np.asarray(volume), centroid, second)
        self._source = source

    def __repr__(self) -> str:
        return f"{self._source}({len(self.vertices)} vertices, {len(self.faces)} faces)"

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, scale: float = 1.0) -> Mesh:
        """Read a mesh file (STL, OBJ, PLY, GLB, ...); ``scale`` turns its unit into m, 1e-3 for mm.

        Vertices at the same place are merged, as STL files need.

        Raises:
            SceneError: the file cannot be read, or its surface is no solid.
        """
        import trimesh

        factor = float(numbers(scale, "scale", (), Label("Mesh.load"))[0])
        if factor <= 0.0:
            raise SceneError(f"Mesh.load: scale must be above zero, got {scale!r}")
        if not isinstance(path, str | os.PathLike):
            raise SceneError(f"Mesh.load: path must be the name of a mesh file, got {path!r}")
        source = f"Mesh {str(path)!r}"
        if not Path(path).is_file():
            raise SceneError(f"{source}: there is no such file")
        try:
            loaded: Any = trimesh.load(path, force="mesh")
        except Exception as error:
            raise SceneError(f"{source}: cannot be read: {error}") from error
        if not isinstance(loaded, trimesh.Trimesh) or len(loaded.faces) == 0:
            raise SceneError(f"{source}: holds no triangles")
        loaded.merge_vertices(merge_tex=True, merge_norm=True)
        return cls(factor * np.asarray(loaded.vertices, dtype=np.float64), np.asarray(loaded.faces), source=source)

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments by integration over signed tetrahedra."""
        return self._moments

    def surface(self) -> tuple[Array, Faces]:
        """The mesh itself."""
        return self.vertices, self.faces

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned vertices."""
        turned = self.vertices @ rotation.T
        return turned.min(axis=0), turned.max(axis=0)


def _vertices(vertices: ArrayLike, source: str) -> Array:
    shape = np.shape(vertices)
    if len(shape) != 2 or shape[1] != 3 or shape[0] < 4:
        raise SceneError(f"{source}: vertices must have shape (v, 3) with v of at least 4, got {shape}")
    return np.array(numbers(vertices, "vertices", (3,), Label(source, count=shape[0])))


def _faces(faces: ArrayLike, vertices: int, source: str) -> Faces:
    triangles = np.asarray(faces)
    if triangles.ndim != 2 or triangles.shape[1] != 3 or triangles.dtype.kind not in "iu" or not len(triangles):
        raise SceneError(
            f"{source}: faces must be integers of shape (f, 3), got {triangles.dtype} of shape {triangles.shape}"
        )
    triangles = triangles.astype(np.int64)
    outside = ((triangles < 0) | (triangles >= vertices)).any(axis=1)
    if outside.any():
        face = int(np.argmax(outside))
        raise SceneError(f"{source}: face {face} {triangles[face].tolist()} names a vertex outside 0 to {vertices - 1}")
    repeated = (triangles == np.roll(triangles, 1, axis=1)).any(axis=1)
    if repeated.any():
        face = int(np.argmax(repeated))
        raise SceneError(f"{source}: face {face} {triangles[face].tolist()} names a vertex twice; remove it")
    return triangles


def _require_closed(faces: Faces, source: str) -> None:
    """Every edge must be run through as often in one direction as in the other."""
    edges = np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]])
    count = int(faces.max()) + 1
    low, high = edges.min(axis=1), edges.max(axis=1)
    keys, inverse = np.unique(low * count + high, return_inverse=True)
    direction = np.where(edges[:, 0] < edges[:, 1], 1, -1)
    balance = np.bincount(inverse, weights=direction, minlength=len(keys))
    uses = np.bincount(inverse, minlength=len(keys))
    if not balance.any():
        return
    open_edges = np.flatnonzero(uses % 2 == 1)
    if len(open_edges):
        raise SceneError(
            f"{source}: the surface is open: {len(open_edges)} edges, the first between vertices "
            f"{_edge(keys[open_edges[0]], count)}, belong to one face only; close the holes, or merge doubled vertices"
        )
    turned = np.flatnonzero(balance)
    raise SceneError(
        f"{source}: the faces are not oriented alike: {len(turned)} edges, the first between vertices "
        f"{_edge(keys[turned[0]], count)}, are run through twice in the same direction; "
        "order all faces counter-clockwise seen from outside"
    )


def _edge(key: np.int64, count: int) -> str:
    return f"{int(key) // count} and {int(key) % count}"


def _require_areas(vertices: Array, faces: Faces, source: str) -> None:
    corners = vertices[faces]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    doubled: NDArray[np.float64] = np.linalg.norm(np.cross(first, second), axis=1)
    longest = np.maximum(np.einsum("fi,fi->f", first, first), np.einsum("fi,fi->f", second, second))
    flat = doubled <= 1e-14 * longest
    if flat.any():
        face = int(np.argmax(flat))
        raise SceneError(f"{source}: face {face} {faces[face].tolist()} has no area; remove it or move its vertices")


def _require_volume(volume: float, second: Array, span: float, source: str) -> None:
    if abs(volume) <= 1e-12 * span**3:
        raise SceneError(f"{source}: the surface encloses no volume; it must bound a solid")
    if volume < 0.0:
        raise SceneError(
            f"{source}: the surface is inverted: it encloses {volume:.6g} m^3, its faces look inwards; "
            "turn them with faces[:, ::-1]"
        )
    if np.linalg.eigvalsh(second)[0] <= 0.0:
        raise SceneError(f"{source}: a part of the surface is inverted; turn the faces of that part outwards")
