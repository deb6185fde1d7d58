"""Runs a simulation and sums up how it went."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from linkwork.simulation.progress import run_progress

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Summary", "run_measured"]

SAMPLES = 100


@dataclass(frozen=True)
class Summary:
    """How a run went.

    Attributes:
        bodies, joints, steps: how many.
        dt: time step, s.
        simulated: simulated time of the run, s.
        ms_per_step: wall time, ms, without the first step (which prepares what later steps reuse).
        residual: largest joint violation seen, m or rad.
        energy_drift: change of the total energy over the run, relative to the largest kinetic energy seen.
        realtime_factor: simulated seconds per second of wall time.
        iterations: iterations per step of the latest steps, mean.
    """

    bodies: int
    joints: int
    steps: int
    dt: float
    simulated: float
    ms_per_step: float
    residual: float
    energy_drift: float
    realtime_factor: float
    iterations: float


def run_measured(simulation: Simulation, seconds: float, *, progress: bool | None = None) -> Summary:
    """Run for `seconds` of simulated time, looking at energy and residual about a hundred times.

    Raises:
        SimulationError: a step failed.
    """
    total = simulation.steps_for(seconds)
    start = simulation.energy
    kinetic, residual = start.kinetic, simulation.residual
    wall, timed = 0.0, 0
    with run_progress(total * simulation.dt, progress) as show:
        done = 0
        while done < total:
            count = 1 if done == 0 else min(max(1, math.ceil(total / SAMPLES)), total - done)
            begin = time.perf_counter()
            simulation.step(count)
            if done > 0 or total == 1:
                wall += time.perf_counter() - begin
                timed += count
            done += count
            kinetic = max(kinetic, simulation.energy.kinetic)
            residual = max(residual, simulation.residual)
            if show is not None:
                show(done * simulation.dt, done, residual)
    change = simulation.energy.total - start.total
    per_step = wall / timed if timed else 0.0
    return Summary(
        bodies=simulation.model.bodies,
        joints=simulation.model.joints,
        steps=total,
        dt=simulation.dt,
        simulated=total * simulation.dt,
        ms_per_step=1e3 * per_step,
        residual=residual,
        energy_drift=change / kinetic if kinetic > 0.0 else 0.0,
        realtime_factor=simulation.dt / per_step if per_step > 0.0 else 0.0,
        iterations=simulation.iterations[0],
    )
