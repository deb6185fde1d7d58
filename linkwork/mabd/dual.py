"""The dual matrix D = G H^-1 G^T (+ compliance of soft rows) of a component: its couplings, and its products without it."""

import warp as wp

from linkwork.mabd.affine import (
    compose,
    linear_part,
    mat33,
    mat34,
    point_at,
    point_compliance,
    real,
    solve_linear_part,
    spin_compliance,
    translation_part,
    turn_compliance,
    vec3,
)
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.components import Joints, Work, vec6
from linkwork.mabd.rows import row_force, row_motion
from linkwork.mabd.stiffened import solve_hessian


@wp.func
def side_product(S: mat33, Ua: mat33, Ub: mat33, K: vec3, row: vec6) -> vec6:
    """Motion (of the row side's point, and turn) per unit of a row of the column side."""
    n = vec3(row[0], row[1], row[2])
    t = vec3(row[3], row[4], row[5])
    v = S * n + Ua * t
    a = wp.cw_mul(K, t) + wp.transpose(Ub) * n
    return vec6(v[0], v[1], v[2], a[0], a[1], a[2])


@wp.func
def side_row(b: Bodies, J: Joints, j: int, k: int, side: int) -> vec6:
    """Row k of joint j on the body of one side, in that body's frame."""
    row = vec6()
    if J.plain[j] == 1:
        sign = real(2 * side - 1)
        n = b.R[J.base[j]][k]
        if side == 1:
            n = b.R[J.follower[j]][k]
        row = vec6(sign * n[0], sign * n[1], sign * n[2], real(0.0), real(0.0), real(0.0))
    elif side == 1:
        row = J.on_follower[J.first_row[j] + k]
    else:
        row = J.on_base[J.first_row[j] + k]
    return row


@wp.func
def add_to_dual(w: Work, e: int, size: int, p: int, q: int, x: real):
    """Add x to row p, column q of the block of coupling e."""
    target = w.pair_target[e]
    if target >= 0:
        w.lower[target + p * size + q] += x
    else:
        w.diagonal[-1 - target + p * size + q] += x


@wp.func
def couple_stiffened(b: Bodies, J: Joints, w: Work, e: int, size: int, a: vec3, c: vec3):
    """What `couple` does for a body that contacts hold; the joint points of its row and column sides are a and c."""
    slot = b.slot[w.pair_body[e]]
    ja = w.pair_row[e] / 2
    jb = w.pair_column[e] / 2
    side_a = w.pair_row[e] - 2 * ja
    side_b = w.pair_column[e] - 2 * jb
    for q in range(J.first_row[jb + 1] - J.first_row[jb]):
        Y = solve_hessian(b.hessian, slot, row_force(side_row(b, J, jb, q, side_b), c, real(1.0)))
        for p in range(J.first_row[ja + 1] - J.first_row[ja]):
            add_to_dual(w, e, size, p, q, row_motion(side_row(b, J, ja, p, side_a), a, Y))


@wp.func
def couple(b: Bodies, J: Joints, w: Work, e: int, size: int):
    """Add G H^-1 G^T of two joint sides on one body to its block."""
    i = w.pair_body[e]
    body = b.types[b.kind[i]]
    P = b.P[i]
    ja = w.pair_row[e] / 2
    jb = w.pair_column[e] / 2
    side_a = w.pair_row[e] - 2 * ja
    side_b = w.pair_column[e] - 2 * jb
    a = J.point_base[ja]
    if side_a == 1:
        a = J.point_follower[ja]
    c = J.point_base[jb]
    if side_b == 1:
        c = J.point_follower[jb]
    if b.stiffened == 1 and b.slot[i] >= 0:
        couple_stiffened(b, J, w, e, size, a, c)
        return
    tau = real(1.0) / (body.mass * body.inverse_beta2)
    S = point_compliance(body.stretch, P, tau, a, c)
    if J.plain[ja] == 1 and J.plain[jb] == 1:
        # rows of both are those of R, with a minus on a base
        X = b.R[i] * S * wp.transpose(b.R[i])
        if side_a != side_b:
            X = -X
        for p in range(3):
            for q in range(3):
                add_to_dual(w, e, size, p, q, X[p, q])
        return
    Ua = turn_compliance(P, a)
    Ub = turn_compliance(P, c)
    K = spin_compliance(P)
    for q in range(J.first_row[jb + 1] - J.first_row[jb]):
        m = side_product(S, Ua, Ub, K, side_row(b, J, jb, q, side_b))
        for p in range(J.first_row[ja + 1] - J.first_row[ja]):
            add_to_dual(w, e, size, p, q, wp.dot(side_row(b, J, ja, p, side_a), m))


