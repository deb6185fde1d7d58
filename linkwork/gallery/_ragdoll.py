"""A figure of eleven links on ball joints with bending and twisting stiffness and swing limits."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import linkwork as lw

# link: place of its middle, half lengths of its box, m; the figure stands at the origin and looks along x
LINKS = {
    "pelvis": ((0, 0, 0.0), (0.07, 0.11, 0.06)),
    "chest": ((0, 0, 0.22), (0.07, 0.13, 0.12)),
    "head": ((0, 0, 0.47), (0.07, 0.06, 0.09)),
}
LIMBS = {
    "upper arm": ((0, 0.31, 0.28), (0.035, 0.13, 0.035)),
    "forearm": ((0, 0.59, 0.28), (0.03, 0.12, 0.03)),
    "thigh": ((0, 0.07, -0.28), (0.05, 0.05, 0.18)),
    "shin": ((0, 0.07, -0.66), (0.04, 0.04, 0.17)),
}
JOINTS = (
    ("pelvis", "chest", (0, 0, 0.08), 0.5),
    ("chest", "head", (0, 0, 0.36), 0.5),
)
LIMB_JOINTS = (
    ("chest", "upper arm", (0, 0.155, 0.28), 1.2),
    ("upper arm", "forearm", (0, 0.455, 0.28), 1.2),
    ("pelvis", "thigh", (0, 0.07, -0.08), 1.0),
    ("thigh", "shin", (0, 0.07, -0.475), 1.2),
)


Array = NDArray[np.float64]


def parts(scale: float) -> tuple[dict[str, tuple[Array, Array]], list[tuple[str, str, Array, float]]]:
    """Links with middle and half lengths, and joints with place and largest swing."""
    links = {name: (scale * np.array(at), scale * np.array(half)) for name, (at, half) in LINKS.items()}
    joints = [(a, b, scale * np.array(at), swing) for a, b, at, swing in JOINTS]
    for side, name in ((1.0, "left"), (-1.0, "right")):
        mirror = scale * np.array([1.0, side, 1.0])
        links |= {
            f"{name} {limb}": (mirror * np.array(at), scale * np.array(half)) for limb, (at, half) in LIMBS.items()
        }
        for a, b, at, swing in LIMB_JOINTS:
            joints.append((a if a in LINKS else f"{name} {a}", f"{name} {b}", mirror * np.array(at), swing))
    return links, joints


def add_ragdolls(
    scene: lw.Scene, places: NDArray[np.float64], turns: NDArray[np.float64], scale: float = 1.0, density: float = 500.0
) -> lw.Bodies:
    """Add figures at places (n, 3), turned by rotations (n, 3, 3); links of one kind follow each other."""
    links, joints = parts(scale)
    start = len(scene.bodies)
    sets = {
        name: scene.add_bodies(
            lw.Box(*(2.0 * half)),
            places + turns @ at,
            turns,
            density=density,
            material=lw.Material(young=1e8),
            name=name,
        )
        for name, (at, half) in links.items()
    }
    stiffness = 2.0 * scale**4
    for a, b, at, swing in joints:
        kind = lw.Ball(
            axis=turns[:, :, 2],
            swing_limit=swing,
            twist_limits=(-0.6, 0.6),
            bending_stiffness=stiffness,
            twisting_stiffness=stiffness,
            bending_damping=0.1 * stiffness,
            twisting_damping=0.1 * stiffness,
        )
        scene.add_joints(kind, sets[a], sets[b], at=places + turns @ at)
    return scene.bodies[start:]
