"""The turns of eight joints at a time, and the springs on them."""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.branching import by_entry
from linkwork.mabd.coordinates import PI
from linkwork.mabd.forest_data import (
    DAMPING,
    FRAME,
    LEAST_STIFFNESS,
    LINE,
    OLDER,
    OWN_FIXED,
    OWN_SIGN,
    PAST,
    PUSH,
    SOFT,
    STIFFNESS,
    TURN,
    Forest,
)
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply,
    axial_part,
    columns_scaled,
    diagonal,
    flipped,
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
    plus,
    product,
    put_vec,
    roots,
    scaled,
    stretched,
    times,
    vec_at,
    vector,
)
from linkwork.mabd.laws import law_potential, line_force
from linkwork.mabd.trees import ON_ANCHOR


@wp.func
def masked_rotation(a: Mat, b: Mat, s: lane) -> Mat:
    """a where s is 1, b where it is -1."""
    h = real(0.5)
    one = lane(real(1.0))
    return mat_plus(mat_lane(a, (one + s) * h), mat_lane(b, (one - s) * h))


@wp.func
def small_arcs(square: lane, c: lane) -> lane:
    """theta / sin(theta) for angles up to pi / 4, from sin^2 and cos times a common factor."""
    one = lane(real(1.0))
    long = c + roots(square + times(c, c))
    # by the series of the arctangent of a quarter of the angle, t < 0.2, to one rounding
    half = wp.cw_div(square, times(long, long))
    share = one + roots(half + one)
    t2 = wp.cw_div(half, times(share, share))
    p = t2 * (real(1.0) / real(21.0)) - lane(real(1.0) / real(19.0))
    p = times(p, t2) + lane(real(1.0) / real(17.0))
    p = times(p, t2) - lane(real(1.0) / real(15.0))
    p = times(p, t2) + lane(real(1.0) / real(13.0))
    p = times(p, t2) - lane(real(1.0) / real(11.0))
    p = times(p, t2) + lane(real(1.0) / real(9.0))
    p = times(p, t2) - lane(real(1.0) / real(7.0))
    p = times(p, t2) + lane(real(1.0) / real(5.0))
    p = times(p, t2) - lane(real(1.0) / real(3.0))
    p = times(p, t2) + one
    return wp.cw_div(p * real(4.0), times(long, share))


@wp.func
def some_are_large(square: lane, c: lane) -> bool:
    """Whether an angle is beyond pi / 4."""
    return not (largest(square - times(c, wp.abs(c))) < real(0.0))


@wp.struct
class Arcs:
    """Of M = B^T F: the swing over its sine, and the twist."""

    swing: lane
    twist: lane


@wp.func
def arcs_of(M: Mat) -> Arcs:
    r = Arcs()
    square = times(M.xz, M.xz) + times(M.yz, M.yz)
    r.swing = small_arcs(square, M.zz)
    if some_are_large(square, M.zz):
        for k in range(LANES):
            rho = wp.max(wp.sqrt(square[k]), real(1.0e-9))
            r.swing[k] = wp.atan2(rho, M.zz[k]) / rho
    sine = M.yx - M.xy
    cosine = M.xx + M.yy
    square = times(sine, sine)
    r.twist = times(sine, small_arcs(square, cosine))
    if some_are_large(square, cosine):
        for k in range(LANES):
            r.twist[k] = wp.atan2(sine[k], cosine[k])
    return r


@wp.func
def turn_values(M: Mat, arcs: Arcs, fixed: lane) -> Vec:
    """Swing and twist of a ball, or the three turns of a fixed joint, as in joints.py."""
    value = vector(-times(arcs.swing, M.yz), times(arcs.swing, M.xz), arcs.twist)
    if largest(fixed) > real(0.0):
        value = plus(stretched(value, lane(real(1.0)) - fixed), stretched(axial_part(M), fixed))
    return value