@wp.func_native(snippet="__builtin_prefetch(&a.data[i]); __builtin_prefetch((char*)(&a.data[i]) + 64);")
def fetch(a: wp.array(dtype=mat33), i: int):
    """Start to bring into the cache what is needed soon."""
    ...


@wp.func
def fetch_coupling(b: Bodies, w: Work, e: int):
    """What `couple` works on."""
    fetch(b.R, w.pair_body[e])
    fetch(b.P, w.pair_body[e])


@wp.func
def spread(b: Bodies, J: Joints, w: Work, x: wp.array(dtype=wp.float64), joint0: int, joint1: int):
    """b.g += G^T x."""
    for j in range(joint0, joint1):
        base = J.base[j]
        follower = J.follower[j]
        u = J.unknown[j]
        if J.plain[j] == 1:
            force = vec3(x[u], x[u + 1], x[u + 2])
            if base < w.moving:
                f = wp.transpose(b.R[base]) * force
                b.g[base] -= compose(wp.outer(f, J.point_base[j]), f)
            if follower < w.moving:
                f = wp.transpose(b.R[follower]) * force
                b.g[follower] += compose(wp.outer(f, J.point_follower[j]), f)
        else:
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                value = x[u + r - row0]
                if base < w.moving:
                    b.g[base] += row_force(J.on_base[r], J.point_base[j], value)
                if follower < w.moving:
                    b.g[follower] += row_force(J.on_follower[r], J.point_follower[j], value)


@wp.func
def response(b: Bodies, i: int, g: mat34) -> mat34:
    """H^-1 g of one body."""
    if b.stiffened == 1 and b.slot[i] >= 0:
        return solve_hessian(b.hessian, b.slot[i], g)
    body = b.types[b.kind[i]]
    tau = real(1.0) / (body.mass * body.inverse_beta2)
    return compose(solve_linear_part(body.stretch, b.P[i], linear_part(g)), translation_part(g) * tau)


@wp.func
def respond(b: Bodies, w: Work, body0: int, body1: int):
    """w.Y = H^-1 b.g."""
    for i in range(body0, body1):
        w.Y[i] = response(b, i, b.g[i])


@wp.func
def gather(b: Bodies, J: Joints, w: Work, out: wp.array(dtype=wp.float64), joint0: int, joint1: int):
    """out = G w.Y."""
    for j in range(joint0, joint1):
        base = J.base[j]
        follower = J.follower[j]
        u = J.unknown[j]
        if J.plain[j] == 1:
            d = vec3()
            if base < w.moving:
                d -= b.R[base] * point_at(w.Y[base], J.point_base[j])
            if follower < w.moving:
                d += b.R[follower] * point_at(w.Y[follower], J.point_follower[j])
            for i in range(3):
                out[u + i] = d[i]
        else:
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                motion = real(0.0)
                if base < w.moving:
                    motion += row_motion(J.on_base[r], J.point_base[j], w.Y[base])
                if follower < w.moving:
                    motion += row_motion(J.on_follower[r], J.point_follower[j], w.Y[follower])
                out[u + r - row0] = motion


@wp.func
def dual_product(
    b: Bodies, J: Joints, w: Work, x: wp.array(dtype=wp.float64), out: wp.array(dtype=wp.float64),
    body0: int, body1: int, joint0: int, joint1: int,
):  # fmt: skip
    """out = D x without the matrix."""
    for i in range(body0, body1):
        b.g[i] = mat34()
    spread(b, J, w, x, joint0, joint1)
    respond(b, w, body0, body1)
    gather(b, J, w, out, joint0, joint1)
    for j in range(joint0, joint1):
        row0 = J.first_row[j]
        for r in range(row0, J.first_row[j + 1]):
            u = J.unknown[j] + r - row0
            out[u] += J.compliance[r] * x[u]
