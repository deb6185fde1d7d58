"""Orders of elimination: what they cost, and what they must not do."""

import numpy as np
import pytest

from linkwork.linear.ordering import LEAF, factor_work, fill_reducing, minimum_degree, nested_dissection


def grid(side):
    """Points of a square grid and the pairs of neighbours."""
    points = np.stack([*np.divmod(np.arange(side * side), side), np.zeros(side * side)], axis=1).astype(float)
    node = np.arange(side * side).reshape(side, side)
    right, down = (node[:, 1:], node[:, :-1]), (node[1:], node[:-1])
    rows, columns = (np.concatenate([a.ravel(), b.ravel()]) for a, b in zip(right, down, strict=True))
    return points, rows, columns


def net(side):
    """Joints of a net, two to a link: where they are, and the pairs that share a link or a knot."""
    knots, ends, other = grid(side)
    links = np.arange(len(ends))
    points = np.concatenate([0.6 * knots[ends] + 0.4 * knots[other], 0.4 * knots[ends] + 0.6 * knots[other]])
    knot = np.concatenate([ends, other])
    pairs = [(links, links + len(links))]
    for shift in (1, 2, 3):  # at most four joints to a knot
        order = np.argsort(knot, kind="stable")
        same = knot[order[shift:]] == knot[order[:-shift]]
        pairs.append((order[shift:][same], order[:-shift][same]))
    return points, *(np.concatenate(part) for part in zip(*pairs, strict=True))


def work_of(order, rows, columns):
    return factor_work(order.astype(np.int32), rows, columns).sum()


def dissected(points, rows, columns):
    return nested_dissection(points, np.zeros(len(points), int), rows, columns)


@pytest.mark.parametrize("side", [20, 50, 100])
def test_cutting_a_grid_costs_less_than_theory_allows(side):
    """829/84 multiplications times the cube of the side (George and Liu 1981); ours are whole squares, twice as many."""
    points, rows, columns = grid(side)
    assert work_of(dissected(points, rows, columns), rows, columns) < 2.0 * 829.0 / 84.0 * side**3


def test_cutting_a_net_of_joints_beats_least_degree():
    points, rows, columns = net(40)
    least_degree = minimum_degree(len(points), rows, columns)
    assert work_of(dissected(points, rows, columns), rows, columns) < 0.7 * work_of(least_degree, rows, columns)


@pytest.mark.parametrize("nodes", [1, LEAF, LEAF + 1, 400])
def test_nodes_at_one_place_are_ordered_by_least_degree(nodes):
    """Joints of one point, or a graph whose shape says nothing, leave nothing to cut."""
    rng = np.random.default_rng(nodes)
    rows, columns = np.arange(1, nodes), np.array([rng.integers(k) for k in range(1, nodes)], int)
    order = nested_dissection(np.zeros((nodes, 3)), np.zeros(nodes, int), rows, columns)
    assert work_of(order, rows, columns) == work_of(minimum_degree(nodes, rows, columns), rows, columns)


def test_each_component_gets_the_better_order():
    """A net is better cut; the same net with its joints thrown about in space is better not."""
    points, rows, columns = net(30)
    count = len(points)
    thrown = np.random.default_rng(0).normal(size=(count, 3))
    component = np.repeat([1, 0], count)
    order = fill_reducing(
        np.concatenate([points, thrown]), component, np.append(rows, rows + count), np.append(columns, columns + count)
    )
    assert (np.sort(order) == np.arange(2 * count)).all()
    assert (component[order] == np.repeat([0, 1], count)).all()
    cut, other = order[count:], order[:count] - count
    assert work_of(cut, rows, columns) == work_of(dissected(points, rows, columns), rows, columns)
    assert work_of(other, rows, columns) == work_of(minimum_degree(count, rows, columns), rows, columns)
    assert work_of(other, rows, columns) < work_of(dissected(thrown, rows, columns), rows, columns)
