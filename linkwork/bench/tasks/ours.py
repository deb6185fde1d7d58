"""linkwork's own rows."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.bench.recording import recording_cost
from linkwork.bench.tasks.timing import DT, LINKS, PITCH, Chain, clock, median_seconds, play_chain
from linkwork.gallery import find

__all__ = ["chain", "free_body", "heavy_chain", "recorded", "steps"]


def steps(
    scene: str,
    parameters: Mapping[str, Any] | None = None,
    *,
    published: bool = False,
    prepare: bool = False,
    warm_up: int = 5,
    blocks: int = 7,
    calls: int = 10,
    batch: int = 1,
    between: int = 0,
) -> dict[str, float]:
    """Cost of a gallery scene's step.

    Times `blocks` × `calls` calls of `sim.step(batch)`, with `between` untimed steps from block to block, so that
    different times of the motion are seen. A step's time is divided by its own iterations before the median is taken.
    `prepare` registers the scene's callbacks, such as wind.
    """
    known = find(scene)
    small = {"links": 20, "count": 2} if scene == "chain" else {}
    if small:
        # the kernels are compiled and loaded here, so that the first step below is only ours
        lw.Simulation(known.build(**small), known.method(published=published), known.dt, state_dir=None).step(3)

    begin = time.perf_counter()
    sim = lw.Simulation(known.build(**(parameters or {})), known.method(published=published), known.dt, state_dir=None)
    if prepare:
        known.prepare(sim)
    sim.step()
    first = time.perf_counter() - begin
    sim.step(warm_up)

    per_step, per_iteration, counts, largest, residual = [], [], [], 0.0, 0.0
    for _ in range(blocks):
        for _ in range(calls):
            begin = clock()
            sim.step(batch)
            spent = (clock() - begin) / batch
            mean, most = sim.iterations
            per_step.append(spent)
            per_iteration.append(spent / mean)
            counts.append(mean)
            largest = max(largest, most)
        residual = max(residual, sim.residual)
        sim.step(between)
    step, iteration = statistics.median(per_step), statistics.median(per_iteration)
    bodies = int((sim.model.motion == 0).sum())
    return {
        "bodies": bodies,
        "ms_per_step": 1e3 * step,
        "us_per_step": 1e6 * step,
        "ms_per_iteration": 1e3 * iteration,
        "ns_per_link_step": 1e9 * step / bodies,
        "ns_per_link_iteration": 1e9 * iteration / bodies,
        "iterations": statistics.fmean(counts),
        "most_iterations": largest,
        "residual": residual,
        "first_step": first,
        "memory": _peak_memory(),
    }


def chain() -> dict[str, float | str]:
    """The chain of 100 links over 1 s, next to other engines."""
    known = find("chain")

    def make() -> Chain:
        sim = lw.Simulation(known.build(links=LINKS), known.method(), DT, state_dir=None)

        def joints() -> NDArray[np.float64]:
            half = 0.5 * PITCH * sim.rotations[:, :, 0]
            ends = np.concatenate([np.zeros((1, 3)), (sim.positions + half)[:-1]])
            return np.stack([ends, sim.positions - half], axis=1)

        return Chain(
            advance=sim.step,
            joints=joints,
            free_end=lambda: sim.positions[-1] + 0.5 * PITCH * sim.rotations[-1][:, 0],
            kinetic=lambda: sim.energy.kinetic,
            complaint=lambda: "",
        )

    make().advance(3)
    sim = lw.Simulation(known.build(links=LINKS), known.method(), DT, state_dir=None)
    residual, counts = 0.0, []
    for _ in range(100):
        sim.step()
        residual = max(residual, sim.residual)
        counts.append(sim.iterations[0])
    return {**play_chain(make), "residual": residual, "iterations": statistics.fmean(counts)}


def free_body(steps: int = 10_000) -> dict[str, float]:
    """One body that flies and spins."""
    scene = lw.Scene(contact=False)
    scene.add_body(lw.Box(0.3, 0.2, 0.1), velocity=(1, 0, 5), angular_velocity=(1, 2, 3))
    sim = lw.Simulation(scene, lw.MABD(), DT, state_dir=None)
    sim.step(100)
    return {"ms": 1e3 * median_seconds(lambda: sim.step(steps), repeats=5)}


def heavy_chain(
    joint: str,
    end_mass: float,
    coiled: bool,
    dt: float,
    published: bool = False,
    seconds: float = 10.0,
    links: int = 60,
) -> dict[str, float | str]:
    """Does a chain with a weight at its end hold, and at what cost; energies are looked at after every step.

    Energy may only fall: the rise is the largest excess over the start, relative to the largest kinetic energy.
    """
    known = find("heavy-chain")
    scene = known.build(links=links, end_mass=end_mass, coiled=coiled, joint=joint)
    sim = lw.Simulation(scene, known.method(published=published), dt, state_dir=None)
    start = sim.energy.kinetic + sim.energy.potential + sim.energy.elastic
    kinetic, rise, residual, counts, outcome = 0.0, -np.inf, 0.0, [], "finished"
    try:
        for _ in range(sim.steps_for(seconds)):
            sim.step()
            counts.append(sim.iterations)
            energy = sim.energy
            kinetic = max(kinetic, energy.kinetic)
            rise = max(rise, energy.kinetic + energy.potential + energy.elastic - start)
            residual = max(residual, sim.residual)
    except lw.SimulationError as error:
        outcome = f"failed at {error.time:.2f} s"
    values: dict[str, float | str] = {"outcome": outcome}
    if counts:
        values |= {
            "iterations": float(np.mean([mean for mean, _ in counts])),
            "most_iterations": max(most for _, most in counts),
            "residual": residual,
            "rise": max(rise, 0.0) / kinetic if kinetic > 0.0 else 0.0,
        }
    return values


def _peak_memory() -> float:
    """Of this process, GB."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1.0 if sys.platform == "darwin" else 1024.0) / 1e9


def recorded(
    scene: str,
    size: Mapping[str, Any],
    *,
    steps: int,
    rounds: int,
    dt: float | None = None,
    fps: float | None = None,
    every: int | None = None,
) -> dict[str, float]:
    """What a recording of a gallery scene costs."""
    known = find(scene)
    sim = lw.Simulation(known.build(**size), known.method(), dt or known.dt, state_dir=None)
    sim.step(2)
    cost = recording_cost(sim, steps=steps, rounds=rounds, fps=fps, every=every)
    return {
        "stride": cost.stride,
        "us_per_step": 1e6 * cost.plain,
        "us_recorded": 1e6 * cost.recorded,
        "frame_kb": cost.frame_bytes / 1e3,
        "loss": cost.loss,
    }
