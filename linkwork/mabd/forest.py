"""Forests of ball joints, eight bodies at a time: trees of plain balls, or of balls with springs and fixed joints.

The nodes of a tree are its bodies, each with the joint to its parent. Nodes of one height, of several trees or of several
branches of one tree, stand in the lanes of a batch and do everything in step: predict, linearise, eliminate upwards from the
leaves, substitute downwards from the roots.

A joint's unknown is the wrench w it takes from its two bodies, force and torque, as a multiplier of the relative motion of
its two points. Upwards, a node hands its parent the motion of its joint's point: -(u' + S w), with the compliance S of all
that hangs on it. With one child i on point a and its own joint on point b, a body's free motion y = H^-1 g and its
compliances F give, in the body's frame,

    (S_i + F_aa + C) w_i = gap_i + y_a + F_ab w_b     so  w_i = z + W w_b,
    S = F_bb - F_ba W,   y_b <- y_b - F_ba z,

where C is the joint's own compliance: none along a plain ball, that of its springs in rotation. A body with more children
adds their stiffness E^T (S_i + C)^-1 E to its own Hessian instead, so that the cost stays linear in their number.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, real
from linkwork.mabd.bodies import TRUST, Bodies, Scheme, step_beta
from linkwork.mabd.branching import (
    Inertia,
    Motion,
    arm_backward,
    arm_forward,
    arm_inner,
    arm_motion,
    arm_pivoted,
    backward,
    block_factor,
    body_hessian,
    by_entry,
    forward,
    lever,
    mirror,
    pivoted,
    put_arm,
    rows_scaled,
    turn_forward,
)
from linkwork.mabd.coordinates import PI, past_average
from linkwork.mabd.lanes import (
    LANE_OPTIONS,
    LANES,
    Mat,
    Vec,
    apply,
    apply_flipped,
    axial_part,
    columns_scaled,
    conjugate,
    conjugate_back,
    crosser,
    definite_inverse,
    diagonal,
    dyad,
    elastic_energies,
    fetch_ahead,
    flipped,
    geometric_stiffnesses,
    inner,
    inverse_of,
    lane,
    lane_at,
    largest,
    mat_at,
    mat_lane,
    mat_minus,
    mat_plus,
    mat_scaled,
    matrix,
    minus,
    pair_inverse_lanes,
    plus,
    point_compliances,
    polar_rotations,
    product,
    put_mat,
    put_vec,
    rotations,
    scaled,
    small_turns,
    solve_columns,
    spin_compliances,
    stresses,
    stretch_inverse_lanes,
    stretched,
    times,
    total,
    turn_compliances,
    twofold,
    unit,
    vec_at,
    vector,
    without_turns,
)
from linkwork.mabd.laws import Laws, fetch_line, fetch_number, law_potential, line_force
from linkwork.mabd.trees import FREE_ROOT, ON_ANCHOR

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
    round_place: wp.array(dtype=wp.int32)  # per round of a branching batch: place in round_store
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
    R: wp.array(dtype=lane)
    N: wp.array(dtype=lane)  # of strained bodies
    k: wp.array(dtype=lane)  # within a step: geometric stiffness, J; between steps: the last turn, rad
    g: wp.array(dtype=lane)
    record: wp.array(dtype=lane)  # by place: what a node hands its parent
    record_flat: wp.array(dtype=wp.float64)
    solved: wp.array(dtype=lane)  # z and W of the one child, and the inverse of its axes
    wrench: wp.array(dtype=lane)  # of the own joint: w, world, and the multipliers of its rotations
    wrench_flat: wp.array(dtype=wp.float64)
    branches: wp.array(dtype=lane)
    round_store: wp.array(dtype=lane)
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


@wp.func
def masked_rotation(a: Mat, b: Mat, s: lane) -> Mat:
    """a where s is 1, b where it is -1."""
    h = real(0.5)
    one = lane(real(1.0))
    return mat_plus(mat_lane(a, (one + s) * h), mat_lane(b, (one - s) * h))


@wp.func
def inertia_at(f: Forest, c: int, beta: real) -> Inertia:
    r = Inertia()
    scale = real(1.0) / (beta * beta)
    r.moments = scaled(vec_at(f.constants, c), scale)
    r.mass = lane_at(f.constants, c + MASS) * scale
    r.mu = lane_at(f.constants, c + MU)
    r.lam = lane_at(f.constants, c + LAM)
    return r


@wp.func
def strain_of(S: Mat) -> Mat:
    return mat_minus(S, unit())


@wp.func
def predict_batch(forest: wp.array(dtype=Forest), s: Scheme, batch: int, c: int, first: bool):
    """Store the past, form q~ and advance the poses as rigid bodies, as `predict` of bodies.py does."""
    f = forest[0]
    q = batch * 12
    A = mat_at(f.Q, q)
    t = vec_at(f.Q, q + 9)
    W = mat_at(f.V, q)
    v = vec_at(f.V, q + 9)
    beta = step_beta(s, first)
    if s.published == 1:
        put_mat(f.Q_free, q, mat_plus(A, mat_scaled(W, beta)))
        put_vec(f.Q_free, q + 9, plus(t, scaled(v, beta)))
        put_mat(f.V, q, A)
        put_vec(f.V, q + 9, t)
        return
    R = polar_rotations(A)
    half = real(0.5)
    strain = without_turns(strain_of(product(flipped(R), A)), vec_at(f.k, batch * 3))
    put_vec(
        f.k,
        batch * 3,
        geometric_stiffnesses(stresses(lane_at(f.constants, c + MU), lane_at(f.constants, c + LAM), strain)),
    )
    w = axial_part(product(W, flipped(R)))
    ahead = v
    if s.euler == 1 or first:
        put_mat(f.Q_free, q, mat_plus(A, mat_scaled(W, beta)))
        put_vec(f.Q_free, q + 9, plus(t, scaled(v, beta)))
        put_mat(f.V, q, A)
        put_vec(f.V, q + 9, t)
    else:
        Ap = mat_at(f.Q_past, q)
        tp = vec_at(f.Q_past, q + 9)
        Wp = mat_at(f.V_past, q)
        vp = vec_at(f.V_past, q + 9)
        A_bar = mat_minus(mat_scaled(A, FOUR_THIRDS), mat_scaled(Ap, THIRD))
        t_bar = minus(scaled(t, FOUR_THIRDS), scaled(tp, THIRD))
        rate = mat_minus(mat_scaled(W, FOUR_THIRDS), mat_scaled(Wp, THIRD))
        put_mat(f.Q_free, q, mat_plus(A_bar, mat_scaled(rate, beta)))
        put_vec(f.Q_free, q + 9, plus(t_bar, scaled(minus(scaled(v, FOUR_THIRDS), scaled(vp, THIRD)), beta)))
        put_mat(f.V, q, A_bar)
        put_vec(f.V, q + 9, t_bar)
        w_past = axial_part(product(Wp, flipped(Ap)))
        w = minus(scaled(w, real(1.5)), scaled(w_past, half))
        ahead = minus(scaled(v, real(1.5)), scaled(vp, half))
    put_mat(f.Q_past, q, A)
    put_vec(f.Q_past, q + 9, t)
    put_mat(f.V_past, q, W)
    put_vec(f.V_past, q + 9, v)
    R = product(rotations(scaled(w, s.h)), R)
    put_mat(f.R, batch * 9, R)
    put_mat(f.Q, q, R)
    put_vec(f.Q, q + 9, plus(t, scaled(ahead, s.h)))


@wp.struct
class Coordinates:
    """Swing and twist of a ball, or the three turns of a fixed joint; axes as rows, in the base's joint frame."""

    value: Vec
    axes: Mat


