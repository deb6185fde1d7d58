"""Shapes with exact mass moments. A shape lives in the frame of its body; lengths in m.

The dimensions of Box, Sphere, Capsule and Cylinder may be arrays (n,): one shape for each body of a set.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError
from linkwork.scene.frames import unit_axes
from linkwork.scene.inputs import Array, Label, nonnegative, numbers, positive
from linkwork.scene.surfaces import box_surface, lathe, quarter_arc

__all__ = ["Box", "Capsule", "Cylinder", "Faces", "Plane", "Shape", "Sphere"]

Faces = NDArray[np.int64]


class Shape(ABC):
    """Base of all shapes.

    Attributes:
        massless: it bounds ground without end or thickness, which only fixed bodies can wear.
    """

    massless: ClassVar[bool] = False

    @property
    def count(self) -> int | None:
        """Number of shapes where the dimensions are arrays, None for one shape."""
        return None

    @abstractmethod
    def moments(self) -> tuple[Array, Array, Array]:
        """Volume m^3, centroid (3,) m, second moments about the centroid (3, 3) m^5 (integral of x x^T).

        Shapes with array dimensions give (n,), (n, 3) and (n, 3, 3).
        """

    @abstractmethod
    def surface(self) -> tuple[Array, Faces]:
        """Vertices (v, 3), or (n, v, 3) with array dimensions, and faces (f, 3), counter-clockwise from outside."""

    @abstractmethod
    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Lowest and highest corner (..., 3) of the axis-aligned bounding box when turned by a rotation (3, 3)."""

    @property
    def extent(self) -> Array:
        """Largest edge of the bounding box, m: a number, or (n,)."""
        low, high = self.reach(np.eye(3))
        return np.asarray((high - low).max(axis=-1))


@dataclass(frozen=True, eq=False)
class _Dimensioned(Shape):
    """A shape given by a few lengths, all positive unless named in ``_may_be_zero``."""

    def __post_init__(self) -> None:
        names = [field.name for field in fields(self)]
        name = type(self).__name__
        sizes = {np.shape(value) for value in (getattr(self, field) for field in names) if np.ndim(value)}
        if len(sizes) > 1 or any(len(size) != 1 for size in sizes):
            raise SceneError(f"{name}: dimensions must be numbers or arrays of one length (n,), got shapes {sizes}")
        label = Label(name, count=next(iter(sizes))[0] if sizes else None)
        for field in names:
            read = nonnegative if field == "length" and name == "Capsule" else positive
            values = read(getattr(self, field), field, label)
            if label.count is None:
                object.__setattr__(self, field, float(values[0]))
            else:
                values = np.array(values)
                values.flags.writeable = False
                object.__setattr__(self, field, values)

    @property
    def count(self) -> int | None:
        """Number of shapes where the dimensions are arrays, None for one shape."""
        first = np.shape(getattr(self, fields(self)[0].name))
        return first[0] if first else None

    def member(self, index: int) -> Self:
        """The one shape of body ``index`` of a set."""
        values = (getattr(self, field.name) for field in fields(self))
        return type(self)(*(value[index] if np.ndim(value) else value for value in values))

    def _lengths(self) -> list[Array]:
        return [np.asarray(getattr(self, field.name)) for field in fields(self)]

    def _centred(self, volume: Array, squares: list[Array]) -> tuple[Array, Array, Array]:
        """Moments of a shape that is symmetric about the origin, from its mean squares along x, y, z."""
        second = np.zeros((*volume.shape, 3, 3))
        for axis, square in enumerate(squares):
            second[..., axis, axis] = volume * square
        return volume, np.zeros((*volume.shape, 3)), second


@dataclass(frozen=True, eq=False)
class Box(_Dimensioned):
    """A box centred at the body's origin.

    Attributes:
        x, y, z: full edge lengths, m; numbers or arrays (n,).
    """

    x: ArrayLike
    y: ArrayLike
    z: ArrayLike

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments; mean squares are edge^2 / 12."""
        x, y, z = self._lengths()
        return self._centred(np.asarray(x * y * z), [x * x / 12.0, y * y / 12.0, z * z / 12.0])

    def surface(self) -> tuple[Array, Faces]:
        """Eight corners and twelve triangles."""
        corners, faces = box_surface()
        return corners * np.stack(self._lengths(), axis=-1)[..., None, :], faces

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned box."""
        half = 0.5 * np.stack(self._lengths(), axis=-1) @ np.abs(rotation).T
        return -half, half


