"""Contacts with half spaces: the lowest points of a geom over a plane."""

import warp as wp

from linkwork.contact.geom import (
    CAPSULE,
    CYLINDER,
    SPHERE,
    Geom,
    Hulls,
    Manifold,
    hull_vertex,
    put_contact,
    real,
    to_world,
    vec3,
)
from linkwork.contact.rounded import axis_of, half_axis

# a cylinder stands upright when its axis leans by less than this, rad; how it leans is then not known well enough
UPRIGHT = wp.constant(wp.float64(1.0e-4))
# and lies, rolling on its side, when its axis rises by less than this
LYING = wp.constant(wp.float64(0.1))
# vertices whose heights differ by less, relative to the geom's size, are equally low
LEVEL = wp.constant(wp.float64(1.0e-6))


@wp.func
def add_above(m: Manifold, plane: Geom, x: vec3, margin: real, key: wp.int32) -> Manifold:
    """A contact of the core point x of side a, if it is near enough."""
    height = wp.dot(m.normal, x - plane.p)
    gap = height - m.radius_a
    if gap < margin:
        return put_contact(m, x, x - m.normal * height, gap, key)
    return m


@wp.func
def cylinder_over(m: Manifold, a: Geom, plane: Geom, margin: real) -> Manifold:
    """Standing: four points of the rim; lying: both ends of the line on its side; else the lowest point of the rim."""
    u = axis_of(a)
    rise = wp.dot(u, m.normal)
    # e: across the axis, as steeply up as that goes
    e = m.normal - u * rise
    lean = wp.length(e)
    half = u * a.size[1]
    if wp.abs(rise) < LYING:
        # the core is the axis, or nearly so when it rises: a rolling cylinder keeps its points
        m.radius_a = a.size[0] * lean
        core = a.p + m.normal * m.radius_a - e * (a.size[0] / lean)
        m = add_above(m, plane, core - half, margin, 0)
        return add_above(m, plane, core + half, margin, 1)
    turned = int(0)
    if lean < UPRIGHT:
        e = vec3(a.R[0, 0], a.R[1, 0], a.R[2, 0])
        turned = 1
    else:
        e = e / lean
    lower = a.p - half
    end = int(0)
    if rise < real(0.0):
        lower = a.p + half
        end = 1
    f = wp.cross(u, e) * a.size[0]
    e = e * a.size[0]
    key = 2 + 8 * end + 16 * turned
    m = add_above(m, plane, lower - e, margin, key)
    m = add_above(m, plane, lower + f, margin, key + 1)
    m = add_above(m, plane, lower - f, margin, key + 2)
    return add_above(m, plane, lower + e, margin, key + 3)


@wp.func
def polyhedron_over(m: Manifold, a: Geom, hulls: Hulls, plane: Geom, margin: real) -> Manifold:
    """The lowest vertex and up to three more that span the largest area with it, lower ones before higher ones."""
    n = wp.transpose(a.R) * m.normal
    level = wp.dot(m.normal, a.p - plane.p)
    lowest = real(wp.inf)
    size = real(0.0)
    for v in range(a.vertex_count):
        x = hull_vertex(a, hulls, v)
        lowest = wp.min(lowest, wp.dot(n, x) + level)
        size = wp.max(size, wp.length_sq(x))
    if not (lowest < margin):
        return m
    size = wp.sqrt(size)
    chosen = wp.vec4i(-1, -1, -1, -1)
    for v in range(a.vertex_count):
        if chosen[0] < 0 and wp.dot(n, hull_vertex(a, hulls, v)) + level <= lowest + LEVEL * size:
            chosen[0] = v
    first = hull_vertex(a, hulls, chosen[0])
    most = LEVEL * size
    for v in range(a.vertex_count):
        x = hull_vertex(a, hulls, v)
        height = wp.dot(n, x) + level
        spread = wp.length(wp.cross(n, x - first)) - (height - lowest)
        if height < margin and spread > most:
            most = spread + LEVEL * size
            chosen[1] = v
    if chosen[1] >= 0:
        along = wp.cross(n, hull_vertex(a, hulls, chosen[1]) - first)
        base = wp.length(along)
        left = LEVEL * size * base
        right = left
        for v in range(a.vertex_count):
            x = hull_vertex(a, hulls, v)
            height = wp.dot(n, x) + level
            if height < margin:
                side = wp.dot(along, x - first)
                cost = base * (height - lowest)
                if side - cost > left:
                    left = side - cost + LEVEL * size * base
                    chosen[2] = v
                if -side - cost > right:
                    right = -side - cost + LEVEL * size * base
                    chosen[3] = v
    for i in range(4):
        if chosen[i] >= 0:
            m = add_above(m, plane, to_world(a, hull_vertex(a, hulls, chosen[i])), margin, chosen[i])
    return m


@wp.func
def half_space_contacts(a: Geom, plane: Geom, hulls: Hulls, margin: real) -> Manifold:
    """Of any convex geom with a half space; keys name the end, the point of the rim or the vertex."""
    m = Manifold()
    m.normal = axis_of(plane)
    if a.kind == SPHERE:
        m.radius_a = a.size[0]
        return add_above(m, plane, a.p, margin, 0)
    if a.kind == CAPSULE:
        m.radius_a = a.size[0]
        m = add_above(m, plane, a.p - half_axis(a), margin, 0)
        return add_above(m, plane, a.p + half_axis(a), margin, 1)
    if a.kind == CYLINDER:
        return cylinder_over(m, a, plane, margin)
    return polyhedron_over(m, a, hulls, plane, margin)
