"""Rows of the joints at the present pose: violations, laws, and what a multiplier does to the two bodies."""

import warp as wp

from linkwork.mabd.affine import (
    axial,
    compose,
    cross_matrix,
    linear_part,
    mat34,
    point_at,
    real,
    translation_part,
    vec3,
)
from linkwork.mabd.bodies import Bodies, Scheme, step_beta
from linkwork.mabd.components import GIVEN, Joints, Work, vec6
from linkwork.mabd.cones import across_cone, choose_on_cone, on_cone
from linkwork.mabd.coordinates import past_average, unwrap
from linkwork.mabd.joints import DISTANCE, measure
from linkwork.mabd.laws import AT_UPPER, Laws, Line, choose_piece, evaluate


@wp.func
def linearise_ball(b: Bodies, J: Joints, j: int) -> real:
    """What `linearise_joint` makes of a ball without laws, whose gradients are the bodies' rotations."""
    base = J.base[j]
    follower = J.follower[j]
    d = point_at(b.Q[follower], J.point_follower[j]) - point_at(b.Q[base], J.point_base[j])
    row0 = J.first_row[j]
    zero = real(0.0)
    for i in range(3):
        r = row0 + i
        J.value[r] = d[i]
        J.defect[r] = d[i]
        J.compliance[r] = zero
        J.rhs[r] = d[i]
    return wp.max(wp.max(wp.abs(d[0]), wp.abs(d[1])), wp.abs(d[2]))


@wp.func
def linearise_joint(
    b: Bodies, s: Scheme, J: Joints, laws: Laws, w: Work, j: int, first: bool, choose: int, gradients: bool
) -> wp.vec2d:
    """Rows of one joint at the present pose; returns its largest violation and the number of laws that changed piece.

    choose: how many laws may change piece at most.
    """
    if J.plain[j] == 1:
        return wp.vec2d(linearise_ball(b, J, j), real(0.0))
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