@dataclass(frozen=True, eq=False)
class Sphere(_Dimensioned):
    """A ball centred at the body's origin.

    Attributes:
        radius: m; a number or an array (n,).
    """

    radius: ArrayLike

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments; mean squares are radius^2 / 5."""
        (radius,) = self._lengths()
        return self._centred(np.asarray(4.0 / 3.0 * np.pi * radius**3), [radius * radius / 5.0] * 3)

    def surface(self) -> tuple[Array, Faces]:
        """A lathe with rings every 15 degrees."""
        (radius,) = self._lengths()
        across, along = quarter_arc(6)
        radii = np.concatenate([across[:0:-1], across])
        heights = np.concatenate([-along[:0:-1], along])
        return lathe(radius[..., None] * radii, radius[..., None] * heights, -radius, radius)

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the ball."""
        high = np.repeat(np.asarray(self.radius)[..., None], 3, axis=-1)
        return -high, high


@dataclass(frozen=True, eq=False)
class Capsule(_Dimensioned):
    """A cylinder along z with half balls at its ends, centred at the body's origin.

    Attributes:
        radius: m; a number or an array (n,).
        length: of the cylindrical part, m, zero or more; the whole capsule is length + 2 radius long.
    """

    radius: ArrayLike
    length: ArrayLike

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments: cylinder, and two half balls moved out by length / 2."""
        r, h = self._lengths()
        tube, ball = np.pi * r * r * h, 4.0 / 3.0 * np.pi * r**3
        volume = np.asarray(tube + ball)
        across = (tube * r * r / 4.0 + ball * r * r / 5.0) / volume
        along = (tube * h * h / 12.0 + ball * (r * r / 5.0 + 3.0 * r * h / 8.0 + h * h / 4.0)) / volume
        return self._centred(volume, [across, across, along])

    def surface(self) -> tuple[Array, Faces]:
        """A lathe with rings every 15 degrees on the caps."""
        radius, length = self._lengths()
        across, along = quarter_arc(6)
        radii = radius[..., None] * np.concatenate([across[::-1], across])
        half = 0.5 * length[..., None]
        caps = radius[..., None] * along
        heights = np.concatenate([-half - caps[..., ::-1], half + caps], axis=-1)
        end = 0.5 * length + radius
        return lathe(radii, heights, -end, end)

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned capsule."""
        radius, length = self._lengths()
        high = 0.5 * length[..., None] * np.abs(rotation[:, 2]) + radius[..., None]
        return -high, high


@dataclass(frozen=True, eq=False)
class Cylinder(_Dimensioned):
    """A cylinder along z centred at the body's origin.

    Attributes:
        radius: m; a number or an array (n,).
        length: m; a number or an array (n,).
    """

    radius: ArrayLike
    length: ArrayLike

    def moments(self) -> tuple[Array, Array, Array]:
        """Volume, centroid and second moments; mean squares are radius^2 / 4 across and length^2 / 12 along."""
        r, h = self._lengths()
        return self._centred(np.asarray(np.pi * r * r * h), [r * r / 4.0, r * r / 4.0, h * h / 12.0])

    def surface(self) -> tuple[Array, Faces]:
        """A prism with 24 sides."""
        radius, length = self._lengths()
        radii = np.repeat(radius[..., None], 2, axis=-1)
        return lathe(radii, length[..., None] * np.array([-0.5, 0.5]), -0.5 * length, 0.5 * length)

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned cylinder."""
        radius, length = self._lengths()
        along = np.abs(rotation[:, 2])
        across = np.sqrt(np.clip(1.0 - along * along, 0.0, 1.0))
        high = 0.5 * length[..., None] * along + radius[..., None] * across
        return -high, high


@dataclass(frozen=True, eq=False)
class Plane(Shape):
    """A half space for fixed bodies: points x of the body's frame with normal . x <= offset are solid.

    Attributes:
        normal: outward direction, any nonzero length.
        offset: m along the unit normal.
    """

    massless: ClassVar[bool] = True

    normal: ArrayLike = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        label = Label("Plane")
        normal = unit_axes(self.normal, "normal", label)[0]
        normal.flags.writeable = False
        object.__setattr__(self, "normal", normal)
        object.__setattr__(self, "offset", float(numbers(self.offset, "offset", (), label)[0]))

    def moments(self) -> tuple[Array, Array, Array]:
        """Raise SceneError: a half space has no mass."""
        raise SceneError("Plane: a plane has no volume and no mass; use it on a fixed body (fixed=True)")

    def surface(self) -> tuple[Array, Faces]:
        """A square of 20 m, for drawing."""
        normal = np.asarray(self.normal)
        x = np.eye(3)[np.argmin(np.abs(normal))]
        x = np.cross(np.cross(normal, x), normal)
        x /= np.linalg.norm(x)
        y = np.cross(normal, x)
        corners = [self.offset * normal + 10.0 * (a * x + b * y) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        return np.array(corners), np.array([[0, 1, 2], [0, 2, 3]])

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Infinite in all directions."""
        return np.full(3, -np.inf), np.full(3, np.inf)
