"""Downwards through a forest: wrenches, new poses and the values of joints, roots first."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.forest_bodies import gradient, inertia_at, rotation_at
from linkwork.mabd.forest_data import (
    FACE,
    GAP,
    OWN_FIXED,
    PARENT_FRAME,
    PARENT_POINT,
    POINT,
    SOLVER,
    SPIN_GAP,
    SPIN_SOLVER,
    TURN,
    Forest,
    places,
)
from linkwork.mabd.forest_fetch import fetching
from linkwork.mabd.forest_springs import own_turns, violation_of
from linkwork.mabd.forest_systems import solve_push, solve_turn, solver_at
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply,
    apply_flipped,
    axial_part,
    columns_scaled,
    crosser,
    dyad,
    elastic_energies,
    inner,
    lane,
    lane_at,
    largest,
    mat_at,
    mat_minus,
    mat_plus,
    mat_scaled,
    matrix,
    minus,
    pair_inverse_lanes,
    plus,
    polar_rotations,
    product,
    put_mat,
    put_vec,
    scaled,
    solve_columns,
    stretch_inverse_lanes,
    stretched,
    symmetric_at,
    times,
    total,
    twofold,
    unit,
    vec_at,
    vector,
)
from linkwork.mabd.trees import FREE_ROOT


@cache
def descending(rows: int) -> SimpleNamespace:
    """Substitute in batches of nodes whose joints have 3 or 6 rows."""
    TURNS = rows == 6
    own = places(rows)
    RECORD = wp.constant(own.record)
    SOLVED = wp.constant(own.solved)
    WRENCH = wp.constant(own.wrench)
    BRANCH = wp.constant(own.branch)
    fetch_children = fetching(rows).fetch_children

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
    def lower(forest: wp.array(dtype=Forest), batch: int, R: Mat):
        """Leave the parents' side of the joints of a batch's children where their records have been."""
        f = forest[0]
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

    @wp.func
    def measure_joints(forest: wp.array(dtype=Forest), batch: int, c: int, R: Mat) -> real:
        """Store the values of a batch's own joints at its new rotation R; returns their largest violation.

        The parents are done before: each leaves its side of the joint where the record of the child has been.
        """
        f = forest[0]
        worst = real(0.0)
        if f.hangs[batch] != FREE_ROOT:
            value = own_turns(forest, batch, c, f.place[batch] * RECORD + FACE, R)
            put_vec(f.turns, batch * TURN, value)
            worst = violation_of(value, lane_at(f.constants, c + OWN_FIXED))
        lower(forest, batch, R)
        return worst

    @wp.func
    def descend(
        s: Scheme, forest: wp.array(dtype=Forest), batch: int, start: int, work: int, c: int,
        first: bool, strained: bool, again: bool,
    ) -> wp.vec3d:  # fmt: skip
        """Wrenches of the children, the new pose and its joints; returns what `newton` does."""
        f = forest[0]
        q = batch * 12
        R = rotation_at(forest, batch, strained)
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
            T = stretch_inverse_lanes(J, inertia.mu, inertia.lam)
            P = pair_inverse_lanes(J, inertia.mu, stiff)
            tau = wp.cw_div(lane(real(1.0)), inertia.mass)
            # what the body would do without its child
            g = gradient(s, forest, batch, inertia, R, first, strained)
            G = mat_plus(g.A, dyad(force, vec_at(f.constants, c + POINT)))
            if wp.static(TURNS):
                G = mat_plus(G, mat_scaled(crosser(apply(N, torque)), real(0.5)))
            pull = plus(apply_flipped(R, g.t), force)
            Yl = solve_columns(T, P, G)
            if f.rounds[batch] == 1:
                round = f.first_round[batch]
                store = round * SOLVED
                a = vec_at(f.joint_constants, f.joint_table[round] * f.joint_width + PARENT_POINT)
                moved = plus(vec_at(f.solved, store + GAP), plus(apply(Yl, a), stretched(pull, tau)))
                if wp.static(TURNS):
                    x = solver_at(f.solved, store)
                    turned = plus(vec_at(f.solved, store + SPIN_GAP), apply(N, axial_part(Yl)))
                    ta = solve_turn(x, moved, turned)
                    fa = solve_push(x, moved, ta)
                    G = mat_minus(G, mat_scaled(crosser(apply(N, ta)), real(0.5)))
                    put_vec(f.scratch, w + 3, apply(R, ta))
                else:
                    fa = apply(symmetric_at(f.solved, store + SOLVER), moved)
                put_vec(f.scratch, w, apply(R, fa))
                hand_down(forest, round, w)
                Yl = solve_columns(T, P, mat_minus(G, dyad(fa, a)))
                pull = minus(pull, fa)
            yt = apply(R, stretched(pull, tau))
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
                store = round * SOLVED
                arm = vec_at(f.joint_constants, f.joint_table[round] * f.joint_width + PARENT_POINT)
                moved = plus(vec_at(f.solved, store + GAP), plus(apply(Yl, arm), shift))
                fa = apply(symmetric_at(f.solved, store + SOLVER), moved)
                if wp.static(TURNS):
                    Kvt = mat_at(f.solved, store + SPIN_SOLVER)
                    turned = plus(vec_at(f.solved, store + SPIN_GAP), apply(N, a))
                    fa = plus(fa, apply(Kvt, turned))
                    ta = plus(apply_flipped(Kvt, moved), apply(symmetric_at(f.solved, store + SPIN_SOLVER + 9), turned))
                    put_vec(f.scratch, w + 3, apply(R, ta))
                put_vec(f.scratch, w, apply(R, fa))
                hand_down(forest, round, w)
        change = wp.max(
            wp.max(wp.max(wp.abs(Yl.xx), wp.abs(Yl.yx)), wp.max(wp.abs(Yl.zx), wp.abs(Yl.xy))),
            wp.max(wp.max(wp.abs(Yl.yy), wp.max(wp.abs(Yl.zy), wp.abs(Yl.xz))), wp.max(wp.abs(Yl.yz), wp.abs(Yl.zz))),
        )
        fetch_children(forest, wp.max(batch - 1, start))
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
            worst = measure_joints(forest, batch, c, polar_rotations(A))
        return wp.vec3d(largest(change) + real(0.0) * total(decrease), total(decrease), worst)

    return SimpleNamespace(descend=descend, lower=lower, measure_joints=measure_joints)
