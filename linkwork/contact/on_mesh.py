"""Narrow phase of pairs with a mesh or heightfield: convex geoms against its triangles, and its hull against planes."""

import warp as wp

from linkwork.contact.advance import MOST_ADVANCES, placed_at
from linkwork.contact.contacts import Contacts
from linkwork.contact.convex_support import core_radius, separation
from linkwork.contact.geom import HULL, PLANE, SPHERE, Geom, Hulls, face_normal, mat33, mat34, real, vec3
from linkwork.contact.geoms import Geoms, GeomType, placed
from linkwork.contact.grid import Pairs
from linkwork.contact.half_space import half_space_contacts
from linkwork.contact.motion import Bounds, Motion, Step, motion_of, rotation_at, travel_by_turning, turning_arm
from linkwork.contact.narrow import SLOW, TOUCH, Overlaps, add_contact, any_convex, any_distance, passes_through, travel
from linkwork.contact.triangles import (
    SAME_POINT,
    FloatBox,
    Gathered,
    Meshes,
    add_gathered,
    box_in_mesh,
    may_push,
    thinned,
    triangle_geom,
    triangle_key,
)

# of the geom's radius: how near it is let down to a triangle
SETTLED = wp.constant(wp.float64(1.0e-6))
# times the depth at which a lone triangle is left: deeper along another direction is the business of other triangles
MUCH_DEEPER = wp.constant(wp.float64(10.0))


@wp.func
def pushes(meshes: Meshes, mesh: Geom, triangle: wp.int32, face: vec3, normal: vec3, point: vec3) -> bool:
    """may_push for a normal and a point of the world."""
    inward = wp.transpose(mesh.R)
    return may_push(meshes, triangle, face, inward * normal, inward * (point - mesh.p))


@wp.func
def let_down(a: Geom, triangle: Geom, up: vec3, lift: real, tolerance: real, hulls: Hulls) -> real:
    """How far above its place a geom comes to rest on a triangle, let down from ``lift``; 0 if it does not meet it."""
    count = int(0)
    while count < MOST_ADVANCES:
        above = a
        above.p = a.p + up * lift
        near = any_distance(above, triangle, hulls)
        if near.gap <= tolerance:
            return lift
        closing = wp.dot(near.normal, up)
        if closing * lift <= near.gap - real(0.5) * tolerance:
            return real(0.0)
        lift -= (near.gap - real(0.5) * tolerance) / closing
        count += 1
    return lift


@wp.func
def gather_triangles(
    a: Geom, mesh: Geom, row: wp.int32, hulls: Hulls, meshes: Meshes, box: FloatBox, margin: real, most: real
) -> Gathered:
    """Contacts of a convex geom with all triangles in a box, thinned out; most: the deepest that it may lie below one."""
    same = SAME_POINT * most
    found = Gathered()
    triangle = wp.int32(0)
    query = wp.bvh_query_aabb(meshes.tree[row], box.low, box.high)
    while wp.bvh_query_next(query, triangle):
        k = meshes.first[row] + triangle
        g = triangle_geom(meshes, mesh, k)
        m = any_convex(a, g, hulls, margin)
        face = face_normal(g, hulls, 0)
        lift = real(0.0)
        up = mesh.R * face
        # of a ball or capsule the core does not overlap yet, and its nearest point is the right one
        sunk = m.count > 0 and m.gap[0] < -core_radius(a)
        least = real(-wp.inf)
        if sunk and not pushes(meshes, mesh, k, face, m.normal, m.point_b[0]):
            # a lone triangle is left sideways, where the solid is in the way: look where it is left upwards
            least = MUCH_DEEPER * m.gap[0]
            depth = core_radius(a) - separation(a, g, hulls, up)
            m.count = 0
            if depth < most:
                lift = let_down(a, g, up, depth + SETTLED * most, SETTLED * most, hulls)
            if lift > real(0.0):
                above = a
                above.p = a.p + up * lift
                m = any_convex(above, g, hulls, real(2.0) * SETTLED * most)
        for i in range(m.count):
            if pushes(meshes, mesh, k, face, m.normal, m.point_b[i]):
                key = triangle_key(m, i, k, a)
                gap = m.gap[i] - lift * wp.dot(m.normal, up)
                if gap > least:
                    at = m.point_a[i] - up * lift
                    found = add_gathered(found, m.normal, at, m.point_b[i], gap, m.radius_a, key, same)
    found = thinned(found)
    if a.kind == SPHERE and found.count == 1:
        found.key[0] = wp.int64(0)
    return found


