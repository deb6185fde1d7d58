"""A rod on a hinge, released level: it swings back to where it started, and the period is known in closed form."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A rod on a hinge, released level"
METHOD = "MABD"
SIZE = "1 body"
SECONDS = 5.0
DT = 5e-3


def scene(length: float = 1.0, width: float = 0.05) -> lw.Scene:
    """A square steel rod of `length` m; the hinge is at its end, about y."""
    scene = lw.Scene()
    rod = scene.add_body(
        lw.Box(length, width, width),
        position=(0.5 * length, 0.0, 0.0),
        density=7800.0,
        material=lw.Material(young=2e11),
        name="rod",
    )
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, rod, at=(0, 0, 0), name="hinge")
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Note when the rod passes the lowest point."""
    passages: list[float] = []
    last = [0.0, 0.0]

    def watch(sim: lw.Simulation) -> None:
        angle = float(sim.joint_coordinates[0][0]) - 0.5 * np.pi
        if last[1] * angle < 0.0:
            passages.append(sim.time - sim.dt * angle / (angle - last[1]))
        last[:] = sim.time, angle

    sim.on_step(watch)
    return passages


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Time of a full swing there and back: 2 K(sin 45 deg) sqrt(I / (m g l/2)) * 2 in closed form."""
    return "period, s", 2.0 * float(np.mean(np.diff(watched)))
