"""Boxes on a slope of tangent 0.5: with that coefficient of friction a box stays, with less it slides as Coulomb says."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

TITLE = "Boxes of different friction on a slope: one stays, the others slide"
METHOD = "MABD"
SIZE = "3 boxes"
SECONDS = 1.0
DT = 1e-2
SHOWN_AT = 0.8
SEEN_FROM = (1.0, -2.0, 0.8)

FRICTION = (0.5, 0.4, 0.3)
ANGLE = np.deg2rad(26.565)


def scene(edge: float = 0.1) -> lw.Scene:
    """Boxes with friction 0.5, 0.4 and 0.3 side by side on a slope of 26.565 degrees, released at rest."""
    scene = lw.Scene()
    turn = Rotation.from_euler("y", ANGLE)
    # a pair has the geometric mean of two coefficients, so that of the slope is 1
    slope = lw.Box(3.0, 1.2, 0.1)
    scene.add_body(
        slope,
        position=turn.apply([1.2, 0, -0.05]),
        rotation=turn,
        fixed=True,
        material=lw.Material(friction=1.0),
        name="slope",
    )
    for k, friction in enumerate(FRICTION):
        scene.add_body(
            lw.Box(edge, edge, edge),
            position=turn.apply([0, 0.3 * (k - 1), 0.5 * edge]),
            rotation=turn,
            material=lw.Material(friction=friction**2),
            name=f"friction {friction}",
        )
    return scene


def prepare(sim: lw.Simulation) -> object:
    """Where the boxes start."""
    return sim.positions


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Travel of the box with the least friction over the closed form."""
    assert isinstance(watched, np.ndarray)
    travel = float(np.linalg.norm((sim.positions - watched)[-1]))
    expected = 0.5 * 9.81 * (np.sin(ANGLE) - FRICTION[-1] * np.cos(ANGLE)) * sim.time**2
    return "travel at friction 0.3 over the closed form", travel / expected
