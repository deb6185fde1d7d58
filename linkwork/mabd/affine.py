"""One co-rotated affine body: rotation, stress, the block inverse of its Hessian (paper 000, Sec. 3; numerics 1 and 2).

A body's coordinates are Q = [A | t] in its principal frame, so a material point X sits at A X + t and the mass is
diag(Jx, Jy, Jz, m) on the columns of Q. In the rotated frame the elastic Hessian couples only the three diagonal entries
of S = R^T A and each pair (S_ij, S_ji); its inverse is one 3x3 block, three 2x2 blocks and one scalar.
"""

import warp as wp

real = wp.float64
# Warp computes with bare literals in float32, so fractions are made here
THIRD = wp.constant(wp.float64(1.0 / 3.0))
TWO_THIRDS = wp.constant(wp.float64(2.0 / 3.0))
FOUR_THIRDS = wp.constant(wp.float64(4.0 / 3.0))

# contracting a * b + c into one instruction is worth 15 % of a step; the rest are Warp's own defaults
CPU_OPTIONS = {
    "cpu_compiler_flags": "-march=native -ffp-contract=fast -mllvm=-inline-threshold=9000 "
    "-mllvm=-inline-cold-callsite-threshold=3000 -mllvm=-slp-recursion-max-depth=4"
}
vec3 = wp.vec3d
mat33 = wp.mat33d
mat34 = wp.types.matrix(shape=(3, 4), dtype=wp.float64)


@wp.struct
class BodyType:
    """What bodies of one kind share: moments over beta^2, elastic moduli times volume, inverse of the stretch block."""

    mass: real  # kg
    beta: real  # s: h for implicit Euler, 2 h / 3 for BDF2
    second_moments: vec3  # kg m^2
    inverse_beta2: real  # 1 / beta^2
    mu: real  # Lame mu times volume, J
    lam: real  # Lame lambda times volume, J
    stretch: mat33  # inverse of the Hessian over (S00, S11, S22)
    pairs: mat33  # pair inverses without geometric stiffness, see pair_inverses


@wp.func
def linear_part(Q: mat34) -> mat33:
    return mat33(Q[0, 0], Q[0, 1], Q[0, 2], Q[1, 0], Q[1, 1], Q[1, 2], Q[2, 0], Q[2, 1], Q[2, 2])


@wp.func
def translation_part(Q: mat34) -> vec3:
    return vec3(Q[0, 3], Q[1, 3], Q[2, 3])


@wp.func
def compose(A: mat33, t: vec3) -> mat34:
    return mat34(
        A[0, 0], A[0, 1], A[0, 2], t[0], A[1, 0], A[1, 1], A[1, 2], t[1], A[2, 0], A[2, 1], A[2, 2], t[2]
    )  # fmt: skip


@wp.func
def point_at(Q: mat34, X: vec3) -> vec3:
    return linear_part(Q) * X + translation_part(Q)


@wp.func
def scale_columns(Z: mat33, d: vec3) -> mat33:
    return mat33(
        Z[0, 0] * d[0], Z[0, 1] * d[1], Z[0, 2] * d[2],
        Z[1, 0] * d[0], Z[1, 1] * d[1], Z[1, 2] * d[2],
        Z[2, 0] * d[0], Z[2, 1] * d[1], Z[2, 2] * d[2],
    )  # fmt: skip


@wp.func
def cross_matrix(w: vec3) -> mat33:
    z = real(0.0)
    return mat33(z, -w[2], w[1], w[2], z, -w[0], -w[1], w[0], z)


@wp.func
def axial(Z: mat33) -> vec3:
    """Axial vector of the antisymmetric part: axial([w]x) = w."""
    h = real(0.5)
    return vec3(h * (Z[2, 1] - Z[1, 2]), h * (Z[0, 2] - Z[2, 0]), h * (Z[1, 0] - Z[0, 1]))


@wp.func
def gram_excess(A: mat33) -> mat33:
    """A^T A - I."""
    one = real(1.0)
    a = A[0, 0] * A[0, 1] + A[1, 0] * A[1, 1] + A[2, 0] * A[2, 1]
    b = A[0, 0] * A[0, 2] + A[1, 0] * A[1, 2] + A[2, 0] * A[2, 2]
    c = A[0, 1] * A[0, 2] + A[1, 1] * A[1, 2] + A[2, 1] * A[2, 2]
    return mat33(
        A[0, 0] * A[0, 0] + A[1, 0] * A[1, 0] + A[2, 0] * A[2, 0] - one, a, b,
        a, A[0, 1] * A[0, 1] + A[1, 1] * A[1, 1] + A[2, 1] * A[2, 1] - one, c,
        b, c, A[0, 2] * A[0, 2] + A[1, 2] * A[1, 2] + A[2, 2] * A[2, 2] - one,
    )  # fmt: skip


