"""A spinning top on its tip: it leans, precesses and nods as Lagrange's equations say (paper 000, Fig. 9)."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A spinning top on its tip that precesses and nods"
METHOD = "MABD"
SIZE = "1 body"
SECONDS = 5.0
DT = 2e-3
SHOWN_AT = 1.0
SEEN_FROM = (0.3, -1.0, 0.25)


def scene(spin: float = 10.0, tilt: float = 5.0) -> lw.Scene:
    """A top that spins about its axis with `spin` rad/s and starts at rest otherwise, `tilt` degrees off upright."""
    scene = lw.Scene()
    lean = np.radians(tilt)
    axis = np.array([np.sin(lean), 0.0, np.cos(lean)])
    disk = lw.Cylinder(0.2, 0.02), (0, 0, 0.05)
    stem = lw.Cylinder(0.008, 0.2), (0, 0, 0.1)
    top = scene.add_body(
        lw.Compound([disk, stem]),
        rotation=[0, np.sin(0.5 * lean), 0, np.cos(0.5 * lean)],
        angular_velocity=spin * axis,
        density=1000.0,
        name="top",
    )
    scene.add_joint(lw.Ball(axis=axis), scene.ground, top, at=(0, 0, 0), name="tip")
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Follow the direction in which the top leans, rad, without jumps."""
    turned = [0.0, 0.0]

    def watch(sim: lw.Simulation) -> None:
        axis = sim.rotations[0][:, 2]
        now = float(np.arctan2(axis[1], axis[0]))
        turned[0] += (now - turned[1] + np.pi) % (2.0 * np.pi) - np.pi
        turned[1] = now

    sim.on_step(watch)
    return turned


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Mean rate at which the top goes round the vertical."""
    return "mean precession, rad/s", watched[0] / (sim.time - sim.dt)
