"""Times: medians over blocks, after a warm-up that compiles, loads and fills caches.

Steps are timed with the processor time of the process, all its threads together. On a core of its own that is the wall
time; on a core that others use too it leaves out their turns, which would fall on slow competitors and spare fast ones.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chain", "clock", "median_seconds", "play_chain"]

clock = time.process_time


def median_seconds(call: Callable[[], object], *, repeats: int = 7, warm_up: int = 1) -> float:
    """Median processor time of a call, s."""
    for _ in range(warm_up):
        call()
    times = []
    for _ in range(repeats):
        begin = clock()
        call()
        times.append(clock() - begin)
    return statistics.median(times)


# A chain of 100 links of 0.1 m released level: its free end after 1 s, m, from Lagrange's equations with
# scipy.integrate.solve_ivp (DOP853, rtol 1e-11).
FREE_END = np.array([7.53410385, 0.0, -4.905])
LINKS, PITCH, THICK, DENSITY, GRAVITY = 100, 0.1, 0.02, 1000.0, 9.81
DT, STEPS, BATCH = 1e-2, 100, 10
WEIGHT = LINKS * DENSITY * PITCH * THICK * THICK * GRAVITY


@dataclass(frozen=True)
class Chain:
    """The chain in some engine, ready at its start.

    Attributes:
        advance: take this many steps of DT.
        joints: ends (n, 2, 3) of the link before and starts of the link after every joint; the hook is the first.
        free_end: of the last link, (3,) m.
        kinetic: energy, J.
        complaint: what the engine itself says went wrong, or nothing.
    """

    advance: Callable[[int], object]
    joints: Callable[[], NDArray[np.float64]]
    free_end: Callable[[], NDArray[np.float64]]
    kinetic: Callable[[], float]
    complaint: Callable[[], str]


def play_chain(make: Callable[[], Chain], repeats: int = 5) -> dict[str, float | str]:
    """One second of motion: first watched step by step for joint gaps and failure, then timed in batches."""
    chain = make()
    gap, stood, trouble = 0.0, 0, ""
    while stood < STEPS and not trouble:
        chain.advance(1)
        ends = chain.joints()
        now = float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max())
        kinetic = chain.kinetic()
        trouble = chain.complaint()
        if not trouble and not math.isfinite(now + kinetic):
            trouble = "NaN"
        # hanging down in a straight line it would have fallen by half its length at most
        if not trouble and kinetic > 0.6 * WEIGHT * LINKS * PITCH:
            trouble = "more kinetic energy than there is to fall"
        if not trouble:
            stood += 1
            gap = max(gap, now)
    values: dict[str, float | str] = {"gap": gap}
    if trouble:
        values["failure"] = f"unstable after {stood * DT:.2f} s: {trouble}"
    else:
        values["free_end_error"] = float(np.linalg.norm(chain.free_end() - FREE_END))

    times = []
    for _ in range(repeats if stood >= BATCH else 0):
        chain = make()
        chain.advance(1)
        begin = clock()
        batches = (stood - 1) // BATCH
        for _ in range(batches):
            chain.advance(BATCH)
        times.append((clock() - begin) / max(1, batches * BATCH))
    if times:
        values["ms_per_step"] = 1e3 * statistics.median(times)
    return values
