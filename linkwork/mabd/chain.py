"""Chains of ball joints whose joint points lie on the x axis of each link: block Thomas in the dual, chain by chain.

Every link has at most a left and a right joint, at X = (left, 0, 0) and (right, 0, 0). With u = X~ - (H^-1 g) X~ the joint
points after a step without joint forces, the multipliers solve a block tridiagonal system of 3x3 blocks (paper 000, Eqs. 37
to 41), and each body moves by -H^-1 (g + lambda_left (x) X_left - lambda_right (x) X_right). Because both points lie on one
principal axis, every block is tau I + x_a x_b M with one symmetric M = R diag(T00, P10, P20) R^T per link.
"""

import warp as wp

from linkwork.mabd.affine import (
    CPU_OPTIONS,
    axial,
    compose,
    cross_matrix,
    elastic_energy,
    geometric_stiffness,
    gram_excess,
    linear_part,
    mat33,
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
from linkwork.mabd.bodies import Bodies, Scheme, gradient, predict, step_beta

TRUST = wp.constant(wp.float64(0.1))  # updates below this that contract need no line search
sym3 = wp.types.vector(length=6, dtype=wp.float64)  # 00, 11, 22, 01, 02, 12


@wp.struct
class Chains:
    """Arrays over chains, over links, or over joints (count + 1 a chain, the last behind the last link)."""

    start: wp.array(dtype=wp.int32)  # first link of each chain
    count: wp.array(dtype=wp.int32)
    left_end: wp.array(dtype=wp.int32)  # 1 if the first link hangs on a fixed point
    right_end: wp.array(dtype=wp.int32)
    left_anchor: wp.array(dtype=vec3)  # world, m
    right_anchor: wp.array(dtype=vec3)
    point_kind: wp.array(dtype=wp.int32)  # per link, row of the two below
    left: wp.array(dtype=wp.float64)  # joint points on the link's x axis, m
    right: wp.array(dtype=wp.float64)
    z: wp.array(dtype=vec3)  # per link: forward sweep
    W: wp.array(dtype=mat33)
    Q_base: wp.array(dtype=mat34)  # per link: where the line search started
    multiplier: wp.array(dtype=vec3)  # per joint, N: minus the force of the base on the follower
    multiplier_start: wp.array(dtype=wp.int32)
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)  # taken, per chain
    failed: wp.array(dtype=wp.int32)  # one entry: 1 + the chain that diverged


@wp.func
def sym_apply(D: sym3, x: vec3) -> vec3:
    return vec3(
        D[0] * x[0] + D[3] * x[1] + D[4] * x[2],
        D[3] * x[0] + D[1] * x[1] + D[5] * x[2],
        D[4] * x[0] + D[5] * x[1] + D[2] * x[2],
    )


@wp.func
def sym_inverse(D: sym3) -> sym3:
    a = D[1] * D[2] - D[5] * D[5]
    b = D[4] * D[5] - D[3] * D[2]
    c = D[3] * D[5] - D[4] * D[1]
    q = real(1.0) / (D[0] * a + D[3] * b + D[4] * c)
    return sym3(
        a * q, (D[0] * D[2] - D[4] * D[4]) * q, (D[0] * D[1] - D[3] * D[3]) * q,
        b * q, c * q, (D[3] * D[4] - D[0] * D[5]) * q,
    )  # fmt: skip


@wp.func
def sym_product(D: sym3, B: sym3) -> mat33:
    return mat33(
        D[0] * B[0] + D[3] * B[3] + D[4] * B[4], D[0] * B[3] + D[3] * B[1] + D[4] * B[5],
        D[0] * B[4] + D[3] * B[5] + D[4] * B[2],
        D[3] * B[0] + D[1] * B[3] + D[5] * B[4], D[3] * B[3] + D[1] * B[1] + D[5] * B[5],
        D[3] * B[4] + D[1] * B[5] + D[5] * B[2],
        D[4] * B[0] + D[5] * B[3] + D[2] * B[4], D[4] * B[3] + D[5] * B[1] + D[2] * B[5],
        D[4] * B[4] + D[5] * B[5] + D[2] * B[2],
    )  # fmt: skip


@wp.func
def sym_minus_product(D: sym3, B: sym3, W: mat33) -> sym3:
    """D - B W, known to be symmetric."""
    return sym3(
        D[0] - B[0] * W[0, 0] - B[3] * W[1, 0] - B[4] * W[2, 0],
        D[1] - B[3] * W[0, 1] - B[1] * W[1, 1] - B[5] * W[2, 1],
        D[2] - B[4] * W[0, 2] - B[5] * W[1, 2] - B[2] * W[2, 2],
        D[3] - B[0] * W[0, 1] - B[3] * W[1, 1] - B[4] * W[2, 1],
        D[4] - B[0] * W[0, 2] - B[3] * W[1, 2] - B[4] * W[2, 2],
        D[5] - B[3] * W[0, 2] - B[1] * W[1, 2] - B[5] * W[2, 2],
    )


