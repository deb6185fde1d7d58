"""Contacts between what two cores show each other: overlaps of flats along the normal, at most four of them kept."""

import warp as wp

from linkwork.contact.convex_flats import (
    DISC,
    LINE,
    POLYGON,
    Flat,
    along_onto,
    corner_at,
    corner_index,
    flat_facing,
    is_level,
    line_facing,
    part_over,
    rim_point,
)
from linkwork.contact.convex_support import edge_code, face_code, pair_key, vertex_code
from linkwork.contact.geom import Geom, Hulls, face_size, real, vec3

CAPACITY = wp.constant(16)
# Lines closer to parallel than this (sine squared) touch along a length
ALONGSIDE = wp.constant(wp.float64(4.0e-4))
# Corners of the bearing flat count under another flat no steeper than this (cosine)
CORNERS = wp.constant(wp.float64(0.2))


@wp.struct
class Gathering:
    """What contacts are gathered by: the normal, the largest gap, and below what distance points and gaps are one."""

    normal: vec3  # from b to a
    limit: real
    slack: real
    level: real


@wp.func
def shallower_of_closest(
    how: Gathering, a: vec3, gap: real, points_a: wp.array(dtype=vec3), points_b: wp.array(dtype=vec3)
) -> wp.int32:
    """Which of a full list and the new point a (CAPACITY) can go: of the two closest to each other the shallower."""
    least = real(1.0e300)
    gone = CAPACITY
    for i in range(CAPACITY):
        x = points_a[i]
        x_gap = wp.dot(how.normal, x - points_b[i])
        for j in range(i + 1, CAPACITY + 1):
            y = a
            y_gap = gap
            if j < CAPACITY:
                y = points_a[j]
                y_gap = wp.dot(how.normal, y - points_b[j])
            if wp.dot(y - x, y - x) < least:
                least = wp.dot(y - x, y - x)
                gone = wp.where(x_gap > y_gap, i, j)
    return gone


@wp.func
def gather(
    how: Gathering,
    swapped: bool,
    x: vec3,
    y: vec3,
    code_x: wp.int32,
    code_y: wp.int32,
    count: wp.int32,
    points_a: wp.array(dtype=vec3),
    points_b: wp.array(dtype=vec3),
    keys: wp.array(dtype=wp.int32),
) -> wp.int32:
    """Adds the contact of x on a and y on b (the other way round when swapped) unless it is known; returns their count."""
    a = x
    b = y
    key = pair_key(code_x, code_y)
    if swapped:
        a = y
        b = x
        key = pair_key(code_y, code_x)
    gap = wp.dot(how.normal, a - b)
    if gap >= how.limit:
        return count
    least = real(1.0e300)
    for i in range(count):
        e = points_a[i] - a
        least = wp.min(least, wp.dot(e, e))
    if least <= how.slack * how.slack:
        return count
    place = count
    if count == CAPACITY:
        place = shallower_of_closest(how, a, gap, points_a, points_b)
    if place < CAPACITY:
        points_a[place] = a
        points_b[place] = b
        keys[place] = key
    return wp.max(count, wp.min(place + 1, CAPACITY))


