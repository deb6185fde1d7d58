"""The same mechanisms in Pinocchio: its articulated-body algorithm, forward dynamics only, no integration."""

from __future__ import annotations

import numpy as np
import pinocchio

from linkwork.bench.machine import available_memory
from linkwork.bench.tasks.timing import DENSITY, PITCH, THICK, median_seconds
from linkwork.gallery import find

__all__ = ["arm", "chain"]

LENGTHS = (50, 100, 150)
# pinocchio.Data holds tensors of (degrees of freedom)^3 numbers
BYTES_PER_LINK_CUBED = 2e3
MOST_BYTES = 7e9


def chain() -> dict[str, float]:
    """Time per link on the longest chain of ball joints that fits in memory."""
    room = min(MOST_BYTES, 0.6 * available_memory())
    links = max((n for n in LENGTHS if BYTES_PER_LINK_CUBED * n**3 <= room), default=LENGTHS[0])
    model = pinocchio.Model()
    box = pinocchio.Inertia.FromBox(DENSITY * PITCH * THICK * THICK, PITCH, THICK, THICK)
    middle = pinocchio.SE3(np.eye(3), np.array([0.5 * PITCH, 0.0, 0.0]))
    joint = 0
    for k in range(links):
        place = pinocchio.SE3(np.eye(3), np.array([PITCH if k else 0.0, 0.0, 0.0]))
        joint = model.addJoint(joint, pinocchio.JointModelSpherical(), place, f"joint {k}")
        model.appendBodyToJoint(joint, box, middle)
    seconds = _forward_dynamics(model)
    return {"bodies": links, "ns_per_link_step": 1e9 * seconds / links, "ns_per_link_iteration": 1e9 * seconds / links}


def arm() -> dict[str, float]:
    """The arm with the same masses and inertias, held upright."""
    scene = find("arm").build().build()
    model = pinocchio.Model()
    joint, parent_at = 0, np.zeros(3)
    for j in range(scene.joints):
        body = int(scene.joint_follower[j])
        at = scene.translation[body] + scene.rotation[body] @ scene.point_follower[j]
        axis = scene.rotation[body] @ scene.frame_follower[j][:, 2]
        place = pinocchio.SE3(np.eye(3), at - parent_at)
        joint = model.addJoint(joint, pinocchio.JointModelRevoluteUnaligned(axis), place, f"hinge {j}")
        moments = np.diag(scene.second_moments[body].sum() - scene.second_moments[body])
        turned = scene.rotation[body] @ moments @ scene.rotation[body].T
        inertia = pinocchio.Inertia(scene.mass[body], scene.translation[body] - at, turned)
        model.appendBodyToJoint(joint, inertia, pinocchio.SE3.Identity())
        parent_at = at
    return {"us_per_step": 1e6 * _forward_dynamics(model)}


def _forward_dynamics(model: pinocchio.Model) -> float:
    """Seconds per call of the articulated-body algorithm."""
    data = model.createData()
    q, v, torque = pinocchio.neutral(model), np.zeros(model.nv), np.zeros(model.nv)
    calls = 200

    def many() -> None:
        for _ in range(calls):
            pinocchio.aba(model, data, q, v, torque)

    return median_seconds(many) / calls
