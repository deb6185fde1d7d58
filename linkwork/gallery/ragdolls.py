"""Ragdolls that fall onto a net of joints pinned at its corners (paper 000, Fig. 19)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.gallery._net import add_net
from linkwork.gallery._ragdoll import LIMBS, LINKS, add_ragdolls

TITLE = "Ragdolls that fall onto a net"
METHOD = "MABD"
SIZE = "27 ragdolls of 11 links, a net of 1,160"
SECONDS = 2.0
DT = 1.0 / 200.0
SHOWN_AT = 1.0
SEEN_FROM = (0.5, -1.0, 0.5)

KNOTS, PITCH, RADIUS, THICK = 20, 0.1, 0.02, 0.02
SCALE = 0.3


def scene(size: int = 3) -> lw.Scene:
    """`size`^3 figures in a block above the net, each turned its own way."""
    scene = lw.Scene()
    rope = lw.Material(young=1e6, friction=0.5)
    reach = 0.5 * PITCH * (KNOTS - 1)
    net = add_net(scene, KNOTS, PITCH, RADIUS, THICK, (-reach, -reach, 0.0), 1.0, rope)
    corners = np.isin(net.row, (0, KNOTS - 1)) & np.isin(net.column, (0, KNOTS - 1))
    scene.add_joints(lw.Ball(), scene.ground, net.knots[corners], at=net.places[corners], name="pins")
    grid = np.stack(np.meshgrid(*[np.arange(size)] * 3, indexing="ij"), axis=-1).reshape(-1, 3).astype(float)
    middles = 0.45 * (grid - [0.5 * (size - 1), 0.5 * (size - 1), 0.0]) + [0, 0, 0.4]
    turned = Rotation.random(len(grid), random_state=3).as_matrix()
    add_ragdolls(scene, middles, turned, SCALE)
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """How far the lowest figure is above the lowest knot."""
    ropes = KNOTS * KNOTS + 2 * KNOTS * (KNOTS - 1)
    figures = (sim.model.bodies - ropes) // (len(LINKS) + 2 * len(LIMBS))
    return "lowest pelvis over the lowest knot, m", float(
        sim.positions[ropes : ropes + figures, 2].min() - sim.positions[: KNOTS * KNOTS, 2].min()
    )