@wp.func
def gather_over(
    how: Gathering,
    swapped: bool,
    f: Geom,
    flat: Flat,
    g: Geom,
    other: Flat,
    hulls: Hulls,
    corners_only: bool,
    count: wp.int32,
    points_a: wp.array(dtype=vec3),
    points_b: wp.array(dtype=vec3),
    keys: wp.array(dtype=wp.int32),
) -> wp.int32:
    """The border of ``other``, on g, where it lies over ``flat``, on f, along the normal."""
    n = how.normal
    on_flat = face_code(flat.face)
    sides = int(1)
    if other.kind == POLYGON:
        sides = face_size(g, hulls, other.face)
    elif other.kind == DISC:
        sides = 4
    k = int(0)
    while k < sides:
        p = other.p
        q = other.q
        code_p = other.code_p
        code_q = other.code_q
        if other.kind == POLYGON:
            following = wp.where(k + 1 < sides, k + 1, 0)
            p = corner_at(g, hulls, other.face, k)
            q = corner_at(g, hulls, other.face, following)
            code_p = corner_index(g, hulls, other.face, k)
            code_q = corner_index(g, hulls, other.face, following)
        elif other.kind == DISC:
            toward = n
            if wp.dot(n, other.normal) < real(0.0):
                toward = -n
            p = rim_point(g, other, k, toward)
            q = p
            code_p = vertex_code(8 + 4 * other.face + k)
        if corners_only:
            q = p
        part = part_over(f, hulls, flat, n, p, q, how.slack)
        if not part.empty:
            x = p + (q - p) * part.start
            code = code_p
            on = on_flat
            if part.start > real(0.0):
                code = edge_code(code_p, code_q)
                on = part.start_code
            count = gather(how, swapped, along_onto(x, n, flat), x, on, code, count, points_a, points_b, keys)
            # the end of a polygon's side is the start of the next
            if part.stop < real(1.0) or other.kind == LINE:
                x = p + (q - p) * part.stop
                code = code_q
                on = on_flat
                if part.stop < real(1.0):
                    code = edge_code(code_p, code_q)
                    on = part.stop_code
                count = gather(how, swapped, along_onto(x, n, flat), x, on, code, count, points_a, points_b, keys)
        k += 1
    return count


@wp.func
def gather_rims(
    how: Gathering,
    a: Flat,
    b: Flat,
    count: wp.int32,
    points_a: wp.array(dtype=vec3),
    points_b: wp.array(dtype=vec3),
    keys: wp.array(dtype=wp.int32),
) -> wp.int32:
    """Where the rims of two discs, all but parallel, cross."""
    e = along_onto(b.p, how.normal, a) - a.p
    d2 = wp.dot(e, e)
    along = real(0.5) * (d2 + a.radius * a.radius - b.radius * b.radius)
    across2 = a.radius * a.radius * d2 - along * along
    if d2 > real(0.0) and across2 > real(0.0):
        side = wp.cross(a.normal, e)
        for i in range(2):
            x = a.p + (e * along + side * (wp.sqrt(across2) * real(1 - 2 * i))) / d2
            code = edge_code(16 + i, 41)
            y = along_onto(x, how.normal, b)
            count = gather(how, False, x, y, code, code, count, points_a, points_b, keys)
    return count


@wp.func
def gather_lines(
    how: Gathering,
    a: Flat,
    b: Flat,
    count: wp.int32,
    points_a: wp.array(dtype=vec3),
    points_b: wp.array(dtype=vec3),
    keys: wp.array(dtype=wp.int32),
) -> wp.int32:
    """Two lines: the ends of the length they share when parallel, the place where they cross otherwise."""
    d = a.q - a.p
    e = b.q - b.p
    r = b.p - a.p
    dd = wp.dot(d, d)
    ee = wp.dot(e, e)
    de = wp.dot(d, e)
    side_a = edge_code(a.code_p, a.code_q)
    side_b = edge_code(b.code_p, b.code_q)
    if dd * ee - de * de <= ALONGSIDE * dd * ee:
        if de != real(0.0):
            to_p = wp.dot(r, d) / dd
            to_q = wp.dot(r + e, d) / dd
            for i in range(2):
                # the ends of a, then those of b
                s = real(i)
                t = (s - to_p) / (to_q - to_p)
                code = wp.where(i == 0, a.code_p, a.code_q)
                if t >= real(0.0) and t <= real(1.0):
                    count = gather(how, False, a.p + d * s, b.p + e * t, code, side_b, count, points_a, points_b, keys)
                s = wp.where(i == 0, to_p, to_q)
                code = wp.where(i == 0, b.code_p, b.code_q)
                if s >= real(0.0) and s <= real(1.0):
                    x = a.p + d * s
                    count = gather(how, False, x, b.p + e * real(i), side_a, code, count, points_a, points_b, keys)
    else:
        s = (wp.dot(r, d) * ee - wp.dot(r, e) * de) / (dd * ee - de * de)
        t = (wp.dot(r, d) * de - wp.dot(r, e) * dd) / (dd * ee - de * de)
        if s >= real(0.0) and s <= real(1.0) and t >= real(0.0) and t <= real(1.0):
            count = gather(how, False, a.p + d * s, b.p + e * t, side_a, side_b, count, points_a, points_b, keys)
    return count