@wp.func
def polar_rotation(A: mat33) -> mat33:
    """Rotation nearest to A, by Newton-Schulz steps (they converge for stretches below 1.7) and a last one of third order."""
    R = A
    E = gram_excess(R)
    size = wp.ddot(E, E)
    if size > real(0.25):
        # bring the largest stretch below one first; every stretch then grows to one
        R = R * (real(1.0) / wp.sqrt(real(1.0) + wp.sqrt(size)))
        E = gram_excess(R)
        size = wp.ddot(E, E)
    count = int(0)
    while size > real(1.0e-8) and count < 60:
        R = R - R * E * real(0.5)
        E = gram_excess(R)
        size = wp.ddot(E, E)
        count += 1
    return R - R * (E * real(0.5) - E * E * real(0.375))  # leaves 5/16 |E|^3 < 4e-13


@wp.func
def rotation_exp(w: vec3) -> mat33:
    """Rodrigues' rotation of the vector w, accurate at every angle."""
    a2 = wp.dot(w, w)
    # Taylor series to a^14, below one rounding for angles up to 0.5
    s = (real(1.0) / real(6227020800.0)) * a2 - real(1.0) / real(39916800.0)
    s = s * a2 + real(1.0) / real(362880.0)
    s = s * a2 - real(1.0) / real(5040.0)
    s = s * a2 + real(1.0) / real(120.0)
    s = s * a2 - real(1.0) / real(6.0)
    s = s * a2 + real(1.0)
    c = (real(1.0) / real(87178291200.0)) * a2 - real(1.0) / real(479001600.0)
    c = c * a2 + real(1.0) / real(3628800.0)
    c = c * a2 - real(1.0) / real(40320.0)
    c = c * a2 + real(1.0) / real(720.0)
    c = c * a2 - real(1.0) / real(24.0)
    c = c * a2 + real(0.5)
    if a2 > real(0.25):
        a = wp.sqrt(a2)
        s = wp.sin(a) / a
        h = wp.sin(real(0.5) * a) / a
        c = real(2.0) * h * h
    W = cross_matrix(w)
    return wp.identity(n=3, dtype=real) + W * s + W * W * c


@wp.func
def stress(mu: real, lam: real, S: mat33) -> mat33:
    """P = 2 mu (sym S - I) + lambda tr(S - I) I, times the volume (Eq. 15, on S = R^T A)."""
    one = real(1.0)
    p = lam * (S[0, 0] + S[1, 1] + S[2, 2] - real(3.0))
    m2 = real(2.0) * mu
    a = mu * (S[0, 1] + S[1, 0])
    b = mu * (S[0, 2] + S[2, 0])
    c = mu * (S[1, 2] + S[2, 1])
    return mat33(m2 * (S[0, 0] - one) + p, a, b, a, m2 * (S[1, 1] - one) + p, c, b, c, m2 * (S[2, 2] - one) + p)


@wp.func
def elastic_energy(mu: real, lam: real, e: mat33) -> real:
    """Of the strain e = S - I, J."""
    half = real(0.5)
    a = e[0, 1] + e[1, 0]
    b = e[0, 2] + e[2, 0]
    c = e[1, 2] + e[2, 1]
    trace = wp.trace(e)
    squares = e[0, 0] * e[0, 0] + e[1, 1] * e[1, 1] + e[2, 2] * e[2, 2]
    return mu * (squares + half * (a * a + b * b + c * c)) + half * lam * trace * trace


@wp.func
def geometric_stiffness(P: mat33) -> vec3:
    """Diagonal majorant of the positive part of K_g = tr(tau) I - tau, the stiffness a rotation feels under stress."""
    zero = real(0.0)
    a = wp.abs(P[0, 1])
    b = wp.abs(P[0, 2])
    c = wp.abs(P[1, 2])
    return vec3(
        wp.max(zero, P[1, 1] + P[2, 2] + a + b),
        wp.max(zero, P[0, 0] + P[2, 2] + a + c),
        wp.max(zero, P[0, 0] + P[1, 1] + b + c),
    )


