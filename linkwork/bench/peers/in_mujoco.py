"""MuJoCo: bodies nested on joints ("tree"), or free bodies tied by equalities ("connect"); nothing can collide."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np

from linkwork.bench.peers.mechanism import Array, Indices, Mechanism, Tree, spanning_tree
from linkwork.bench.peers.playing import Motion

__all__ = ["build"]


def build(
    mechanism: Mechanism,
    dt: float,
    *,
    kind: str = "tree",
    substeps: int = 1,
    integrator: str = "implicitfast",
    solref: str = "",
    solimp: str = "0.99 0.999 0.001",
    iterations: int = 100,
) -> Motion:
    """`solref` is that of the equalities, by default the stiffest MuJoCo takes: twice the step, critically damped."""
    spec = mujoco.MjSpec()
    spec.option.timestep = dt / substeps
    spec.option.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
    spec.option.solver = mujoco.mjtSolver.mjSOL_NEWTON
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    spec.option.iterations = iterations
    spec.option.disableflags = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_AUTORESET
    spec.compiler.inertiafromgeom = mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_FALSE
    made: list[Any] = [None] * mechanism.bodies
    origin = np.concatenate([mechanism.position, np.zeros((1, 3))])
    tree = spanning_tree(mechanism)
    nested = kind == "tree"
    closing = tree.closing if nested else np.arange(mechanism.joints)
    for i in tree.order:
        parent = int(tree.parent[i]) if nested else -1
        host = spec.worldbody if parent < 0 else made[parent]
        body = host.add_body(name=str(i), pos=mechanism.position[i] - origin[parent])
        body.mass, body.ipos, body.explicitinertial = mechanism.mass[i], np.zeros(3), True
        body.fullinertia = mechanism.inertia[i][[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        made[i] = body
        if not nested:
            body.add_freejoint()
            continue
        j = tree.joint[i]
        sort = mujoco.mjtJoint.mjJNT_HINGE if mechanism.hinge[j] else mujoco.mjtJoint.mjJNT_BALL
        body.add_joint(type=sort, pos=mechanism.point[j] - mechanism.position[i], axis=mechanism.axis[j])
    for j in closing:
        base, follower = mechanism.base[j], mechanism.follower[j]
        # a hinge is held at two points of its axis
        for side in (-0.5, 0.5) if mechanism.hinge[j] else (0.0,):
            tie = spec.add_equality(type=mujoco.mjtEq.mjEQ_CONNECT, objtype=mujoco.mjtObj.mjOBJ_BODY)
            tie.name1, tie.name2 = str(follower), str(base) if base >= 0 else "world"
            at = mechanism.point[j] + side * mechanism.size * mechanism.axis[j] - mechanism.position[follower]
            tie.data[:3] = at
            tie.solref = np.array((solref or f"{2 * dt / substeps} 1").split(), float)
            tie.solimp[:3] = np.array(solimp.split(), float)
    model = spec.compile()
    data = mujoco.MjData(model)
    order = np.array([body.id for body in made])
    _start(model, data, order, mechanism, tree if nested else None)

    def state() -> tuple[Array, Array, Array, Array]:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_comVel(model, data)
        spin, place = data.cvel[order, :3].copy(), data.xpos[order].copy()
        # its velocities are those of a point at the centre of the whole tree
        away = place - data.subtree_com[model.body_rootid[order]]
        turn = data.xmat[order].reshape(-1, 3, 3).copy()
        return place, turn, data.cvel[order, 3:] + np.cross(spin, away), spin

    def complaint() -> str:
        return "MuJoCo warns of NaN, Inf or huge values" if any(int(each.number) for each in data.warning) else ""

    return Motion(lambda count: mujoco.mj_step(model, data, nstep=count * substeps), state, complaint)


def _start(model: mujoco.MjModel, data: mujoco.MjData, order: Indices, mechanism: Mechanism, tree: Tree | None) -> None:
    """Speeds of the joints, or of free bodies where there is no tree; at the start all joints are at zero."""
    if tree is None:
        data.qvel[:] = 0.0
        first = model.body_dofadr[order]
        for k in range(3):
            data.qvel[first + k], data.qvel[first + 3 + k] = mechanism.velocity[:, k], mechanism.angular_velocity[:, k]
        return
    rates = mechanism.joint_rates(tree)
    for i in np.flatnonzero((rates != 0.0).any(axis=1)):
        dof = model.body_dofadr[order[i]]
        if mechanism.hinge[tree.joint[i]]:
            data.qvel[dof] = rates[i] @ mechanism.axis[tree.joint[i]]
        else:
            data.qvel[dof : dof + 3] = rates[i]
