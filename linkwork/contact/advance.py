"""Continuous detection: when and how fast pairs meet within a step, by conservative advancement.

Two convex bodies at distance d along the normal n cannot meet before d / (closing speed of their surfaces along n), nor at
all while that speed is not positive: the plane between them keeps them apart. Steps of that length come as near to the
first touch as wanted, and never beyond it.
"""

from collections.abc import Callable
from functools import cache

import warp as wp

from linkwork.contact.contacts import Contacts
from linkwork.contact.geom import Distance, Geom, Hulls, Manifold, mat34, put_contact, real
from linkwork.contact.geoms import Geoms, GeomType, placed
from linkwork.contact.grid import Pairs
from linkwork.contact.motion import Motion, Step, motion_of, rotation_at, turning_arm
from linkwork.contact.narrow import TOUCH, Fast, add_contacts

MOST_ADVANCES = wp.constant(64)


@wp.func
def placed_at(t: GeomType, m: Motion, time: real) -> Geom:
    return placed(t, rotation_at(m, time), m.x + m.v * time)


@wp.func
def from_distance(d: Distance) -> Manifold:
    m = Manifold()
    m.normal = d.normal
    return put_contact(m, d.point_a, d.point_b, d.gap, 0)


@cache
def advance_kernel(collide: Callable[..., Manifold], distance: Callable[..., Distance]) -> wp.Kernel:
    """The kernel for fast pairs, with functions for the pairs that a scene can have."""

    @wp.kernel(module="unique", enable_backward=False)
    def advance(
        geoms: Geoms, hulls: Hulls, pairs: Pairs, Q: wp.array(dtype=mat34), V: wp.array(dtype=mat34), step: Step,
        contacts: Contacts, fast: Fast,
    ):  # fmt: skip
        i = wp.tid()
        if i >= fast.count[0]:
            return
        a = pairs.a[fast.pair[i]]
        b = pairs.b[fast.pair[i]]
        t_a = geoms.types[geoms.type[a]]
        t_b = geoms.types[geoms.type[b]]
        m_a = motion_of(geoms, a, Q[geoms.row[a]], V[geoms.row[a]], step)
        m_b = motion_of(geoms, b, Q[geoms.row[b]], V[geoms.row[b]], step)
        touch = TOUCH * wp.min(t_a.thickness, t_b.thickness)
        turning = wp.length(m_a.w) * turning_arm(t_a) + wp.length(m_b.w) * turning_arm(t_b)
        time = real(0.0)
        near = distance(placed_at(t_a, m_a, time), placed_at(t_b, m_b, time), hulls)
        count = int(0)
        while near.gap > touch and count < MOST_ADVANCES:
            closing = turning - wp.dot(near.normal, m_a.v - m_b.v)
            if closing * (step.dt - time) <= near.gap - real(0.5) * touch:
                return
            # half the tolerance is left, so that the last advance ends within it and not on the surface
            time += (near.gap - real(0.5) * touch) / closing
            near = distance(placed_at(t_a, m_a, time), placed_at(t_b, m_b, time), hulls)
            count += 1
        g_a = placed_at(t_a, m_a, time)
        g_b = placed_at(t_b, m_b, time)
        m = collide(g_a, g_b, hulls, wp.max(real(2.0) * touch, near.gap * real(1.5)))
        if m.count == 0:
            m = from_distance(near)
        add_contacts(
            contacts, geoms, a, b, m,
            m_a.x + m_a.v * time, rotation_at(m_a, time), m_b.x + m_b.v * time, rotation_at(m_b, time), Q,
        )  # fmt: skip

    return advance
