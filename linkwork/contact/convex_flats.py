"""The flat or straight part of a convex core that faces a direction: a polygon, a cap's disc, a line, or a point."""

import warp as wp

from linkwork.contact.convex_support import axis_of, edge_code, is_polyhedron, reach, sign_of, vertex_code
from linkwork.contact.geom import (
    CYLINDER,
    SPHERE,
    Geom,
    Hulls,
    face_normal,
    face_size,
    face_vertex,
    hull_vertex,
    real,
    vec3,
)

POINT = wp.constant(0)
LINE = wp.constant(1)
DISC = wp.constant(2)
POLYGON = wp.constant(3)

# A flat this close to a direction (cosine, 8 degrees) bears contacts along it
LEVEL = wp.constant(wp.float64(0.99))
# A cylinder shows its cap rather than its side above this cosine of 45 degrees
CAP = wp.constant(wp.float64(0.7071067811865476))
# An edge that rises by less than this part of its length over the support is one that others may lie along
SLOPE = wp.constant(wp.float64(0.02))


@wp.struct
class Flat:
    kind: wp.int32
    facing: real  # cosine between its normal and the direction it was chosen for
    normal: vec3  # of polygons and discs, outward
    face: wp.int32  # polygon: which; disc: 0 the lower, 1 the upper cap
    p: vec3  # a line's ends, a disc's centre, a polygon's first corner
    q: vec3
    code_p: wp.int32
    code_q: wp.int32
    radius: real  # of a disc


@wp.struct
class Part:
    """The part of a segment above a flat, as parameters from 0 to 1, and the codes of the borders it is cut at."""

    empty: bool
    start: real
    stop: real
    start_code: wp.int32
    stop_code: wp.int32


@wp.func
def corner_index(g: Geom, hulls: Hulls, f: wp.int32, i: wp.int32) -> wp.int32:
    """Which vertex is corner i of face f."""
    return hulls.loop[hulls.loop_start[g.first_face + f] + i]


@wp.func
def corner_at(g: Geom, hulls: Hulls, f: wp.int32, i: wp.int32) -> vec3:
    """Corner i of face f in the world."""
    return g.R * face_vertex(g, hulls, f, i) + g.p


@wp.func
def flat_facing(g: Geom, hulls: Hulls, d: vec3) -> Flat:
    """The part of a core that faces the unit direction d."""
    flat = Flat()
    if is_polyhedron(g):
        local = wp.transpose(g.R) * d
        best = int(0)
        most = real(-2.0)
        for f in range(g.face_count):
            cosine = wp.dot(local, face_normal(g, hulls, f))
            if cosine > most:
                most = cosine
                best = f
        flat.kind = POLYGON
        flat.facing = most
        flat.normal = g.R * face_normal(g, hulls, best)
        flat.face = best
        flat.p = corner_at(g, hulls, best, 0)
    elif g.kind == SPHERE:
        flat.kind = POINT
        flat.p = g.p
        flat.q = g.p
    else:
        z = axis_of(g)
        cosine = wp.dot(z, d)
        if g.kind == CYLINDER and wp.abs(cosine) >= CAP:
            flat.kind = DISC
            flat.facing = wp.abs(cosine)
            flat.normal = z * sign_of(cosine)
            flat.face = wp.where(cosine > real(0.0), 1, 0)
            flat.p = g.p + flat.normal * g.size[1]
            flat.radius = g.size[0]
        else:
            out = vec3()
            if g.kind == CYLINDER:
                out = wp.normalize(d - z * cosine) * g.size[0]
            flat.kind = LINE
            flat.p = g.p - z * g.size[1] + out
            flat.q = g.p + z * g.size[1] + out
            flat.code_p = vertex_code(0)
            flat.code_q = vertex_code(1)
    return flat


@wp.func
def is_level(flat: Flat) -> bool:
    return flat.kind >= DISC and flat.facing >= LEVEL


@wp.func
def line_facing(g: Geom, hulls: Hulls, flat: Flat, d: vec3) -> Flat:
    """The flat itself, or for a polygon the edge of the polyhedron that lies highest and across the unit direction d."""
    if flat.kind != POLYGON:
        return flat
    line = Flat()
    top = reach(g, hulls, d) - wp.dot(d, g.p)
    local = wp.transpose(g.R) * d
    least = real(1.0e300)
    best = int(-1)
    for i in range(g.edge_count):
        p = hull_vertex(g, hulls, hulls.edge_from[g.first_edge + i])
        q = hull_vertex(g, hulls, hulls.edge_to[g.first_edge + i])
        below_p = top - wp.dot(local, p)
        below_q = top - wp.dot(local, q)
        if wp.max(below_p, below_q) <= SLOPE * wp.length(q - p) and below_p + below_q < least:
            least = below_p + below_q
            best = i
    if best >= 0:
        v = hulls.edge_from[g.first_edge + best]
        w = hulls.edge_to[g.first_edge + best]
        line.kind = LINE
        line.p = g.R * hull_vertex(g, hulls, v) + g.p
        line.q = g.R * hull_vertex(g, hulls, w) + g.p
        line.code_p = vertex_code(v)
        line.code_q = vertex_code(w)
    return line


