"""PyBullet: one multibody in reduced coordinates, or free bodies tied by point constraints."""

from __future__ import annotations

import numpy as np
import pybullet

from linkwork.bench.peers.frames import matrices
from linkwork.bench.peers.mechanism import GRAVITY, Array, Indices, Mechanism, Tree, spanning_tree
from linkwork.bench.peers.playing import Motion

__all__ = ["build"]

LEVEL = [0.0, 0.0, 0.0, 1.0]
STRONG = 1e12  # N, more than any of these joints bears


def build(
    mechanism: Mechanism, dt: float, *, kind: str = "multibody", substeps: int = 1, iterations: int = 200
) -> Motion:
    """Damping and motors, which every joint is born with, are off; `iterations` are those of the constraints."""
    pybullet.connect(pybullet.DIRECT)
    pybullet.setGravity(0, 0, -GRAVITY)
    pybullet.setPhysicsEngineParameter(
        fixedTimeStep=dt / substeps, numSolverIterations=iterations, solverResidualThreshold=1e-12, erp=0.8
    )
    moments, axes = np.linalg.eigh(mechanism.inertia)
    axes[:, :, 2] *= np.sign(np.linalg.det(axes))[:, None]
    made = _multibody(mechanism, axes, moments) if kind == "multibody" else _tied(mechanism, axes, moments)
    body, link = made

    def advance(count: int) -> None:
        for _ in range(count * substeps):
            pybullet.stepSimulation()

    def state() -> tuple[Array, Array, Array, Array]:
        if kind == "multibody":
            # PyBullet answers for at most 128 coordinates at once, so links are asked for one by one
            found = [
                pybullet.getLinkState(body[0], int(k), computeLinkVelocity=1, computeForwardKinematics=1) for k in link
            ]
            place, turn, speed, spin = (np.array([each[part] for each in found]) for part in (0, 1, 6, 7))
        else:
            poses = [pybullet.getBasePositionAndOrientation(b) for b in body]
            rates = [pybullet.getBaseVelocity(b) for b in body]
            place, turn = (np.array([each[part] for each in poses]) for part in (0, 1))
            speed, spin = (np.array([each[part] for each in rates]) for part in (0, 1))
        return place, matrices(turn, scalar_first=False) @ axes.transpose(0, 2, 1), speed, spin

    return Motion(advance, state)


def _multibody(mechanism: Mechanism, axes: Array, moments: Array) -> tuple[list[int], Indices]:
    """Links have their frames along the principal axes, so that their inertia is a diagonal in them."""
    tree = spanning_tree(mechanism)
    order = _branch_after_branch(tree)
    joint, parent = tree.joint[order], tree.parent[order]
    link = np.empty(mechanism.bodies + 1, np.int64)
    link[order], link[-1] = np.arange(mechanism.bodies), -1
    origin, frame = np.zeros((mechanism.bodies + 1, 3)), np.concatenate([axes, np.eye(3)[None]])
    origin[order] = mechanism.point[joint]
    hinge, own = mechanism.hinge[joint], axes[order].transpose(0, 2, 1)
    to_parent = frame[parent].transpose(0, 2, 1)
    along = np.einsum("nij,nj->ni", own, mechanism.axis[joint])
    count = mechanism.bodies
    body = pybullet.createMultiBody(
        baseMass=0,
        linkMasses=mechanism.mass[order].tolist(),
        linkCollisionShapeIndices=[-1] * count,
        linkVisualShapeIndices=[-1] * count,
        linkPositions=np.einsum("nij,nj->ni", to_parent, origin[order] - origin[parent]).tolist(),
        linkOrientations=[_quaternion(each) for each in to_parent @ axes[order]],
        linkInertialFramePositions=np.einsum("nij,nj->ni", own, mechanism.position[order] - origin[order]).tolist(),
        linkInertialFrameOrientations=[LEVEL] * count,
        linkParentIndices=(link[parent] + 1).tolist(),
        linkJointTypes=[pybullet.JOINT_REVOLUTE if each else pybullet.JOINT_SPHERICAL for each in hinge],
        linkJointAxis=along.tolist(),
    )
    made = pybullet.getNumJoints(body) if body >= 0 else 0
    if made != count:
        raise RuntimeError(f"createMultiBody made {made} of {count} links")
    rates = mechanism.joint_rates(tree)[order]
    for k, i in enumerate(order):
        pybullet.changeDynamics(
            body, k, linearDamping=0, angularDamping=0, jointDamping=0, localInertiaDiagonal=moments[i].tolist()
        )
        if hinge[k]:
            pybullet.setJointMotorControl2(body, k, pybullet.VELOCITY_CONTROL, force=0)
            pybullet.resetJointState(body, k, 0.0, float(rates[k] @ mechanism.axis[joint[k]]))
        else:
            pybullet.setJointMotorControlMultiDof(
                body, k, pybullet.POSITION_CONTROL, LEVEL, positionGain=0, velocityGain=0, force=[0, 0, 0]
            )
            pybullet.resetJointStateMultiDof(body, k, LEVEL, (own[k] @ rates[k]).tolist())
    for j in tree.closing:
        for at in _points(mechanism, j):
            base, follower = mechanism.base[j], mechanism.follower[j]
            _tie(
                (body, int(link[follower]), (at - mechanism.position[follower]) @ axes[follower]),
                (body, int(link[base]), (at - mechanism.position[base]) @ axes[base] if base >= 0 else at),
            )
    return [body], link[:-1]


