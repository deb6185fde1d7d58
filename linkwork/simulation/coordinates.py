"""Free joint coordinates and the laws that act on them, found by joint and number of the coordinate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError
from linkwork.scene.joints import CATALOGUE, JointId
from linkwork.scene.laws import DriveId
from linkwork.simulation.selection import rows_of

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["FreeSlots", "JointValues", "LawRows"]

Floats = NDArray[np.float64]


class FreeSlots:
    """Where the free coordinates of every joint lie in a (j, 6) table of slots; some joints may be left out."""

    def __init__(
        self,
        joint_kind: NDArray[np.int8],
        distance_locked: NDArray[np.bool_],
        without: NDArray[np.bool_] | None = None,
    ) -> None:
        free = np.zeros((len(CATALOGUE), 6), dtype=bool)
        for row in CATALOGUE:
            free[row.id, list(row.free)] = True
        kinds = joint_kind.astype(np.intp)
        self.mask = free[kinds]
        self.mask[(kinds == JointId.DISTANCE) & distance_locked, 0] = False
        if without is not None:
            self.mask[without] = False
        self.starts = np.concatenate([[0], np.cumsum(self.mask.sum(axis=1))])

    def slots(self, joint: int) -> NDArray[np.intp]:
        """The free slots of one joint, in the order of its coordinates."""
        return np.flatnonzero(self.mask[joint])


class JointValues(Sequence[Floats]):
    """One array of free coordinates (or their rates) per joint, as long as that joint has free coordinates.

    An index, a `Joint` or anything that picks one joint gives a 1-D array; a slice, index array or `Joints` gives a
    list of them. `flat` holds all of them one after the other.
    """

    def __init__(self, table: Floats, slots: FreeSlots, scene: object | None) -> None:
        self.flat: Floats = table[slots.mask]
        self._starts = slots.starts
        self._scene = scene

    def __len__(self) -> int:
        return len(self._starts) - 1

    def _one(self, joint: int) -> Floats:
        return self.flat[self._starts[joint] : self._starts[joint + 1]]

    @overload
    def __getitem__(self, which: int) -> Floats: ...
    @overload
    def __getitem__(self, which: Any) -> Any: ...
    def __getitem__(self, which: Any) -> Any:
        if isinstance(which, int | np.integer):
            if not -len(self) <= which < len(self):
                raise IndexError(f"joint {which} does not exist; the scene has {len(self)}")
            return self._one(int(which) % len(self))
        rows = rows_of(which, "joint", len(self), self._scene)
        if hasattr(which, "index") and not hasattr(which, "indices"):
            return self._one(int(rows[0]))
        return [self._one(row) for row in rows.tolist()]

    def __repr__(self) -> str:
        return f"<free coordinates of {len(self)} joints, {len(self.flat)} in all>"


class LawRows:
    """Finds the rows of the model's joint laws."""

    def __init__(self, model: Model, slots: FreeSlots) -> None:
        self._model = model
        self._slots = slots
        self._row = np.full(self._slots.mask.shape, -1, dtype=np.int32)
        self._row[model.law_joint, model.law_slot] = np.arange(len(model.law_joint), dtype=np.int32)
        # The slot of each joint's k-th free coordinate, -1 past the last.
        order = np.argsort(~self._slots.mask, axis=1, kind="stable")
        counts = self._slots.mask.sum(axis=1)
        self._slot = np.where(np.arange(6) < counts[:, None], order, -1)
        self._drive = np.asarray(model.drive)

    def find(
        self, joints: NDArray[np.intp], coordinate: int, drives: tuple[DriveId, ...], what: str
    ) -> NDArray[np.int32]:
        """Law rows of one coordinate of each joint, which must be driven by one of the given drives.

        Raises:
            SceneError: the coordinate does not exist or has no such drive.
        """
        if not isinstance(coordinate, int | np.integer) or not 0 <= coordinate < 6:
            raise SceneError(f"coordinate must be the number of a free coordinate, counted from 0, not {coordinate!r}")
        slot = self._slot[joints, coordinate]
        rows: NDArray[np.int32] = np.where(slot >= 0, self._row[joints, slot], -1)
        driven = np.zeros(len(DriveId), dtype=bool)
        driven[list(drives)] = True
        bad = (rows < 0) | ~driven[self._drive[rows]] if len(self._drive) else rows < 0
        if bad.any():
            self._refuse(int(joints[bad.argmax()]), coordinate, drives, what)
        return rows

    def _refuse(self, joint: int, coordinate: int, drives: tuple[DriveId, ...], what: str) -> None:
        name = self._model.joint_names(joint)
        free = len(self._slots.slots(joint))
        if coordinate >= free:
            raise SceneError(f"joint {name!r} has {free} free coordinates, so there is no coordinate {coordinate}")
        wanted = " or ".join(f"lw.{_CLASS_NAMES[drive]}" for drive in drives)
        raise SceneError(
            f"coordinate {coordinate} of joint {name!r} has no {what}: give the joint drive={wanted}(...) in the scene"
        )


_CLASS_NAMES = {
    DriveId.PD: "PD",
    DriveId.POSITION: "Position",
    DriveId.FORCE: "Force",
    DriveId.VELOCITY: "Velocity",
}
