"""Convex pairs for the tests: geoms in NumPy, and the kernels' answers for many pairs at once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import warp as wp
from numpy.typing import NDArray
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from linkwork.contact.convex import collide_convex, distance_convex
from linkwork.contact.geom import BOX, CAPSULE, CYLINDER, HULL, SPHERE, Geom, Hulls, vec3
from linkwork.contact.hulls import CUBE, HullTables, Polyhedron

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Shape:
    """A placed convex shape: kind, sizes as the kernels take them, and for hulls the polyhedron."""

    kind: int
    size: tuple[float, float, float]
    R: Array = None  # type: ignore[assignment]
    p: Array = None  # type: ignore[assignment]
    hull: Polyhedron | None = None

    def at(self, p, R=None) -> Shape:
        R = np.eye(3) if R is None else R.as_matrix() if isinstance(R, Rotation) else np.asarray(R, float)
        return replace(self, p=np.asarray(p, float), R=R)

    def moved(self, p, R: Array) -> Shape:
        """The shape after a rigid motion of the world."""
        return replace(self, p=R @ self.p + p, R=R @ self.R)

    def scaled(self, s: float) -> Shape:
        hull = self.hull and Polyhedron(self.hull.vertices * s, self.hull.loops)
        size = self.size if self.kind == HULL else tuple(s * x for x in self.size)
        return replace(self, size=size, p=self.p * s, hull=hull)

    def vertices(self) -> Array:
        """Corners in the world, of boxes and hulls; the ends of a capsule's core; a sphere's centre."""
        if self.kind in (BOX, HULL):
            local = (self.hull or CUBE).vertices * np.asarray(self.size)
        elif self.kind == CAPSULE:
            local = np.array([[0, 0, -self.size[1]], [0, 0, self.size[1]]])
        else:
            local = np.zeros((1, 3))
        return local @ self.R.T + self.p

    def reach(self, d: Array) -> Array:
        """The largest d . x over the shape for directions (..., 3)."""
        if self.kind == CYLINDER:
            local = d @ self.R
            own = np.abs(local[..., 2]) * self.size[1] + np.hypot(local[..., 0], local[..., 1]) * self.size[0]
            return own + d @ self.p
        radius = self.size[0] if self.kind in (SPHERE, CAPSULE) else 0.0
        return np.max(d @ self.vertices().T, axis=-1) + radius * np.linalg.norm(d, axis=-1)

    def outside(self, x: Array) -> Array:
        """How far points (..., 3) are from the shape's surface: positive outside; exact near faces, sides and caps."""
        local = (x - self.p) @ self.R
        if self.kind == SPHERE:
            return np.linalg.norm(local, axis=-1) - self.size[0]
        if self.kind == CAPSULE:
            along = np.clip(local[..., 2], -self.size[1], self.size[1])
            local = local.copy()
            local[..., 2] -= along
            return np.linalg.norm(local, axis=-1) - self.size[0]
        if self.kind == CYLINDER:
            return np.maximum(
                np.hypot(local[..., 0], local[..., 1]) - self.size[0], np.abs(local[..., 2]) - self.size[1]
            )
        solid = self.hull or CUBE
        normals = solid.normals()
        offsets = np.array(
            [n @ (solid.vertices[loop[0]] * self.size) for n, loop in zip(normals, solid.loops, strict=True)]
        )
        return np.max(local @ normals.T - offsets, axis=-1)


def box(x: float, y: float, z: float) -> Shape:
    """A box of half edges x, y, z."""
    return Shape(BOX, (x, y, z)).at((0, 0, 0))


def sphere(r: float) -> Shape:
    return Shape(SPHERE, (r, 0, 0)).at((0, 0, 0))


def capsule(r: float, h: float) -> Shape:
    return Shape(CAPSULE, (r, h, 0)).at((0, 0, 0))


def cylinder(r: float, h: float) -> Shape:
    return Shape(CYLINDER, (r, h, 0)).at((0, 0, 0))


def hull(points: Array) -> Shape:
    """The convex hull of points, coplanar triangles joined to polygons."""
    return Shape(HULL, (1.0, 1.0, 1.0), hull=polyhedron(points)).at((0, 0, 0))


def polyhedron(points: Array) -> Polyhedron:
    q = ConvexHull(points)
    groups: list[tuple[Array, set[int]]] = []
    for plane, corners in zip(q.equations, q.simplices, strict=True):
        for other, members in groups:
            if np.allclose(plane, other, atol=1e-9):
                members.update(int(c) for c in corners)
                break
        else:
            groups.append((plane, {int(c) for c in corners}))
    used = np.unique(np.concatenate([list(members) for _, members in groups]))
    number = {int(v): i for i, v in enumerate(used)}
    loops = []
    for plane, members in groups:
        ids = np.array(sorted(members))
        x = points[ids] - points[ids].mean(axis=0)
        u = x[0] / np.linalg.norm(x[0])
        v = np.cross(plane[:3], u)
        order = np.argsort(np.arctan2(x @ v, x @ u))
        loops.append(np.array([number[int(i)] for i in ids[order]], dtype=np.int32))
    return Polyhedron(np.asarray(points[used]), tuple(loops))


