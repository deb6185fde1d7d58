"""Forces and torques a user applies for one step, summed up per body."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError
from linkwork.scene.inputs import LARGEST

if TYPE_CHECKING:
    from linkwork.simulation.guard import Guard

__all__ = ["StepLoads", "read_vectors"]

Floats = NDArray[np.float64]


class StepLoads:
    """Collects forces for the coming step and takes them off again after it."""

    def __init__(self, count: int) -> None:
        self._none = np.zeros((count, 3))
        self._none.flags.writeable = False
        self._given = False
        self._forces: Floats | None = None
        self._torques: Floats | None = None
        self._moments: Floats | None = None

    def add_force(self, rows: NDArray[np.intp], force: ArrayLike, points: Floats | None) -> None:
        """Add forces (3,) or (k, 3), N, world frame, at material points (k, 3) of the principal frames or the COM."""
        values = read_vectors(force, len(rows), "force")
        if self._forces is None:
            self._forces = np.zeros_like(self._none)
        add_to_rows(self._forces, rows, values)
        if points is not None:
            if self._moments is None:
                self._moments = np.zeros((len(self._none), 3, 3))
            add_to_rows(self._moments, rows, values[:, :, None] * points[:, None, :])

    def add_torque(self, rows: NDArray[np.intp], torque: ArrayLike) -> None:
        """Add torques (3,) or (k, 3), N m, world frame."""
        if self._torques is None:
            self._torques = np.zeros_like(self._none)
        add_to_rows(self._torques, rows, read_vectors(torque, len(rows), "torque"))

    @property
    def _pending(self) -> bool:
        return self._forces is not None or self._torques is not None

    @property
    def unsettled(self) -> bool:
        """Whether loads wait for the coming step, or those of an earlier step are still with the stepper."""
        return self._pending or self._given

    def hand_over(self, guard: Guard) -> None:
        """Give the stepper what was collected, or take the loads of an earlier step away; the guard keeps the arrays."""
        if self.unsettled:
            forces = self._none if self._forces is None else self._forces
            torques = self._none if self._torques is None else self._torques
            guard.set_forces(forces, torques, self._moments)
        self._given = self._pending

    def clear(self) -> None:
        """Forget what was collected."""
        self._forces = self._torques = self._moments = None

    def settle(self, guard: Guard) -> None:
        """Take the loads of an earlier step off the stepper; loads for the coming step stay here."""
        if self._given:
            guard.set_forces(self._none, self._none, None)
            self._given = False

    def doubt(self) -> None:
        """The stepper went back to a state that may hold loads: take them off before the next step."""
        self._given = True


def add_to_rows(sums: Floats, rows: NDArray[np.intp], values: Floats) -> None:
    """Add values, one a row, to the rows of `sums`; a row may be named more than once."""
    if not (rows[1:] > rows[:-1]).all():
        np.add.at(sums, rows, values)
    elif len(rows) == len(sums):
        sums += values
    else:
        sums[rows] += values


def read_vectors(value: ArrayLike, count: int, what: str) -> Floats:
    """Read one vector for all or one each; returns (count, 3)."""
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise SceneError(f"{what} must be numbers of shape (3,) or ({count}, 3), got {type(value).__name__}") from error
    if array.shape not in ((3,), (count, 3)):
        raise SceneError(f"{what} must have shape (3,) or ({count}, 3), got {array.shape}")
    accepted = np.abs(array) <= LARGEST
    if not accepted.all():
        wrong = float(array[~accepted][0])
        wanted = f"at most {LARGEST:g} in size" if np.isfinite(wrong) else "finite"
        raise SceneError(f"{what} must be {wanted}, got {wrong} in {array.tolist()[:8]}")
    return np.broadcast_to(array, (count, 3))
