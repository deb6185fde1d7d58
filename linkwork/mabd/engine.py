"""Any component: rows of every joint kind, the block-sparse dual, Newton with line search, each component to its own end.

One kernel thread advances one component of the joint graph: it predicts, then linearises bodies and joints, assembles the
dual matrix D = G H^-1 G^T (+ compliance of soft rows), factors it in an order without fill where the graph allows one,
and moves the bodies. Its rows are numbered as in joints.py; lambda is minus the force along a row.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.linear.blocks import block_cholesky
from linkwork.linear.supernodes import LANES, Panels, clear_panels, factor_panels, lane, row_place, solve_panels
from linkwork.mabd.affine import (
    CPU_OPTIONS,
    FOUR_THIRDS,
    THIRD,
    axial,
    compose,
    cross_matrix,
    elastic_energy,
    geometric_stiffness,
    linear_part,
    mat33,
    mat34,
    pair_inverses,
    point_at,
    point_compliance,
    polar_rotation,
    real,
    scale_columns,
    solve_linear_part,
    spin_compliance,
    stress,
    translation_part,
    turn_compliance,
    vec3,
)
from linkwork.mabd.bodies import TRUST, Bodies, Scheme, finish, gradient, predict, step_beta, without_turn
from linkwork.mabd.joints import DISTANCE, column, measure
from linkwork.mabd.laws import (
    AT_LOWER,
    AT_UPPER,
    POSITION,
    Laws,
    Line,
    choose_piece,
    evaluate,
    law_potential,
    line_force,
)

vec6 = wp.types.vector(length=6, dtype=wp.float64)
PI = wp.constant(wp.float64(3.141592653589793))
REUSE_SWEEPS = wp.constant(4)  # an older factor that needs more is no saving
PATIENCE = wp.constant(8)  # steps, then, before an older one is tried again
MOST_SWEEPS = wp.constant(40)
AHEAD = wp.constant(8)  # couplings that are fetched into the cache before their turn
HASTE = wp.constant(8)  # iterations in which all laws may change piece at once
CALM = wp.constant(3)  # last iterations, in which none may
MANY = wp.constant(1000000000)
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
    axes: wp.array(dtype=wp.int32)  # per joint: body whose axes its point rows use, or -1 for the world's
    slot: wp.array(dtype=wp.int32)  # per row
    law: wp.array(dtype=wp.int32)  # per row: row of Laws, or -1 where the slot is locked
    value: wp.array(dtype=wp.float64)  # per row: violation of a hard row, 0 for others
    defect: wp.array(dtype=wp.float64)  # per row: what the present pose and multiplier leave of its equation
    compliance: wp.array(dtype=wp.float64)  # per row: 0 hard, 1 / kappa soft, GIVEN
    rhs: wp.array(dtype=wp.float64)  # per row
    on_base: wp.array(dtype=vec6)  # per row: force and torque in the base's frame per multiplier
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
    pair_target: wp.array(dtype=wp.int32)  # flat place in lower, or -1 - flat place in diagonal; in panels a lane
    pair_stride: wp.array(dtype=wp.int32)  # columns of its panel, or 0 for blocks
    pair_local: wp.array(dtype=wp.int32)  # row in its panel
    panels: Panels
    diagonal: wp.array(dtype=wp.float64)  # flat views of the factor
    lower: wp.array(dtype=wp.float64)
    multiplier: wp.array(dtype=wp.float64)  # flat, by unknown
    r: wp.array(dtype=wp.float64)
    p: wp.array(dtype=wp.float64)
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
    reuse: wp.array(dtype=wp.int32)  # 1: a factor is dear, so it serves several steps as a preconditioner
    super: wp.array(dtype=wp.int32)  # c + 1: supernodes of those
    sweeps: wp.array(dtype=wp.int32)  # of the last solve
    wait: wp.array(dtype=wp.int32)  # steps that factor anew before an older factor is tried
    nonlinear: wp.array(dtype=wp.int32)  # 1: some row is not linear, or has a law
    joint_tolerance: real
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)
    fresh: wp.array(dtype=wp.int32)  # 1: no history, the coming step is implicit Euler's
    searched: wp.array(dtype=wp.int32)  # 1: the last step needed the line search
    redundant: wp.array(dtype=wp.int32)
    failed: wp.array(dtype=wp.int32)


@wp.func
def linearise_bodies(b: Bodies, s: Scheme, w: Work, body0: int, body1: int, strained: bool):
    for i in range(body0, body1):
        body = b.types[b.kind[i]]
        R = b.R[i]
        k = b.k[i]
        N = wp.identity(n=3, dtype=real)
        if strained:
            A = linear_part(b.Q[i])
            R = polar_rotation(A)
            b.R[i] = R
            S = wp.transpose(R) * A
            k = vec3()  # the published Hessian is constant
            if s.published == 0:
                turn = b.k[i]
                if wp.dot(turn, turn) < TRUST * TRUST:
                    k = geometric_stiffness(stress(body.mu, body.lam, without_turn(S, turn)))
                else:
                    k = geometric_stiffness(stress(body.mu, body.lam, S))
            N = wp.inverse((wp.identity(n=3, dtype=real) * wp.trace(S) - S) * real(0.5))
        w.N[i] = N
        P = pair_inverses(body, k)
        b.P[i] = P
        g = gradient(b, s, i, body, R, strained)
        g = compose(linear_part(g), wp.transpose(R) * translation_part(g))
        b.g[i] = g
        tau = real(1.0) / (body.mass * body.inverse_beta2)
        w.Y[i] = compose(solve_linear_part(body.stretch, P, linear_part(g)), translation_part(g) * tau)


@wp.func
def past_average(s: Scheme, laws: Laws, i: int, first: bool) -> real:
    """Weighted past of a coordinate: its rate is (c - average) / beta."""
    if s.euler == 1 or first:
        return laws.past[i]
    return laws.past[i] * FOUR_THIRDS - laws.older[i] * THIRD


@wp.func
def swing_size(value: wp.array(dtype=wp.float64), law: int) -> real:
    """Of the swing whose first row is the given law."""
    return wp.sqrt(value[law] * value[law] + value[law + 1] * value[law + 1])


@wp.func
def unwrap(value: real, reference: real) -> real:
    return value + real(2.0) * PI * wp.round((reference - value) / (real(2.0) * PI))


@wp.func
def linearise_ball(b: Bodies, J: Joints, w: Work, j: int, gradients: bool) -> real:
    """What `linearise_joint` makes of a ball without laws."""
    base = J.base[j]
    follower = J.follower[j]
    d = point_at(b.Q[follower], J.point_follower[j]) - point_at(b.Q[base], J.point_base[j])
    axes = wp.identity(n=3, dtype=real)
    if J.axes[j] >= 0:
        axes = b.R[J.axes[j]]
        d = wp.transpose(axes) * d
    row0 = J.first_row[j]
    zero = real(0.0)
    for i in range(3):
        r = row0 + i
        J.value[r] = d[i]
        J.defect[r] = d[i]
        J.compliance[r] = zero
        J.rhs[r] = d[i]
    if gradients:
        if base < w.moving:
            n = wp.transpose(axes) * b.R[base]
            for i in range(3):
                J.on_base[row0 + i] = vec6(-n[i, 0], -n[i, 1], -n[i, 2], zero, zero, zero)
        if follower < w.moving:
            n = wp.transpose(axes) * b.R[follower]
            for i in range(3):
                J.on_follower[row0 + i] = vec6(n[i, 0], n[i, 1], n[i, 2], zero, zero, zero)
    return wp.max(wp.max(wp.abs(d[0]), wp.abs(d[1])), wp.abs(d[2]))


@wp.func
def on_cone(J: Joints, laws: Laws, row0: int, r: int) -> bool:
    """Whether a row is the second of a swing that rests on its cone."""
    result = bool(False)
    if r > row0:
        before = J.law[r - 1]
        if before >= 0:
            result = bool(laws.cone[before] == 1 and laws.piece[before] == AT_UPPER)
    return result


@wp.func
def choose_on_cone(s: Scheme, laws: Laws, i: int, x: real, y: real, along: real, first: bool) -> real:
    """Pick the piece of the first swing's law, its cone's included; returns 1 if it changed.

    The cone stops the swing (x, y); `along` is its multiplier if it did so before.
    """
    rate = real(1.0) / step_beta(s, first)
    old = laws.piece[i]
    size = wp.sqrt(x * x + y * y)
    piece = int(old)
    if old == AT_UPPER:
        a = line_force(laws, i, x, past_average(s, laws, i, first), rate)
        b = line_force(laws, i + 1, y, past_average(s, laws, i + 1, first), rate)
        given = ((a.a - a.kappa * x) * x + (b.a - b.kappa * y) * y) / wp.max(size, real(1.0e-9))
        if -along - given > real(1.0e-10) * (wp.abs(along) + wp.abs(given)):
            piece = 0
    elif size > laws.upper[i] + real(1.0e-10) and laws.drive[i] != POSITION and laws.drive[i + 1] != POSITION:
        piece = int(AT_UPPER)
    else:
        piece = choose_piece(laws, i, x, past_average(s, laws, i, first), rate, along)
    laws.piece[i] = piece
    if piece != old:
        return real(1.0)
    return real(0.0)


@wp.func
def across_cone(s: Scheme, laws: Laws, i: int, cos: real, sin: real, x: real, y: real, first: bool) -> Line:
    """Springs, dampers and drives of the swings (x, y) across the direction (cos, sin) in which the cone holds them."""
    rate = real(1.0) / step_beta(s, first)
    a = line_force(laws, i - 1, x, past_average(s, laws, i - 1, first), rate)
    b = line_force(laws, i, y, past_average(s, laws, i, first), rate)
    line = Line()
    line.kappa = sin * sin * a.kappa + cos * cos * b.kappa
    line.a = cos * (b.a - b.kappa * y) - sin * (a.a - a.kappa * x)
    return line


@wp.func
def linearise_joint(
    b: Bodies, s: Scheme, J: Joints, laws: Laws, w: Work, j: int, first: bool, choose: int, gradients: bool
) -> wp.vec2d:
    """Rows of one joint at the present pose; returns its largest violation and the number of laws that changed piece.

    choose: how many laws may change piece at most.
    """
    if J.plain[j] == 1:
        return wp.vec2d(linearise_ball(b, J, w, j, gradients), real(0.0))
    base = J.base[j]
    follower = J.follower[j]
    kind = J.kind[j]
    RB = b.R[base]
    RF = b.R[follower]
    B = RB * J.frame_base[j]
    F = RF * J.frame_follower[j]
    d = point_at(b.Q[follower], J.point_follower[j]) - point_at(b.Q[base], J.point_base[j])
    worst = real(0.0)
    changes = real(0.0)
    rate = real(1.0) / step_beta(s, first)
    row0 = J.first_row[j]
    cone_cos = real(1.0)
    cone_sin = real(0.0)
    for r in range(row0, J.first_row[j + 1]):
        slot = J.slot[r]
        law = J.law[r]
        m = measure(kind, slot, B, F, d)
        if law < 0:
            c = m.value
            if kind == DISTANCE:
                c -= J.length[j]
            elif slot < 3 and J.axes[j] >= 0:
                # the same three equations along the axes of a body: what was factored stays good while it turns
                m.n = column(b.R[J.axes[j]], slot)
                c = wp.dot(m.n, d)
            J.value[r] = c
            J.defect[r] = c
            J.compliance[r] = real(0.0)
            J.rhs[r] = c
            worst = wp.max(worst, wp.abs(c))
        else:
            c = m.value
            c_bar = past_average(s, laws, law, first)
            if slot >= 3:
                c = unwrap(c, laws.past[law])
            laws.value[law] = c
            line = Line()
            if laws.cone[law] == 1:
                other = measure(kind, slot + 1, B, F, d)
                size = wp.sqrt(c * c + other.value * other.value)
                if size > real(1.0e-9):
                    cone_cos = c / size
                    cone_sin = other.value / size
                if changes < real(choose):
                    along = w.multiplier[J.unknown[j] + r - row0]
                    changes += choose_on_cone(s, laws, law, c, other.value, along, first)
                if laws.piece[law] == AT_UPPER:
                    # the first of the two swing rows turns to the swing, which is what the cone bounds
                    m.n = m.n * cone_cos + other.n * cone_sin
                    m.follower = m.follower * cone_cos + other.follower * cone_sin
                    m.base = m.base * cone_cos + other.base * cone_sin
                    c = size
                line = evaluate(laws, law, c, c_bar, rate)
            elif on_cone(J, laws, row0, r):
                # and the second across it, where the two swings' springs add up
                other = measure(kind, slot - 1, B, F, d)
                m.n = m.n * cone_cos - other.n * cone_sin
                m.follower = m.follower * cone_cos - other.follower * cone_sin
                m.base = m.base * cone_cos - other.base * cone_sin
                line = across_cone(s, laws, law, cone_cos, cone_sin, other.value, c, first)
                c = real(0.0)
            else:
                if changes < real(choose):
                    multiplier = w.multiplier[J.unknown[j] + r - row0]
                    piece = choose_piece(laws, law, c, c_bar, rate, multiplier)
                    if piece != laws.piece[law]:
                        laws.piece[law] = piece
                        changes += real(1.0)
                line = evaluate(laws, law, c, c_bar, rate)
            if line.held == 1:
                J.value[r] = c - line.hold
                J.defect[r] = c - line.hold
                J.compliance[r] = real(0.0)
                J.rhs[r] = c - line.hold
                worst = wp.max(worst, wp.abs(c - line.hold))
            else:
                J.value[r] = real(0.0)
                J.defect[r] = real(0.0)
                if line.kappa > real(1.0e-12):
                    J.compliance[r] = real(1.0) / line.kappa
                    J.rhs[r] = c - line.a / line.kappa
                    J.defect[r] = c - (line.a + w.multiplier[J.unknown[j] + r - row0]) / line.kappa
                else:
                    J.compliance[r] = GIVEN
                    J.rhs[r] = -line.a
        if gradients:
            if base < w.moving:
                n = wp.transpose(RB) * m.n
                t = w.N[base] * (wp.transpose(RB) * m.base)
                J.on_base[r] = vec6(-n[0], -n[1], -n[2], t[0], t[1], t[2])
            if follower < w.moving:
                n = wp.transpose(RF) * m.n
                t = w.N[follower] * (wp.transpose(RF) * m.follower)
                J.on_follower[r] = vec6(n[0], n[1], n[2], t[0], t[1], t[2])
    return wp.vec2d(worst, changes)


@wp.func
def row_motion(row: vec6, X: vec3, Y: mat34) -> real:
    """What a body's motion Y (body frame) does to a row."""
    v = linear_part(Y) * X + translation_part(Y)
    a = axial(linear_part(Y))
    return row[0] * v[0] + row[1] * v[1] + row[2] * v[2] + row[3] * a[0] + row[4] * a[1] + row[5] * a[2]


