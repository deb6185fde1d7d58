"""Sparse Cholesky by supernodes: columns of one structure make a dense panel, whose rows the lanes take eight at a time.

For graphs, where fill makes columns long. A panel of C columns holds the rows of its own columns first, rounded up to a
multiple of eight, and below them the rows they share; lane chunk * C + c has eight consecutive rows of column c.
The symbolic part runs once on the host; the numbers are factored left-looking, panel by panel, inside a kernel.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.linear.blocks import Pattern

Int = NDArray[np.int32]
real = wp.float64
WIDTH = 8
LANES = wp.constant(WIDTH)
AHEAD, MOST_AHEAD = (
    wp.constant(2),
    wp.constant(256),
)  # panels, and lanes of one at most, that are fetched before their turn
MOST_ZEROS_NARROW, MOST_ZEROS, MOST_ZEROS_WIDE = wp.constant(0.2), wp.constant(0.05), wp.constant(0.02)
lane = wp.types.vector(length=WIDTH, dtype=wp.float64)


@wp.struct
class Panels:
    """Arrays over supernodes, over their rows below, over unknowns, or over lanes."""

    first: wp.array(dtype=wp.int32)  # per supernode, one more at the end: its first unknown
    padded: wp.array(dtype=wp.int32)  # its columns, rounded up to a multiple of eight
    panel: wp.array(dtype=wp.int32)  # first lane, one more at the end
    pivot: wp.array(dtype=wp.int32)  # first place in inverse, one more at the end
    row_start: wp.array(dtype=wp.int32)  # supernodes + 1
    row: wp.array(dtype=wp.int32)  # unknowns of the rows below, ascending
    owner: wp.array(dtype=wp.int32)  # per unknown
    lanes: wp.array(dtype=lane)
    flat: wp.array(dtype=wp.float64)  # the same as scalars
    block: wp.int32  # unknowns of a node
    diagonal: wp.array(dtype=wp.float64)  # the matrix: per node its block on the diagonal, row by row
    entry_start: wp.array(dtype=wp.int32)  # per node, one more at the end: its first block below
    entry_row: wp.array(dtype=wp.int32)  # per block below: its first row in the panel of its column
    entries: wp.array(dtype=wp.float64)
    inverse: wp.array(dtype=wp.float64)  # reciprocals of the pivots
    next: wp.array(dtype=wp.int32)  # per supernode: list of those that update the same one
    head: wp.array(dtype=wp.int32)
    at: wp.array(dtype=wp.int32)  # per supernode: first row that has not been used yet
    place: wp.array(dtype=wp.int32)  # per unknown: of its row in the first column of the panel at hand
    scratch: wp.array(dtype=lane)
    scratch_flat: wp.array(dtype=wp.float64)


@wp.func
def row_place(panel: int, columns: int, row: int) -> int:
    """Of a panel's row in its first column; the next column is one lane on."""
    return (panel + row / LANES * columns) * LANES + row - row / LANES * LANES


@wp.func
def fill_panel(p: Panels, s: int):
    """Copy the columns of the matrix into their panel, whose diagonal blocks hold their upper halves too."""
    first = p.first[s]
    columns = p.first[s + 1] - first
    base = p.panel[s]
    for i in range(base, p.panel[s + 1]):
        p.lanes[i] = lane()
    size = p.block * p.block
    for node in range(first / p.block, p.first[s + 1] / p.block):
        column = node * p.block - first
        for i in range(p.block):
            to = row_place(base, columns, column + i) + column * LANES
            for j in range(p.block):
                p.flat[to + j * LANES] = p.diagonal[node * size + i * p.block + j]
        for e in range(p.entry_start[node], p.entry_start[node + 1]):
            for i in range(p.block):
                to = row_place(base, columns, p.entry_row[e] + i) + column * LANES
                for j in range(p.block):
                    p.flat[to + j * LANES] = p.entries[e * size + i * p.block + j]


