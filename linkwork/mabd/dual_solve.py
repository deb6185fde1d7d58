"""The dual solve of one component: its matrix in blocks, the factor, solves with it and their refinement."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.linear.blocks import block_cholesky
from linkwork.linear.supernodes import factor_panels, solve_panels, substitute_back
from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.components import Components, Joints, Work
from linkwork.mabd.dual import couple, dual_product, fetch_coupling, gather

AHEAD = wp.constant(8)  # couplings that are fetched into the cache before their turn


@cache
def dual_solver(size: int) -> SimpleNamespace:
    """Warp functions of the solve for components whose joints fit nodes of the given number of rows."""
    blocks = block_cholesky(size)
    Factor = blocks.Factor
    mat = blocks.mat
    vec = blocks.vec
    factorise = blocks.factorise
    substitute = blocks.substitute
    B = wp.constant(size)

    @wp.func
    def diagonal_place(u: int) -> int:
        """Of the diagonal entry of an unknown."""
        return u * B + u - (u / B) * B

    @wp.func
    def assemble(b: Bodies, J: Joints, c: Components, w: Work, f: Factor, k: int) -> real:
        """Dual matrix of component k; returns what was added to its diagonal against redundant rows."""
        node0 = c.node[k]
        node1 = c.node[k + 1]
        for n in range(node0, node1):
            f.diagonal[n] = mat()
        for p in range(f.start[node0], f.start[node1]):
            f.lower[p] = mat()
        last = c.pair[k + 1] - 1
        for e in range(c.pair[k], last + 1):
            fetch_coupling(b, w, wp.min(e + AHEAD, last))
            couple(b, J, w, e, B)
        largest = real(0.0)
        for u in range(node0 * B, node1 * B):
            largest = wp.max(largest, w.diagonal[diagonal_place(u)])
        for j in range(c.joint[k], c.joint[k + 1]):
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                if J.compliance[r] < real(0.0):
                    big = real(1.0e12) * largest
                    J.rhs[r] = J.rhs[r] * big
                    J.compliance[r] = big
                w.diagonal[diagonal_place(J.unknown[j] + r - row0)] += J.compliance[r]
        floor = real(0.0)
        if c.closed[k] == 1:
            floor = real(1.0e-9) * largest
        for u in range(node0 * B, node1 * B):
            at = diagonal_place(u)
            if w.diagonal[at] == real(0.0):
                w.diagonal[at] = real(1.0)  # a row that no joint uses
            else:
                w.diagonal[at] += floor
        return floor

    @wp.func
    def gather_rhs(b: Bodies, J: Joints, w: Work, joint0: int, joint1: int):
        """w.multiplier <- right-hand side of the dual, with w.Y = H^-1 g."""
        gather(b, J, w, w.multiplier, joint0, joint1)
        for j in range(joint0, joint1):
            row0 = J.first_row[j]
            for r in range(row0, J.first_row[j + 1]):
                u = J.unknown[j] + r - row0
                w.multiplier[u] = J.rhs[r] - w.multiplier[u]

    @wp.func
    def factor(c: Components, w: Work, f: Factor, k: int):
        """Cholesky factor of the assembled matrix; in panels it takes w.s, the right-hand side, to L^-1 w.s on the way."""
        if c.filled[k] == 1:
            for u in range(c.node[k] * B, c.node[k + 1] * B):
                w.s[u] = w.multiplier[u]
            factor_panels(w.panels, w.s, c.super[k], c.super[k + 1])
        else:
            factorise(f, c.node[k], c.node[k + 1])

    @wp.func
    def count_redundant(c: Components, w: Work, k: int, floor: real):
        """Pivots that only the floor keeps from zero (the factor holds reciprocal square roots)."""
        count = int(0)
        if c.filled[k] == 1:
            for i in range(w.panels.pivot[c.super[k]], w.panels.pivot[c.super[k + 1]]):
                q = w.panels.inverse[i]
                if q * q * floor * real(30.0) > real(1.0):
                    count += 1
        else:
            for u in range(c.node[k] * B, c.node[k + 1] * B):
                q = w.diagonal[diagonal_place(u)]
                if q * q * floor * real(30.0) > real(1.0):
                    count += 1
        c.redundant[k] = count

    @wp.func
    def solve_with_factor(
        c: Components, w: Work, f: Factor, blocks: wp.array(dtype=vec), flat: wp.array(dtype=wp.float64), k: int,
    ):  # fmt: skip
        """flat, the same memory as blocks, <- (L L^T)^-1 flat."""
        if c.filled[k] == 1:
            solve_panels(w.panels, flat, c.super[k], c.super[k + 1])
        else:
            substitute(f, blocks, c.node[k], c.node[k + 1])

    @wp.func
    def refine(
        b: Bodies, J: Joints, c: Components, w: Work, f: Factor, residual: wp.array(dtype=vec), k: int,
    ):  # fmt: skip
        """w.multiplier <- least-norm solution of D x = w.multiplier by proximal steps x += (D + floor I)^-1 (rhs - D x)."""
        n0 = c.node[k] * B
        n1 = c.node[k + 1] * B
        for u in range(n0, n1):
            w.r[u] = w.multiplier[u]
            w.s[u] = w.r[u]
            w.Dp[u] = real(0.0)
            w.multiplier[u] = real(0.0)
        change = real(0.0)
        before = real(1.0e300)
        size = real(0.0)
        count = int(0)
        going = bool(True)
        while going:
            solve_with_factor(c, w, f, residual, w.s, k)
            change = real(0.0)
            for u in range(n0, n1):
                change = wp.max(change, wp.abs(w.s[u]))
            count += 1
            if change < before:
                for u in range(n0, n1):
                    w.multiplier[u] += w.s[u]
                    size = wp.max(size, wp.abs(w.multiplier[u]))
            going = bool(real(3.0) * change < before and change > real(1.0e-13) * size and count < 10)
            before = change
            if going:
                dual_product(b, J, w, w.multiplier, w.Dp, c.body_start[k], c.body_end[k], c.joint[k], c.joint[k + 1])
                for u in range(n0, n1):
                    w.s[u] = w.r[u] - w.Dp[u]

    @wp.func
    def refine_panels(c: Components, w: Work, k: int, floor: real):
        """w.multiplier <- solution of D x = L w.s by proximal steps, each of which leaves floor times itself.

        So they need no product by D. What is left of the equations is a gap in metres or radians: steps end at a tenth of
        the joint tolerance.
        """
        n0 = c.node[k] * B
        n1 = c.node[k + 1] * B
        target = real(0.1) * c.joint_tolerance
        substitute_back(w.panels, w.s, c.super[k], c.super[k + 1])
        for u in range(n0, n1):
            w.multiplier[u] = real(0.0)
        before = real(1.0e300)
        count = int(0)
        going = bool(True)
        while going:
            left = real(0.0)
            for u in range(n0, n1):
                x = w.s[u]
                w.multiplier[u] += x
                w.s[u] = floor * x
                left = wp.max(left, wp.abs(floor * x))
            count += 1
            going = bool(left > target and real(3.0) * left < before and count < 10)
            before = left
            if going:
                solve_panels(w.panels, w.s, c.super[k], c.super[k + 1])

    return SimpleNamespace(
        blocks=blocks, assemble=assemble, factor=factor, count_redundant=count_redundant, solve_with_factor=solve_with_factor,
        refine=refine, refine_panels=refine_panels, gather_rhs=gather_rhs,
    )  # fmt: skip
