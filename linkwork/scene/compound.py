"""Several shapes rigidly joined into one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.model.moments import join_moments
from linkwork.scene.inputs import Array, Label, RotationLike, numbers, rotations
from linkwork.scene.shapes import Faces, Shape

__all__ = ["Compound"]

Part = Shape | tuple[Shape, ArrayLike] | tuple[Shape, ArrayLike, RotationLike]


class Compound(Shape):
    """Shapes placed in the frame of one body; where they overlap, their mass counts twice.

    Args:
        parts: each a shape, (shape, position) or (shape, position, rotation) in the body's frame, m.

    Raises:
        SceneError: no parts, or a part that is a plane, a set of shapes, or badly placed.

    Examples:
        >>> dumbbell = Compound([Cylinder(0.01, 0.2), (Sphere(0.03), (0, 0, 0.1)), (Sphere(0.03), (0, 0, -0.1))])
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        if not isinstance(parts, list | tuple) or not parts:
            raise SceneError("Compound: parts must be a list of at least one shape")
        self.parts: tuple[tuple[Shape, Array, Array], ...] = tuple(
            _placed(part, Label(f"Compound part {index}")) for index, part in enumerate(parts)
        )
        volumes, centroids, seconds = [], [], []
        for shape, position, rotation in self.parts:
            volume, centroid, second = shape.moments()
            volumes.append(volume)
            centroids.append(position + rotation @ centroid)
            seconds.append(rotation @ second @ rotation.T)
        volume_sum, centre, total = join_moments(np.array(volumes), np.array(centroids), np.array(seconds))
        self._moments = (np.asarray(volume_sum), centre, 0.5 * (total + total.T))

    def __repr__(self) -> str:
        return f"Compound of {', '.join(repr(shape) for shape, _, _ in self.parts)}"

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments of the parts, moved by the parallel-axis theorem."""
        return self._moments

    def surface(self) -> tuple[Array, Faces]:
        """The surfaces of all parts."""
        vertices: list[Array] = []
        faces: list[Faces] = []
        count = 0
        for shape, position, rotation in self.parts:
            points, triangles = shape.surface()
            vertices.append(points @ rotation.T + position)
            faces.append(triangles + count)
            count += len(points)
        return np.concatenate(vertices), np.concatenate(faces)

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned parts."""
        lows, highs = [], []
        for shape, position, turn in self.parts:
            low, high = shape.reach(rotation @ turn)
            lows.append(low + rotation @ position)
            highs.append(high + rotation @ position)
        return np.min(lows, axis=0), np.max(highs, axis=0)


def _placed(part: Part, label: Label) -> tuple[Shape, Array, Array]:
    items = part if isinstance(part, list | tuple) else (part,)
    if not 1 <= len(items) <= 3 or not isinstance(items[0], Shape):
        raise SceneError(f"{label()}: must be a shape, (shape, position) or (shape, position, rotation)")
    shape = items[0]
    if shape.massless:
        raise SceneError(
            f"{label()}: a {type(shape).__name__.lower()} has no mass and cannot be part of a body; use a Box"
        )
    if shape.count is not None:
        raise SceneError(f"{label()}: its dimensions are arrays; a part is one shape")
    position = numbers(items[1] if len(items) > 1 else (0.0, 0.0, 0.0), "position", (3,), label)[0]
    rotation = rotations(items[2] if len(items) > 2 else None, "rotation", label)[0]
    return shape, np.array(position), np.array(rotation)
