"""Orders of elimination that cause little fill: by least degree, and by cutting a graph in space again and again."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.linear.blocks import elimination_tree

__all__ = ["fill_reducing", "minimum_degree", "nested_dissection"]

Int = NDArray[np.int32]
LEAF = 50  # nodes below which a part is ordered by least degree
CUTS = np.linspace(0.4, 0.6, 9)  # shares of a part's nodes below a cut that are tried
PARTING = 2


@wp.kernel(enable_backward=False)
def postorder_places(
    parent: wp.array(dtype=wp.int32),
    size: wp.array(dtype=wp.int32),
    end: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
):
    """Places of the nodes of an elimination tree in an order in which every subtree is contiguous (size = 1 on entry)."""
    n = parent.shape[0]
    for k in range(n):
        if parent[k] >= 0:
            size[parent[k]] += size[k]
    free = int(n)
    for back in range(n):
        k = n - 1 - back
        last = free - 1
        if parent[k] >= 0:
            last = end[parent[k]]
            end[parent[k]] = last - size[k]
        else:
            free -= size[k]
        place[k] = last
        end[k] = last - 1


def placed(place: Int, rows: Int, columns: Int) -> tuple[Int, Int]:
    """The coupled pairs, later above earlier, when each node is eliminated at its place."""
    above, below = np.maximum(place[rows], place[columns]), np.minimum(place[rows], place[columns])
    return above[above != below], below[above != below]


def contiguous_subtrees(place: Int, rows: Int, columns: Int) -> Int:
    """An order of the same fill in which every subtree of the elimination tree is contiguous."""
    nodes = len(place)
    parent = elimination_tree(nodes, *placed(place, rows, columns))[2]
    contiguous = np.empty(nodes, np.int32)
    ends = np.zeros(nodes, np.int32)
    wp.launch(postorder_places, dim=1, inputs=[parent, np.ones(nodes, np.int32), ends, contiguous], device="cpu")
    order = np.empty(nodes, np.int32)
    order[contiguous[place]] = np.arange(nodes, dtype=np.int32)
    return order


def fill_reducing(points: NDArray[np.float64], component: Int, rows: Int, columns: Int) -> Int:
    """The better order of each component, by the work of its factor: the one of least degree or that of cuts in space.

    Args:
        points: (n, 3) where the nodes lie.
        component: of each node.
        rows, columns: coupled pairs, none of a node with itself.

    Returns:
        The nodes in order, components one after the other.
    """
    orders = [
        minimum_degree(len(points), rows, columns),
        nested_dissection(points, component, rows, columns),
    ]
    work = [np.bincount(component, factor_work(order, rows, columns)) for order in orders]
    best = np.argmin(work, axis=0)
    order = np.concatenate([order[best[component[order]] == k] for k, order in enumerate(orders)])
    return order[np.argsort(component[order], kind="stable")]


def factor_work(order: Int, rows: Int, columns: Int) -> NDArray[np.float64]:
    """Multiplications, in units of a block's, that each node costs when the graph is factored in this order."""
    place = np.empty(len(order), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    count = elimination_tree(len(order), *placed(place, rows, columns))[3]
    return ((count[place] + 1.0) ** 2).astype(np.float64)


def minimum_degree(nodes: int, rows: Int, columns: Int) -> Int:
    """Fill-reducing elimination order of a symmetric graph, subtree by subtree: result[k] = node eliminated k-th."""
    from scipy.sparse import coo_matrix, identity
    from scipy.sparse.linalg import splu

    graph = coo_matrix((np.full(len(rows), -1.0), (rows, columns)), shape=(nodes, nodes))
    graph = graph + graph.T
    degree = -np.asarray(graph.sum(axis=1)).ravel()
    matrix = (graph + identity(nodes).multiply(degree + 1.0)).tocsc()
    factor = splu(matrix, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
    return contiguous_subtrees(factor.perm_c.astype(np.int32), rows, columns)


def nested_dissection(points: NDArray[np.float64], component: Int, rows: Int, columns: Int) -> Int:
    """Fill-reducing order of a graph whose nodes lie at points (n, 3): two halves first, then the nodes that part them.

    Every component is cut again and again, across its longest side where few nodes join the halves, down to parts that
    are ordered by least degree.
    """
    nodes = len(points)
    part = np.unique(component, return_inverse=True)[1]  # numbered in the order of elimination
    whole = np.bincount(part)[part] <= LEAF  # not to be cut any more
    while not whole.all():
        own = np.flatnonzero(~whole)
        index = np.full(nodes, -1)
        index[own] = np.arange(len(own))
        within = (part[rows] == part[columns]) & ~whole[rows]
        side = np.zeros(nodes, np.int64)
        side[own] = halves(points[own], part[own], index[rows[within]], index[columns[within]])
        before = np.bincount(part)[part]
        part = np.unique(3 * part + side, return_inverse=True)[1]
        size = np.bincount(part)[part]
        whole |= (side == PARTING) | (size <= LEAF) | (size == before)
    within = part[rows] == part[columns]
    inner = minimum_degree(nodes, rows[within], columns[within])
    place = np.empty(nodes, np.int32)
    place[inner[np.argsort(part[inner], kind="stable")]] = np.arange(nodes, dtype=np.int32)
    return contiguous_subtrees(place, rows, columns)


def halves(points: NDArray[np.float64], part: Int, a: Int, b: Int) -> Int:
    """For each node whether it lies in the lower half of its part, in the upper, or parts them; all 0 where no cut helps.

    Args:
        points, part: of each node.
        a, b: coupled nodes of one part.
    """
    part = np.unique(part, return_inverse=True)[1]
    size = np.bincount(part)
    by_part = np.argsort(part, kind="stable")
    first = np.cumsum(size) - size
    low = np.minimum.reduceat(points[by_part], first)
    extent = np.maximum.reduceat(points[by_part], first) - low
    axis = np.argmax(extent, axis=1)
    length = extent.max(axis=1)
    x = points[np.arange(len(part)), axis[part]]
    ordered = x[np.lexsort((x, part))]
    side, best = np.zeros(len(part), np.int64), np.full(len(size), np.inf)
    for share in CUTS:
        cut = ordered[first + (share * size).astype(np.int64)] - 1e-6 * length  # nodes side by side stay together
        upper = x >= cut[part]
        share_above = np.bincount(part, upper) / size
        across = upper[a] != upper[b]
        for half in (False, True):
            parting = np.zeros(len(part), bool)
            parting[np.where(upper[a] == half, a, b)[across]] = True
            cost = np.bincount(part, parting) * (1.0 + 2.0 * np.abs(share_above - 0.5))
            cost[(share_above == 0.0) | (share_above == 1.0)] = np.inf
            better = cost < best
            best[better] = cost[better]
            side = np.where(better[part], np.where(parting, PARTING, upper), side)
    return side
