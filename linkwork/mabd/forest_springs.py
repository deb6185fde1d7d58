"""The turns of eight joints at a time, and the springs on them."""

import warp as wp

from linkwork.mabd.affine import THIRD, real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.engine import PI, past_average
from linkwork.mabd.forest_data import LEAST_STIFFNESS, Forest
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
    largest,
    mat_lane,
    mat_minus,
    mat_plus,
    mat_scaled,
    matrix,
    minus,
    plus,
    product,
    stretched,
    times,
    vector,
)
from linkwork.mabd.laws import law_potential, line_force


@wp.func
def masked_rotation(a: Mat, b: Mat, s: lane) -> Mat:
    """a where s is 1, b where it is -1."""
    h = real(0.5)
    one = lane(real(1.0))
    return mat_plus(mat_lane(a, (one + s) * h), mat_lane(b, (one - s) * h))


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
