"""Restitution, and the momentum that iterations leave open."""

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
    def sum_pushes(a: Whole, island: int):
        """land.push <- the contact forces on each component."""
        for e in range(a.land.start[island], a.land.start[island + 1]):
            a.land.push[a.land.member[e]] = vec3()
        for e in range(a.land.touch_start[island], a.land.touch_start[island + 1]):
            c = a.land.touch[e]
            i = a.t.a[c]
            if i < a.land.moving:
                a.land.push[a.land.component[i]] = a.land.push[a.land.component[i]] + a.t.force[c]
            i = a.t.b[c]
            if i < a.land.moving:
                a.land.push[a.land.component[i]] = a.land.push[a.land.component[i]] - a.t.force[c]

    @wp.func
    def balance(a: Whole, island: int):
        """Shift components that nothing holds until contact forces account for all of their momentum.

        What the iterations leave of the equations would else be momentum from nowhere: the forces of a contact are equal.
        """
        sum_pushes(a, island)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            m = a.land.member[e]
            if a.land.anchored[m] == 0:
                left = a.land.push[m]
                inertia = real(0.0)
                for i in range(a.land.body_start[m], a.land.body_end[m]):
                    body = a.b.types[a.b.kind[i]]
                    heavy = body.mass * body.inverse_beta2
                    inertia += heavy
                    left += a.s.gravity * body.mass - translation_part(a.b.Q[i] - a.b.Q_free[i]) * heavy
                    if a.b.loaded == 1:
                        left += translation_part(a.b.force[i])
                shift = compose(mat33(), left * (real(1.0) / inertia))
                for i in range(a.land.body_start[m], a.land.body_end[m]):
                    a.b.Q[i] = a.b.Q[i] + shift

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
        for e in range(a.land.touch_start[island], a.land.touch_start[island + 1]):
            c = a.land.touch[e]
            a.t.force[c] = a.t.normal[c] * (a.t.stiffness[c] * wp.max(-left_to_close(a, c), real(0.0)))
        sum_pushes(a, island)
        for e in range(a.land.start[island], a.land.start[island + 1]):
            m = a.land.member[e]
            if a.land.anchored[m] == 0:
                left = a.land.push[m]
                inertia = real(0.0)
                for i in range(a.land.body_start[m], a.land.body_end[m]):
                    body = a.b.types[a.b.kind[i]]
                    heavy = body.mass * body.inverse_beta2
                    inertia += heavy
                    left += a.b.R[i] * translation_part(a.h.total[i]) * heavy
                for i in range(a.land.body_start[m], a.land.body_end[m]):
                    shift = wp.transpose(a.b.R[i]) * left * (real(-1.0) / inertia)
                    a.h.total[i] = a.h.total[i] + compose(mat33(), shift)

    @wp.func
    def take_bounce(a: Whole, island: int):
        for e in range(a.land.start[island], a.land.start[island + 1]):
            for i in range(a.land.body_start[a.land.member[e]], a.land.body_end[a.land.member[e]]):
                R = a.b.R[i]
                Y = a.h.total[i]
                change = compose(R * linear_part(Y), R * translation_part(Y))
                a.b.V[i] = a.b.V[i] - change * (real(1.0) / a.s.h)

    return SimpleNamespace(balance=balance, close_contacts=close_contacts, bounce=bounce, take_bounce=take_bounce)
