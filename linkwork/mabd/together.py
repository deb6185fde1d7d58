"""The step of an island: components that contacts join move together to the end of the step, contacts as springs."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import CPU_OPTIONS, real
from linkwork.mabd.bodies import TRUST
from linkwork.mabd.bounce import bouncer
from linkwork.mabd.engine import HASTE, move_bodies
from linkwork.mabd.island_solve import island_solver
from linkwork.mabd.members import (
    BEGIN,
    CLOSE,
    CONCLUDE,
    GO_BACK,
    LINEARISE,
    MEASURE,
    PULL,
    RECALL,
    REMEMBER,
    SEASONED,
    STEP_ALONE,
    STRUCK,
    WEIGH,
)
from linkwork.mabd.touch_island import (
    begin_touches,
    end_touches,
    energy_of_touches,
    guess_drags,
    linearise_touches,
    touches_settled,
    touches_struck,
)

MORE = wp.constant(6)  # Newton steps at most to close joints when time is up


@cache
def island_step(small: int, large: int) -> SimpleNamespace:
    """The step kernel for islands of components of two sizes of nodes."""
    solver = island_solver(small, large)
    Whole, each, solve = solver.Whole, solver.each, solver.solve
    faint, thorough = solver.faint, solver.thorough
    bounces_of = bouncer(small, large)
    close_contacts, bounce, take_bounce = bounces_of.close_contacts, bounces_of.bounce, bounces_of.take_bounce

    @wp.func
    def newton(a: Whole, island: int, bounding: bool, strained: bool) -> wp.vec4d:
        """One Newton step from the present pose; bounding: with friction bounded by the normal forces there.

        Returns the largest change of any entry of A, step^T H step (J), the largest multiplier and the step's energy (J).
        """
        straining = int(0)
        if strained:
            straining = 1
        each(a, island, LINEARISE, real(0.0), straining)
        linearise_touches(a.b, a.t, a.land, island, bounding)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                a.h.Q_base[i] = a.b.Q[i]
        scale = solve(a, island)
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
    def few_left(a: Whole, island: int, energy: real) -> bool:
        """Whether a Newton step of this energy was too small to matter, on a large island."""
        return not thorough(a, island) and energy <= faint(a, island)

    @wp.func
    def iterate(a: Whole, island: int) -> int:
        """From the predicted pose to the end of the step; returns the iterations used, negative after a line search."""
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
                if (settled or few_left(a, island, result[3])) and largest <= a.s.update_tolerance:
                    near = used
                if used < a.s.iterations:
                    met = bool(each(a, island, CLOSE, real(0.0), near)[0] == real(0.0))
            done = bool(met or used >= a.s.iterations or not (largest < real(1.0e3)))
        if used >= a.s.iterations and largest < real(1.0e3):
            # time is up: bodies may be off balance, but joints are to be closed
            more = int(0)
            while each(a, island, CLOSE, real(0.0), used)[0] > real(0.0) and more < MORE and a.s.iterations > 1:
                newton(a, island, False, True)
                more += 1
        each(a, island, MEASURE, real(0.0), 0)
        if not (largest < real(1.0e3)):
            a.land.failed[0] = 1 + a.land.member[a.land.start[island]]
        if searched:
            return -used
        return used

    @wp.func
    def begin_anew(a: Whole, island: int):
        """Back to the start of the step, with implicit Euler."""
        each(a, island, GO_BACK, real(0.0), 0)
        each(a, island, BEGIN, real(0.0), 0)

    @wp.func
    def step_together(a: Whole, island: int):
        each(a, island, BEGIN, real(0.0), 0)
        # BDF2 would carry the speed from before a blow into the next steps: bodies would bounce
        struck = bool(a.s.euler == 0 and touches_struck(a.b, a.t, a.land, island))
        seasoned = bool(each(a, island, SEASONED, real(0.0), 0)[0] > real(0.0))
        if struck and seasoned:
            begin_anew(a, island)
            seasoned = bool(False)
        used = iterate(a, island)
        if a.s.euler == 0 and not struck:
            struck = bool(used < 0 or touches_struck(a.b, a.t, a.land, island))
            if not struck:
                struck = bool(each(a, island, STRUCK, real(0.0), 0)[0] > real(0.0))
            if struck and seasoned:
                begin_anew(a, island)
                used = wp.abs(used) + wp.abs(iterate(a, island))
        end_touches(a.b, a.t, a.land, island)
        fresh = int(0)
        bounces = bool(False)
        if struck or a.s.euler == 1:
            bounces = close_contacts(a, island)
        if bounces:
            each(a, island, REMEMBER, real(0.0), 0)
            bounce(a, island)
            each(a, island, RECALL, real(0.0), 0)
        if struck:
            fresh = 1
        each(a, island, CONCLUDE, real(wp.abs(used)), fresh)
        if bounces:
            take_bounce(a, island)

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
                if a.land.failed[0] != 0:
                    a.land.failed[0] = 1 + a.land.member[a.land.start[island]]
            else:
                step_together(a, island)

    return SimpleNamespace(Whole=Whole, few=solver.Few, many=solver.Many, step=step_islands)
