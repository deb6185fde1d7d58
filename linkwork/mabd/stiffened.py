"""Bodies that contacts hold: the whole 12 x 12 Hessian of one, its Cholesky factor, and its inverse at work.

A contact at material point X adds K to the stiffness of that point, K (x) (X, 1) (X, 1)^T to the Hessian, which then is no
longer one 3 x 3, three 2 x 2 and a scalar. Coordinates are those of Y in the body's frame, row by row: entry (i, j) of Y
is number 4 i + j.
"""

import warp as wp

from linkwork.mabd.affine import BodyType, mat33, mat34, real, vec3

SIZE = wp.constant(12)
ENTRIES = wp.constant(144)

vec12 = wp.types.vector(length=12, dtype=wp.float64)
vec4 = wp.vec4d


@wp.func
def begin_hessian(H: wp.array(dtype=wp.float64), slot: int, body: BodyType, k: vec3):
    """Lower triangle of a free body's own Hessian, with the geometric stiffness k of the three turns."""
    base = slot * ENTRIES
    for e in range(ENTRIES):
        H[base + e] = real(0.0)
    for i in range(3):
        for j in range(3):
            u = 4 * i + j
            H[base + u * SIZE + u] = body.second_moments[j] * body.inverse_beta2
        t = 4 * i + 3
        H[base + t * SIZE + t] = body.mass * body.inverse_beta2
    for i in range(3):
        u = 5 * i
        H[base + u * SIZE + u] += real(2.0) * body.mu
        for j in range(i + 1):
            H[base + u * SIZE + 5 * j] += body.lam
    for axis in range(3):
        i = (axis + 1) % 3
        j = (axis + 2) % 3
        u = 4 * wp.max(i, j) + wp.min(i, j)
        v = 4 * wp.min(i, j) + wp.max(i, j)
        turn = real(0.25) * k[axis]
        H[base + u * SIZE + u] += body.mu + turn
        H[base + v * SIZE + v] += body.mu + turn
        H[base + u * SIZE + v] += body.mu - turn


@wp.func
def stiffen_point(H: wp.array(dtype=wp.float64), slot: int, K: mat33, X: vec3):
    """Add the stiffness K (body frame) of material point X."""
    base = slot * ENTRIES
    x = vec4(X[0], X[1], X[2], real(1.0))
    for i in range(3):
        for k in range(i + 1):
            for j in range(4):
                y = K[i, k] * x[j]
                row = base + (4 * i + j) * SIZE + 4 * k
                if i == k:
                    for m in range(j + 1):
                        H[row + m] += y * x[m]
                else:
                    for m in range(4):
                        H[row + m] += y * x[m]


@wp.func
def arm_row(i: int, X: vec3, arm: vec3) -> vec12:
    """What the motion along axis i at an arm from X is made of."""
    e = vec3()
    e[i] = real(1.0)
    t = wp.cross(arm, e) * real(0.5)
    row = vec12()
    for j in range(3):
        row[4 * i + j] = X[j]
    row[4 * i + 3] = real(1.0)
    row[1] -= t[2]
    row[2] += t[1]
    row[4] += t[2]
    row[6] -= t[0]
    row[8] -= t[1]
    row[9] += t[0]
    return row


@wp.func
def stiffen_arm(H: wp.array(dtype=wp.float64), slot: int, D: mat33, X: vec3, arm: vec3):
    """Add the stiffness D at an arm from material point X; the arm keeps its direction in space when the body turns."""
    base = slot * ENTRIES
    x = arm_row(0, X, arm)
    y = arm_row(1, X, arm)
    z = arm_row(2, X, arm)
    Dx = x * D[0, 0] + y * D[0, 1] + z * D[0, 2]
    Dy = x * D[1, 0] + y * D[1, 1] + z * D[1, 2]
    Dz = x * D[2, 0] + y * D[2, 1] + z * D[2, 2]
    for u in range(SIZE):
        for v in range(u + 1):
            H[base + u * SIZE + v] += x[u] * Dx[v] + y[u] * Dy[v] + z[u] * Dz[v]


@wp.func
def stiffen_turn(H: wp.array(dtype=wp.float64), slot: int, K: mat33):
    """Add the stiffness K against turns (body frame)."""
    base = slot * ENTRIES
    quarter = real(0.25)
    # a turn about x is half of Y_21 - Y_12, and so on
    plus = wp.vec3i(9, 2, 4)
    minus = wp.vec3i(6, 8, 1)
    for i in range(3):
        for j in range(3):
            k = quarter * K[i, j]
            add_lower(H, base, plus[i], plus[j], k)
            add_lower(H, base, plus[i], minus[j], -k)
            add_lower(H, base, minus[i], plus[j], -k)
            add_lower(H, base, minus[i], minus[j], k)


@wp.func
def add_lower(H: wp.array(dtype=wp.float64), base: int, row: int, column: int, value: real):
    if column <= row:
        H[base + row * SIZE + column] += value


@wp.func
def factor_hessian(H: wp.array(dtype=wp.float64), slot: int):
    """H <- L with L L^T = H; the diagonal holds the reciprocals."""
    base = slot * ENTRIES
    for j in range(SIZE):
        row = base + j * SIZE
        d = H[row + j]
        for m in range(j):
            d -= H[row + m] * H[row + m]
        q = real(1.0) / wp.sqrt(d)
        H[row + j] = q
        for i in range(j + 1, SIZE):
            other = base + i * SIZE
            x = H[other + j]
            for m in range(j):
                x -= H[other + m] * H[row + m]
            H[other + j] = x * q


@wp.func
def solve_hessian(L: wp.array(dtype=wp.float64), slot: int, g: mat34) -> mat34:
    """H^-1 g."""
    base = slot * ENTRIES
    x = vec12()
    for i in range(SIZE):
        row = base + i * SIZE
        s = g[i / 4, i % 4]
        for m in range(i):
            s -= L[row + m] * x[m]
        x[i] = s * L[row + i]
    for back in range(SIZE):
        i = SIZE - 1 - back
        s = x[i]
        for m in range(i + 1, SIZE):
            s -= L[base + m * SIZE + i] * x[m]
        x[i] = s * L[base + i * SIZE + i]
    return mat34(x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7], x[8], x[9], x[10], x[11])