@wp.func
def row_force(row: vec6, X: vec3, x: real) -> mat34:
    """Generalised force of a row's multiplier x on a body, body frame."""
    n = vec3(row[0], row[1], row[2]) * x
    t = vec3(row[3], row[4], row[5]) * x
    return compose(wp.outer(n, X) + cross_matrix(t) * real(0.5), n)


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
def add_to_dual(J: Joints, w: Work, e: int, size: int, p: int, q: int, x: real):
    """Add x to row p, column q of the block of coupling e."""
    target = w.pair_target[e]
    stride = w.pair_stride[e]
    if stride > 0 and p == q and w.pair_row[e] / 2 == w.pair_column[e] / 2:
        u = J.unknown[w.pair_row[e] / 2] + p
        w.panels.diagonal[u] = w.panels.diagonal[u] + x
    elif stride > 0:
        at = (target + q) * LANES + row_place(0, stride, w.pair_local[e] + p)
        w.panels.flat[at] = w.panels.flat[at] + x
    elif target >= 0:
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
                add_to_dual(J, w, e, size, p, q, X[p, q])
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
            add_to_dual(J, w, e, size, p, q, wp.dot(row, m))


@wp.func_native(snippet="__builtin_prefetch(&a.data[i]); __builtin_prefetch(&a.data[i + 2]);")
def fetch_rows(a: wp.array(dtype=vec6), i: int):
    """Start to bring the rows of a joint into the cache that are needed soon."""
    ...


