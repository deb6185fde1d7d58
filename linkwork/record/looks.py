"""What bodies look like: one mesh per kind of shape, with the bodies that wear it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.scene.shapes import Box, Capsule, Cylinder, Plane, Shape, Sphere

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["Look", "looks_of"]


@dataclass(frozen=True)
class Look:
    """A mesh drawn once per body.

    Attributes:
        vertices: (v, 3) m.
        faces: (f, 3), counter-clockwise from outside.
        bodies: (k,) indices of the bodies.
        scales: (k, 3) factors along the mesh's axes.
        principal: the mesh is drawn in the principal frame, not in the user's body frame.
        endless: the mesh stands for something without end, such as a plane.
    """

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    bodies: NDArray[np.int32]
    scales: NDArray[np.float32]
    principal: bool
    endless: bool


def looks_of(model: Model) -> list[Look]:
    """The looks of all bodies; those without a shape get the box that has their moments."""
    looks = [_look(shape, np.asarray(bodies, dtype=np.int32)) for shape, bodies in model.shapes]
    bare = np.ones(model.bodies, dtype=bool)
    for look in looks:
        bare[look.bodies] = False
    bodies = np.flatnonzero(bare & (model.motion == 0)).astype(np.int32)
    if len(bodies):
        edges = np.sqrt(12.0 * model.second_moments[bodies] / model.mass[bodies, None])
        edges = np.maximum(edges, 0.02 * edges.max(axis=1, keepdims=True))
        vertices, faces = Box(1.0, 1.0, 1.0).surface()
        looks.append(_assembled(vertices, faces, bodies, edges, principal=True))
    return looks


def _look(shape: Shape, bodies: NDArray[np.int32]) -> Look:
    if shape.count is None:
        vertices, faces = shape.surface()
        return _assembled(vertices, faces, bodies, np.ones((len(bodies), 3)), endless=isinstance(shape, Plane))
    unit, scales = _unit_and_scales(shape)
    vertices, faces = unit.surface()
    return _assembled(vertices, faces, bodies, scales)


def _unit_and_scales(shape: Shape) -> tuple[Shape, NDArray[np.float64]]:
    """One shape and the stretch that makes each member of it."""
    sizes: dict[str, Any] = {}
    if isinstance(shape, Box | Sphere | Cylinder | Capsule):
        count = (shape.count or 1,)
        sizes = {field.name: np.broadcast_to(getattr(shape, field.name), count) for field in fields(shape)}
    if isinstance(shape, Box):
        return Box(1.0, 1.0, 1.0), np.stack([sizes["x"], sizes["y"], sizes["z"]], axis=1)
    if isinstance(shape, Sphere):
        return Sphere(1.0), np.repeat(sizes["radius"][:, None], 3, axis=1)
    radius, length = sizes["radius"], sizes["length"]
    if isinstance(shape, Cylinder):
        return Cylinder(1.0, 1.0), np.stack([radius, radius, length], axis=1)
    # Caps of capsules of other proportions are drawn a little flatter or longer than they are.
    typical = float(np.median(length / radius))
    along = (length + 2.0 * radius) / (typical + 2.0)
    return Capsule(1.0, typical), np.stack([radius, radius, along], axis=1)


def _assembled(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int64],
    bodies: NDArray[np.int32],
    scales: NDArray[np.float64],
    *,
    principal: bool = False,
    endless: bool = False,
) -> Look:
    return Look(
        vertices.astype(np.float32), faces.astype(np.int32), bodies, scales.astype(np.float32), principal, endless
    )
