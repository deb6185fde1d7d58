"""Runs a simulation and sums up how it went."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from linkwork.simulation.progress import run_progress

if TYPE_CHECKING:
    from linkwork.simulation.measures import Energy
    from linkwork.simulation.simulation import Simulation

__all__ = ["Summary", "run_measured"]

SAMPLES = 100
STILL = 1e-6  # of their sizes: bodies that rise or fall by less are at rest
ROUNDING = 1e-12


@dataclass(frozen=True)
class Summary:
    """How a run went.

    Attributes:
        bodies, joints, steps: how many.
        dt: time step, s.
        simulated: simulated time of the run, s.
        ms_per_step: wall time, ms, without the first step (which prepares what later steps reuse).
        residual: largest joint violation seen, m or rad.
        energy_drift: change of the total energy over the run, relative to the energy in motion: the largest kinetic
            energy seen, or the largest change of the potential or elastic energy if that is more. Zero when nothing
            moves: when this is less than it takes to lift every body by a millionth of its size.
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
    in_motion, residual = start.kinetic, simulation.residual
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
            in_motion = max(in_motion, _in_motion(start, simulation.energy))
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
        energy_drift=change / in_motion if in_motion > _least_motion(simulation, start) else 0.0,
        realtime_factor=simulation.dt / per_step if per_step > 0.0 else 0.0,
        iterations=simulation.iterations[0],
    )


def _in_motion(start: Energy, now: Energy) -> float:
    return max(now.kinetic, abs(now.potential - start.potential), abs(now.elastic - start.elastic))


def _least_motion(simulation: Simulation, start: Energy) -> float:
    """Energy, J, below which a run is a rest with rounding errors."""
    model = simulation.model
    moving = model.motion == 0
    weight = float(np.linalg.norm(model.gravity)) * float((model.mass * model.size)[moving].sum())
    return STILL * weight + ROUNDING * (abs(start.potential) + start.elastic)
