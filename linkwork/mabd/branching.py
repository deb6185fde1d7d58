"""The Hessian of a body with several children, over its motions t, a, s, p: shift, turn, stretch and shear, 3 each.

A body's linear part moves by Y = [a]x + sym(s, p), so that its material point X moves by t - X x a + s * X + M(X) p. The
12 x 12 Hessian is kept as ten 3 x 3 blocks and factored block by block, H = L diag(pivots) L^T.
"""

from collections.abc import Callable
from typing import Any

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.lanes import (
    Mat,
    Vec,
    apply,
    apply_flipped,
    columns_scaled,
    definite_inverse,
    flipped,
    lane,
    mat_minus,
    mat_plus,
    mat_scaled,
    matrix,
    minus,
    plus,
    product,
    put_mat,
    times,
    unit,
    vector,
)


@wp.struct
class Inertia:
    """Mass and second moments over beta^2, and the moduli times the volume."""

    moments: Vec
    mass: lane
    mu: lane
    lam: lane


@wp.struct
class Motion:
    t: Vec
    a: Vec
    s: Vec
    p: Vec


@wp.struct
class Arm:
    """Three columns over t, a, s, p, such as the transposed motion of a point."""

    t: Mat
    a: Mat
    s: Mat
    p: Mat


@wp.struct
class Blocks:
    """Lower blocks of a symmetric matrix over t, a, s, p; of a factor: inverse pivots, and L below them."""

    tt: Mat
    at: Mat
    aa: Mat
    st: Mat
    sa: Mat
    ss: Mat
    pt: Mat
    pa: Mat
    ps: Mat
    pp: Mat


@wp.func
def by_entry(a: Vec, b: Vec) -> Vec:
    return vector(times(a.x, b.x), times(a.y, b.y), times(a.z, b.z))


@wp.func
def rows_scaled(a: Mat, d: Vec) -> Mat:
    return matrix(
        times(a.xx, d.x), times(a.xy, d.x), times(a.xz, d.x),
        times(a.yx, d.y), times(a.yy, d.y), times(a.yz, d.y),
        times(a.zx, d.z), times(a.zy, d.z), times(a.zz, d.z),
    )  # fmt: skip


@wp.func
def across(d: Vec) -> Mat:
    m = Mat()
    m.xx = d.x
    m.yy = d.y
    m.zz = d.z
    return m


@wp.func
def lever(X: Vec) -> Mat:
    """Motion of a material point per turn a: -[X]x."""
    zero = lane()
    return matrix(zero, X.z, -X.y, -X.z, zero, X.x, X.y, -X.x, zero)


@wp.func
def mirror(X: Vec) -> Mat:
    """M(X): motion of a material point per shear p; symmetric."""
    zero = lane()
    return matrix(zero, X.z, X.y, X.z, zero, X.x, X.y, X.x, zero)


@wp.func
def body_hessian(own: Inertia, stiff: Vec) -> Blocks:
    """Of inertia, elasticity and geometric stiffness."""
    J = own.moments
    H = Blocks()
    H.tt = across(vector(own.mass, own.mass, own.mass))
    sums = vector(J.y + J.z, J.z + J.x, J.x + J.y)
    H.aa = across(plus(sums, stiff))
    m2 = own.mu * real(2.0)
    m4 = own.mu * real(4.0)
    one = lane(real(1.0))
    all = matrix(one, one, one, one, one, one, one, one, one)
    H.ss = mat_plus(
        across(plus(J, vector(m2, m2, m2))), columns_scaled(all, vector(own.lam, own.lam, own.lam))
    )  # fmt: skip
    H.pp = across(plus(sums, vector(m4, m4, m4)))
    H.pa = across(vector(J.y - J.z, J.z - J.x, J.x - J.y))
    return H


