"""Every joint kind under load: it stays closed, and its free coordinates move as an independent integration says."""

from functools import cache

import numpy as np
import pytest
from oracles.measuring import orders, sampled
from oracles.rigid_dae import RigidBodies
from scipy.spatial.transform import Rotation

import linkwork as lw

# Loads of 100 N on some dm^2 strain this by 1e-7 at most, below the errors of stepping looked at here.
STIFF = lw.Material(young=1e10, poisson=0.3)
A = np.array([0.48, 0.6, 0.64])  # skew axes, perpendicular
B = np.array([0.8, 0.0, -0.6])
FRAME = Rotation.from_rotvec([0.3, -0.5, 0.4]).as_matrix()
SPRING, SLACK = lw.Spring(200.0), None
# kind: how to make it, springs that keep its travels in reach
KINDS = {
    "fixed": (lw.Fixed, None),
    "ball": (lw.Ball, None),
    "hinge": (lambda: lw.Hinge(A), None),
    "prismatic": (lambda: lw.Prismatic(A), SPRING),
    "cylindrical": (lambda: lw.Cylindrical(A), [SPRING, SLACK]),
    "universal": (lambda: lw.Universal(A, B), None),
    "planar": (lambda: lw.Planar(A), [SPRING, SPRING, SLACK]),
    "cartesian": (lambda: lw.Cartesian(FRAME), [SPRING] * 3),
    "rectangular": (lambda: lw.Rectangular(A, B), [SPRING] * 2),
    "pin in slot": (lambda: lw.PinInSlot(A, B), [SPRING, SLACK]),
    "slot": (lambda: lw.Slot(A), [SPRING, SLACK, SLACK, SLACK]),
    "free": (lw.Free, [SPRING] * 3 + [SLACK] * 3),
    "distance": (lw.Distance, None),
}
SPIN = np.array([1.0, -2.0, 1.5])


def build(kind, between, twists):
    """The kind hangs a box on the ground, or on another box that hangs on a ball."""
    make, spring = KINDS[kind]
    scene = lw.Scene(contact=False, gravity=(0, 0, -9.81))
    turns = Rotation.from_rotvec([[0.2, 0.4, -0.3], [-0.5, 0.1, 0.7]])
    bodies, base = [], scene.ground
    for k in range(2 if between else 1):
        body = scene.add_body(
            lw.Box(0.3, 0.2, 0.1), position=(0.2 + 0.5 * k, 0.05, -0.1 - 0.2 * k), rotation=turns[k],
            velocity=twists[k][:3], angular_velocity=twists[k][3:], material=STIFF,
        )  # fmt: skip
        bodies.append(body)
    if between:
        scene.add_joint(lw.Ball(), scene.ground, bodies[0], at=(0, 0, 0))
        base = bodies[0]
    at = (0.45, 0.0, -0.2) if between else (0.0, 0.0, 0.0)
    if kind == "distance":
        at = np.add(at, [(0.0, 0.0, 0.0), (0.2, 0.02, 0.01)])
    scene.add_joint(make(), base, bodies[-1], at=at, spring=spring)
    return scene


@cache
def allowed_twists(kind, between):
    spun = np.tile(np.concatenate([np.zeros(3), SPIN]), (2, 1))
    return RigidBodies(build(kind, between, spun).build()).allowed_velocities()


def scene_of(kind, between):
    return build(kind, between, allowed_twists(kind, between))


SIDES = pytest.mark.parametrize("between", [False, True], ids=["to the ground", "between two bodies"])


@SIDES
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_under_load_stays_closed_for_ten_seconds(kind, between):
    residual = sampled(scene_of(kind, between), 1e-2, np.arange(1, 101) * 0.1, lambda sim: sim.residual)
    assert residual.max() <= 1e-8


def pose(sim):
    return np.concatenate([sim.positions, sim.rotations.reshape(-1, 9)], axis=1)


def reference_poses(model, times):
    """Body origins and rotations of the bodies' own frames."""
    centres, principal = RigidBodies(model).run(times)
    rotations = principal @ model.principal.transpose(0, 2, 1)
    origins = centres - np.einsum("snij,nj->sni", rotations, model.com)
    return np.concatenate([origins, rotations.reshape(*rotations.shape[:2], 9)], axis=2)


@SIDES
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_moves_as_an_independent_integration_says(kind, between):
    times, steps = np.arange(1, 6) * 0.1, (4e-3, 2e-3, 1e-3)
    reference = reference_poses(scene_of(kind, between).build(), times)
    errors = np.array([np.abs(sampled(scene_of(kind, between), dt, times, pose) - reference).max() for dt in steps])
    assert errors[-1] < 1e-3
    if errors[-1] > 1e-6:
        assert orders(errors, steps)[-1] > 1.75