@wp.func
def multiply_rows(p: Panels, at: int, left: int, columns: int):
    """scratch[i] = eight rows at `at` times row i of the eight at `left`, summed over the columns."""
    a0 = lane()
    a1 = lane()
    a2 = lane()
    a3 = lane()
    a4 = lane()
    a5 = lane()
    a6 = lane()
    a7 = lane()
    for c in range(columns):
        x = p.lanes[at + c]
        y = p.lanes[left + c]
        a0 += x * y[0]
        a1 += x * y[1]
        a2 += x * y[2]
        a3 += x * y[3]
        a4 += x * y[4]
        a5 += x * y[5]
        a6 += x * y[6]
        a7 += x * y[7]
    p.scratch[0] = a0
    p.scratch[1] = a1
    p.scratch[2] = a2
    p.scratch[3] = a3
    p.scratch[4] = a4
    p.scratch[5] = a5
    p.scratch[6] = a6
    p.scratch[7] = a7


@wp.func
def factor_panel(p: Panels, s: int):
    """Cholesky of a panel whose updates are in, eight columns at a time."""
    columns = p.first[s + 1] - p.first[s]
    base = p.panel[s]
    own = p.padded[s] / LANES
    chunks = own + (p.row_start[s + 1] - p.row_start[s] + LANES - 1) / LANES
    for d in range(own):
        c0 = d * LANES
        top = base + d * columns
        width = wp.min(int(LANES), columns - c0)
        for chunk in range(d, chunks):
            at = base + chunk * columns
            multiply_rows(p, at, top, c0)
            for i in range(width):
                a = p.lanes[at + c0 + i] - p.scratch[i]
                for m in range(i):
                    # row c0 + i of column c0 + m, which the first chunk has just made
                    a -= p.scratch[m] * p.flat[(top + c0 + m) * LANES + i]
                if chunk == d:
                    pivot = real(1.0) / wp.sqrt(a[i])
                    p.inverse[p.pivot[s] + c0 + i] = pivot
                    a = a * pivot
                    for r in range(int(LANES)):
                        if r < i:
                            a[r] = real(0.0)
                    p.lanes[at + c0 + i] = a
                else:
                    a = a * p.inverse[p.pivot[s] + c0 + i]
                    p.lanes[at + c0 + i] = a
                p.scratch[i] = a


@wp.func
def update_panel(p: Panels, t: int, s: int) -> int:
    """Take what supernode s contributes from panel t; returns the first row of s behind the columns of t."""
    columns = p.first[s + 1] - p.first[s]
    rows0 = p.row_start[s]
    count = p.row_start[s + 1] - rows0
    start = p.at[s] - rows0
    stop = int(start)
    end = p.first[t + 1]
    while stop < count and p.row[rows0 + wp.min(stop, count - 1)] < end:
        stop += 1
    below = p.panel[s] + p.padded[s] / LANES * columns
    chunks = (count + LANES - 1) / LANES
    first = p.first[t]
    for group in range(start / LANES, (stop + LANES - 1) / LANES):
        # the rows of this chunk that lie among the columns of t
        i0 = wp.max(start - group * LANES, 0)
        i1 = wp.min(stop - group * LANES, LANES)
        g = rows0 + group * LANES
        left = below + group * columns
        for chunk in range(group, chunks):
            at = below + chunk * columns
            multiply_rows(p, at, left, columns)
            for r in range(wp.min(LANES, count - chunk * LANES)):
                to = p.place[p.row[rows0 + chunk * LANES + r]] - first * LANES
                last = int(i1)
                if chunk == group:
                    last = wp.min(i1, r + 1)
                for i in range(i0, last):
                    o = to + p.row[g + i] * LANES
                    p.flat[o] = p.flat[o] - p.scratch_flat[i * LANES + r]
    return rows0 + stop


