"""From the shapes of a model to geoms: compounds come apart, and bodies that are alike share one type of geom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.filters import body_components
from linkwork.contact.geom import BOX, CAPSULE, CYLINDER, HEIGHTFIELD, HULL, MESH, PLANE, SPHERE
from linkwork.contact.geoms import Geoms, GeomType
from linkwork.contact.hulls import HullTables, Polyhedron
from linkwork.contact.meshes import MeshTables, Surface
from linkwork.errors import SceneError
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model
from linkwork.scene.compound import Compound
from linkwork.scene.heightfield import Heightfield
from linkwork.scene.hull import ConvexHull
from linkwork.scene.meshes import Mesh
from linkwork.scene.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere

__all__ = ["Colliders"]

Array = NDArray[np.float64]
Int = NDArray[np.int32]
IDENTITY: Array = np.eye(3)
RANGES = ("first_vertex", "vertex_count", "first_face", "face_count", "first_edge", "edge_count")


@dataclass(frozen=True, eq=False)
class Colliders:
    """All geoms of a model.

    Attributes:
        geoms: arrays for kernels.
        tables: the convex polyhedra, and the triangles of all meshes.
        meshes: what lies around the triangles; None without meshes.
        types: their types as a structured array.
        type, body: (g,) of each geom.
        moving: (g,) True for geoms of moving bodies.
    """

    geoms: Geoms
    tables: HullTables
    meshes: MeshTables | None
    types: NDArray[Any]
    type: Int
    body: Int
    moving: NDArray[np.bool_]

    @staticmethod
    def build(model: Model, graph: JointGraph, row: Int, device: str = "cpu") -> Colliders:
        """Geoms of all bodies that may touch something; ``row`` is each body's place in the solver's arrays."""
        types: list[NDArray[Any]] = []
        kinds: list[Int] = []
        bodies_of: list[Int] = []
        polyhedra: list[Polyhedron] = []
        surfaces: list[Surface] = []
        count = 0
        for shape, wearers in model.shapes:
            members = np.flatnonzero(~model.contact_rules.silent[wearers])
            bodies = wearers[members]
            if not len(bodies):
                continue
            for part, position, rotation in _parts(shape, np.zeros(3), IDENTITY):
                table, kind = _types_of(part, position, rotation, members, bodies, model, polyhedra, surfaces)
                types.append(table)
                kinds.append((kind + count).astype(np.int32))
                bodies_of.append(bodies)
                count += len(table)
        # numpy forgets the padding of a struct when it joins arrays
        table = np.concatenate(types).astype(np.dtype(GeomType.numpy_dtype()))
        corners = np.concatenate([np.zeros((0, 3, 3)), *(vertices[faces] for vertices, faces in surfaces)])
        tables = HullTables(polyhedra, device, corners)
        meshes = MeshTables(surfaces, tables.first_triangle, device) if surfaces else None
        _fill_ranges(table, tables)
        body, kind = np.concatenate(bodies_of), np.concatenate(kinds)
        component = body_components(graph)[body]
        geoms = Geoms()
        geoms.types = wp.array(table, dtype=GeomType, device=device)
        geoms.type = wp.array(kind, dtype=wp.int32, device=device)
        geoms.row = wp.array(row[body], dtype=wp.int32, device=device)
        geoms.body = wp.array(body, dtype=wp.int32, device=device)
        geoms.component = wp.array(component, dtype=wp.int32, device=device)
        return Colliders(geoms, tables, meshes, table, kind, body, component >= 0)


def _parts(shape: Shape, position: Array, rotation: Array) -> list[tuple[Shape, Array, Array]]:
    if not isinstance(shape, Compound):
        return [(shape, position, rotation)]
    return [
        inner
        for part, offset, turn in shape.parts
        for inner in _parts(part, position + rotation @ offset, rotation @ turn)
    ]


def _types_of(
    shape: Shape,
    position: Array,
    rotation: Array,
    members: NDArray[np.int64],
    bodies: Int,
    model: Model,
    polyhedra: list[Polyhedron],
    surfaces: list[Surface],
) -> tuple[NDArray[Any], Int]:
    """Types of the geoms of one shape on its bodies, and which of them each body wears."""
    com, principal = model.com[bodies], model.principal[bodies]
    alike = shape.count is None and bool((com == com[0]).all() and (principal == principal[0]).all())
    if alike:
        com, principal = com[:1], principal[:1]
    own = _geometry(shape, members, polyhedra, surfaces)
    table = np.zeros(len(com), dtype=GeomType.numpy_dtype())
    for name in ("kind", "size", "half", "radius", "thickness"):
        table[name] = own[name]
    if own["kind"] in (HULL, MESH):
        table["first_vertex"] = len(polyhedra)  # stands for the table's row until all polyhedra are known
    if own["kind"] in (MESH, HEIGHTFIELD):
        table["mesh"] = len(surfaces) - 1
    inward = principal.transpose(0, 2, 1)
    table["R"] = inward @ (rotation @ own["turn"])
    table["p"] = np.einsum("nij,nj->ni", inward, position + rotation @ own["centre"] - com)
    table["reach"] = np.linalg.norm(table["p"], axis=1) + table["radius"]
    kind = np.zeros(len(bodies), np.int32) if alike else np.arange(len(bodies), dtype=np.int32)
    return table, kind


def _geometry(
    shape: Shape, members: NDArray[np.int64], polyhedra: list[Polyhedron], surfaces: list[Surface]
) -> dict[str, Any]:
    """Kind, size, bounding box and thickness of a shape, or of the members of one with array dimensions."""
    zero = np.zeros(3)
    if isinstance(shape, Plane):
        normal = np.asarray(shape.normal)
        wide = np.full(3, np.inf)
        return _row(PLANE, zero, wide, np.inf, np.inf, turn=_frame_along(normal), centre=shape.offset * normal)
    if isinstance(shape, ConvexHull):
        low, high = shape.vertices.min(axis=0), shape.vertices.max(axis=0)
        centre = 0.5 * (low + high)
        polyhedron = Polyhedron(shape.vertices - centre, shape.loops)
        polyhedra.append(polyhedron)
        radius = np.linalg.norm(polyhedron.vertices, axis=1).max()
        return _row(HULL, np.ones(3), 0.5 * (high - low), radius, polyhedron.thinnest(), centre=centre)
    if isinstance(shape, Box):
        half = 0.5 * _columns(shape, members, "x", "y", "z")
        return _row(BOX, half, half, np.linalg.norm(half, axis=-1), 2.0 * half.min(axis=-1))
    if isinstance(shape, Sphere):
        (r,) = _columns(shape, members, "radius").T
        return _row(SPHERE, np.stack([r, 0 * r, 0 * r], axis=-1), np.stack([r, r, r], axis=-1), r, 2.0 * r)
    if isinstance(shape, Capsule | Cylinder):
        r, length = _columns(shape, members, "radius", "length").T
        h = 0.5 * length
        size = np.stack([r, h, 0.0 * r], axis=-1)
        if isinstance(shape, Capsule):
            return _row(CAPSULE, size, np.stack([r, r, h + r], axis=-1), h + r, 2.0 * r)
        return _row(CYLINDER, size, np.stack([r, r, h], axis=-1), np.hypot(r, h), 2.0 * np.minimum(r, h))
    if isinstance(shape, Mesh | Heightfield):
        vertices, faces = shape.surface()
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        centre = 0.5 * (low + high)
        local = vertices - centre
        surfaces.append((local, faces))
        radius = np.linalg.norm(local, axis=1).max()
        if isinstance(shape, Heightfield):
            return _row(HEIGHTFIELD, np.ones(3), 0.5 * (high - low), radius, np.inf, centre=centre)
        # what stands on a plane is the hull of a mesh
        hull = ConvexHull(local)
        polyhedra.append(Polyhedron(hull.vertices, hull.loops))
        return _row(MESH, np.ones(3), 0.5 * (high - low), radius, polyhedra[-1].thinnest(), centre=centre)
    raise SceneError(f"{shape!r} cannot be a collider; let its bodies pass through everything with ignore_contact")


def _row(
    kind: int, size: Any, half: Any, radius: Any, thickness: Any, turn: Array = IDENTITY, centre: Any = (0.0, 0.0, 0.0)
) -> dict[str, Any]:
    return {
        "kind": kind, "size": size, "half": half, "radius": radius, "thickness": thickness,
        "turn": turn, "centre": np.asarray(centre),
    }  # fmt: skip


def _columns(shape: Shape, members: NDArray[np.int64], *names: str) -> Array:
    """Dimensions (1, k) of one shape, or (n, k) of the members of a set."""
    columns = [np.atleast_1d(getattr(shape, name)) for name in names]
    longest = max(len(column) for column in columns)
    table = np.stack([np.broadcast_to(column, longest) for column in columns], axis=1)
    return table if shape.count is None else table[members]


def _frame_along(normal: Array) -> Array:
    """A rotation whose third column is the normal."""
    x = np.eye(3)[np.argmin(np.abs(normal))]
    y = np.cross(normal, x)
    y /= np.linalg.norm(y)
    return np.stack([np.cross(y, normal), y, normal], axis=1)


def _fill_ranges(table: NDArray[Any], tables: HullTables) -> None:
    """Where each box and hull lies in the tables of polyhedra."""
    polyhedral = np.isin(table["kind"], (BOX, HULL, MESH))
    which = table["first_vertex"][polyhedral]
    ranges = np.concatenate([tables.vertices, tables.faces, tables.edges], axis=1)
    for name, column in zip(RANGES, ranges.T, strict=True):
        table[name][polyhedral] = column[which]