@wp.func
def axis_compliance(R: mat33, d0: real, d1: real, d2: real) -> sym3:
    """R diag(d) R^T, using that the columns of R sum up to the identity."""
    p = d1 - d0
    q = d2 - d0
    ax = p * R[0, 1]
    ay = p * R[1, 1]
    az = p * R[2, 1]
    bx = q * R[0, 2]
    by = q * R[1, 2]
    bz = q * R[2, 2]
    return sym3(
        d0 + ax * R[0, 1] + bx * R[0, 2], d0 + ay * R[1, 1] + by * R[1, 2], d0 + az * R[2, 1] + bz * R[2, 2],
        ax * R[1, 1] + bx * R[1, 2], ax * R[2, 1] + bx * R[2, 2], ay * R[2, 1] + by * R[2, 2],
    )  # fmt: skip


@wp.func
def along(tau: real, s: real, M: sym3) -> sym3:
    """tau I + s M."""
    return sym3(tau + s * M[0], tau + s * M[1], tau + s * M[2], s * M[3], s * M[4], s * M[5])


@wp.func
def solve_chain(b: Bodies, s: Scheme, c: Chains, chain: int, first: bool, strained: bool) -> wp.vec2d:
    """One Newton step for a chain; returns the largest change of any entry of A and the slope of the potential."""
    start = c.start[chain]
    count = c.count[chain]
    joint0 = c.multiplier_start[chain]
    u_right = c.left_anchor[chain]
    S_right = sym3()
    B = sym3()  # coupling of the previous joint with this one
    z = vec3()
    W = mat33()
    jointed = bool(c.left_end[chain] == 1)
    for j in range(count):
        i = start + j
        body = b.types[b.kind[i]]
        x_left = c.left[c.point_kind[i]]
        x_right = c.right[c.point_kind[i]]
        R = b.R[i]
        k = b.k[i]
        if strained:
            A = linear_part(b.Q[i])
            R = polar_rotation(A)
            k = geometric_stiffness(stress(body.mu, body.lam, wp.transpose(R) * A))
            b.R[i] = R
        P = pair_inverses(body, k)
        b.P[i] = P
        T = body.stretch
        tau = real(1.0) / (body.mass * body.inverse_beta2)
        g = gradient(b, s, i, body, R, strained)
        b.g[i] = g
        # only the x column of H^-1 g moves the joint points
        y = vec3(
            T[0, 0] * g[0, 0] + T[0, 1] * g[1, 1] + T[0, 2] * g[2, 2],
            P[1, 0] * g[1, 0] + P[2, 2] * g[0, 1],
            P[2, 0] * g[2, 0] + P[1, 1] * g[0, 2],
        )
        Q = b.Q[i]
        axis = vec3(Q[0, 0], Q[1, 0], Q[2, 0]) - R * y
        center = translation_part(Q) - translation_part(g) * tau
        M = axis_compliance(R, T[0, 0], P[1, 0], P[2, 0])
        if jointed:
            D = sym_minus_product(S_right + along(tau, x_left * x_left, M), B, W)
            r = center + axis * x_left - u_right - sym_apply(B, z)
            D_inv = sym_inverse(D)
            z = sym_apply(D_inv, r)
            B = along(-tau, -x_left * x_right, M)
            W = sym_product(D_inv, B)
            c.z[i] = z
            c.W[i] = W
        S_right = along(tau, x_right * x_right, M)
        u_right = center + axis * x_right
        jointed = True
    lam = vec3()
    if c.right_end[chain] == 1:
        D = sym_minus_product(S_right, B, W)
        lam = sym_apply(sym_inverse(D), c.right_anchor[chain] - u_right - sym_apply(B, z))
    c.multiplier[joint0 + count] = lam
    largest = real(0.0)
    slope = real(0.0)
    inverse_beta = real(1.0) / step_beta(s, first)
    for back in range(count):
        j = count - 1 - back
        i = start + j
        body = b.types[b.kind[i]]
        R = b.R[i]
        lam_right = lam
        lam = vec3()
        if j > 0 or c.left_end[chain] == 1:
            lam = c.z[i] - c.W[i] * lam_right
        c.multiplier[joint0 + j] = lam
        tau = real(1.0) / (body.mass * body.inverse_beta2)
        g = b.g[i]
        f = wp.transpose(R) * (lam * c.left[c.point_kind[i]] - lam_right * c.right[c.point_kind[i]])
        G = linear_part(g)
        Y = solve_linear_part(body.stretch, b.P[i], G + mat33(f[0], 0.0, 0.0, f[1], 0.0, 0.0, f[2], 0.0, 0.0))
        y = (translation_part(g) + lam - lam_right) * tau
        if strained:
            slope -= wp.ddot(G, Y) + wp.dot(translation_part(g), y)
        largest = wp.max(largest, wp.max(wp.max(wp.max(wp.abs(Y[0])), wp.max(wp.abs(Y[1]))), wp.max(wp.abs(Y[2]))))
        b.k[i] = axial(Y)
        Q = b.Q[i] - compose(R * Y, y)
        b.Q[i] = Q
        b.V[i] = (Q - b.V[i]) * inverse_beta
    return wp.vec2d(largest, slope)


