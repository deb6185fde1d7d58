"""Between the lanes of a forest and arrays with one row per body or joint."""

import warp as wp

from linkwork.mabd.affine import vec3
from linkwork.mabd.forest_data import LOADS, PAST, TURN
from linkwork.mabd.lanes import LANES


@wp.kernel(enable_backward=False)
def publish_turns(
    law: wp.array(dtype=wp.int32), counted: wp.array(dtype=wp.int32), turns: wp.array(dtype=wp.float64),
    value: wp.array(dtype=wp.float64), past: wp.array(dtype=wp.float64), older: wp.array(dtype=wp.float64),
):  # fmt: skip
    """Turns of sprung joints into the rows of Laws."""
    slot = wp.tid()
    i = law[slot]
    if i >= 0 and counted[slot] == 1:
        batch = slot / LANES
        at = batch * TURN * LANES + slot - batch * LANES
        for r in range(3):
            value[i + r] = turns[at + r * LANES]
            past[i + r] = turns[at + r * LANES]
            older[i + r] = turns[at + (PAST + r) * LANES]


@wp.kernel(enable_backward=False)
def read_translations(
    body: wp.array(dtype=wp.int32), poses: wp.array(dtype=wp.float64), result: wp.array(dtype=vec3)
):  # fmt: skip
    """Last columns of poses, or of their rates, by body of the model."""
    slot = wp.tid()
    batch = slot / LANES
    at = (batch * 12 + 9) * LANES + slot - batch * LANES
    result[body[slot]] = vec3(poses[at], poses[at + LANES], poses[at + 2 * LANES])


@wp.kernel(enable_backward=False)
def read_wrenches(
    slots: wp.array(dtype=wp.int32), joint: wp.array(dtype=wp.int32), side: wp.array(dtype=wp.float64),
    wrench: wp.array(dtype=wp.float64), width: int, turns: int,
    force: wp.array(dtype=vec3), torque: wp.array(dtype=vec3),
):  # fmt: skip
    """Force and torque of the base on the follower, by joint of the model; side: -1 where the node is the follower."""
    i = wp.tid()
    slot = slots[i]
    batch = slot / LANES
    at = batch * width * LANES + slot - batch * LANES
    sign = side[i]
    force[joint[i]] = vec3(wrench[at], wrench[at + LANES], wrench[at + 2 * LANES]) * sign
    if turns == 1:
        at += 3 * LANES
        torque[joint[i]] = vec3(wrench[at], wrench[at + LANES], wrench[at + 2 * LANES]) * sign


@wp.kernel(enable_backward=False)
def take_loads(
    body: wp.array(dtype=wp.int32), forces: wp.array(dtype=vec3), torques: wp.array(dtype=vec3),
    loads: wp.array(dtype=wp.float64),
):  # fmt: skip
    """Forces and torques of the model's bodies into the lanes."""
    slot = wp.tid()
    batch = slot / LANES
    at = batch * LOADS * LANES + slot - batch * LANES
    force = forces[body[slot]]
    torque = torques[body[slot]]
    for r in range(3):
        loads[at + r * LANES] = force[r]
        loads[at + (3 + r) * LANES] = torque[r]


@wp.kernel(enable_backward=False)
def take_levers(
    body: wp.array(dtype=wp.int32), point_forces: wp.array3d(dtype=wp.float64), loads: wp.array(dtype=wp.float64)
):  # fmt: skip
    """Sums of f X^T of the model's bodies into the lanes."""
    slot = wp.tid()
    batch = slot / LANES
    at = (batch * LOADS + 6) * LANES + slot - batch * LANES
    for r in range(3):
        for k in range(3):
            loads[at + (3 * r + k) * LANES] = point_forces[body[slot], r, k]