@wp.func
def turn_axes(M: Mat, arcs: Arcs, fixed: lane) -> Mat:
    """Axes of these coordinates as rows, in the base's joint frame."""
    a = arcs.swing
    slope_xy = lane()
    slope_z = lane()
    rho2 = times(M.xz, M.xz) + times(M.yz, M.yz)
    for k in range(LANES):
        slope_xy[k] = THIRD
        slope_z[k] = real(0.0)
        if rho2[k] > real(1.0e-8) or M.zz[k] < real(0.0):
            slope_xy[k] = (M.zz[k] - a[k]) / wp.max(rho2[k], real(1.0e-18))
            slope_z[k] = real(-1.0)
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
    sine = M.yx - M.xy
    cosine = M.xx + M.yy
    ws = vector(-M.zx, -M.zy, cosine)
    wc = vector(-M.zy, M.zx, -sine)
    size = wp.cw_div(
        lane(real(1.0)), wp.max(times(sine, sine) + times(cosine, cosine), lane(real(1.0e-18)))
    )  # fmt: skip
    third = stretched(minus(stretched(ws, cosine), stretched(wc, sine)), size)
    axes = matrix(
        -first.x, -first.y, -first.z, second.x, second.y, second.z, third.x, third.y, third.z
    )  # fmt: skip
    if largest(fixed) > real(0.0):
        turns = mat_scaled(mat_minus(diagonal(M.xx + M.yy + M.zz), M), real(0.5))
        axes = mat_plus(mat_lane(axes, lane(real(1.0)) - fixed), mat_lane(turns, fixed))
    return axes


@wp.func
def unwrapped(value: Vec, reference: Vec) -> Vec:
    """With the full turns that bring it nearest to the reference."""
    r = value
    d = minus(reference, value)
    away = wp.max(wp.max(wp.abs(d.x), wp.abs(d.y)), wp.abs(d.z))
    if largest(away) > real(3.0):
        turn = real(2.0) * PI
        for k in range(LANES):
            r.x[k] += turn * wp.round(d.x[k] / turn)
            r.y[k] += turn * wp.round(d.y[k] / turn)
            r.z[k] += turn * wp.round(d.z[k] / turn)
    return r


@wp.func
def past_averages(s: Scheme, past: Vec, older: Vec, first: bool) -> Vec:
    """past_average of engine.py in every lane."""
    if s.euler == 1 or first:
        return past
    return minus(scaled(past, FOUR_THIRDS), scaled(older, THIRD))


@wp.struct
class Spring:
    """Of a joint's turns: compliances, where it would rest in this step, and the values at its start."""

    compliance: Vec
    rest: Vec
    past: Vec


@wp.func
def spring_of(s: Scheme, forest: wp.array(dtype=Forest), batch: int, first: bool) -> Spring:
    """Springs and dampers of the own joints of a batch; a fixed joint rests at zero without compliance."""
    f = forest[0]
    r = Spring()
    at = batch * TURN
    r.past = vec_at(f.turns, at + PAST)
    average = past_averages(s, r.past, vec_at(f.turns, at + OLDER), first)
    at = batch * LINE
    drag = scaled(vec_at(f.lines, at + DAMPING), real(1.0) / step_beta(s, first))
    kappa = plus(vec_at(f.lines, at + STIFFNESS), drag)
    soft = lane_at(f.lines, at + SOFT)
    least = lane(LEAST_STIFFNESS)
    r.compliance = vector(
        wp.cw_div(soft, wp.max(kappa.x, least)),
        wp.cw_div(soft, wp.max(kappa.y, least)),
        wp.cw_div(soft, wp.max(kappa.z, least)),
    )
    push = plus(vec_at(f.lines, at + PUSH), by_entry(drag, average))
    r.rest = by_entry(r.compliance, push)
    return r


@wp.struct
class Springs:
    """A joint's rotational compliance and gap in the frame of its parent."""

    compliance: Mat
    gap: Vec


@wp.func
def average_of(s: Scheme, forest: wp.array(dtype=Forest), slot: int, r: int, first: bool) -> real:
    """Weighted past of a turn of one joint."""
    f = forest[0]
    batch = slot / LANES
    at = (batch * TURN + PAST + r) * LANES + slot - batch * LANES
    past = f.turns_flat[at]
    if s.euler == 1 or first:
        return past
    return past * FOUR_THIRDS - f.turns_flat[at + 3 * LANES] * THIRD


