"""A net of N x N knots and the links between them, pinned along one edge (paper 000, Figs. 12 and 14)."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.gallery._net import add_net

TITLE = "A net of ball joints, pinned along one edge, that swings down"
METHOD = "MABD"
SIZE = "280 links (10 x 10 knots)"
SECONDS = 3.0
DT = 1e-2

PITCH, RADIUS, THICK = 0.1, 0.015, 0.012


def scene(size: int = 10) -> lw.Scene:
    """size^2 knots and 2 size (size - 1) links, level at the start; the knots at y = 0 turn on pins in the ground."""
    scene = lw.Scene()
    net = add_net(scene, size, PITCH, RADIUS, THICK, (0.0, 0.0, 0.0), -1.0)
    held = net.row == 0
    scene.add_joints(lw.Ball(), scene.ground, net.knots[held], at=net.places[held], name="pins")
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Add up the impulse of the pins along z, N s."""
    pins = np.flatnonzero(sim.model.joint_base < 0)
    impulse = [0.0]

    def watch(sim: lw.Simulation) -> None:
        if sim.steps > 0:
            impulse[0] += sim.dt * float(sim.joint_forces[pins, 2].sum())

    sim.on_step(watch)
    return impulse


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Mean pull of the pins; Newton's law wants the weight and what the net has gained in momentum."""
    return "mean vertical force of the pins, N", watched[0] / (sim.time - sim.dt)
