"""One body on each kind of joint against solutions by ADAMS (distributed with Project Chrono, BSD-3)."""

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

DATA = Path(__file__).parents[3] / "shared" / "data" / "adams_joints"
pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"the reference data are not at {DATA}")

DT = 5e-4
ARM = 2.0  # m, from the joint to the centre of mass: what a force tolerance is worth as a torque
FLAT = np.eye(3)
DOWN = Rotation.from_euler("x", -90, degrees=True).as_matrix()
UP = Rotation.from_euler("x", 90, degrees=True).as_matrix()
ROD_X, ROD_Z = [0.04, 0.1, 0.1], [0.1, 0.1, 0.04]
X, Y, Z = np.eye(3)
# name: R, centre of mass in R, inertia, joint in R, position tolerance
CASES = {
    "Revolute": (DOWN, ARM * X, ROD_X, lambda R: lw.Hinge(R @ Z), 2e-3),
    "Spherical": (FLAT, ARM * X, ROD_X, lambda R: lw.Ball(), 2e-3),
    "Prismatic": (FLAT, ARM * X, ROD_X, lambda R: lw.Prismatic(R @ Z), 1e-2),
    "Cylindrical": (FLAT, ARM * X, ROD_X, lambda R: lw.Cylindrical(R @ Z), 1e-2),
    "Universal": (UP, -ARM * Z, ROD_Z, lambda R: lw.Universal(R @ X, R @ Y), 2e-3),
}


def read(case, quantity):
    """Rows of time and columns."""
    lines = (DATA / f"{case}_Case01_{quantity}.txt").read_text().splitlines()
    rows = []
    for line in lines:
        try:
            rows.append([float(word) for word in line.split()])
        except ValueError:
            continue
    return np.array([row for row in rows if row])


@pytest.fixture(scope="module", params=CASES)
def run(request):
    """The case's name, its reference by quantity, and what the engine found at the same times."""
    R, com, inertia, kind, _ = CASES[request.param]
    quantities = ("Pos", "Vel", "Quat", "Avel", "Rforce", "Rtorque")
    reference = {quantity: read(request.param, quantity) for quantity in quantities}
    times = reference["Pos"][:, 0]
    scene = lw.Scene(contact=False, gravity=(0, 0, -9.80665))
    # 1e12 Pa: the body is a box of a metre or so, whose stretch under 30 N is then below 1e-9 m
    body = scene.add_body(
        mass=1.0, inertia=inertia, position=R @ com, rotation=R, material=lw.Material(young=1e12, poisson=0.3)
    )
    scene.add_joint(kind(R), scene.ground, body, at=(0, 0, 0))
    sim = lw.Simulation(scene, lw.MABD(), dt=DT)
    found = {quantity: [] for quantity in quantities}
    for time in times:
        sim.step(round(time / DT) - sim.steps)
        found["Pos"].append(sim.positions[0])
        found["Vel"].append(sim.velocities[0])
        found["Quat"].append(sim.quaternions[0][[3, 0, 1, 2]])
        found["Avel"].append(sim.angular_velocities[0])
        # ADAMS gives what the joint does to the ground; here it is known from the first step on
        found["Rforce"].append(-sim.joint_forces[0] if sim.steps else np.zeros(3))
        found["Rtorque"].append(-sim.joint_torques[0] if sim.steps else np.zeros(3))
    found = {quantity: np.array(values) for quantity, values in found.items()}
    return request.param, {q: values[:, 1:] for q, values in reference.items()}, found


def worst(run, quantity):
    """Largest error."""
    _, reference, found = run
    first = 1 if quantity in ("Rforce", "Rtorque") else 0
    return np.abs(found[quantity][first:] - reference[quantity][first:]).max()


def test_positions_agree_with_adams(run):
    assert worst(run, "Pos") < CASES[run[0]][4]


def test_velocities_agree_with_adams(run):
    # ADAMS's own hinge and ball, which swing alike, differ by 2.6e-3 m/s
    assert worst(run, "Vel") < 5e-3


def test_orientations_agree_with_adams(run):
    _, reference, found = run
    signs = np.sign((reference["Quat"] * found["Quat"]).sum(axis=1, keepdims=True))
    assert np.abs(signs * found["Quat"] - reference["Quat"]).max() < 1e-3


def test_angular_velocities_agree_with_adams(run):
    assert worst(run, "Avel") < 2e-3


def test_reaction_forces_agree_with_adams(run):
    assert worst(run, "Rforce") < 2e-2


def test_reaction_torques_agree_with_adams(run):
    assert worst(run, "Rtorque") < 2e-2 * ARM
