"""Where geoms are at the start of a step, and the boxes that hold them until its end."""

import warp as wp

from linkwork.contact.geom import PLANE, SPHERE, mat33, mat34, real, vec3
from linkwork.contact.geoms import Geoms, GeomType
from linkwork.mabd.affine import axial, linear_part, polar_rotation, rotation_exp, translation_part


@wp.struct
class Step:
    """What is known about a step before it is taken."""

    dt: real
    gravity: vec3
    slack: real  # pairs nearer than this are reported whatever their speed, m


@wp.struct
class Motion:
    """Rigid motion of a body over a step: from rotation R and centre of mass x, with v m/s and w rad/s."""

    R: mat33
    x: vec3
    v: vec3
    w: vec3


@wp.func
def motion_of(geoms: Geoms, g: wp.int32, Q: mat34, V: mat34, step: Step) -> Motion:
    m = Motion()
    m.R = polar_rotation(linear_part(Q))
    m.x = translation_part(Q)
    m.v = translation_part(V)
    if geoms.component[g] >= 0:
        m.v += step.gravity * step.dt
    m.w = axial(linear_part(V) * wp.transpose(m.R))
    return m


@wp.func
def rotation_at(m: Motion, t: real) -> mat33:
    return rotation_exp(m.w * t) * m.R


@wp.func
def travel_by_turning(m: Motion, arm: real, dt: real) -> real:
    """How far a point can get from where translation alone takes it: along the arc, at most across the circle."""
    turn = wp.length(m.w) * dt
    if turn == real(0.0):
        return real(0.0)  # of a half space too, whose arm is infinite
    return arm * wp.min(turn, real(2.0))


@wp.func
def turning_arm(t: GeomType) -> real:
    """How far from the axis of a turn of the body the surface of a geom lies; a ball turns in place about its centre."""
    if t.kind == PLANE:
        return real(0.0)  # half spaces do not turn
    if t.kind == SPHERE:
        return wp.length(t.p)
    return t.reach


@wp.struct
class Bounds:
    """Arrays over geoms: boxes that hold them throughout the step."""

    low: wp.array(dtype=vec3)
    high: wp.array(dtype=vec3)


@wp.kernel(enable_backward=False)
def bound(geoms: Geoms, Q: wp.array(dtype=mat34), V: wp.array(dtype=mat34), step: Step, bounds: Bounds):
    g = wp.tid()
    t = geoms.types[geoms.type[g]]
    if t.kind == PLANE:
        return
    row = geoms.row[g]
    m = motion_of(geoms, g, Q[row], V[row], step)
    x = m.R * t.p + m.x
    half = t.half
    if t.kind != SPHERE:
        R = m.R * t.R
        for i in range(3):
            half[i] = wp.abs(R[i, 0]) * t.half[0] + wp.abs(R[i, 1]) * t.half[1] + wp.abs(R[i, 2]) * t.half[2]
    grown = real(0.5) * step.slack + travel_by_turning(m, turning_arm(t), step.dt)
    half += vec3(grown, grown, grown)
    shift = m.v * step.dt
    bounds.low[g] = x - half + wp.min(shift, vec3())
    bounds.high[g] = x + half + wp.max(shift, vec3())
