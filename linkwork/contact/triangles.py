"""Contacts of convex geoms with triangles: each one as a flat hull, and together as one surface.

A triangle alone pushes a body off along any direction; as part of a surface its edges and corners may only push into
directions that no neighbour would block, the cone of normals of the solid at that place. On a flat floor that leaves the
floor's normal, so that nothing trips over the edges between triangles.
"""

import warp as wp

from linkwork.contact.convex_support import FACE_CODE
from linkwork.contact.geom import HULL, SPHERE, Geom, Manifold, mat33, real, vec3

# contacts of one pair that are kept before they are thinned out
ROOM = wp.constant(16)
# normals with a larger cosine between them belong to one side of the surface
SAME_SIDE = wp.constant(wp.float64(0.999))
# a contact is one of a face when its normal leaves the face's by a smaller cosine than this
FLUSH = wp.constant(wp.float64(1.0e-9))
# cosine by which a normal may lean onto a neighbour
LEAN = wp.constant(wp.float64(1.0e-6))
# weight of a corner below which a point lies on the edge across
ON_EDGE = wp.constant(wp.float64(1.0e-5))
# points nearer than this, relative to the convex side's size, are one
SAME_POINT = wp.constant(wp.float64(1.0e-4))

vec16 = wp.types.vector(16, wp.float64)
mat16 = wp.types.matrix(shape=(16, 3), dtype=wp.float64)
long16 = wp.types.vector(16, wp.int64)


@wp.struct
class Meshes:
    """Meshes one after the other: triangles, and the vertices around them."""

    first_hull_vertex: wp.int32  # of the first triangle in the tables of polyhedra
    first_hull_face: wp.int32
    first_hull_edge: wp.int32
    tree: wp.array(dtype=wp.uint64)  # of each mesh: its triangles' boxes
    first: wp.array(dtype=wp.int32)  # of each mesh: its first triangle
    corner: wp.array(dtype=wp.int32)  # three of each triangle
    opposite: wp.array(dtype=wp.int32)  # of each triangle, beyond the edge from corner i: the neighbour's third corner
    vertex: wp.array(dtype=vec3)  # in the geom's frame
    star: wp.array(dtype=wp.int32)  # where the neighbours of each vertex start
    neighbour: wp.array(dtype=wp.int32)


@wp.struct
class Gathered:
    """Contacts of one convex geom with one mesh, in the world."""

    count: wp.int32
    normal: mat16
    point_a: mat16
    point_b: mat16
    gap: vec16
    key: long16
    radius_a: vec16  # a cylinder touches one triangle with its side, another with its rim


@wp.func
def triangle_geom(meshes: Meshes, mesh: Geom, triangle: wp.int32) -> Geom:
    """A triangle of a placed mesh as a flat hull."""
    g = Geom()
    g.kind = HULL
    g.size = vec3(real(1.0), real(1.0), real(1.0))
    g.R = mesh.R
    g.p = mesh.p
    g.first_vertex = meshes.first_hull_vertex + 3 * triangle
    g.vertex_count = 3
    g.first_face = meshes.first_hull_face + 2 * triangle
    g.face_count = 2
    g.first_edge = meshes.first_hull_edge + 3 * triangle
    g.edge_count = 3
    return g


@wp.func
def leans(n: vec3, q: vec3, x: vec3) -> bool:
    """Whether a normal at q points towards x, a point of the surface."""
    d = x - q
    return wp.dot(n, d) > LEAN * wp.length(d)


@wp.func
def may_push(meshes: Meshes, triangle: wp.int32, face: vec3, n: vec3, q: vec3) -> bool:
    """Whether the solid can push along n at the point q of a triangle; all in the mesh's frame."""
    along = wp.dot(n, face)
    if along <= real(0.0):
        return False
    if along > real(1.0) - FLUSH:
        return True
    c = 3 * triangle
    corner = wp.vec3i(meshes.corner[c], meshes.corner[c + 1], meshes.corner[c + 2])
    x0 = meshes.vertex[corner[0]]
    x1 = meshes.vertex[corner[1]]
    x2 = meshes.vertex[corner[2]]
    area = wp.dot(face, wp.cross(x1 - x0, x2 - x0))
    weight = (
        vec3(
            wp.dot(face, wp.cross(x2 - x1, q - x1)),
            wp.dot(face, wp.cross(x0 - x2, q - x2)),
            wp.dot(face, wp.cross(x1 - x0, q - x0)),
        )
        / area
    )
    on_edges = int(0)
    for i in range(3):
        if weight[i] <= ON_EDGE:
            on_edges += 1
    if on_edges == 0:
        return False
    if on_edges == 1:
        for i in range(3):
            # the edge from corner i has corner i + 2 across
            if weight[(i + 2) % 3] <= ON_EDGE:
                beyond = meshes.opposite[c + i]
                if leans(n, q, meshes.vertex[corner[(i + 2) % 3]]):
                    return False
                if beyond >= 0:
                    return not leans(n, q, meshes.vertex[beyond])
        return True
    heaviest = int(0)
    for i in range(1, 3):
        if weight[i] > weight[heaviest]:
            heaviest = i
    v = corner[heaviest]
    for k in range(meshes.star[v], meshes.star[v + 1]):
        if leans(n, meshes.vertex[v], meshes.vertex[meshes.neighbour[k]]):
            return False
    return True


