"""Sparse Cholesky with B x B blocks, as Warp functions that factor one component's rows inside a kernel.

The pattern is found once on the host (`Pattern.build`); the numbers live in `diagonal`, which turns into the Cholesky
factors of the pivots, and `lower`, column by column, which turns into the blocks of L.
"""

from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace

import numpy as np
import warp as wp
from numpy.typing import NDArray

__all__ = ["Pattern", "block_cholesky", "elimination_tree"]

Int = NDArray[np.int32]


@wp.kernel(enable_backward=False)
def column_counts(
    first: wp.array(dtype=wp.int32),
    lower: wp.array(dtype=wp.int32),
    parent: wp.array(dtype=wp.int32),
    mark: wp.array(dtype=wp.int32),
    count: wp.array(dtype=wp.int32),
):
    """Elimination tree and number of blocks in every column of L, row by row (parent = -1, mark = -1 on entry)."""
    for i in range(parent.shape[0]):
        mark[i] = i
        for e in range(first[i], first[i + 1]):
            k = lower[e]
            while mark[k] != i:
                if parent[k] < 0:
                    parent[k] = i
                count[k] += 1
                mark[k] = i
                k = parent[k]


@wp.kernel(enable_backward=False)
def column_rows(
    first: wp.array(dtype=wp.int32),
    lower: wp.array(dtype=wp.int32),
    parent: wp.array(dtype=wp.int32),
    mark: wp.array(dtype=wp.int32),
    fill: wp.array(dtype=wp.int32),
    row: wp.array(dtype=wp.int32),
):
    """Row indices of every column, ascending (fill = start of each column, mark = -1 on entry)."""
    for i in range(parent.shape[0]):
        mark[i] = i
        for e in range(first[i], first[i + 1]):
            k = lower[e]
            while mark[k] != i:
                row[fill[k]] = i
                fill[k] += 1
                mark[k] = i
                k = parent[k]


@dataclass(frozen=True)
class Pattern:
    """Where L has blocks: rows row[start[k]:start[k + 1]] below the diagonal in column k, ascending."""

    start: Int
    row: Int

    @staticmethod
    def build(nodes: int, rows: Int, columns: Int) -> "Pattern":
        """From the coupled pairs rows > columns (repeats allowed)."""
        first, lower, parent, count = elimination_tree(nodes, rows, columns)
        mark = np.full(nodes, -1, np.int32)
        start = np.zeros(nodes + 1, np.int32)
        np.cumsum(count, out=start[1:])
        row = np.zeros(start[-1], np.int32)
        wp.launch(column_rows, dim=1, inputs=[first, lower, parent, mark, start[:-1].copy(), row], device="cpu")
        return Pattern(start, row)

    @staticmethod
    def of(nodes: int, rows: Int, columns: Int) -> "Pattern":
        """The coupled pairs rows > columns (repeats allowed) without the fill that L has."""
        key = np.unique(columns.astype(np.int64) * nodes + rows)
        start = np.searchsorted(key, np.arange(nodes + 1) * np.int64(nodes))
        return Pattern(start.astype(np.int32), (key % max(nodes, 1)).astype(np.int32))

    def where(self, picked: NDArray[np.bool_], other: "Pattern") -> "Pattern":
        """These columns where picked, the other's elsewhere."""
        count = np.where(picked, np.diff(self.start), np.diff(other.start))
        start = np.zeros(len(self.start), np.int32)
        np.cumsum(count, out=start[1:])
        row = np.empty(start[-1], np.int32)
        own = np.repeat(picked, count)
        row[own] = self.row[np.repeat(picked, np.diff(self.start))]
        row[~own] = other.row[np.repeat(~picked, np.diff(other.start))]
        return Pattern(start, row)

    def locate(self, rows: Int, columns: Int) -> Int:
        """Indices into row of the given blocks, all of which must be in the pattern."""
        nodes = len(self.start) - 1
        column = np.repeat(np.arange(nodes), np.diff(self.start))
        key = column.astype(np.int64) * nodes + self.row
        return np.searchsorted(key, columns.astype(np.int64) * nodes + rows).astype(np.int32)


