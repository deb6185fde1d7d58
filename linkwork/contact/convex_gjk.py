"""Nearest points of two convex cores apart from each other, by Gilbert, Johnson and Keerthi's iteration.

The simplex holds up to four points w = x_a - x_b of the difference of the cores; each round keeps the part of it nearest
the origin and adds the support towards the origin. Polyhedra end after finitely many rounds; round cores when the bound
that the last support gives has closed on the distance.
"""

import warp as wp

from linkwork.contact.convex_support import edge_code, face_code, support, vertex_code
from linkwork.contact.geom import Geom, Hulls, mat43, real, vec3, vec4

# What the bound may leave of the distance; sqrt(2 GAP) is then the error of the normal on round cores
GAP = wp.constant(wp.float64(1.0e-14))
# What rounding leaves of it at best, as a part of the pair's size
ROUNDING = wp.constant(wp.float64(1.0e-15))
FLAT = wp.constant(wp.float64(1.0e-14))
ROUNDS = wp.constant(80)


@wp.struct
class Nearest:
    """Nearest points of two cores. distance is 0 when they overlap, and the rest then means nothing."""

    distance: real
    normal: vec3  # unit, from b to a
    point_a: vec3
    point_b: vec3
    code_a: wp.int32  # the vertex, edge or face the point lies on
    code_b: wp.int32


@wp.func
def weights_on_segment(p: vec3, q: vec3) -> vec3:
    """Barycentric weights of the point of pq nearest the origin."""
    e = q - p
    ee = wp.dot(e, e)
    t = real(0.0)
    if ee > real(0.0):
        t = wp.clamp(-wp.dot(p, e) / ee, real(0.0), real(1.0))
    return vec3(real(1.0) - t, t, real(0.0))


@wp.func
def weights_on_triangle(p: vec3, q: vec3, r: vec3) -> vec3:
    """Barycentric weights of the point of the triangle nearest the origin."""
    e = q - p
    f = r - p
    normal = wp.cross(e, f)
    area = wp.dot(normal, normal)
    # from the sides, which small triangles have to all digits, rather than from the corners
    v = wp.dot(normal, wp.cross(f, p))
    w = wp.dot(normal, wp.cross(p, e))
    u = area - v - w
    zero = real(0.0)
    if area > zero and u > zero and v > zero and w > zero:
        return vec3(u, v, w) / area
    # the nearest point lies on the border
    pq = weights_on_segment(p, q)
    best = pq
    x = p * pq[0] + q * pq[1]
    least = wp.dot(x, x)
    qr = weights_on_segment(q, r)
    x = q * qr[0] + r * qr[1]
    if wp.dot(x, x) < least:
        least = wp.dot(x, x)
        best = vec3(zero, qr[0], qr[1])
    rp = weights_on_segment(r, p)
    x = r * rp[0] + p * rp[1]
    if wp.dot(x, x) < least:
        best = vec3(rp[1], zero, rp[0])
    return best


@wp.func
def weights_on_tetrahedron(W: mat43, size: real) -> vec4:
    """Barycentric weights of the point of the tetrahedron nearest the origin; all positive when the origin is inside."""
    best = vec4()
    least = real(-1.0)
    for i in range(4):
        p = W[(i + 1) & 3]
        q = W[(i + 2) & 3]
        r = W[(i + 3) & 3]
        normal = wp.cross(q - p, r - p)
        opposite = wp.dot(normal, W[i] - p)
        origin = -wp.dot(normal, p)
        # no thicker than rounding: either side may be the outer one
        flat = wp.abs(opposite) <= FLAT * size * wp.length(normal)
        if flat or opposite * origin <= real(0.0):
            weights = weights_on_triangle(p, q, r)
            x = p * weights[0] + q * weights[1] + r * weights[2]
            if least < real(0.0) or wp.dot(x, x) < least:
                least = wp.dot(x, x)
                best = vec4()
                best[(i + 1) & 3] = weights[0]
                best[(i + 2) & 3] = weights[1]
                best[(i + 3) & 3] = weights[2]
    if least < real(0.0):
        best = vec4(real(0.25), real(0.25), real(0.25), real(0.25))
    return best


