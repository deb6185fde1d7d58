"""The geoms of a scene in kernels: what geoms of one kind share, which body wears which, and who may touch whom."""

import warp as wp

from linkwork.contact.geom import Geom, mat33, real, vec3


@wp.struct
class GeomType:
    """A convex primitive, mesh or heightfield placed in the principal frame of its body; shared by bodies that are alike."""

    kind: wp.int32
    size: vec3  # as in Geom
    R: mat33  # geom to principal frame
    p: vec3  # origin of the geom in the principal frame, m
    half: vec3  # half edges of its bounding box in the geom's frame, about the geom's origin, m
    radius: real  # of the ball around the geom's origin that holds it, m
    reach: real  # largest distance of its points from the body's origin, m
    thickness: real  # of what a fast body could pass through in a step, m; infinite for half spaces and meshes
    first_vertex: wp.int32
    vertex_count: wp.int32
    first_face: wp.int32
    face_count: wp.int32
    first_edge: wp.int32
    edge_count: wp.int32
    mesh: wp.int32  # row of Meshes, for meshes and heightfields


@wp.struct
class Geoms:
    """Arrays over geoms."""

    types: wp.array(dtype=GeomType)
    type: wp.array(dtype=wp.int32)  # row of types
    row: wp.array(dtype=wp.int32)  # of the body in the solver's arrays
    body: wp.array(dtype=wp.int32)  # in the model
    component: wp.array(dtype=wp.int32)  # of the joint graph; -1 for bodies that do not move freely


@wp.struct
class Filter:
    """Which bodies may touch, beyond their components."""

    bodies: wp.int64
    groups: wp.int32
    group: wp.array(dtype=wp.int32)  # of each body; empty with one group
    apart: wp.array(dtype=wp.int32)  # groups x groups, 1 for groups that pass through each other
    self_contact: wp.array(dtype=wp.int32)  # of each body; empty where no body touches its own component
    ignored: wp.array(dtype=wp.int64)  # sorted pairs of bodies, lower * bodies + higher


@wp.func
def placed(t: GeomType, R: mat33, x: vec3) -> Geom:
    """The geom of a body with rotation R and centre of mass x."""
    g = Geom()
    g.kind = t.kind
    g.size = t.size
    g.R = R * t.R
    g.p = R * t.p + x
    g.first_vertex = t.first_vertex
    g.vertex_count = t.vertex_count
    g.first_face = t.first_face
    g.face_count = t.face_count
    g.first_edge = t.first_edge
    g.edge_count = t.edge_count
    return g


@wp.func
def holds(sorted_keys: wp.array(dtype=wp.int64), key: wp.int64) -> wp.int32:
    """Place of a key in a sorted array, -1 where it is not."""
    low = int(0)
    high = int(sorted_keys.shape[0])
    while low < high:
        middle = (low + high) // 2
        if sorted_keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < sorted_keys.shape[0]:
        if sorted_keys[low] == key:
            return low
    return -1


@wp.func
def body_pair(bodies: wp.int64, a: wp.int32, b: wp.int32) -> wp.int64:
    return wp.int64(wp.min(a, b)) * bodies + wp.int64(wp.max(a, b))


@wp.func
def may_touch(geoms: Geoms, f: Filter, g: wp.int32, h: wp.int32) -> bool:
    a = geoms.body[g]
    b = geoms.body[h]
    one = geoms.component[g]
    other = geoms.component[h]
    if a == b:
        return False
    if one == other:
        if one < 0 or f.self_contact.shape[0] == 0:
            return False
        if f.self_contact[a] == 0 or f.self_contact[b] == 0:
            return False
    if f.groups > 1:
        if f.apart[f.group[a] * f.groups + f.group[b]] == 1:
            return False
    if f.ignored.shape[0] > 0:
        return holds(f.ignored, body_pair(f.bodies, a, b)) < 0
    return True
