"""What acts on a free coordinate of a joint: springs and drives. Angles in rad, travel in m."""

from __future__ import annotations

from dataclasses import dataclass

from numpy.typing import ArrayLike

__all__ = ["PD", "Drive", "Force", "Position", "Spring", "Velocity"]


@dataclass(frozen=True)
class Spring:
    """A linear spring: force -stiffness (coordinate - rest).

    Attributes:
        stiffness: N/m or N m/rad, zero or more; one number, or one per joint in ``add_joints``.
        rest: coordinate at which it is slack, m or rad; None is the starting pose.
    """

    stiffness: ArrayLike
    rest: ArrayLike | None = None


@dataclass(frozen=True)
class PD:
    """A drive: stiffness (target - coordinate) + damping (target_velocity - rate), within +- max_force.

    Attributes:
        stiffness: N/m or N m/rad, zero or more.
        damping: N s/m or N m s/rad, zero or more.
        target: m or rad; None is the starting pose.
        target_velocity: m/s or rad/s.
        max_force: largest force N or torque N m.
    """

    stiffness: ArrayLike
    damping: ArrayLike = 0.0
    target: ArrayLike | None = None
    target_velocity: ArrayLike = 0.0
    max_force: ArrayLike = float("inf")


@dataclass(frozen=True)
class Position:
    """A prescribed coordinate, held with whatever force it takes.

    Attributes:
        target: m or rad; None is the starting pose.
    """

    target: ArrayLike | None = None


@dataclass(frozen=True)
class Force:
    """A prescribed force N or torque N m along the coordinate.

    Attributes:
        value: N or N m, positive towards growing coordinates.
    """

    value: ArrayLike = 0.0


@dataclass(frozen=True)
class Velocity:
    """A speed motor: holds the rate of the coordinate with at most max_force.

    Attributes:
        target: m/s or rad/s.
        max_force: largest force N or torque N m.
    """

    target: ArrayLike
    max_force: ArrayLike = float("inf")


Drive = PD | Position | Force | Velocity
