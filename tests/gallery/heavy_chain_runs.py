"""Runs of the heavy chain, measured after every step; the tests and the tables of the documentation read them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from gallery.truth import mechanical

import linkwork as lw
from linkwork.gallery import find

JOINTS = ("ball", "hinge", "universal")
MASSES = (1.0, 1e3, 1e4, 1e6)  # of the weight, in link masses
DTS = (1e-2, 1 / 30)
LINKS, PITCH, LINK_MASS = 60, 0.1, 0.04


@dataclass(frozen=True)
class HeavyRun:
    """Ten seconds of the heavy chain; energies are parts of the energy in play.

    Attributes:
        failed_at: time of the last good state, s, when a step failed.
        exploded_at: time when the energy had first risen by all that is in play, s.
        residual: largest joint violation after any step, m or rad.
        iterations: mean per step.
        capped: share of the steps that used all iterations they may.
        above_start: highest energy, over the energy at the start.
        largest_rise: largest rise from one step to the next.
        regained: largest rise over the lowest energy so far.
        lost: energy lost at the end.
    """

    failed_at: float | None
    exploded_at: float | None
    residual: float
    iterations: float
    capped: float
    above_start: float
    largest_rise: float
    regained: float
    lost: float


def energy_in_play(end_mass: float) -> float:
    """What all bodies lose when the stretched chain turns from level to hanging, J."""
    return 9.81 * LINK_MASS * LINKS * PITCH * (end_mass + 0.5 * LINKS)


@cache
def follow(joint: str, end_mass: float, coiled: bool, dt: float, method: lw.MABD | None = None) -> HeavyRun:
    """Run one chain for ten seconds or until it fails."""
    method = method or lw.MABD()
    scene = find("heavy-chain").build(joint=joint, end_mass=end_mass, coiled=coiled)
    sim = lw.Simulation(scene, method, dt=dt, state_dir=None)
    energies, residuals, iterations = [mechanical(sim)], [0.0], []
    failed_at = None
    for _ in range(sim.steps_for(10.0)):
        try:
            sim.step()
            energies.append(mechanical(sim))
            residuals.append(sim.residual)
        except lw.SimulationError as error:
            failed_at = error.time
            break
        iterations.append(sim.iterations[0])
    energy = np.array(energies) / energy_in_play(end_mass)
    exploded = np.flatnonzero(energy > energy[0] + 1.0)
    return HeavyRun(
        failed_at=failed_at,
        exploded_at=float(exploded[0] * dt) if len(exploded) else None,
        residual=max(residuals),
        iterations=float(np.mean(iterations)) if iterations else 0.0,
        capped=float(np.mean(np.array(iterations) >= method.iterations)) if iterations else 0.0,
        above_start=float(energy.max() - energy[0]),
        largest_rise=float(np.diff(energy).max(initial=0.0)),
        regained=float((energy - np.minimum.accumulate(energy)).max()),
        lost=float(energy[0] - energy[-1]),
    )