@wp.func
def first_touch(
    t_a: GeomType, m_a: Motion, t_b: GeomType, m_b: Motion, hulls: Hulls, meshes: Meshes, box: FloatBox,
    touch: real, dt: real,
) -> real:  # fmt: skip
    """When a fast geom first meets the front of a triangle, by conservative advancement; dt if it does not."""
    soonest = dt
    turning = wp.length(m_a.w) * turning_arm(t_a) + wp.length(m_b.w) * turning_arm(t_b)
    triangle = wp.int32(0)
    query = wp.bvh_query_aabb(meshes.tree[t_b.mesh], box.low, box.high)
    while wp.bvh_query_next(query, triangle):
        k = meshes.first[t_b.mesh] + triangle
        time = real(0.0)
        meets = bool(False)
        count = int(0)
        while not meets and time < soonest:
            g = triangle_geom(meshes, placed_at(t_b, m_b, time), k)
            near = any_distance(placed_at(t_a, m_a, time), g, hulls)
            closing = turning - wp.dot(near.normal, m_a.v - m_b.v)
            if near.gap <= touch or count == MOST_ADVANCES:
                local = wp.transpose(g.R) * near.normal
                meets = may_push(meshes, k, face_normal(g, hulls, 0), local, wp.transpose(g.R) * (near.point_b - g.p))
                if meets:
                    soonest = time
                time = dt
            elif closing * (soonest - time) <= near.gap - real(0.5) * touch:
                time = dt
            else:
                time += (near.gap - real(0.5) * touch) / closing
            count += 1
    return soonest


@wp.func
def add_all(
    contacts: Contacts, geoms: Geoms, a: wp.int32, b: wp.int32, found: Gathered,
    x_a: vec3, R_a: mat33, x_b: vec3, R_b: mat33, Q: wp.array(dtype=mat34),
):  # fmt: skip
    """Append what was found with the bodies at rotations R and centres x."""
    first = wp.atomic_add(contacts.count, 0, found.count)
    for i in range(found.count):
        add_contact(
            contacts, first + i, geoms, a, b, found.normal[i], wp.transpose(R_a) * (found.point_a[i] - x_a),
            wp.transpose(R_b) * (found.point_b[i] - x_b), found.radius_a[i], real(0.0), found.key[i], Q,
        )  # fmt: skip


@wp.kernel(module="unique", enable_backward=False)
def collide_meshes(
    geoms: Geoms, hulls: Hulls, meshes: Meshes, bounds: Bounds, pairs: Pairs, Q: wp.array(dtype=mat34),
    V: wp.array(dtype=mat34), step: Step, contacts: Contacts, overlaps: Overlaps,
):  # fmt: skip
    pair = wp.tid()
    if pair >= pairs.count[0]:
        return
    a = pairs.a[pair]
    b = pairs.b[pair]
    if geoms.types[geoms.type[b]].kind <= PLANE:
        return
    if geoms.types[geoms.type[a]].kind == PLANE:
        # the mesh is what stands on the plane
        a = pairs.b[pair]
        b = pairs.a[pair]
    t_a = geoms.types[geoms.type[a]]
    t_b = geoms.types[geoms.type[b]]
    m_a = motion_of(geoms, a, Q[geoms.row[a]], V[geoms.row[a]], step)
    m_b = motion_of(geoms, b, Q[geoms.row[b]], V[geoms.row[b]], step)
    g_a = placed(t_a, m_a.R, m_a.x)
    g_b = placed(t_b, m_b.R, m_b.x)
    moved = travel(m_a, t_a, m_b, t_b, step.dt)
    margin = step.slack + moved
    thin = wp.min(t_a.thickness, t_b.thickness)
    time = real(0.0)
    found = Gathered()
    if t_b.kind == PLANE:
        g_a.kind = HULL
        m = half_space_contacts(g_a, g_b, hulls, margin)
        for i in range(m.count):
            key = wp.int64(m.key[i])
            found = add_gathered(found, m.normal, m.point_a[i], m.point_b[i], m.gap[i], real(0.0), key, real(0.0))
    else:
        fast = moved > SLOW * thin
        touch = TOUCH * thin
        if fast:
            margin = touch
        # where the convex geom gets to as seen from the mesh, which may move itself
        turning = travel_by_turning(m_b, turning_arm(t_b), step.dt)
        grown = vec3(turning, turning, turning)
        shift = m_b.v * step.dt
        low = bounds.low[a] - grown - wp.max(shift, vec3())
        high = bounds.high[a] + grown - wp.min(shift, vec3())
        box = box_in_mesh(g_b.R, g_b.p, low, high)
        found = gather_triangles(g_a, g_b, t_b.mesh, hulls, meshes, box, margin, t_a.radius)
        if fast and found.count == 0:
            time = first_touch(t_a, m_a, t_b, m_b, hulls, meshes, box, touch, step.dt)
            if time < step.dt:
                g_a = placed_at(t_a, m_a, time)
                g_b = placed_at(t_b, m_b, time)
                found = gather_triangles(g_a, g_b, t_b.mesh, hulls, meshes, box, real(2.0) * touch, t_a.radius)
    if found.count == 0:
        return
    deepest = found.gap[0]
    for i in range(found.count):
        deepest = wp.min(deepest, found.gap[i])
    if not passes_through(overlaps, a, b, deepest, thin):
        x_a = m_a.x + m_a.v * time
        x_b = m_b.x + m_b.v * time
        add_all(contacts, geoms, a, b, found, x_a, rotation_at(m_a, time), x_b, rotation_at(m_b, time), Q)
