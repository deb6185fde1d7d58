"""What the gallery is compared with, computed without linkwork, and how a scene is run for it."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import linkwork as lw
from linkwork.gallery import find


def run(name, *, seconds=None, dt=None, method=None, **parameters):
    """Run a gallery scene; returns its number and the simulation."""
    known = find(name)
    sim = lw.Simulation(known.build(**parameters), method or known.method(), dt=dt or known.dt, state_dir=None)
    watched = known.prepare(sim)
    sim.run(known.seconds if seconds is None else seconds, progress=False)
    return known.number(sim, watched)[1], sim


def integrate(rates, start, times):
    """solve_ivp at rtol 1e-11; states in columns."""
    return solve_ivp(rates, (0.0, times[-1]), start, t_eval=times, rtol=1e-11, atol=1e-12, method="DOP853").y


def planar_chain(links, length, moment, seconds, g=9.81):
    """Angles below the level of hinged rods of 1 kg released level (moment about the middle, kg m^2), Lagrange."""
    i = np.arange(links)
    after = links - np.maximum.outer(i, i) - 1  # rods that hang on both joints
    coupling = length**2 * (after + 0.5)
    np.fill_diagonal(coupling, length**2 * (links - i - 1 + 0.25) + moment)
    pull = g * length * (links - i - 1 + 0.5)

    def rates(t, y):
        angle, speed = y[:links], y[links:]
        difference = angle[:, None] - angle[None, :]
        M = coupling * np.cos(difference)
        push = pull * np.cos(angle) - coupling * np.sin(difference) @ speed**2
        return np.concatenate([speed, np.linalg.solve(M, push)])

    return integrate(rates, np.zeros(2 * links), np.array([seconds]))[:links, -1]


def mechanical(sim):
    """Kinetic, potential and elastic energy together, J."""
    energy = sim.energy
    return energy.kinetic + energy.potential + energy.elastic