@wp.func
def forward_panel(p: Panels, x: wp.array(dtype=wp.float64), s: int):
    """Solve for the columns of a panel and take what they do to the rows below."""
    first = p.first[s]
    columns = p.first[s + 1] - first
    base = p.panel[s]
    own = p.padded[s] / LANES
    for d in range(own):
        at = base + d * columns
        c0 = d * LANES
        a = lane()
        for r in range(int(LANES)):
            if c0 + r < columns:
                a[r] = x[first + c0 + r]
        for c in range(c0):
            a -= p.lanes[at + c] * x[first + c]
        for i in range(wp.min(int(LANES), columns - c0)):
            y = a[i] * p.inverse[p.pivot[s] + c0 + i]
            x[first + c0 + i] = y
            a -= p.lanes[at + c0 + i] * y
    rows0 = p.row_start[s]
    count = p.row_start[s + 1] - rows0
    for chunk in range((count + LANES - 1) / LANES):
        at = base + (own + chunk) * columns
        a = lane()
        for c in range(columns):
            a += p.lanes[at + c] * x[first + c]
        for r in range(wp.min(int(LANES), count - chunk * LANES)):
            i = p.row[rows0 + chunk * LANES + r]
            x[i] = x[i] - a[r]


@wp.func
def lane_total(a: lane) -> real:
    return ((a[0] + a[1]) + (a[2] + a[3])) + ((a[4] + a[5]) + (a[6] + a[7]))


@wp.func
def backward_panel(p: Panels, x: wp.array(dtype=wp.float64), s: int):
    """The same with the transposed panel."""
    first = p.first[s]
    columns = p.first[s + 1] - first
    base = p.panel[s]
    own = p.padded[s] / LANES
    for c in range(columns):
        p.scratch[8 + c] = lane()
    rows0 = p.row_start[s]
    count = p.row_start[s + 1] - rows0
    for chunk in range((count + LANES - 1) / LANES):
        at = base + (own + chunk) * columns
        v = lane()
        for r in range(int(LANES)):
            if chunk * LANES + r < count:
                v[r] = x[p.row[rows0 + chunk * LANES + r]]
        for c in range(columns):
            p.scratch[8 + c] = p.scratch[8 + c] + wp.cw_mul(p.lanes[at + c], v)
    for dd in range(own):
        d = own - 1 - dd
        at = base + d * columns
        c0 = d * LANES
        v = lane()
        last = wp.min(int(LANES), columns - c0)
        for ii in range(last):
            i = last - 1 - ii
            c = c0 + i
            inside = wp.cw_mul(p.lanes[at + c], v)
            y = (x[first + c] - lane_total(p.scratch[8 + c] + inside)) * p.inverse[p.pivot[s] + c]
            x[first + c] = y
            v[i] = y
        for c in range(c0):
            p.scratch[8 + c] = p.scratch[8 + c] + wp.cw_mul(p.lanes[at + c], v)


@wp.func
def factor_panels(p: Panels, x: wp.array(dtype=wp.float64), s0: int, s1: int):
    """Left-looking Cholesky of the supernodes [s0, s1), and x <- L^-1 x while each panel is in the cache."""
    for s in range(s0, s1):
        p.head[s] = -1
    for t in range(s0, s1):
        fill_panel(p, t)
        first = p.first[t]
        columns = p.first[t + 1] - first
        for c in range(columns):
            p.place[first + c] = row_place(p.panel[t], columns, c)
        for i in range(p.row_start[t + 1] - p.row_start[t]):
            p.place[p.row[p.row_start[t] + i]] = row_place(p.panel[t], columns, p.padded[t] + i)
        s = p.head[t]
        while s >= 0:
            following = p.next[s]
            left = update_panel(p, t, s)
            p.at[s] = left
            if left < p.row_start[s + 1]:
                above = p.owner[p.row[left]]
                p.next[s] = p.head[above]
                p.head[above] = s
            s = following
        factor_panel(p, t)
        forward_panel(p, x, t)
        p.at[t] = p.row_start[t]
        if p.row_start[t + 1] > p.row_start[t]:
            above = p.owner[p.row[p.row_start[t]]]
            p.next[t] = p.head[above]
            p.head[above] = t


@wp.func_native(snippet="for (int k = 0; k < count; ++k) __builtin_prefetch(&a.data[i + k]);")
def fetch(a: wp.array(dtype=lane), i: int, count: int):
    """Start to bring lanes into the cache that are needed soon."""
    ...


