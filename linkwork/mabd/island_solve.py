"""The linear equations of an island: exact solves of its components, conjugate gradients for bodies that press on each other.

Contacts stiffen their two bodies' own Hessians, which keeps the joints' dual matrix as sparse as without contact; the
coupling C between two bodies that touch is left to conjugate gradients, with the joints' exact solve of everything else,
K = [H G^T; G -S], as preconditioner. Bodies that touch only what does not move need none. Joints stay closed in every turn,
because each search direction comes out of K.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import mat34, real
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.islands import Islands
from linkwork.mabd.laws import Laws
from linkwork.mabd.members import ADVANCE, ANSWER, ANSWER_AGAIN, TAKE, TURN, Shared, member_engine
from linkwork.mabd.touch_island import add_coupling, coupled
from linkwork.mabd.touches import Touches

MOST_TURNS = wp.constant(200)  # of conjugate gradients
FEW_TOUCHES = wp.constant(100)
EXACT = wp.constant(wp.float64(1.0e-16))  # part of a Newton step that ends conjugate gradients on small islands
NARROW = wp.constant(wp.float64(1.0e-2))  # and on large ones
FAINT = wp.constant(wp.float64(1.0e-6))  # part of the largest Newton step's energy that no longer matters there


@cache
def island_solver(small: int, large: int) -> SimpleNamespace:
    """Warp functions that solve for all bodies of an island at once, for components of two sizes of nodes."""
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
    def thorough(a: Whole, island: int) -> bool:
        """Whether an island is small enough to be solved to the last, so that blows keep momentum to rounding."""
        return a.land.touch_start[island + 1] - a.land.touch_start[island] <= FEW_TOUCHES

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
        enough = EXACT * wp.max(rho, scale)
        if not thorough(a, island):
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
    def solve(a: Whole, island: int) -> real:
        """h.total and the multipliers <- what the forces b.g and the joints' gaps move; returns the energy of it, J."""
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
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
        return scale

    return SimpleNamespace(Whole=Whole, Few=Few, Many=Many, each=each, faint=faint, thorough=thorough, solve=solve)