@wp.func
def block_factor(H: Blocks) -> Blocks:
    F = Blocks()
    F.tt = definite_inverse(H.tt)
    F.at = product(H.at, F.tt)
    F.st = product(H.st, F.tt)
    F.pt = product(H.pt, F.tt)
    F.aa = definite_inverse(mat_minus(H.aa, product(F.at, flipped(H.at))))
    sa = mat_minus(H.sa, product(F.st, flipped(H.at)))
    pa = mat_minus(H.pa, product(F.pt, flipped(H.at)))
    F.sa = product(sa, F.aa)
    F.pa = product(pa, F.aa)
    ss = mat_minus(H.ss, product(F.st, flipped(H.st)))
    F.ss = definite_inverse(mat_minus(ss, product(F.sa, flipped(sa))))
    ps = mat_minus(mat_minus(H.ps, product(F.pt, flipped(H.st))), product(F.pa, flipped(sa)))
    F.ps = product(ps, F.ss)
    pp = mat_minus(mat_minus(H.pp, product(F.pt, flipped(H.pt))), product(F.pa, flipped(pa)))
    F.pp = definite_inverse(mat_minus(pp, product(F.ps, flipped(ps))))
    return F


@wp.func
def forward(F: Blocks, y: Motion) -> Motion:
    """L^-1 y."""
    r = Motion()
    r.t = y.t
    r.a = minus(y.a, apply(F.at, r.t))
    r.s = minus(minus(y.s, apply(F.st, r.t)), apply(F.sa, r.a))
    r.p = minus(minus(minus(y.p, apply(F.pt, r.t)), apply(F.pa, r.a)), apply(F.ps, r.s))
    return r


@wp.func
def arm_forward(F: Blocks, X: Vec) -> Arm:
    """L^-1 of the transposed motion of material point X."""
    r = Arm()
    r.t = unit()
    r.a = mat_minus(flipped(lever(X)), F.at)
    r.s = mat_minus(mat_minus(across(X), F.st), product(F.sa, r.a))
    r.p = mat_minus(mat_minus(mat_minus(mirror(X), F.pt), product(F.pa, r.a)), product(F.ps, r.s))
    return r


@wp.func
def turn_forward(F: Blocks, N: Mat) -> Arm:
    """L^-1 of the transposed turn N a."""
    r = Arm()
    r.a = flipped(N)
    r.s = mat_scaled(product(F.sa, r.a), real(-1.0))
    r.p = mat_scaled(mat_plus(product(F.pa, r.a), product(F.ps, r.s)), real(-1.0))
    return r


def solves(form: type, product: Callable[..., Any], minus: Callable[..., Any]) -> tuple[Any, Any]:
    """Warp functions that divide a Motion or an Arm by the pivots, and that apply L^-T to it."""

    @wp.func
    def pivoted(F: Blocks, y: form) -> form:
        r = form()
        r.t = product(F.tt, y.t)
        r.a = product(F.aa, y.a)
        r.s = product(F.ss, y.s)
        r.p = product(F.pp, y.p)
        return r

    @wp.func
    def backward(F: Blocks, y: form) -> form:
        r = form()
        r.p = y.p
        r.s = minus(y.s, product(flipped(F.ps), r.p))
        r.a = minus(minus(y.a, product(flipped(F.sa), r.s)), product(flipped(F.pa), r.p))
        t = minus(minus(y.t, product(flipped(F.at), r.a)), product(flipped(F.st), r.s))
        r.t = minus(t, product(flipped(F.pt), r.p))
        return r

    return pivoted, backward


pivoted, backward = solves(Motion, apply, minus)
arm_pivoted, arm_backward = solves(Arm, product, mat_minus)


@wp.func
def arm_inner(u: Arm, v: Arm) -> Mat:
    """u^T v."""
    return mat_plus(
        mat_plus(product(flipped(u.t), v.t), product(flipped(u.a), v.a)),
        mat_plus(product(flipped(u.s), v.s), product(flipped(u.p), v.p)),
    )


@wp.func
def arm_motion(u: Arm, y: Motion) -> Vec:
    """u^T y."""
    return plus(
        plus(apply_flipped(u.t, y.t), apply_flipped(u.a, y.a)), plus(apply_flipped(u.s, y.s), apply_flipped(u.p, y.p))
    )


@wp.func
def put_arm(a: wp.array(dtype=lane), i: int, u: Arm):
    put_mat(a, i, u.t)
    put_mat(a, i + 9, u.a)
    put_mat(a, i + 18, u.s)
    put_mat(a, i + 27, u.p)
