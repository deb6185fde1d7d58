"""Chains of N links hung up at one end and released level; any number of them, for measuring how cost grows."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "Chains of N ball-jointed links, released level"
METHOD = "MABD"
SIZE = "40 links"
SECONDS = 3.0
DT = 1e-2
SHOWN_AT = 0.65
SEEN_FROM = (0.3, -1.0, 0.2)

LINK = lw.Box(0.1, 0.02, 0.02)


def scene(links: int = 40, count: int = 1) -> lw.Scene:
    """`count` chains side by side, each of `links` links of 0.1 m; the bodies of a chain follow each other."""
    scene = lw.Scene(contact=False)
    place = np.arange(links * count)
    along, chain = place % links, place // links
    middles = np.stack([0.1 * along + 0.05, 0.1 * chain, np.zeros(len(place))], axis=1)
    bodies = scene.add_bodies(LINK, middles, density=1000.0, name="links")
    start = middles - [0.05, 0.0, 0.0]
    first = along == 0
    scene.add_joints(lw.Ball(), scene.ground, bodies[first], at=start[first], name="hooks")
    if links > 1:
        before = place[~first] - 1
        scene.add_joints(lw.Ball(), bodies[before], bodies[~first], at=start[~first], name="joints")
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """Height of the last link's free end, below the hook; an integration of the planar chain gives the truth."""
    return "height of the free end, m", float((sim.positions[-1] + 0.05 * sim.rotations[-1][:, 0])[2])
