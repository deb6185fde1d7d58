"""The step of an island: components that contacts join move together to the end of the step.

Contacts are springs (touches.py). Each stiffens its two bodies' own Hessians, which keeps the joints' dual matrix as sparse
as without contact; the coupling C between two bodies that touch is left to conjugate gradients, with the joints' exact solve
of everything else, K = [H G^T; G -S], as preconditioner. Bodies that touch only what does not move need none. Joints stay
closed in every sweep, because each search direction comes out of K.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.linear.supernodes import substitute_ahead
from linkwork.mabd.affine import (
    CPU_OPTIONS,
    mat33,
    mat34,
    real,
    vec3,
)
from linkwork.mabd.bodies import TRUST, Bodies, Scheme, predict
from linkwork.mabd.components import Components, Joints, Work
from linkwork.mabd.dual import gather, respond, spread
from linkwork.mabd.dual_solve import dual_solver
from linkwork.mabd.engine import HASTE, component_engine, linearise_bodies, move_bodies
from linkwork.mabd.islands import Islands
from linkwork.mabd.laws import Laws
from linkwork.mabd.rows import linearise_joint
from linkwork.mabd.stiffened import factor_hessian
from linkwork.mabd.touches import (
    Touches,
    at_pose,
    drag_of,
    drag_stiffness,
    guess_drag,
    motion_at,
    next_bound,
    press_of,
    push,
    sticks,
    stiffen,
    touch_energy,
)

MOST_TURNS = wp.constant(200)  # of conjugate gradients
NARROW = wp.constant(wp.float64(1e-2))  # part of a step's energy that ends them
FAINT = wp.constant(wp.float64(1e-6))  # part of the energy of the largest step of all iterations
GENTLE = wp.constant(wp.float64(1.0e-5))  # m/s at which surfaces meet without a blow
ALIKE = wp.constant(wp.float64(1.0e-3))  # how far friction may point away from what was guessed
SETTLED = wp.constant(wp.float64(1.0e-4))  # part of friction's bound that a last iteration may still change


@wp.struct
class Shared:
    """Vectors over moving bodies, body frames."""

    gradient: wp.array(dtype=mat34)
    kept: wp.array(dtype=mat34)
    total: wp.array(dtype=mat34)  # the Newton step
    r: wp.array(dtype=mat34)
    p: wp.array(dtype=mat34)
    Kp: wp.array(dtype=mat34)
    Y: wp.array(dtype=mat34)  # the same as Work.Y and Work.Q_base of all groups
    Q_base: wp.array(dtype=mat34)


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
        at_work = works(t, c)
        i = t.a[c]
        if i < land.moving and at_work:
            # b.g is the gradient, against the force
            push(b, i, t.core_a[c], vec3(), -press, b.g)
            push(b, i, t.core_a[c], t.arm_a[c], drag, b.g)
            stiffen(b, i, K, D, t.core_a[c], t.arm_a[c])
        i = t.b[c]
        if i < land.moving and at_work:
            push(b, i, t.core_b[c], vec3(), press, b.g)
            push(b, i, t.core_b[c], t.arm_b[c], -drag, b.g)
            stiffen(b, i, K, D, t.core_b[c], t.arm_b[c])


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
        if stuck != sticks(t, c, t.pull[c], t.bound[c]):
            result = bool(False)
        if not stuck:
            turned = wp.length(touch.pull * (real(1.0) / wp.length(touch.pull)) - t.share[c])
            if turned > ALIKE or wp.abs(bound - t.bound[c]) > SETTLED * bound:
                result = bool(False)
    return result


@wp.func
def begin_touches(t: Touches, land: Islands, island: int):
    """Before the first iteration friction is bounded by the last step's normal force, and points the same way."""
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        t.bound[c] = t.friction[c] * t.press[c]
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
        drag = drag_of(t, c, at_pose(b, t, c))
        t.force[c] = t.normal[c] * press - drag
        t.stretch[c] = drag * (real(1.0) / t.stiffness[c])


# what a component is asked to do
BEGIN = wp.constant(0)
LINEARISE = wp.constant(1)
ANSWER = wp.constant(2)
ANSWER_AGAIN = wp.constant(3)
TAKE = wp.constant(4)
TURN = wp.constant(5)
ADVANCE = wp.constant(6)
PULL = wp.constant(7)
CLOSE = wp.constant(8)
MEASURE = wp.constant(9)
WEIGH = wp.constant(10)
STRUCK = wp.constant(11)
GO_BACK = wp.constant(12)
CONCLUDE = wp.constant(13)
STEP_ALONE = wp.constant(14)
SEASONED = wp.constant(15)


