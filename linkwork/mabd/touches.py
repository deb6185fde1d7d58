"""Contacts as springs of the incremental potential: normal force, Coulomb friction with a memory, energy and stiffness.

Normal: k/2 min(gap, 0)^2. Friction: each contact has a spring between the two surfaces, as stiff as the normal one, whose
force is bounded by mu times the normal force; what the bound cuts off is slip and forgotten, what remains is kept for the
next step (an elastic-plastic law: a body at rest on a slope does not creep). Within one Newton iteration the bound is that
of the last iterate, so that the potential stays convex and its Hessian symmetric.
"""

import warp as wp

from linkwork.mabd.affine import (
    axial,
    compose,
    cross_matrix,
    linear_part,
    mat33,
    mat34,
    point_at,
    polar_rotation,
    real,
    vec3,
)
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.stiffened import stiffen_arm, stiffen_point


@wp.struct
class Touches:
    """Contacts of the step at hand; a touches b, the normal points from b to a."""

    count: wp.array(dtype=wp.int32)  # 1 entry
    a: wp.array(dtype=wp.int32)  # rows of Bodies
    b: wp.array(dtype=wp.int32)
    normal: wp.array(dtype=vec3)
    core_a: wp.array(dtype=vec3)  # material points that the gap is measured between, plus radii
    core_b: wp.array(dtype=vec3)
    radii: wp.array(dtype=wp.float64)
    arm_a: wp.array(dtype=vec3)  # from there to the surfaces, world; a round body rolls under its arm
    arm_b: wp.array(dtype=vec3)
    parted: wp.array(dtype=vec3)  # from surface b to surface a at the start of the step, without the turns since
    approach: wp.array(dtype=wp.float64)  # m/s, largest normal speed of the last two steps
    rebound: wp.array(dtype=wp.float64)  # m/s at which the surfaces part after a blow
    closing: wp.array(dtype=wp.float64)  # m, of the bounce: how much further they would have to move in a step for that
    friction: wp.array(dtype=wp.float64)  # coefficient
    stiffness: wp.array(dtype=wp.float64)  # N/m
    stretch: wp.array(dtype=vec3)  # of the friction spring, m
    roll_arm: wp.array(dtype=wp.float64)  # m, of the moments against rolling and against spinning about the normal
    spin_arm: wp.array(dtype=wp.float64)
    coil: wp.array(dtype=vec3)  # of the springs against them, rad
    press: wp.array(dtype=wp.float64)  # normal force, N
    load: wp.array(dtype=wp.float64)  # that which bounds moments in this iteration, N
    bound: wp.array(dtype=wp.float64)  # of friction in this iteration, N
    last_bound: wp.array(dtype=wp.float64)  # of the iteration before, and what it should have been, if it slid; or -1
    last_result: wp.array(dtype=wp.float64)
    pressed: wp.array(dtype=wp.int32)  # 1 if the surfaces pressed on each other where this iteration began
    pull: wp.array(dtype=vec3)  # the friction spring there, m
    share: wp.array(dtype=vec3)  # guess of friction as a part of its bound, at most of length one
    drag_stiffness: wp.array(dtype=mat33)
    turn_stiffness: wp.array(dtype=mat33)
    force: wp.array(dtype=vec3)  # on a


@wp.struct
class Touch:
    """One contact at a pose."""

    gap: real
    pull: vec3  # friction spring, m
    wound: vec3  # springs against rolling and spinning, rad


@wp.func
def turned(b: Bodies, i: int) -> vec3:
    """How far body i has turned since the start of the step, rad; 0 for bodies with a path, whose way is known before."""
    if i >= b.Q_past.shape[0]:
        return vec3()
    return rotation_vector(polar_rotation(linear_part(b.Q[i])) * wp.transpose(polar_rotation(linear_part(b.Q_past[i]))))


@wp.func
def resists_turns(t: Touches, c: int) -> bool:
    return t.roll_arm[c] > real(0.0) or t.spin_arm[c] > real(0.0)


@wp.func
def rotation_vector(R: mat33) -> vec3:
    """Of turns below pi."""
    w = axial(R)
    sine = wp.length(w)
    if sine < real(1.0e-8):
        return w
    return w * (wp.atan2(sine, real(0.5) * (wp.trace(R) - real(1.0))) / sine)


