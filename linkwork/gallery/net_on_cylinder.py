"""A net that falls on a cylinder and drapes over it (paper 000, Fig. 13)."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.gallery._net import add_net
from linkwork.gallery.net import PITCH, RADIUS, THICK

TITLE = "A net that drapes over a cylinder"
METHOD = "MABD"
SIZE = "280 links (10 x 10 knots)"
SECONDS = 3.0
DT = 1.0 / 30.0
SHOWN_AT = 2.0
SEEN_FROM = (0.8, -1.0, 0.5)

ROLLER, HIGH = 0.2, 0.35


def scene(size: int = 10) -> lw.Scene:
    """size^2 knots and the links between them, level above a cylinder that lies along y."""
    scene = lw.Scene()
    rope = lw.Material(friction=0.6)
    level = [np.sqrt(0.5), 0, 0, np.sqrt(0.5)]
    scene.add_body(lw.Cylinder(ROLLER, 2.0 * PITCH * size), rotation=level, fixed=True, material=rope, name="roller")
    reach = 0.5 * PITCH * (size - 1)
    add_net(scene, size, PITCH, RADIUS, THICK, (-reach, -reach, HIGH), 1.0, rope)
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """What the roller carries over the weight of the net: 1 at rest."""
    return "force on the roller over the weight", -sim.contacts.force_on(0)[2] / (9.81 * sim.model.mass[1:].sum())