@wp.func_native(snippet="for (int k = 0; k < 3; ++k) __builtin_prefetch(&a.data[i + k], 1);")
def fetch_lanes(a: wp.array(dtype=lane), i: int):
    """The same for three columns of a panel."""
    ...


@wp.func
def fetch_coupling(b: Bodies, J: Joints, w: Work, e: int):
    """What `couple` works on."""
    stride = w.pair_stride[e]
    if stride > 0:
        fetch_lanes(w.panels.lanes, w.pair_target[e] + w.pair_local[e] / LANES * stride)
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


@wp.func
def fix_given_rows(J: Joints, joint0: int, joint1: int):
    """Rows of known force when no matrix is assembled: a compliance beyond any body's."""
    for j in range(joint0, joint1):
        for r in range(J.first_row[j], J.first_row[j + 1]):
            if J.compliance[r] < real(0.0):
                J.compliance[r] = real(1.0e12)
                J.rhs[r] = J.rhs[r] * real(1.0e12)


@wp.func
def move_bodies(b: Bodies, w: Work, body0: int, body1: int, keep_turn: bool) -> real:
    """Q -= R Y; returns the largest change of any entry of A."""
    largest = real(0.0)
    for i in range(body0, body1):
        R = b.R[i]
        Y = w.Y[i]
        A = linear_part(Y)
        size = wp.max(wp.max(wp.max(wp.abs(A[0])), wp.max(wp.abs(A[1]))), wp.max(wp.abs(A[2])))
        if largest == largest and not (size <= largest):  # keeps a NaN
            largest = size
        if keep_turn:
            b.k[i] = axial(A)
        b.Q[i] = b.Q[i] - compose(R * A, R * translation_part(Y))
    return largest


