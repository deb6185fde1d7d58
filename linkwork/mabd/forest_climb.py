"""Upwards through a forest: linearise the bodies and eliminate them, leaves first."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import TRUST, Scheme
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
from linkwork.mabd.forest_bodies import gradient, rotation_at, strain_of
from linkwork.mabd.forest_data import (
    FACE,
    FIXED,
    FRAME,
    GAP,
    MOVED,
    OWN_FIXED,
    OWN_SIGN,
    PARENT_FRAME,
    PARENT_POINT,
    POINT,
    S_TT,
    S_VT,
    S_VV,
    SIGN,
    SOLVER,
    SPIN_GAP,
    SPIN_SOLVER,
    SPRING,
    SPUN,
    Forest,
    places,
)
from linkwork.mabd.forest_springs import Spring, spring_of, springs_of
from linkwork.mabd.forest_systems import (
    System,
    mat_solve_push,
    mat_solve_turn,
    put_solver,
    solve_push,
    solve_turn,
    solver_of,
)
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply,
    apply_flipped,
    axial_part,
    columns_scaled,
    conjugate,
    conjugate_back,
    definite_inverse,
    diagonal,
    flipped,
    geometric_stiffnesses,
    inverse_of,
    lane,
    lane_at,
    mat_at,
    mat_lane,
    mat_minus,
    mat_plus,
    mat_scaled,
    minus,
    pair_inverse_lanes,
    plus,
    point_compliances,
    polar_rotations,
    product,
    put_mat,
    put_symmetric,
    put_vec,
    scaled,
    small_turns,
    solve_columns,
    spin_compliances,
    stresses,
    stretch_inverse_lanes,
    stretched,
    turn_compliances,
    unit,
    vec_at,
    vector,
    without_turns,
)
from linkwork.mabd.trees import FREE_ROOT


@cache
def climbing(rows: int) -> SimpleNamespace:
    """Eliminate batches of nodes whose joints have 3 or 6 rows."""
    TURNS = rows == 6
    own = places(rows)
    RECORD = wp.constant(own.record)
    SOLVED = wp.constant(own.solved)
    WRENCH = wp.constant(own.wrench)
    BRANCH = wp.constant(own.branch)

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
    def linearise(s: Scheme, forest: wp.array(dtype=Forest), batch: int, own: Inertia, strained: bool):
        """R, N and the geometric stiffness of a batch that has moved since it was predicted."""
        f = forest[0]
        if strained:
            A = mat_at(f.Q, batch * 12)
            R = polar_rotations(A)
            put_mat(f.R, batch * 9, R)
            S = product(flipped(R), A)
            turn = small_turns(vec_at(f.k, batch * 3), TRUST)
            k = geometric_stiffnesses(stresses(own.mu, own.lam, without_turns(strain_of(S), turn)))
            if s.published == 1:
                k = Vec()
            put_vec(f.k, batch * 3, k)
            if wp.static(TURNS):
                put_mat(f.N, batch * 9, inverse_of(mat_scaled(mat_minus(diagonal(S.xx + S.yy + S.zz), S), real(0.5))))

    @wp.func
    def child_system(
        s: Scheme, forest: wp.array(dtype=Forest), R: Mat, record: int, j: int, slots: int, first: bool
    ) -> System:
        """S_i + C of a round of children in the parent's frame and their gaps, the parent held still, to its origin."""
        f = forest[0]
        r = System()
        r.vv = conjugate_back(R, mat_at(f.record, record + S_VV))
        r.v = apply_flipped(R, vec_at(f.record, record + MOVED))
        if wp.static(TURNS):
            frame = product(flipped(R), mat_at(f.record, record + FACE))
            own = Spring()
            own.compliance = vec_at(f.record, record + SPRING)
            own.rest = vec_at(f.record, record + SPRING + 3)
            own.past = vec_at(f.record, record + SPRING + 6)
            springs = springs_of(
                s, forest, first, lane_at(f.joint_constants, j + SIGN), lane_at(f.joint_constants, j + FIXED),
                frame, mat_at(f.joint_constants, j + PARENT_FRAME), own, slots, 0,
            )  # fmt: skip
            r.vt = conjugate_back(R, mat_at(f.record, record + S_VT))
            r.tt = mat_plus(conjugate_back(R, mat_at(f.record, record + S_TT)), springs.compliance)
            r.t = plus(apply_flipped(R, vec_at(f.record, record + SPUN)), springs.gap)
        return r

    @wp.func
    def hand_on(s: Scheme, forest: wp.array(dtype=Forest), batch: int, c: int, R: Mat, own: System, first: bool):
        """Record of a batch from its compliance and the free motion of its joint's point, all in the body's frame."""
        f = forest[0]
        record = f.place[batch] * RECORD
        point = plus(apply(mat_at(f.Q, batch * 12), vec_at(f.constants, c + POINT)), vec_at(f.Q, batch * 12 + 9))
        put_vec(f.record, record + MOVED, minus(point, apply(R, own.v)))
        put_mat(f.record, record + S_VV, conjugate(R, own.vv))
        if wp.static(TURNS):
            put_mat(f.record, record + S_VT, conjugate(R, own.vt))
            put_mat(f.record, record + S_TT, conjugate(R, own.tt))
            put_vec(f.record, record + SPUN, scaled(apply(R, own.t), real(-1.0)))
            put_mat(f.record, record + FACE, product(R, mat_at(f.constants, c + FRAME)))
            spring = spring_of(s, forest, batch, first)
            put_vec(f.record, record + SPRING, spring.compliance)
            put_vec(f.record, record + SPRING + 3, spring.rest)
            put_vec(f.record, record + SPRING + 6, spring.past)

    @wp.func
    def close(s: Scheme, forest: wp.array(dtype=Forest), batch: int, first: bool):
        """Wrench of joints on anchors, world frame."""
        f = forest[0]
        record = f.place[batch] * RECORD
        a = f.anchor[batch] * 12
        r = System()
        r.vv = mat_at(f.record, record + S_VV)
        r.v = minus(vec_at(f.record, record + MOVED), vec_at(f.anchors, a))
        if wp.static(TURNS):
            c = f.table[batch] * f.width
            springs = springs_of(
                s, forest, first, lane_at(f.constants, c + OWN_SIGN), lane_at(f.constants, c + OWN_FIXED),
                mat_at(f.record, record + FACE), mat_at(f.anchors, a + 3), spring_of(s, forest, batch, first),
                batch * LANES, 1,
            )  # fmt: skip
            r.vt = mat_at(f.record, record + S_VT)
            r.tt = mat_plus(mat_at(f.record, record + S_TT), springs.compliance)
            r.t = plus(vec_at(f.record, record + SPUN), springs.gap)
            x = solver_of(r.vv, r.vt, r.tt)
            turn = solve_turn(x, r.v, r.t)
            put_vec(f.wrench, batch * WRENCH, solve_push(x, r.v, turn))
            put_vec(f.wrench, batch * WRENCH + 3, turn)
        else:
            put_vec(f.wrench, batch * WRENCH, apply(definite_inverse(r.vv), r.v))

    @wp.func
    def climb_path(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, group: int, c: int, inertia: Inertia,
        first: bool, strained: bool,
    ):  # fmt: skip
        """Bodies with at most one child: the dual recursion."""
        f = forest[0]
        R = rotation_at(forest, batch, strained)
        g = gradient(s, forest, batch, inertia, R, first, strained)
        P = pair_inverse_lanes(inertia.moments, inertia.mu, vec_at(f.k, batch * 3))
        T = stretch_inverse_lanes(inertia.moments, inertia.mu, inertia.lam)
        tau = wp.cw_div(lane(real(1.0)), inertia.mass)
        Yl = solve_columns(T, P, g.A)
        yt = apply_flipped(R, stretched(g.t, tau))
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
            gap = minus(child.v, apply_flipped(R, at_a))
            store = round * SOLVED
            put_vec(f.solved, store + GAP, gap)
            gap = plus(gap, plus(apply(Yl, a), yt))
            D = mat_plus(child.vv, point_compliances(T, P, tau, a, a))
            F = point_compliances(T, P, tau, a, b)
            if wp.static(TURNS):
                Ua = product(turn_compliances(P, a), N)
                x = solver_of(D, mat_plus(child.vt, Ua), mat_plus(child.tt, K))
                turn = plus(child.t, own.t)
                zt = solve_turn(x, gap, turn)
                zv = solve_push(x, gap, zt)
                put_solver(f.solved, store, x)
                put_vec(f.solved, store + SPIN_GAP, child.t)
                if hangs != FREE_ROOT:
                    # F_ab = [F, Ua; Ub^T, K] by columns
                    H = flipped(own.vt)
                    Ft = flipped(F)
                    Wtv = mat_solve_turn(x, F, H)
                    Wvv = mat_solve_push(x, F, Wtv)
                    Wtt = mat_solve_turn(x, Ua, K)
                    Wvt = mat_solve_push(x, Ua, Wtt)
                    own.v = minus(own.v, plus(apply(Ft, zv), apply_flipped(H, zt)))
                    own.t = minus(own.t, plus(apply_flipped(Ua, zv), apply_flipped(K, zt)))
                    own.vv = mat_minus(own.vv, mat_plus(product(Ft, Wvv), product(own.vt, Wtv)))
                    own.vt = mat_minus(own.vt, mat_plus(product(Ft, Wvt), product(flipped(H), Wtt)))
                    own.tt = mat_minus(own.tt, mat_plus(product(flipped(Ua), Wvt), product(flipped(K), Wtt)))
            else:
                D_inverse = definite_inverse(D)
                put_symmetric(f.solved, store + SOLVER, D_inverse)
                if hangs != FREE_ROOT:
                    Ft = flipped(F)
                    own.v = minus(own.v, apply(Ft, apply(D_inverse, gap)))
                    own.vv = mat_minus(own.vv, product(Ft, product(D_inverse, F)))
        if hangs != FREE_ROOT:
            hand_on(s, forest, batch, c, R, own, first)

    @wp.func
    def climb_branching(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, group: int, c: int, inertia: Inertia,
        first: bool, strained: bool,
    ):  # fmt: skip
        """Bodies with more children: their stiffness joins the body's Hessian over t, a, s, p, where Y = [a]x + sym(s, p)."""
        f = forest[0]
        R = rotation_at(forest, batch, strained)
        N = unit()
        if wp.static(TURNS):
            if strained:
                N = mat_at(f.N, batch * 9)
        H = body_hessian(inertia, vec_at(f.k, batch * 3))
        g = gradient(s, forest, batch, inertia, R, first, strained)
        G = g.A
        y = Motion()
        y.t = apply_flipped(R, g.t)
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
            store = round * SOLVED
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
                put_vec(f.solved, store + SPIN_GAP, child.t)
                put_mat(f.solved, store + SPIN_SOLVER, Kvt)
                put_symmetric(f.solved, store + SPIN_SOLVER + 9, Ktt)
                y.a = minus(y.a, apply_flipped(N, turn))
                by_turn = mat_plus(product(K, X), product(Kvt, N))
                spin = mat_plus(product(flipped(Kvt), X), product(Ktt, N))
                H.aa = mat_plus(H.aa, product(flipped(N), spin))
            else:
                K = mat_lane(K, here)
                push = apply(K, gap)
                by_turn = product(K, X)
            put_vec(f.solved, store + GAP, gap)
            put_symmetric(f.solved, store + SOLVER, K)
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
            hand_on(s, forest, batch, c, R, motion, first)
        y = backward(F, rest)
        put_vec(f.branches, place, y.t)
        put_vec(f.branches, place + 3, y.a)
        put_vec(f.branches, place + 6, y.s)
        put_vec(f.branches, place + 9, y.p)

    return SimpleNamespace(
        record_of=record_of, linearise=linearise, close=close, climb_path=climb_path, climb_branching=climb_branching
    )
