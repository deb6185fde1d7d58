"""Eight bodies at a time: the algebra of affine.py on lanes, vectors whose entries belong to eight different bodies.

Written on `lane`, one formula does eight bodies in the instructions of one, because the compiler turns each operation
into vector instructions. Matrices and vectors are structs of lanes; times(a, b) is the product lane by lane.
"""

import warp as wp

from linkwork.mabd.affine import real

WIDTH = 8
LANES = wp.constant(WIDTH)
lane = wp.types.vector(length=WIDTH, dtype=wp.float64)

# the same as CPU_OPTIONS, and vector registers as wide as a lane where the machine has them
LANE_OPTIONS = {
    "cpu_compiler_flags": "-march=native -ffp-contract=fast -mprefer-vector-width=512 "
    "-mllvm=-unroll-full-max-count=1 -mllvm=-inline-threshold=14000"
}


@wp.struct
class Vec:
    x: lane
    y: lane
    z: lane


@wp.struct
class Mat:
    xx: lane
    xy: lane
    xz: lane
    yx: lane
    yy: lane
    yz: lane
    zx: lane
    zy: lane
    zz: lane


@wp.func
def times(a: lane, b: lane) -> lane:
    return wp.cw_mul(a, b)


@wp.func
def spread_out(a: real) -> lane:
    return lane(a)


@wp.func
def largest(a: lane) -> real:
    """Largest entry, NaNs passed over; in three rounds of pairs, as a chain of eight comparisons would be waited for."""
    return wp.max(wp.max(wp.max(a[0], a[1]), wp.max(a[2], a[3])), wp.max(wp.max(a[4], a[5]), wp.max(a[6], a[7])))


@wp.func
def total(a: lane) -> real:
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]))


@wp.func
def roots(a: lane) -> lane:
    r = lane()
    for k in range(LANES):
        r[k] = wp.sqrt(a[k])
    return r


@wp.func
def vector(x: lane, y: lane, z: lane) -> Vec:
    v = Vec()
    v.x = x
    v.y = y
    v.z = z
    return v


@wp.func
def matrix(
    xx: lane, xy: lane, xz: lane, yx: lane, yy: lane, yz: lane, zx: lane, zy: lane, zz: lane
) -> Mat:  # fmt: skip
    m = Mat()
    m.xx = xx
    m.xy = xy
    m.xz = xz
    m.yx = yx
    m.yy = yy
    m.yz = yz
    m.zx = zx
    m.zy = zy
    m.zz = zz
    return m


@wp.func
def unit() -> Mat:
    m = Mat()
    one = lane(real(1.0))
    m.xx = one
    m.yy = one
    m.zz = one
    return m


# Rows of lanes lie one behind the other. Indexed as arrays they would cost a multiplication by the stride per entry.
@wp.func_native(snippet="return a.data[i];")
def lane_at(a: wp.array(dtype=lane), i: int) -> lane: ...


@wp.func_native(snippet="a.data[i] = x;")
def put_lane(a: wp.array(dtype=lane), i: int, x: lane): ...


@wp.func_native(snippet="for (int k = 0; k < count; ++k) __builtin_prefetch(&a.data[i + k]);")
def fetch_ahead(a: wp.array(dtype=lane), i: int, count: int):
    """Start to bring lanes into the cache that are needed soon."""
    ...


@wp.func
def vec_at(a: wp.array(dtype=lane), i: int) -> Vec:
    return vector(lane_at(a, i), lane_at(a, i + 1), lane_at(a, i + 2))


@wp.func
def put_vec(a: wp.array(dtype=lane), i: int, v: Vec):
    put_lane(a, i, v.x)
    put_lane(a, i + 1, v.y)
    put_lane(a, i + 2, v.z)


@wp.func
def mat_at(a: wp.array(dtype=lane), i: int) -> Mat:
    return matrix(
        lane_at(a, i), lane_at(a, i + 1), lane_at(a, i + 2),
        lane_at(a, i + 3), lane_at(a, i + 4), lane_at(a, i + 5),
        lane_at(a, i + 6), lane_at(a, i + 7), lane_at(a, i + 8),
    )  # fmt: skip


