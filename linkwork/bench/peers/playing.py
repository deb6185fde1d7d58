"""Plays a mechanism in an engine: its cost, its joint gaps, its energy, and how it ends."""

from __future__ import annotations

import importlib
import math
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from linkwork.bench.peers.mechanism import Array, Mechanism
from linkwork.bench.peers.scenes import SCENES

__all__ = ["CannotModelError", "Motion", "play", "watch"]

LOOKS = 50  # times a run is looked at
FELL_APART = 0.5  # of a body's length
EXPLODED = 2.0  # energy over the largest that falling can have set free


class CannotModelError(Exception):
    """The engine has no way to describe the mechanism."""


@dataclass(frozen=True)
class Motion:
    """A mechanism in some engine, ready at its start.

    Attributes:
        advance: take this many steps of dt.
        state: positions of the centres of mass (n, 3) m, rotations since the start (n, 3, 3), velocities of the
            centres of mass (n, 3) m/s and angular velocities (n, 3) rad/s, both in the world.
        complaint: what the engine itself says went wrong, or nothing.
    """

    advance: Callable[[int], object]
    state: Callable[[], tuple[Array, Array, Array, Array]]
    complaint: Callable[[], str] = lambda: ""


def play(
    engine: str,
    scene: str,
    size: Mapping[str, Any],
    dt: float,
    seconds: float,
    limit: float,
    settings: Mapping[str, Any] | None = None,
) -> dict[str, float | str]:
    """Build `scene` in the adapter `engine`, let it move for `seconds`, and stop it after `limit` s of stepping."""
    build = importlib.import_module(f"linkwork.bench.peers.{engine}").build
    mechanism = SCENES[scene](**size)
    begin = time.perf_counter()
    try:
        motion = build(mechanism, dt, **(settings or {}))
    except CannotModelError as error:
        return {"outcome": f"cannot: {error}", "failure": f"cannot: {error}"}
    built = time.perf_counter() - begin
    return {"build": built, **watch(mechanism, motion, dt, seconds, limit)}


def watch(mechanism: Mechanism, motion: Motion, dt: float, seconds: float, limit: float) -> dict[str, float | str]:
    """Numbers by column key. Only stepping is timed; the first steps, which may compile, are not counted."""
    steps = max(1, round(seconds / dt))
    start = sum(mechanism.energies(*motion.state()))
    gap, drift, most_kinetic, taken, trouble = 0.0, 0.0, 0.0, 0, ""
    times: list[float] = []
    spent = 0.0  # wall time of stepping; looking is not the engine's cost
    while taken < steps and not trouble:
        count = min(max(1, steps // LOOKS), steps - taken)
        busy, wall = time.process_time(), time.perf_counter()
        motion.advance(count)
        spent += time.perf_counter() - wall if taken else 0.0
        times.append((time.process_time() - busy) / count)
        taken += count
        kinetic, potential = mechanism.energies(*(state := motion.state()))
        apart = mechanism.gap(state[0], state[1])
        most_kinetic = max(most_kinetic, kinetic)
        trouble = motion.complaint() or _trouble(mechanism, apart, kinetic, potential, start, taken * dt)
        if math.isfinite(apart):
            gap = max(gap, apart)
        if not trouble:
            change = kinetic + potential - start
            drift = change if abs(change) > abs(drift) else drift
            if taken < steps and spent > limit:
                trouble = f"time-out: {taken * dt:.3g} s of {seconds:g} s simulated in {limit:g} s"
        else:
            trouble = f"{trouble} at {taken * dt:.3g} s"
    counted = times[1:] or times
    step = statistics.median(counted)
    values: dict[str, float | str] = {
        "bodies": mechanism.bodies,
        "ms_per_step": 1e3 * step,
        "us_per_link": 1e6 * step / mechanism.bodies,
        "gap": gap,
        "outcome": trouble or "finished",
    }
    if most_kinetic > 0.0 and math.isfinite(most_kinetic):
        values["drift"] = drift / most_kinetic
    if trouble:
        values["failure"] = trouble
    return values


def _trouble(mechanism: Mechanism, gap: float, kinetic: float, potential: float, start: float, now: float) -> str:
    """Why the run does not count any more, or nothing."""
    if not math.isfinite(gap + kinetic + potential):
        return "NaN"
    if gap > FELL_APART * mechanism.size:
        return f"came apart (gap {gap:.2g} m)"
    # nothing falls faster than freely
    most = start + 0.5 * float(mechanism.mass.sum()) * (9.81 * now) ** 2
    if kinetic > EXPLODED * max(most, start, 1e-9):
        return f"exploded (kinetic energy {kinetic:.2g} J)"
    return ""
