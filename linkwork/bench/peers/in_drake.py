"""Drake: `MultibodyPlant`, stepped by its discrete solver or integrated with error control."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydrake.math import RigidTransform, RotationMatrix
from pydrake.multibody.plant import DiscreteContactApproximation, MultibodyPlant
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    RevoluteJoint,
    RotationalInertia,
    SpatialInertia,
)
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

from linkwork.bench.peers.mechanism import GRAVITY, Array, Mechanism, spanning_tree
from linkwork.bench.peers.playing import CannotModelError, Motion

__all__ = ["build"]


def build(
    mechanism: Mechanism, dt: float, *, substeps: int = 1, integrator: str = "", accuracy: float = 1e-4
) -> Motion:
    """`integrator` names one of Drake's for continuous time; without it, the discrete solver takes `substeps`."""
    tree = spanning_tree(mechanism)
    if integrator and len(tree.closing):
        raise CannotModelError("its continuous plant takes no constraints, so no loops")
    plant = MultibodyPlant(0.0 if integrator else dt / substeps)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -GRAVITY])
    if not integrator:
        plant.set_discrete_contact_approximation(DiscreteContactApproximation.kSap)
    bodies = []
    for i in range(mechanism.bodies):
        mass, inertia = float(mechanism.mass[i]), mechanism.inertia[i]
        moments = RotationalInertia(*inertia.diagonal(), inertia[0, 1], inertia[0, 2], inertia[1, 2])
        bodies.append(plant.AddRigidBody(str(i), SpatialInertia.MakeFromCentralInertia(mass, np.zeros(3), moments)))
    bodies.append(plant.world_body())
    on_base, on_follower = mechanism.arms()
    rates = mechanism.joint_rates(tree)
    speeds: list[tuple[Any, Array]] = []
    for i in tree.order:
        j, parent = tree.joint[i], tree.parent[i]
        forward = mechanism.follower[j] == i
        axis = mechanism.axis[j]
        # roll comes first of its three angles: what turns above all must be roll, far from the angles' singularity
        turn = RotationMatrix(_first_axis(axis))
        frames = [
            plant.AddFrame(FixedOffsetFrame(f"{end}{i}", bodies[body].body_frame(), RigidTransform(turn, arm)))
            for end, body, arm in (
                ("F", parent, (on_base if forward else on_follower)[j]),
                ("M", i, (on_follower if forward else on_base)[j]),
            )
        ]
        if mechanism.hinge[j]:
            joint = plant.AddJoint(RevoluteJoint(str(i), *frames, [1.0, 0.0, 0.0], 0.0))
        else:
            joint = plant.AddJoint(BallRpyJoint(str(i), *frames, 0.0))
        speeds.append((joint, turn.matrix().T @ rates[i]))
    for j in tree.closing:
        # a hinge is held at two points of its axis
        for side in (-0.5, 0.5) if mechanism.hinge[j] else (0.0,):
            shift = side * mechanism.size * mechanism.axis[j]
            plant.AddBallConstraint(
                bodies[mechanism.base[j]], on_base[j] + shift, bodies[mechanism.follower[j]], on_follower[j] + shift
            )
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    for joint, rate in speeds:
        if rate.any():
            if isinstance(joint, RevoluteJoint):
                joint.set_angular_rate(context, rate[0])
            else:
                joint.set_angular_velocity(context, rate)
    if integrator:
        ResetIntegratorFromFlags(simulator, integrator, dt)
        simulator.get_mutable_integrator().set_target_accuracy(accuracy)
    simulator.Initialize()
    steps = 0

    def advance(count: int) -> None:
        nonlocal steps
        steps += count
        simulator.AdvanceTo(steps * dt)

    def state() -> tuple[Array, Array, Array, Array]:
        poses = [plant.EvalBodyPoseInWorld(context, body) for body in bodies[:-1]]
        rates = [plant.EvalBodySpatialVelocityInWorld(context, body) for body in bodies[:-1]]
        return (
            np.array([pose.translation() for pose in poses]),
            np.array([pose.rotation().matrix() for pose in poses]),
            np.array([rate.translational() for rate in rates]),
            np.array([rate.rotational() for rate in rates]),
        )

    return Motion(advance, state)


def _first_axis(axis: Array) -> Array:
    """A rotation matrix whose first column is `axis`."""
    side = np.cross(axis, np.eye(3)[int(np.abs(axis).argmin())])
    side /= np.linalg.norm(side)
    return np.stack([axis, side, np.cross(axis, side)], axis=1)