def _branch_after_branch(tree: Tree) -> Indices:
    """The bodies in the order in which PyBullet numbers its links: depth first."""
    children: list[list[int]] = [[] for _ in range(len(tree.order) + 1)]
    for i in tree.order.tolist():
        children[tree.parent[i]].append(i)
    order, waiting = [], children[-1][::-1]
    while waiting:
        order.append(waiting.pop())
        waiting += children[order[-1]][::-1]
    return np.array(order)


def _tied(mechanism: Mechanism, axes: Array, moments: Array) -> tuple[list[int], Indices]:
    bodies = []
    for i in range(mechanism.bodies):
        body = pybullet.createMultiBody(
            baseMass=mechanism.mass[i],
            baseInertialFrameOrientation=_quaternion(axes[i]),
            basePosition=mechanism.position[i].tolist(),
        )
        pybullet.changeDynamics(body, -1, linearDamping=0, angularDamping=0, localInertiaDiagonal=moments[i].tolist())
        pybullet.resetBaseVelocity(body, mechanism.velocity[i].tolist(), mechanism.angular_velocity[i].tolist())
        bodies.append(body)
    ground = pybullet.createMultiBody(baseMass=0)
    for j in range(mechanism.joints):
        for at in _points(mechanism, j):
            base, follower = mechanism.base[j], mechanism.follower[j]
            second = (bodies[base], -1, (at - mechanism.position[base]) @ axes[base]) if base >= 0 else (ground, -1, at)
            _tie((bodies[follower], -1, (at - mechanism.position[follower]) @ axes[follower]), second)
    return bodies, np.arange(mechanism.bodies)


def _points(mechanism: Mechanism, j: int) -> list[Array]:
    """A hinge is held at two points of its axis."""
    sides = (-0.5, 0.5) if mechanism.hinge[j] else (0.0,)
    return [mechanism.point[j] + side * mechanism.size * mechanism.axis[j] for side in sides]


def _tie(first: tuple[int, int, Array], second: tuple[int, int, Array]) -> None:
    tie = pybullet.createConstraint(
        first[0], first[1], second[0], second[1], pybullet.JOINT_POINT2POINT, [0, 0, 0],
        first[2].tolist(), second[2].tolist(),
    )  # fmt: skip
    pybullet.changeConstraint(tie, maxForce=STRONG)


def _quaternion(matrix: Array) -> list[float]:
    """x, y, z, w of a rotation matrix: the eigenvector of the largest eigenvalue of Bar-Itzhack's matrix."""
    m = matrix
    K = np.array(
        [
            [m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0],
            [m[1, 0] + m[0, 1], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
            [m[2, 0] + m[0, 2], m[2, 1] + m[1, 2], m[2, 2] - m[0, 0] - m[1, 1], 0],
            [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]],
        ]
    )
    return [float(each) for each in np.linalg.eigh(K)[1][:, -1]]
