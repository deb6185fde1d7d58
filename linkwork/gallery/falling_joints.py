"""Pairs of bodies on balls, universal joints, hinges and slides that fall into a bowl (paper 000, Fig. 20)."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw

TITLE = "Jointed pairs that fall into a bowl"
METHOD = "MABD"
SIZE = "160 bodies in pairs: 20 each on balls, universal joints, hinges and slides"
SECONDS = 3.0
DT = 1e-2
SHOWN_AT = 2.0
SEEN_FROM = (0.5, -1.0, 0.7)

RADIUS, LENGTH = 0.04, 0.1
PITCH = 0.38
SIDES, RIM, STEEP = 12, 0.5, np.deg2rad(35.0)


def scene(size: int = 20) -> lw.Scene:
    """`size` pairs of each kind, mixed, each turned its own way, above a bowl of half spaces."""
    scene = lw.Scene()
    material = lw.Material(friction=0.3)
    scene.add_body(lw.Plane(), fixed=True, material=material, name="bottom")
    for k in range(SIDES):
        turn = 2.0 * np.pi * k / SIDES
        inward = np.array([-np.cos(turn) * np.sin(STEEP), -np.sin(turn) * np.sin(STEEP), np.cos(STEEP)])
        # the sides rise from a circle of the radius RIM on the bottom
        scene.add_body(
            lw.Plane(normal=inward, offset=-RIM * np.sin(STEEP)), fixed=True, material=material, name=f"side {k}"
        )
    pairs = 4 * size
    wide = int(np.ceil((pairs / 2.0) ** (1.0 / 3.0)))
    layer, rest = np.divmod(np.arange(pairs), wide * wide)
    across, along = np.divmod(rest, wide)
    middle = PITCH * np.stack([across - 0.5 * (wide - 1), along - 0.5 * (wide - 1), layer + 0.0], axis=1)
    middle[:, 2] += RADIUS + np.tan(STEEP) * PITCH * 0.71 * wide
    turns = Rotation.random(pairs, random_state=7).as_matrix()
    axis, side = turns[:, :, 0], turns[:, :, 1]
    shape = lw.Capsule(RADIUS, LENGTH)
    # the capsules of a pair follow each other along the axis; their z axes lie along it
    upright = turns @ Rotation.from_euler("y", 0.5 * np.pi).as_matrix()
    reach = 0.5 * LENGTH + RADIUS
    first = scene.add_bodies(shape, middle - reach * axis, upright, density=500.0, material=material, name="first")
    second = scene.add_bodies(shape, middle + reach * axis, upright, density=500.0, material=material, name="second")
    of = [np.flatnonzero(np.arange(pairs) % 4 == k) for k in range(4)]
    scene.add_joints(lw.Ball(), first[of[0]], second[of[0]], at=middle[of[0]], name="balls")
    scene.add_joints(
        lw.Universal(axis=side[of[1]], axis2=turns[of[1], :, 2]),
        first[of[1]],
        second[of[1]],
        at=middle[of[1]],
        name="universals",
    )
    scene.add_joints(lw.Hinge(axis=side[of[2]]), first[of[2]], second[of[2]], at=middle[of[2]], name="hinges")
    scene.add_joints(
        lw.Prismatic(axis=axis[of[3]]),
        first[of[3]],
        second[of[3]],
        at=middle[of[3]],
        limits=(-0.03, 0.03),
        name="slides",
    )
    return scene


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """How far the lowest point of any body is below the bottom, in radii of a body: 0 but for what a contact gives."""
    capsules = sim.model.motion == 0
    up = np.abs(sim.rotations[capsules, 2, 2])
    lowest = sim.positions[capsules, 2] - 0.5 * LENGTH * up - RADIUS
    return "deepest sinking, radii", float(max(-lowest.min(), 0.0)) / RADIUS
