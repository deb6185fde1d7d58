"""Directions that may separate two cores best: face normals, pairs of edges, axes of cylinders, and what lies around them.

For two polyhedra the list is complete while they overlap (unless both have many edges): the best of it is the way of
least penetration. For round cores it is where the search for that way starts.
"""

import warp as wp

from linkwork.contact.convex_support import axis_of, is_polyhedron, reach, separation, sign_of
from linkwork.contact.geom import (
    BOX,
    CYLINDER,
    SPHERE,
    Geom,
    Hulls,
    face_normal,
    face_vertex,
    hull_vertex,
    real,
    vec3,
)

# Beyond so many pairs of edges the best of two hulls' is found by walking from the best face instead
MOST_EDGE_PAIRS = wp.constant(600)
# Edges closer to parallel than this (sine squared) span no plane; a face normal stands for them
PARALLEL = wp.constant(wp.float64(1.0e-10))
# faces whose normals have a smaller cosine between them are the two sides of one
TWO_SIDES = wp.constant(wp.float64(-0.999999))


@wp.struct
class Axis:
    """A unit direction from b to a and the gap it leaves between the cores."""

    normal: vec3
    gap: real


@wp.func
def better(best: Axis, n: vec3, gap: real, bias: real) -> Axis:
    if gap > best.gap + bias:
        best.normal = n
        best.gap = gap
    return best


@wp.func
def best_face(best: Axis, g: Geom, other: Geom, hulls: Hulls, side: real, bias: real) -> Axis:
    """The better of ``best`` and the faces of g; side is -1 when g is a, whose outward normals point to b."""
    for f in range(g.face_count):
        n = face_normal(g, hulls, f)
        outward = g.R * n
        gap = -reach(other, hulls, -outward) - wp.dot(n, face_vertex(g, hulls, f, 0)) - wp.dot(outward, g.p)
        best = better(best, outward * side, gap, bias)
    return best


@wp.func
def better_box_edges(best: Axis, a: Geom, b: Geom, bias: real) -> Axis:
    """The better of ``best`` and the nine pairs of directions of two boxes' edges."""
    C = wp.transpose(a.R) * b.R
    between = wp.transpose(a.R) * (a.p - b.p)
    # edge i of a and j of b in the frame of a: e_i x C_j
    found = bool(False)
    best_n = vec3()
    bound = best.gap + bias
    for i in range(3):
        k = (i + 1) % 3
        m = (i + 2) % 3
        for j in range(3):
            nk = -C[m, j]
            nm = C[k, j]
            square = nk * nk + nm * nm
            if square > PARALLEL:
                along = between[k] * nk + between[m] * nm
                p = (j + 1) % 3
                q = (j + 2) % 3
                radius_a = wp.abs(nk) * a.size[k] + wp.abs(nm) * a.size[m]
                # (e_i x C_j) . C_p is the entry C[i, q], and . C_q is C[i, p], up to sign
                radius_b = wp.abs(C[i, q]) * b.size[p] + wp.abs(C[i, p]) * b.size[q]
                gap = (wp.abs(along) - radius_a - radius_b) / wp.sqrt(square)
                if gap > bound:
                    bound = gap
                    found = True
                    n = vec3()
                    n[k] = nk
                    n[m] = nm
                    best_n = n * (sign_of(along) / wp.sqrt(square))
    if found:
        best.gap = bound
        best.normal = a.R * best_n
    return best


