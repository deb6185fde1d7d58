"""Steps a stepper and remembers the way back to the last good state."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import StepFailure
from linkwork.simulation.stepping import State, Stepper

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["Guard"]

Floats = NDArray[np.float64]
Entry = tuple[str, tuple[Any, ...]]
SECONDS_APART = 1.0
WORTH = 50.0
JOURNAL_BYTES = 256 * 1024**2


class Guard:
    """Everything that acts on a stepper goes through here and into a journal.

    After a failed step nothing in the stepper can be trusted. The guard then restores its latest snapshot and takes
    the steps of the journal again one by one, with the same forces, laws and poses and without calling anyone, up to
    the step before the first one that goes wrong. Snapshots cost at most 1/50 of the run.

    Args:
        stepper: at its start.
        model: what it steps.
        start: gives the state of the start once more; until the first snapshot this is the way back.
    """

    def __init__(self, stepper: Stepper, model: Model, start: Callable[[], State]) -> None:
        self._stepper = stepper
        self._model = model
        self._start = start
        # Columns of the laws that were changed, as they are now.
        self.laws: dict[str, Floats] = {}
        self._loads: tuple[Any, ...] | None = None
        self._snapshot: State | None = None
        self._begin_journal(0.0)

    def _begin_journal(self, cost: float) -> None:
        self._journal: list[Entry] = []
        self._bytes = 0
        self._before = self._settings()
        self._due = time.perf_counter() + max(SECONDS_APART, WORTH * cost)

    def _settings(self) -> list[Entry]:
        """What has to be set again to be where we are, besides the state."""
        rows = np.arange(len(self._model.law_joint), dtype=np.int32)
        settings: list[Entry] = [("set_law", (name, rows, column.copy())) for name, column in self.laws.items()]
        if self._loads is not None:
            settings.append(("set_forces", self._loads))
        return settings

    # Acting

    def step(self, count: int, by: Callable[[int], None] | None = None) -> None:
        """Advance, also by something else that steps the stepper; raises StepFailure as the stepper does."""
        self._journal.append(("step", (count,)))
        (by or self._stepper.step)(count)
        if time.perf_counter() > self._due or self._bytes > JOURNAL_BYTES:
            self._keep_if_good()

    def set_forces(self, forces: Floats, torques: Floats, moments: Floats | None) -> None:
        """See Stepper.set_forces; the arrays go into the journal and must not change any more."""
        self._loads = (forces, torques, moments)
        self._act("set_forces", *self._loads)

    def set_law(self, field: str, rows: NDArray[np.int32], values: Floats) -> None:
        """See Stepper.set_law."""
        if field not in self.laws:
            self.laws[field] = np.array(getattr(self._model, field), dtype=np.float64)
        self.laws[field][rows] = values
        self._act("set_law", field, rows, np.array(values))

    def set_kinematic(self, bodies: NDArray[np.int32], poses: Floats) -> None:
        """See Stepper.set_kinematic."""
        self._act("set_kinematic", bodies, poses)

    def _act(self, what: str, *arguments: Any) -> None:
        self._journal.append((what, arguments))
        self._bytes += sum(part.nbytes for part in arguments if isinstance(part, np.ndarray))
        getattr(self._stepper, what)(*arguments)

    # Going back

    def keep(self) -> None:
        """Take a snapshot now and begin a new journal."""
        begin = time.perf_counter()
        self._snapshot = None  # two at once would be too much for a million bodies
        self._snapshot = self._stepper.state()
        self._begin_journal(time.perf_counter() - begin)

    def _keep_if_good(self) -> None:
        if self._is_finite():
            self.keep()

    def go_back(self) -> int:
        """Bring the stepper to its last good state; returns the number of the step that fails from there on."""
        self._rewind()
        good = self._replay(self._journal)
        self._rewind()
        self._replay(self._journal, good)
        # The laws are what the user set last, also for the step that failed.
        rows = np.arange(len(self._model.law_joint), dtype=np.int32)
        for field, column in self.laws.items():
            self._stepper.set_law(field, rows, column)
        self.keep()
        return good + 1

    def _rewind(self) -> None:
        if self._snapshot is None:
            self._snapshot = self._start()
        self._stepper.restore(self._snapshot)
        rows = np.arange(len(self._model.law_joint), dtype=np.int32)
        for field in self.laws:
            self._stepper.set_law(field, rows, np.array(getattr(self._model, field), dtype=np.float64))
        if self._loads is not None:
            zero = np.zeros((self._model.bodies, 3))
            self._stepper.set_forces(zero, zero, None)
        for what, arguments in self._before:
            getattr(self._stepper, what)(*arguments)

    def _replay(self, journal: list[Entry], end: int | None = None) -> int:
        """Act as the journal says, up to the step `end` or the last one that goes well; returns its number."""
        stepper = self._stepper
        good = stepper.steps_taken
        for what, arguments in journal:
            if good == end:
                break
            if what != "step":
                getattr(stepper, what)(*arguments)
                continue
            for _ in range(arguments[0]):
                if good == end:
                    break
                try:
                    stepper.step(1)
                except StepFailure:
                    return good
                if not self._is_finite():
                    return good
                good = stepper.steps_taken
        return good

    def _is_finite(self) -> bool:
        affine, rates = self._stepper.affine(), self._stepper.rates()
        return bool(np.isfinite(affine.sum()) and np.isfinite(rates.sum()))
