"""A cube that flies and spins freely: nothing acts on it, so its momenta must stay as they are (paper 000, Fig. 7)."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A cube that flies and spins freely"
METHOD = "MABD"
SIZE = "1 body"
SECONDS = 5.0
DT = 2e-3
SHOWN_AT = 2.55
SEEN_FROM = (0.7, -1.0, 0.6)

DENSITY = 1000.0


def scene(edge: float = 0.5, momentum: float = 100.0, angular_momentum: float = 100.0) -> lw.Scene:
    """A cube of `edge` m that flies along x (kg m/s) and turns about y (kg m^2/s).

    The momenta are the figure's; with its edge of 0.1 m they mean 60,000 rad/s, which asks for dt = 1e-6 s. The
    stiffness rises with the spin, so that the cube is stretched by less than 1e-4.
    """
    scene = lw.Scene(gravity=(0, 0, 0))
    mass = DENSITY * edge**3
    spin = angular_momentum / (mass * edge**2 / 6.0)
    young = max(1e9, 1e4 * DENSITY * (0.5 * spin * edge) ** 2)
    scene.add_body(
        lw.Box(edge, edge, edge),
        velocity=(momentum / mass, 0, 0),
        angular_velocity=(0, spin, 0),
        density=DENSITY,
        material=lw.Material(young=young),
        name="cube",
    )
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Angular momentum in the end; it began with `angular_momentum`."""
    A, rates = sim.poses[0, :, :3], sim.angular_velocities[0]
    J = sim.model.second_moments[0]
    inertia = (A * (J.sum() - J)) @ A.T
    return "angular momentum, kg m^2/s", float(np.linalg.norm(inertia @ rates))