@wp.func
def put(g: Gathered, i: wp.int32, n: vec3, x: vec3, y: vec3, gap: real, radius: real, key: wp.int64) -> Gathered:
    g.normal[i] = n
    g.point_a[i] = x
    g.point_b[i] = y
    g.gap[i] = gap
    g.radius_a[i] = radius
    g.key[i] = key
    return g


@wp.func
def copied(g: Gathered, source: wp.int32, target: wp.int32) -> Gathered:
    return put(
        g,
        target,
        g.normal[source],
        g.point_a[source],
        g.point_b[source],
        g.gap[source],
        g.radius_a[source],
        g.key[source],
    )


@wp.func
def swapped(g: Gathered, i: wp.int32, j: wp.int32) -> Gathered:
    n = g.normal[i]
    x = g.point_a[i]
    y = g.point_b[i]
    gap = g.gap[i]
    radius = g.radius_a[i]
    key = g.key[i]
    g = copied(g, j, i)
    return put(g, j, n, x, y, gap, radius, key)


@wp.func
def spread(g: Gathered, first: wp.int32, candidate: wp.int32, rank: wp.int32) -> real:
    """How much a contact adds to those chosen from ``first`` on: depth, then distance, then area on either side."""
    if rank == 0:
        return -g.gap[candidate]
    d = g.point_b[candidate] - g.point_b[first]
    if rank == 1:
        return wp.length_sq(d)
    n = g.normal[first]
    side = wp.dot(wp.cross(n, g.point_b[first + 1] - g.point_b[first]), d)
    if rank == 2:
        return wp.abs(side)
    third = wp.dot(wp.cross(n, g.point_b[first + 1] - g.point_b[first]), g.point_b[first + 2] - g.point_b[first])
    return -side * wp.sign(third)


@wp.func
def thinned(g: Gathered) -> Gathered:
    """Of each side of the surface that is touched, the four contacts that span the largest area, the deepest first."""
    kept = int(0)
    while kept < g.count:
        first = kept
        # the deepest of the rest leads; then those of its side
        for rank in range(4):
            if kept < g.count:
                best = int(-1)
                most = real(0.0)
                for i in range(kept, g.count):
                    own = rank == 0 or wp.dot(g.normal[i], g.normal[first]) > SAME_SIDE
                    if own:
                        s = spread(g, first, i, rank)
                        if best < 0 or s > most:
                            best = i
                            most = s
                if best >= 0 and (rank == 0 or most > real(0.0)):
                    g = swapped(g, kept, best)
                    kept += 1
        # what is left of this side goes
        i = int(kept)
        while i < g.count:
            if wp.dot(g.normal[i], g.normal[first]) > SAME_SIDE:
                g.count = g.count - 1
                g = copied(g, g.count, i)
            else:
                i += 1
    return g


@wp.func
def add_gathered(
    g: Gathered, n: vec3, x: vec3, y: vec3, gap: real, radius: real, key: wp.int64, same: real
) -> Gathered:
    """One contact more, unless it is there already: then the deeper one stays."""
    for i in range(g.count):
        if wp.dot(n, g.normal[i]) > SAME_SIDE and wp.length(y - g.point_b[i]) < same:
            if gap < g.gap[i]:
                g = put(g, i, n, x, y, gap, radius, key)
            return g
    if g.count == ROOM:
        g = thinned(g)
    if g.count < ROOM:
        g = put(g, g.count, n, x, y, gap, radius, key)
        g.count = g.count + 1
    return g


@wp.func
def triangle_key(m: Manifold, i: wp.int32, triangle: wp.int32, a: Geom) -> wp.int64:
    """The feature of the convex side alone where it lies within the surface, so that it may slide over many triangles."""
    key = wp.int64(m.key[i])
    if a.kind != SPHERE and ((m.key[i] & 32767) >> 13) == FACE_CODE:
        return key >> wp.int64(15)
    return key + (wp.int64(triangle + 1) << wp.int64(32))


@wp.struct
class FloatBox:
    low: wp.vec3
    high: wp.vec3


@wp.func
def box_in_mesh(R: mat33, p: vec3, low: vec3, high: vec3) -> FloatBox:
    """A box of the world in the frame of a mesh, rounded outwards to single precision."""
    c = wp.transpose(R) * ((low + high) * real(0.5) - p)
    h = (high - low) * real(0.5)
    half = vec3()
    for i in range(3):
        half[i] = wp.abs(R[0, i]) * h[0] + wp.abs(R[1, i]) * h[1] + wp.abs(R[2, i]) * h[2]
    rounding = (wp.length(c) + wp.length(half)) * real(1.0e-6)
    grown = half + vec3(rounding, rounding, rounding)
    a = c - grown
    b = c + grown
    return FloatBox(
        wp.vec3(wp.float32(a[0]), wp.float32(a[1]), wp.float32(a[2])),
        wp.vec3(wp.float32(b[0]), wp.float32(b[1]), wp.float32(b[2])),
    )
