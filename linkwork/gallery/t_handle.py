"""A T-handle that spins about its middle axis without gravity: it turns over, again and again (paper 000, Fig. 8)."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A T-handle that turns over as it spins"
METHOD = "MABD"
SIZE = "1 body"
SECONDS = 14.0
DT = 2.5e-3

INERTIA = (2.0e-3, 3.5e-3, 4.5e-3)  # kg m^2 about the bar, the stem, and across both


def scene(spin: float = 3.0, disturbance: float = 0.1) -> lw.Scene:
    """A handle that turns with `spin` rad/s about its stem and with `disturbance` rad/s about its other axes."""
    scene = lw.Scene(gravity=(0, 0, 0))
    along_x = lw.Cylinder(0.02, 0.24), (0, -0.025, 0), [0, np.sqrt(0.5), 0, np.sqrt(0.5)]
    along_y = lw.Cylinder(0.02, 0.13), (0, 0.06, 0), [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    scene.add_body(
        lw.Compound([along_x, along_y]),
        mass=0.6,
        inertia=INERTIA,
        angular_velocity=(disturbance, spin, disturbance),
        name="handle",
    )
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Note when the spin about the stem changes its sign."""
    flips: list[float] = []
    last = [0.0]

    def watch(sim: lw.Simulation) -> None:
        about_stem = float(sim.angular_velocities[0] @ sim.rotations[0][:, 1])
        if last[0] * about_stem < 0.0:
            flips.append(sim.time - sim.dt * about_stem / (about_stem - last[0]))
        last[0] = about_stem

    sim.on_step(watch)
    return flips


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Time at which the handle turns over for the first time; Euler's equations say 4.978 s."""
    return "first turnover, s", watched[0]