@wp.func
def put_mat(a: wp.array(dtype=lane), i: int, m: Mat):
    put_vec(a, i, vector(m.xx, m.xy, m.xz))
    put_vec(a, i + 3, vector(m.yx, m.yy, m.yz))
    put_vec(a, i + 6, vector(m.zx, m.zy, m.zz))


@wp.func
def put_symmetric(a: wp.array(dtype=lane), i: int, m: Mat):
    """Its upper half."""
    put_vec(a, i, vector(m.xx, m.xy, m.xz))
    put_vec(a, i + 3, vector(m.yy, m.yz, m.zz))


@wp.func
def symmetric_at(a: wp.array(dtype=lane), i: int) -> Mat:
    r = vec_at(a, i)
    s = vec_at(a, i + 3)
    return matrix(r.x, r.y, r.z, r.y, s.x, s.y, r.z, s.y, s.z)


@wp.func
def plus(a: Vec, b: Vec) -> Vec:
    return vector(a.x + b.x, a.y + b.y, a.z + b.z)


@wp.func
def minus(a: Vec, b: Vec) -> Vec:
    return vector(a.x - b.x, a.y - b.y, a.z - b.z)


@wp.func
def scaled(a: Vec, s: real) -> Vec:
    return vector(a.x * s, a.y * s, a.z * s)


@wp.func
def stretched(a: Vec, s: lane) -> Vec:
    return vector(times(a.x, s), times(a.y, s), times(a.z, s))


@wp.func
def inner(a: Vec, b: Vec) -> lane:
    return times(a.x, b.x) + times(a.y, b.y) + times(a.z, b.z)


@wp.func
def crossed(a: Vec, b: Vec) -> Vec:
    return vector(
        times(a.y, b.z) - times(a.z, b.y), times(a.z, b.x) - times(a.x, b.z), times(a.x, b.y) - times(a.y, b.x)
    )


@wp.func
def mat_plus(a: Mat, b: Mat) -> Mat:
    return matrix(
        a.xx + b.xx, a.xy + b.xy, a.xz + b.xz,
        a.yx + b.yx, a.yy + b.yy, a.yz + b.yz,
        a.zx + b.zx, a.zy + b.zy, a.zz + b.zz,
    )  # fmt: skip


@wp.func
def mat_minus(a: Mat, b: Mat) -> Mat:
    return matrix(
        a.xx - b.xx, a.xy - b.xy, a.xz - b.xz,
        a.yx - b.yx, a.yy - b.yy, a.yz - b.yz,
        a.zx - b.zx, a.zy - b.zy, a.zz - b.zz,
    )  # fmt: skip


@wp.func
def mat_scaled(a: Mat, s: real) -> Mat:
    return matrix(
        a.xx * s, a.xy * s, a.xz * s, a.yx * s, a.yy * s, a.yz * s, a.zx * s, a.zy * s, a.zz * s
    )  # fmt: skip


@wp.func
def flipped(a: Mat) -> Mat:
    return matrix(a.xx, a.yx, a.zx, a.xy, a.yy, a.zy, a.xz, a.yz, a.zz)


@wp.func
def product(a: Mat, b: Mat) -> Mat:
    return matrix(
        times(a.xx, b.xx) + times(a.xy, b.yx) + times(a.xz, b.zx),
        times(a.xx, b.xy) + times(a.xy, b.yy) + times(a.xz, b.zy),
        times(a.xx, b.xz) + times(a.xy, b.yz) + times(a.xz, b.zz),
        times(a.yx, b.xx) + times(a.yy, b.yx) + times(a.yz, b.zx),
        times(a.yx, b.xy) + times(a.yy, b.yy) + times(a.yz, b.zy),
        times(a.yx, b.xz) + times(a.yy, b.yz) + times(a.yz, b.zz),
        times(a.zx, b.xx) + times(a.zy, b.yx) + times(a.zz, b.zx),
        times(a.zx, b.xy) + times(a.zy, b.yy) + times(a.zz, b.zy),
        times(a.zx, b.xz) + times(a.zy, b.yz) + times(a.zz, b.zz),
    )  # fmt: skip


