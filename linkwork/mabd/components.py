"""What the component engine keeps of joints, of the solve and of each component."""

import warp as wp

from linkwork.linear.supernodes import Panels
from linkwork.mabd.affine import mat33, mat34, real, vec3

vec6 = wp.types.vector(length=6, dtype=wp.float64)
GIVEN = wp.constant(wp.float64(-1.0))  # compliance of a row whose force is known


@wp.struct
class Joints:
    """Joints in solver order; a row is one coordinate that is locked or has a law."""

    kind: wp.array(dtype=wp.int32)
    base: wp.array(dtype=wp.int32)  # rows of Bodies.Q; bodies that do not move stand behind those that do
    follower: wp.array(dtype=wp.int32)
    point_base: wp.array(dtype=vec3)
    point_follower: wp.array(dtype=vec3)
    frame_base: wp.array(dtype=mat33)
    frame_follower: wp.array(dtype=mat33)
    length: wp.array(dtype=wp.float64)  # m, of locked distances
    plain: wp.array(dtype=wp.int32)  # 1: a ball without laws
    first_row: wp.array(dtype=wp.int32)  # j + 1 entries
    unknown: wp.array(dtype=wp.int32)  # per joint: place of its first multiplier
    slot: wp.array(dtype=wp.int32)  # per row
    law: wp.array(dtype=wp.int32)  # per row: row of Laws, or -1 where the slot is locked
    value: wp.array(dtype=wp.float64)  # per row: violation of a hard row, 0 for others
    defect: wp.array(dtype=wp.float64)  # per row: what the present pose and multiplier leave of its equation
    compliance: wp.array(dtype=wp.float64)  # per row: 0 hard, 1 / kappa soft, GIVEN
    rhs: wp.array(dtype=wp.float64)  # per row
    on_base: wp.array(
        dtype=vec6
    )  # per row, but not of plain balls: force and torque in the base's frame per multiplier
    on_follower: wp.array(dtype=vec6)


@wp.struct
class Work:
    """Scratch of the solve."""

    moving: wp.int32  # bodies [0, moving) move
    Y: wp.array(
        dtype=mat34
    )  # per moving body: H^-1 of Bodies.g, which is the gradient, then with joint forces, body frame
    N: wp.array(dtype=mat33)  # 2 (tr S I - S)^-1: turn of the polar rotation per axial part of R^T dA
    Q_base: wp.array(dtype=mat34)
    pair_body: wp.array(dtype=wp.int32)  # couplings of two joint sides through a body
    pair_row: wp.array(dtype=wp.int32)  # joint * 2 + side (1: follower)
    pair_column: wp.array(dtype=wp.int32)
    pair_target: wp.array(dtype=wp.int32)  # flat place in lower, or -1 - flat place in diagonal
    panels: Panels
    diagonal: wp.array(dtype=wp.float64)  # flat views of the dual matrix in blocks
    lower: wp.array(dtype=wp.float64)
    multiplier: wp.array(dtype=wp.float64)  # flat, by unknown
    r: wp.array(dtype=wp.float64)
    Dp: wp.array(dtype=wp.float64)
    s: wp.array(dtype=wp.float64)


@wp.struct
class Components:
    """Ranges of each component."""

    body_start: wp.array(dtype=wp.int32)  # c each
    body_end: wp.array(dtype=wp.int32)
    joint: wp.array(dtype=wp.int32)  # c + 1 each
    node: wp.array(dtype=wp.int32)
    pair: wp.array(dtype=wp.int32)
    closed: wp.array(dtype=wp.int32)  # 1: rows may be redundant
    filled: wp.array(dtype=wp.int32)  # 1: columns of the factor are long, so it has panels of its own
    super: wp.array(dtype=wp.int32)  # c + 1: supernodes of those
    nonlinear: wp.array(dtype=wp.int32)  # 1: some row is not linear, or has a law
    joint_tolerance: real
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)
    fresh: wp.array(dtype=wp.int32)  # 1: no history, the coming step is implicit Euler's
    searched: wp.array(dtype=wp.int32)  # 1: the last step needed the line search
    redundant: wp.array(dtype=wp.int32)
    failed: wp.array(dtype=wp.int32)
