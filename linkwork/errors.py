"""What linkwork raises: bad input is a SceneError, a failed step a SimulationError."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

__all__ = ["LinkworkError", "SceneError", "SceneIndexError", "SceneWarning", "SimulationError", "StepFailure"]


class LinkworkError(Exception):
    """Base of every error linkwork raises on purpose."""


class SceneError(LinkworkError, ValueError):
    """The scene cannot be simulated as described; the message names the body or joint, the reason and the remedy."""


class SceneWarning(UserWarning):
    """A scene can be simulated, but something about it is probably not meant."""


class SceneIndexError(SceneError, IndexError):
    """A body or joint that does not exist was asked for by its index."""


class SimulationError(LinkworkError, RuntimeError):
    """A step failed; the last good state is kept.

    Attributes:
        step: number of the step that failed (the first step is 1).
        time: simulated time of the last good state, s.
        bodies: names of the bodies at fault.
        quantity: what went wrong with them, for example ``"position"``.
        state_file: where the last good state was saved, or None.
    """

    def __init__(
        self,
        message: str,
        *,
        step: int,
        time: float,
        bodies: Sequence[str] = (),
        quantity: str = "",
        state_file: Path | None = None,
    ) -> None:
        super().__init__(message)
        self.step = step
        self.time = time
        self.bodies = list(bodies)
        self.quantity = quantity
        self.state_file = state_file


class StepFailure(LinkworkError):  # noqa: N818 - a signal between a solver and Simulation, never shown to the user
    """Raised by a solver when a step fails; Simulation saves the last good state and raises SimulationError.

    Attributes:
        step: number of the step that failed (the first step is 1).
        bodies: indices of the bodies at fault.
        quantity: what went wrong with them.
    """

    def __init__(self, step: int, bodies: Sequence[int], quantity: str) -> None:
        super().__init__(f"step {step} failed: {quantity} of bodies {list(bodies)[:8]}")
        self.step = step
        self.bodies = list(bodies)
        self.quantity = quantity