@cache
def member_engine(size: int) -> SimpleNamespace:
    """What an island does with one of its components, for nodes of the given number of rows."""
    solver = dual_solver(size)
    engine = component_engine(size)
    blocks = solver.blocks
    Factor = blocks.Factor
    vec = blocks.vec
    factor = solver.factor
    substitute = blocks.substitute
    assemble = solver.assemble
    refine = solver.refine
    refine_panels = solver.refine_panels
    gather_rhs = solver.gather_rhs
    count_redundant = solver.count_redundant
    check = engine.check
    settle = engine.settle
    merit = engine.merit
    hit = engine.hit
    go_back = engine.go_back
    conclude = engine.conclude
    advance = engine.advance
    B = wp.constant(size)

    @wp.struct
    class Party:
        J: Joints
        c: Components
        w: Work
        f: Factor
        x: wp.array(dtype=vec)
        residual: wp.array(dtype=vec)
        total: wp.array(dtype=wp.float64)  # multipliers of the Newton step
        search: wp.array(dtype=wp.float64)
        floor: wp.array(dtype=wp.float64)  # per component: what was added to the dual's diagonal

    @wp.func
    def linearise(b: Bodies, s: Scheme, laws: Laws, g: Party, k: int, strained: bool):
        """Bodies with their own gradients and Hessians, and the rows of the joints."""
        linearise_bodies(b, s, g.w, g.c.body_start[k], g.c.body_end[k], strained)
        for j in range(g.c.joint[k], g.c.joint[k + 1]):
            linearise_joint(b, s, g.J, laws, g.w, j, g.c.fresh[k] == 1, 0, True)

    @wp.func
    def answer(b: Bodies, g: Party, h: Shared, k: int, leading: bool):
        """w.Y and w.multiplier <- K^-1 (b.g, joint gaps); not leading: the joints' gaps are zero, the factor is there."""
        body0 = g.c.body_start[k]
        body1 = g.c.body_end[k]
        joint0 = g.c.joint[k]
        joint1 = g.c.joint[k + 1]
        if leading:
            for i in range(body0, body1):
                if b.slot[i] >= 0:
                    factor_hessian(b.hessian, b.slot[i])
        respond(b, g.w, body0, body1)
        if joint1 > joint0:
            if leading:
                g.floor[k] = assemble(b, g.J, g.c, g.w, g.f, k)
                gather_rhs(b, g.J, g.w, joint0, joint1)
                factor(g.c, g.w, g.f, k)
                if g.c.fresh[k] == 1 and g.c.closed[k] == 1:
                    count_redundant(g.c, g.w, k, g.floor[k])
            else:
                gather(b, g.J, g.w, g.w.multiplier, joint0, joint1)
                for u in range(g.c.node[k] * B, g.c.node[k + 1] * B):
                    g.w.multiplier[u] = -g.w.multiplier[u]
            if g.c.closed[k] == 0:
                substitute(g.f, g.x, g.c.node[k], g.c.node[k + 1])
            elif g.c.filled[k] == 1:
                if not leading:
                    for u in range(g.c.node[k] * B, g.c.node[k + 1] * B):
                        g.w.s[u] = g.w.multiplier[u]
                    substitute_ahead(g.w.panels, g.w.s, g.c.super[k], g.c.super[k + 1])
                refine_panels(g.c, g.w, k, g.floor[k])
            else:
                for i in range(body0, body1):
                    h.kept[i] = b.g[i]
                refine(b, g.J, g.c, g.w, g.f, g.residual, k)
                for i in range(body0, body1):
                    b.g[i] = h.kept[i]
            spread(b, g.J, g.w, g.w.multiplier, joint0, joint1)
            respond(b, g.w, body0, body1)

    @wp.func
    def take_part(
        task: int, b: Bodies, s: Scheme, laws: Laws, g: Party, h: Shared, k: int, x: real, n: int
    ) -> wp.vec2d:
        """Do a task with component k; of the numbers returned an island takes the largest first and the sum of the second."""
        first = bool(g.c.fresh[k] == 1)
        result = wp.vec2d(real(0.0), real(0.0))
        u0 = g.c.node[k] * B
        u1 = g.c.node[k + 1] * B
        if task == STEP_ALONE:
            advance(b, s, g.J, laws, g.c, g.w, g.f, g.x, g.residual, k)
        elif task == BEGIN:
            for i in range(g.c.body_start[k], g.c.body_end[k]):
                predict(b, s, i, first)
            g.c.searched[k] = 0
        elif task == LINEARISE:
            linearise(b, s, laws, g, k, n == 1)
        elif task == ANSWER or task == ANSWER_AGAIN:
            answer(b, g, h, k, task == ANSWER)
        elif task == TAKE:
            for u in range(u0, u1):
                g.total[u] = g.w.multiplier[u]
                g.search[u] = real(0.0)
        elif task == TURN:
            for u in range(u0, u1):
                g.search[u] = g.w.multiplier[u] + x * g.search[u]
        elif task == ADVANCE:
            for u in range(u0, u1):
                g.total[u] += x * g.search[u]
        elif task == PULL:
            # the joints' forces join b.g
            for u in range(u0, u1):
                g.w.multiplier[u] = g.total[u]
                result[0] = wp.max(result[0], wp.abs(g.total[u]))
            spread(b, g.J, g.w, g.w.multiplier, g.c.joint[k], g.c.joint[k + 1])
        elif task == CLOSE:
            # close joints where only their gaps are left; 1 if something else is
            small = bool(n > 0)
            met = bool(small)
            if g.c.nonlinear[k] == 1:
                met = settle(b, s, g.J, laws, g.c, g.w, g.f, g.residual, k, first, small, wp.abs(n))
            if not met:
                result[0] = real(1.0)
        elif task == MEASURE and g.c.nonlinear[k] == 0:
            check(b, s, g.J, laws, g.c, g.w, k, first, 0)
        elif task == WEIGH:
            result[1] = merit(b, s, g.J, laws, g.c, g.w, k, first, x)
        elif task == STRUCK:
            if hit(g.J, laws, g.c, k):
                result[0] = real(1.0)
        elif task == SEASONED:
            # 1 if the step went on from the last two
            if not first:
                result[0] = real(1.0)
        elif task == GO_BACK:
            if first:
                for i in range(g.c.body_start[k], g.c.body_end[k]):
                    b.kind[i] = b.kind[i] - s.start_types
            go_back(b, s, g.c, k)
            g.c.fresh[k] = 1
        elif task == CONCLUDE:
            conclude(b, s, g.J, laws, g.c, k, int(x), first, n)
        return result

    return SimpleNamespace(Party=Party, take_part=take_part)