@wp.func
def pair_inverses(body: BodyType, k: vec3) -> mat33:
    """The 2x2 inverses: entry (i, j) is that of component S_ij; the diagonal holds the coupling of the opposite pair."""
    q = real(0.25)
    g = body.mu
    J = body.second_moments * body.inverse_beta2
    kx = k[0] * q
    ky = k[1] * q
    kz = k[2] * q
    # determinants expanded so that nothing cancels in the rigid limit
    dx = real(1.0) / (J[1] * J[2] + (J[1] + J[2]) * (g + kx) + real(4.0) * g * kx)
    dy = real(1.0) / (J[2] * J[0] + (J[2] + J[0]) * (g + ky) + real(4.0) * g * ky)
    dz = real(1.0) / (J[0] * J[1] + (J[0] + J[1]) * (g + kz) + real(4.0) * g * kz)
    return mat33(
        (kx - g) * dx, (J[0] + g + kz) * dz, (J[0] + g + ky) * dy,
        (J[1] + g + kz) * dz, (ky - g) * dy, (J[1] + g + kx) * dx,
        (J[2] + g + ky) * dy, (J[2] + g + kx) * dx, (kz - g) * dz,
    )  # fmt: skip


@wp.func
def solve_linear_part(T: mat33, P: mat33, Z: mat33) -> mat33:
    """H^-1 on the A part of a generalised force in the body's frame."""
    return mat33(
        T[0, 0] * Z[0, 0] + T[0, 1] * Z[1, 1] + T[0, 2] * Z[2, 2],
        P[0, 1] * Z[0, 1] + P[2, 2] * Z[1, 0],
        P[0, 2] * Z[0, 2] + P[1, 1] * Z[2, 0],
        P[1, 0] * Z[1, 0] + P[2, 2] * Z[0, 1],
        T[1, 0] * Z[0, 0] + T[1, 1] * Z[1, 1] + T[1, 2] * Z[2, 2],
        P[1, 2] * Z[1, 2] + P[0, 0] * Z[2, 1],
        P[2, 0] * Z[2, 0] + P[1, 1] * Z[0, 2],
        P[2, 1] * Z[2, 1] + P[0, 0] * Z[1, 2],
        T[2, 0] * Z[0, 0] + T[2, 1] * Z[1, 1] + T[2, 2] * Z[2, 2],
    )


@wp.func
def point_compliance(T: mat33, P: mat33, inverse_mass: real, a: vec3, b: vec3) -> mat33:
    """Motion of material point a per force at material point b, body frame: the S_ab of numerics 1."""
    x = a[0] * b[0]
    y = a[1] * b[1]
    z = a[2] * b[2]
    return mat33(
        T[0, 0] * x + P[0, 1] * y + P[0, 2] * z + inverse_mass,
        a[0] * T[0, 1] * b[1] + a[1] * P[2, 2] * b[0],
        a[0] * T[0, 2] * b[2] + a[2] * P[1, 1] * b[0],
        a[1] * T[1, 0] * b[0] + a[0] * P[2, 2] * b[1],
        P[1, 0] * x + T[1, 1] * y + P[1, 2] * z + inverse_mass,
        a[1] * T[1, 2] * b[2] + a[2] * P[0, 0] * b[1],
        a[2] * T[2, 0] * b[0] + a[0] * P[1, 1] * b[2],
        a[2] * T[2, 1] * b[1] + a[1] * P[0, 0] * b[2],
        P[2, 0] * x + P[2, 1] * y + T[2, 2] * z + inverse_mass,
    )


@wp.func
def turn_compliance(P: mat33, a: vec3) -> mat33:
    """Motion of material point a per torque about each body axis."""
    h = real(0.5)
    z = real(0.0)
    return mat33(
        z, h * a[2] * (P[0, 2] - P[1, 1]), h * a[1] * (P[2, 2] - P[0, 1]),
        h * a[2] * (P[0, 0] - P[1, 2]), z, h * a[0] * (P[1, 0] - P[2, 2]),
        h * a[1] * (P[2, 1] - P[0, 0]), h * a[0] * (P[1, 1] - P[2, 0]), z,
    )  # fmt: skip


@wp.func
def spin_compliance(P: mat33) -> vec3:
    """Turn about each body axis per torque about it."""
    q = real(0.25)
    return vec3(
        q * (P[1, 2] + P[2, 1] - real(2.0) * P[0, 0]),
        q * (P[0, 2] + P[2, 0] - real(2.0) * P[1, 1]),
        q * (P[0, 1] + P[1, 0] - real(2.0) * P[2, 2]),
    )
