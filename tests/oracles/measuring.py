"""What the oracle tests share: sampling a simulation, slopes of convergence."""

from __future__ import annotations

import numpy as np

import linkwork as lw


def sampled(scene, dt, times, read, method=None):
    """read(sim) at the given times, s, which are whole steps."""
    sim = lw.Simulation(scene, lw.MABD() if method is None else method, dt=dt)
    values = []
    for time in times:
        sim.step(round(time / dt) - sim.steps)
        values.append(np.array(read(sim)))
    return np.array(values)


def errors_by_step(make_scene, read, reference, times, steps, method=None):
    """Largest error over the sampled times for each time step."""
    return np.array([
        np.abs(sampled(make_scene(), dt, times, read, method) - reference).max() for dt in steps
    ])  # fmt: skip


def orders(errors, steps):
    """Slope between neighbouring steps: 1 if halving the step halves the error, 2 if it quarters it."""
    return np.diff(np.log(errors)) / np.diff(np.log(steps))