def elimination_tree(nodes: int, rows: Int, columns: Int) -> tuple[Int, Int, Int, Int]:
    """From the coupled pairs rows > columns: start of each row and its columns, parents, blocks in each column of L."""
    key = np.unique(rows.astype(np.int64) * nodes + columns)
    lower = (key % max(nodes, 1)).astype(np.int32)
    first = np.zeros(nodes + 1, np.int32)
    np.cumsum(np.bincount(key // max(nodes, 1), minlength=nodes), out=first[1:])
    parent, mark, count = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32), np.zeros(nodes, np.int32)
    wp.launch(column_counts, dim=1, inputs=[first, lower, parent, mark, count], device="cpu")
    return first, lower, parent, count


@cache
def block_cholesky(size: int) -> SimpleNamespace:
    """Types and Warp functions for blocks of the given size."""
    B = wp.constant(size)
    real = wp.float64
    mat = wp.types.matrix(shape=(size, size), dtype=wp.float64)
    vec = wp.types.vector(length=size, dtype=wp.float64)

    @wp.struct
    class Factor:
        start: wp.array(dtype=wp.int32)  # per node, first block of its column
        row: wp.array(dtype=wp.int32)  # per block
        diagonal: wp.array(dtype=mat)  # per node
        lower: wp.array(dtype=mat)  # per block

    @wp.func
    def cholesky(A: mat) -> mat:
        """Lower factor with the reciprocals of its pivots on the diagonal."""
        L = mat()
        for j in range(B):
            s = A[j, j]
            for k in range(j):
                s -= L[j, k] * L[j, k]
            q = real(1.0) / wp.sqrt(s)
            L[j, j] = q
            for i in range(j + 1, B):
                t = A[i, j]
                for k in range(j):
                    t -= L[i, k] * L[j, k]
                L[i, j] = t * q
        return L

    @wp.func
    def divide_right(A: mat, L: mat) -> mat:
        """X with X L^T = A."""
        X = mat()
        for j in range(B):
            for r in range(B):
                t = A[r, j]
                for k in range(j):
                    t -= X[r, k] * L[j, k]
                X[r, j] = t * L[j, j]
        return X

    @wp.func
    def forward(L: mat, x: vec) -> vec:
        y = vec()
        for j in range(B):
            t = x[j]
            for k in range(j):
                t -= L[j, k] * y[k]
            y[j] = t * L[j, j]
        return y

    @wp.func
    def backward(L: mat, x: vec) -> vec:
        y = vec()
        for jj in range(B):
            j = size - 1 - jj
            t = x[j]
            for k in range(j + 1, B):
                t -= L[k, j] * y[k]
            y[j] = t * L[j, j]
        return y

    @wp.func
    def factorise(f: Factor, node0: int, node1: int):
        """Right-looking Cholesky of the nodes [node0, node1)."""
        for j in range(node0, node1):
            L = cholesky(f.diagonal[j])
            f.diagonal[j] = L
            p0 = f.start[j]
            p1 = f.start[j + 1]
            for p in range(p0, p1):
                f.lower[p] = divide_right(f.lower[p], L)
            for p in range(p0, p1):
                i = f.row[p]
                W = wp.transpose(f.lower[p])
                f.diagonal[i] = f.diagonal[i] - f.lower[p] * W
                t = f.start[i]
                for q in range(p + 1, p1):
                    below = f.row[q]
                    while f.row[t] != below:
                        t += 1
                    f.lower[t] = f.lower[t] - f.lower[q] * W

    @wp.func
    def substitute(f: Factor, x: wp.array(dtype=vec), node0: int, node1: int):
        """x <- (L L^T)^-1 x on the nodes [node0, node1)."""
        for j in range(node0, node1):
            y = forward(f.diagonal[j], x[j])
            x[j] = y
            for p in range(f.start[j], f.start[j + 1]):
                i = f.row[p]
                x[i] = x[i] - f.lower[p] * y
        for jj in range(node1 - node0):
            j = node1 - 1 - jj
            y = x[j]
            for p in range(f.start[j], f.start[j + 1]):
                y = y - x[f.row[p]] * f.lower[p]
            x[j] = backward(f.diagonal[j], y)

    return SimpleNamespace(
        size=size, mat=mat, vec=vec, Factor=Factor, factorise=factorise, substitute=substitute, cholesky=cholesky
    )
