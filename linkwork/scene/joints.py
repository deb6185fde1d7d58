"""The joint catalogue: one table of locked and free directions, and the kinds a user can ask for.

A joint frame has its origin at the joint's point and axes x, y, z; it is attached to both bodies and coincides in the
start pose. Slots 0, 1, 2 are the travel of the follower's origin along the base's axes x, y, z; slots 3, 4, 5 are
rotations of the follower against the base about x, y, z (swing about x and y, twist about z where all three are free).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.scene.frames import frame_from_pair, frame_from_z, unit_axes
from linkwork.scene.inputs import IDENTITY, Array, Label, RotationLike, rotations

__all__ = [
    "CATALOGUE",
    "Ball",
    "Cartesian",
    "CatalogueRow",
    "Cylindrical",
    "Distance",
    "Fixed",
    "Free",
    "Hinge",
    "JointId",
    "JointKind",
    "PinInSlot",
    "Planar",
    "Prismatic",
    "Rectangular",
    "Slot",
    "Universal",
]


class JointId(IntEnum):
    """Numbers of the joint kinds in a model."""

    FIXED = 0
    BALL = 1
    HINGE = 2
    PRISMATIC = 3
    CYLINDRICAL = 4
    UNIVERSAL = 5
    PLANAR = 6
    CARTESIAN = 7
    RECTANGULAR = 8
    PIN_IN_SLOT = 9
    SLOT = 10
    FREE = 11
    DISTANCE = 12


@dataclass(frozen=True)
class CatalogueRow:
    """One joint kind: its free slots in the order of its coordinates, their names, and its locked slots."""

    id: JointId
    free: tuple[int, ...]
    coordinates: tuple[str, ...]
    locked: tuple[int, ...]

    @property
    def angles(self) -> tuple[int, ...]:
        """Slots of turns about one axis, which count full turns. Swing and twist describe one rotation and do not."""
        return tuple(slot for slot, name in zip(self.free, self.coordinates, strict=True) if name.startswith("angle"))


def _row(kind: JointId, **free: int) -> CatalogueRow:
    slots = tuple(free.values())
    locked = (0,) if kind is JointId.DISTANCE else tuple(slot for slot in range(6) if slot not in slots)
    return CatalogueRow(kind, slots, tuple(free), locked)


# Distance is locked at its length unless it has limits; its coordinate, the distance, is slot 0
CATALOGUE: tuple[CatalogueRow, ...] = (
    _row(JointId.FIXED),
    _row(JointId.BALL, swing_x=3, swing_y=4, twist=5),
    _row(JointId.HINGE, angle=5),
    _row(JointId.PRISMATIC, travel=2),
    _row(JointId.CYLINDRICAL, travel=2, angle=5),
    _row(JointId.UNIVERSAL, angle_x=3, angle_y=4),
    _row(JointId.PLANAR, travel_x=0, travel_y=1, angle=5),
    _row(JointId.CARTESIAN, travel_x=0, travel_y=1, travel_z=2),
    _row(JointId.RECTANGULAR, travel_x=0, travel_y=1),
    _row(JointId.PIN_IN_SLOT, travel=0, angle=5),
    _row(JointId.SLOT, travel=2, swing_x=3, swing_y=4, twist=5),
    _row(JointId.FREE, travel_x=0, travel_y=1, travel_z=2, swing_x=3, swing_y=4, twist=5),
    _row(JointId.DISTANCE, distance=0),
)


@dataclass(frozen=True, eq=False)
class JointKind:
    """Base of the joint kinds. Axes are world directions in the start pose, of any nonzero length."""

    id: ClassVar[JointId]

    @property
    def row(self) -> CatalogueRow:
        """The kind's row in the catalogue."""
        return CATALOGUE[self.id]

    def start_frame(self, label: Label) -> Array:
        """Joint frames (rows, 3, 3) in the world, columns x, y, z.

        Raises:
            SceneError: an axis is zero, not finite or of the wrong shape, or two axes are not perpendicular.
        """
        return np.broadcast_to(IDENTITY, (label.rows, 3, 3))


@dataclass(frozen=True, eq=False)
class Fixed(JointKind):
    """Welds the follower to the base."""

    id: ClassVar[JointId] = JointId.FIXED


@dataclass(frozen=True, eq=False)
class Free(JointKind):
    """Locks nothing; carries springs, drives and limits on all six coordinates."""

    id: ClassVar[JointId] = JointId.FREE


