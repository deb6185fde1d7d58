"""Broad phase: a hierarchy of uniform grids, one for each power of two of size, in one hash table.

Each geom lies in the one cell that holds the middle of its box, on the first level whose cells are no smaller than the box.
Two boxes of one level that overlap lie in neighbouring cells. A box meets those of coarser levels in the cells that it
reaches when it is grown by half a cell. Cells that follow each other along x follow each other in the table, so that
a row of neighbours is read in one go; the work is linear in the number of geoms.
"""

import warp as wp

from linkwork.contact.geom import PLANE, mat33, mat34, real, vec3
from linkwork.contact.geoms import Filter, Geoms, may_touch
from linkwork.contact.motion import Bounds
from linkwork.mabd.affine import linear_part, polar_rotation, translation_part

MOST_CELLS = wp.constant(wp.float64(1.0e9))  # along an axis; what lies farther out shares the last cell
# odd numbers that scatter rows of cells over the table
SCATTER_Y = wp.constant(wp.uint32(2654435761))
SCATTER_Z = wp.constant(wp.uint32(2246822519))
SCATTER_LEVEL = wp.constant(wp.uint32(3266489917))
SCATTER = wp.constant(wp.uint32(2654435769))
NOWHERE = wp.constant(-1)  # level of a geom that is not in the grid


@wp.struct
class Grid:
    levels: wp.int32
    cell: wp.array(dtype=real)  # edge of each level's cells, m
    occupied: wp.array(dtype=wp.int32)  # geoms on each level
    mask: wp.int32  # buckets of the table, a power of two, less one
    start: wp.array(dtype=wp.int32)  # first entry of each bucket; one more than buckets
    wide: wp.array(dtype=wp.int32)  # geoms that are tested against every other one
    in_grid: wp.array(dtype=wp.int32)  # of each geom, 0 for the wide ones
    place: wp.array(dtype=wp.vec4i)  # of each geom: level and cell
    # entries, bucket after bucket
    entry_geom: wp.array(dtype=wp.int32)
    entry_place: wp.array(dtype=wp.vec4i)
    entry_low: wp.array(dtype=vec3)
    entry_high: wp.array(dtype=vec3)


@wp.struct
class Pairs:
    """Candidate pairs: geom a comes before b in the order of kinds, then of indices."""

    count: wp.array(dtype=wp.int32)  # of all that were found, also beyond the capacity
    a: wp.array(dtype=wp.int32)
    b: wp.array(dtype=wp.int32)


@wp.func
def bucket_of(grid: Grid, level: wp.int32, x: wp.int32, y: wp.int32, z: wp.int32) -> wp.int32:
    """Rows of cells are scattered over the table, the cells of a row follow each other."""
    h = wp.uint32(y) * SCATTER_Y + wp.uint32(z) * SCATTER_Z + wp.uint32(level) * SCATTER_LEVEL
    h = (h ^ (h >> wp.uint32(15))) * SCATTER
    h = h ^ (h >> wp.uint32(13))
    return wp.int32((h + wp.uint32(x)) & wp.uint32(grid.mask))


@wp.func
def cell_index(x: real, cell: real) -> wp.int32:
    return wp.int32(wp.clamp(wp.floor(x / cell), -MOST_CELLS, MOST_CELLS))


@wp.func
def overlap(low: vec3, high: vec3, other_low: vec3, other_high: vec3) -> bool:
    if low[0] > other_high[0] or other_low[0] > high[0]:
        return False
    if low[1] > other_high[1] or other_low[1] > high[1]:
        return False
    return low[2] <= other_high[2] and other_low[2] <= high[2]


@wp.kernel(enable_backward=False)
def clear(grid: Grid, pairs: Pairs):
    i = wp.tid()
    grid.start[i] = 0
    if i < grid.levels:
        grid.occupied[i] = 0
    if i == 0:
        pairs.count[0] = 0


@wp.kernel(enable_backward=False)
def locate(grid: Grid, bounds: Bounds):
    """Level and cell of each geom; counts the geoms of each bucket."""
    g = wp.tid()
    grid.place[g] = wp.vec4i(NOWHERE, 0, 0, 0)
    if grid.in_grid[g] == 0:
        return
    low = bounds.low[g]
    high = bounds.high[g]
    size = wp.max(high - low)
    level = int(0)
    while level < grid.levels - 1 and not (size <= grid.cell[level]):
        level += 1
    c = (low + high) * real(0.5)
    h = grid.cell[level]
    at = wp.vec4i(level, cell_index(c[0], h), cell_index(c[1], h), cell_index(c[2], h))
    grid.place[g] = at
    wp.atomic_add(grid.occupied, level, 1)
    wp.atomic_add(grid.start, bucket_of(grid, level, at[1], at[2], at[3]), 1)


@wp.kernel(enable_backward=False)
def accumulate(grid: Grid):
    """From counts to the end of each bucket."""
    total = int(0)
    for b in range(grid.start.shape[0]):
        total += grid.start[b]
        grid.start[b] = total