@wp.func
def apply(a: Mat, v: Vec) -> Vec:
    return vector(
        times(a.xx, v.x) + times(a.xy, v.y) + times(a.xz, v.z),
        times(a.yx, v.x) + times(a.yy, v.y) + times(a.yz, v.z),
        times(a.zx, v.x) + times(a.zy, v.y) + times(a.zz, v.z),
    )


@wp.func
def apply_flipped(a: Mat, v: Vec) -> Vec:
    """a^T v."""
    return vector(
        times(a.xx, v.x) + times(a.yx, v.y) + times(a.zx, v.z),
        times(a.xy, v.x) + times(a.yy, v.y) + times(a.zy, v.z),
        times(a.xz, v.x) + times(a.yz, v.y) + times(a.zz, v.z),
    )


@wp.func
def columns_scaled(a: Mat, d: Vec) -> Mat:
    return matrix(
        times(a.xx, d.x), times(a.xy, d.y), times(a.xz, d.z),
        times(a.yx, d.x), times(a.yy, d.y), times(a.yz, d.z),
        times(a.zx, d.x), times(a.zy, d.y), times(a.zz, d.z),
    )  # fmt: skip


@wp.func
def dyad(a: Vec, b: Vec) -> Mat:
    return matrix(
        times(a.x, b.x), times(a.x, b.y), times(a.x, b.z),
        times(a.y, b.x), times(a.y, b.y), times(a.y, b.z),
        times(a.z, b.x), times(a.z, b.y), times(a.z, b.z),
    )  # fmt: skip


@wp.func
def crosser(w: Vec) -> Mat:
    """[w]x."""
    zero = lane()
    return matrix(zero, -w.z, w.y, w.z, zero, -w.x, -w.y, w.x, zero)


@wp.func
def axial_part(a: Mat) -> Vec:
    h = real(0.5)
    return vector((a.zy - a.yz) * h, (a.xz - a.zx) * h, (a.yx - a.xy) * h)


@wp.func
def twofold(a: Mat, b: Mat) -> lane:
    """a : b."""
    return (
        times(a.xx, b.xx) + times(a.xy, b.xy) + times(a.xz, b.xz)
        + times(a.yx, b.yx) + times(a.yy, b.yy) + times(a.yz, b.yz)
        + times(a.zx, b.zx) + times(a.zy, b.zy) + times(a.zz, b.zz)
    )  # fmt: skip


@wp.func
def inverse_of(a: Mat) -> Mat:
    p = times(a.yy, a.zz) - times(a.yz, a.zy)
    q = times(a.yz, a.zx) - times(a.yx, a.zz)
    r = times(a.yx, a.zy) - times(a.yy, a.zx)
    d = wp.cw_div(lane(real(1.0)), times(a.xx, p) + times(a.xy, q) + times(a.xz, r))
    return matrix(
        times(p, d), times(times(a.xz, a.zy) - times(a.xy, a.zz), d), times(times(a.xy, a.yz) - times(a.xz, a.yy), d),
        times(q, d), times(times(a.xx, a.zz) - times(a.xz, a.zx), d), times(times(a.xz, a.yx) - times(a.xx, a.yz), d),
        times(r, d), times(times(a.xy, a.zx) - times(a.xx, a.zy), d), times(times(a.xx, a.yy) - times(a.xy, a.yx), d),
    )  # fmt: skip


@wp.func
def without_turns(strain: Mat, turn: Vec) -> Mat:
    """without_turn of bodies.py in every lane."""
    half = real(0.5)
    return mat_minus(mat_plus(strain, mat_scaled(dyad(turn, turn), half)), diagonal(inner(turn, turn) * half))


