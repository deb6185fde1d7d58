"""The model: everything a solver reads, as frozen arrays. Built once from a scene."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.model.contact_rules import ContactRules

__all__ = ["Model"]

Array = NDArray[np.float64]
Int8 = NDArray[np.int8]
Int32 = NDArray[np.int32]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Model:
    """Bodies in their principal frames P, joints in body frames, laws and forces; SI units, read-only arrays.

    P has its origin at the centre of mass and its axes along the principal axes of the second moments
    J = integral of rho x x^T. A point X of P lies at A X + t in the world, A = rotation at the start. The ground is
    body -1 and has no row: points and frames on it are in the world.

    Attributes:
        gravity: (3,) m/s^2.
        motion: (n,) 0 moving, 1 fixed, 2 kinematic.
        mass: (n,) kg.
        second_moments: (n, 3) principal J, kg m^2, zero or more.
        volume: (n,) m^3.
        lame_mu, lame_lambda: (n,) Pa.
        contact_friction, contact_restitution: (n,) coefficients of contacts.
        contact_rolling_friction, contact_torsional_friction: (n,) arms of the moments at contacts, m.
        com: (n, 3) centre of mass in the user's body frame, m.
        principal: (n, 3, 3) columns = axes of P in the user's body frame.
        rotation: (n, 3, 3) P to world at the start.
        translation: (n, 3) centre of mass in the world at the start, m.
        velocity: (n, 3) of the centre of mass, m/s.
        angular_velocity: (n, 3) rad/s, world.
        size: (n,) largest full extent, m.
        joint_kind: (j,) JointId.
        joint_base, joint_follower: (j,) body indices, -1 for the ground.
        point_base, point_follower: (j, 3) the joint's points in P of each body, m.
        frame_base, frame_follower: (j, 3, 3) columns = joint axes x, y, z in P of each body.
        length: (j,) distance at the start for Distance joints, m; 0 for others.
        distance_locked: (j,) True for Distance joints that keep their length.
        law_joint: (d,) joint of each law row; rows are sorted by (joint, slot).
        law_slot: (d,) slot 0 to 5.
        lower, upper: (d,) limits of the coordinate, m or rad; -inf and inf for none.
        stiffness, rest: (d,) spring, N/m or N m/rad, and its rest coordinate.
        damping: (d,) N s/m or N m s/rad.
        friction: (d,) bound of the dry friction, N or N m.
        force: (d,) constant generalised force, N or N m.
        drive: (d,) 0 none, 1 PD, 2 Position, 3 Force (in ``force``), 4 Velocity (speed in ``target_velocity``).
        drive_stiffness, drive_damping, target, target_velocity, max_force: (d,) of the drive.
        cone: (d,) True where ``upper`` bounds the angle of the whole swing (slot 3).
        force_body: (f,) bodies with constant forces.
        force_point: (f, 3) point of attack in P, m.
        force_vector, force_torque: (f, 3) N and N m, world.
        body_names, joint_names: index -> name.
        trajectories: body -> (time s -> (origin (3,), rotation (3, 3)) of the user's frame in the world).
        contact_rules: which bodies may touch.
        shapes: (shape, body indices) for drawing and contact; array shapes have one member per index.
    """

    gravity: Array
    motion: Int8
    mass: Array
    second_moments: Array
    volume: Array
    lame_mu: Array
    lame_lambda: Array
    contact_friction: Array
    contact_restitution: Array
    contact_rolling_friction: Array
    contact_torsional_friction: Array
    com: Array
    principal: Array
    rotation: Array
    translation: Array
    velocity: Array
    angular_velocity: Array
    size: Array
    joint_kind: Int8
    joint_base: Int32
    joint_follower: Int32
    point_base: Array
    point_follower: Array
    frame_base: Array
    frame_follower: Array
    length: Array
    distance_locked: Mask
    law_joint: Int32
    law_slot: Int8
    lower: Array
    upper: Array
    stiffness: Array
    rest: Array
    damping: Array
    friction: Array
    force: Array
    drive: Int8
    drive_stiffness: Array
    drive_damping: Array
    target: Array
    target_velocity: Array
    max_force: Array
    cone: Mask
    force_body: Int32
    force_point: Array
    force_vector: Array
    force_torque: Array
    body_names: Callable[[int], str]
    joint_names: Callable[[int], str]
    trajectories: Mapping[int, Callable[[float], tuple[Array, Array]]]
    contact_rules: ContactRules
    shapes: tuple[tuple[Any, Int32], ...]

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.motion)

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.joint_kind)
