"""A seven-axis robot arm: hinges with PD drives follow a trajectory under gravity, then hold still."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.gallery._parts import about

TITLE = "A seven-axis robot arm that follows a trajectory with PD drives"
METHOD = "MABD"
SIZE = "7 hinges"
SECONDS = 8.0
DT = 5e-3

# stretched upwards: height of each hinge, its axis, and the length and thickness of the link above it; m
HINGES = (
    (0.14, (0, 0, 1), 0.20, 0.065),
    (0.34, (0, 1, 0), 0.20, 0.062),
    (0.54, (0, 0, 1), 0.20, 0.056),
    (0.74, (0, -1, 0), 0.20, 0.054),
    (0.94, (0, 0, 1), 0.20, 0.046),
    (1.14, (0, 1, 0), 0.09, 0.042),
    (1.23, (0, 0, 1), 0.05, 0.034),
)
STIFFNESS = np.array([4000.0, 6000.0, 3000.0, 3000.0, 800.0, 600.0, 200.0])  # N m/rad
WAYPOINTS = np.radians(
    [
        [0, 0, 0, 0, 0, 0, 0],
        [40, 15, 0, -75, 0, 75, 60],
        [-50, 45, 30, -65, -40, 50, -90],
        [20, 25, -10, -85, 0, 60, 0],
    ]
)
LEG = 2.0  # s from one waypoint to the next


def scene(stiffness: float = 1.0) -> lw.Scene:
    """The arm, upright on its foot, about 20 kg; `stiffness` scales the gains of the drives."""
    scene = lw.Scene(contact=False)
    scene.add_body(lw.Cylinder(0.09, 0.14), position=(0, 0, 0.07), fixed=True, name="foot")
    before = scene.ground
    for number, ((height, axis, length, radius), gain) in enumerate(zip(HINGES, stiffness * STIFFNESS, strict=True)):
        # a tube along the link and the housing of its hinge across
        tube = lw.Capsule(0.85 * radius, length), (0, 0, 0.5 * length)
        housing = lw.Cylinder(radius, 2.1 * radius), (0, 0, 0), about("x", 90 if axis[1] else 0)
        link = scene.add_body(
            lw.Compound([tube, housing]),
            position=(0, 0, height),
            density=850.0,
            material=lw.Material(young=7e10),
            name=f"link {number + 1}",
        )
        drive = lw.PD(stiffness=gain, damping=0.05 * gain)
        scene.add_joint(lw.Hinge(axis), before, link, at=(0, 0, height), drive=drive, name=f"hinge {number + 1}")
        before = link
    return scene


def wanted(time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Angles (7,) and rates of the trajectory, rad: smooth legs between waypoints, at rest in each of them."""
    leg = min(int(time / LEG), len(WAYPOINTS) - 2)
    s = min(time / LEG - leg, 1.0)
    way = WAYPOINTS[leg + 1] - WAYPOINTS[leg]
    return WAYPOINTS[leg] + way * (s**3 * (10 - 15 * s + 6 * s * s)), way * (30 * s * s * (1 - s) ** 2 / LEG)


def prepare(sim: lw.Simulation) -> None:
    """Set the angles and rates that the drives aim for at the end of every step."""
    hinges = np.arange(len(HINGES))

    def steer(sim: lw.Simulation) -> None:
        angles, rates = wanted(sim.time + sim.dt)
        sim.set_target(hinges, angles)
        sim.set_drive(hinges, target_velocity=rates)

    sim.on_step(steer)


def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
    """How far the shoulder hangs through in the last pose: moment of the arm's weight over stiffness of the drive."""
    angles, _ = wanted(sim.time)
    return "sag of the shoulder, mrad", 1e3 * float(sim.joint_coordinates[1][0] - angles[1])
