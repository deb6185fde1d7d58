"""Joint coordinates on the device: value and gradient of every slot of the catalogue.

A row's gradient is a force direction n at the joint's point (plus on the follower, minus on the base) and a torque axis on
each body. Translations are measured with the affine points, d = x_F(p) - x_B(p), along the rotated base axes; rotations are
measured between the rotations R of the two bodies, so their gradients are pure torques:
d(b_i . f_j) = (f_j x b_i) . (omega_F - omega_B).
"""

import warp as wp

from linkwork.mabd.affine import THIRD, mat33, real, vec3

# joint kinds, equal to linkwork.scene.table.JointId
FIXED = wp.constant(0)
BALL = wp.constant(1)
HINGE = wp.constant(2)
PRISMATIC = wp.constant(3)
CYLINDRICAL = wp.constant(4)
UNIVERSAL = wp.constant(5)
PLANAR = wp.constant(6)
CARTESIAN = wp.constant(7)
RECTANGULAR = wp.constant(8)
PIN_IN_SLOT = wp.constant(9)
SLOT = wp.constant(10)
FREE = wp.constant(11)
DISTANCE = wp.constant(12)


@wp.struct
class Row:
    """One coordinate: dc = n . (dx_F - dx_B) + follower . omega_F + base . omega_B."""

    value: real  # m or rad
    n: vec3
    follower: vec3
    base: vec3


@wp.func
def column(M: mat33, k: int) -> vec3:
    return vec3(M[0, k], M[1, k], M[2, k])


@wp.func
def turning(value: real, w: vec3) -> Row:
    row = Row()
    row.value = value
    row.follower = w
    row.base = -w
    return row


@wp.func
def angle_row(s: real, c: real, ws: vec3, wc: vec3) -> Row:
    """atan2(s, c) from two bilinear measures and their axes."""
    q = real(1.0) / wp.max(s * s + c * c, real(1.0e-18))
    return turning(wp.atan2(s, c), (ws * c - wc * s) * q)


@wp.func
def measure_translation(kind: int, slot: int, B: mat33, d: vec3) -> Row:
    row = Row()
    if kind == DISTANCE:
        length = wp.length(d)
        row.value = length
        row.n = d * (real(1.0) / wp.max(length, real(1.0e-12)))
    elif kind == FIXED or kind == BALL or kind == HINGE or kind == UNIVERSAL:
        # all three locked: the world's axes make the rows linear
        row.value = d[slot]
        n = vec3()
        n[slot] = real(1.0)
        row.n = n
    else:
        b = column(B, slot)
        row.value = wp.dot(b, d)
        row.n = b
        row.base = wp.cross(b, d)
    return row


@wp.func
def measure_swing(slot: int, B: mat33, F: mat33) -> Row:
    """Component of the swing vector: the turn, perpendicular to the twist axis, that takes the base's z to the follower's."""
    b0 = column(B, 0)
    b1 = column(B, 1)
    b2 = column(B, 2)
    f = column(F, 2)
    x = wp.dot(b0, f)
    y = wp.dot(b1, f)
    z = wp.dot(b2, f)
    wx = wp.cross(f, b0)
    wy = wp.cross(f, b1)
    wz = wp.cross(f, b2)
    rho2 = x * x + y * y
    # swing = a (-y, x) with a = theta / sin theta; da = slope_xy (x dx + y dy) + slope_z dz
    a = real(1.0) + rho2 / real(6.0)
    slope_xy = THIRD
    slope_z = real(0.0)
    if rho2 > real(1.0e-8) or z < real(0.0):
        rho = wp.sqrt(wp.max(rho2, real(1.0e-18)))
        a = wp.atan2(rho, z) / rho
        slope_xy = (z - a) / (rho * rho)
        slope_z = real(-1.0)
    wa = (wx * x + wy * y) * slope_xy + wz * slope_z
    if slot == 3:
        return turning(-a * y, -(wy * a + wa * y))
    return turning(a * x, wx * a + wa * x)


@wp.func
def measure_rotation(kind: int, slot: int, B: mat33, F: mat33) -> Row:
    b0 = column(B, 0)
    b1 = column(B, 1)
    b2 = column(B, 2)
    f0 = column(F, 0)
    f1 = column(F, 1)
    f2 = column(F, 2)
    half = real(0.5)
    if kind == FIXED or kind == PRISMATIC or kind == CARTESIAN or kind == RECTANGULAR:
        if slot == 3:
            return turning(half * (wp.dot(b2, f1) - wp.dot(b1, f2)), (wp.cross(f1, b2) - wp.cross(f2, b1)) * half)
        elif slot == 4:
            return turning(half * (wp.dot(b0, f2) - wp.dot(b2, f0)), (wp.cross(f2, b0) - wp.cross(f0, b2)) * half)
        return turning(half * (wp.dot(b1, f0) - wp.dot(b0, f1)), (wp.cross(f0, b1) - wp.cross(f1, b0)) * half)
    if kind == UNIVERSAL:
        if slot == 3:
            return angle_row(wp.dot(b2, f1), wp.dot(b1, f1), wp.cross(f1, b2), wp.cross(f1, b1))
        elif slot == 4:
            return angle_row(wp.dot(b0, f2), wp.dot(b0, f0), wp.cross(f2, b0), wp.cross(f0, b0))
        return turning(-wp.dot(b0, f1), -wp.cross(f1, b0))
    if slot == 5:
        return angle_row(
            wp.dot(b1, f0) - wp.dot(b0, f1),
            wp.dot(b0, f0) + wp.dot(b1, f1),
            wp.cross(f0, b1) - wp.cross(f1, b0),
            wp.cross(f0, b0) + wp.cross(f1, b1),
        )
    if kind == BALL or kind == SLOT or kind == FREE:
        return measure_swing(slot, B, F)
    if slot == 3:
        return turning(-wp.dot(b1, f2), -wp.cross(f2, b1))
    return turning(wp.dot(b0, f2), wp.cross(f2, b0))


@wp.func
def measure(kind: int, slot: int, B: mat33, F: mat33, d: vec3) -> Row:
    if slot < 3:
        return measure_translation(kind, slot, B, d)
    return measure_rotation(kind, slot, B, F)
