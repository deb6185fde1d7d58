"""Frames of a stepper that takes none itself: it is read from outside, after each stretch of steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.simulation.stepping import Stepper

__all__ = ["Read"]


class Read:
    """A tape for any stepper; its block is one frame long."""

    def __init__(self, stepper: Stepper, block: NDArray[Any], slots: NDArray[np.bool_]) -> None:
        self._stepper = stepper
        self._frame = block[0]
        self._slots = slots

    def take(self) -> None:
        """Write a frame of the present state."""
        stepper, frame = self._stepper, self._frame
        frame["residual"] = stepper.residual()
        frame["energy"] = stepper.energies()
        frame["coordinates"] = stepper.coordinates()[self._slots]
        frame["poses"] = stepper.affine()
        if "rates" in frame.dtype.names:
            frame["rates"] = stepper.rates()

    def step(self, count: int, first: int, every: int) -> None:
        """Advance the stepper to the next frame, or less far."""
        self._stepper.step(count)
        if count == first:
            self.take()

    def rewind(self) -> None:
        """There is one frame."""

    def close(self) -> None:
        """There is nothing to let go of."""