@wp.func
def feature_code(vertices: wp.vec4i, count: wp.int32) -> wp.int32:
    """The feature that the first vertices of a simplex lie on."""
    v = vertices[0]
    w = v
    spread = bool(False)
    total = v
    for i in range(1, count):
        x = vertices[i]
        if x != v:
            if w == v:
                w = x
            elif x != w:
                spread = True
        total += x
    if spread:
        return face_code(total)
    if w != v:
        return edge_code(v, w)
    return vertex_code(v)


@wp.func
def nearest_points(a: Geom, b: Geom, hulls: Hulls, shift: vec3, start: vec3, size: real) -> Nearest:
    """Nearest points of b and of a moved by shift, where point_a is given without the shift.

    start: a guess of the direction from b to a. size: a length of the order of the pair's, below ROUNDING of which
    a distance counts as none.
    """
    W = mat43()
    A = mat43()
    B = mat43()
    vertices_a = wp.vec4i()
    vertices_b = wp.vec4i()
    weights = vec4()
    count = int(0)
    v = start
    length = wp.length(v)
    least = real(1.0e300)
    bound = real(0.0)
    overlap = bool(False)
    done = bool(False)
    rounds = int(0)
    while not done and rounds < ROUNDS:
        rounds += 1
        sa = support(a, hulls, -v)
        sb = support(b, hulls, v)
        w = sa.point + shift - sb.point
        known = bool(False)
        for i in range(count):
            e = w - W[i]
            known = known or wp.dot(e, e) == real(0.0)
        if count > 0:
            bound = wp.max(bound, wp.dot(v, w) / length)
        if known or (count > 0 and length - bound <= GAP * length + ROUNDING * size):
            done = True
        else:
            W[count] = w
            A[count] = sa.point
            B[count] = sb.point
            vertices_a[count] = sa.vertex
            vertices_b[count] = sb.vertex
            next_weights = vec4()
            if count == 0:
                next_weights[0] = real(1.0)
            elif count == 1:
                t = weights_on_segment(W[0], W[1])
                next_weights = vec4(t[0], t[1], real(0.0), real(0.0))
            elif count == 2:
                t = weights_on_triangle(W[0], W[1], W[2])
                next_weights = vec4(t[0], t[1], t[2], real(0.0))
            else:
                next_weights = weights_on_tetrahedron(W, size)
            x = wp.transpose(W) * next_weights
            square = wp.dot(x, x)
            inside = count == 3 and wp.min(next_weights) > real(0.0)
            if inside or square <= ROUNDING * ROUNDING * size * size:
                overlap = True
                done = True
            elif square >= least:
                # rounding has the last word: keep the simplex before
                done = True
            else:
                least = square
                v = x
                length = wp.sqrt(square)
                kept = int(0)
                for i in range(4):
                    if i <= count and next_weights[i] > real(0.0):
                        W[kept] = W[i]
                        A[kept] = A[i]
                        B[kept] = B[i]
                        vertices_a[kept] = vertices_a[i]
                        vertices_b[kept] = vertices_b[i]
                        weights[kept] = next_weights[i]
                        kept += 1
                for i in range(4):
                    if i >= kept:
                        weights[i] = real(0.0)
                        W[i] = vec3()
                        A[i] = vec3()
                        B[i] = vec3()
                count = kept
    found = Nearest()
    if not overlap:
        found.distance = length
        found.normal = v / length
        found.point_a = wp.transpose(A) * weights
        found.point_b = wp.transpose(B) * weights
        found.code_a = feature_code(vertices_a, count)
        found.code_b = feature_code(vertices_b, count)
    return found
