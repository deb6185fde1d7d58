"""A million links: 1,001 chains side by side, each released straight at an angle of its own (paper 000, Fig. 1).

There is no contact, so that no chain knows of its neighbours; the angles run through three waves from the first chain
to the last, and the chains swing as a curtain.
"""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A million links: a curtain of 1,001 chains that swings"
METHOD = "MABD"
SIZE = "1,077,076 links"
SECONDS = 3.0
DT = 1e-2

PITCH, THICK = 0.1, 0.02
HIGHEST = 1.2  # rad off the vertical


def scene(links: int = 1_077_076, count: int = 1001) -> lw.Scene:
    """`links` links of 0.1 m in all, in `count` chains; the bodies of a chain follow each other."""
    if not 1 <= count <= links:
        raise lw.SceneError(f"million: count must be between 1 and links = {links}")
    each = links // count
    if each * count != links:
        raise lw.SceneError(f"million: {links} links cannot be shared evenly by {count} chains; try {each * count}")
    scene = lw.Scene(contact=False)
    chain, along = np.divmod(np.arange(links), each)
    angle = HIGHEST * np.cos(6.0 * np.pi * (chain + 0.5) / count)
    down = np.stack([np.sin(angle), 0.0 * angle, -np.cos(angle)], axis=1)
    # the width of the curtain is its height
    hooks = np.stack([0.0 * angle, each * PITCH * (chain + 0.5) / count, 0.0 * angle], axis=1)
    starts = hooks + (PITCH * along)[:, None] * down
    half = 0.5 * (angle - 0.5 * np.pi)
    turns = np.stack([0.0 * half, -np.sin(half), 0.0 * half, np.cos(half)], axis=1)
    bodies = scene.add_bodies(lw.Box(PITCH, THICK, THICK), starts + 0.5 * PITCH * down, turns, name="links")
    first = along == 0
    scene.add_joints(lw.Ball(), scene.ground, bodies[first], at=starts[first], name="hooks")
    if each > 1:
        before = np.flatnonzero(~first) - 1
        scene.add_joints(lw.Ball(), bodies[before], bodies[~first], at=starts[~first], name="joints")
    return scene


def prepare(sim: lw.Simulation) -> float:
    """The potential energy at the start, J."""
    return sim.energy.potential


def number(sim: lw.Simulation, watched: float) -> tuple[str, float]:
    """Kinetic energy over what has been lost of the potential energy: 1, as nothing else takes any."""
    return "kinetic energy over potential energy lost", sim.energy.kinetic / (watched - sim.energy.potential)