@wp.func
def link_potential(b: Bodies, s: Scheme, i: int, Q: mat34) -> real:
    """Incremental potential of a link at pose Q, J, its weight and loads measured from the pose at the start of the step."""
    body = b.types[b.kind[i]]
    A = linear_part(Q)
    D = Q - b.Q_free[i]
    DA = linear_part(D)
    d = translation_part(D)
    energy = (
        real(0.5)
        * body.inverse_beta2
        * (wp.ddot(DA, scale_columns(DA, body.second_moments)) + body.mass * wp.dot(d, d))
    )
    energy += elastic_energy(body.mu, body.lam, wp.transpose(polar_rotation(A)) * A)
    moved = Q - b.Q_past[i]
    energy -= body.mass * wp.dot(s.gravity, translation_part(moved))
    if b.loaded == 1:
        F = b.force[i]
        energy -= wp.ddot(linear_part(F), linear_part(moved)) + wp.dot(translation_part(F), translation_part(moved))
        energy -= real(0.5) * wp.ddot(cross_matrix(b.torque[i]) * b.R[i], linear_part(moved))
    return energy


@wp.func
def converge_chain(b: Bodies, s: Scheme, c: Chains, chain: int, first: bool, largest: real) -> int:
    """Newton from the first solution; with line search on the incremental potential where updates do not contract."""
    start = c.start[chain]
    stop = start + c.count[chain]
    beta = step_beta(s, first)
    used = int(1)
    searching = bool(False)
    if largest > TRUST and s.iterations > 1:
        # far off: go on from the better of this pose and the old one
        searching = bool(True)
        here = real(0.0)
        there = real(0.0)
        for i in range(start, stop):
            here += link_potential(b, s, i, b.Q[i])
            there += link_potential(b, s, i, b.Q_past[i])
        if there < here:
            for i in range(start, stop):
                b.V[i] += (b.Q_past[i] - b.Q[i]) * (real(1.0) / beta)
                b.Q[i] = b.Q_past[i]
    while used < s.iterations and largest > s.update_tolerance and largest < real(1.0e3):
        before = largest
        for i in range(start, stop):
            Q = b.Q[i]
            c.Q_base[i] = Q
            b.V[i] = Q - b.V[i] * beta
        result = solve_chain(b, s, c, chain, first, True)
        used += 1
        largest = result[0]
        if largest > TRUST or largest > real(0.3) * before:
            searching = bool(True)
        if searching and largest > s.update_tolerance:
            energy = real(0.0)
            tried = real(0.0)
            for i in range(start, stop):
                energy += link_potential(b, s, i, c.Q_base[i])
                tried += link_potential(b, s, i, b.Q[i])
            step = real(1.0)
            halvings = int(0)
            while not (tried <= energy + real(1.0e-4) * step * result[1]) and halvings < 10:
                step *= real(0.5)
                halvings += 1
                tried = real(0.0)
                for i in range(start, stop):
                    Q = (b.Q[i] + c.Q_base[i]) * real(0.5)
                    b.V[i] += (Q - b.Q[i]) * (real(1.0) / beta)
                    b.Q[i] = Q
                    tried += link_potential(b, s, i, Q)
            largest *= step
    if not (largest < real(1.0e3)):
        c.failed[0] = 1 + chain
    return used


