"""The last good state of a run, at hand when a step fails."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import numpy as np

from linkwork.errors import StepFailure
from linkwork.simulation.stepping import State, Stepper

__all__ = ["LastGood"]

LARGEST_MODEL = 200_000
WORTH = 50.0


class LastGood:
    """Finds the way back to the last good state.

    A stepper is expected to be at the step before the one that fails. Where it is not, because numbers went bad
    behind its back, a snapshot taken now and then is restored and the steps after it are taken again one by one.
    Snapshots cost at most 1/50 of the run; models above 200,000 bodies have none and go back to their start.

    Args:
        stepper: at its start.
        bodies: how many it moves.
        start: gives the state of the start once more.
    """

    def __init__(self, stepper: Stepper, bodies: int, start: Callable[[], State]) -> None:
        self._stepper = stepper
        self._start = start
        self._snapshot: State | None = None
        self._small = bodies <= LARGEST_MODEL
        self._due = np.inf
        if self._small:
            self.keep()

    def keep(self) -> None:
        """Take a snapshot now."""
        start = time.perf_counter()
        self._snapshot = {name: np.array(value) for name, value in self._stepper.state().items()}
        now = time.perf_counter()
        self._due = now + max(1.0, WORTH * (now - start)) if self._small else np.inf

    def keep_if_due(self) -> None:
        """Take a snapshot when the last one is old enough and all is well."""
        if time.perf_counter() > self._due and self._is_finite():
            self.keep()

    def go_back(self, failed: int, last: int, *, replay: bool) -> int:
        """Bring the stepper to a good state; returns the step that fails from there on, or 0 when it is not known.

        Args:
            failed: the step that failed, as the stepper says.
            last: no step after this one was asked for.
            replay: steps may be taken again, because nothing outside the stepper acts on them.
        """
        stepper = self._stepper
        if stepper.steps_taken == failed - 1 and self._is_finite():
            return failed
        good = self._back_to_snapshot()
        if not replay:
            return 0
        with contextlib.suppress(StepFailure):
            while stepper.steps_taken < last:
                stepper.step(1)
                if not self._is_finite():
                    break
                good = stepper.steps_taken
        behind = good - self._back_to_snapshot()
        if behind:
            stepper.step(behind)
        return good + 1

    def _back_to_snapshot(self) -> int:
        if self._snapshot is None:
            self._snapshot = self._start()
        self._stepper.restore(self._snapshot)
        return self._stepper.steps_taken

    def _is_finite(self) -> bool:
        affine, rates = self._stepper.affine(), self._stepper.rates()
        return bool(np.isfinite(affine.sum()) and np.isfinite(rates.sum()))
