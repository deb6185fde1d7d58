"""Supports of the convex cores: what lies farthest along a direction.

A sphere's core is its centre and a capsule's its axis segment; what they add around it, their radius, is left to the
caller. Cylinders, boxes and hulls are their own cores.
"""

import warp as wp

from linkwork.contact.geom import BOX, CAPSULE, CYLINDER, HULL, SPHERE, Geom, Hulls, hull_vertex, real, vec3

VERTEX_CODE = wp.constant(0)
EDGE_CODE = wp.constant(1)
FACE_CODE = wp.constant(2)


@wp.struct
class Support:
    """A farthest point, and the vertex (polyhedra) or the end (capsules and cylinders) it belongs to."""

    point: vec3
    vertex: wp.int32


@wp.func
def is_polyhedron(g: Geom) -> bool:
    return g.kind == BOX or g.kind == HULL


@wp.func
def core_radius(g: Geom) -> real:
    if g.kind == SPHERE or g.kind == CAPSULE:
        return g.size[0]
    return real(0.0)


@wp.func
def axis_of(g: Geom) -> vec3:
    """Unit axis of a capsule or cylinder."""
    return vec3(g.R[0, 2], g.R[1, 2], g.R[2, 2])


@wp.func
def sign_of(x: real) -> real:
    """1 or -1, never 0."""
    if x < real(0.0):
        return real(-1.0)
    return real(1.0)


@wp.func
def support(g: Geom, hulls: Hulls, direction: vec3) -> Support:
    """The core's farthest point along a direction."""
    s = Support()
    d = wp.transpose(g.R) * direction
    x = vec3()
    if g.kind == BOX:
        sx = sign_of(d[0])
        sy = sign_of(d[1])
        sz = sign_of(d[2])
        x = vec3(sx * g.size[0], sy * g.size[1], sz * g.size[2])
        # the cube's corners are counted with z running fastest
        s.vertex = wp.where(sx > real(0.0), 4, 0) + wp.where(sy > real(0.0), 2, 0) + wp.where(sz > real(0.0), 1, 0)
    elif g.kind == HULL:
        best = int(0)
        most = wp.dot(d, hull_vertex(g, hulls, 0))
        for i in range(1, g.vertex_count):
            along = wp.dot(d, hull_vertex(g, hulls, i))
            if along > most:
                most = along
                best = i
        x = hull_vertex(g, hulls, best)
        s.vertex = best
    elif g.kind != SPHERE:
        end = sign_of(d[2])
        x = vec3(real(0.0), real(0.0), end * g.size[1])
        s.vertex = wp.where(end > real(0.0), 1, 0)
        if g.kind == CYLINDER:
            across = wp.sqrt(d[0] * d[0] + d[1] * d[1])
            if across > real(0.0):
                x[0] = g.size[0] * d[0] / across
                x[1] = g.size[0] * d[1] / across
    s.point = g.R * x + g.p
    return s


@wp.func
def reach(g: Geom, hulls: Hulls, direction: vec3) -> real:
    """The largest direction . x over the core."""
    d = wp.transpose(g.R) * direction
    most = real(0.0)
    if g.kind == BOX:
        most = wp.abs(d[0]) * g.size[0] + wp.abs(d[1]) * g.size[1] + wp.abs(d[2]) * g.size[2]
    elif g.kind == HULL:
        most = wp.dot(d, hull_vertex(g, hulls, 0))
        for i in range(1, g.vertex_count):
            most = wp.max(most, wp.dot(d, hull_vertex(g, hulls, i)))
    elif g.kind == CAPSULE:
        most = wp.abs(d[2]) * g.size[1]
    elif g.kind == CYLINDER:
        most = wp.abs(d[2]) * g.size[1] + wp.sqrt(d[0] * d[0] + d[1] * d[1]) * g.size[0]
    return most + wp.dot(direction, g.p)


@wp.func
def separation(a: Geom, b: Geom, hulls: Hulls, n: vec3) -> real:
    """The gap that a plane of unit normal n, from b to a, leaves between the cores: no more than their distance."""
    return -reach(a, hulls, -n) - reach(b, hulls, n)


@wp.func
def extent(g: Geom, hulls: Hulls) -> real:
    """A length of the order of the core's size; 0 for a point."""
    if g.kind == HULL:
        first = hull_vertex(g, hulls, 0)
        low = first
        high = first
        for i in range(1, g.vertex_count):
            x = hull_vertex(g, hulls, i)
            low = wp.min(low, x)
            high = wp.max(high, x)
        return wp.length(high - low) * real(0.5)
    if g.kind == SPHERE:
        return real(0.0)
    if g.kind == CAPSULE:
        return g.size[1]
    return wp.length(g.size)


@wp.func
def edge_code(v: wp.int32, w: wp.int32) -> wp.int32:
    """A name of the edge between two vertices, whichever comes first."""
    low = wp.min(v, w)
    high = wp.max(v, w)
    return (EDGE_CODE << 13) | ((high * 179 + low) & 8191)


@wp.func
def vertex_code(v: wp.int32) -> wp.int32:
    return (VERTEX_CODE << 13) | (v & 8191)


@wp.func
def face_code(f: wp.int32) -> wp.int32:
    return (FACE_CODE << 13) | (f & 8191)


@wp.func
def pair_key(code_a: wp.int32, code_b: wp.int32) -> wp.int32:
    return (code_a << 15) | code_b