@wp.func
def at_pose(b: Bodies, t: Touches, c: int) -> Touch:
    Qa = b.Q[t.a[c]]
    Qb = b.Q[t.b[c]]
    n = t.normal[c]
    touch = Touch()
    touch.gap = wp.dot(n, point_at(Qa, t.core_a[c]) - point_at(Qb, t.core_b[c])) - t.radii[c]
    slip = point_at(Qa, t.core_a[c]) - point_at(Qb, t.core_b[c]) - t.parted[c]
    winds = resists_turns(t, c)
    if winds or wp.length_sq(t.arm_a[c]) > real(0.0):
        turn = turned(b, t.a[c])
        slip += wp.cross(turn, t.arm_a[c])
        touch.wound = touch.wound + turn
    if winds or wp.length_sq(t.arm_b[c]) > real(0.0):
        turn = turned(b, t.b[c])
        slip -= wp.cross(turn, t.arm_b[c])
        touch.wound = touch.wound - turn
    touch.wound = touch.wound + t.coil[c]
    touch.pull = t.stretch[c] + slip - n * wp.dot(n, slip)
    return touch


@wp.func
def sticks(t: Touches, c: int, pull: vec3, bound: real) -> bool:
    return t.stiffness[c] * wp.length(pull) <= bound


@wp.func
def next_bound(t: Touches, c: int, result: real) -> real:
    """Of sliding friction, from what the normal force made of the last bounds: a secant step where two iterations slid."""
    bound = t.bound[c]
    choice = result
    if t.last_bound[c] > real(0.0) and wp.abs(bound - t.last_bound[c]) > real(1.0e-9) * bound:
        slope = (result - t.last_result[c]) / (bound - t.last_bound[c])
        choice = bound + (result - bound) / (real(1.0) - wp.clamp(slope, real(-2.0), real(0.7)))
    t.last_bound[c] = bound
    t.last_result[c] = result
    return wp.max(choice, real(0.0))


@wp.func
def press_of(t: Touches, c: int, touch: Touch) -> real:
    """Normal force, N."""
    return wp.max(-t.stiffness[c] * touch.gap, real(0.0))


@wp.func
def drag_of(t: Touches, c: int, touch: Touch) -> vec3:
    """Friction on b, N."""
    if sticks(t, c, touch.pull, t.bound[c]):
        return touch.pull * t.stiffness[c]
    return touch.pull * (t.bound[c] / wp.length(touch.pull))


@wp.func
def yielding(k: real, bound: real, size: real) -> real:
    """Stiffness, from the origin, of a spring that gives no more than its bound."""
    if k * size <= bound or size == real(0.0):
        return wp.where(bound > real(0.0), k, real(0.0))
    return bound / size


@wp.func
def yielding_energy(k: real, bound: real, size: real) -> real:
    if k * size <= bound:
        return real(0.5) * k * size * size
    return bound * size - real(0.5) * bound * bound / k


@wp.func
def turn_stiffness(t: Touches, c: int, touch: Touch) -> mat33:
    """Of the moments against rolling and spinning, from the origin: times the wound springs it is the moment on b."""
    n = t.normal[c]
    spin = wp.dot(n, touch.wound)
    roll = wp.length(touch.wound - n * spin)
    k = t.stiffness[c]
    r = t.roll_arm[c]
    s = t.spin_arm[c]
    normal = wp.outer(n, n)
    rolling = (wp.identity(n=3, dtype=real) - normal) * yielding(k * r * r, r * t.load[c], roll)
    return rolling + normal * yielding(k * s * s, s * t.load[c], wp.abs(spin))


@wp.func
def turns_yield(t: Touches, c: int, touch: Touch, load: real) -> bool:
    """Whether a normal force is too small for the moments that hold the turns."""
    spin = wp.dot(t.normal[c], touch.wound)
    roll = wp.length(touch.wound - t.normal[c] * spin)
    k = t.stiffness[c]
    return k * t.roll_arm[c] * roll > load or k * t.spin_arm[c] * wp.abs(spin) > load


@wp.func
def turn_energy(t: Touches, c: int, touch: Touch) -> real:
    spin = wp.dot(t.normal[c], touch.wound)
    roll = wp.length(touch.wound - t.normal[c] * spin)
    k = t.stiffness[c]
    r = t.roll_arm[c]
    s = t.spin_arm[c]
    return yielding_energy(k * r * r, r * t.load[c], roll) + yielding_energy(k * s * s, s * t.load[c], wp.abs(spin))


@wp.func
def coil_left(t: Touches, c: int, touch: Touch) -> vec3:
    """What the bounds leave of the wound springs, rad."""
    moment = turn_stiffness(t, c, touch) * touch.wound
    n = t.normal[c]
    spin = n * wp.dot(n, moment)
    k = t.stiffness[c]
    left = vec3()
    if t.roll_arm[c] > real(0.0):
        left += (moment - spin) * (real(1.0) / (k * t.roll_arm[c] * t.roll_arm[c]))
    if t.spin_arm[c] > real(0.0):
        left += spin * (real(1.0) / (k * t.spin_arm[c] * t.spin_arm[c]))
    return left