@wp.func
def gather_flats(
    how: Gathering,
    a: Geom,
    b: Geom,
    hulls: Hulls,
    points_a: wp.array(dtype=vec3),
    points_b: wp.array(dtype=vec3),
    keys: wp.array(dtype=wp.int32),
) -> wp.int32:
    """All contacts between the parts of a and b that face each other along the normal; returns how many."""
    count = int(0)
    flat_a = flat_facing(a, hulls, -how.normal)
    flat_b = flat_facing(b, hulls, how.normal)
    level_a = is_level(flat_a)
    level_b = is_level(flat_b)
    if level_a or level_b:
        # the more level one bears; the other, when flat too, may have corners over it
        bears_a = level_a and (not level_b or flat_a.facing >= flat_b.facing)
        f = b
        flat = flat_b
        g = a
        other = flat_a
        if bears_a:
            f = a
            flat = flat_a
            g = b
            other = flat_b
        count = gather_over(how, not bears_a, f, flat, g, other, hulls, False, count, points_a, points_b, keys)
        if other.kind >= DISC and other.facing > CORNERS:
            only = flat.kind == POLYGON and other.kind == POLYGON
            count = gather_over(how, bears_a, g, other, f, flat, hulls, only, count, points_a, points_b, keys)
        if level_a and level_b and flat_a.kind == DISC and flat_b.kind == DISC:
            count = gather_rims(how, flat_a, flat_b, count, points_a, points_b, keys)
    else:
        line_a = line_facing(a, hulls, flat_a, -how.normal)
        line_b = line_facing(b, hulls, flat_b, how.normal)
        if line_a.kind == LINE and line_b.kind == LINE:
            count = gather_lines(how, line_a, line_b, count, points_a, points_b, keys)
    return count


@wp.func
def four_of(
    how: Gathering, count: wp.int32, points_a: wp.array(dtype=vec3), points_b: wp.array(dtype=vec3)
) -> wp.vec4i:
    """Which four of the contacts to keep: the deepest, the farthest from it, and the two that span the most area.

    -1 where fewer do. Of equals within rounding the first is taken, so that the choice does not flicker.
    """
    n = how.normal
    slack = how.slack
    chosen = wp.vec4i(0, -1, -1, -1)
    lowest = wp.dot(n, points_a[0] - points_b[0])
    middle = points_a[0]
    for i in range(1, count):
        lowest = wp.min(lowest, wp.dot(n, points_a[i] - points_b[i]))
        middle += points_a[i]
    middle = middle / real(count)
    # of all that are deepest up to rounding the outermost, for one between two corners would cost area
    outermost = real(-1.0)
    for i in range(count):
        e = points_a[i] - middle
        deep = wp.dot(n, points_a[i] - points_b[i]) <= lowest + how.level
        if deep and wp.dot(e, e) > outermost * real(1.000001):
            outermost = wp.dot(e, e)
            chosen[0] = i
    p = points_a[chosen[0]]
    most = slack * slack
    for i in range(count):
        e = points_a[i] - p
        if wp.dot(e, e) > most * real(1.000001):
            most = wp.dot(e, e)
            chosen[1] = i
    if chosen[1] < 0:
        return chosen
    e = points_a[chosen[1]] - p
    # signed areas on both sides of the line between the first two
    highest = slack * wp.length(e)
    for i in range(count):
        area = wp.dot(n, wp.cross(e, points_a[i] - p))
        if wp.abs(area) > highest * real(1.000001):
            highest = wp.abs(area)
            chosen[2] = i
    if chosen[2] < 0:
        return chosen
    q = points_a[chosen[1]]
    r = points_a[chosen[2]]
    turn = real(1.0)
    if wp.dot(n, wp.cross(q - p, r - p)) < real(0.0):
        turn = real(-1.0)
    gained = slack * wp.length(e)
    for i in range(count):
        x = points_a[i]
        beyond = wp.max(
            -turn * wp.dot(n, wp.cross(q - p, x - p)),
            wp.max(-turn * wp.dot(n, wp.cross(r - q, x - q)), -turn * wp.dot(n, wp.cross(p - r, x - r))),
        )
        if beyond > gained * real(1.000001):
            gained = beyond
            chosen[3] = i
    return chosen
