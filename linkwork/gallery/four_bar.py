"""N four-bar windows side by side (IFToMM A02): one degree of freedom, and in space far more locks than needed."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A row of four-bar windows that falls and rises"
METHOD = "MABD"
SIZE = "2 windows, 5 rods"
SECONDS = 10.0
DT = 1e-3
SHOWN_AT = 0.9
SEEN_FROM = (0.25, -1.0, 0.2)

# The problem is one of rigid rods. When all of them lie in one line the windows could branch into crossed ones; there
# elastic rods shake energy off, the less the stiffer they are.
YOUNG = 1e14
THIN = 1e-4  # kg m^2 about a rod's own axis: next to nothing, as the rods of the problem have none


def scene(windows: int = 2, speed: float = 1.0) -> lw.Scene:
    """Rods of 1 kg and 1 m; the upright ones stand on ground pins, and their tips begin with `speed` m/s along x."""
    scene = lw.Scene()
    x = np.arange(windows + 1.0)
    rigid = lw.Material(young=YOUNG)
    upright = scene.add_bodies(
        lw.Box(0.04, 0.04, 1.0),
        np.stack([x, 0 * x, 0 * x + 0.5], axis=1),
        velocities=(0.5 * speed, 0, 0),
        angular_velocities=(0, speed, 0),
        mass=1.0,
        inertia=(1 / 12, 1 / 12, THIN),
        material=rigid,
        name="uprights",
    )
    level = scene.add_bodies(
        lw.Box(1.0, 0.04, 0.04),
        np.stack([x[:-1] + 0.5, 0 * x[:-1], 0 * x[:-1] + 1.0], axis=1),
        velocities=(speed, 0, 0),
        mass=1.0,
        inertia=(THIN, 1 / 12, 1 / 12),
        material=rigid,
        name="levels",
    )
    hinge = lw.Hinge((0, 1, 0))
    feet, heads = np.stack([x, 0 * x, 0 * x], axis=1), np.stack([x, 0 * x, 0 * x + 1.0], axis=1)
    scene.add_joints(hinge, scene.ground, upright, at=feet, name="feet")
    scene.add_joints(hinge, upright[:-1], level, at=heads[:-1], name="left")
    scene.add_joints(hinge, upright[1:], level, at=heads[1:], name="right")
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Where the first tip is across; two windows have it at 0.32845811 m after 10 s."""
    return "x of the first tip, m", float((sim.positions[0] + 0.5 * sim.rotations[0][:, 2])[0])
