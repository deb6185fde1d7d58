"""A net of N x N knots and the links between them, pinned along one edge (paper 000, Figs. 12 and 14)."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A net of ball joints, pinned along one edge, that swings down"
METHOD = "MABD"
SIZE = "280 links (10 x 10 knots)"
SECONDS = 3.0
DT = 1e-2

PITCH, RADIUS, THICK = 0.1, 0.015, 0.012


def scene(size: int = 10) -> lw.Scene:
    """size^2 knots and 2 size (size - 1) links, level at the start; the knots at y = 0 turn on pins in the ground.

    Each link is ball-jointed to two knots, at four different points of a knot's surface.
    """
    scene = lw.Scene()
    row, column = np.divmod(np.arange(size * size), size)
    places = PITCH * np.stack([column, -row, 0 * row], axis=1)
    knots = scene.add_bodies(lw.Sphere(RADIUS), places, density=2000.0, name="knots")
    scene.add_joints(lw.Ball(), scene.ground, knots[row == 0], at=places[row == 0], name="pins")
    x_edges, y_edges = np.flatnonzero(column < size - 1), np.flatnonzero(row < size - 1)
    first = np.concatenate([x_edges, y_edges])
    second = np.concatenate([x_edges + 1, y_edges + size])
    along = (places[second] - places[first]) / PITCH
    quarter_turn = np.sqrt(0.5)
    turns = np.repeat([[0, 0, 0, 1.0], [0, 0, -quarter_turn, quarter_turn]], [len(x_edges), len(y_edges)], axis=0)
    links = scene.add_bodies(
        lw.Box(PITCH - 2 * RADIUS, THICK, THICK), 0.5 * (places[first] + places[second]), turns, name="links"
    )
    scene.add_joints(lw.Ball(), knots[first], links, at=places[first] + RADIUS * along, name="starts")
    scene.add_joints(lw.Ball(), links, knots[second], at=places[second] - RADIUS * along, name="ends")
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
