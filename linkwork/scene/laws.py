"""Laws on joint coordinates: what limits, springs, dampers, friction and drives say, as rows for the model.

A row belongs to one slot of one joint. Numbers are SI; angles rad, travel m.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.scene.drives import PD, Drive, Force, Position, Spring, Velocity
from linkwork.scene.inputs import Array, Label, nonnegative, numbers, require
from linkwork.scene.joints import Ball, JointKind

__all__ = ["LAW_COLUMNS", "DriveId", "Laws", "joint_laws", "limit_pair"]


class DriveId(IntEnum):
    """Numbers of the drives in a model."""

    NONE = 0
    PD = 1
    POSITION = 2
    FORCE = 3
    VELOCITY = 4


# column -> value where no law says otherwise
LAW_COLUMNS: dict[str, float] = {
    "lower": -np.inf,
    "upper": np.inf,
    "stiffness": 0.0,
    "rest": 0.0,
    "damping": 0.0,
    "friction": 0.0,
    "force": 0.0,
    "drive": DriveId.NONE,
    "drive_stiffness": 0.0,
    "drive_damping": 0.0,
    "target": 0.0,
    "target_velocity": 0.0,
    "max_force": np.inf,
    "cone": False,
}

Row = dict[str, Array]
Laws = dict[int, Row]  # slot -> columns that some law sets


def joint_laws(
    kind: JointKind,
    free: tuple[int, ...],
    start: Array,
    label: Label,
    *,
    limits: Any = None,
    spring: Any = None,
    damping: Any = None,
    friction: Any = None,
    drive: Any = None,
) -> Laws:
    """Read the laws of one add_joint(s) call; ``start`` (rows,) is the coordinate in the start pose.

    Raises:
        SceneError: a law for a coordinate that does not exist or has one already, or a number out of its range.
    """
    laws: Laws = _ball_laws(kind, label) if isinstance(kind, Ball) else {}
    given = {"limits": limits, "spring": spring, "damping": damping, "friction": friction, "drive": drive}
    for what, value in given.items():
        if value is None:
            continue
        if not free:
            raise SceneError(
                f"{label.whole()}: {what} given, but a {type(kind).__name__} joint has no free coordinate; "
                f"leave {what} out or choose a joint that can move"
            )
        per_slot = _limits_per_slot(value, free, label) if what == "limits" else _per_slot(value, what, free, label)
        for slot, entry in zip(free, per_slot, strict=True):
            if entry is not None:
                _add(laws, slot, READERS[what](entry, start, label), what, label)
    for slot, row in laws.items():
        _check_target(row, kind.row.coordinates[kind.row.free.index(slot)], label)
    return laws


def _add(laws: Laws, slot: int, row: Row, what: str, label: Label) -> None:
    known = laws.setdefault(slot, {})
    if not known.keys().isdisjoint(row):
        raise SceneError(f"{label.whole()}: {what} is given twice, by the Ball itself and by {what}=; give it once")
    known.update(row)


def _per_slot(value: Any, what: str, free: tuple[int, ...], label: Label) -> list[Any]:
    """Spread a value over the free coordinates: one for all, or a sequence with one entry (or None) for each."""
    count = len(free)
    if isinstance(value, list | tuple):
        per_coordinate = count > 1 or any(item is None or isinstance(item, Spring | Drive) for item in value)
        if not per_coordinate:
            return [value]
        if len(value) != count:
            raise SceneError(
                f"{label.whole()}: {what} has {len(value)} entries, but the joint has {count} free "
                f"coordinate{'s' if count > 1 else ''}; give one entry (or None) for each"
            )
        return list(value)
    if isinstance(value, np.ndarray) and value.ndim and count > 1:
        if value.ndim == 1 and len(value) == count == label.count:
            raise SceneError(
                f"{label.whole()}: {what} of shape {value.shape} could be per joint or per coordinate; "
                f"give a list for per coordinate, or an array of shape {(label.count, count)}"
            )
        if value.ndim == 1 and len(value) == count:
            return list(value)
        if value.ndim == 2 and value.shape[1] == count:
            return list(value.T)
    return [value] * count


def _limits_per_slot(value: Any, free: tuple[int, ...], label: Label) -> list[Any]:
    count = len(free)
    if count == 1:
        return [value[0] if isinstance(value, list | tuple) and len(value) == 1 else value]
    if isinstance(value, np.ndarray) and value.ndim == 3 and value.shape[1] == count:
        return [value[:, i] for i in range(count)]
    pairs = isinstance(value, list | tuple | np.ndarray) and len(value) == count
    if not pairs or any(isinstance(item, int | float | np.number) for item in value):
        raise SceneError(
            f"{label.whole()}: limits must be a sequence of {count} pairs (lower, upper) or None, "
            "one for each free coordinate of the joint"
        )
    return list(value)


def limit_pair(value: Any, what: str, start: Array, label: Label) -> Row:
    """Read a pair (lower, upper), either end a number, None or one number per joint; or pairs of shape (n, 2)."""
    ends = isinstance(value, list | tuple) and len(value) == 2 and not any(isinstance(v, list | tuple) for v in value)
    if ends:
        low, high = value
        lower = numbers(-np.inf if low is None else low, f"lower end of {what}", (), label, finite=False)
        upper = numbers(np.inf if high is None else high, f"upper end of {what}", (), label, finite=False)
    else:
        lower, upper = numbers(value, what, (2,), label, finite=False).T
    require(
        (lower <= upper) & (lower < np.inf) & (upper > -np.inf),
        label,
        lambda i: f"{what} ({lower[i]:g}, {upper[i]:g}) are in the wrong order; give (lower, upper)",
    )
    slack = 1e-9 * np.abs(start)
    require(
        (lower <= start + slack) & (start - slack <= upper),
        label,
        lambda i: (
            f"{what} ({lower[i]:g}, {upper[i]:g}) exclude the start pose, where the coordinate is {start[i]:g}; "
            "move the bodies or widen the limits"
        ),
    )
    return {"lower": lower, "upper": upper}


def _spring(value: Any, start: Array, label: Label) -> Row:
    spring = value if isinstance(value, Spring) else Spring(value)
    if isinstance(value, Drive):
        raise SceneError(f"{label.whole()}: spring must be a Spring or a stiffness; pass {value!r} as drive=")
    return {
        "stiffness": nonnegative(spring.stiffness, "spring stiffness", label),
        "rest": start if spring.rest is None else numbers(spring.rest, "spring rest", (), label),
    }


def _drive(value: Any, start: Array, label: Label) -> Row:
    """Columns of one drive: Force fills ``force``; Velocity fills ``target_velocity``."""
    if isinstance(value, PD):
        return {
            "drive": np.array(float(DriveId.PD)),
            "drive_stiffness": nonnegative(value.stiffness, "drive stiffness", label),
            "drive_damping": nonnegative(value.damping, "drive damping", label),
            "target": start if value.target is None else numbers(value.target, "drive target", (), label),
            "target_velocity": numbers(value.target_velocity, "drive target_velocity", (), label),
            "max_force": nonnegative(value.max_force, "drive max_force", label, finite=False),
        }
    if isinstance(value, Position):
        target = start if value.target is None else numbers(value.target, "drive target", (), label)
        return {"drive": np.array(float(DriveId.POSITION)), "target": target}
    if isinstance(value, Force):
        force = numbers(value.value, "drive value", (), label)
        return {"drive": np.array(float(DriveId.FORCE)), "force": force}
    if isinstance(value, Velocity):
        return {
            "drive": np.array(float(DriveId.VELOCITY)),
            "target_velocity": numbers(value.target, "drive target", (), label),
            "max_force": nonnegative(value.max_force, "drive max_force", label, finite=False),
        }
    raise SceneError(
        f"{label.whole()}: drive must be PD, Position, Force or Velocity (or a sequence of them, one for each free "
        f"coordinate), got {type(value).__name__}"
    )


READERS: dict[str, Callable[[Any, Array, Label], Row]] = {
    "limits": lambda value, start, label: limit_pair(value, "limits", start, label),
    "spring": _spring,
    "damping": lambda value, start, label: {"damping": nonnegative(value, "damping", label)},
    "friction": lambda value, start, label: {"friction": nonnegative(value, "friction", label)},
    "drive": _drive,
}


def _check_target(row: Row, coordinate: str, label: Label) -> None:
    """A prescribed position must respect the limits of its coordinate."""
    if int(row.get("drive", np.array(0))) != DriveId.POSITION or "lower" not in row:
        return
    lower, upper, target = np.broadcast_arrays(row["lower"], row["upper"], row["target"])
    require(
        (lower <= target) & (target <= upper),
        label,
        lambda i: f"the prescribed {coordinate} {target[i]:g} lies outside its limits ({lower[i]:g}, {upper[i]:g})",
    )


def _ball_laws(ball: Ball, label: Label) -> Laws:
    """The ball's own limits and elasticity: bending on both swings, twisting on the twist."""
    start = np.zeros(label.rows)
    laws: Laws = {}

    def act(slots: tuple[int, ...], column: str, value: ArrayLike, what: str) -> None:
        array = nonnegative(value, what, label)
        if array.any():
            for slot in slots:
                laws.setdefault(slot, {})[column] = array
                if column == "stiffness":
                    laws[slot]["rest"] = start

    act((3, 4), "stiffness", ball.bending_stiffness, "bending_stiffness")
    act((5,), "stiffness", ball.twisting_stiffness, "twisting_stiffness")
    act((3, 4), "damping", ball.bending_damping, "bending_damping")
    act((5,), "damping", ball.twisting_damping, "twisting_damping")
    if ball.swing_limit is not None:
        angle = numbers(ball.swing_limit, "swing_limit", (), label)
        require(
            (angle > 0.0) & (angle <= np.pi),
            label,
            lambda i: f"swing_limit must lie in (0, pi] rad, got {angle[i]:g}",
        )
        lower = np.full(1, -np.inf)
        laws.setdefault(3, {}).update(lower=lower, upper=angle, cone=np.ones(1))
    if ball.twist_limits is not None:
        laws.setdefault(5, {}).update(limit_pair(ball.twist_limits, "twist_limits", start, label))
    return laws