@wp.func
def small_turns(turn: Vec, most: real) -> Vec:
    """Turns below `most` rad; others as zero."""
    size = inner(turn, turn)
    keep = lane(real(1.0))
    for k in range(LANES):
        if not (size[k] < most * most):
            keep[k] = real(0.0)
    return stretched(turn, keep)


@wp.func
def definite_inverse(a: Mat) -> Mat:
    """Inverse of a symmetric positive definite matrix, by L D L^T: keeps its digits where stiffnesses lie far apart."""
    one = lane(real(1.0))
    p = wp.cw_div(one, a.xx)
    yx = times(a.yx, p)
    zx = times(a.zx, p)
    q = wp.cw_div(one, a.yy - times(yx, a.yx))
    b = a.zy - times(zx, a.yx)
    zy = times(b, q)
    r = wp.cw_div(one, a.zz - times(zx, a.zx) - times(zy, b))
    # the last row of L^-1 is (u, -zy, 1)
    u = times(zy, yx) - zx
    ur = times(u, r)
    yr = times(zy, r)
    xy = -times(yx, q) - times(ur, zy)
    return matrix(
        p + times(times(yx, yx), q) + times(u, ur), xy, ur,
        xy, q + times(zy, yr), -yr,
        ur, -yr, r,
    )  # fmt: skip


@wp.func
def excess(a: Mat) -> Mat:
    """a^T a - I."""
    one = lane(real(1.0))
    p = times(a.xx, a.xy) + times(a.yx, a.yy) + times(a.zx, a.zy)
    q = times(a.xx, a.xz) + times(a.yx, a.yz) + times(a.zx, a.zz)
    r = times(a.xy, a.xz) + times(a.yy, a.yz) + times(a.zy, a.zz)
    return matrix(
        times(a.xx, a.xx) + times(a.yx, a.yx) + times(a.zx, a.zx) - one, p, q,
        p, times(a.xy, a.xy) + times(a.yy, a.yy) + times(a.zy, a.zy) - one, r,
        q, r, times(a.xz, a.xz) + times(a.yz, a.yz) + times(a.zz, a.zz) - one,
    )  # fmt: skip


@wp.func
def polar_rotations(a: Mat) -> Mat:
    """polar_rotation of affine.py in every lane; as many steps as the slowest lane needs."""
    r = a
    e = excess(r)
    size = twofold(e, e)
    worst = largest(size)
    if worst > real(0.25):
        shrink = lane(real(1.0))
        for k in range(LANES):
            if size[k] > real(0.25):
                shrink[k] = real(1.0) / wp.sqrt(real(1.0) + wp.sqrt(size[k]))
        d = vector(shrink, shrink, shrink)
        r = columns_scaled(r, d)
        e = excess(r)
        worst = largest(twofold(e, e))
    count = int(0)
    while worst > real(1.0e-8) and count < 60:
        r = mat_minus(r, mat_scaled(product(r, e), real(0.5)))
        e = excess(r)
        worst = largest(twofold(e, e))
        count += 1
    correction = mat_minus(mat_scaled(e, real(0.5)), mat_scaled(product(e, e), real(0.375)))
    return mat_minus(r, product(r, correction))


@wp.func
def rotations(w: Vec) -> Mat:
    """Rodrigues' rotation of every lane."""
    a2 = inner(w, w)
    # Taylor series to a^14, below one rounding for angles up to 0.5
    s = a2 * (real(1.0) / real(6227020800.0)) - lane(real(1.0) / real(39916800.0))
    s = times(s, a2) + lane(real(1.0) / real(362880.0))
    s = times(s, a2) - lane(real(1.0) / real(5040.0))
    s = times(s, a2) + lane(real(1.0) / real(120.0))
    s = times(s, a2) - lane(real(1.0) / real(6.0))
    s = times(s, a2) + lane(real(1.0))
    c = a2 * (real(1.0) / real(87178291200.0)) - lane(real(1.0) / real(479001600.0))
    c = times(c, a2) + lane(real(1.0) / real(3628800.0))
    c = times(c, a2) - lane(real(1.0) / real(40320.0))
    c = times(c, a2) + lane(real(1.0) / real(720.0))
    c = times(c, a2) - lane(real(1.0) / real(24.0))
    c = times(c, a2) + lane(real(0.5))
    if largest(a2) > real(0.25):
        for k in range(LANES):
            if a2[k] > real(0.25):
                a = wp.sqrt(a2[k])
                h = wp.sin(real(0.5) * a) / a
                s[k] = wp.sin(a) / a
                c[k] = real(2.0) * h * h
    W = crosser(w)
    return mat_plus(unit(), product(W, mat_plus(mat_lane(W, c), diagonal(s))))