@cache
def island_step(small: int, large: int) -> SimpleNamespace:
    """The step kernel for islands of components of two sizes of nodes."""
    few, many = member_engine(small), member_engine(large)
    Few, Many = few.Party, many.Party
    few_take_part, many_take_part = few.take_part, many.take_part

    @wp.struct
    class Whole:
        """All that an island works with."""

        b: Bodies
        s: Scheme
        laws: Laws
        few: Few
        many: Many
        h: Shared
        t: Touches
        land: Islands

    @wp.func
    def each(a: Whole, island: int, task: int, x: real, n: int) -> wp.vec2d:
        result = wp.vec2d(real(0.0), real(0.0))
        for e in range(a.land.start[island], a.land.start[island + 1]):
            m = a.land.member[e]
            part = wp.vec2d(real(0.0), real(0.0))
            if m < a.land.small:
                part = few_take_part(task, a.b, a.s, a.laws, a.few, a.h, m, x, n)
            else:
                part = many_take_part(task, a.b, a.s, a.laws, a.many, a.h, m - a.land.small, x, n)
            result[0] = wp.max(result[0], part[0])
            result[1] = result[1] + part[1]
        return result

    @wp.func
    def precondition(a: Whole, island: int) -> real:
        """h.Y <- K^-1 (h.r, 0); returns r . Y."""
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.b.g[i] = a.h.r[i]
        each(a, island, ANSWER_AGAIN, real(0.0), 0)
        rho = real(0.0)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                rho += wp.ddot(a.h.r[i], a.h.Y[i])
        return rho

    @wp.func
    def faint(a: Whole, island: int) -> real:
        """Energy J of a Newton step that no longer matters: of weight in a step's fall, or of the largest Newton step."""
        fall = wp.length(a.s.gravity) * a.s.h
        return FAINT * wp.max(a.land.weight[island] * fall * fall, a.land.scale[island])

    @wp.func
    def couple_bodies(a: Whole, island: int, scale: real):
        """From K^-1's answer in h.total to that of the bodies that press on each other; scale: energy of the step, J."""
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.r[i] = mat34()
                a.h.p[i] = mat34()
                a.h.Kp[i] = mat34()
        add_coupling(a.b, a.t, a.land, island, a.h.total, a.h.r)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.r[i] = -a.h.r[i]
        rho = precondition(a, island)
        enough = wp.max(NARROW * wp.max(rho, scale), real(0.1) * faint(a, island))
        ratio = real(0.0)
        turns = int(0)
        while rho > enough and turns < MOST_TURNS:
            for e in range(a.land.start[island], a.land.start[island + 1]):
                for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                    a.h.p[i] = a.h.Y[i] + a.h.p[i] * ratio
                    a.h.Kp[i] = a.h.r[i] + a.h.Kp[i] * ratio
                    a.h.kept[i] = a.h.Kp[i]
            each(a, island, TURN, ratio, 0)
            add_coupling(a.b, a.t, a.land, island, a.h.p, a.h.kept)
            curvature = real(0.0)
            for e in range(a.land.start[island], a.land.start[island + 1]):
                for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                    curvature += wp.ddot(a.h.p[i], a.h.kept[i])
            turns += 1
            if curvature > real(0.0):
                alpha = rho / curvature
                for e in range(a.land.start[island], a.land.start[island + 1]):
                    for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                        a.h.total[i] = a.h.total[i] + a.h.p[i] * alpha
                        a.h.r[i] = a.h.r[i] - a.h.kept[i] * alpha
                each(a, island, ADVANCE, alpha, 0)
                rho_new = precondition(a, island)
                ratio = rho_new / rho
                rho = rho_new
            else:
                rho = real(0.0)
        a.land.turns[island] += turns

    @wp.func
    def newton(a: Whole, island: int, bounding: bool, strained: bool) -> wp.vec4d:
        """One Newton step from the present pose; bounding: with friction bounded by the normal forces there.

        Returns the largest change of any entry of A, step^T H step (J), the largest multiplier and the energy of the step (J).
        """
        straining = int(0)
        if strained:
            straining = 1
        each(a, island, LINEARISE, real(0.0), straining)
        linearise_touches(a.b, a.t, a.land, island, bounding)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.Q_base[i] = a.b.Q[i]
                a.h.gradient[i] = a.b.g[i]
        each(a, island, ANSWER, real(0.0), 0)
        each(a, island, TAKE, real(0.0), 0)
        scale = real(0.0)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.total[i] = a.h.Y[i]
                scale += wp.ddot(a.h.gradient[i], a.h.Y[i])
        scale = wp.abs(scale)
        a.land.scale[island] = wp.max(a.land.scale[island], scale)
        if coupled(a.t, a.land, island):
            couple_bodies(a, island, scale)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.Y[i] = a.h.total[i]
                a.b.g[i] = a.h.gradient[i]
        strongest = each(a, island, PULL, real(0.0), 0)[0]
        decrease = real(0.0)
        largest = real(0.0)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            body0 = a.land.body_start[a.land.member[e]]
            body1 = a.land.body_end[a.land.member[e]]
            for i in range(body0, body1):
                decrease += wp.ddot(a.b.g[i], a.h.Y[i])
            change = move_bodies(a.b, a.few.w, body0, body1, True)
            if largest == largest and not (change <= largest):  # keeps a NaN
                largest = change
        return wp.vec4d(largest, decrease, strongest, scale)

    @wp.func
    def weigh(a: Whole, island: int, weight: real) -> real:
        """Merit of the present pose."""
        return each(a, island, WEIGH, weight, 0)[1] + energy_of_touches(a.b, a.t, a.land, island)

    @wp.func
    def swap_poses(a: Whole, island: int):
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                Q = a.h.Q_base[i]
                a.h.Q_base[i] = a.b.Q[i]
                a.b.Q[i] = Q

    @wp.func
    def restart(a: Whole, island: int, weight: real):
        """Go on from the pose at the start of the step if its merit is below the present one's."""
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.Q_base[i] = a.b.Q_past[i]
        here = weigh(a, island, weight)
        swap_poses(a, island)
        if not (weigh(a, island, weight) < here):
            swap_poses(a, island)

    @wp.func
    def search(a: Whole, island: int, decrease: real, weight: real) -> real:
        """Shorten the step from h.Q_base until the merit falls enough; returns the step length."""
        swap_poses(a, island)
        least = weigh(a, island, weight)
        swap_poses(a, island)
        step = real(1.0)
        halvings = int(0)
        while halvings < 10 and not (
            weigh(a, island, weight) <= least - real(1.0e-4) * step * decrease + real(1.0e-12) * wp.abs(least)
        ):
            step *= real(0.5)
            halvings += 1
            for e in range(a.land.start[island], a.land.start[island + 1]):
                for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                    a.b.Q[i] = (a.b.Q[i] + a.h.Q_base[i]) * real(0.5)
        return step

    @wp.func
    def iterate(a: Whole, island: int) -> int:
        """Bring an island to the end of the step; returns the iterations used, negative if the line search was needed."""
        each(a, island, BEGIN, real(0.0), 0)
        begin_touches(a.t, a.land, island)
        largest = real(0.0)
        before = real(0.0)
        weight = real(0.0)
        used = int(0)
        searched = bool(False)
        done = bool(False)
        while not done:
            before = largest
            # friction's bounds follow the normal forces for a while; then the problem left is convex, and comes to an end
            bounding = bool(used > 0 and used < HASTE)
            result = newton(a, island, bounding, used > 0 or a.s.published == 1)
            largest = result[0]
            used += 1
            guess_drags(a.b, a.t, a.land, island)
            settled = touches_settled(a.b, a.t, a.land, island, used < HASTE)
            if used == 1 and largest > TRUST and a.s.iterations > 1:
                searched = bool(True)
                restart(a, island, real(1.5) * result[2])
                settled = bool(False)
            elif used > 1:
                if largest > TRUST or largest > real(0.3) * before:
                    searched = bool(searched or largest > a.s.update_tolerance)
                if not settled or (searched and largest > a.s.update_tolerance):
                    weight = wp.max(weight, real(1.5) * result[2])
                    step = search(a, island, result[1], weight)
                    largest *= step
                    if step < real(1.0):
                        settled = bool(False)
            met = bool(False)
            if largest < real(1.0e3):
                near = -used
                if (settled or result[3] <= faint(a, island)) and largest <= a.s.update_tolerance:
                    near = used
                if used < a.s.iterations:
                    met = bool(each(a, island, CLOSE, real(0.0), near)[0] == real(0.0))
            done = bool(met or used >= a.s.iterations or not (largest < real(1.0e3)))
        if used >= a.s.iterations and largest < real(1.0e3):
            # time is up: bodies may be off balance, but joints are to be closed
            each(a, island, CLOSE, real(0.0), used)
        each(a, island, MEASURE, real(0.0), 0)
        if not (largest < real(1.0e3)):
            a.land.failed[0] = 1 + a.land.member[a.land.start[island]]
        if searched:
            return -used
        return used

    @wp.func
    def step_together(a: Whole, island: int):
        used = iterate(a, island)
        fresh = int(0)
        if a.s.euler == 0:
            struck = bool(used < 0 or touches_struck(a.b, a.t, a.land, island))
            if not struck:
                struck = bool(each(a, island, STRUCK, real(0.0), 0)[0] > real(0.0))
            if struck:
                # BDF2 would carry the speed from before the blow into the next steps: bodies would bounce
                fresh = 1
                if each(a, island, SEASONED, real(0.0), 0)[0] > real(0.0):
                    each(a, island, GO_BACK, real(0.0), 0)
                    used = wp.abs(used) + wp.abs(iterate(a, island))
        end_touches(a.b, a.t, a.land, island)
        each(a, island, CONCLUDE, real(wp.abs(used)), fresh)

    @wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
    def step_islands(a: Whole):
        island = wp.tid()
        if island < a.land.count[0] and a.land.failed[0] == 0:
            a.land.turns[island] = 0
            a.land.scale[island] = real(0.0)
            a.land.weight[island] = real(0.0)
            for e in range(a.land.start[island], a.land.start[island + 1]):
                a.land.weight[island] += a.land.mass[a.land.member[e]]
            alone = bool(a.land.start[island + 1] - a.land.start[island] == 1)
            if alone and a.land.touch_start[island + 1] == a.land.touch_start[island]:
                each(a, island, STEP_ALONE, real(0.0), 0)
            else:
                step_together(a, island)

    return SimpleNamespace(Whole=Whole, few=Few, many=Many, step=step_islands)
