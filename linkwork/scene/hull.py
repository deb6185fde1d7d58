"""The convex hull of a cloud of points as a shape: a polyhedron with polygons for faces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError
from linkwork.model.moments import polyhedron_moments
from linkwork.scene.inputs import Array, Label, numbers
from linkwork.scene.shapes import Faces, Shape

__all__ = ["ConvexHull"]

# points nearer to a face's plane than this, relative to the hull's span, lie in it: what single precision leaves of them
FLAT = 1e-6
# a hull thinner than this, relative to its span, is flat
THIN = 1e-5


class ConvexHull(Shape):
    """The smallest convex solid around points, in the body's frame.

    Args:
        points: (p, 3) m, at least four that do not lie in a plane; points inside are left out.

    Attributes:
        vertices: (v, 3) corners of the hull, m.
        loops: for each face its corners, counter-clockwise seen from outside.

    Raises:
        SceneError: the points are not finite, too few, or lie in a plane, on a line or in one place.

    Examples:
        >>> wedge = ConvexHull([(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 0, 1), (0, 1, 1)])
    """

    def __init__(self, points: ArrayLike) -> None:
        cloud = _points(points)
        triangles, normals = _hull_triangles(cloud)
        self.vertices, self.loops = _polygons(cloud, triangles, normals)
        self.vertices.flags.writeable = False
        volume, centroid, second = polyhedron_moments(self.vertices, self.surface()[1])
        self._moments = (np.asarray(volume), centroid, second)

    def __repr__(self) -> str:
        return f"ConvexHull({len(self.vertices)} vertices, {len(self.loops)} faces)"

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments by integration over signed tetrahedra."""
        return self._moments

    def surface(self) -> tuple[Array, Faces]:
        """The corners, and each face as a fan of triangles."""
        fans = [
            np.stack([np.full(len(loop) - 2, loop[0]), loop[1:-1], loop[2:]], axis=1).astype(np.int64)
            for loop in self.loops
        ]
        return self.vertices, np.concatenate(fans)

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned corners."""
        turned = self.vertices @ rotation.T
        return turned.min(axis=0), turned.max(axis=0)


def _points(points: ArrayLike) -> Array:
    shape = np.shape(points)
    if len(shape) != 2 or shape[1] != 3 or shape[0] < 4:
        raise SceneError(f"ConvexHull: points must have shape (p, 3) with p of at least 4, got {shape}")
    cloud = np.array(numbers(points, "points", (3,), Label("ConvexHull", count=shape[0])))
    arms = cloud - cloud.mean(axis=0)
    span = np.linalg.norm(arms, axis=1).max()
    if span > 0.0:
        _, _, axes = np.linalg.svd(arms / span, full_matrices=False)
        widths = np.ptp(arms @ axes.T, axis=0) / span
    else:
        widths = np.zeros(3)
    if widths[2] < THIN:
        where = "in one place" if widths[0] < THIN else "on a line" if widths[1] < THIN else "in a plane"
        raise SceneError(f"ConvexHull: all {len(cloud)} points lie {where}; a solid needs points off it")
    return cloud


def _hull_triangles(cloud: Array) -> tuple[Faces, Array]:
    """Triangles (f, 3) of the hull, counter-clockwise from outside, and the normals of the facets they belong to."""
    from scipy.spatial import ConvexHull as Quickhull
    from scipy.spatial import QhullError

    try:
        hull = Quickhull(cloud)
    except QhullError as error:
        reason = str(error).strip().splitlines()[0]
        raise SceneError(f"ConvexHull: the hull of the {len(cloud)} points cannot be computed: {reason}") from error
    triangles, normals = hull.simplices.astype(np.int64), hull.equations[:, :3]
    a, b, c = (cloud[triangles[:, corner]] for corner in range(3))
    inward = np.einsum("fi,fi->f", np.cross(b - a, c - a), normals) < 0.0
    triangles[inward] = triangles[inward][:, ::-1]
    return triangles, normals


def _polygons(cloud: Array, triangles: Faces, normals: Array) -> tuple[Array, tuple[NDArray[np.int32], ...]]:
    """Corners of the hull and loops of its faces: triangles of one plane are joined, corners between two faces dropped."""
    loops = [_boundary(triangles[group]) for group in _coplanar_groups(cloud, triangles, normals)]
    uses = np.bincount(np.concatenate(loops), minlength=len(cloud))
    # a point where only two faces meet lies on the straight edge between them
    loops = [loop[uses[loop] > 2] for loop in loops]
    corners = np.flatnonzero(uses > 2)
    number = np.full(len(cloud), -1)
    number[corners] = np.arange(len(corners))
    return cloud[corners].copy(), tuple(number[loop].astype(np.int32) for loop in loops)


def _coplanar_groups(cloud: Array, triangles: Faces, normals: Array) -> list[NDArray[np.int64]]:
    """Triangles of each face: those around its largest one that lie in that one's plane."""
    corners = cloud[triangles]
    doubled = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    tolerance = FLAT * float(np.ptp(cloud, axis=0).max())
    neighbours = _neighbours(triangles)
    face = np.full(len(triangles), -1)
    groups: list[NDArray[np.int64]] = []
    for seed in np.argsort(-doubled, kind="stable"):
        if face[seed] >= 0:
            continue
        normal = normals[seed]
        level = corners[seed].mean(axis=0) @ normal
        group = [int(seed)]
        face[seed] = len(groups)
        for triangle in group:
            for other in neighbours[triangle]:
                flat = np.abs(corners[other] @ normal - level).max() <= tolerance
                if face[other] < 0 and flat and normals[other] @ normal > 0.0:
                    face[other] = len(groups)
                    group.append(int(other))
        groups.append(np.array(group))
    return groups


def _neighbours(triangles: Faces) -> Faces:
    """(f, 3): the triangle beyond each edge."""
    runs = np.stack([triangles, np.roll(triangles, -1, axis=1)], axis=-1).reshape(-1, 2)
    base = int(triangles.max()) + 1
    forward, backward = runs[:, 0] * base + runs[:, 1], runs[:, 1] * base + runs[:, 0]
    order = np.argsort(forward)
    beyond = order[np.searchsorted(forward, backward, sorter=order)]
    return np.asarray(beyond // 3).reshape(-1, 3)


def _boundary(triangles: Faces) -> NDArray[np.int64]:
    """The loop around triangles that form a disc."""
    runs = {(int(t[i]), int(t[(i + 1) % 3])) for t in triangles for i in range(3)}
    onward = {a: b for a, b in runs if (b, a) not in runs}
    start = min(onward)
    loop = [start]
    while onward[loop[-1]] != start:
        loop.append(onward[loop[-1]])
    return np.array(loop)