@wp.func
def touch_energy(t: Touches, c: int, touch: Touch) -> real:
    k = t.stiffness[c]
    half = real(0.5)
    gap = wp.min(touch.gap, real(0.0))
    energy = half * k * gap * gap
    energy += yielding_energy(t.stiffness[c], t.bound[c], wp.length(touch.pull))
    if resists_turns(t, c):
        energy += turn_energy(t, c, touch)
    return energy


@wp.func
def drag_stiffness(t: Touches, c: int, touch: Touch) -> mat33:
    """Of friction, world frame; sliding with the guess of its direction in it (Chan, Golub and Mulet 1999).

    The exact Hessian has no stiffness along the slip, and Newton's steps would jump over the point where it ends.
    """
    n = t.normal[c]
    across = wp.identity(n=3, dtype=real) - wp.outer(n, n)
    if sticks(t, c, touch.pull, t.bound[c]):
        if t.bound[c] == real(0.0):
            return mat33()
        return across * t.stiffness[c]
    size = wp.length(touch.pull)
    along = touch.pull * (real(1.0) / size)
    guess = t.share[c] - n * wp.dot(n, t.share[c])
    both = wp.outer(guess, along) + wp.outer(along, guess)
    return (across - both * real(0.5)) * (t.bound[c] / size)


@wp.func
def guess_drag(t: Touches, c: int, pull: vec3):
    """What a Newton step that takes the friction spring to `pull` makes of the guess."""
    size = wp.length(t.pull[c])
    guess = vec3()
    if sticks(t, c, t.pull[c], t.bound[c]):
        if t.bound[c] > real(0.0):
            guess = pull * (t.stiffness[c] / t.bound[c])
    else:
        along = t.pull[c] * (real(1.0) / size)
        change = pull - t.pull[c]
        guess = along + (change - t.share[c] * wp.dot(along, change)) * (real(1.0) / size)
    t.share[c] = guess * (real(1.0) / wp.max(wp.length(guess), real(1.0)))


@wp.func
def push(b: Bodies, i: int, core: vec3, arm: vec3, f: vec3, y: wp.array(dtype=mat34)):
    """y += the generalised force of a force f (world) at an arm from a core point."""
    f_body = wp.transpose(b.R[i]) * f
    Y = compose(wp.outer(f_body, core), f_body)
    if wp.length_sq(arm) > real(0.0):
        Y += compose(cross_matrix(wp.transpose(b.R[i]) * wp.cross(arm, f)) * real(0.5), vec3())
    y[i] = y[i] + Y


@wp.func
def torque_against(b: Bodies, i: int, moment: vec3) -> vec3:
    """Torque that does, as body i turns on, what a moment does along its rotation vector since the start of the step."""
    if wp.length_sq(moment) == real(0.0):
        return moment
    turn = turned(b, i)
    size2 = wp.length_sq(turn)
    c = real(1.0) / real(12.0)
    if size2 > real(1.0e-4):
        half = real(0.5) * wp.sqrt(size2)
        c = (real(1.0) - half * wp.cos(half) / wp.sin(half)) / size2
    return moment + wp.cross(turn, moment) * real(0.5) + wp.cross(turn, wp.cross(turn, moment)) * c


@wp.func
def twist(b: Bodies, i: int, moment: vec3, y: wp.array(dtype=mat34)):
    """y += the generalised force of a moment (world)."""
    y[i] = y[i] + compose(cross_matrix(wp.transpose(b.R[i]) * moment) * real(0.5), vec3())


@wp.func
def turn_under(b: Bodies, i: int, Y: mat34) -> vec3:
    """World turn of body i under Y (body frame)."""
    return b.R[i] * axial(linear_part(Y))


@wp.func
def motion_at(b: Bodies, i: int, core: vec3, arm: vec3, Y: mat34) -> vec3:
    """World motion at an arm from a core point under Y (body frame)."""
    return b.R[i] * point_at(Y, core) + wp.cross(b.R[i] * axial(linear_part(Y)), arm)


@wp.func
def stiffen(b: Bodies, i: int, K: mat33, D: mat33, core: vec3, arm: vec3):
    """Add to a body's Hessian the stiffness K of a core point and D at an arm from it (world)."""
    R = b.R[i]
    if wp.length_sq(arm) == real(0.0):
        stiffen_point(b.hessian, b.slot[i], wp.transpose(R) * (K + D) * R, core)
        return
    stiffen_point(b.hessian, b.slot[i], wp.transpose(R) * K * R, core)
    stiffen_arm(b.hessian, b.slot[i], wp.transpose(R) * D * R, core, wp.transpose(R) * arm)