@dataclass(frozen=True, eq=False)
class Ball(JointKind):
    """Holds a point; free swing and twist, with optional limits and elasticity of its own.

    Attributes:
        axis: the twist axis; None is the world z axis.
        swing_limit: half opening of the cone the twist axis stays in, rad.
        twist_limits: (lower, upper), rad.
        bending_stiffness: N m/rad against swing.
        twisting_stiffness: N m/rad against twist.
        bending_damping: N m s/rad against swing.
        twisting_damping: N m s/rad against twist.
    """

    axis: ArrayLike | None = None
    swing_limit: ArrayLike | None = None
    twist_limits: ArrayLike | None = None
    bending_stiffness: ArrayLike = 0.0
    twisting_stiffness: ArrayLike = 0.0
    bending_damping: ArrayLike = 0.0
    twisting_damping: ArrayLike = 0.0

    id: ClassVar[JointId] = JointId.BALL

    def start_frame(self, label: Label) -> Array:
        """Frames with z along the twist axis."""
        return super().start_frame(label) if self.axis is None else frame_from_z(unit_axes(self.axis, "axis", label))


@dataclass(frozen=True, eq=False)
class _AlongAxis(JointKind):
    axis: ArrayLike

    def start_frame(self, label: Label) -> Array:
        """Frames with z along the axis."""
        return frame_from_z(unit_axes(self.axis, "axis", label))


@dataclass(frozen=True, eq=False)
class Hinge(_AlongAxis):
    """Turns about an axis."""

    id: ClassVar[JointId] = JointId.HINGE


@dataclass(frozen=True, eq=False)
class Prismatic(_AlongAxis):
    """Slides along an axis without turning."""

    id: ClassVar[JointId] = JointId.PRISMATIC


@dataclass(frozen=True, eq=False)
class Cylindrical(_AlongAxis):
    """Slides along an axis and turns about it."""

    id: ClassVar[JointId] = JointId.CYLINDRICAL


@dataclass(frozen=True, eq=False)
class Slot(_AlongAxis):
    """A ball that slides along an axis of the base."""

    id: ClassVar[JointId] = JointId.SLOT


@dataclass(frozen=True, eq=False)
class Planar(JointKind):
    """Slides in a plane and turns about its normal."""

    normal: ArrayLike

    id: ClassVar[JointId] = JointId.PLANAR

    def start_frame(self, label: Label) -> Array:
        """Frames with z along the normal."""
        return frame_from_z(unit_axes(self.normal, "normal", label))


@dataclass(frozen=True, eq=False)
class Universal(JointKind):
    """A cross: the first axis is held by the base, the second, perpendicular to it, by the follower."""

    axis: ArrayLike
    axis2: ArrayLike

    id: ClassVar[JointId] = JointId.UNIVERSAL

    def start_frame(self, label: Label) -> Array:
        """Frames with x along the first axis and y along the second."""
        first, second = unit_axes(self.axis, "axis", label), unit_axes(self.axis2, "axis2", label)
        return frame_from_pair(first, second, (0, 1), ("axis", "axis2"), label)


@dataclass(frozen=True, eq=False)
class Rectangular(JointKind):
    """Slides along two perpendicular axes of the base without turning."""

    axis: ArrayLike
    axis2: ArrayLike

    id: ClassVar[JointId] = JointId.RECTANGULAR

    def start_frame(self, label: Label) -> Array:
        """Frames with x along the first axis and y along the second."""
        first, second = unit_axes(self.axis, "axis", label), unit_axes(self.axis2, "axis2", label)
        return frame_from_pair(first, second, (0, 1), ("axis", "axis2"), label)


@dataclass(frozen=True, eq=False)
class Cartesian(JointKind):
    """Slides in all directions without turning; coordinates along the columns of a frame (a rotation).

    Attributes:
        frame: matrix, quaternion x, y, z, w or scipy Rotation; None is the world frame.
    """

    frame: RotationLike | None = None

    id: ClassVar[JointId] = JointId.CARTESIAN

    def start_frame(self, label: Label) -> Array:
        """Frames as given."""
        return rotations(self.frame, "frame", label)


@dataclass(frozen=True, eq=False)
class PinInSlot(JointKind):
    """A pin of the follower that slides along a slot of the base and turns about itself.

    Attributes:
        slot: direction of the slot.
        pin: direction of the pin, perpendicular to the slot.
    """

    slot: ArrayLike
    pin: ArrayLike

    id: ClassVar[JointId] = JointId.PIN_IN_SLOT

    def start_frame(self, label: Label) -> Array:
        """Frames with x along the slot and z along the pin."""
        slot, pin = unit_axes(self.slot, "slot", label), unit_axes(self.pin, "pin", label)
        return frame_from_pair(pin, slot, (2, 0), ("pin", "slot"), label)


@dataclass(frozen=True, eq=False)
class Distance(JointKind):
    """Keeps two points at a distance, or their distance between limits.

    Attributes:
        length: distance kept, m; None is the distance in the start pose, which a given length has to match.
        limits: (lower, upper), m: leaves the distance free between them; not together with length.
    """

    length: ArrayLike | None = None
    limits: ArrayLike | None = None

    id: ClassVar[JointId] = JointId.DISTANCE

    def __post_init__(self) -> None:
        if self.length is not None and self.limits is not None:
            raise SceneError(
                "Distance: length and limits exclude each other; give length for a rod, limits for a rope or strut"
            )
