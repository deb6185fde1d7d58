"""Any component: rows of every joint kind, the block-sparse dual, Newton with line search, each component to its own end.

One kernel thread advances one component of the joint graph: it predicts, then linearises bodies and joints, assembles the
dual matrix D = G H^-1 G^T (+ compliance of soft rows), factors it in an order without fill where the graph allows one,
and moves the bodies. Its rows are numbered as in joints.py; lambda is minus the force along a row.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import (
    CPU_OPTIONS,
    axial,
    compose,
    cross_matrix,
    elastic_energy,
    geometric_stiffness,
    linear_part,
    mat34,
    pair_inverses,
    polar_rotation,
    real,
    scale_columns,
    solve_linear_part,
    stress,
    translation_part,
    vec3,
)
from linkwork.mabd.bodies import TRUST, Bodies, Scheme, finish, gradient, predict, step_beta, without_turn
from linkwork.mabd.components import Components, Joints, Work
from linkwork.mabd.coordinates import past_average, swing_size
from linkwork.mabd.dual import respond, spread
from linkwork.mabd.dual_solve import dual_solver
from linkwork.mabd.laws import AT_LOWER, AT_UPPER, Laws, law_potential
from linkwork.mabd.rows import linearise_joint
from linkwork.mabd.stiffened import begin_hessian

HASTE = wp.constant(8)  # iterations in which all laws may change piece at once
CALM = wp.constant(3)  # last iterations, in which none may
MANY = wp.constant(1000000000)


@wp.func
def linearise_bodies(b: Bodies, s: Scheme, w: Work, body0: int, body1: int, strained: bool):
    for i in range(body0, body1):
        body = b.types[b.kind[i]]
        R = b.R[i]
        k = b.k[i]
        N = wp.identity(n=3, dtype=real)
        if strained:
            A = linear_part(b.Q[i])
            R = polar_rotation(A)
            b.R[i] = R
            S = wp.transpose(R) * A
            k = vec3()  # the published Hessian is constant
            if s.published == 0:
                turn = b.k[i]
                if wp.dot(turn, turn) < TRUST * TRUST:
                    k = geometric_stiffness(stress(body.mu, body.lam, without_turn(S, turn)))
                else:
                    k = geometric_stiffness(stress(body.mu, body.lam, S))
            N = wp.inverse((wp.identity(n=3, dtype=real) * wp.trace(S) - S) * real(0.5))
        w.N[i] = N
        P = pair_inverses(body, k)
        b.P[i] = P
        if b.stiffened == 1 and b.slot[i] >= 0:
            begin_hessian(b.hessian, b.slot[i], body, k)
        g = gradient(b, s, i, body, R, strained)
        g = compose(linear_part(g), wp.transpose(R) * translation_part(g))
        b.g[i] = g
        tau = real(1.0) / (body.mass * body.inverse_beta2)
        w.Y[i] = compose(solve_linear_part(body.stretch, P, linear_part(g)), translation_part(g) * tau)


@wp.func
def move_bodies(b: Bodies, w: Work, body0: int, body1: int, keep_turn: bool) -> real:
    """Q -= R Y; returns the largest change of any entry of A."""
    largest = real(0.0)
    for i in range(body0, body1):
        R = b.R[i]
        Y = w.Y[i]
        A = linear_part(Y)
        size = wp.max(wp.max(wp.max(wp.abs(A[0])), wp.max(wp.abs(A[1]))), wp.max(wp.abs(A[2])))
        if largest == largest and not (size <= largest):  # keeps a NaN
            largest = size
        if keep_turn:
            b.k[i] = axial(A)
        b.Q[i] = b.Q[i] - compose(R * A, R * translation_part(Y))
    return largest


@wp.func
def refresh_rotations(b: Bodies, body0: int, body1: int):
    for i in range(body0, body1):
        b.R[i] = polar_rotation(linear_part(b.Q[i]))


@wp.func
def potential(
    b: Bodies, s: Scheme, J: Joints, laws: Laws, w: Work, weight: real, first: bool,
    body0: int, body1: int, joint0: int, joint1: int,
) -> real:  # fmt: skip
    """Merit of the present pose: incremental potential plus weight times the violation of the hard rows."""
    energy = real(0.0)
    for i in range(body0, body1):
        body = b.types[b.kind[i]]
        Q = b.Q[i]
        A = linear_part(Q)
        R = polar_rotation(A)
        b.R[i] = R
        D = Q - b.Q_free[i]
        DA = linear_part(D)
        d = translation_part(D)
        energy += (
            real(0.5)
            * body.inverse_beta2
            * (wp.ddot(DA, scale_columns(DA, body.second_moments)) + body.mass * wp.dot(d, d))
        )
        energy += elastic_energy(body.mu, body.lam, wp.transpose(R) * A - wp.identity(n=3, dtype=real))
        moved = Q - b.Q_past[i]
        energy -= body.mass * wp.dot(s.gravity, translation_part(moved))
        if b.loaded == 1:
            G = b.force[i]
            energy -= wp.ddot(linear_part(G), linear_part(moved)) + wp.dot(translation_part(G), translation_part(moved))
            energy -= real(0.5) * wp.ddot(cross_matrix(b.torque[i]) * R, linear_part(moved))
    rate = real(1.0) / step_beta(s, first)
    for j in range(joint0, joint1):
        linearise_joint(b, s, J, laws, w, j, first, 0, False)
        for r in range(J.first_row[j], J.first_row[j + 1]):
            law = J.law[r]
            energy += weight * wp.abs(J.value[r])
            if law >= 0:
                c_bar = past_average(s, laws, law, first)
                energy += law_potential(laws, law, laws.value[law], c_bar, rate)
    return energy


@cache
def component_engine(size: int) -> SimpleNamespace:
    """The step kernel for components whose joints fit nodes of the given number of rows."""
    solver = dual_solver(size)
    blocks = solver.blocks
    Factor = blocks.Factor
    vec = blocks.vec
    substitute = blocks.substitute
    assemble = solver.assemble
    factor = solver.factor
    count_redundant = solver.count_redundant
    solve_with_factor = solver.solve_with_factor
    refine = solver.refine
    refine_panels = solver.refine_panels
    gather_rhs = solver.gather_rhs
    B = wp.constant(size)

    @wp.func
    def newton(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec), k: int, first: bool, strained: bool,
    ) -> wp.vec3d:  # fmt: skip
        """One Newton step of component k from the present pose.

        Returns the largest change of any entry of A, delta^T H delta (J) and the largest multiplier.
        """
        body0 = c.body_start[k]
        body1 = c.body_end[k]
        joint0 = c.joint[k]
        joint1 = c.joint[k + 1]
        node0 = c.node[k]
        node1 = c.node[k + 1]
        linearise_bodies(b, s, w, body0, body1, strained)
        for j in range(joint0, joint1):
            linearise_joint(b, s, J, laws, w, j, first, 0, True)
        strongest = real(0.0)
        if joint1 > joint0:
            floor = assemble(b, J, c, w, f, k)
            gather_rhs(b, J, w, joint0, joint1)
            factor(c, w, f, k)
            if first and c.closed[k] == 1:
                count_redundant(c, w, k, floor)
            if c.closed[k] == 0:
                substitute(f, x, node0, node1)
            elif c.filled[k] == 1:
                refine_panels(c, w, k, floor)
            else:
                refine(b, J, c, w, f, residual, k)
                for i in range(body0, body1):
                    R = b.R[i]
                    g = gradient(b, s, i, b.types[b.kind[i]], R, strained)
                    b.g[i] = compose(linear_part(g), wp.transpose(R) * translation_part(g))
            for j in range(joint0, joint1):
                row0 = J.first_row[j]
                for r in range(row0, J.first_row[j + 1]):
                    strongest = wp.max(strongest, wp.abs(w.multiplier[J.unknown[j] + r - row0]))
            spread(b, J, w, w.multiplier, joint0, joint1)
            respond(b, w, body0, body1)
        decrease = real(0.0)
        for i in range(body0, body1):
            decrease += wp.ddot(b.g[i], w.Y[i])
        return wp.vec3d(move_bodies(b, w, body0, body1, True), decrease, strongest)

    @wp.func
    def check(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, choose: int,
    ) -> wp.vec2d:  # fmt: skip
        """Largest violation at the present pose and the number of laws that left their piece."""
        refresh_rotations(b, c.body_start[k], c.body_end[k])
        worst = real(0.0)
        changes = real(0.0)
        for j in range(c.joint[k], c.joint[k + 1]):
            m = linearise_joint(b, s, J, laws, w, j, first, choose - int(changes), False)
            worst = wp.max(worst, m[0])
            changes += m[1]
        return wp.vec2d(worst, changes)

    @wp.func
    def merit(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, weight: real,
    ) -> real:  # fmt: skip
        return potential(b, s, J, laws, w, weight, first, c.body_start[k], c.body_end[k], c.joint[k], c.joint[k + 1])

    @wp.func
    def exchange(b: Bodies, c: Components, w: Work, k: int):
        """Swap the pose with the one kept in w.Q_base."""
        for i in range(c.body_start[k], c.body_end[k]):
            Q = w.Q_base[i]
            w.Q_base[i] = b.Q[i]
            b.Q[i] = Q

    @wp.func
    def restart(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, k: int, first: bool, weight: real,
    ):  # fmt: skip
        """Go on from the pose at the start of the step if its merit is below the present one's."""
        for i in range(c.body_start[k], c.body_end[k]):
            w.Q_base[i] = b.Q_past[i]
        best = real(0.0)
        for attempt in range(int(2)):
            here = merit(b, s, J, laws, c, w, k, first, weight)
            if attempt == 0:
                best = here
            if attempt == 0 or not (here < best):
                exchange(b, c, w, k)

    @wp.func
    def search(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work,
        k: int, first: bool, decrease: real, weight: real,
    ) -> real:  # fmt: skip
        """Shorten the step from w.Q_base until the merit falls enough; returns the step length."""
        exchange(b, c, w, k)
        step = real(2.0)
        least = real(0.0)
        halvings = int(-2)
        falling = bool(False)
        while not falling and halvings < 10:
            here = merit(b, s, J, laws, c, w, k, first, weight)
            halvings += 1
            if halvings == -1:
                least = here
                exchange(b, c, w, k)
                step = real(1.0)
            elif here <= least - real(1.0e-4) * step * decrease:
                falling = bool(True)
            elif halvings < 10:
                step *= real(0.5)
                for i in range(c.body_start[k], c.body_end[k]):
                    b.Q[i] = (b.Q[i] + w.Q_base[i]) * real(0.5)
        return step

    @wp.func
    def settle(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        residual: wp.array(dtype=vec), k: int, first: bool, small: bool, used: int,
    ) -> bool:  # fmt: skip
        """Measure the joints at the new pose and, where only their gaps are left, close them; True when all is met.

        Chord corrections: what is left of every row is solved with the factor at hand.
        """
        choose = MANY
        if used > HASTE:
            # changes at once may go round in circles; one by one, the first first, they come to an end (Murty 1974)
            choose = 1
        if s.iterations > 2 * CALM and used > s.iterations - CALM:
            # time is nearly up: close the joints with the pieces at hand
            choose = 0
        before = real(1.0e300)
        worst = real(0.0)
        count = int(0)
        going = bool(True)
        met = bool(False)
        while going:
            state = check(b, s, J, laws, c, w, k, first, choose)
            choose = 0
            worst = state[0]
            going = bool(False)
            if small and state[1] == real(0.0):
                met = bool(worst <= c.joint_tolerance)
                if not met and s.published == 0 and real(3.0) * worst < before and count < 8:
                    before = worst
                    count += 1
                    going = bool(True)
                    for u in range(c.node[k] * B, c.node[k + 1] * B):
                        w.s[u] = real(0.0)
                    for j in range(c.joint[k], c.joint[k + 1]):
                        row0 = J.first_row[j]
                        for r in range(row0, J.first_row[j + 1]):
                            w.s[J.unknown[j] + r - row0] = J.defect[r]
                    solve_with_factor(c, w, f, residual, w.s, k)
                    for i in range(c.body_start[k], c.body_end[k]):
                        b.g[i] = mat34()
                    spread(b, J, w, w.s, c.joint[k], c.joint[k + 1])
                    respond(b, w, c.body_start[k], c.body_end[k])
                    move_bodies(b, w, c.body_start[k], c.body_end[k], False)
                    for u in range(c.node[k] * B, c.node[k + 1] * B):
                        w.multiplier[u] += w.s[u]
        return met

    @wp.func
    def iterate(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec), k: int, first: bool,
    ) -> int:  # fmt: skip
        """Bring component k to the end of the step; returns the iterations used."""
        body0 = c.body_start[k]
        body1 = c.body_end[k]
        for i in range(body0, body1):
            predict(b, s, i, first)
        largest = real(0.0)
        before = real(0.0)
        weight = real(0.0)
        used = int(0)
        searching = bool(False)
        c.searched[k] = 0
        measured = bool(True)
        done = bool(False)
        while not done:
            for i in range(body0, body1):
                w.Q_base[i] = b.Q[i]
            before = largest
            result = newton(b, s, J, laws, c, w, f, x, residual, k, first, used > 0 or s.published == 1)
            largest = result[0]
            measured = bool(c.nonlinear[k] == 0)
            used += 1
            if used == 1 and largest > TRUST and s.iterations > 1:
                # far off: go on from the better of this pose and the old one
                searching = bool(True)
                c.searched[k] = 1
                restart(b, s, J, laws, c, w, k, first, real(1.5) * result[2])
                measured = bool(False)
            elif used > 1:
                if largest > TRUST or largest > real(0.3) * before:
                    searching = bool(True)
                if searching and largest > s.update_tolerance:
                    weight = wp.max(weight, real(1.5) * result[2])
                    c.searched[k] = 1
                    largest *= search(b, s, J, laws, c, w, k, first, result[1], weight)
            done = bool(used >= s.iterations or not (largest < real(1.0e3)))
            if not done:
                if c.nonlinear[k] == 0:
                    done = bool(largest <= s.update_tolerance)
                else:
                    done = bool(settle(b, s, J, laws, c, w, f, residual, k, first, largest <= s.update_tolerance, used))
                    measured = bool(True)
                if not done:
                    refresh_rotations(b, body0, body1)
        if used >= s.iterations and s.iterations > 2 * CALM and largest < real(1.0e3):
            # time is up: bodies may be off balance, but joints are to be closed
            settle(b, s, J, laws, c, w, f, residual, k, first, True, used)
            measured = bool(True)
        if s.iterations == 1 and c.nonlinear[k] == 1:
            # a single iteration leaves the choice of pieces to the next step
            check(b, s, J, laws, c, w, k, first, MANY)
        elif not measured:
            check(b, s, J, laws, c, w, k, first, 0)
        if not (largest < real(1.0e3)):
            c.failed[0] = 1 + k
        return used

    @wp.func
    def hit(J: Joints, laws: Laws, c: Components, k: int) -> bool:
        """Whether a coordinate at a limit was not there at the last two steps: their rates say nothing about the next."""
        result = bool(False)
        if c.nonlinear[k] == 1:
            for j in range(c.joint[k], c.joint[k + 1]):
                for r in range(J.first_row[j], J.first_row[j + 1]):
                    law = J.law[r]
                    if law >= 0:
                        piece = laws.piece[law]
                        if piece == AT_LOWER or piece == AT_UPPER:
                            moved = wp.abs(laws.value[law] - laws.past[law]) + wp.abs(laws.past[law] - laws.older[law])
                            if laws.cone[law] == 1:
                                now = swing_size(laws.value, law)
                                past = swing_size(laws.past, law)
                                moved = wp.abs(now - past) + wp.abs(past - swing_size(laws.older, law))
                            if moved > real(10.0) * c.joint_tolerance:
                                result = bool(True)
        return result

    @wp.func
    def go_back(b: Bodies, s: Scheme, c: Components, k: int):
        """To the start of the step, which is taken again with implicit Euler."""
        for i in range(c.body_start[k], c.body_end[k]):
            b.Q[i] = b.Q_past[i]
            b.V[i] = b.V_past[i]
            b.k[i] = vec3()
            b.kind[i] = b.kind[i] + s.start_types

    @wp.func
    def conclude(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, k: int, used: int, first: bool, fresh: int
    ):
        """End the step of component k; fresh: 1 if the next one starts anew with implicit Euler."""
        for j in range(c.joint[k], c.joint[k + 1]):
            for r in range(J.first_row[j], J.first_row[j + 1]):
                law = J.law[r]
                if law >= 0:
                    laws.older[law] = laws.past[law]
                    laws.past[law] = laws.value[law]
        for i in range(c.body_start[k], c.body_end[k]):
            finish(b, s, i, first)
            if fresh == 1:
                b.kind[i] = b.kind[i] + s.start_types
        c.iterations[k] = used
        c.fresh[k] = fresh
        c.steps[k] += 1

    @wp.func
    def advance(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec), k: int,
    ):  # fmt: skip
        """Take component k through a whole step."""
        first = bool(c.fresh[k] == 1)
        used = iterate(b, s, J, laws, c, w, f, x, residual, k, first)
        fresh = int(0)
        if s.euler == 0 and (c.searched[k] == 1 or hit(J, laws, c, k)):
            # BDF2 would carry the speed from before the blow into the next steps: bodies would bounce
            fresh = 1
            if not first:
                first = bool(True)
                go_back(b, s, c, k)
                used += iterate(b, s, J, laws, c, w, f, x, residual, k, True)
        conclude(b, s, J, laws, c, k, used, first, fresh)

    @wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
    def step_components(
        b: Bodies, s: Scheme, J: Joints, laws: Laws, c: Components, w: Work, f: Factor,
        x: wp.array(dtype=vec), residual: wp.array(dtype=vec),
    ):  # fmt: skip
        k = wp.tid()
        if c.failed[0] == 0:
            advance(b, s, J, laws, c, w, f, x, residual, k)

    return SimpleNamespace(
        blocks=blocks, step=step_components, advance=advance, settle=settle, check=check, merit=merit,
        exchange=exchange, hit=hit, go_back=go_back, conclude=conclude,
    )  # fmt: skip