@wp.func
def refresh_rotations(b: Bodies, body0: int, body1: int):
    for i in range(body0, body1):
        b.R[i] = polar_rotation(linear_part(b.Q[i]))


@wp.func
def potential(
    b: Bodies, s: Scheme, J: Joints, laws: Laws, w: Work, weight: real, first: bool,
    body0: int, body1: int, joint0: int, joint1: int,
) -> real:  # fmt: skip
    """Merit of the present pose: incremental potential plus weight times the violation of the hard rows."""
    energy = real(0.0)
    for i in range(body0, body1):
        body = b.types[b.kind[i]]
        Q = b.Q[i]
        A = linear_part(Q)
        R = polar_rotation(A)
        b.R[i] = R
        D = Q - b.Q_free[i]
        DA = linear_part(D)
        d = translation_part(D)
        energy += (
            real(0.5)
            * body.inverse_beta2
            * (wp.ddot(DA, scale_columns(DA, body.second_moments)) + body.mass * wp.dot(d, d))
        )
        energy += elastic_energy(body.mu, body.lam, wp.transpose(R) * A - wp.identity(n=3, dtype=real))
        moved = Q - b.Q_past[i]
        energy -= body.mass * wp.dot(s.gravity, translation_part(moved))
        if b.loaded == 1:
            G = b.force[i]
            energy -= wp.ddot(linear_part(G), linear_part(moved)) + wp.dot(translation_part(G), translation_part(moved))
            energy -= real(0.5) * wp.ddot(cross_matrix(b.torque[i]) * R, linear_part(moved))
    rate = real(1.0) / step_beta(s, first)
    for j in range(joint0, joint1):
        linearise_joint(b, s, J, laws, w, j, first, 0, False)
        for r in range(J.first_row[j], J.first_row[j + 1]):
            law = J.law[r]
            energy += weight * wp.abs(J.value[r])
            if law >= 0:
                c_bar = past_average(s, laws, law, first)
                energy += law_potential(laws, law, laws.value[law], c_bar, rate)
    return energy


