"""The contacts of an island: forces and stiffness at a pose, couplings, and whether they are as they were linearised."""

import warp as wp

from linkwork.mabd.affine import mat33, mat34, real, vec3
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.islands import Islands
from linkwork.mabd.stiffened import stiffen_turn
from linkwork.mabd.touches import (
    Touches,
    at_pose,
    coil_left,
    drag_of,
    drag_stiffness,
    guess_drag,
    motion_at,
    next_bound,
    press_of,
    push,
    resists_turns,
    sticks,
    stiffen,
    torque_against,
    touch_energy,
    turn_stiffness,
    turn_under,
    turns_yield,
    twist,
)

GENTLE = wp.constant(wp.float64(1.0e-5))  # m/s at which surfaces meet without a blow
ALIKE = wp.constant(wp.float64(1.0e-3))  # how far friction may point away from what was guessed
SETTLED = wp.constant(wp.float64(1.0e-4))  # part of friction's bound that a last iteration may still change


@wp.func
def works(t: Touches, c: int) -> bool:
    """Whether a contact had any force where it was linearised."""
    return t.pressed[c] == 1 or t.bound[c] > real(0.0)


@wp.func
def linearise_touches(b: Bodies, t: Touches, land: Islands, island: int, bounding: bool):
    """Forces and stiffness of the contacts of an island at the present pose, into b.g and the bodies' Hessians."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        touch = at_pose(b, t, c)
        if bounding:
            bound = t.friction[c] * press_of(t, c, touch)
            if sticks(t, c, touch.pull, bound):
                t.last_bound[c] = real(-1.0)
            else:
                bound = next_bound(t, c, bound)
            t.bound[c] = bound
            t.load[c] = press_of(t, c, touch)
        t.pull[c] = touch.pull
        n = t.normal[c]
        press = n * press_of(t, c, touch)
        drag = drag_of(t, c, touch)
        K = mat33()
        t.pressed[c] = 0
        if touch.gap < real(0.0):
            t.pressed[c] = 1
            K = wp.outer(n, n) * t.stiffness[c]
        D = drag_stiffness(t, c, touch)
        t.drag_stiffness[c] = D
        winds = bool(resists_turns(t, c) and t.load[c] > real(0.0))
        T = mat33()
        if winds:
            T = turn_stiffness(t, c, touch)
        t.turn_stiffness[c] = T
        at_work = works(t, c)
        i = t.a[c]
        if i < land.moving and at_work:
            # b.g is the gradient, against the force
            push(b, i, t.core_a[c], vec3(), -press, b.g)
            push(b, i, t.core_a[c], vec3(), drag, b.g)
            twist(b, i, torque_against(b, i, wp.cross(t.arm_a[c], drag)), b.g)
            stiffen(b, i, K, D, t.core_a[c], t.arm_a[c])
            if winds:
                twist(b, i, torque_against(b, i, T * touch.wound), b.g)
                stiffen_turn(b.hessian, b.slot[i], wp.transpose(b.R[i]) * T * b.R[i])
        i = t.b[c]
        if i < land.moving and at_work:
            push(b, i, t.core_b[c], vec3(), press, b.g)
            push(b, i, t.core_b[c], vec3(), -drag, b.g)
            twist(b, i, torque_against(b, i, wp.cross(t.arm_b[c], -drag)), b.g)
            stiffen(b, i, K, D, t.core_b[c], t.arm_b[c])
            if winds:
                twist(b, i, torque_against(b, i, -(T * touch.wound)), b.g)
                stiffen_turn(b.hessian, b.slot[i], wp.transpose(b.R[i]) * T * b.R[i])


@wp.func
def add_coupling(b: Bodies, t: Touches, land: Islands, island: int, p: wp.array(dtype=mat34), y: wp.array(dtype=mat34)):
    """y += C p: what the motion of one body of a contact does to the other."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        i = t.a[c]
        j = t.b[c]
        if works(t, c) and i < land.moving and j < land.moving:
            n = t.normal[c]
            D = t.drag_stiffness[c]
            k = real(0.0)
            if t.pressed[c] == 1:
                k = t.stiffness[c]
            zero = vec3()
            on_a = n * (-k * wp.dot(n, motion_at(b, j, t.core_b[c], zero, p[j])))
            on_b = n * (-k * wp.dot(n, motion_at(b, i, t.core_a[c], zero, p[i])))
            drag_a = -(D * motion_at(b, j, t.core_b[c], t.arm_b[c], p[j]))
            drag_b = -(D * motion_at(b, i, t.core_a[c], t.arm_a[c], p[i]))
            push(b, i, t.core_a[c], zero, on_a, y)
            push(b, i, t.core_a[c], t.arm_a[c], drag_a, y)
            push(b, j, t.core_b[c], zero, on_b, y)
            push(b, j, t.core_b[c], t.arm_b[c], drag_b, y)
            if resists_turns(t, c):
                T = t.turn_stiffness[c]
                moment_a = -(T * turn_under(b, j, p[j]))
                moment_b = -(T * turn_under(b, i, p[i]))
                twist(b, i, moment_a, y)
                twist(b, j, moment_b, y)