@wp.func
def relative_turn(M: Mat, fixed: lane) -> Coordinates:
    """Coordinates of M = B^T F and their axes, as in joints.py."""
    r = Coordinates()
    a = lane()
    slope_xy = lane()
    slope_z = lane()
    angle = lane()
    sine = M.yx - M.xy
    cosine = M.xx + M.yy
    rho2 = times(M.xz, M.xz) + times(M.yz, M.yz)
    for k in range(LANES):
        a[k] = real(1.0) + rho2[k] / real(6.0)
        slope_xy[k] = THIRD
        if rho2[k] > real(1.0e-8) or M.zz[k] < real(0.0):
            square = wp.max(rho2[k], real(1.0e-18))
            rho = wp.sqrt(square)
            a[k] = wp.atan2(rho, M.zz[k]) / rho
            slope_xy[k] = (M.zz[k] - a[k]) / square
            slope_z[k] = real(-1.0)
        angle[k] = wp.atan2(sine[k], cosine[k])
    x = M.xz
    y = M.yz
    z = M.zz
    zero = lane()
    wx = vector(zero, z, -y)
    wy = vector(-z, zero, x)
    wz = vector(y, -x, zero)
    wa = plus(stretched(plus(stretched(wx, x), stretched(wy, y)), slope_xy), stretched(wz, slope_z))
    first = plus(stretched(wy, a), stretched(wa, y))
    second = plus(stretched(wx, a), stretched(wa, x))
    ws = vector(-M.zx, -M.zy, M.xx + M.yy)
    wc = vector(-M.zy, M.zx, M.xy - M.yx)
    size = lane(real(1.0))
    size = wp.cw_div(size, wp.max(times(sine, sine) + times(cosine, cosine), lane(real(1.0e-18))))
    third = stretched(minus(stretched(ws, cosine), stretched(wc, sine)), size)
    r.value = vector(-times(a, y), times(a, x), angle)
    r.axes = matrix(
        -first.x, -first.y, -first.z, second.x, second.y, second.z, third.x, third.y, third.z
    )  # fmt: skip
    if largest(fixed) > real(0.0):
        trace = M.xx + M.yy + M.zz
        axes = mat_scaled(mat_minus(diagonal(trace), M), real(0.5))
        value = axial_part(M)
        ball = lane(real(1.0)) - fixed
        r.axes = mat_plus(mat_lane(r.axes, ball), mat_lane(axes, fixed))
        r.value = plus(stretched(r.value, ball), stretched(value, fixed))
    return r


@wp.func
def unwrapped(value: real, reference: real) -> real:
    return value + real(2.0) * PI * wp.round((reference - value) / (real(2.0) * PI))


@wp.struct
class Springs:
    """A joint's rotational compliance and gap in the frame of its parent, and the inverse of its axes there."""

    compliance: Mat
    gap: Vec
    inverse: Mat


@wp.func
def springs_of(
    forest: wp.array(dtype=Forest), s: Scheme, first: bool, sign: lane, fixed: lane, child_frame: Mat, parent_frame: Mat,
    slots: int, direct: int,
) -> Springs:  # fmt: skip
    """Frames in the parent's axes; slots: where f.child lists the joints' slots, or their first slot if direct is 1."""
    f = forest[0]
    B = masked_rotation(parent_frame, child_frame, sign)
    F = masked_rotation(child_frame, parent_frame, sign)
    turn = relative_turn(product(flipped(B), F), fixed)
    inverse = mat_lane(product(B, inverse_of(turn.axes)), sign)
    sx = lane(real(1.0))
    sy = lane(real(1.0))
    sz = lane(real(1.0))
    ex = lane()
    ey = lane()
    ez = lane()
    rate = real(1.0) / step_beta(s, first)
    for k in range(LANES):
        slot = slots + k
        if direct == 0:
            slot = f.child[slots + k]
        if slot >= 0:
            i = f.law[slot]
            if i >= 0:
                x = unwrapped(turn.value.x[k], f.laws.past[i])
                line = line_force(f.laws, i, x, past_average(s, f.laws, i, first), rate)
                kappa = wp.max(line.kappa, LEAST_STIFFNESS)
                sx[k] = real(1.0) / kappa
                ex[k] = x - line.a / kappa
                x = unwrapped(turn.value.y[k], f.laws.past[i + 1])
                line = line_force(f.laws, i + 1, x, past_average(s, f.laws, i + 1, first), rate)
                kappa = wp.max(line.kappa, LEAST_STIFFNESS)
                sy[k] = real(1.0) / kappa
                ey[k] = x - line.a / kappa
                x = unwrapped(turn.value.z[k], f.laws.past[i + 2])
                line = line_force(f.laws, i + 2, x, past_average(s, f.laws, i + 2, first), rate)
                kappa = wp.max(line.kappa, LEAST_STIFFNESS)
                sz[k] = real(1.0) / kappa
                ez[k] = x - line.a / kappa
            else:
                sx[k] = real(0.0)
                sy[k] = real(0.0)
                sz[k] = real(0.0)
                ex[k] = turn.value.x[k]
                ey[k] = turn.value.y[k]
                ez[k] = turn.value.z[k]
    r = Springs()
    r.inverse = inverse
    r.compliance = product(columns_scaled(inverse, vector(sx, sy, sz)), flipped(inverse))
    r.gap = apply(inverse, vector(ex, ey, ez))
    return r


@wp.func
def visit_laws(
    forest: wp.array(dtype=Forest), s: Scheme, first: bool, sign: lane, fixed: lane, child_frame: Mat, parent_frame: Mat,
    slots: int, direct: int, batch: int, weight: real, store: bool,
) -> real:  # fmt: skip
    """Potential of a round of joints at the present pose, or, when values are stored, their largest violation."""
    f = forest[0]
    B = masked_rotation(parent_frame, child_frame, sign)
    F = masked_rotation(child_frame, parent_frame, sign)
    turn = relative_turn(product(flipped(B), F), fixed)
    rate = real(1.0) / step_beta(s, first)
    result = real(0.0)
    for k in range(LANES):
        slot = slots + k
        if direct == 0:
            slot = f.child[slots + k]
        if slot >= 0 and f.counted[batch * LANES + k] == 1:
            i = f.law[slot]
            for r in range(3):
                x = turn.value.x[k]
                if r == 1:
                    x = turn.value.y[k]
                elif r == 2:
                    x = turn.value.z[k]
                if i < 0:
                    if store:
                        result = wp.max(result, wp.abs(x))
                    else:
                        result += weight * wp.abs(x)
                else:
                    x = unwrapped(x, f.laws.past[i + r])
                    if store:
                        f.laws.value[i + r] = x
                    else:
                        result += law_potential(f.laws, i + r, x, past_average(s, f.laws, i + r, first), rate)
    return result


