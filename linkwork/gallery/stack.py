"""Boxes on top of each other, and one a thousand times as heavy on the topmost: the stack stands."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A stack of ten boxes that carries a box a thousand times as heavy"
METHOD = "MABD"
SIZE = "11 boxes"
SECONDS = 10.0
DT = 1e-2
SHOWN_AT = 5.0
SEEN_FROM = (1.0, -1.6, 0.5)

EDGE = 0.1


def scene(size: int = 10, load: float = 1000.0) -> lw.Scene:
    """`size` boxes of 1 kg and 0.1 m, and one of `load` kg on top."""
    scene = lw.Scene()
    scene.add_body(lw.Plane(), fixed=True, name="floor")
    heights = EDGE * (np.arange(size) + 0.5)
    scene.add_bodies(lw.Box(EDGE, EDGE, EDGE), np.stack([0 * heights, 0 * heights, heights], axis=1), name="boxes")
    scene.add_body(lw.Box(EDGE, EDGE, EDGE), position=(0, 0, EDGE * (size + 0.5)), mass=load, name="load")
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """What the floor carries over the weight of all: 1."""
    weight = sim.model.mass[1:].sum() * 9.81
    return "force on the floor over weight", -sim.contacts.force_on(0)[2] / weight
