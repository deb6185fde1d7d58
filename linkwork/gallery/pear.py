"""A pear tree in the wind: a straight leader, tiers of rising limbs, short spurs and fruit (paper 000, Fig. 16)."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.gallery._growth import GOLDEN_ANGLE, Blow, Tree, sideways

TITLE = "A pear tree in the wind"
METHOD = "MABD"
SIZE = "29,000 links"
SECONDS = 4.0
DT = 1e-2
SHOWN_AT = 2.5
SEEN_FROM = (0.3, -1.0, 0.15)

WIND = 8.0  # m/s


def scene(links: int = 29_000, seed: int = 5) -> lw.Scene:
    """A pear tree of `links` links: the leader, limbs in a spiral around it, laterals, and leafy spurs for the rest."""
    tree = Tree(seed, modulus=6e9)
    up = np.array([[0.0, 0.0, 1.0]])
    leader = tree.grow(np.array([-1]), up, 40, 6.2, (0.15, 0.03), pull=(0, 0, 0.05), wobble=0.03)[:, 0]

    # limbs follow the golden angle; the higher, the shorter and steeper
    count = int(np.clip(links // 400, 8, 62))
    height = np.linspace(0.2, 0.97, count)
    hosts = leader[np.round(39 * height).astype(int)]
    limbs = tree.grow(
        hosts,
        sideways(np.repeat(up, count, 0), GOLDEN_ANGLE * np.arange(count), 1.15 - 0.45 * height),
        14,
        2.5 * (1.04 - height) ** 0.7 + 0.25,
        (0.03 * (1.1 - height) + 0.006, 0.006),
        pull=(0, 0, 0.055),
    )

    # laterals alternate around their limb and turn up towards the light
    hosts = limbs[2:].ravel()
    tier = np.repeat(np.arange(12), count)
    opening = 0.8 + tree.scatter(len(hosts), 0.2)
    out = sideways(tree.directions(hosts), GOLDEN_ANGLE * tier, opening)
    length = 0.75 * (1.15 - np.tile(height, 12)) * (1.1 - tier / 14.0) + 0.12
    laterals = tree.grow(hosts, out, 7, length, (0.006, 0.003), pull=(0, 0, 0.1), wobble=0.1)

    # one spur in forty bears a pear instead of leaves
    bearers = np.concatenate([laterals.ravel(), limbs[3:].ravel()])
    rest = max(0, links - tree.count)
    pears = rest // 200
    spurs = -(-(rest - pears) // 5)
    hosts = bearers[(np.arange(pears) * 7919 + 31) % len(bearers)]
    tree.grow(hosts, np.tile([0, 0, -1.0], (pears, 1)), 1, 0.085, (0.033, 0.033), wobble=0.1)
    hosts = bearers[(np.arange(spurs) * len(bearers)) // max(spurs, 1) % len(bearers)]
    out = sideways(tree.directions(hosts), GOLDEN_ANGLE * np.arange(spurs), 0.9)
    tree.grow(hosts, out, 5, 0.3 + tree.scatter(spurs, 0.08), (0.002, 0.0016), pull=(0, 0, 0.1), wobble=0.2, flat=True)
    return tree.plant(links)


def prepare(sim: lw.Simulation) -> Blow:
    """Let the wind blow."""
    return Blow(sim, WIND)


def number(sim: lw.Simulation, watched: Blow) -> tuple[str, float]:
    """The roots carry the weight, however the tree sways."""
    return watched.lift(sim)
