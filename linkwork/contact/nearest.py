"""Signed distance of a point to a box, a cylinder, a hull or a segment, with the nearest point of the surface."""

import warp as wp

from linkwork.contact.geom import (
    BOX,
    CYLINDER,
    Geom,
    Hulls,
    face_normal,
    face_size,
    face_vertex,
    real,
    to_geom,
    to_world,
    vec3,
)

# nearer than this, relative to the geom's size, the direction to an edge is lost in rounding
TINY = wp.constant(wp.float64(1.0e-12))


@wp.struct
class Nearest:
    """Signed distance (negative inside), the outward unit normal and the surface's point nearest to a point."""

    gap: real
    normal: vec3
    point: vec3


@wp.func
def signed(x: real) -> real:
    return wp.where(x < real(0.0), real(-1.0), real(1.0))


@wp.func
def from_outside(x: vec3, q: vec3, fallback: vec3, size: real) -> Nearest:
    """For a point x outside whose nearest point is q."""
    d = x - q
    gap = wp.length(d)
    if gap <= TINY * size:
        return Nearest(gap, fallback, q)
    return Nearest(gap, d / gap, q)


@wp.func
def nearest_on_box(half: vec3, x: vec3) -> Nearest:
    axis = int(0)
    most = wp.abs(x[0]) - half[0]
    for i in range(1, 3):
        beyond = wp.abs(x[i]) - half[i]
        if beyond > most:
            most = beyond
            axis = i
    n = vec3()
    n[axis] = signed(x[axis])
    if most <= real(0.0):
        return Nearest(most, n, x - n * most)
    return from_outside(x, wp.max(-half, wp.min(x, half)), n, half[axis])


@wp.func
def nearest_on_cylinder(radius: real, half: real, x: vec3) -> Nearest:
    """Axis along z, from -half to half."""
    zero = real(0.0)
    across = wp.sqrt(x[0] * x[0] + x[1] * x[1])
    outward = vec3(real(1.0), zero, zero)
    if across > zero:
        outward = vec3(x[0] / across, x[1] / across, zero)
    up = vec3(zero, zero, signed(x[2]))
    beyond_side = across - radius
    beyond_end = wp.abs(x[2]) - half
    if beyond_side <= zero and beyond_end <= zero:
        if beyond_side > beyond_end:
            return Nearest(beyond_side, outward, x - outward * beyond_side)
        return Nearest(beyond_end, up, x - up * beyond_end)
    q = outward * wp.min(across, radius) + up * wp.min(wp.abs(x[2]), half)
    return from_outside(x, q, wp.where(beyond_side > beyond_end, outward, up), radius)


@wp.func
def nearest_on_segment(p: vec3, q: vec3, x: vec3) -> real:
    """Place of the point nearest to x, 0 at p to 1 at q."""
    d = q - p
    length2 = wp.dot(d, d)
    if length2 == real(0.0):
        return real(0.0)
    return wp.clamp(wp.dot(x - p, d) / length2, real(0.0), real(1.0))


@wp.func
def nearest_on_hull(g: Geom, hulls: Hulls, x: vec3) -> Nearest:
    """Over the faces that x lies outside of; each is met in its inside or on its border."""
    facing = int(0)
    most = wp.dot(face_normal(g, hulls, 0), x - face_vertex(g, hulls, 0, 0))
    for f in range(1, g.face_count):
        beyond = wp.dot(face_normal(g, hulls, f), x - face_vertex(g, hulls, f, 0))
        if beyond > most:
            most = beyond
            facing = f
    n = face_normal(g, hulls, facing)
    if most <= real(0.0):
        return Nearest(most, n, x - n * most)
    best = vec3()
    least = real(wp.inf)
    for f in range(g.face_count):
        m = face_normal(g, hulls, f)
        corners = face_size(g, hulls, f)
        beyond = wp.dot(m, x - face_vertex(g, hulls, f, 0))
        if beyond > real(0.0):
            inside = bool(True)
            p = face_vertex(g, hulls, f, corners - 1)
            for i in range(corners):
                q = face_vertex(g, hulls, f, i)
                if wp.dot(wp.cross(m, q - p), x - p) < real(0.0):
                    inside = False
                    border = p + (q - p) * nearest_on_segment(p, q, x)
                    distance2 = wp.length_sq(x - border)
                    if distance2 < least:
                        least = distance2
                        best = border
                p = q
            if inside:
                return Nearest(beyond, m, x - m * beyond)
    return from_outside(x, best, n, wp.length(best) + most)


@wp.func
def nearest_on(g: Geom, hulls: Hulls, x: vec3) -> Nearest:
    """Of a box, cylinder or hull to a point of the world; the answer in the world."""
    local = to_geom(g, x)
    s = Nearest()
    if g.kind == BOX:
        s = nearest_on_box(g.size, local)
    elif g.kind == CYLINDER:
        s = nearest_on_cylinder(g.size[0], g.size[1], local)
    else:
        s = nearest_on_hull(g, hulls, local)
    return Nearest(s.gap, g.R * s.normal, to_world(g, s.point))
