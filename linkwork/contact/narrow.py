"""Narrow phase: from candidate pairs to contacts.

A pair whose motion within the step is small against its thickness is looked at where it stands, with a margin of that
motion. A faster one would be missed so, or stopped by what it passes; it is left to advance.py.
"""

from collections.abc import Callable
from functools import cache

import warp as wp

from linkwork.contact.contacts import Contacts
from linkwork.contact.convex import collide_convex, distance_convex
from linkwork.contact.geom import CAPSULE, PLANE, SPHERE, Distance, Geom, Hulls, Manifold, mat33, mat34, real, vec3
from linkwork.contact.geoms import Geoms, GeomType, holds, placed
from linkwork.contact.grid import Pairs
from linkwork.contact.half_space import half_space_contacts
from linkwork.contact.motion import Motion, Step, motion_of, travel_by_turning, turning_arm
from linkwork.contact.rounded import rounded_contacts, rounded_distance
from linkwork.mabd.affine import point_at

# of the thinner side's thickness: how far a pair may move in a step and still be looked at where it stands
SLOW = wp.constant(wp.float64(0.25))
# and how near a fast pair is taken as touching
TOUCH = wp.constant(wp.float64(0.01))
# and how deep a pair may overlap at the start without being reported
SUNK = wp.constant(wp.float64(1.0e-3))


@wp.struct
class Fast:
    """Pairs that move too far in a step to be looked at where they stand."""

    count: wp.array(dtype=wp.int32)
    pair: wp.array(dtype=wp.int32)


@wp.struct
class Overlaps:
    """Pairs of geoms that overlapped at the start and do not collide until they have come apart."""

    geoms: wp.int64
    key: wp.array(dtype=wp.int64)  # sorted, geom a * geoms + geom b
    active: wp.array(dtype=wp.int32)
    seen: wp.array(dtype=wp.int32)  # 1 where the pair still overlaps in this step


@wp.func
def is_rounded(a: Geom, b: Geom) -> bool:
    return a.kind == SPHERE or (a.kind == CAPSULE and b.kind == CAPSULE)


@wp.func
def rounded_only(a: Geom, b: Geom, hulls: Hulls, margin: real) -> Manifold:
    """For scenes of spheres, capsules and half spaces; the other pairs take long to compile."""
    if b.kind == PLANE:
        return half_space_contacts(a, b, hulls, margin)
    return rounded_contacts(a, b, hulls, margin)


@wp.func
def any_convex(a: Geom, b: Geom, hulls: Hulls, margin: real) -> Manifold:
    """The contacts of two convex geoms, kind a before kind b."""
    if b.kind == PLANE:
        return half_space_contacts(a, b, hulls, margin)
    if is_rounded(a, b):
        return rounded_contacts(a, b, hulls, margin)
    return collide_convex(a, b, hulls, margin)


@wp.func
def any_distance(a: Geom, b: Geom, hulls: Hulls) -> Distance:
    """The distance of two bounded convex geoms."""
    if is_rounded(a, b):
        return rounded_distance(a, b, hulls)
    return distance_convex(a, b, hulls)


@wp.func
def travel(a: Motion, t_a: GeomType, b: Motion, t_b: GeomType, dt: real) -> real:
    """How far the surfaces of a pair may move against each other in a step, m."""
    turning = travel_by_turning(a, turning_arm(t_a), dt) + travel_by_turning(b, turning_arm(t_b), dt)
    return wp.length(a.v - b.v) * dt + turning


@wp.func
def balls_apart(a: Geom, t_a: GeomType, b: Geom, t_b: GeomType) -> real:
    """Distance of the balls that hold two geoms; a half space is always near."""
    if b.kind == PLANE:
        return real(0.0)
    return wp.length(a.p - b.p) - t_a.radius - t_b.radius


@wp.func
def add_contact(
    contacts: Contacts, c: wp.int32, geoms: Geoms, a: wp.int32, b: wp.int32, normal: vec3,
    point_a: vec3, point_b: vec3, radius_a: real, radius_b: real, key: wp.int64, Q: wp.array(dtype=mat34),
):  # fmt: skip
    """Write contact c, if there is room; points in the principal frames, the gap that of the step's start."""
    if c >= contacts.key.shape[0]:
        return
    row_a = geoms.row[a]
    row_b = geoms.row[b]
    contacts.geom_a[c] = a
    contacts.geom_b[c] = b
    contacts.body_a[c] = row_a
    contacts.body_b[c] = row_b
    contacts.normal[c] = normal
    contacts.point_a[c] = point_a
    contacts.point_b[c] = point_b
    contacts.radius_a[c] = radius_a
    contacts.radius_b[c] = radius_b
    contacts.gap[c] = wp.dot(normal, point_at(Q[row_a], point_a) - point_at(Q[row_b], point_b)) - radius_a - radius_b
    contacts.key[c] = key