@wp.func
def substitute_ahead(p: Panels, x: wp.array(dtype=wp.float64), s0: int, s1: int):
    """x <- L^-1 x."""
    for s in range(s0, s1):
        forward_panel(p, x, s)


@wp.func
def substitute_back(p: Panels, x: wp.array(dtype=wp.float64), s0: int, s1: int):
    """x <- L^-T x."""
    for back in range(s1 - s0):
        s = s1 - 1 - back
        # the machine foresees only what lies in ascending order
        ahead = wp.max(s - AHEAD, s0)
        fetch(p.lanes, p.panel[ahead], wp.min(p.panel[ahead + 1] - p.panel[ahead], MOST_AHEAD))
        backward_panel(p, x, s)


@wp.func
def solve_panels(p: Panels, x: wp.array(dtype=wp.float64), s0: int, s1: int):
    """x <- (L L^T)^-1 x."""
    substitute_ahead(p, x, s0, s1)
    substitute_back(p, x, s0, s1)


@wp.kernel(enable_backward=False)
def join_columns(
    columns: wp.array(dtype=wp.int32),
    below: wp.array(dtype=wp.int32),
    parent: wp.array(dtype=wp.int32),
    component: wp.array(dtype=wp.int32),
    top: wp.array(dtype=wp.int32),
    zeros: wp.array(dtype=wp.float64),
):
    """Join supernodes with the one behind them, their parent, where that stores few zeros (top = own number on entry)."""
    n = columns.shape[0]
    for back in range(n - 1):
        s = n - 2 - back
        t = top[s + 1]
        if parent[s] >= 0 and top[parent[s]] == t and component[s] == component[t]:
            own = wp.float64(columns[s])
            joined = own + wp.float64(columns[t])
            extra = zeros[t] + own * wp.float64(columns[t] + below[t] - below[s])
            stored = joined * (joined + real(1.0)) * real(0.5) + joined * wp.float64(below[t])
            most = real(MOST_ZEROS_WIDE)
            if joined <= real(48.0):
                most = real(MOST_ZEROS)
            if joined <= real(24.0):
                most = real(MOST_ZEROS_NARROW)
            if extra <= most * stored:
                top[s] = t
                columns[t] = int(joined)
                zeros[t] = extra