@wp.func
def mat_lane(a: Mat, s: lane) -> Mat:
    return matrix(
        times(a.xx, s), times(a.xy, s), times(a.xz, s),
        times(a.yx, s), times(a.yy, s), times(a.yz, s),
        times(a.zx, s), times(a.zy, s), times(a.zz, s),
    )  # fmt: skip


@wp.func
def diagonal(s: lane) -> Mat:
    m = Mat()
    m.xx = s
    m.yy = s
    m.zz = s
    return m


@wp.func
def conjugate(r: Mat, s: Mat) -> Mat:
    """r s r^T."""
    return product(product(r, s), flipped(r))


@wp.func
def conjugate_back(r: Mat, s: Mat) -> Mat:
    """r^T s r."""
    return product(flipped(r), product(s, r))


@wp.func
def stresses(mu: lane, lam: lane, e: Mat) -> Mat:
    """2 mu sym(e) + lambda tr(e) I for e = S - I, times the volume."""
    p = times(lam, e.xx + e.yy + e.zz)
    m2 = mu * real(2.0)
    a = times(mu, e.xy + e.yx)
    b = times(mu, e.xz + e.zx)
    c = times(mu, e.yz + e.zy)
    return matrix(times(m2, e.xx) + p, a, b, a, times(m2, e.yy) + p, c, b, c, times(m2, e.zz) + p)


@wp.func
def elastic_energies(mu: lane, lam: lane, e: Mat) -> lane:
    a = e.xy + e.yx
    b = e.xz + e.zx
    c = e.yz + e.zy
    trace = e.xx + e.yy + e.zz
    squares = times(e.xx, e.xx) + times(e.yy, e.yy) + times(e.zz, e.zz)
    shears = times(a, a) + times(b, b) + times(c, c)
    return times(mu, squares + shears * real(0.5)) + times(lam, times(trace, trace)) * real(0.5)


@wp.func
def geometric_stiffnesses(p: Mat) -> Vec:
    """geometric_stiffness of affine.py in every lane."""
    zero = lane()
    a = wp.abs(p.xy)
    b = wp.abs(p.xz)
    c = wp.abs(p.yz)
    return vector(
        wp.max(zero, p.yy + p.zz + a + b), wp.max(zero, p.xx + p.zz + a + c), wp.max(zero, p.xx + p.yy + b + c)
    )


@wp.func
def pair_inverse_lanes(J: Vec, g: lane, k: Vec) -> Mat:
    """pair_inverses of affine.py for moments J over beta^2."""
    q = real(0.25)
    one = lane(real(1.0))
    kx = k.x * q
    ky = k.y * q
    kz = k.z * q
    g4 = g * real(4.0)
    dx = wp.cw_div(one, times(J.y, J.z) + times(J.y + J.z, g + kx) + times(g4, kx))
    dy = wp.cw_div(one, times(J.z, J.x) + times(J.z + J.x, g + ky) + times(g4, ky))
    dz = wp.cw_div(one, times(J.x, J.y) + times(J.x + J.y, g + kz) + times(g4, kz))
    return matrix(
        times(kx - g, dx), times(J.x + g + kz, dz), times(J.x + g + ky, dy),
        times(J.y + g + kz, dz), times(ky - g, dy), times(J.y + g + kx, dx),
        times(J.z + g + ky, dy), times(J.z + g + kx, dx), times(kz - g, dz),
    )  # fmt: skip