@wp.func
def add_contacts(
    contacts: Contacts, geoms: Geoms, a: wp.int32, b: wp.int32, m: Manifold,
    x_a: vec3, R_a: mat33, x_b: vec3, R_b: mat33, Q: wp.array(dtype=mat34),
):  # fmt: skip
    """Append a manifold found with the bodies at rotations R and centres x."""
    first = wp.atomic_add(contacts.count, 0, m.count)
    for i in range(m.count):
        point_a = wp.transpose(R_a) * (m.point_a[i] - x_a)
        point_b = wp.transpose(R_b) * (m.point_b[i] - x_b)
        key = wp.int64(m.key[i])
        add_contact(contacts, first + i, geoms, a, b, m.normal, point_a, point_b, m.radius_a, m.radius_b, key, Q)


@wp.func
def passes_through(overlaps: Overlaps, a: wp.int32, b: wp.int32, deepest: real, thin: real) -> bool:
    """Whether a pair has overlapped since the start."""
    if overlaps.key.shape[0] == 0:
        return False
    k = holds(overlaps.key, wp.int64(a) * overlaps.geoms + wp.int64(b))
    if k < 0:
        return False
    if overlaps.active[k] == 0:
        return False
    if deepest < -SUNK * thin:
        overlaps.seen[k] = 1
        return True
    return False


@wp.kernel(enable_backward=False)
def clear_contacts(contacts: Contacts, fast: Fast, overlaps: Overlaps):
    i = wp.tid()
    if i == 0:
        contacts.count[0] = 0
        fast.count[0] = 0
    if i < overlaps.seen.shape[0]:
        overlaps.seen[i] = 0


@wp.kernel(enable_backward=False)
def leave_separated(overlaps: Overlaps):
    """A pair that did not overlap in a step collides from then on."""
    i = wp.tid()
    if overlaps.seen[i] == 0:
        overlaps.active[i] = 0


@cache
def narrow_kernel(collide: Callable[..., Manifold]) -> wp.Kernel:
    """The kernel of the narrow phase with a function for the pairs that a scene can have."""

    @wp.kernel(module="unique", enable_backward=False)
    def narrow(
        geoms: Geoms, hulls: Hulls, pairs: Pairs, Q: wp.array(dtype=mat34), V: wp.array(dtype=mat34), step: Step,
        contacts: Contacts, fast: Fast, overlaps: Overlaps,
    ):  # fmt: skip
        i = wp.tid()
        if i >= pairs.count[0]:
            return
        a = pairs.a[i]
        b = pairs.b[i]
        t_a = geoms.types[geoms.type[a]]
        t_b = geoms.types[geoms.type[b]]
        if t_b.kind > PLANE:
            return
        m_a = motion_of(geoms, a, Q[geoms.row[a]], V[geoms.row[a]], step)
        m_b = motion_of(geoms, b, Q[geoms.row[b]], V[geoms.row[b]], step)
        g_a = placed(t_a, m_a.R, m_a.x)
        g_b = placed(t_b, m_b.R, m_b.x)
        thin = wp.min(t_a.thickness, t_b.thickness)
        moved = travel(m_a, t_a, m_b, t_b, step.dt)
        margin = step.slack + moved
        # what a half space stops, it stops everywhere along its one normal
        too_fast = moved > SLOW * thin and t_b.kind != PLANE
        if balls_apart(g_a, t_a, g_b, t_b) > margin:
            return
        if too_fast:
            margin = TOUCH * thin
        m = collide(g_a, g_b, hulls, margin)
        if m.count > 0:
            deepest = m.gap[0]
            for k in range(1, m.count):
                deepest = wp.min(deepest, m.gap[k])
            if not passes_through(overlaps, a, b, deepest, thin):
                add_contacts(contacts, geoms, a, b, m, m_a.x, m_a.R, m_b.x, m_b.R, Q)
        elif too_fast:
            slot = wp.atomic_add(fast.count, 0, 1)
            if slot < fast.pair.shape[0]:
                fast.pair[slot] = i

    return narrow
