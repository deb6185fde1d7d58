"""A weeping willow in the wind: arching boughs with curtains of hanging withes (paper 000, Fig. 16)."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.gallery._growth import GOLDEN_ANGLE, Blow, Tree, sideways

TITLE = "A weeping willow in the wind"
METHOD = "MABD"
SIZE = "21,000 links"
SECONDS = 4.0
DT = 1e-2

WIND = 7.0  # m/s


def scene(links: int = 21_000, seed: int = 3) -> lw.Scene:
    """A willow of `links` links: trunk, boughs that arch outwards, branches along them, and withes for the rest."""
    tree = Tree(seed)
    up = np.array([[0.0, 0.0, 1.0]])
    trunk = tree.grow(np.array([-1]), up, 12, 3.0, (0.34, 0.22), wobble=0.04)[:, 0]

    # boughs leave the upper trunk all around, rise and then bow under their own weight
    count = int(np.clip(links // 2000, 3, 10))
    hosts = trunk[-1 - np.arange(count) // 3]
    turn = GOLDEN_ANGLE * np.arange(count)
    opening = 0.42 + 0.32 * (np.arange(count) % 3) / 2.0
    bow = np.linspace(0.06, -0.25, 18)[:, None] * np.array([0.0, 0.0, 1.0])
    reach = 5.2 + tree.scatter(count, 0.6)
    boughs = tree.grow(hosts, sideways(np.repeat(up, count, 0), turn, opening), 18, reach, (0.13, 0.03), pull=bow)

    # branches alternate left and right and lean outwards and down
    hosts = boughs[4:].ravel()
    side = np.repeat(np.where(np.arange(14) % 2 == 0, 1.0, -1.0), count)
    along = tree.directions(hosts)
    level = np.cross(along, up)
    out = 0.75 * along + 0.7 * side[:, None] * level / np.linalg.norm(level, axis=1, keepdims=True)
    branches = tree.grow(
        hosts, out, 8, 1.7 + tree.scatter(len(hosts), 0.3), (0.03, 0.012), pull=(0, 0, -0.1), wobble=0.1
    )

    # withes hang from branches and boughs down to just above the grass
    bearers = np.concatenate([branches[1:].ravel(), boughs[6:].ravel()])
    withes = max(0, -(-(links - tree.count) // 26))
    hosts = bearers[(np.arange(withes) * len(bearers)) // max(withes, 1) % len(bearers)]
    along = tree.directions(hosts) + tree.scatter((withes, 3), 0.6)
    drop = np.minimum(3.6 + tree.scatter(withes, 0.9), tree.heights(hosts) - 0.35)
    fall = np.linspace(0.7, 0.25, 26)[:, None] * np.array([0.0, 0.0, -1.0])
    tree.grow(hosts, along, 26, np.maximum(drop, 0.5), (0.004, 0.0022), pull=fall, wobble=0.05, flat=True)
    return tree.plant(links)


def prepare(sim: lw.Simulation) -> Blow:
    """Let the wind blow."""
    return Blow(sim, WIND)


def number(sim: lw.Simulation, watched: Blow) -> tuple[str, float]:
    """The roots carry the weight, however the tree sways."""
    return watched.lift(sim)
