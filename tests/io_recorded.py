"""A recording with everything in it, by free flight: shapes of each kind of look, joints, a plane, and odd names."""

from __future__ import annotations

import numpy as np
from free_flight import FreeFlight

import linkwork as lw


def recorded(path, *, steps=40, every=2, velocities=True, gravity=(0, 0, -9.81)):
    scene = lw.Scene(gravity=gravity)
    brick = scene.add_body(
        lw.Box(1, 2, 3), position=(0, 0, 1), velocity=(1, 2, 0), angular_velocity=(0, 0, 9), name="brick"
    )
    offset = scene.add_body(mass=1, inertia=[1, 2, 2.5], com=(1, 0, 0), position=(5, 0, 0), name="v1.2")
    pins = scene.add_bodies(lw.Cylinder(np.array([0.1, 0.2]), 1.0), [(0, 3, 0), (0, 6, 0)], name="pins")
    scene.add_body(lw.Sphere(0.5), position=(0, 0, -2), fixed=True)
    scene.add_body(lw.Plane(), fixed=True, name="floor")
    scene.add_joint(lw.Cylindrical((0, 0, 1)), scene.ground, brick, name="slider")
    scene.add_joints(lw.Ball(), scene.ground, pins, at=[(0, 3, 0), (0, 6, 0)], name="balls")
    scene.add_joint(lw.Fixed(), offset, pins[0], name="weld")
    sim = lw.Simulation(scene, FreeFlight(), dt=1e-2, state_dir=None)
    said = []
    with sim.record(path, every=every, velocities=velocities, dtype=np.float64):
        said.append((sim.positions, sim.quaternions, sim.velocities, sim.angular_velocities, sim.energy))
        for _ in range(steps // every):
            sim.step(every)
            said.append((sim.positions, sim.quaternions, sim.velocities, sim.angular_velocities, sim.energy))
    return lw.Recording(path), said