@cache
def component_engine(size: int) -> SimpleNamespace:
    """The step kernel for components whose joints fit nodes of the given number of rows."""
    blocks = block_cholesky(size)
    Factor = blocks.Factor
    mat = blocks.mat
    vec = blocks.vec
    factorise = blocks.factorise
    substitute = blocks.substitute
    B = wp.constant(size)

    @wp.func
    def assemble(b: Bodies, J: Joints, c: Components, w: Work, f: Factor, k: int) -> real:
        """Dual matrix of component k; returns what was added to its diagonal against redundant rows."""
        node0 = c.node[k]
        node1 = c.node[k + 1]
        if c.reuse[k] == 1:
            clear_panels(w.panels, c.super[k], c.super[k + 1])
        else:
            for n in range(node0, node1):
                f.diagonal[n] = mat()
            for p in range(f.start[node0], f.start[node1]):
                f.lower[p] = mat()
        last = c.pair[k + 1] - 1
        for e in range(c.pair[k], last + 1):
            fetch_coupling(b, J, w, wp.min(e + AHEAD, last))
            couple(b, J, w, e, B)
        largest = real(0.0)
        for u in range(node0 * B, node1 * B):
            largest = wp.max(largest, diagonal_entry(c, w, k, u))
        for j in range(c.joint[k], c.joint[k + 1]):
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                if J.compliance[r] < real(0.0):
                    big = real(1.0e12) * largest
                    J.rhs[r] = J.rhs[r] * big
                    J.compliance[r] = big
                u = J.unknown[j] + r - row0
                set_diagonal(c, w, k, u, diagonal_entry(c, w, k, u) + J.compliance[r])
        floor = real(0.0)
        if c.closed[k] == 1:
            floor = real(1.0e-9) * largest
        for u in range(node0 * B, node1 * B):
            d = diagonal_entry(c, w, k, u)
            if d == real(0.0):
                set_diagonal(c, w, k, u, real(1.0))  # a row that no joint uses
            else:
                set_diagonal(c, w, k, u, d + floor)
        return floor

    @wp.func
    def diagonal_entry(c: Components, w: Work, k: int, u: int) -> real:
        if c.reuse[k] == 1:
            return w.panels.diagonal[u]
        return w.diagonal[u * B + u - (u / B) * B]

    @wp.func
    def set_diagonal(c: Components, w: Work, k: int, u: int, value: real):
        if c.reuse[k] == 1:
            w.panels.diagonal[u] = value
        else:
            w.diagonal[u * B + u - (u / B) * B] = value

    @wp.func
    def count_redundant(c: Components, w: Work, k: int, floor: real):
        """Pivots that only the floor keeps from zero (the factor holds reciprocal square roots)."""
        count = int(0)
        if c.reuse[k] == 1:
            for i in range(w.panels.pivot[c.super[k]], w.panels.pivot[c.super[k + 1]]):
                q = w.panels.inverse[i]
                if q * q * floor * real(30.0) > real(1.0):
                    count += 1
        else:
            for u in range(c.node[k] * B, c.node[k + 1] * B):
                q = diagonal_entry(c, w, k, u)
                if q * q * floor * real(30.0) > real(1.0):
                    count += 1
        c.redundant[k] = count

    @wp.func
    def solve_with_factor(
        c: Components, w: Work, f: Factor, blocks: wp.array(dtype=vec), flat: wp.array(dtype=wp.float64), k: int,
    ):  # fmt: skip
        """flat, the same memory as blocks, <- (L L^T)^-1 flat."""
        if c.reuse[k] == 1:
            solve_panels(w.panels, flat, c.super[k], c.super[k + 1])
        else:
            substitute(f, blocks, c.node[k], c.node[k + 1])

    @wp.func
    def refine(
        b: Bodies, J: Joints, c: Components, w: Work, f: Factor, residual: wp.array(dtype=vec), k: int,
    ):  # fmt: skip
        """w.multiplier <- least-norm solution of D x = w.multiplier by proximal steps x += (D + floor I)^-1 (rhs - D x)."""
        n0 = c.node[k] * B
        n1 = c.node[k + 1] * B
        for u in range(n0, n1):
            w.r[u] = w.multiplier[u]
            w.s[u] = w.r[u]
            w.Dp[u] = real(0.0)
            w.multiplier[u] = real(0.0)
        change = real(0.0)
        before = real(1.0e300)
        size = real(0.0)
        count = int(0)
        going = bool(True)
        while going:
            solve_with_factor(c, w, f, residual, w.s, k)
            change = real(0.0)
            for u in range(n0, n1):
                change = wp.max(change, wp.abs(w.s[u]))
            count += 1
            if change < before:
                for u in range(n0, n1):
                    w.multiplier[u] += w.s[u]
                    size = wp.max(size, wp.abs(w.multiplier[u]))
            going = bool(real(3.0) * change < before and change > real(1.0e-13) * size and count < 10)
            before = change
            if going:
                dual_product(b, J, w, w.multiplier, w.Dp, c.body_start[k], c.body_end[k], c.joint[k], c.joint[k + 1])
                for u in range(n0, n1):
                    w.s[u] = w.r[u] - w.Dp[u]
        c.sweeps[k] = count

    @wp.func
    def conjugate_gradients(
        b: Bodies, J: Joints, c: Components, w: Work, f: Factor, residual: wp.array(dtype=vec), k: int,
    ):  # fmt: skip
        """w.multiplier <- solution of D x = w.multiplier, D applied without the matrix, an older factor as preconditioner.

        What is left of the equations is a gap in metres or radians: sweeps end at a tenth of the joint tolerance.
        """
        n0 = c.node[k] * B
        n1 = c.node[k + 1] * B
        target = real(0.1) * c.joint_tolerance
        for u in range(n0, n1):
            w.r[u] = w.multiplier[u]
            w.s[u] = w.r[u]
            w.Dp[u] = real(0.0)
            w.multiplier[u] = real(0.0)
        solve_with_factor(c, w, f, residual, w.s, k)
        rho = real(0.0)
        for u in range(n0, n1):
            w.p[u] = w.s[u]
            rho += w.r[u] * w.s[u]
        count = int(0)
        left = real(2.0) * target
        while count < MOST_SWEEPS and left > target and rho > real(0.0):
            dual_product(b, J, w, w.p, w.Dp, c.body_start[k], c.body_end[k], c.joint[k], c.joint[k + 1])
            curvature = real(0.0)
            for u in range(n0, n1):
                curvature += w.p[u] * w.Dp[u]
            count += 1
            if curvature > real(0.0):
                alpha = rho / curvature
                left = real(0.0)
                for u in range(n0, n1):
                    w.multiplier[u] += alpha * w.p[u]
                    r = w.r[u] - alpha * w.Dp[u]
                    w.r[u] = r
                    w.s[u] = r
                    left = wp.max(left, wp.abs(r))
                if left > target:
                    solve_with_factor(c, w, f, residual, w.s, k)
                    rho_new = real(0.0)
                    for u in range(n0, n1):
                        rho_new += w.r[u] * w.s[u]
                    ratio = rho_new / rho
                    for u in range(n0, n1):
                        w.p[u] = w.s[u] + ratio * w.p[u]
                    rho = rho_new
            else:
                rho = real(0.0)
        c.sweeps[k] = count

    @wp.func
    def refine_anew(
        c: Components, w: Work, f: Factor, residual: wp.array(dtype=vec), k: int, floor: real,
    ):  # fmt: skip
        """w.multiplier <- solution of D x = w.multiplier by a factor of D + floor I made for this very D.

        A proximal step then leaves floor times itself, without a product by D. Steps end as in `conjugate_gradients`.
        """
        n0 = c.node[k] * B
        n1 = c.node[k + 1] * B
        target = real(0.1) * c.joint_tolerance
        for u in range(n0, n1):
            w.s[u] = w.multiplier[u]
            w.multiplier[u] = real(0.0)
        left = real(2.0) * target
        before = real(1.0e300)
        count = int(0)
        while left > target and real(3.0) * left < before and count < 10:
            before = left
            if count == 0:
                before = real(1.0e300)
            solve_with_factor(c, w, f, residual, w.s, k)
            left = real(0.0)
            for u in range(n0, n1):
                x = w.s[u]
                w.multiplier[u] += x
                w.s[u] = floor * x
                left = wp.max(left, wp.abs(floor * x))
            count += 1
        c.sweeps[k] = count

    @wp.func
    def gather_rhs(J: Joints, w: Work, joint0: int, joint1: int):
        """w.multiplier <- right-hand side of the dual, with w.Y = H^-1 g."""
        for j in range(joint0, joint1):
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                w.multiplier[J.unknown[j] + r - row0] = J.rhs[r] - gathered(J, w, j, r)

    @wp.func
    def newton(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec), k: int, first: bool, strained: bool, leading: bool,
    ) -> wp.vec3d:  # fmt: skip
        """One Newton step of component k from the present pose; leading: the first of its time step.

        Returns the largest change of any entry of A, delta^T H delta (J) and the largest multiplier.
        """
        body0 = c.body_start[k]
        body1 = c.body_end[k]
        joint0 = c.joint[k]
        joint1 = c.joint[k + 1]
        node0 = c.node[k]
        node1 = c.node[k + 1]
        linearise_bodies(b, s, w, body0, body1, strained)
        for j in range(joint0, joint1):
            linearise_joint(b, s, J, laws, w, j, first, 0, True)
        strongest = real(0.0)
        if joint1 > joint0:
            anew = bool(c.reuse[k] == 0 or first or c.wait[k] > 0)
            if not leading and c.sweeps[k] > REUSE_SWEEPS:
                anew = bool(True)
            floor = real(0.0)
            if anew:
                floor = assemble(b, J, c, w, f, k)
                if c.reuse[k] == 1:
                    factor_panels(w.panels, c.super[k], c.super[k + 1])
                else:
                    factorise(f, node0, node1)
                if first and c.closed[k] == 1:
                    count_redundant(c, w, k, floor)
            else:
                fix_given_rows(J, joint0, joint1)
            gather_rhs(J, w, joint0, joint1)
            if c.closed[k] == 0:
                substitute(f, x, node0, node1)
            elif c.reuse[k] == 1:
                if anew:
                    refine_anew(c, w, f, residual, k, floor)
                else:
                    conjugate_gradients(b, J, c, w, f, residual, k)
                if leading:
                    c.wait[k] = wp.max(c.wait[k] - 1, 0)
                if not anew and c.sweeps[k] > REUSE_SWEEPS:
                    c.wait[k] = PATIENCE
            else:
                refine(b, J, c, w, f, residual, k)
            if c.closed[k] == 1:
                for i in range(body0, body1):
                    R = b.R[i]
                    g = gradient(b, s, i, b.types[b.kind[i]], R, strained)
                    b.g[i] = compose(linear_part(g), wp.transpose(R) * translation_part(g))
            for j in range(joint0, joint1):
                row0 = J.first_row[j]
                for r in range(row0, J.first_row[j + 1]):
                    strongest = wp.max(strongest, wp.abs(w.multiplier[J.unknown[j] + r - row0]))
            spread(b, J, w, w.multiplier, joint0, joint1)
            respond(b, w, body0, body1)
        decrease = real(0.0)
        for i in range(body0, body1):
            decrease += wp.ddot(b.g[i], w.Y[i])
        return wp.vec3d(move_bodies(b, w, body0, body1, True), decrease, strongest)

    @wp.func
    def check(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, choose: int,
    ) -> wp.vec2d:  # fmt: skip
        """Largest violation at the present pose and the number of laws that left their piece."""
        refresh_rotations(b, c.body_start[k], c.body_end[k])
        worst = real(0.0)
        changes = real(0.0)
        for j in range(c.joint[k], c.joint[k + 1]):
            m = linearise_joint(b, s, J, laws, w, j, first, choose - int(changes), False)
            worst = wp.max(worst, m[0])
            changes += m[1]
        return wp.vec2d(worst, changes)

    @wp.func
    def merit(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, weight: real,
    ) -> real:  # fmt: skip
        return potential(b, s, J, laws, w, weight, first, c.body_start[k], c.body_end[k], c.joint[k], c.joint[k + 1])

    @wp.func
    def exchange(b: Bodies, c: Components, w: Work, k: int):
        """Swap the pose with the one kept in w.Q_base."""
        for i in range(c.body_start[k], c.body_end[k]):
            Q = w.Q_base[i]
            w.Q_base[i] = b.Q[i]
            b.Q[i] = Q

    @wp.func
    def restart(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, weight: real,
    ):  # fmt: skip
        """Go on from the pose at the start of the step if its merit is below the present one's."""
        for i in range(c.body_start[k], c.body_end[k]):
            w.Q_base[i] = b.Q_past[i]
        best = real(0.0)
        for attempt in range(int(2)):
            here = merit(b, s, J, laws, c, w, k, first, weight)
            if attempt == 0:
                best = here
            if attempt == 0 or not (here < best):
                exchange(b, c, w, k)

    @wp.func
    def search(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work,
        k: int, first: bool, decrease: real, weight: real,
    ) -> real:  # fmt: skip
        """Shorten the step from w.Q_base until the merit falls enough; returns the step length."""
        exchange(b, c, w, k)
        step = real(2.0)
        least = real(0.0)
        halvings = int(-2)
        falling = bool(False)
        while not falling and halvings < 10:
            here = merit(b, s, J, laws, c, w, k, first, weight)
            halvings += 1
            if halvings == -1:
                least = here
                exchange(b, c, w, k)
                step = real(1.0)
            elif here <= least - real(1.0e-4) * step * decrease:
                falling = bool(True)
            elif halvings < 10:
                step *= real(0.5)
                for i in range(c.body_start[k], c.body_end[k]):
                    b.Q[i] = (b.Q[i] + w.Q_base[i]) * real(0.5)
        return step

    @wp.func
    def settle(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        residual: wp.array(dtype=vec), k: int, first: bool, small: bool, used: int,
    ) -> bool:  # fmt: skip
        """Measure the joints at the new pose and, where only their gaps are left, close them; True when all is met.

        Chord corrections: what is left of every row is solved with the factor at hand.
        """
        choose = MANY
        if used > HASTE:
            # changes at once may go round in circles; one by one, the first first, they come to an end (Murty 1974)
            choose = 1
        if s.iterations > 2 * CALM and used > s.iterations - CALM:
            # time is nearly up: close the joints with the pieces at hand
            choose = 0
        before = real(1.0e300)
        worst = real(0.0)
        count = int(0)
        going = bool(True)
        met = bool(False)
        while going:
            state = check(b, s, J, laws, c, w, k, first, choose)
            choose = 0
            worst = state[0]
            going = bool(False)
            if small and state[1] == real(0.0):
                met = bool(worst <= c.joint_tolerance)
                if not met and s.published == 0 and real(3.0) * worst < before and count < 8:
                    before = worst
                    count += 1
                    going = bool(True)
                    for u in range(c.node[k] * B, c.node[k + 1] * B):
                        w.s[u] = real(0.0)
                    for j in range(c.joint[k], c.joint[k + 1]):
                        row0 = J.first_row[j]
                        for r in range(row0, J.first_row[j + 1]):
                            w.s[J.unknown[j] + r - row0] = J.defect[r]
                    solve_with_factor(c, w, f, residual, w.s, k)
                    for i in range(c.body_start[k], c.body_end[k]):
                        b.g[i] = mat34()
                    spread(b, J, w, w.s, c.joint[k], c.joint[k + 1])
                    respond(b, w, c.body_start[k], c.body_end[k])
                    move_bodies(b, w, c.body_start[k], c.body_end[k], False)
                    for u in range(c.node[k] * B, c.node[k + 1] * B):
                        w.multiplier[u] += w.s[u]
        return met

    @wp.func
    def iterate(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec), k: int, first: bool,
    ) -> int:  # fmt: skip
        """Bring component k to the end of the step; returns the iterations used."""
        body0 = c.body_start[k]
        body1 = c.body_end[k]
        for i in range(body0, body1):
            predict(b, s, i, first)
        largest = real(0.0)
        before = real(0.0)
        weight = real(0.0)
        used = int(0)
        searching = bool(False)
        c.searched[k] = 0
        measured = bool(True)
        done = bool(False)
        while not done:
            for i in range(body0, body1):
                w.Q_base[i] = b.Q[i]
            before = largest
            result = newton(b, s, J, laws, c, w, f, x, residual, k, first, used > 0 or s.published == 1, used == 0)
            largest = result[0]
            measured = bool(c.nonlinear[k] == 0)
            used += 1
            if used == 1 and largest > TRUST and s.iterations > 1:
                # far off: go on from the better of this pose and the old one
                searching = bool(True)
                c.searched[k] = 1
                restart(b, s, J, laws, c, w, k, first, real(1.5) * result[2])
                measured = bool(False)
            elif used > 1:
                if largest > TRUST or largest > real(0.3) * before:
                    searching = bool(True)
                if searching and largest > s.update_tolerance:
                    weight = wp.max(weight, real(1.5) * result[2])
                    c.searched[k] = 1
                    largest *= search(b, s, J, laws, c, w, k, first, result[1], weight)
            done = bool(used >= s.iterations or not (largest < real(1.0e3)))
            if not done:
                if c.nonlinear[k] == 0:
                    done = bool(largest <= s.update_tolerance)
                else:
                    done = bool(settle(b, s, J, laws, c, w, f, residual, k, first, largest <= s.update_tolerance, used))
                    measured = bool(True)
                if not done:
                    refresh_rotations(b, body0, body1)
        if used >= s.iterations and s.iterations > 2 * CALM and largest < real(1.0e3):
            # time is up: bodies may be off balance, but joints are to be closed
            settle(b, s, J, laws, c, w, f, residual, k, first, True, used)
            measured = bool(True)
        if s.iterations == 1 and c.nonlinear[k] == 1:
            # a single iteration leaves the choice of pieces to the next step
            check(b, s, J, laws, c, w, k, first, MANY)
        elif not measured:
            check(b, s, J, laws, c, w, k, first, 0)
        if not (largest < real(1.0e3)):
            c.failed[0] = 1 + k
        return used

    @wp.func
    def hit(J: Joints, laws: Laws, c: Components, k: int) -> bool:
        """Whether a coordinate at a limit was not there at the last two steps: their rates say nothing about the next."""
        result = bool(False)
        if c.nonlinear[k] == 1:
            for j in range(c.joint[k], c.joint[k + 1]):
                for r in range(J.first_row[j], J.first_row[j + 1]):
                    law = J.law[r]
                    if law >= 0:
                        piece = laws.piece[law]
                        if piece == AT_LOWER or piece == AT_UPPER:
                            moved = wp.abs(laws.value[law] - laws.past[law]) + wp.abs(laws.past[law] - laws.older[law])
                            if laws.cone[law] == 1:
                                now = swing_size(laws.value, law)
                                past = swing_size(laws.past, law)
                                moved = wp.abs(now - past) + wp.abs(past - swing_size(laws.older, law))
                            if moved > real(10.0) * c.joint_tolerance:
                                result = bool(True)
        return result

    @wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
    def step_components(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec),
    ):  # fmt: skip
        k = wp.tid()
        if c.failed[0] == 0:
            first = bool(c.fresh[k] == 1)
            body0 = c.body_start[k]
            body1 = c.body_end[k]
            used = iterate(b, s, J, laws, c, w, f, x, residual, k, first)
            fresh = int(0)
            if s.euler == 0 and (c.searched[k] == 1 or hit(J, laws, c, k)):
                # BDF2 would carry the speed from before the blow into the next steps: bodies would bounce
                fresh = 1
                if not first:
                    first = bool(True)
                    for i in range(body0, body1):
                        b.Q[i] = b.Q_past[i]
                        b.V[i] = b.V_past[i]
                        b.k[i] = vec3()
                        b.kind[i] = b.kind[i] + s.start_types
                    used += iterate(b, s, J, laws, c, w, f, x, residual, k, True)
            for j in range(c.joint[k], c.joint[k + 1]):
                for r in range(J.first_row[j], J.first_row[j + 1]):
                    law = J.law[r]
                    if law >= 0:
                        laws.older[law] = laws.past[law]
                        laws.past[law] = laws.value[law]
            for i in range(body0, body1):
                finish(b, s, i, first)
                if fresh == 1:
                    b.kind[i] = b.kind[i] + s.start_types
            c.iterations[k] = used
            c.fresh[k] = fresh
            c.steps[k] += 1

    return SimpleNamespace(blocks=blocks, step=step_components)
