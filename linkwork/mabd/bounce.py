"""Restitution: the speeds with which bodies part after a blow."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import compose, linear_part, mat33, mat34, point_at, real, translation_part, vec3
from linkwork.mabd.island_solve import island_solver
from linkwork.mabd.members import LINEARISE, SILENCE
from linkwork.mabd.touches import motion_at, push, stiffen


@cache
def bouncer(small: int, large: int) -> SimpleNamespace:
    """Warp functions for islands of components of two sizes of nodes."""
    solver = island_solver(small, large)
    Whole, each, solve = solver.Whole, solver.each, solver.solve

    @wp.func
    def speed_now(a: Whole, i: int, X: vec3) -> vec3:
        """Of a material point at the end of a step of implicit Euler."""
        if i >= a.land.moving:
            return point_at(a.b.V[i], X)
        return point_at(a.b.Q[i] - a.b.V[i], X) * (real(1.0) / a.s.h)

    @wp.func
    def close_contacts(a: Whole, island: int) -> bool:
        """Begin a bounce; False where nothing bounces."""
        result = bool(False)
        for e in range(a.land.touch_start[island], a.land.touch_start[island + 1]):
            c = a.land.touch[e]
            a.t.drag_stiffness[c] = mat33()
            a.t.turn_stiffness[c] = mat33()
            a.t.bound[c] = real(0.0)
            a.t.pressed[c] = 0
            a.t.closing[c] = real(1.0)
            if a.t.press[c] > real(0.0):
                between = speed_now(a, a.t.a[c], a.t.core_a[c]) - speed_now(a, a.t.b[c], a.t.core_b[c])
                a.t.closing[c] = a.s.h * (wp.dot(a.t.normal[c], between) - a.t.rebound[c])
                if a.t.closing[c] < real(0.0):
                    a.t.pressed[c] = 1
                    if a.t.rebound[c] > real(0.0):
                        result = bool(True)
        return result

    @wp.func
    def left_to_close(a: Whole, c: int) -> real:
        """What the bounce in h.total leaves of a contact's closing."""
        left = a.t.closing[c]
        if a.t.a[c] < a.land.moving:
            left -= wp.dot(a.t.normal[c], motion_at(a.b, a.t.a[c], a.t.core_a[c], vec3(), a.h.total[a.t.a[c]]))
        if a.t.b[c] < a.land.moving:
            left += wp.dot(a.t.normal[c], motion_at(a.b, a.t.b[c], a.t.core_b[c], vec3(), a.h.total[a.t.b[c]]))
        return left

    @wp.func
    def bounce(a: Whole, island: int):
        """h.total <- minus the motion, in a step, of the speeds with which bodies part after a blow.

        Impulses along the normals of contacts that press, none of them pulling, each to the speed of its restitution at
        least. They act on bodies and joints as forces within a step do.
        """
        changed = bool(True)
        count = int(0)
        while changed and count < 10:
            count += 1
            each(a, island, LINEARISE, real(0.0), 1)
            each(a, island, SILENCE, real(0.0), 0)
            for e in range(a.land.start[island], a.land.start[island + 1]):
                for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                    a.b.g[i] = mat34()
            for e in range(a.land.touch_start[island], a.land.touch_start[island + 1]):
                c = a.land.touch[e]
                if a.t.pressed[c] == 1:
                    n = a.t.normal[c]
                    f = n * (a.t.stiffness[c] * a.t.closing[c])
                    K = wp.outer(n, n) * a.t.stiffness[c]
                    i = a.t.a[c]
                    if i < a.land.moving:
                        push(a.b, i, a.t.core_a[c], vec3(), f, a.b.g)
                        stiffen(a.b, i, K, mat33(), a.t.core_a[c], vec3())
                    i = a.t.b[c]
                    if i < a.land.moving:
                        push(a.b, i, a.t.core_b[c], vec3(), -f, a.b.g)
                        stiffen(a.b, i, K, mat33(), a.t.core_b[c], vec3())
            solve(a, island)
            changed = bool(False)
            for e in range(a.land.touch_start[island], a.land.touch_start[island + 1]):
                c = a.land.touch[e]
                presses = int(0)
                if left_to_close(a, c) < real(0.0):
                    presses = 1
                if presses != a.t.pressed[c]:
                    changed = bool(True)
                    a.t.pressed[c] = presses

    @wp.func
    def take_bounce(a: Whole, island: int):
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                R = a.b.R[i]
                Y = a.h.total[i]
                change = compose(R * linear_part(Y), R * translation_part(Y))
                a.b.V[i] = a.b.V[i] - change * (real(1.0) / a.s.h)

    return SimpleNamespace(close_contacts=close_contacts, bounce=bounce, take_bounce=take_bounce)
