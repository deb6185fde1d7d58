"""A house of cards: pairs that lean on each other and cards that lie on them, held by friction alone."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

TITLE = "A house of cards, held by friction"
METHOD = "MABD"
SIZE = "15 cards"
SECONDS = 5.0
DT = 5e-3
SHOWN_AT = 2.5
SEEN_FROM = (0.4, -1.0, 0.25)

LONG, WIDE, THIN = 0.09, 0.06, 0.002
LEAN = np.deg2rad(20.0)  # off the vertical


def scene(size: int = 3) -> lw.Scene:
    """`size` floors; each pair stands where the cards below meet."""
    scene = lw.Scene()
    material = lw.Material(friction=0.8)
    scene.add_body(lw.Plane(), fixed=True, material=material, name="table")
    card = lw.Box(THIN, WIDE, LONG)
    tall = LONG * np.cos(LEAN) + THIN * np.sin(LEAN)
    foot = LONG * np.sin(LEAN) + THIN * np.cos(LEAN)  # half the width of a pair
    pitch = 2.0 * foot + 0.004
    for level in range(size):
        ground = level * (tall + THIN)
        pairs = size - level
        middles = pitch * (np.arange(pairs) - 0.5 * (pairs - 1))
        for middle in middles:
            for side in (-1.0, 1.0):
                scene.add_body(
                    card,
                    position=(middle + side * 0.5 * foot, 0, ground + 0.5 * tall),
                    rotation=Rotation.from_euler("y", -side * LEAN),
                    density=900.0,
                    material=material,
                )
        for between in 0.5 * (middles[1:] + middles[:-1]):
            scene.add_body(
                lw.Box(0.98 * pitch, WIDE, THIN),
                position=(between, 0, ground + tall + 0.5 * THIN),
                density=900.0,
                material=material,
            )
    return scene


def prepare(sim: lw.Simulation) -> object:
    """How high it is."""
    return float(sim.positions[1:, 2].max())


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Height in the end over that at the start: 1 while it stands."""
    assert isinstance(watched, float)
    return "height over that at the start", float(sim.positions[1:, 2].max()) / watched