@wp.func
def solve_published(b: Bodies, s: Scheme, c: Chains, chain: int) -> real:
    """The paper's step: implicit Euler, one iteration from q^n with the constant Hessian."""
    start = c.start[chain]
    count = c.count[chain]
    joint0 = c.multiplier_start[chain]
    u_right = c.left_anchor[chain]
    S_right = sym3()
    B = sym3()
    z = vec3()
    W = mat33()
    h = s.h
    jointed = bool(c.left_end[chain] == 1)
    for j in range(count):
        i = start + j
        body = b.types[b.kind[i]]
        x_left = c.left[c.point_kind[i]]
        x_right = c.right[c.point_kind[i]]
        Q = b.Q[i]
        V = b.V[i]
        A = linear_part(Q)
        E = gram_excess(A)
        R = A - A * E * real(0.5)
        strain = E * real(0.5) - E * E * real(0.125)
        if wp.ddot(E, E) > real(1.0e-6):
            R = polar_rotation(A)
            strain = wp.transpose(R) * A - wp.identity(n=3, dtype=real)
        b.R[i] = R
        momentum = scale_columns(linear_part(V), body.second_moments * (-body.beta * body.inverse_beta2))
        G = wp.transpose(R) * momentum + stress(body.mu, body.lam, strain + wp.identity(n=3, dtype=real))
        tau = h * h / body.mass
        y = translation_part(V) * h + s.gravity * (h * h)
        if b.loaded == 1:
            F = b.force[i]
            G -= wp.transpose(R) * linear_part(F) + cross_matrix(wp.transpose(R) * b.torque[i]) * real(0.5)
            y += translation_part(F) * tau
        b.g[i] = compose(G, y)
        T = body.stretch
        P = body.pairs
        a = vec3(
            T[0, 0] * G[0, 0] + T[0, 1] * G[1, 1] + T[0, 2] * G[2, 2],
            P[1, 0] * G[1, 0] + P[2, 2] * G[0, 1],
            P[2, 0] * G[2, 0] + P[1, 1] * G[0, 2],
        )
        axis = vec3(Q[0, 0], Q[1, 0], Q[2, 0]) - R * a
        center = translation_part(Q) + y
        M = axis_compliance(R, T[0, 0], P[1, 0], P[2, 0])
        if jointed:
            D = sym_minus_product(S_right + along(tau, x_left * x_left, M), B, W)
            r = center + axis * x_left - u_right - sym_apply(B, z)
            D_inv = sym_inverse(D)
            z = sym_apply(D_inv, r)
            B = along(-tau, -x_left * x_right, M)
            W = sym_product(D_inv, B)
            c.z[i] = z
            c.W[i] = W
        S_right = along(tau, x_right * x_right, M)
        u_right = center + axis * x_right
        jointed = True
    lam = vec3()
    if c.right_end[chain] == 1:
        D = sym_minus_product(S_right, B, W)
        lam = sym_apply(sym_inverse(D), c.right_anchor[chain] - u_right - sym_apply(B, z))
    c.multiplier[joint0 + count] = lam
    largest = real(0.0)
    rate = real(1.0) / h
    for back in range(count):
        j = count - 1 - back
        i = start + j
        body = b.types[b.kind[i]]
        lam_right = lam
        lam = vec3()
        if j > 0 or c.left_end[chain] == 1:
            lam = c.z[i] - c.W[i] * lam_right
        c.multiplier[joint0 + j] = lam
        R = b.R[i]
        kept = b.g[i]
        y = translation_part(kept) - (lam - lam_right) * (h * h / body.mass)
        f = wp.transpose(R) * (lam * c.left[c.point_kind[i]] - lam_right * c.right[c.point_kind[i]])
        Y = solve_linear_part(
            body.stretch, body.pairs, linear_part(kept) + mat33(f[0], 0.0, 0.0, f[1], 0.0, 0.0, f[2], 0.0, 0.0)
        )
        largest = wp.max(largest, wp.abs(Y[0, 0]) + wp.abs(Y[1, 0]) + wp.abs(Y[2, 0]))
        moved = compose(R * Y * real(-1.0), y)
        b.Q[i] = b.Q[i] + moved
        b.V[i] = moved * rate
    return largest


@wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
def step_chains(b: Bodies, s: Scheme, c: Chains):
    chain = wp.tid()
    if c.failed[0] == 0:
        first = bool(c.steps[chain] == 0)
        start = c.start[chain]
        stop = start + c.count[chain]
        for i in range(start, stop):
            predict(b, s, i, first)
        largest = solve_chain(b, s, c, chain, first, False)[0]
        used = int(1)
        if not (largest <= s.update_tolerance):
            used = converge_chain(b, s, c, chain, first, largest)
        if first:
            for i in range(start, stop):
                b.kind[i] = b.kind[i] - s.start_types
        c.iterations[chain] = used
        c.steps[chain] += 1


@wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
def step_chains_as_published(b: Bodies, s: Scheme, c: Chains):
    chain = wp.tid()
    if c.failed[0] == 0:
        largest = solve_published(b, s, c, chain)
        c.iterations[chain] = 1
        c.steps[chain] += 1
        if not (largest < real(1.0e3)):
            c.failed[0] = 1 + chain