@wp.func
def coupled(t: Touches, land: Islands, island: int) -> bool:
    """Whether two moving bodies press on each other."""
    result = bool(False)
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        if works(t, c) and t.a[c] < land.moving and t.b[c] < land.moving:
            result = bool(True)
    return result


@wp.func
def energy_of_touches(b: Bodies, t: Touches, land: Islands, island: int) -> real:
    energy = real(0.0)
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        energy += touch_energy(t, c, at_pose(b, t, c))
    return energy


@wp.func
def guess_drags(b: Bodies, t: Touches, land: Islands, island: int):
    """After a Newton step, at its full length."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        guess_drag(t, c, at_pose(b, t, c).pull)


@wp.func
def touches_settled(b: Bodies, t: Touches, land: Islands, island: int, bounding: bool) -> bool:
    """Whether every contact is still as it was linearised, friction's bound included unless it is fixed by now."""
    result = bool(True)
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        touch = at_pose(b, t, c)
        if (touch.gap < real(0.0)) != (t.pressed[c] == 1):
            result = bool(False)
        bound = t.bound[c]
        if bounding:
            bound = t.friction[c] * press_of(t, c, touch)
        stuck = sticks(t, c, touch.pull, bound)
        if bound > real(0.0) or t.bound[c] > real(0.0):
            if stuck != sticks(t, c, t.pull[c], t.bound[c]):
                result = bool(False)
            if not stuck:
                turned = wp.length(touch.pull * (real(1.0) / wp.length(touch.pull)) - t.share[c])
                if turned > ALIKE or wp.abs(bound - t.bound[c]) > SETTLED * bound:
                    result = bool(False)
        if bounding and resists_turns(t, c):
            press = press_of(t, c, touch)
            if wp.abs(press - t.load[c]) > SETTLED * press and turns_yield(t, c, touch, wp.min(press, t.load[c])):
                result = bool(False)
    return result


@wp.func
def begin_touches(t: Touches, land: Islands, island: int):
    """Before the first iteration friction is bounded by the last step's normal force, and points the same way."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        t.bound[c] = t.friction[c] * t.press[c]
        t.load[c] = t.press[c]
        t.last_bound[c] = real(-1.0)
        guess = vec3()
        if t.bound[c] > real(0.0):
            guess = t.stretch[c] * (t.stiffness[c] / t.bound[c])
        t.share[c] = guess * (real(1.0) / wp.max(wp.length(guess), real(1.0)))


@wp.func
def touches_struck(b: Bodies, t: Touches, land: Islands, island: int) -> bool:
    """Whether a contact presses whose surfaces came together at the start of this step or the last."""
    result = bool(False)
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        if t.approach[c] > GENTLE and at_pose(b, t, c).gap < real(0.0):
            result = bool(True)
    return result


@wp.func
def end_touches(b: Bodies, t: Touches, land: Islands, island: int):
    """Keep the forces, and of the friction spring what its bound allows."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        press = press_of(t, c, at_pose(b, t, c))
        t.press[c] = press
        t.bound[c] = t.friction[c] * press
        t.load[c] = press
        touch = at_pose(b, t, c)
        if resists_turns(t, c):
            t.coil[c] = coil_left(t, c, touch)
        drag = drag_of(t, c, touch)
        t.force[c] = t.normal[c] * press - drag
        t.stretch[c] = drag * (real(1.0) / t.stiffness[c])
