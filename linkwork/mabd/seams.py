"""The joints between a chain's segments: a short block tridiagonal system of 3x3 blocks, solved joint by joint.

A segment hands over what its inner joints leave of it: compliances A and S at its two ends, their coupling C, and where
its end points are without joint forces, a and u.
"""

import warp as wp

from linkwork.mabd.affine import mat33, real, vec3
from linkwork.mabd.lanes import LANES

sym3 = wp.types.vector(length=6, dtype=wp.float64)  # 00, 11, 22, 01, 02, 12

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
    z: wp.array(dtype=vec3)
    W: wp.array(dtype=mat33)
    multiplier: wp.array(dtype=wp.float64)  # 6 lanes a chain: at the segments' left and right ends, N
    right_multiplier: wp.array(dtype=vec3)  # per chain: at its right end


@wp.func
def sym_at(a: wp.array(dtype=wp.float64), i: int) -> sym3:
    n = LANES
    return sym3(a[i], a[i + n], a[i + 2 * n], a[i + 3 * n], a[i + 4 * n], a[i + 5 * n])


@wp.func
def vec3_at(a: wp.array(dtype=wp.float64), i: int) -> vec3:
    return vec3(a[i], a[i + LANES], a[i + 2 * LANES])


@wp.func
def mat33_at(a: wp.array(dtype=wp.float64), i: int) -> mat33:
    n = LANES
    return mat33(
        a[i], a[i + n], a[i + 2 * n],
        a[i + 3 * n], a[i + 4 * n], a[i + 5 * n],
        a[i + 6 * n], a[i + 7 * n], a[i + 8 * n],
    )  # fmt: skip


@wp.func
def put_vec3(a: wp.array(dtype=wp.float64), i: int, v: vec3):
    a[i] = v[0]
    a[i + LANES] = v[1]
    a[i + 2 * LANES] = v[2]


@wp.func
def less_transposed_product(D: sym3, C: mat33, W: mat33) -> sym3:
    """D - C^T W, known to be symmetric."""
    return sym3(
        D[0] - C[0, 0] * W[0, 0] - C[1, 0] * W[1, 0] - C[2, 0] * W[2, 0],
        D[1] - C[0, 1] * W[0, 1] - C[1, 1] * W[1, 1] - C[2, 1] * W[2, 1],
        D[2] - C[0, 2] * W[0, 2] - C[1, 2] * W[1, 2] - C[2, 2] * W[2, 2],
        D[3] - C[0, 0] * W[0, 1] - C[1, 0] * W[1, 1] - C[2, 0] * W[2, 1],
        D[4] - C[0, 0] * W[0, 2] - C[1, 0] * W[1, 2] - C[2, 0] * W[2, 2],
        D[5] - C[0, 1] * W[0, 2] - C[1, 1] * W[1, 2] - C[2, 1] * W[2, 2],
    )


@wp.func
def inverse_of_sym(D: sym3) -> mat33:
    a = D[1] * D[2] - D[5] * D[5]
    b = D[4] * D[5] - D[3] * D[2]
    c = D[3] * D[5] - D[4] * D[1]
    q = real(1.0) / (D[0] * a + D[3] * b + D[4] * c)
    d = (D[3] * D[4] - D[0] * D[5]) * q
    return mat33(
        a * q, b * q, c * q,
        b * q, (D[0] * D[2] - D[4] * D[4]) * q, d,
        c * q, d, (D[0] * D[1] - D[3] * D[3]) * q,
    )  # fmt: skip


@wp.func
def join_segments(s: Seams, chain: int):
    """Multipliers of the joints between segments and at the ends of a chain, from those between to the left."""
    m = s.segments[chain]
    first = 1 - s.left_end[chain]
    stop = m + s.right_end[chain]
    segment = chain * SEGMENT_ENTRIES * LANES
    place = chain * (LANES + 1)
    C = mat33()
    W = mat33()
    z = vec3()
    for joint in range(first, stop):
        D = sym3()
        r = vec3()
        if joint > 0:
            D += sym_at(s.segment, segment + RIGHT_COMPLIANCE * LANES + joint - 1)
            r -= vec3_at(s.segment, segment + RIGHT_POINT * LANES + joint - 1)
        else:
            r -= s.left_anchor[chain]
        if joint < m:
            D += sym_at(s.segment, segment + LEFT_COMPLIANCE * LANES + joint)
            r += vec3_at(s.segment, segment + LEFT_POINT * LANES + joint)
        else:
            r += s.right_anchor[chain]
        D_inv = inverse_of_sym(less_transposed_product(D, C, W))
        z = D_inv * (r - wp.transpose(C) * z)
        if joint < m:
            C = mat33_at(s.segment, segment + COUPLING * LANES + joint)
            W = D_inv * C
        s.z[place + joint] = z
        s.W[place + joint] = W
    lam = vec3()
    multiplier = chain * 6 * LANES
    for back in range(stop - first):
        joint = stop - 1 - back
        lam = s.z[place + joint] - s.W[place + joint] * lam
        if joint < m:
            put_vec3(s.multiplier, multiplier + joint, lam)
        else:
            s.right_multiplier[chain] = lam
        if joint > 0:
            put_vec3(s.multiplier, multiplier + 3 * LANES + joint - 1, lam)
