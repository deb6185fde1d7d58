"""Symmetric 3x3 matrices in lanes."""

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.lanes import Mat, lane, matrix, times


@wp.struct
class Sym:
    xx: lane
    yy: lane
    zz: lane
    xy: lane
    xz: lane
    yz: lane


@wp.func
def symmetric(xx: lane, yy: lane, zz: lane, xy: lane, xz: lane, yz: lane) -> Sym:
    s = Sym()
    s.xx = xx
    s.yy = yy
    s.zz = zz
    s.xy = xy
    s.xz = xz
    s.yz = yz
    return s


@wp.func
def sym_plus(a: Sym, b: Sym) -> Sym:
    return symmetric(a.xx + b.xx, a.yy + b.yy, a.zz + b.zz, a.xy + b.xy, a.xz + b.xz, a.yz + b.yz)


@wp.func
def sym_inverses(s: Sym) -> Sym:
    a = times(s.yy, s.zz) - times(s.yz, s.yz)
    b = times(s.xz, s.yz) - times(s.xy, s.zz)
    c = times(s.xy, s.yz) - times(s.xz, s.yy)
    q = wp.cw_div(lane(real(1.0)), times(s.xx, a) + times(s.xy, b) + times(s.xz, c))
    return symmetric(
        times(a, q), times(times(s.xx, s.zz) - times(s.xz, s.xz), q), times(times(s.xx, s.yy) - times(s.xy, s.xy), q),
        times(b, q), times(c, q), times(times(s.xy, s.xz) - times(s.xx, s.yz), q),
    )  # fmt: skip


@wp.func
def full(s: Sym) -> Mat:
    return matrix(s.xx, s.xy, s.xz, s.xy, s.yy, s.yz, s.xz, s.yz, s.zz)


@wp.func
def sym_minus_product(s: Sym, a: Mat, b: Mat) -> Sym:
    """s - a b, where a b is known to be symmetric."""
    return symmetric(
        s.xx - times(a.xx, b.xx) - times(a.xy, b.yx) - times(a.xz, b.zx),
        s.yy - times(a.yx, b.xy) - times(a.yy, b.yy) - times(a.yz, b.zy),
        s.zz - times(a.zx, b.xz) - times(a.zy, b.yz) - times(a.zz, b.zz),
        s.xy - times(a.xx, b.xy) - times(a.xy, b.yy) - times(a.xz, b.zy),
        s.xz - times(a.xx, b.xz) - times(a.xy, b.yz) - times(a.xz, b.zz),
        s.yz - times(a.yx, b.xz) - times(a.yy, b.yz) - times(a.yz, b.zz),
    )


@wp.func
def axis_compliances(R: Mat, d0: lane, d1: lane, d2: lane) -> Sym:
    """R diag(d) R^T, using that the columns of R sum up to the identity."""
    p = d1 - d0
    q = d2 - d0
    ax = times(p, R.xy)
    ay = times(p, R.yy)
    az = times(p, R.zy)
    bx = times(q, R.xz)
    by = times(q, R.yz)
    bz = times(q, R.zz)
    return symmetric(
        d0 + times(ax, R.xy) + times(bx, R.xz), d0 + times(ay, R.yy) + times(by, R.yz),
        d0 + times(az, R.zy) + times(bz, R.zz), times(ax, R.yy) + times(bx, R.yz),
        times(ax, R.zy) + times(bx, R.zz), times(ay, R.zy) + times(by, R.zz),
    )  # fmt: skip


@wp.func
def sym_along(tau: lane, s: lane, m: Sym) -> Sym:
    """tau I + s m."""
    return symmetric(
        tau + times(s, m.xx), tau + times(s, m.yy), tau + times(s, m.zz), times(s, m.xy), times(s, m.xz), times(s, m.yz)
    )


@wp.func
def sym_where(a: Sym, b: Sym, take_b: lane) -> Sym:
    """b in the lanes where take_b is 1, a where it is 0."""
    keep = lane(real(1.0)) - take_b
    return symmetric(
        times(a.xx, keep) + times(b.xx, take_b), times(a.yy, keep) + times(b.yy, take_b),
        times(a.zz, keep) + times(b.zz, take_b), times(a.xy, keep) + times(b.xy, take_b),
        times(a.xz, keep) + times(b.xz, take_b), times(a.yz, keep) + times(b.yz, take_b),
    )  # fmt: skip
