"""What a forest keeps of its nodes, in lanes."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.lanes import lane
from linkwork.mabd.laws import Laws

# columns of the constants of bodies and of joints, see forest_group.py
MASS = wp.constant(3)
MU = wp.constant(4)
LAM = wp.constant(5)
POINT = wp.constant(6)
FRAME = wp.constant(9)
OWN_SIGN = wp.constant(18)
OWN_FIXED = wp.constant(19)
PARENT_POINT = wp.constant(0)
PARENT_FRAME = wp.constant(3)
SIGN = wp.constant(12)
FIXED = wp.constant(13)
LOADS = wp.constant(15)
LEAST_STIFFNESS = wp.constant(wp.float64(1.0e-9))  # N m/rad, of a joint that has lost its spring
# places in a record
MOVED = wp.constant(0)
S_VV = wp.constant(3)
S_VT = wp.constant(12)
S_TT = wp.constant(21)
SPUN = wp.constant(30)
FACE = wp.constant(33)
SPRING = wp.constant(42)
# of a joint's turns, three each: the values at the iterate, at the start of the step and a step before it
TURN = wp.constant(9)
PAST = wp.constant(3)
OLDER = wp.constant(6)
# of a joint's springs: three each, and 0 for a fixed joint, which has none
LINE = wp.constant(10)
STIFFNESS = wp.constant(0)
DAMPING = wp.constant(3)
PUSH = wp.constant(6)
SOFT = wp.constant(9)
# what is kept of a child until its wrench is known: its gaps of place and turn, and the inverse of its system
GAP = wp.constant(0)
SOLVER = wp.constant(3)
SPIN_GAP = wp.constant(9)
SPIN_SOLVER = wp.constant(12)


@wp.struct
class Forest:
    """Batches of nodes, ascending by height within their group; entries of bodies and joints as lanes."""

    b: Bodies
    laws: Laws
    first_batch: wp.array(dtype=wp.int32)  # groups + 1
    table: wp.array(dtype=wp.int32)  # per batch: row of constants
    joint_table: wp.array(dtype=wp.int32)  # per round: row of constants of joints
    hangs: wp.array(dtype=wp.int32)  # per batch: FREE_ROOT, ON_PARENT or ON_ANCHOR
    rounds: wp.array(dtype=wp.int32)  # per batch: most children of a node
    first_round: wp.array(dtype=wp.int32)  # per batch: its first row of child and source
    child: wp.array(dtype=wp.int32)  # per round and lane: child's slot or -1
    place: wp.array(
        dtype=wp.int32
    )  # per batch: its place among the records, which others take over once its parents are done
    source: wp.array(dtype=wp.int32)  # per round: batch whose lanes are the children, in order, or -1
    anchor: wp.array(dtype=wp.int32)  # per batch: place in anchors, or -1
    branching: wp.array(dtype=wp.int32)  # per batch: place in branches, or -1
    row: wp.array(dtype=wp.int32)  # per slot: row of Bodies; lanes left over repeat the last body of their batch
    counted: wp.array(dtype=wp.int32)  # per slot: 0 for such a repeated body
    filled: wp.array(dtype=wp.int32)  # per batch: how many are not
    law: wp.array(dtype=wp.int32)  # per slot: first of three rows of Laws, or -1
    constants: wp.array(dtype=lane)
    joint_constants: wp.array(dtype=lane)
    width: wp.int32  # columns of constants
    joint_width: wp.int32
    record_width: wp.int32
    frame_width: wp.int32  # numbers at run time keep loops rolled
    wrench_width: wp.int32
    gathered_record: wp.int32  # row of records into which those of scattered children are collected, per group
    anchors: wp.array(dtype=lane)  # point and frame, world
    Q: wp.array(dtype=lane)
    V: wp.array(dtype=lane)
    Q_past: wp.array(dtype=lane)
    V_past: wp.array(dtype=lane)
    Q_free: wp.array(dtype=lane)
    Q_base: wp.array(dtype=lane)
    R: wp.array(dtype=lane)  # of strained bodies: others have A = R
    lines: wp.array(dtype=lane)  # springs and dampers of the own joints
    driven: wp.int32  # 1 if there are drives, too, which `laws` has
    turns: wp.array(dtype=lane)  # of the own joints
    turns_flat: wp.array(dtype=wp.float64)
    N: wp.array(dtype=lane)  # of strained bodies
    k: wp.array(dtype=lane)  # within a step: geometric stiffness, J; between steps: the last turn, rad
    record: wp.array(dtype=lane)  # by place: what a node hands its parent
    record_flat: wp.array(dtype=wp.float64)
    solved: wp.array(dtype=lane)  # per round: what is kept of the children
    wrench: wp.array(dtype=lane)  # of the own joint: w, world
    wrench_flat: wp.array(dtype=wp.float64)
    branches: wp.array(dtype=lane)
    loads: wp.array(dtype=lane)  # per batch: force at the COM, torque, sums of f X^T of forces at points X; world
    levers: wp.array(dtype=wp.int32)  # 1 entry: whether those sums are not all zero
    scratch: wp.array(dtype=lane)
    scratch_stride: wp.int32  # groups share their scratch where one runs after the other, and it stays in the cache
    own_scratch: wp.int32
    joint_tolerance: real
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)
    fresh: wp.array(dtype=wp.int32)  # per group: 1 without a history, the coming step is implicit Euler's
    searched: wp.array(dtype=wp.int32)  # per group: 1 if the last step needed the line search
    carried: wp.int32  # 1 if some roots move by themselves: the old pose is no way back then
    failed: wp.array(dtype=wp.int32)


@cache
def places(rows: int) -> SimpleNamespace:
    """Widths of what is kept of a node whose joint has `rows` rows, in lanes."""
    turns = rows == 6
    return SimpleNamespace(
        record=51 if turns else 12,  # u, S; with springs S_vt, S_tt, turn, frame and the spring
        solved=27 if turns else 9,  # gaps and D^-1 of a child
        wrench=rows,
        branch=12 + 12 * rows,  # y and Z
    )
