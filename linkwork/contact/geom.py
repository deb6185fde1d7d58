"""What the kernels of contact detection share: placed geoms, tables of convex polyhedra, and what a pair yields.

A polyhedron's vertices are stored once; a placed geom stretches them by its ``size``, so that all boxes share the cube
with corners at -1 and 1, and hulls have the size (1, 1, 1).
"""

import warp as wp

real = wp.float64
vec3 = wp.vec3d
vec4 = wp.vec4d
mat33 = wp.mat33d
mat34 = wp.types.matrix(shape=(3, 4), dtype=wp.float64)
mat43 = wp.types.matrix(shape=(4, 3), dtype=wp.float64)

SPHERE = wp.constant(0)
CAPSULE = wp.constant(1)
CYLINDER = wp.constant(2)
BOX = wp.constant(3)
HULL = wp.constant(4)
PLANE = wp.constant(5)
MESH = wp.constant(6)
HEIGHTFIELD = wp.constant(7)


@wp.struct
class Geom:
    """One geom placed in the world; lengths in m.

    size: sphere (radius, 0, 0); capsule and cylinder (radius, half length of the cylindrical part, 0), axis along z;
    box: half edges; hull (1, 1, 1); plane: unused, solid below z = 0 of its frame.
    """

    kind: wp.int32
    size: vec3
    R: mat33  # geom to world
    p: vec3  # origin of the geom in the world
    first_vertex: wp.int32
    vertex_count: wp.int32
    first_face: wp.int32
    face_count: wp.int32
    first_edge: wp.int32
    edge_count: wp.int32


@wp.struct
class Hulls:
    """Convex polyhedra one after the other; the first is the cube with corners at -1 and 1.

    Vertices and faces are counted from the first of their polyhedron. A face's loop runs counter-clockwise seen from
    outside. Edges are unique: from vertex edge_from to edge_to as the loop of face edge_left runs, with face edge_right
    beyond.
    """

    vertex: wp.array(dtype=vec3)
    face_normal: wp.array(dtype=vec3)  # unit, outward
    loop_start: wp.array(dtype=wp.int32)  # of each face in loop; one entry more than faces
    loop: wp.array(dtype=wp.int32)
    edge_from: wp.array(dtype=wp.int32)
    edge_to: wp.array(dtype=wp.int32)
    edge_left: wp.array(dtype=wp.int32)
    edge_right: wp.array(dtype=wp.int32)


@wp.struct
class Manifold:
    """Up to four contacts of a pair a, b, in the world, with one normal from b to a.

    A surface point is the core point moved by the radius: point_a - radius_a normal, point_b + radius_b normal.
    gap = normal . (point_a - point_b) - radius_a - radius_b, negative when overlapping.
    """

    count: wp.int32
    normal: vec3
    point_a: mat43
    point_b: mat43
    radius_a: real
    radius_b: real
    gap: vec4
    key: wp.vec4i  # which features touch, 0 or more


@wp.struct
class Distance:
    """Signed distance of two convex geoms, unit normal from b to a, and the nearest (or deepest) surface points."""

    gap: real
    normal: vec3
    point_a: vec3
    point_b: vec3


@wp.func
def hull_vertex(g: Geom, hulls: Hulls, v: wp.int32) -> vec3:
    """Vertex v in the geom's frame."""
    return wp.cw_mul(g.size, hulls.vertex[g.first_vertex + v])


@wp.func
def face_normal(g: Geom, hulls: Hulls, f: wp.int32) -> vec3:
    """Outward normal of face f in the geom's frame; stretching a cube along its axes does not turn it."""
    return hulls.face_normal[g.first_face + f]


@wp.func
def face_size(g: Geom, hulls: Hulls, f: wp.int32) -> wp.int32:
    """Number of corners of face f."""
    return hulls.loop_start[g.first_face + f + 1] - hulls.loop_start[g.first_face + f]


@wp.func
def face_vertex(g: Geom, hulls: Hulls, f: wp.int32, i: wp.int32) -> vec3:
    """Corner i of face f in the geom's frame, counter-clockwise from outside."""
    return hull_vertex(g, hulls, hulls.loop[hulls.loop_start[g.first_face + f] + i])


@wp.func
def to_world(g: Geom, x: vec3) -> vec3:
    return g.R * x + g.p


@wp.func
def to_geom(g: Geom, x: vec3) -> vec3:
    return wp.transpose(g.R) * (x - g.p)


@wp.func
def put_contact(m: Manifold, point_a: vec3, point_b: vec3, gap: real, key: wp.int32) -> Manifold:
    """The manifold with one contact more; it must have fewer than four."""
    i = m.count
    m.point_a[i] = point_a
    m.point_b[i] = point_b
    m.gap[i] = gap
    m.key[i] = key
    m.count = i + 1
    return m
