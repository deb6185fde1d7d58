"""Downwards through a forest: wrenches, new poses and the values of joints, roots first."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.forest_bodies import inertia_at
from linkwork.mabd.forest_data import (
    FACE,
    FRAME,
    OWN_FIXED,
    OWN_SIGN,
    PARENT_FRAME,
    PARENT_POINT,
    POINT,
    Forest,
    places,
)
from linkwork.mabd.forest_springs import visit_laws
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
    times,
    total,
    twofold,
    unit,
    vec_at,
    vector,
)
from linkwork.mabd.trees import FREE_ROOT, ON_ANCHOR


@cache
def descending(rows: int) -> SimpleNamespace:
    """Substitute in batches of nodes whose joints have 3 or 6 rows."""
    TURNS = rows == 6
    own = places(rows)
    RECORD = wp.constant(own.record)
    SOLVED = wp.constant(own.solved)
    WRENCH = wp.constant(own.wrench)
    STORE = wp.constant(own.store)
    BRANCH = wp.constant(own.branch)

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

    return SimpleNamespace(descend=descend)
