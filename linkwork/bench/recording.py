"""What a recording costs: the same simulation with and without one, in turns."""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["RecordingCost", "recording_cost"]


@dataclass(frozen=True)
class RecordingCost:
    """Processor seconds per step, medians of several rounds.

    Attributes:
        bodies: how many.
        stride: steps from one frame to the next.
        plain: without a recording.
        recorded: with one, its file included.
        loss: median over the rounds of the share of the speed that the recording costs.
        frame_bytes: size of a frame on disk.
    """

    bodies: int
    stride: int
    plain: float
    recorded: float
    loss: float
    frame_bytes: int


def recording_cost(
    simulation: Simulation, *, steps: int, rounds: int, fps: float | None = None, every: int | None = None
) -> RecordingCost:
    """Step a simulation, `steps` at a time, in turns without and with a recording; a pair of turns is a round."""
    plain, recorded = [], []
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        path = Path(folder) / "run.lwr"
        for turn in range(rounds + 1):
            without = _seconds(simulation, steps)
            with simulation.record(path, fps=fps, every=every) as recorder:
                # the first frames, and what is prepared for all, are no part of a frame's cost
                simulation.step(min(steps, 2 * max(recorder.stride, 1024)))
                start, first = path.stat().st_size, recorder.frames
                spent = _seconds(simulation, steps)
                frame_bytes = (path.stat().st_size - start) // max(recorder.frames - first, 1)
            if turn > 0:
                plain.append(without / steps)
                recorded.append(spent / steps)
    loss = statistics.median(1.0 - a / b for a, b in zip(plain, recorded, strict=True))
    medians = statistics.median(plain), statistics.median(recorded)
    return RecordingCost(simulation.model.bodies, recorder.stride, *medians, loss, frame_bytes)


def _seconds(simulation: Simulation, steps: int) -> float:
    begin = time.process_time()
    simulation.step(steps)
    return time.process_time() - begin