@wp.func
def better_hull_edges(best: Axis, a: Geom, b: Geom, hulls: Hulls, bias: real) -> Axis:
    """The better of ``best`` and the pairs of edges whose arcs of normals cross on the sphere; no other pair can touch."""
    C = wp.transpose(a.R) * b.R
    offset = wp.transpose(a.R) * (b.p - a.p)
    found = bool(False)
    best_n = vec3()
    bound = best.gap + bias
    for j in range(b.edge_count):
        fb = b.first_edge + j
        p = C * hull_vertex(b, hulls, hulls.edge_from[fb]) + offset
        eb = C * hull_vertex(b, hulls, hulls.edge_to[fb]) + offset - p
        # seen from a, b's normals are turned round
        c = -(C * face_normal(b, hulls, hulls.edge_left[fb]))
        d = -(C * face_normal(b, hulls, hulls.edge_right[fb]))
        for i in range(a.edge_count):
            fa = a.first_edge + i
            left = face_normal(a, hulls, hulls.edge_left[fa])
            right = face_normal(a, hulls, hulls.edge_right[fa])
            q = hull_vertex(a, hulls, hulls.edge_from[fa])
            ea = hull_vertex(a, hulls, hulls.edge_to[fa]) - q
            # the arcs lie in the planes across the edges; each must part the ends of the other, on the same half sphere
            c_side = wp.dot(c, ea)
            d_side = wp.dot(d, ea)
            left_side = wp.dot(left, eb)
            right_side = wp.dot(right, eb)
            if c_side * d_side < real(0.0) and left_side * right_side < real(0.0) and c_side * right_side > real(0.0):
                n = wp.cross(ea, eb)
                square = wp.dot(n, n)
                if square > PARALLEL * wp.dot(ea, ea) * wp.dot(eb, eb):
                    n = n / wp.sqrt(square)
                    if wp.dot(n, left + right) < real(0.0):
                        n = -n
                    gap = wp.dot(n, p - q)
                    if gap > bound:
                        bound = gap
                        best_n = n
                        found = True
    if found:
        best.gap = bound
        best.normal = -(a.R * best_n)
    return best


@wp.func
def better_direction(best: Axis, a: Geom, b: Geom, hulls: Hulls, d: vec3) -> Axis:
    """The better of ``best`` and the direction d, either way round."""
    length = wp.length(d)
    if length > real(0.0):
        n = d / length
        best = better(best, n, separation(a, b, hulls, n), real(0.0))
        best = better(best, -n, separation(a, b, hulls, -n), real(0.0))
    return best


@wp.func
def better_over_edges(best: Axis, round_one: Geom, other: Geom, hulls: Hulls, side: real) -> Axis:
    """The better of ``best`` and the directions in which an edge of a polyhedron may meet a rim.

    They fill the arc between the normals of the edge's faces; the best is found from three of it and the parabola
    through them. side is -1 when the polyhedron is a.
    """
    for i in range(other.edge_count):
        f = other.first_edge + i
        p = other.R * hull_vertex(other, hulls, hulls.edge_from[f]) + other.p
        left = other.R * face_normal(other, hulls, hulls.edge_left[f])
        right = other.R * face_normal(other, hulls, hulls.edge_right[f])
        middle = vec3()
        if wp.dot(left, right) < TWO_SIDES:
            # the two sides of a triangle have no direction between them but the one outward
            along = other.R * hull_vertex(other, hulls, hulls.edge_to[f]) + other.p - p
            middle = wp.normalize(wp.cross(along, left - right))
        gaps = vec3()
        t = real(0.25)
        k = int(0)
        while k < 4:
            n = wp.normalize(left * (real(1.0) - t) + right * t + middle * (t * (real(1.0) - t)))
            gap = -reach(round_one, hulls, -n) - wp.dot(n, p)
            best = better(best, n * side, gap, real(0.0))
            if k < 3:
                gaps[k] = gap
                t += real(0.25)
            k += 1
            if k == 3:
                bend = real(2.0) * gaps[1] - gaps[0] - gaps[2]
                if bend > real(0.0):
                    t = wp.clamp(real(0.5) + real(0.125) * (gaps[2] - gaps[0]) / bend, real(0.0), real(1.0))
                else:
                    k = 4
    return best