@wp.struct
class System:
    """Compliance of a joint's point, push and turn, its motion (v, t), and the inverse of the joint's axes."""

    vv: Mat
    vt: Mat
    tt: Mat
    v: Vec
    t: Vec
    inverse: Mat


@wp.struct
class Solver:
    """Inverse of [A, B; B^T, C] by blocks: A^-1, X = A^-1 B and (C - B^T X)^-1."""

    A: Mat
    X: Mat
    C: Mat


@wp.func
def solver_of(A: Mat, B: Mat, C: Mat) -> Solver:
    r = Solver()
    r.A = definite_inverse(A)
    r.X = product(r.A, B)
    r.C = definite_inverse(mat_minus(C, product(flipped(B), r.X)))
    return r


@wp.func
def solve_turn(x: Solver, v: Vec, t: Vec) -> Vec:
    return apply(x.C, minus(t, apply_flipped(x.X, v)))


@wp.func
def solve_push(x: Solver, v: Vec, turn: Vec) -> Vec:
    """The other half of the solution, when its turn is known."""
    return minus(apply(x.A, v), apply(x.X, turn))


@wp.func
def mat_solve_turn(x: Solver, v: Mat, t: Mat) -> Mat:
    return product(x.C, mat_minus(t, product(flipped(x.X), v)))


@wp.func
def mat_solve_push(x: Solver, v: Mat, turn: Mat) -> Mat:
    return mat_minus(product(x.A, v), product(x.X, turn))