@wp.func
def springs_of(
    s: Scheme, forest: wp.array(dtype=Forest), first: bool, sign: lane, fixed: lane, child_frame: Mat, parent_frame: Mat,
    own: Spring, slots: int, direct: int,
) -> Springs:  # fmt: skip
    """Frames in the parent's axes; slots: where f.child lists the joints' slots, or their first slot if direct is 1."""
    f = forest[0]
    B = masked_rotation(parent_frame, child_frame, sign)
    F = masked_rotation(child_frame, parent_frame, sign)
    M = product(flipped(B), F)
    arcs = arcs_of(M)
    inverse = mat_lane(product(B, inverse_of(turn_axes(M, arcs, fixed))), sign)
    value = unwrapped(turn_values(M, arcs, fixed), own.past)
    compliance = own.compliance
    gap = minus(value, own.rest)
    if f.driven == 1:
        rate = real(1.0) / step_beta(s, first)
        for k in range(LANES):
            slot = slots + k
            if direct == 0:
                slot = f.child[slots + k]
            if slot >= 0:
                i = f.law[slot]
                if i >= 0:
                    line = line_force(f.laws, i, value.x[k], average_of(s, forest, slot, 0, first), rate)
                    compliance.x[k] = real(1.0) / wp.max(line.kappa, LEAST_STIFFNESS)
                    gap.x[k] = value.x[k] - line.a * compliance.x[k]
                    line = line_force(f.laws, i + 1, value.y[k], average_of(s, forest, slot, 1, first), rate)
                    compliance.y[k] = real(1.0) / wp.max(line.kappa, LEAST_STIFFNESS)
                    gap.y[k] = value.y[k] - line.a * compliance.y[k]
                    line = line_force(f.laws, i + 2, value.z[k], average_of(s, forest, slot, 2, first), rate)
                    compliance.z[k] = real(1.0) / wp.max(line.kappa, LEAST_STIFFNESS)
                    gap.z[k] = value.z[k] - line.a * compliance.z[k]
    r = Springs()
    r.compliance = product(columns_scaled(inverse, compliance), flipped(inverse))
    r.gap = apply(inverse, gap)
    return r


@wp.func
def own_turns(forest: wp.array(dtype=Forest), batch: int, c: int, face: int, R: Mat) -> Vec:
    """Turns of a batch's own joints at its rotation R, the parents' side of the joints at place `face` of the records."""
    f = forest[0]
    other = mat_at(f.record, face)
    if f.hangs[batch] == ON_ANCHOR:
        other = mat_at(f.anchors, f.anchor[batch] * 12 + 3)
    sign = lane_at(f.constants, c + OWN_SIGN)
    fixed = lane_at(f.constants, c + OWN_FIXED)
    frame = product(R, mat_at(f.constants, c + FRAME))
    M = product(flipped(masked_rotation(other, frame, sign)), masked_rotation(frame, other, sign))
    value = unwrapped(turn_values(M, arcs_of(M), fixed), vec_at(f.turns, batch * TURN + PAST))
    # parents reach only the joints that count; lanes left over repeat the last of them
    last = f.filled[batch] - 1
    for k in range(last + 1, LANES):
        value.x[k] = value.x[last]
        value.y[k] = value.y[last]
        value.z[k] = value.z[last]
    return value


@wp.func
def potential_of(s: Scheme, forest: wp.array(dtype=Forest), batch: int, value: Vec, first: bool, weight: real) -> real:
    """Of a batch's own springs, and weight times the violation of its fixed joints."""
    f = forest[0]
    rate = real(1.0) / step_beta(s, first)
    result = real(0.0)
    for k in range(f.filled[batch]):
        slot = batch * LANES + k
        i = f.law[slot]
        if i >= 0:
            result += law_potential(f.laws, i, value.x[k], average_of(s, forest, slot, 0, first), rate)
            result += law_potential(f.laws, i + 1, value.y[k], average_of(s, forest, slot, 1, first), rate)
            result += law_potential(f.laws, i + 2, value.z[k], average_of(s, forest, slot, 2, first), rate)
        else:
            result += weight * (wp.abs(value.x[k]) + wp.abs(value.y[k]) + wp.abs(value.z[k]))
    return result


@wp.func
def violation_of(value: Vec, fixed: lane) -> real:
    """Largest turn of a fixed joint."""
    return largest(times(wp.max(wp.max(wp.abs(value.x), wp.abs(value.y)), wp.abs(value.z)), fixed))


@wp.func
def shift_turns(forest: wp.array(dtype=Forest), batch: int):
    """At the start of a step: the values become the past."""
    f = forest[0]
    at = batch * TURN
    put_vec(f.turns, at + OLDER, vec_at(f.turns, at + PAST))
    put_vec(f.turns, at + PAST, vec_at(f.turns, at))


@wp.func
def unshift_turns(forest: wp.array(dtype=Forest), batch: int):
    """Before a step is taken again."""
    f = forest[0]
    at = batch * TURN
    put_vec(f.turns, at, vec_at(f.turns, at + PAST))
    put_vec(f.turns, at + PAST, vec_at(f.turns, at + OLDER))
