"""A belt that takes boxes up to its speed by friction alone."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A conveyor that takes boxes along by friction"
METHOD = "MABD"
SIZE = "8 boxes"
SECONDS = 4.0
DT = 1e-2
SHOWN_AT = 2.0
SEEN_FROM = (0.4, -1.0, 0.6)

SPEED, FRICTION = 0.6, 0.4
EDGE = 0.12


def scene(size: int = 8) -> lw.Scene:
    """`size` boxes at rest on a belt that runs at 0.6 m/s."""
    scene = lw.Scene()
    material = lw.Material(friction=FRICTION)
    scene.add_body(lw.Plane(), fixed=True, position=(0, 0, -0.6), material=material, name="floor")
    scene.add_body(
        lw.Box(2.6, 0.4, 0.05),
        trajectory=lambda t: ((-0.16 + SPEED * t, 0.0, -0.025), None),
        material=material,
        name="belt",
    )
    x = -1.0 + 2.0 * EDGE * np.arange(size)
    places = np.stack([x, 0 * x, np.full(size, 0.5 * EDGE)], axis=1)
    scene.add_bodies(lw.Box(EDGE, EDGE, EDGE), places, material=material, name="boxes")
    return scene


def prepare(sim: lw.Simulation) -> object:
    """Where the boxes start."""
    return sim.positions


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Way of the first box over the closed form: it slips until friction has brought it to the belt's speed."""
    assert isinstance(watched, np.ndarray)
    slips = SPEED / (FRICTION * 9.81)
    return "way over the closed form", (sim.positions - watched)[2, 0] / (SPEED * (sim.time - 0.5 * slips))
