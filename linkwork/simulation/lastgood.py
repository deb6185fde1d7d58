"""The last good state of a run, at hand when a step fails."""

from __future__ import annotations

import contextlib
import time

import numpy as np

from linkwork.errors import StepFailure
from linkwork.simulation.stepping import State, Stepper

__all__ = ["LastGood"]

LARGEST_SNAPSHOT = 256 * 1024**2
WORTH = 50.0


class LastGood:
    """Finds the way back to the last good state.

    A stepper is expected to be at the step before the one that fails. Where it is not, because numbers went bad
    behind its back, a snapshot taken now and then is restored and the good steps after it are taken again.
    Snapshots cost at most 1/50 of the run; states above 256 MiB keep only the first one asked for.
    """

    def __init__(self, stepper: Stepper) -> None:
        self._stepper = stepper
        self._due = 0.0
        self.keep()

    def keep(self) -> None:
        """Take a snapshot now."""
        start = time.perf_counter()
        snapshot: State = {name: np.array(value) for name, value in self._stepper.state().items()}
        self._snapshot = snapshot
        self._snapshot_step = self._stepper.steps_taken
        now = time.perf_counter()
        small = sum(value.nbytes for value in snapshot.values()) <= LARGEST_SNAPSHOT
        self._due = now + max(1.0, WORTH * (now - start)) if small else np.inf

    def keep_if_due(self) -> None:
        """Take a snapshot when the last one is old enough and all is well."""
        if time.perf_counter() > self._due and self._is_finite():
            self.keep()

    def go_back(self, step: int, *, replay: bool) -> bool:
        """Bring the stepper to a good state, at `step` when that can be done; says whether it is at `step`."""
        if self._stepper.steps_taken == step and self._is_finite():
            return True
        self._stepper.restore(self._snapshot)
        if replay and step > self._stepper.steps_taken:
            with contextlib.suppress(StepFailure):
                self._stepper.step(step - self._stepper.steps_taken)
            if not self._is_finite():
                self._stepper.restore(self._snapshot)
        return self._stepper.steps_taken == step

    def _is_finite(self) -> bool:
        affine, rates = self._stepper.affine(), self._stepper.rates()
        return bool(np.isfinite(affine.sum()) and np.isfinite(rates.sum()))
