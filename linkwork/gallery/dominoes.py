"""A run of dominoes: the first is tipped, and the wave goes through to the last."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

TITLE = "A run of dominoes that knock each other over"
METHOD = "MABD"
SIZE = "60 dominoes"
SECONDS = 4.0
DT = 5e-3
SHOWN_AT = 1.2
SEEN_FROM = (0.3, -1.0, 0.8)

THICK, WIDE, HIGH = 0.01, 0.03, 0.06
PITCH = 0.03


def scene(size: int = 60) -> lw.Scene:
    """`size` dominoes along a wave, the first leaning on its way over."""
    scene = lw.Scene()
    material = lw.Material(friction=0.4)
    scene.add_body(lw.Plane(), fixed=True, material=material, name="table")
    x = PITCH * np.arange(size)
    y = 0.15 * np.sin(3.0 * x)
    heading = np.arctan2(0.45 * np.cos(3.0 * x), 1.0)
    turns = Rotation.from_euler("z", heading[:, None])
    places = np.stack([x, y, np.full(size, 0.5 * HIGH)], axis=1)
    # the first turns about its leading lower edge
    lean = np.deg2rad(14.0)
    forward = turns[0].apply([1, 0, 0])
    arm = turns[0].apply([-0.5 * THICK, 0, 0.5 * HIGH])
    tip = Rotation.from_rotvec(lean * np.cross([0, 0, 1], forward))
    places[0] += tip.apply(arm) - arm
    turned = Rotation.concatenate([tip * turns[0], turns[1:]])
    scene.add_bodies(lw.Box(THICK, WIDE, HIGH), places, turned, density=600.0, material=material, name="dominoes")
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Dominoes that have fallen, of all: 1."""
    upright = np.abs(sim.rotations[1:, 2, 2])
    return "fallen dominoes of all", float((upright < 0.9).mean())