@wp.func
def along_onto(x: vec3, n: vec3, flat: Flat) -> vec3:
    """Where the line through x along n meets the plane of a flat."""
    return x - n * (wp.dot(x - flat.p, flat.normal) / wp.dot(n, flat.normal))


@wp.func
def part_over_polygon(g: Geom, hulls: Hulls, flat: Flat, n: vec3, x: vec3, y: vec3, slack: real) -> Part:
    """The part of xy whose projection along n lies on a polygon, up to slack beyond its sides."""
    part = Part()
    part.stop = real(1.0)
    up = n * sign_of(wp.dot(n, flat.normal))
    corners = face_size(g, hulls, flat.face)
    last = corner_index(g, hulls, flat.face, corners - 1)
    from_corner = corner_at(g, hulls, flat.face, corners - 1)
    k = int(0)
    while k < corners and not part.empty:
        to_corner = corner_at(g, hulls, flat.face, k)
        inward = wp.cross(up, to_corner - from_corner)
        long = wp.length(inward)
        x_in = wp.dot(inward, x - from_corner)
        y_in = wp.dot(inward, y - from_corner)
        limit = -slack * long
        this = corner_index(g, hulls, flat.face, k)
        if x_in < limit and y_in < limit:
            part.empty = True
        elif x_in < limit:
            t = wp.min(x_in / (x_in - y_in), real(1.0))
            if t > part.start:
                part.start = t
                part.start_code = edge_code(last, this)
        elif y_in < limit:
            t = wp.max(x_in / (x_in - y_in), real(0.0))
            if t < part.stop:
                part.stop = t
                part.stop_code = edge_code(last, this)
        from_corner = to_corner
        last = this
        k += 1
    if part.start > part.stop:
        part.empty = True
    return part


@wp.func
def part_over_disc(flat: Flat, n: vec3, x: vec3, y: vec3, slack: real) -> Part:
    """The part of xy whose projection along n lies on a disc, up to slack beyond its rim."""
    part = Part()
    part.stop = real(1.0)
    u = along_onto(x, n, flat) - flat.p
    v = along_onto(y, n, flat) - flat.p
    e = v - u
    ee = wp.dot(e, e)
    ue = wp.dot(u, e)
    r2 = flat.radius * flat.radius
    most = (flat.radius + slack) * (flat.radius + slack)
    x_on = wp.dot(u, u) <= most
    y_on = wp.dot(v, v) <= most
    root = ue * ue - ee * (wp.dot(u, u) - r2)
    if (not x_on or not y_on) and (root <= real(0.0) or ee == real(0.0)):
        part.empty = not x_on and not y_on
        if x_on:
            part.stop = real(0.0)
        if y_on:
            part.start = real(1.0)
    else:
        if not x_on:
            part.start = (-ue - wp.sqrt(root)) / ee
            part.start_code = edge_code(16 + 2 * flat.face, 40)
        if not y_on:
            part.stop = (-ue + wp.sqrt(root)) / ee
            part.stop_code = edge_code(17 + 2 * flat.face, 40)
        part.empty = part.start > part.stop or part.start > real(1.0) or part.stop < real(0.0)
    return part


@wp.func
def part_over(g: Geom, hulls: Hulls, flat: Flat, n: vec3, x: vec3, y: vec3, slack: real) -> Part:
    if flat.kind == DISC:
        return part_over_disc(flat, n, x, y, slack)
    return part_over_polygon(g, hulls, flat, n, x, y, slack)


@wp.func
def rim_point(g: Geom, flat: Flat, i: wp.int32, d: vec3) -> vec3:
    """Point i of four around a cap: fixed to the cylinder, but the one nearest the farthest along d gives way to that.

    A cap that lies flat keeps its points from step to step; a tilted one has its deepest among them.
    """
    local = wp.transpose(g.R) * d
    across = wp.sqrt(local[0] * local[0] + local[1] * local[1])
    x = vec3()
    along = wp.where(wp.abs(local[0]) >= wp.abs(local[1]), 0, 1)
    nearest = along + wp.where(local[along] > real(0.0), 0, 2)
    if i == nearest and across - wp.abs(local[along]) > real(1.0e-6):
        x = vec3(local[0], local[1], real(0.0)) * (g.size[0] / across)
    else:
        x[i & 1] = g.size[0] * real(1 - (i & 2))
    return flat.p + g.R * x
