"""The joints between a chain's segments: a short block tridiagonal system of 3x3 blocks, solved joint by joint.

A segment hands over what its inner joints leave of it: compliances A and S at its two ends, their coupling C, and where
its end points are without joint forces, a and u.
"""

import warp as wp

from linkwork.mabd.affine import vec3
from linkwork.mabd.lane_symmetric import Sym, full, sym_inverses, sym_minus_product, sym_plus, symmetric
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply,
    apply_flipped,
    flipped,
    lane,
    matrix,
    minus,
    plus,
    product,
    vector,
)

# entries of a segment
LEFT_COMPLIANCE = wp.constant(0)
LEFT_POINT = wp.constant(6)
COUPLING = wp.constant(9)
RIGHT_COMPLIANCE = wp.constant(18)
RIGHT_POINT = wp.constant(24)
SEGMENT_ENTRIES = wp.constant(27)


@wp.struct
class Seams:
    """Arrays over chains, over their segments, or over the joints between segments (LANES + 1 a chain)."""

    segments: wp.array(dtype=wp.int32)  # of each chain
    left_end: wp.array(dtype=wp.int32)  # 1 if the first link hangs on a fixed point
    right_end: wp.array(dtype=wp.int32)
    left_anchor: wp.array(dtype=vec3)  # world, m
    right_anchor: wp.array(dtype=vec3)
    segment: wp.array(dtype=wp.float64)  # SEGMENT_ENTRIES lanes a chain
    z: wp.array(dtype=Vec)
    W: wp.array(dtype=Mat)
    ends: wp.array(dtype=wp.float64)  # 6 lanes a chain: multipliers at the segments' left and right ends, N
    right_multiplier: wp.array(dtype=vec3)  # per chain: at its right end


@wp.func
def spread_vec(a: wp.array(dtype=wp.float64), i: int) -> Vec:
    """Entry of a struct of lanes, in all lanes."""
    n = LANES
    return vector(lane(a[i]), lane(a[i + n]), lane(a[i + 2 * n]))


@wp.func
def spread_sym(a: wp.array(dtype=wp.float64), i: int) -> Sym:
    n = LANES
    return symmetric(
        lane(a[i]), lane(a[i + n]), lane(a[i + 2 * n]), lane(a[i + 3 * n]), lane(a[i + 4 * n]), lane(a[i + 5 * n])
    )


@wp.func
def spread_mat(a: wp.array(dtype=wp.float64), i: int) -> Mat:
    n = LANES
    return matrix(
        lane(a[i]), lane(a[i + n]), lane(a[i + 2 * n]),
        lane(a[i + 3 * n]), lane(a[i + 4 * n]), lane(a[i + 5 * n]),
        lane(a[i + 6 * n]), lane(a[i + 7 * n]), lane(a[i + 8 * n]),
    )  # fmt: skip


@wp.func
def spread_point(x: vec3) -> Vec:
    return vector(lane(x[0]), lane(x[1]), lane(x[2]))


@wp.func
def put_vec3(a: wp.array(dtype=wp.float64), i: int, v: vec3):
    a[i] = v[0]
    a[i + LANES] = v[1]
    a[i + 2 * LANES] = v[2]


@wp.func
def join_segments(s: Seams, chain: int):
    """Multipliers of the joints between segments and at the ends of a chain, from left to right and back."""
    m = s.segments[chain]
    first = 1 - s.left_end[chain]
    stop = m + s.right_end[chain]
    segment = chain * SEGMENT_ENTRIES * LANES
    place = chain * (LANES + 1)
    C = Mat()
    W = Mat()
    z = Vec()
    for joint in range(first, stop):
        D = Sym()
        r = Vec()
        if joint > 0:
            D = spread_sym(s.segment, segment + RIGHT_COMPLIANCE * LANES + joint - 1)
            r = minus(r, spread_vec(s.segment, segment + RIGHT_POINT * LANES + joint - 1))
        else:
            r = minus(r, spread_point(s.left_anchor[chain]))
        if joint < m:
            D = sym_plus(D, spread_sym(s.segment, segment + LEFT_COMPLIANCE * LANES + joint))
            r = plus(r, spread_vec(s.segment, segment + LEFT_POINT * LANES + joint))
        else:
            r = plus(r, spread_point(s.right_anchor[chain]))
        inverse = full(sym_inverses(sym_minus_product(D, flipped(C), W)))
        z = apply(inverse, minus(r, apply_flipped(C, z)))
        if joint < m:
            C = spread_mat(s.segment, segment + COUPLING * LANES + joint)
            W = product(inverse, C)
        s.z[place + joint] = z
        s.W[place + joint] = W
    lam = Vec()
    ends = chain * 6 * LANES
    for back in range(stop - first):
        joint = stop - 1 - back
        lam = minus(s.z[place + joint], apply(s.W[place + joint], lam))
        value = vec3(lam.x[0], lam.y[0], lam.z[0])
        if joint < m:
            put_vec3(s.ends, ends + joint, value)
        else:
            s.right_multiplier[chain] = value
        if joint > 0:
            put_vec3(s.ends, ends + 3 * LANES + joint - 1, value)