@wp.func
def stretch_inverse_lanes(J: Vec, mu: lane, lam: lane) -> Mat:
    """Inverse of diag(J + 2 mu) + lambda for moments J over beta^2: the compliance of (S00, S11, S22)."""
    one = lane(real(1.0))
    m2 = mu * real(2.0)
    x = wp.cw_div(one, J.x + m2)
    y = wp.cw_div(one, J.y + m2)
    z = wp.cw_div(one, J.z + m2)
    # Sherman and Morrison, written without differences
    share = wp.cw_div(one, one + times(lam, x + y + z))
    px = times(x, share)
    py = times(y, share)
    pz = times(z, share)
    xy = -times(lam, times(px, y))
    xz = -times(lam, times(px, z))
    yz = -times(lam, times(py, z))
    return matrix(
        times(px, one + times(lam, y + z)), xy, xz,
        xy, times(py, one + times(lam, x + z)), yz,
        xz, yz, times(pz, one + times(lam, x + y)),
    )  # fmt: skip


@wp.func
def solve_columns(T: Mat, P: Mat, z: Mat) -> Mat:
    """solve_linear_part of affine.py in every lane."""
    return matrix(
        times(T.xx, z.xx) + times(T.xy, z.yy) + times(T.xz, z.zz),
        times(P.xy, z.xy) + times(P.zz, z.yx),
        times(P.xz, z.xz) + times(P.yy, z.zx),
        times(P.yx, z.yx) + times(P.zz, z.xy),
        times(T.yx, z.xx) + times(T.yy, z.yy) + times(T.yz, z.zz),
        times(P.yz, z.yz) + times(P.xx, z.zy),
        times(P.zx, z.zx) + times(P.yy, z.xz),
        times(P.zy, z.zy) + times(P.xx, z.yz),
        times(T.zx, z.xx) + times(T.zy, z.yy) + times(T.zz, z.zz),
    )  # fmt: skip


@wp.func
def point_compliances(T: Mat, P: Mat, inverse_mass: lane, a: Vec, b: Vec) -> Mat:
    """point_compliance of affine.py in every lane."""
    x = times(a.x, b.x)
    y = times(a.y, b.y)
    z = times(a.z, b.z)
    return matrix(
        times(T.xx, x) + times(P.xy, y) + times(P.xz, z) + inverse_mass,
        times(times(a.x, T.xy), b.y) + times(times(a.y, P.zz), b.x),
        times(times(a.x, T.xz), b.z) + times(times(a.z, P.yy), b.x),
        times(times(a.y, T.yx), b.x) + times(times(a.x, P.zz), b.y),
        times(P.yx, x) + times(T.yy, y) + times(P.yz, z) + inverse_mass,
        times(times(a.y, T.yz), b.z) + times(times(a.z, P.xx), b.y),
        times(times(a.z, T.zx), b.x) + times(times(a.x, P.yy), b.z),
        times(times(a.z, T.zy), b.y) + times(times(a.y, P.xx), b.z),
        times(P.zx, x) + times(P.zy, y) + times(T.zz, z) + inverse_mass,
    )  # fmt: skip


@wp.func
def turn_compliances(P: Mat, a: Vec) -> Mat:
    """turn_compliance of affine.py in every lane."""
    h = real(0.5)
    zero = lane()
    return matrix(
        zero, times(a.z, P.xz - P.yy) * h, times(a.y, P.zz - P.xy) * h,
        times(a.z, P.xx - P.yz) * h, zero, times(a.x, P.yx - P.zz) * h,
        times(a.y, P.zy - P.xx) * h, times(a.x, P.yy - P.zx) * h, zero,
    )  # fmt: skip


@wp.func
def spin_compliances(P: Mat) -> Vec:
    """spin_compliance of affine.py in every lane."""
    q = real(0.25)
    return vector(
        (P.yz + P.zy - P.xx * real(2.0)) * q,
        (P.xz + P.zx - P.yy * real(2.0)) * q,
        (P.xy + P.yx - P.zz * real(2.0)) * q,
    )
