"""The dual matrix D = G H^-1 G^T (+ compliance of soft rows) of a component: its couplings, and its products without it."""

import warp as wp

from linkwork.mabd.affine import (
    compose,
    linear_part,
    mat33,
    mat34,
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


@wp.func
def side_product(S: mat33, Ua: mat33, Ub: mat33, K: vec3, row: vec6) -> vec6:
    """Motion (of the row side's point, and turn) per unit of a row of the column side."""
    n = vec3(row[0], row[1], row[2])
    t = vec3(row[3], row[4], row[5])
    v = S * n + Ua * t
    a = wp.cw_mul(K, t) + wp.transpose(Ub) * n
    return vec6(v[0], v[1], v[2], a[0], a[1], a[2])


@wp.func
def push_rows(J: Joints, row0: int, side: int) -> mat33:
    """Directions of the three rows of a plain ball, in the frame of the body of that side."""
    x = vec6()
    y = vec6()
    z = vec6()
    if side == 1:
        x = J.on_follower[row0]
        y = J.on_follower[row0 + 1]
        z = J.on_follower[row0 + 2]
    else:
        x = J.on_base[row0]
        y = J.on_base[row0 + 1]
        z = J.on_base[row0 + 2]
    return mat33(x[0], x[1], x[2], y[0], y[1], y[2], z[0], z[1], z[2])


@wp.func
def add_to_dual(w: Work, e: int, size: int, p: int, q: int, x: real):
    """Add x to row p, column q of the block of coupling e."""
    target = w.pair_target[e]
    if target >= 0:
        w.lower[target + p * size + q] += x
    else:
        w.diagonal[-1 - target + p * size + q] += x


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
    tau = real(1.0) / (body.mass * body.inverse_beta2)
    S = point_compliance(body.stretch, P, tau, a, c)
    a0 = J.first_row[ja]
    b0 = J.first_row[jb]
    if J.plain[ja] == 1 and J.plain[jb] == 1:
        X = push_rows(J, a0, side_a) * S * wp.transpose(push_rows(J, b0, side_b))
        for p in range(3):
            for q in range(3):
                add_to_dual(w, e, size, p, q, X[p, q])
        return
    Ua = turn_compliance(P, a)
    Ub = turn_compliance(P, c)
    K = spin_compliance(P)
    na = J.first_row[ja + 1] - a0
    nb = J.first_row[jb + 1] - b0
    for q in range(nb):
        column = vec6()
        if side_b == 1:
            column = J.on_follower[b0 + q]
        else:
            column = J.on_base[b0 + q]
        m = side_product(S, Ua, Ub, K, column)
        for p in range(na):
            row = vec6()
            if side_a == 1:
                row = J.on_follower[a0 + p]
            else:
                row = J.on_base[a0 + p]
            add_to_dual(w, e, size, p, q, wp.dot(row, m))


@wp.func_native(snippet="__builtin_prefetch(&a.data[i]); __builtin_prefetch(&a.data[i + 2]);")
def fetch_rows(a: wp.array(dtype=vec6), i: int):
    """Start to bring the rows of a joint into the cache that are needed soon."""
    ...


@wp.func
def fetch_coupling(J: Joints, w: Work, e: int):
    """What `couple` works on."""
    fetch_rows(J.on_base, J.first_row[w.pair_row[e] / 2])
    fetch_rows(J.on_follower, J.first_row[w.pair_row[e] / 2])


@wp.func
def spread(b: Bodies, J: Joints, w: Work, x: wp.array(dtype=wp.float64), joint0: int, joint1: int):
    """b.g += G^T x."""
    for j in range(joint0, joint1):
        base = J.base[j]
        follower = J.follower[j]
        row0 = J.first_row[j]
        for r in range(row0, J.first_row[j + 1]):
            value = x[J.unknown[j] + r - row0]
            if base < w.moving:
                b.g[base] += row_force(J.on_base[r], J.point_base[j], value)
            if follower < w.moving:
                b.g[follower] += row_force(J.on_follower[r], J.point_follower[j], value)


@wp.func
def respond(b: Bodies, w: Work, body0: int, body1: int):
    """w.Y = H^-1 b.g."""
    for i in range(body0, body1):
        body = b.types[b.kind[i]]
        g = b.g[i]
        tau = real(1.0) / (body.mass * body.inverse_beta2)
        w.Y[i] = compose(solve_linear_part(body.stretch, b.P[i], linear_part(g)), translation_part(g) * tau)


@wp.func
def gathered(J: Joints, w: Work, j: int, r: int) -> real:
    """(G w.Y) of one row."""
    base = J.base[j]
    follower = J.follower[j]
    x = real(0.0)
    if base < w.moving:
        x += row_motion(J.on_base[r], J.point_base[j], w.Y[base])
    if follower < w.moving:
        x += row_motion(J.on_follower[r], J.point_follower[j], w.Y[follower])
    return x


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
    for j in range(joint0, joint1):
        row0 = J.first_row[j]
        for r in range(row0, J.first_row[j + 1]):
            u = J.unknown[j] + r - row0
            out[u] = gathered(J, w, j, r) + J.compliance[r] * x[u]