@dataclass(frozen=True)
class Contacts:
    """What collide_convex returned for one pair."""

    normal: Array
    a: Array  # (count, 3) core points
    b: Array
    radius_a: float
    radius_b: float
    gap: Array
    key: Array

    @property
    def on_a(self) -> Array:
        return self.a - self.radius_a * self.normal

    @property
    def on_b(self) -> Array:
        return self.b + self.radius_b * self.normal

    def __len__(self) -> int:
        return len(self.gap)


@wp.kernel(enable_backward=False)
def collide_pairs(
    a: wp.array(dtype=Geom),
    b: wp.array(dtype=Geom),
    hulls: Hulls,
    margin: wp.float64,
    count: wp.array(dtype=wp.int32),
    normal: wp.array(dtype=vec3),
    point_a: wp.array2d(dtype=vec3),
    point_b: wp.array2d(dtype=vec3),
    radius: wp.array2d(dtype=wp.float64),
    gap: wp.array2d(dtype=wp.float64),
    key: wp.array2d(dtype=wp.int32),
):
    i = wp.tid()
    m = collide_convex(a[i], b[i], hulls, margin)
    count[i] = m.count
    normal[i] = m.normal
    radius[i, 0] = m.radius_a
    radius[i, 1] = m.radius_b
    for k in range(4):
        point_a[i, k] = m.point_a[k]
        point_b[i, k] = m.point_b[k]
        gap[i, k] = m.gap[k]
        key[i, k] = m.key[k]


@wp.kernel(enable_backward=False)
def measure_pairs(
    a: wp.array(dtype=Geom),
    b: wp.array(dtype=Geom),
    hulls: Hulls,
    gap: wp.array(dtype=wp.float64),
    normal: wp.array(dtype=vec3),
    point_a: wp.array(dtype=vec3),
    point_b: wp.array(dtype=vec3),
):
    i = wp.tid()
    d = distance_convex(a[i], b[i], hulls)
    gap[i] = d.gap
    normal[i] = d.normal
    point_a[i] = d.point_a
    point_b[i] = d.point_b


def place(pairs):
    """Geoms of a and b on the device, and the tables of their hulls."""
    solids: dict[int, Polyhedron] = {id(s.hull): s.hull for pair in pairs for s in pair if s.hull is not None}
    tables = HullTables(list(solids.values()))
    row = {key: i + 1 for i, key in enumerate(solids)}
    arrays = []
    for side in range(2):
        geoms = np.zeros(len(pairs), dtype=Geom.numpy_dtype())
        for g, pair in zip(geoms, pairs, strict=True):
            s = pair[side]
            g["kind"], g["size"], g["R"], g["p"] = s.kind, s.size, s.R, s.p
            which = row.get(id(s.hull), 0)
            if s.kind in (BOX, HULL):
                g["first_vertex"], g["vertex_count"] = tables.vertices[which]
                g["first_face"], g["face_count"] = tables.faces[which]
                g["first_edge"], g["edge_count"] = tables.edges[which]
        arrays.append(wp.array(geoms, dtype=Geom, device="cpu"))
    return arrays[0], arrays[1], tables


def collide(pairs, margin: float) -> list[Contacts]:
    """collide_convex for each pair of shapes."""
    a, b, tables = place(pairs)
    n = len(pairs)
    out = [
        wp.zeros(n, dtype=wp.int32, device="cpu"),
        wp.zeros(n, dtype=vec3, device="cpu"),
        wp.zeros((n, 4), dtype=vec3, device="cpu"),
        wp.zeros((n, 4), dtype=vec3, device="cpu"),
        wp.zeros((n, 2), dtype=wp.float64, device="cpu"),
        wp.zeros((n, 4), dtype=wp.float64, device="cpu"),
        wp.zeros((n, 4), dtype=wp.int32, device="cpu"),
    ]
    wp.launch(collide_pairs, dim=n, inputs=[a, b, tables.hulls, margin, *out], device="cpu")
    count, normal, x, y, radius, gap, key = (o.numpy() for o in out)
    return [
        Contacts(normal[i], x[i, :k], y[i, :k], radius[i, 0], radius[i, 1], gap[i, :k], key[i, :k])
        for i, k in enumerate(count)
    ]


def measure(pairs) -> tuple[Array, Array, Array, Array]:
    """distance_convex for each pair of shapes: gaps, normals, nearest points on a and b."""
    a, b, tables = place(pairs)
    n = len(pairs)
    out = [wp.zeros(n, dtype=wp.float64, device="cpu")] + [wp.zeros(n, dtype=vec3, device="cpu") for _ in range(3)]
    wp.launch(measure_pairs, dim=n, inputs=[a, b, tables.hulls, *out], device="cpu")
    gap, normal, x, y = (o.numpy() for o in out)
    return gap, normal, x, y
