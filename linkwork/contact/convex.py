"""Contacts and distances between convex geoms: boxes, hulls, cylinders, capsules and spheres in any pairing.

The cores decide; the radii of spheres and capsules are taken off at the end. A pair first tries the best of a list of
directions. Where the contacts found along it leave no more than the gap that direction proves, it is the right one.
Otherwise the nearest points are looked for: of the cores where they stand when apart, and of cores drawn apart along
the best direction so far when they overlap, which converges to a direction of least penetration.
"""

import warp as wp

from linkwork.contact.convex_axes import best_axis
from linkwork.contact.convex_contacts import CAPACITY, Gathering, four_of, gather, gather_flats
from linkwork.contact.convex_flats import CAP
from linkwork.contact.convex_gjk import Nearest, nearest_points
from linkwork.contact.convex_support import axis_of, core_radius, extent, separation, support, vertex_code
from linkwork.contact.geom import CYLINDER, Distance, Geom, Hulls, Manifold, put_contact, real, vec3

# All tolerances are parts of the pair's size: a direction is taken as the right one when contacts along it lie within
# this of the gap it proves, and an edge pair is preferred to a face only beyond it
SETTLED = wp.constant(wp.float64(1.0e-6))
# Corners this far outside a face still lie on it, so that noise in the pose of aligned shapes does not replace them by
# crossings of all but parallel edges, which wander; points closer than this are one
SAME = wp.constant(wp.float64(1.0e-5))
# Cores nearer than this are drawn apart before the search, for the direction of a short vector is rounding: to APART or
# a part of their depth, since the search is the faster the smaller it is
TOUCHING = wp.constant(wp.float64(1.0e-9))
APART = wp.constant(wp.float64(1.0e-7))
PART_OF_DEPTH = wp.constant(wp.float64(0.01))
DRAWS = wp.constant(16)
HALVINGS = wp.constant(4)


@wp.func
def nearest_or_deepest(a: Geom, b: Geom, hulls: Hulls, normal: vec3, gap: real, size: real) -> Nearest:
    """Signed distance of the cores, from a direction and the gap it proves; its points lie on the cores where they are."""
    found = Nearest()
    found.normal = normal
    found.distance = gap
    farthest_a = support(a, hulls, -normal)
    farthest_b = support(b, hulls, normal)
    found.point_a = farthest_a.point
    found.point_b = farthest_b.point
    found.code_a = vertex_code(farthest_a.vertex)
    found.code_b = vertex_code(farthest_b.vertex)
    round_trip = int(0)
    while round_trip < DRAWS:
        round_trip += 1
        draw = real(0.0)
        if found.distance < TOUCHING * size:
            draw = wp.max(APART * size, -PART_OF_DEPTH * found.distance) - found.distance
        near = nearest_points(a, b, hulls, found.normal * draw, found.normal, size)
        if near.distance > real(0.0):
            found.point_a = near.point_a
            found.point_b = near.point_b
            found.code_a = near.code_a
            found.code_b = near.code_b
            step = near.normal
            proven = separation(a, b, hulls, step)
            halvings = int(0)
            while draw > real(0.0) and proven < found.distance and halvings < HALVINGS:
                # deeper than the cores are round, the search oversteps
                step = wp.normalize(step + found.normal)
                proven = separation(a, b, hulls, step)
                halvings += 1
            gain = proven - found.distance
            if gain > real(0.0):
                found.distance = proven
                found.normal = step
            if draw == real(0.0) or gain <= real(1.0e-14) * size:
                round_trip = DRAWS
        elif draw == real(0.0):
            round_trip = DRAWS
    return found


@wp.func
def distance_convex(a: Geom, b: Geom, hulls: Hulls) -> Distance:
    """Signed distance, normal from b to a, and nearest points of two convex geoms; negative when they overlap."""
    origin = b.p
    a.p = a.p - origin
    b.p = vec3()
    size = wp.max(extent(a, hulls), extent(b, hulls))
    if size == real(0.0):
        size = wp.length(a.p) + core_radius(a) + core_radius(b)
    axis = best_axis(a, b, hulls, real(0.0))
    found = nearest_or_deepest(a, b, hulls, axis.normal, axis.gap, size)
    d = Distance()
    d.normal = found.normal
    d.gap = found.distance - core_radius(a) - core_radius(b)
    d.point_a = found.point_a - found.normal * core_radius(a) + origin
    d.point_b = found.point_b + found.normal * core_radius(b) + origin
    return d


@wp.func
def rolling_radius(g: Geom, n: vec3) -> real:
    """The radius that a manifold states for a geom: that of its core, or of a cylinder that touches with its side."""
    if g.kind == CYLINDER and wp.abs(wp.dot(axis_of(g), n)) < CAP:
        return g.size[0]
    return core_radius(g)


@wp.func
def collide_convex(a: Geom, b: Geom, hulls: Hulls, margin: real) -> Manifold:
    """Up to four contacts with gaps below ``margin`` between two convex geoms, one normal from b to a for all."""
    manifold = Manifold()
    origin = b.p
    a.p = a.p - origin
    b.p = vec3()
    radii = core_radius(a) + core_radius(b)
    size = wp.max(extent(a, hulls), extent(b, hulls))
    if size == real(0.0):
        size = wp.length(a.p) + radii
    axis = best_axis(a, b, hulls, SETTLED * size)
    how = Gathering()
    how.normal = axis.normal
    how.limit = margin + radii
    how.slack = SAME * size
    how.level = SETTLED * size
    if axis.gap >= how.limit:
        return manifold
    points_a = wp.zeros(shape=(CAPACITY,), dtype=vec3)
    points_b = wp.zeros(shape=(CAPACITY,), dtype=vec3)
    keys = wp.zeros(shape=(CAPACITY,), dtype=wp.int32)
    count = int(0)
    settled = bool(False)
    witness = Nearest()
    searched = bool(False)
    while not settled:
        count = gather_flats(how, a, b, hulls, points_a, points_b, keys)
        if searched:
            count = gather(
                how, False, witness.point_a, witness.point_b, witness.code_a, witness.code_b,
                count, points_a, points_b, keys,
            )  # fmt: skip
            settled = True
        else:
            for i in range(count):
                gap = wp.dot(how.normal, points_a[i] - points_b[i])
                settled = settled or gap <= axis.gap + SETTLED * size
            if not settled:
                witness = nearest_or_deepest(a, b, hulls, axis.normal, axis.gap, size)
                how.normal = witness.normal
                searched = True
                if witness.distance >= how.limit:
                    return manifold
    manifold.normal = how.normal
    manifold.radius_a = rolling_radius(a, how.normal)
    manifold.radius_b = rolling_radius(b, how.normal)
    if count == 0:
        return manifold
    chosen = four_of(how, count, points_a, points_b)
    for i in range(4):
        k = chosen[i]
        if k >= 0:
            gap = wp.dot(how.normal, points_a[k] - points_b[k]) - radii
            core_a = points_a[k] + how.normal * (manifold.radius_a - core_radius(a)) + origin
            core_b = points_b[k] - how.normal * (manifold.radius_b - core_radius(b)) + origin
            manifold = put_contact(manifold, core_a, core_b, gap, keys[k])
    return manifold
