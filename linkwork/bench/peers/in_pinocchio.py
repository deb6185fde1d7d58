"""Pinocchio: its articulated-body algorithm and the semi-implicit Euler rule, called from Python."""

from __future__ import annotations

import numpy as np
import pinocchio

from linkwork.bench.peers.mechanism import Array, Mechanism, spanning_tree
from linkwork.bench.peers.playing import CannotModelError, Motion

__all__ = ["build"]


def build(mechanism: Mechanism, dt: float, *, substeps: int = 1) -> Motion:
    """Trees only; the algorithm has no place for a joint that closes a loop."""
    tree = spanning_tree(mechanism)
    if len(tree.closing):
        raise CannotModelError("its articulated-body algorithm takes trees only, and this has loops")
    model = pinocchio.Model()
    origin = np.zeros((mechanism.bodies + 1, 3))  # of joints in the world; the last is the ground's
    number = np.zeros(mechanism.bodies + 1, np.int64)
    rates = mechanism.joint_rates(tree)
    speeds: list[float] = []
    for i in tree.order:
        j, parent = tree.joint[i], tree.parent[i]
        origin[i] = mechanism.point[j]
        place = pinocchio.SE3(np.eye(3), origin[i] - origin[parent])
        if mechanism.hinge[j]:
            kind = pinocchio.JointModelRevoluteUnaligned(mechanism.axis[j])
            speeds.append(float(rates[i] @ mechanism.axis[j]))
        else:
            kind = pinocchio.JointModelSpherical()
            speeds += rates[i].tolist()
        number[i] = model.addJoint(int(number[parent]), kind, place, str(i))
        inertia = pinocchio.Inertia(mechanism.mass[i], mechanism.position[i] - origin[i], mechanism.inertia[i])
        model.appendBodyToJoint(int(number[i]), inertia, pinocchio.SE3.Identity())
    data = model.createData()
    torque = np.zeros(model.nv)
    q, v = pinocchio.neutral(model), np.array(speeds)
    step = dt / substeps

    def advance(count: int) -> None:
        nonlocal q, v
        for _ in range(count * substeps):
            v = v + step * pinocchio.aba(model, data, q, v, torque)
            q = pinocchio.integrate(model, q, step * v)

    def state() -> tuple[Array, Array, Array, Array]:
        pinocchio.forwardKinematics(model, data, q, v)
        frames = [data.oMi[int(k)] for k in number[:-1]]
        turn = np.array([frame.rotation for frame in frames])
        arm = np.einsum("nij,nj->ni", turn, mechanism.position - origin[:-1])
        rates = [pinocchio.getVelocity(model, data, int(k), pinocchio.LOCAL_WORLD_ALIGNED) for k in number[:-1]]
        spin = np.array([rate.angular for rate in rates])
        speed = np.array([rate.linear for rate in rates]) + np.cross(spin, arm)
        return np.array([frame.translation for frame in frames]) + arm, turn, speed, spin

    return Motion(advance, state)