@dataclass(frozen=True)
class Supernodes:
    """Where the panels are.

    Attributes:
        first: (s + 1,) first unknown of each supernode.
        start: (c + 1,) first supernode of each component.
        padded, panel, pivot, row_start, row, owner: as in `Panels`.
        lanes: lanes in all.
        block: unknowns of a node.
    """

    first: Int
    start: Int
    padded: Int
    panel: Int
    pivot: Int
    row_start: Int
    row: Int
    owner: Int
    lanes: int
    block: int

    @staticmethod
    def build(pattern: Pattern, node_start: Int, block: int) -> Supernodes:
        """From the pattern of L by nodes of `block` unknowns, in an order in which children precede parents."""
        nodes = len(pattern.start) - 1
        count = np.diff(pattern.start)
        parent = np.full(nodes, -1)
        parent[count > 0] = pattern.row[pattern.start[:-1][count > 0]]
        joined = np.zeros(nodes, bool)
        joined[1:] = (parent[:-1] == np.arange(1, nodes)) & (count[:-1] == count[1:] + 1)
        joined[node_start[:-1][node_start[:-1] < nodes]] = False
        lead = np.flatnonzero(~joined)
        first_node = np.append(lead, nodes)
        last = first_node[1:] - 1
        above = parent[last]
        top = np.arange(len(lead), dtype=np.int32)
        if len(lead):
            owner = np.where(above < 0, -1, np.searchsorted(lead, above, "right") - 1)
            component = np.searchsorted(node_start, lead, "right")
            widths = np.diff(first_node) * block, count[last] * block, owner, component
            arrays = [np.ascontiguousarray(x, np.int32) for x in widths]
            wp.launch(join_columns, dim=1, inputs=[*arrays, top, np.zeros(len(lead))], device="cpu")
        lead = lead[np.append(True, top[1:] != top[:-1])[: len(lead)]]
        first_node = np.append(lead, nodes)
        last = first_node[1:] - 1
        below = count[last]
        row_start = np.zeros(len(lead) + 1, np.int64)
        np.cumsum(below * block, out=row_start[1:])
        within = np.arange(int(below.sum())) - np.repeat(np.cumsum(below) - below, below)
        row_nodes = pattern.row[np.repeat(pattern.start[last], below) + within]
        row = (row_nodes[:, None].astype(np.int64) * block + np.arange(block)).ravel()
        first = first_node * block
        columns = np.diff(first)
        padded = -(-columns // WIDTH) * WIDTH
        chunks = padded // WIDTH + -(-np.diff(row_start) // WIDTH)
        size = chunks * columns
        owner = np.repeat(np.arange(len(lead)), columns)
        pivot = np.append(0, np.cumsum(padded))
        ints = [np.asarray(x, np.int32) for x in (padded, np.append(0, np.cumsum(size)), pivot)]
        return Supernodes(
            first.astype(np.int32), np.searchsorted(lead, node_start).astype(np.int32), *ints,
            row_start.astype(np.int32), row.astype(np.int32), owner.astype(np.int32), int(size.sum()), block,
        )  # fmt: skip

    def first_rows(self, couplings: Pattern, picked: NDArray[np.bool_]) -> Int:
        """First row of each block of the picked columns of nodes in the panel of its column, 0 in other columns."""
        nodes = len(couplings.start) - 1
        column = np.repeat(np.arange(nodes), np.diff(couplings.start))
        used = np.flatnonzero(picked[column])
        u = couplings.row[used].astype(np.int64) * self.block
        s = self.owner[column[used] * self.block]
        local = u - self.first[s]
        outside = self.owner[u] != s
        unknowns = len(self.owner)
        key = np.repeat(np.arange(len(self.padded)), np.diff(self.row_start)).astype(np.int64) * unknowns + self.row
        found = np.searchsorted(key, s[outside].astype(np.int64) * unknowns + u[outside])
        local[outside] = self.padded[s[outside]] + found - self.row_start[s[outside]]
        result = np.zeros(len(column), np.int32)
        result[used] = local
        return result

    def device(
        self, couplings: Pattern, picked: NDArray[np.bool_], start: wp.array, diagonal: wp.array, entries: wp.array
    ) -> Panels:
        """Arrays on the device: the factor of a matrix whose blocks lie in `diagonal` and, by `couplings`, in `entries`.

        Args:
            couplings: where the matrix has blocks below the diagonal.
            picked: nodes that the panels are used for.
            start: couplings.start on the device.
            diagonal, entries: blocks as scalars, row by row.
        """

        def ints(values: Int) -> wp.array:
            return wp.array(np.ascontiguousarray(values, np.int32), dtype=wp.int32, device="cpu")

        p = Panels()
        p.first, p.padded, p.panel, p.pivot = ints(self.first), ints(self.padded), ints(self.panel), ints(self.pivot)
        p.row_start, p.row, p.owner = ints(self.row_start), ints(self.row), ints(self.owner)
        p.block, p.entry_start, p.entry_row = self.block, start, ints(self.first_rows(couplings, picked))
        p.diagonal, p.entries = diagonal, entries
        lanes = self.lanes if picked.any() else 0
        p.lanes = wp.zeros(lanes, dtype=lane, device="cpu")
        p.flat = wp.array(ptr=p.lanes.ptr, shape=(lanes * WIDTH,), dtype=wp.float64, device="cpu", copy=False)
        p.inverse = wp.zeros(int(self.padded.sum()), dtype=wp.float64, device="cpu")
        p.next, p.head, p.at = (ints(np.zeros(len(self.padded))) for _ in range(3))
        p.place = ints(np.zeros(len(self.owner)))
        room = 8 + int(self.padded.max(initial=0))
        p.scratch = wp.zeros(room, dtype=lane, device="cpu")
        p.scratch_flat = wp.array(ptr=p.scratch.ptr, shape=(room * WIDTH,), dtype=wp.float64, device="cpu", copy=False)
        return p