@wp.kernel(enable_backward=False)
def sort_in(grid: Grid, bounds: Bounds):
    """Put each geom in its bucket, the last one first; what were ends become starts."""
    g = grid.place.shape[0] - 1 - wp.tid()
    at = grid.place[g]
    if at[0] == NOWHERE:
        return
    entry = wp.atomic_sub(grid.start, bucket_of(grid, at[0], at[1], at[2], at[3]), 1) - 1
    grid.entry_geom[entry] = g
    grid.entry_place[entry] = at
    grid.entry_low[entry] = bounds.low[g]
    grid.entry_high[entry] = bounds.high[g]


@wp.func
def report(geoms: Geoms, filter: Filter, pairs: Pairs, g: wp.int32, h: wp.int32):
    """Add a pair whose boxes overlap, if it may touch."""
    if not may_touch(geoms, filter, g, h):
        return
    kind_g = geoms.types[geoms.type[g]].kind
    kind_h = geoms.types[geoms.type[h]].kind
    swap = kind_h < kind_g or (kind_h == kind_g and h < g)
    slot = wp.atomic_add(pairs.count, 0, 1)
    if slot < pairs.a.shape[0]:
        pairs.a[slot] = wp.where(swap, h, g)
        pairs.b[slot] = wp.where(swap, g, h)


@wp.func
def search_cell(
    geoms: Geoms, filter: Filter, grid: Grid, pairs: Pairs, e: wp.int32, own: bool,
    level: wp.int32, x: wp.int32, y: wp.int32, z: wp.int32,
):  # fmt: skip
    """Pairs of an entry with those in a cell; in its own cell only with those that follow."""
    b = bucket_of(grid, level, x, y, z)
    first = grid.start[b]
    if own:
        first = e + 1
    last = grid.start[b + 1]
    if first >= last:
        return
    low = grid.entry_low[e]
    high = grid.entry_high[e]
    for other in range(first, last):
        at = grid.entry_place[other]
        # other cells may share the bucket
        if at[1] == x and at[2] == y and at[3] == z and at[0] == level:
            if overlap(low, high, grid.entry_low[other], grid.entry_high[other]):
                report(geoms, filter, pairs, grid.entry_geom[e], grid.entry_geom[other])


@wp.kernel(enable_backward=False)
def search(geoms: Geoms, filter: Filter, grid: Grid, pairs: Pairs):
    """Pairs of each entry with its cell, with the half of the cells around that follow, and with coarser levels."""
    e = wp.tid()
    if e >= grid.start[grid.mask + 1]:
        return
    at = grid.entry_place[e]
    level = at[0]
    x = at[1]
    y = at[2]
    z = at[3]
    search_cell(geoms, filter, grid, pairs, e, True, level, x, y, z)
    search_cell(geoms, filter, grid, pairs, e, False, level, x + 1, y, z)
    for row in range(4):
        # (y + 1, z), and z + 1 with y - 1, y, y + 1
        dy = wp.where(row == 0, 1, row - 2)
        dz = wp.where(row == 0, 0, 1)
        for dx in range(-1, 2):
            search_cell(geoms, filter, grid, pairs, e, False, level, x + dx, y + dy, z + dz)
    low = grid.entry_low[e]
    high = grid.entry_high[e]
    for coarse in range(level + 1, grid.levels):
        if grid.occupied[coarse] > 0:
            h = grid.cell[coarse]
            r = h * real(0.5)
            for cz in range(cell_index(low[2] - r, h), cell_index(high[2] + r, h) + 1):
                for cy in range(cell_index(low[1] - r, h), cell_index(high[1] + r, h) + 1):
                    for cx in range(cell_index(low[0] - r, h), cell_index(high[0] + r, h) + 1):
                        search_cell(geoms, filter, grid, pairs, e, False, coarse, cx, cy, cz)


@wp.func
def reaches_half_space(R: mat33, p: vec3, low: vec3, high: vec3) -> bool:
    """Whether a box reaches below z = 0 of a frame."""
    n = vec3(R[0, 2], R[1, 2], R[2, 2])
    half = (high - low) * real(0.5)
    height = wp.dot(n, (low + high) * real(0.5) - p)
    return height <= wp.abs(n[0]) * half[0] + wp.abs(n[1]) * half[1] + wp.abs(n[2]) * half[2]


@wp.kernel(enable_backward=False)
def search_wide(
    geoms: Geoms, filter: Filter, grid: Grid, bounds: Bounds, Q: wp.array(dtype=mat34), pairs: Pairs, slack: real
):
    """Pairs of each geom with the half spaces and the very large geoms."""
    g = wp.tid()
    kind = geoms.types[geoms.type[g]].kind
    for i in range(grid.wide.shape[0]):
        w = grid.wide[i]
        # two wide ones are met from the lower index
        if kind != PLANE and (grid.in_grid[g] == 1 or g < w or geoms.types[geoms.type[w]].kind == PLANE):
            t = geoms.types[geoms.type[w]]
            if t.kind == PLANE:
                Q_w = Q[geoms.row[w]]
                R = polar_rotation(linear_part(Q_w))
                grown = vec3(slack, slack, slack) * real(0.5)
                if reaches_half_space(
                    R * t.R, R * t.p + translation_part(Q_w), bounds.low[g] - grown, bounds.high[g] + grown
                ):
                    report(geoms, filter, pairs, g, w)
            elif overlap(bounds.low[g], bounds.high[g], bounds.low[w], bounds.high[w]):
                report(geoms, filter, pairs, g, w)
