"""A chain with a heavy weight at its end, released level or folded so that it snaps taut (paper 000, Fig. 11)."""

from __future__ import annotations

import numpy as np

import linkwork as lw

TITLE = "A chain that snaps taut under a weight a thousand times heavier than its links"
METHOD = "MABD"
SIZE = "60 links and a weight"
SECONDS = 10.0
DT = 1e-2
SHOWN_AT = 0.6
SEEN_FROM = (0.25, -1.0, 0.15)

PITCH, THICK, DENSITY = 0.1, 0.02, 1000.0
JOINTS = {
    "ball": lw.Ball(),
    "hinge": lw.Hinge((0, 1, 0)),
    "universal": lw.Universal((0, 1, 0), (0, 0, 1)),
}


def scene(links: int = 60, end_mass: float = 1000.0, coiled: bool = True, joint: str = "ball") -> lw.Scene:
    """A chain in the plane of x and z; `end_mass` is the weight in link masses, `joint` ball, hinge or universal.

    The stiffness rises with the load: hanging still, the chain is stretched by at most half a percent.
    """
    if joint not in JOINTS:
        raise lw.SceneError(f"heavy-chain: joint is {joint!r}; choose one of {', '.join(JOINTS)}")
    area = THICK * THICK
    weight = end_mass * DENSITY * area * PITCH
    load = 9.81 * (weight + links * DENSITY * area * PITCH)
    material = lw.Material(young=max(1e9, load / (0.005 * area)))
    # the folded chain drops by 0.03 m a link and turns back at every joint
    slope = np.full(links, np.arcsin(0.3) if coiled else 0.0)
    heading = np.where((np.arange(links) % 2 == 1) & coiled, np.pi - slope, slope)
    along = np.stack([np.cos(heading), 0 * heading, -np.sin(heading)], axis=1)
    ends = np.concatenate([np.zeros((1, 3)), PITCH * np.cumsum(along, axis=0)])
    half = 0.5 * heading[:, None]
    turns = np.concatenate([0 * half, np.sin(half), 0 * half, np.cos(half)], axis=1)

    scene = lw.Scene()
    chain = scene.add_bodies(
        lw.Box(PITCH, THICK, THICK),
        0.5 * (ends[1:] + ends[:-1]),
        turns,
        density=DENSITY,
        material=material,
        name="links",
    )
    radius = np.cbrt(weight / (7800.0 * 4.0 / 3.0 * np.pi))
    out = np.array([0.0, 0.0, -1.0]) if coiled else np.array([1.0, 0.0, 0.0])
    ball = scene.add_body(
        lw.Sphere(radius), position=ends[-1] + radius * out, mass=weight, material=material, name="weight"
    )
    scene.add_joint(JOINTS[joint], scene.ground, chain[0], at=ends[0], name="hook")
    scene.add_joints(JOINTS[joint], chain[:-1], chain[1:], at=ends[1:-1], name="joints")
    scene.add_joint(JOINTS[joint], chain[-1], ball, at=ends[-1], name="shackle")
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Follow the fastest the weight has been and the highest the energy has been, m/s and J."""
    extremes = [0.0, -np.inf]

    def watch(sim: lw.Simulation) -> None:
        energy = sim.energy
        extremes[0] = max(extremes[0], float(np.linalg.norm(sim.velocities[-1])))
        extremes[1] = max(extremes[1], energy.kinetic + energy.potential + energy.elastic)

    sim.on_step(watch)
    return extremes


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Fastest speed of the weight: nearly that of a free fall over the height the chain allows."""
    return "fastest speed of the weight, m/s", watched[0]