@wp.func
def better_around_axis(best: Axis, round_one: Geom, other: Geom, a: Geom, b: Geom, hulls: Hulls, side: real) -> Axis:
    """The better of ``best`` and the directions that a capsule's or cylinder's axis gives against another core."""
    z = axis_of(round_one)
    if round_one.kind == CYLINDER:
        best = better_direction(best, a, b, hulls, z)
    if is_polyhedron(other):
        nearest = vec3()
        least = real(1.0e300)
        for i in range(other.vertex_count):
            x = other.R * hull_vertex(other, hulls, i) + other.p - round_one.p
            across = x - z * wp.dot(x, z)
            square = wp.dot(across, across)
            if square < least:
                least = square
                nearest = across
        best = better_direction(best, a, b, hulls, nearest)
        if other.kind == BOX:
            for i in range(3):
                e = vec3(other.R[0, i], other.R[1, i], other.R[2, i])
                d = wp.cross(e, z)
                if wp.dot(d, d) > PARALLEL:
                    best = better_direction(best, a, b, hulls, d)
        else:
            for i in range(other.edge_count):
                f = other.first_edge + i
                e = other.R * (
                    hull_vertex(other, hulls, hulls.edge_to[f]) - hull_vertex(other, hulls, hulls.edge_from[f])
                )
                d = wp.cross(e, z)
                left = wp.dot(wp.cross(other.R * face_normal(other, hulls, hulls.edge_left[f]), d), e)
                right = wp.dot(wp.cross(d, other.R * face_normal(other, hulls, hulls.edge_right[f])), e)
                # a plane along the axis rests on the edge only within the arc of normals between its faces
                if left * right >= real(0.0) and wp.dot(d, d) > PARALLEL * wp.dot(e, e):
                    best = better_direction(best, a, b, hulls, d)
        if round_one.kind == CYLINDER:
            best = better_over_edges(best, round_one, other, hulls, side)
    else:
        x = other.p - round_one.p
        best = better_direction(best, a, b, hulls, x - z * wp.dot(x, z))
        if other.kind != SPHERE:
            w = axis_of(other)
            d = wp.cross(z, w)
            if wp.dot(d, d) > PARALLEL:
                best = better_direction(best, a, b, hulls, d)
            for i in range(2):
                e = x + w * (other.size[1] * real(2 * i - 1))
                best = better_direction(best, a, b, hulls, e - z * wp.dot(e, z))
    return best


@wp.func
def best_axis(a: Geom, b: Geom, hulls: Hulls, bias: real) -> Axis:
    """The direction that leaves the widest gap, or the least overlap, of those listed above.

    bias: by how much an edge pair must beat a face, and a face of b one of a, in metres.
    """
    best = Axis()
    best.normal = vec3(real(0.0), real(0.0), real(1.0))
    best.gap = real(-1.0e300)
    polyhedron_a = is_polyhedron(a)
    polyhedron_b = is_polyhedron(b)
    if polyhedron_a:
        best = best_face(best, a, b, hulls, real(-1.0), real(0.0))
    if polyhedron_b:
        best = best_face(best, b, a, hulls, real(1.0), wp.where(polyhedron_a, bias, real(0.0)))
    if a.kind == BOX and b.kind == BOX:
        return better_box_edges(best, a, b, bias)
    if polyhedron_a and polyhedron_b:
        if a.edge_count * b.edge_count <= MOST_EDGE_PAIRS:
            best = better_hull_edges(best, a, b, hulls, bias)
        return best
    if not polyhedron_a and a.kind != SPHERE:
        best = better_around_axis(best, a, b, a, b, hulls, real(1.0))
    if not polyhedron_b and b.kind != SPHERE:
        best = better_around_axis(best, b, a, a, b, hulls, real(-1.0))
    if best.gap <= real(-1.0e299):
        # two points
        best = better_direction(best, a, b, hulls, a.p - b.p)
        best = better_direction(best, a, b, hulls, best.normal)
    return best
