"""linkwork itself."""

from __future__ import annotations

import numpy as np

import linkwork as lw
from linkwork.bench.peers.mechanism import Mechanism
from linkwork.bench.peers.playing import Motion

__all__ = ["build"]


def build(mechanism: Mechanism, dt: float, *, young: float = 1e9, published: bool = False) -> Motion:
    """`lw.MABD` as it comes; `young` is the stiffness of its almost rigid bodies, Pa."""
    scene = lw.Scene(contact=False)
    bodies = scene.add_bodies(
        None,
        mechanism.position,
        velocities=mechanism.velocity,
        angular_velocities=mechanism.angular_velocity,
        mass=mechanism.mass,
        inertia=mechanism.inertia,
        material=lw.Material(young=young),
    )
    hinges = mechanism.hinge
    for axis in np.unique(mechanism.axis[hinges], axis=0):
        _join(scene, bodies, mechanism, hinges & (mechanism.axis == axis).all(axis=1), lw.Hinge(axis))
    _join(scene, bodies, mechanism, ~hinges, lw.Ball())
    method = lw.MABD.as_published() if published else lw.MABD()
    sim = lw.Simulation(scene, method, dt, state_dir=None)
    return Motion(
        advance=sim.step,
        state=lambda: (sim.positions, sim.rotations, sim.velocities, sim.angular_velocities),
    )


def _join(
    scene: lw.Scene, bodies: lw.Bodies, mechanism: Mechanism, chosen: np.ndarray, kind: lw.Ball | lw.Hinge
) -> None:
    grounded = chosen & (mechanism.base < 0)
    between = chosen & (mechanism.base >= 0)
    if grounded.any():
        scene.add_joints(kind, scene.ground, bodies[mechanism.follower[grounded]], at=mechanism.point[grounded])
    if between.any():
        base, follower = bodies[mechanism.base[between]], bodies[mechanism.follower[between]]
        scene.add_joints(kind, base, follower, at=mechanism.point[between])