@cache
def forest_engine(rows: int) -> SimpleNamespace:
    """The step kernel for forests of plain balls (3 rows a joint) or of elastic balls and fixed joints (6)."""
    TURNS = rows == 6
    RECORD = wp.constant(42 if TURNS else 12)  # u, S; with springs S_vt, S_tt, turn and frame
    # places in a record
    U = wp.constant(0)
    S_VV = wp.constant(3)
    S_VT = wp.constant(12)
    S_TT = wp.constant(21)
    SPUN = wp.constant(30)
    FACE = wp.constant(33)
    SOLVED = wp.constant(rows * rows + rows + (9 if TURNS else 0))  # z, W, inverse axes
    WRENCH = wp.constant(rows + (3 if TURNS else 0))
    STORE = wp.constant(
        42 if TURNS else 12
    )  # gap and D^-1 of a child of a branching body; with springs the inverse axes
    BRANCH = wp.constant(12 + 12 * rows)  # y and Z

    @wp.func
    def record_of(forest: wp.array(dtype=Forest), group: int, round: int, start: int) -> int:
        """Where the records of a round of children stand; those of scattered children are collected from entry start."""
        f = forest[0]
        source = f.source[round]
        if source >= 0:
            return f.place[source] * RECORD
        record = (f.gathered_record + group * f.own_scratch) * RECORD
        for k in range(LANES):
            slot = wp.max(f.child[round * LANES + k], 0)
            batch = slot / LANES
            at = f.place[batch] * RECORD * LANES + slot - batch * LANES
            for e in range(start, f.record_width):
                f.record_flat[(record + e) * LANES + k] = f.record_flat[at + e * LANES]
        return record

    @wp.func
    def linearise(s: Scheme, forest: wp.array(dtype=Forest), batch: int, c: int, first: bool, strained: bool):
        """R, N and the gradient g of a batch: columns of A in the body's frame, translation in the world's."""
        f = forest[0]
        q = batch * 12
        A = mat_at(f.Q, q)
        R = mat_at(f.R, batch * 9)
        beta = step_beta(s, first)
        own = inertia_at(f, c, beta)
        J = own.moments
        DA = mat_minus(A, mat_at(f.Q_free, q))
        if strained:
            R = polar_rotations(A)
            put_mat(f.R, batch * 9, R)
            S = product(flipped(R), A)
            strain = strain_of(S)
            stress = stresses(own.mu, own.lam, strain)
            turn = small_turns(vec_at(f.k, batch * 3), TRUST)
            k = geometric_stiffnesses(stresses(own.mu, own.lam, without_turns(strain, turn)))
            if s.published == 1:
                k = Vec()
            put_vec(f.k, batch * 3, k)
            G = mat_plus(product(flipped(R), columns_scaled(DA, J)), stress)
            if wp.static(TURNS):
                N = inverse_of(mat_scaled(mat_minus(diagonal(S.xx + S.yy + S.zz), S), real(0.5)))
                put_mat(f.N, batch * 9, N)
        else:
            G = product(flipped(R), columns_scaled(DA, J))
        g = stretched(minus(vec_at(f.Q, q + 9), vec_at(f.Q_free, q + 9)), own.mass)
        pull = own.mass * (beta * beta)
        g = minus(g, vector(pull * s.gravity[0], pull * s.gravity[1], pull * s.gravity[2]))
        if f.b.loaded == 1:
            loads = batch * LOADS
            g = minus(g, vec_at(f.loads, loads))
            torque = apply_flipped(R, vec_at(f.loads, loads + 3))
            G = mat_minus(G, mat_scaled(crosser(torque), real(0.5)))
            if f.levers[0] == 1:
                G = mat_minus(G, product(flipped(R), mat_at(f.loads, loads + 6)))
        put_mat(f.g, q, G)
        put_vec(f.g, q + 9, g)

    @wp.func
    def child_system(
        s: Scheme, forest: wp.array(dtype=Forest), R: Mat, record: int, j: int, slots: int, first: bool
    ) -> System:
        """S_i + C of a round of children in the parent's frame and their gaps, the parent held still, to its origin."""
        f = forest[0]
        r = System()
        r.vv = conjugate_back(R, mat_at(f.record, record + S_VV))
        r.v = apply_flipped(R, vec_at(f.record, record + U))
        if wp.static(TURNS):
            frame = product(flipped(R), mat_at(f.record, record + FACE))
            springs = springs_of(
                forest, s, first, lane_at(f.joint_constants, j + SIGN), lane_at(f.joint_constants, j + FIXED),
                frame, mat_at(f.joint_constants, j + PARENT_FRAME), slots, 0,
            )  # fmt: skip
            r.vt = conjugate_back(R, mat_at(f.record, record + S_VT))
            r.tt = mat_plus(conjugate_back(R, mat_at(f.record, record + S_TT)), springs.compliance)
            r.t = plus(apply_flipped(R, vec_at(f.record, record + SPUN)), springs.gap)
            r.inverse = springs.inverse
        return r

    @wp.func
    def hand_on(forest: wp.array(dtype=Forest), batch: int, c: int, R: Mat, own: System):
        """Record of a batch from its compliance and the free motion of its joint's point, all in the body's frame."""
        f = forest[0]
        record = f.place[batch] * RECORD
        point = plus(apply(mat_at(f.Q, batch * 12), vec_at(f.constants, c + POINT)), vec_at(f.Q, batch * 12 + 9))
        put_vec(f.record, record + U, minus(point, apply(R, own.v)))
        put_mat(f.record, record + S_VV, conjugate(R, own.vv))
        if wp.static(TURNS):
            put_mat(f.record, record + S_VT, conjugate(R, own.vt))
            put_mat(f.record, record + S_TT, conjugate(R, own.tt))
            put_vec(f.record, record + SPUN, scaled(apply(R, own.t), real(-1.0)))
            put_mat(f.record, record + FACE, product(R, mat_at(f.constants, c + FRAME)))

    @wp.func
    def close(s: Scheme, forest: wp.array(dtype=Forest), batch: int, first: bool):
        """Wrench of joints on anchors, world frame."""
        f = forest[0]
        record = f.place[batch] * RECORD
        a = f.anchor[batch] * 12
        r = System()
        r.vv = mat_at(f.record, record + S_VV)
        r.v = minus(vec_at(f.record, record + U), vec_at(f.anchors, a))
        if wp.static(TURNS):
            c = f.table[batch] * f.width
            springs = springs_of(
                forest, s, first, lane_at(f.constants, c + OWN_SIGN), lane_at(f.constants, c + OWN_FIXED),
                mat_at(f.record, record + FACE), mat_at(f.anchors, a + 3), batch * LANES, 1,
            )  # fmt: skip
            r.vt = mat_at(f.record, record + S_VT)
            r.tt = mat_plus(mat_at(f.record, record + S_TT), springs.compliance)
            r.t = plus(vec_at(f.record, record + SPUN), springs.gap)
            x = solver_of(r.vv, r.vt, r.tt)
            turn = solve_turn(x, r.v, r.t)
            put_vec(f.wrench, batch * WRENCH, solve_push(x, r.v, turn))
            put_vec(f.wrench, batch * WRENCH + 3, turn)
            put_vec(f.wrench, batch * WRENCH + 6, apply_flipped(springs.inverse, turn))
        else:
            put_vec(f.wrench, batch * WRENCH, apply(definite_inverse(r.vv), r.v))

    @wp.func
    def climb_path(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, group: int, c: int, first: bool, strained: bool,
    ):  # fmt: skip
        """Bodies with at most one child: the dual recursion."""
        f = forest[0]
        R = mat_at(f.R, batch * 9)
        inertia = inertia_at(f, c, step_beta(s, first))
        P = pair_inverse_lanes(inertia.moments, inertia.mu, vec_at(f.k, batch * 3))
        T = stretch_inverse_lanes(inertia.moments, inertia.mu, inertia.lam)
        tau = wp.cw_div(lane(real(1.0)), inertia.mass)
        Yl = solve_columns(T, P, mat_at(f.g, batch * 12))
        yt = apply_flipped(R, stretched(vec_at(f.g, batch * 12 + 9), tau))
        b = vec_at(f.constants, c + POINT)
        own = System()
        own.vv = point_compliances(T, P, tau, b, b)
        own.v = plus(apply(Yl, b), yt)
        N = unit()
        K = Mat()
        if wp.static(TURNS):
            if strained:
                N = mat_at(f.N, batch * 9)
            own.vt = product(turn_compliances(P, b), N)
            own.tt = product(columns_scaled(N, spin_compliances(P)), N)
            own.t = apply(N, axial_part(Yl))
            K = own.tt
        hangs = f.hangs[batch]
        if f.rounds[batch] == 1:
            round = f.first_round[batch]
            record = record_of(forest, group, round, 0)
            j = f.joint_table[round] * f.joint_width
            child = child_system(s, forest, R, record, j, round * LANES, first)
            a = vec_at(f.joint_constants, j + PARENT_POINT)
            at_a = plus(apply(mat_at(f.Q, batch * 12), a), vec_at(f.Q, batch * 12 + 9))
            gap = minus(child.v, minus(apply_flipped(R, at_a), plus(apply(Yl, a), yt)))
            D = mat_plus(child.vv, point_compliances(T, P, tau, a, a))
            F = point_compliances(T, P, tau, a, b)
            solved = batch * SOLVED
            if wp.static(TURNS):
                Ua = product(turn_compliances(P, a), N)
                x = solver_of(D, mat_plus(child.vt, Ua), mat_plus(child.tt, K))
                turn = plus(child.t, own.t)
                zt = solve_turn(x, gap, turn)
                zv = solve_push(x, gap, zt)
                put_vec(f.solved, solved, zv)
                put_vec(f.solved, solved + 3, zt)
                put_mat(f.solved, solved + 42, child.inverse)
                if hangs != FREE_ROOT:
                    # F_ab = [F, Ua; Ub^T, K] by columns
                    H = flipped(own.vt)
                    Ft = flipped(F)
                    Wtv = mat_solve_turn(x, F, H)
                    Wvv = mat_solve_push(x, F, Wtv)
                    Wtt = mat_solve_turn(x, Ua, K)
                    Wvt = mat_solve_push(x, Ua, Wtt)
                    put_mat(f.solved, solved + 6, Wvv)
                    put_mat(f.solved, solved + 15, Wvt)
                    put_mat(f.solved, solved + 24, Wtv)
                    put_mat(f.solved, solved + 33, Wtt)
                    own.v = minus(own.v, plus(apply(Ft, zv), apply_flipped(H, zt)))
                    own.t = minus(own.t, plus(apply_flipped(Ua, zv), apply_flipped(K, zt)))
                    own.vv = mat_minus(own.vv, mat_plus(product(Ft, Wvv), product(own.vt, Wtv)))
                    own.vt = mat_minus(own.vt, mat_plus(product(Ft, Wvt), product(flipped(H), Wtt)))
                    own.tt = mat_minus(own.tt, mat_plus(product(flipped(Ua), Wvt), product(flipped(K), Wtt)))
            else:
                D_inverse = definite_inverse(D)
                z = apply(D_inverse, gap)
                put_vec(f.solved, solved, z)
                if hangs != FREE_ROOT:
                    W = product(D_inverse, F)
                    put_mat(f.solved, solved + 3, W)
                    Ft = flipped(F)
                    own.v = minus(own.v, apply(Ft, z))
                    own.vv = mat_minus(own.vv, product(Ft, W))
        if hangs != FREE_ROOT:
            hand_on(forest, batch, c, R, own)

    @wp.func
    def climb_branching(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, group: int, c: int, first: bool, strained: bool,
    ):  # fmt: skip
        """Bodies with more children: their stiffness joins the body's Hessian over t, a, s, p, where Y = [a]x + sym(s, p)."""
        f = forest[0]
        R = mat_at(f.R, batch * 9)
        N = unit()
        if wp.static(TURNS):
            if strained:
                N = mat_at(f.N, batch * 9)
        H = body_hessian(inertia_at(f, c, step_beta(s, first)), vec_at(f.k, batch * 3))
        G = mat_at(f.g, batch * 12)
        y = Motion()
        y.t = apply_flipped(R, vec_at(f.g, batch * 12 + 9))
        y.a = vector(G.zy - G.yz, G.xz - G.zx, G.yx - G.xy)
        y.s = vector(G.xx, G.yy, G.zz)
        y.p = vector(G.zy + G.yz, G.xz + G.zx, G.yx + G.xy)
        for m in range(f.rounds[batch]):
            round = f.first_round[batch] + m
            j = f.joint_table[round] * f.joint_width
            child = child_system(s, forest, R, record_of(forest, group, round, 0), j, round * LANES, first)
            a = vec_at(f.joint_constants, j + PARENT_POINT)
            at_a = plus(apply(mat_at(f.Q, batch * 12), a), vec_at(f.Q, batch * 12 + 9))
            gap = minus(child.v, apply_flipped(R, at_a))
            here = lane(real(1.0))
            for k in range(LANES):
                if f.child[round * LANES + k] < 0:
                    here[k] = real(0.0)
            store = f.round_place[round] * STORE
            X = lever(a)
            S = mirror(a)
            K = definite_inverse(child.vv)
            if wp.static(TURNS):
                # D^-1 of D = [vv, vt; vt^T, tt]
                x = solver_of(child.vv, child.vt, child.tt)
                Ktt = mat_lane(x.C, here)
                Kvt = mat_scaled(product(x.X, Ktt), real(-1.0))
                K = mat_minus(mat_lane(x.A, here), product(Kvt, flipped(x.X)))
                push = plus(apply(K, gap), apply(Kvt, child.t))
                turn = plus(apply_flipped(Kvt, gap), apply(Ktt, child.t))
                put_vec(f.round_store, store, gap)
                put_mat(f.round_store, store + 3, K)
                put_vec(f.round_store, store + 12, child.t)
                put_mat(f.round_store, store + 15, Kvt)
                put_mat(f.round_store, store + 24, Ktt)
                put_mat(f.round_store, store + 33, child.inverse)
                y.a = minus(y.a, apply_flipped(N, turn))
                by_turn = mat_plus(product(K, X), product(Kvt, N))
                spin = mat_plus(product(flipped(Kvt), X), product(Ktt, N))
                H.aa = mat_plus(H.aa, product(flipped(N), spin))
            else:
                K = mat_lane(K, here)
                push = apply(K, gap)
                put_vec(f.round_store, store, gap)
                put_mat(f.round_store, store + 3, K)
                by_turn = product(K, X)
            y.t = minus(y.t, push)
            y.a = minus(y.a, apply_flipped(X, push))
            y.s = minus(y.s, by_entry(a, push))
            y.p = minus(y.p, apply(S, push))
            by_stretch = columns_scaled(K, a)
            by_shear = product(K, S)
            H.tt = mat_plus(H.tt, K)
            H.at = mat_plus(H.at, flipped(by_turn))
            H.st = mat_plus(H.st, flipped(by_stretch))
            H.pt = mat_plus(H.pt, flipped(by_shear))
            H.aa = mat_plus(H.aa, product(flipped(X), by_turn))
            H.sa = mat_plus(H.sa, rows_scaled(by_turn, a))
            H.pa = mat_plus(H.pa, product(S, by_turn))
            H.ss = mat_plus(H.ss, rows_scaled(by_stretch, a))
            H.ps = mat_plus(H.ps, product(S, by_stretch))
            H.pp = mat_plus(H.pp, product(S, by_shear))
        F = block_factor(H)
        y = forward(F, y)
        rest = pivoted(F, y)
        place = f.branching[batch] * BRANCH
        if f.hangs[batch] != FREE_ROOT:
            own = vec_at(f.constants, c + POINT)
            U = arm_forward(F, own)
            V = arm_pivoted(F, U)
            motion = System()
            motion.vv = arm_inner(U, V)
            motion.v = arm_motion(U, rest)
            if wp.static(TURNS):
                W = turn_forward(F, N)
                Z = arm_pivoted(F, W)
                motion.vt = arm_inner(U, Z)
                motion.tt = arm_inner(W, Z)
                motion.t = arm_motion(W, rest)
                put_arm(f.branches, place + 48, arm_backward(F, Z))
            put_arm(f.branches, place + 12, arm_backward(F, V))
            hand_on(forest, batch, c, R, motion)
        y = backward(F, rest)
        put_vec(f.branches, place, y.t)
        put_vec(f.branches, place + 3, y.a)
        put_vec(f.branches, place + 6, y.s)
        put_vec(f.branches, place + 9, y.p)

    @wp.func
    def hand_down(forest: wp.array(dtype=Forest), round: int, w: int):
        """Write the wrenches at f.scratch[w:] to the children of a round."""
        f = forest[0]
        source = f.source[round]
        for e in range(f.wrench_width):
            x = f.scratch[w + e]
            if source >= 0:
                f.wrench[source * WRENCH + e] = x
            else:
                for k in range(LANES):
                    slot = f.child[round * LANES + k]
                    if slot >= 0:
                        batch = slot / LANES
                        f.wrench_flat[(batch * WRENCH + e) * LANES + slot - batch * LANES] = x[k]

    @wp.func
    def measure_joints(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, c: int, first: bool, R: Mat
    ) -> real:  # fmt: skip
        """Store the values of a batch's own joints at its new rotation R; returns their largest violation.

        The parents are done before: each leaves its side of the joint where the record of the child has been.
        """
        f = forest[0]
        worst = real(0.0)
        face = f.place[batch] * RECORD + FACE
        if f.hangs[batch] != FREE_ROOT:
            other = mat_at(f.record, face)
            if f.hangs[batch] == ON_ANCHOR:
                other = mat_at(f.anchors, f.anchor[batch] * 12 + 3)
            frame = product(R, mat_at(f.constants, c + FRAME))
            worst = visit_laws(
                forest, s, first, lane_at(f.constants, c + OWN_SIGN), lane_at(f.constants, c + OWN_FIXED),
                frame, other, batch * LANES, 1, batch, real(0.0), True,
            )  # fmt: skip
        for m in range(f.rounds[batch]):
            round = f.first_round[batch] + m
            j = f.joint_table[round] * f.joint_width
            frame = product(R, mat_at(f.joint_constants, j + PARENT_FRAME))
            source = f.source[round]
            if source >= 0:
                put_mat(f.record, f.place[source] * RECORD + FACE, frame)
            else:
                put_mat(f.record, f.gathered_record * RECORD + FACE, frame)
                for k in range(LANES):
                    slot = f.child[round * LANES + k]
                    if slot >= 0:
                        child = slot / LANES
                        to = (f.place[child] * RECORD + FACE) * LANES + slot - child * LANES
                        at = (f.gathered_record * RECORD + FACE) * LANES + k
                        for e in range(f.frame_width):
                            f.record_flat[to + e * LANES] = f.record_flat[at + e * LANES]
        return worst

    @wp.func
    def descend(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, work: int, c: int, first: bool, strained: bool, again: bool
    ) -> wp.vec3d:  # fmt: skip
        """Wrenches of the children, the new pose and its joints; returns what `newton` does."""
        f = forest[0]
        q = batch * 12
        R = mat_at(f.R, batch * 9)
        N = unit()
        if wp.static(TURNS):
            if strained:
                N = mat_at(f.N, batch * 9)
        beta = step_beta(s, first)
        inertia = inertia_at(f, c, beta)
        J = inertia.moments
        stiff = vec_at(f.k, batch * 3)
        force = Vec()
        torque = Vec()
        for k in range(f.filled[batch], LANES):
            for e in range(f.wrench_width):
                at_lane = (batch * WRENCH + e) * LANES
                f.wrench_flat[at_lane + k] = f.wrench_flat[at_lane + f.filled[batch] - 1]
        if f.hangs[batch] != FREE_ROOT:
            force = apply_flipped(R, vec_at(f.wrench, batch * WRENCH))
            if wp.static(TURNS):
                torque = apply_flipped(R, vec_at(f.wrench, batch * WRENCH + 3))
        Yl = Mat()
        yt = Vec()
        w = work
        if f.rounds[batch] <= 1:
            pull = force
            G = mat_plus(mat_at(f.g, q), dyad(force, vec_at(f.constants, c + POINT)))
            if f.rounds[batch] == 1:
                round = f.first_round[batch]
                solved = batch * SOLVED
                fa = vec_at(f.solved, solved)
                ta = Vec()
                if wp.static(TURNS):
                    ta = vec_at(f.solved, solved + 3)
                if f.hangs[batch] != FREE_ROOT:
                    if wp.static(TURNS):
                        own = plus(
                            apply(mat_at(f.solved, solved + 6), force), apply(mat_at(f.solved, solved + 15), torque)
                        )
                        fa = plus(fa, own)
                        own = plus(
                            apply(mat_at(f.solved, solved + 24), force), apply(mat_at(f.solved, solved + 33), torque)
                        )
                        ta = plus(ta, own)
                    else:
                        fa = plus(fa, apply(mat_at(f.solved, solved + 3), force))
                a = vec_at(f.joint_constants, f.joint_table[round] * f.joint_width + PARENT_POINT)
                G = mat_minus(G, dyad(fa, a))
                pull = minus(pull, fa)
                put_vec(f.scratch, w, apply(R, fa))
                if wp.static(TURNS):
                    torque = minus(torque, ta)
                    put_vec(f.scratch, w + 3, apply(R, ta))
                    inverse = mat_at(f.solved, solved + 42)
                    put_vec(f.scratch, w + 6, apply_flipped(inverse, ta))
                hand_down(forest, round, w)
            if wp.static(TURNS):
                G = mat_plus(G, mat_scaled(crosser(apply(N, torque)), real(0.5)))
            T = stretch_inverse_lanes(J, inertia.mu, inertia.lam)
            Yl = solve_columns(T, pair_inverse_lanes(J, inertia.mu, stiff), G)
            yt = plus(vec_at(f.g, q + 9), apply(R, pull))
            yt = stretched(yt, wp.cw_div(lane(real(1.0)), inertia.mass))
        else:
            place = f.branching[batch] * BRANCH
            shift = vec_at(f.branches, place)
            a = vec_at(f.branches, place + 3)
            d = vec_at(f.branches, place + 6)
            p = vec_at(f.branches, place + 9)
            if f.hangs[batch] != FREE_ROOT:
                shift = plus(shift, apply(mat_at(f.branches, place + 12), force))
                a = plus(a, apply(mat_at(f.branches, place + 21), force))
                d = plus(d, apply(mat_at(f.branches, place + 30), force))
                p = plus(p, apply(mat_at(f.branches, place + 39), force))
                if wp.static(TURNS):
                    shift = plus(shift, apply(mat_at(f.branches, place + 48), torque))
                    a = plus(a, apply(mat_at(f.branches, place + 57), torque))
                    d = plus(d, apply(mat_at(f.branches, place + 66), torque))
                    p = plus(p, apply(mat_at(f.branches, place + 75), torque))
            Yl = matrix(d.x, p.z - a.z, p.y + a.y, p.z + a.z, d.y, p.x - a.x, p.y - a.y, p.x + a.x, d.z)
            yt = apply(R, shift)
            for m in range(f.rounds[batch]):
                round = f.first_round[batch] + m
                store = f.round_place[round] * STORE
                arm = vec_at(f.joint_constants, f.joint_table[round] * f.joint_width + PARENT_POINT)
                moved = plus(vec_at(f.round_store, store), plus(apply(Yl, arm), shift))
                fa = apply(mat_at(f.round_store, store + 3), moved)
                if wp.static(TURNS):
                    Kvt = mat_at(f.round_store, store + 15)
                    turned = plus(vec_at(f.round_store, store + 12), apply(N, a))
                    fa = plus(fa, apply(Kvt, turned))
                    ta = plus(apply_flipped(Kvt, moved), apply(mat_at(f.round_store, store + 24), turned))
                    put_vec(f.scratch, w + 3, apply(R, ta))
                    inverse = mat_at(f.round_store, store + 33)
                    put_vec(f.scratch, w + 6, apply_flipped(inverse, ta))
                put_vec(f.scratch, w, apply(R, fa))
                hand_down(forest, round, w)
        change = wp.max(
            wp.max(wp.max(wp.abs(Yl.xx), wp.abs(Yl.yx)), wp.max(wp.abs(Yl.zx), wp.abs(Yl.xy))),
            wp.max(wp.max(wp.abs(Yl.yy), wp.max(wp.abs(Yl.zy), wp.abs(Yl.xz))), wp.max(wp.abs(Yl.yz), wp.abs(Yl.zz))),
        )
        turn = axial_part(Yl)
        bent = inner(stiff, vector(times(turn.x, turn.x), times(turn.y, turn.y), times(turn.z, turn.z)))
        decrease = (
            twofold(Yl, columns_scaled(Yl, J))
            + elastic_energies(inertia.mu, inertia.lam, Yl) * real(2.0)
            + bent
            + times(inertia.mass, inner(yt, yt))
        )
        A = mat_at(f.Q, q)
        at = vec_at(f.Q, q + 9)
        A_bar = mat_at(f.V, q)
        at_bar = vec_at(f.V, q + 9)
        if again:
            put_mat(f.Q_base, q, A)
            put_vec(f.Q_base, q + 9, at)
            A_bar = mat_minus(A, mat_scaled(A_bar, beta))
            at_bar = minus(at, scaled(at_bar, beta))
        rate = real(1.0) / beta
        A = mat_minus(A, product(R, Yl))
        at = minus(at, yt)
        put_mat(f.Q, q, A)
        put_vec(f.Q, q + 9, at)
        put_mat(f.V, q, mat_scaled(mat_minus(A, A_bar), rate))
        put_vec(f.V, q + 9, scaled(minus(at, at_bar), rate))
        put_vec(f.k, batch * 3, turn)
        # the largest passes over a NaN, the sum does not
        worst = real(0.0)
        if wp.static(TURNS):
            worst = measure_joints(s, forest, batch, c, first, polar_rotations(A))
        return wp.vec3d(largest(change) + real(0.0) * total(decrease), total(decrease), worst)

    @wp.func
    def fetch_for_climb(forest: wp.array(dtype=Forest), batch: int, again: bool):
        """A forest is larger than the caches, and its batches lie in no order that the machine could foresee."""
        f = forest[0]
        fetch_ahead(f.Q, batch * 12, 12)
        if not again:
            fetch_ahead(f.V, batch * 12, 12)
            fetch_ahead(f.Q_past, batch * 12, 12)
            fetch_ahead(f.V_past, batch * 12, 12)
        fetch_ahead(f.Q_free, batch * 12, 12)
        fetch_ahead(f.g, batch * 12, 12)
        fetch_ahead(f.R, batch * 9, 9)
        fetch_ahead(f.constants, f.table[batch] * f.width, f.width)
        if f.rounds[batch] > 1:
            fetch_ahead(f.branches, f.branching[batch] * BRANCH, BRANCH)
        else:
            fetch_ahead(f.solved, batch * SOLVED, SOLVED)
        for m in range(f.rounds[batch]):
            joint = f.joint_table[f.first_round[batch] + m]
            fetch_ahead(f.joint_constants, joint * f.joint_width, f.joint_width)
            if wp.static(TURNS):
                for k in range(LANES):
                    slot = f.child[(f.first_round[batch] + m) * LANES + k]
                    if slot >= 0:
                        if f.law[slot] >= 0:
                            fetch_line(f.laws, f.law[slot])
        if f.b.loaded == 1:
            fetch_ahead(f.loads, batch * LOADS, 6)

    @wp.func
    def fetch_for_descent(forest: wp.array(dtype=Forest), batch: int):
        f = forest[0]
        fetch_ahead(f.Q, batch * 12, 12)
        fetch_ahead(f.V, batch * 12, 12)
        fetch_ahead(f.g, batch * 12, 12)
        fetch_ahead(f.R, batch * 9, 9)
        fetch_ahead(f.k, batch * 3, 3)
        if f.rounds[batch] > 1:
            fetch_ahead(f.branches, f.branching[batch] * BRANCH, BRANCH)
            place = f.round_place[f.first_round[batch]]
            fetch_ahead(f.round_store, place * STORE, f.rounds[batch] * STORE)
        else:
            fetch_ahead(f.solved, batch * SOLVED, SOLVED)
        fetch_ahead(f.wrench, batch * WRENCH, WRENCH)
        fetch_ahead(f.constants, f.table[batch] * f.width, f.width)
        if wp.static(TURNS):
            for slot in range(batch * LANES, batch * LANES + LANES):
                if f.law[slot] >= 0:
                    fetch_number(f.laws.past, f.law[slot])
                    fetch_number(f.laws.value, f.law[slot])

    @wp.func
    def newton(
        s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, strained: bool, again: bool
    ) -> wp.vec3d:
        """One Newton step of a group; returns the largest change of any entry of A, delta^T H delta and the violation."""
        f = forest[0]
        work = group * f.scratch_stride
        start = f.first_batch[group]
        stop = f.first_batch[group + 1]
        for batch in range(start, stop):
            c = f.table[batch] * f.width
            if batch + 1 < stop:
                fetch_for_climb(forest, batch + 1, again)
            if not again:
                predict_batch(forest, s, batch, c, first)
            linearise(s, forest, batch, c, first, strained)
            if f.rounds[batch] <= 1:
                climb_path(s, forest, batch, group, c, first, strained)
            else:
                climb_branching(s, forest, batch, group, c, first, strained)
            if f.hangs[batch] == ON_ANCHOR:
                close(s, forest, batch, first)
        change = real(0.0)
        decrease = real(0.0)
        worst = real(0.0)
        for back in range(stop - start):
            batch = stop - 1 - back
            if batch > start:
                fetch_for_descent(forest, batch - 1)
            r = descend(s, forest, batch, work, f.table[batch] * f.width, first, strained, again)
            if change == change and not (r[0] <= change):  # keeps a NaN
                change = r[0]
            decrease += r[1]
            worst = wp.max(worst, r[2])
        return wp.vec3d(change, decrease, worst)

    @wp.func
    def visit_joints(
        s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, weight: real, store: bool,
    ) -> real:  # fmt: skip
        """Potential of all joints at the present rotations, or their largest violation while their values are stored."""
        f = forest[0]
        result = real(0.0)
        for batch in range(f.first_batch[group], f.first_batch[group + 1]):
            R = mat_at(f.R, batch * 9)
            c = f.table[batch] * f.width
            if f.hangs[batch] != FREE_ROOT:
                put_mat(f.record, f.place[batch] * RECORD + FACE, product(R, mat_at(f.constants, c + FRAME)))
            for m in range(f.rounds[batch] + 1):
                slots = batch * LANES
                direct = int(1)
                sign = lane_at(f.constants, c + OWN_SIGN)
                fixed = lane_at(f.constants, c + OWN_FIXED)
                skip = bool(True)
                frame = Mat()
                other = Mat()
                if m == f.rounds[batch]:
                    if f.hangs[batch] == ON_ANCHOR:
                        skip = bool(False)
                        frame = mat_at(f.record, f.place[batch] * RECORD + FACE)
                        other = mat_at(f.anchors, f.anchor[batch] * 12 + 3)
                else:
                    skip = bool(False)
                    round = f.first_round[batch] + m
                    slots = round * LANES
                    direct = int(0)
                    j = f.joint_table[round] * f.joint_width
                    sign = lane_at(f.joint_constants, j + SIGN)
                    fixed = lane_at(f.joint_constants, j + FIXED)
                    record = record_of(forest, group, round, FACE)
                    frame = product(flipped(R), mat_at(f.record, record + FACE))
                    other = mat_at(f.joint_constants, j + PARENT_FRAME)
                if not skip:
                    value = visit_laws(forest, s, first, sign, fixed, frame, other, slots, direct, batch, weight, store)
                    if store:
                        result = wp.max(result, value)
                    else:
                        result += value
        return result

    @wp.func
    def merit(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, weight: real) -> real:
        """Incremental potential at the present pose, plus weight times the violation of fixed joints."""
        f = forest[0]
        energy = lane()
        beta = step_beta(s, first)
        for batch in range(f.first_batch[group], f.first_batch[group + 1]):
            q = batch * 12
            c = f.table[batch] * f.width
            A = mat_at(f.Q, q)
            x = vec_at(f.Q, q + 9)
            R = polar_rotations(A)
            put_mat(f.R, batch * 9, R)
            inertia = inertia_at(f, c, beta)
            mass = inertia.mass
            DA = mat_minus(A, mat_at(f.Q_free, q))
            d = minus(x, vec_at(f.Q_free, q + 9))
            own = (twofold(DA, columns_scaled(DA, inertia.moments)) + times(mass, inner(d, d))) * real(0.5)
            strain = strain_of(product(flipped(R), A))
            own += elastic_energies(inertia.mu, inertia.lam, strain)
            moved = minus(x, vec_at(f.Q_past, q + 9))
            drop = moved.x * s.gravity[0] + moved.y * s.gravity[1] + moved.z * s.gravity[2]
            own -= times(mass, drop) * (beta * beta)
            if f.b.loaded == 1:
                loads = batch * LOADS
                turned = mat_minus(A, mat_at(f.Q_past, q))
                torque = crosser(vec_at(f.loads, loads + 3))
                own -= inner(vec_at(f.loads, loads), moved)
                own -= twofold(product(torque, R), turned) * real(0.5)
                if f.levers[0] == 1:
                    own -= twofold(mat_at(f.loads, loads + 6), turned)
            for k in range(LANES):
                if f.counted[batch * LANES + k] == 0:
                    own[k] = real(0.0)
            energy += own
        result = total(energy)
        if wp.static(TURNS):
            result += visit_joints(s, forest, group, first, weight, False)
        return result

    @wp.func
    def swap_poses(forest: wp.array(dtype=Forest), group: int, past: bool):
        """Exchange the poses with those kept in Q_base; with past, keep the old poses there first."""
        f = forest[0]
        for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
            if past:
                f.Q_base[i] = f.Q_past[i]
            else:
                Q = f.Q_base[i]
                f.Q_base[i] = f.Q[i]
                f.Q[i] = Q

    @wp.func
    def search(
        s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, decrease: real, weight: real,
    ) -> real:  # fmt: skip
        """Shorten the step from Q_base until the merit falls enough; returns the step length."""
        f = forest[0]
        swap_poses(forest, group, False)
        least = merit(s, forest, group, first, weight)
        swap_poses(forest, group, False)
        rate = real(1.0) / step_beta(s, first)
        step = real(1.0)
        halvings = int(0)
        falling = bool(False)
        while not falling and halvings < 10:
            here = merit(s, forest, group, first, weight)
            if here <= least - real(1.0e-4) * step * decrease:
                falling = bool(True)
            else:
                halvings += 1
                step *= real(0.5)
                for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
                    Q = (f.Q[i] + f.Q_base[i]) * real(0.5)
                    f.V[i] = f.V[i] + (Q - f.Q[i]) * rate
                    f.Q[i] = Q
        return step

    @wp.func
    def restart(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool):
        """Go on from the pose at the start of the step if its potential is below the present one's."""
        f = forest[0]
        swap_poses(forest, group, True)
        here = merit(s, forest, group, first, real(0.0))
        swap_poses(forest, group, False)
        there = merit(s, forest, group, first, real(0.0))
        rate = real(1.0) / step_beta(s, first)
        if there < here:
            for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
                f.V[i] = f.V[i] + (f.Q[i] - f.Q_base[i]) * rate
        else:
            swap_poses(forest, group, False)

    @wp.func
    def settle(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool) -> real:
        """Joint values at the present pose; returns the largest violation of a fixed joint."""
        f = forest[0]
        for batch in range(f.first_batch[group], f.first_batch[group + 1]):
            put_mat(f.R, batch * 9, polar_rotations(mat_at(f.Q, batch * 12)))
        return visit_joints(s, forest, group, first, real(0.0), True)

    @wp.func
    def iterate(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool) -> int:
        """Bring a group to the end of the step; returns the iterations used."""
        f = forest[0]
        used = int(0)
        change = real(0.0)
        before = real(0.0)
        searching = bool(False)
        f.searched[group] = 0
        measured = bool(False)
        done = bool(False)
        while not done:
            before = change
            measured = bool(True)
            result = newton(s, forest, group, first, used > 0 or s.published == 1, used > 0)
            change = result[0]
            used += 1
            if used == 1:
                if change > TRUST and s.iterations > 1 and change < real(1.0e3):
                    # far off: go on from the better of this pose and the old one
                    searching = bool(True)
                    f.searched[group] = 1
                    measured = bool(False)
                    if f.carried == 0:
                        restart(s, forest, group, first)
            else:
                if change > TRUST or change > real(0.3) * before:
                    searching = bool(True)
                if searching and change > s.update_tolerance and change < real(1.0e3):
                    measured = bool(False)
                    f.searched[group] = 1
                    change *= search(s, forest, group, first, result[1], real(0.0))
            gap = real(0.0)
            done = bool(used >= s.iterations or not (change < real(1.0e3)) or change <= s.update_tolerance)
            if wp.static(TURNS):
                if done and change < real(1.0e3):
                    gap = result[2]
                    if not measured:
                        gap = settle(s, forest, group, first)
                    if gap > f.joint_tolerance and used < s.iterations:
                        done = bool(False)
        if not (change < real(1.0e3)):
            f.failed[0] = 1 + group
        return used

    @wp.kernel(module="unique", module_options=LANE_OPTIONS, enable_backward=False)
    def step_forest(forest: wp.array(dtype=Forest), s: Scheme):
        f = forest[0]
        group = wp.tid()
        if f.failed[0] == 0:
            first = bool(f.fresh[group] == 1)
            start = f.first_batch[group]
            stop = f.first_batch[group + 1]
            used = int(0)
            going = bool(True)
            while going:
                used += iterate(s, forest, group, first)
                going = bool(s.euler == 0 and not first and f.searched[group] == 1)
                if going:
                    # a blow, behind which BDF2's history is worth nothing: once more, with implicit Euler
                    first = bool(True)
                    for i in range(start * 12, stop * 12):
                        f.Q[i] = f.Q_past[i]
                        f.V[i] = f.V_past[i]
                    for i in range(start * 3, stop * 3):
                        f.k[i] = lane()
            if wp.static(TURNS):
                for slot in range(start * LANES, stop * LANES):
                    i = f.law[slot]
                    if i >= 0 and f.counted[slot] == 1:
                        for r in range(3):
                            f.laws.older[i + r] = f.laws.past[i + r]
                            f.laws.past[i + r] = f.laws.value[i + r]
            f.iterations[group] = used
            f.steps[group] += 1
            f.fresh[group] = f.searched[group]

    return SimpleNamespace(
        step=step_forest, record=42 if TURNS else 12,
        solved=rows * rows + rows + (9 if TURNS else 0), wrench=rows + (3 if TURNS else 0),
        store=42 if TURNS else 12, branch=12 + 12 * rows, scratch=9,
    )  # fmt: skip
