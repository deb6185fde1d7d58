"""Contacts of spheres with everything convex, and of capsules with capsules: cores at a distance, closed forms."""

import warp as wp

from linkwork.contact.geom import CAPSULE, SPHERE, Distance, Geom, Hulls, Manifold, put_contact, real, vec3
from linkwork.contact.nearest import nearest_on, nearest_on_segment

# capsules count as parallel when they spread by less than this part of their axes' distance along their overlap
PARALLEL = wp.constant(wp.float64(0.02))


@wp.func
def half_axis(g: Geom) -> vec3:
    """From a capsule's middle to the upper end of its axis."""
    return vec3(g.R[0, 2], g.R[1, 2], g.R[2, 2]) * g.size[1]


@wp.func
def upright(n: vec3, length: real, R_z: vec3) -> vec3:
    """n / length, or any direction across R_z where the length is zero."""
    if length > real(0.0):
        return n / length
    i = int(0)
    if wp.abs(R_z[1]) < wp.abs(R_z[0]):
        i = 1
    if wp.abs(R_z[2]) < wp.abs(R_z[i]):
        i = 2
    e = vec3()
    e[i] = real(1.0)
    return wp.normalize(wp.cross(R_z, e))


@wp.func
def axis_of(g: Geom) -> vec3:
    return vec3(g.R[0, 2], g.R[1, 2], g.R[2, 2])


@wp.func
def sphere_contact(a: Geom, b: Geom, hulls: Hulls, margin: real) -> Manifold:
    """Of a sphere a with a sphere, capsule, cylinder, box or hull b; its key is 0: a sphere touches once."""
    m = Manifold()
    m.radius_a = a.size[0]
    gap = real(0.0)
    core = vec3()
    if b.kind == SPHERE or b.kind == CAPSULE:
        core = b.p
        if b.kind == CAPSULE:
            u = half_axis(b)
            core = b.p - u + u * (real(2.0) * nearest_on_segment(b.p - u, b.p + u, a.p))
        d = a.p - core
        distance = wp.length(d)
        m.normal = upright(d, distance, axis_of(b))
        m.radius_b = b.size[0]
        gap = distance - a.size[0] - b.size[0]
    else:
        s = nearest_on(b, hulls, a.p)
        core = s.point
        m.normal = s.normal
        gap = s.gap - a.size[0]
    if gap < margin:
        m = put_contact(m, a.p, core, gap, 0)
    return m


@wp.struct
class Places:
    """Places on two segments, 0 to 1 from their first points."""

    s: real
    t: real


@wp.func
def nearest_places(p: vec3, u: vec3, q: vec3, v: vec3) -> Places:
    """Nearest points p + s u, q + t v of two segments: minimise over s and t, then clamp one and solve for the other."""
    zero = real(0.0)
    one = real(1.0)
    r = p - q
    uu = wp.dot(u, u)
    vv = wp.dot(v, v)
    uv = wp.dot(u, v)
    ur = wp.dot(u, r)
    vr = wp.dot(v, r)
    s = zero
    t = zero
    # |u x v|^2 without the cancellation of uu vv - uv^2
    det = wp.length_sq(wp.cross(u, v))
    if uu > zero:
        if det > real(1.0e-28) * uu * vv:
            s = wp.clamp((uv * vr - ur * vv) / det, zero, one)
        else:
            s = wp.clamp(-ur / uu, zero, one)
    if vv > zero:
        t = (uv * s + vr) / vv
        if t < zero or t > one:
            t = wp.clamp(t, zero, one)
            if uu > zero:
                s = wp.clamp((uv * t - ur) / uu, zero, one)
    return Places(s, t)


@wp.func
def capsule_contacts(a: Geom, b: Geom, margin: real) -> Manifold:
    """One contact, or two at the ends of the overlap of parallel capsules; keys 0 and 1 along the axis of a."""
    m = Manifold()
    m.radius_a = a.size[0]
    m.radius_b = b.size[0]
    radii = a.size[0] + b.size[0]
    u = half_axis(a) * real(2.0)
    v = half_axis(b) * real(2.0)
    p = a.p - u * real(0.5)
    q = b.p - v * real(0.5)
    at = nearest_places(p, u, q, v)
    x = p + u * at.s
    y = q + v * at.t
    distance = wp.length(x - y)
    gap = distance - radii
    if not (gap < margin):
        return m
    across = wp.cross(axis_of(a), axis_of(b))
    if wp.length_sq(across) > real(0.0) and distance == real(0.0):
        m.normal = wp.normalize(across)
    else:
        m.normal = upright(x - y, distance, axis_of(a))
    # the part of a that lies beside b, where both ends are as near as the nearest point
    uu = wp.dot(u, u)
    if uu > real(0.0):
        from_q = wp.dot(q - p, u) / uu
        to_q = wp.dot(q + v - p, u) / uu
        low = wp.max(wp.min(from_q, to_q), real(0.0))
        high = wp.min(wp.max(from_q, to_q), real(1.0))
        overlap = (high - low) * wp.sqrt(uu)
        side_by_side = overlap > PARALLEL * radii
        if side_by_side and wp.length(across) * overlap < PARALLEL * wp.max(distance, radii):
            for end in range(2):
                x = p + u * wp.where(end == 0, low, high)
                y = q + v * nearest_on_segment(q, q + v, x)
                gap = wp.dot(m.normal, x - y) - radii
                if gap < margin:
                    m = put_contact(m, x, y, gap, end)
            if m.count > 0:
                return m
    return put_contact(m, x, y, gap, 0)


@wp.func
def rounded_contacts(a: Geom, b: Geom, hulls: Hulls, margin: real) -> Manifold:
    """Of a sphere with anything, or of two capsules."""
    if a.kind == SPHERE:
        return sphere_contact(a, b, hulls, margin)
    return capsule_contacts(a, b, margin)


@wp.func
def rounded_distance(a: Geom, b: Geom, hulls: Hulls) -> Distance:
    """Of a sphere to anything, or of two capsules, between their surfaces."""
    m = rounded_contacts(a, b, hulls, real(wp.inf))
    x = m.point_a[0] - m.normal * m.radius_a
    y = m.point_b[0] + m.normal * m.radius_b
    return Distance(m.gap[0], m.normal, x, y)
