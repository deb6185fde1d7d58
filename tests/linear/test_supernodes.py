"""Cholesky by supernodes against NumPy."""

import numpy as np
import pytest
import warp as wp

from linkwork.linear.blocks import Pattern
from linkwork.linear.ordering import minimum_degree
from linkwork.linear.supernodes import Panels, Supernodes, factor_panels, solve_panels, substitute_back


@wp.kernel(enable_backward=False)
def factor_and_solve(p: Panels, x: wp.array(dtype=wp.float64), y: wp.array(dtype=wp.float64), supernodes: int):
    factor_panels(p, x, 0, supernodes)
    substitute_back(p, x, 0, supernodes)
    solve_panels(p, y, 0, supernodes)


def random_graph(rng, nodes):
    """Coupled pairs of nodes: a grid with some of its edges missing, and a few far ones."""
    width = int(np.ceil(np.sqrt(nodes)))
    pairs = [(i, i + 1) for i in range(nodes - 1) if (i + 1) % width] + [(i, i + width) for i in range(nodes - width)]
    pairs = [pair for pair in pairs if rng.random() < 0.9]
    pairs += [tuple(int(x) for x in rng.choice(nodes, 2, replace=False)) for _ in range(nodes // 10)]
    return np.array(pairs, np.int64).reshape(-1, 2)


def ordered(nodes, pairs):
    """Rows above columns of the pairs, nodes numbered in an order of little fill in which children precede parents."""
    order = minimum_degree(nodes, pairs[:, 0], pairs[:, 1])
    rank = np.empty(nodes, np.int64)
    rank[order] = np.arange(nodes)
    ends = np.sort(rank[pairs], axis=1)
    return ends[:, 1], ends[:, 0]


@pytest.mark.parametrize("block", [3, 6])
@pytest.mark.parametrize("nodes", [1, 2, 7, 30, 150])
def test_factor_and_solve_agree_with_numpy(nodes, block):
    rng = np.random.default_rng([nodes, block])
    rows, columns = ordered(nodes, random_graph(rng, nodes)) if nodes > 1 else (np.zeros(0, np.int64),) * 2
    n = nodes * block
    A = np.zeros((n, n))
    for i, j in zip(rows, columns, strict=True):
        A[i * block : (i + 1) * block, j * block : (j + 1) * block] = rng.normal(size=(block, block))
    A = A + A.T
    A += np.diag(np.abs(A).sum(axis=1) + rng.uniform(0.1, 1.0, n))
    couplings = Pattern.of(nodes, rows, columns)
    supernodes = Supernodes.build(Pattern.build(nodes, rows, columns), np.array([0, nodes], np.int32), block)
    count = len(supernodes.padded)
    blocks = A.reshape(nodes, block, nodes, block).transpose(0, 2, 1, 3)
    column = np.repeat(np.arange(nodes), np.diff(couplings.start))
    diagonal, entries = (
        wp.array(np.ascontiguousarray(values).ravel(), dtype=wp.float64, device="cpu")
        for values in (blocks[np.arange(nodes), np.arange(nodes)], blocks[couplings.row, column])
    )
    start = wp.array(couplings.start, dtype=wp.int32, device="cpu")
    p = supernodes.device(couplings, np.ones(nodes, bool), start, diagonal, entries)
    b = rng.normal(size=n)
    x, y = (wp.array(b, dtype=wp.float64, device="cpu") for _ in range(2))
    wp.launch(factor_and_solve, dim=1, inputs=[p, x, y, count], device="cpu")
    for solution in (x, y):
        np.testing.assert_allclose(solution.numpy(), np.linalg.solve(A, b), rtol=1e-10, atol=1e-12)
