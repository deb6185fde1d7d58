"""Which components make a forest, and their nodes in batches of lanes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.arrays import Int
from linkwork.mabd.lanes import WIDTH
from linkwork.mabd.laws import FORCE, PASSIVE, PD
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model
from linkwork.scene.joints import JointId

if TYPE_CHECKING:
    from linkwork.mabd.layout import LawTable

FREE_ROOT, ON_PARENT, ON_ANCHOR = 0, 1, 2  # how a node hangs
LEAST_FILL = 0.4  # of the lanes must be bodies, or the scalar paths are faster
TURNS = (3, 4, 5)


@wp.kernel(enable_backward=False)
def root_trees(
    first: wp.array(dtype=wp.int32),
    neighbour: wp.array(dtype=wp.int32),
    edge: wp.array(dtype=wp.int32),
    roots: wp.array(dtype=wp.int32),
    parent: wp.array(dtype=wp.int32),
    parent_joint: wp.array(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    height: wp.array(dtype=wp.int32),
    leaf: wp.array(dtype=wp.int32),
):
    """Parents of all nodes (-2 on entry), their heights, and the leaf at the end of each node's longest path."""
    tail = int(0)
    for r in range(roots.shape[0]):
        head = tail
        order[tail] = roots[r]
        parent[roots[r]] = -1
        tail += 1
        while head < tail:
            node = order[head]
            head += 1
            for e in range(first[node], first[node + 1]):
                other = neighbour[e]
                if parent[other] == -2:
                    parent[other] = node
                    parent_joint[other] = edge[e]
                    order[tail] = other
                    tail += 1
    for back in range(tail):
        node = order[tail - 1 - back]
        if height[node] == 0:
            leaf[node] = node
        up = parent[node]
        if up >= 0 and height[node] + 1 > height[up]:
            height[up] = height[node] + 1
            leaf[up] = leaf[node]


def plant_forests(model: Model, graph: JointGraph, table: LawTable, free: NDArray[np.bool_]) -> dict[int, Batches]:
    """Forests by the rows of their joints: 3 for trees of plain balls, 6 for trees of elastic balls and fixed joints.

    Their components are among the free ones, have at most one anchor, and enough bodies of one height, alone or side by
    side, to fill the lanes.
    """
    plain, elastic = eligible_trees(model, graph, table)
    picked = {size: np.flatnonzero(fits & free).astype(np.int32) for size, fits in ((3, plain), (6, elastic))}
    planted = {size: filled_batches(model, graph, components) for size, components in picked.items()}
    return {size: batches for size, batches in planted.items() if batches is not None}


def eligible_trees(model: Model, graph: JointGraph, table: LawTable) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Trees of plain balls, and trees of elastic balls and fixed joints; at most one anchor each."""
    components = len(graph.cycles)
    tree = graph.cycles == 0
    if model.joints == 0:
        return tree, np.zeros(components, bool)
    moves = np.append(model.motion == 0, False)
    ends = moves[model.joint_base].astype(np.int64) + moves[model.joint_follower]
    owned = ends > 0
    owner = graph.joint_component
    anchors = np.bincount(owner[ends == 1], minlength=components)
    tree = tree & (anchors <= 1)
    line = np.isinf(table.columns["lower"]) & np.isinf(table.columns["upper"])
    line &= (table.columns["cone"] == 0) & (table.columns["friction"] == 0)
    line &= np.isin(table.columns["drive"], (PASSIVE, PD, FORCE))
    stiff = table.columns["stiffness"] + table.columns["damping"]
    stiff = stiff + np.where(
        table.columns["drive"] == PD, table.columns["drive_stiffness"] + table.columns["drive_damping"], 0.0
    )
    line &= (stiff > 0) & np.isin(table.slot, TURNS)
    laws = np.bincount(table.joint, minlength=model.joints)
    lines = np.bincount(table.joint[line], minlength=model.joints)
    ball, fixed = model.joint_kind == JointId.BALL, model.joint_kind == JointId.FIXED
    plain_joint = ball & (laws == 0)
    elastic_joint = (ball & (laws == 3) & (lines == 3)) | (fixed & (laws == 0))
    plain, elastic = tree.copy(), tree.copy()
    plain[owner[owned & ~plain_joint]] = False
    elastic[owner[owned & ~elastic_joint]] = False
    jointed = np.zeros(components, bool)
    jointed[owner[owned]] = True
    return plain, elastic & jointed


@wp.kernel(enable_backward=False)
def go_deep_first(
    first: wp.array(dtype=wp.int32), below: wp.array(dtype=wp.int32), hung: wp.array(dtype=wp.int32),
    cursor: wp.array(dtype=wp.int32), stack: wp.array(dtype=wp.int32), rank: wp.array(dtype=wp.int32),
):  # fmt: skip
    """Number batches so that all below one come before it, and as few as possible in between; rank is -1 on entry."""
    count = int(0)
    for top in range(hung.shape[0]):
        if hung[top] == 0:
            depth = int(0)
            stack[0] = top
            cursor[top] = first[top]
            while depth >= 0:
                batch = stack[depth]
                if cursor[batch] < first[batch + 1]:
                    other = below[cursor[batch]]
                    cursor[batch] += 1
                    if cursor[other] < 0:
                        cursor[other] = first[other]
                        depth += 1
                        stack[depth] = other
                else:
                    rank[batch] = count
                    count += 1
                    depth -= 1


@wp.kernel(enable_backward=False)
def take_turns(
    reader: wp.array(dtype=wp.int32), waiting: wp.array(dtype=wp.int32), following: wp.array(dtype=wp.int32),
    free: wp.array(dtype=wp.int32), place: wp.array(dtype=wp.int32),
):  # fmt: skip
    """Give each batch a place until its last reader is done; waiting: -1 on entry, lists of batches by reader."""
    left = int(0)
    places = int(0)
    for batch in range(reader.shape[0]):
        if left > 0:
            left -= 1
            place[batch] = free[left]
        else:
            place[batch] = places
            places += 1
        following[batch] = waiting[reader[batch]]
        waiting[reader[batch]] = batch
        done = waiting[batch]
        while done >= 0:
            free[left] = place[done]
            left += 1
            done = following[done]


def deep_first(total: int, above: NDArray[np.int64], below: NDArray[np.int64]) -> tuple[Int, Int]:
    """Of batches and their pairs of parent and child: a rank that keeps relatives together, and places for records."""
    pairs = np.unique(above * total + below)
    above, below = pairs // total, pairs % total
    first = np.zeros(total + 1, np.int32)
    np.cumsum(np.bincount(above, minlength=total), out=first[1:])
    hung = np.bincount(below, minlength=total).astype(np.int32)
    rank, stack, place = (np.zeros(total, np.int32) for _ in range(3))
    cursor, waiting = np.full(total, -1, np.int32), np.full(total, -1, np.int32)
    inputs = [first, below.astype(np.int32), hung, cursor, stack, rank]
    wp.launch(go_deep_first, dim=1, inputs=inputs, device="cpu")
    reader = np.arange(total, dtype=np.int32)  # roots are read at once
    np.maximum.at(reader, rank[below], rank[above])
    following = np.zeros(total, np.int32)
    wp.launch(take_turns, dim=1, inputs=[reader, waiting, following, stack, place], device="cpu")
    return rank, place


@dataclass
class Batches:
    """Nodes in lanes. Arrays over batches, rounds (of children) or slots as in `Forest`."""

    components: Int
    groups: int
    first_batch: Int
    hangs: Int
    rounds: Int
    first_round: Int
    child: Int
    source: Int
    place: Int  # per batch: of its record
    node: Int  # per slot
    counted: NDArray[np.bool_]
    joint: Int  # per node: joint to its parent or anchor, -1 for a free root
    is_follower: NDArray[np.bool_]  # per node: of that joint
    component_group: Int


def number_runs(keys: list[NDArray[np.integer]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of sorted keys: index of the run each entry is in, and its place in the run."""
    n = len(keys[0])
    change = np.ones(n, bool)
    change[1:] = np.any([key[1:] != key[:-1] for key in keys], axis=0)
    run = np.cumsum(change) - 1
    return run, np.arange(n) - np.flatnonzero(change)[run]


def arrange(model: Model, graph: JointGraph, picked: Int) -> Batches:
    """Root the trees of the picked components and put their nodes into batches of one height."""
    chosen = np.zeros(len(graph.cycles), bool)
    chosen[picked] = True
    sizes = np.diff(graph.body_start)
    component = np.repeat(np.arange(len(sizes)), sizes)
    inside = chosen[component]
    bodies = graph.order[inside]
    owner = component[inside]
    n = len(bodies)
    place = np.full(model.bodies + 1, -1, np.int64)
    place[bodies] = np.arange(n)
    place_a, place_b = place[model.joint_base], place[model.joint_follower]
    inner = np.flatnonzero((place_a >= 0) & (place_b >= 0))
    outer = np.flatnonzero((place_a >= 0) != (place_b >= 0))
    ends = np.concatenate([place_a[inner], place_b[inner]])
    others = np.concatenate([place_b[inner], place_a[inner]])
    by_end = np.argsort(ends, kind="stable")
    first = np.zeros(n + 1, np.int32)
    np.cumsum(np.bincount(ends, minlength=n), out=first[1:])
    roots = np.flatnonzero(np.concatenate([[True], owner[1:] != owner[:-1]])).astype(np.int32)
    rank = np.cumsum(np.concatenate([[True], owner[1:] != owner[:-1]])) - 1  # component, counted among the picked
    hung = np.where(place_a[outer] >= 0, place_a[outer], place_b[outer])
    roots[rank[hung]] = hung
    parent, joint = np.full(n, -2, np.int32), np.full(n, -1, np.int32)
    order, height, leaf = np.zeros(n, np.int32), np.zeros(n, np.int32), np.zeros(n, np.int32)
    wp.launch(
        root_trees, dim=1, device="cpu",
        inputs=[
            first, others[by_end].astype(np.int32), np.tile(inner, 2)[by_end].astype(np.int32), roots, parent, joint,
            order, height, leaf,
        ],
    )  # fmt: skip
    joint[hung] = outer
    hangs = np.where(parent >= 0, ON_PARENT, FREE_ROOT)
    hangs[hung] = ON_ANCHOR
    kids = np.bincount(parent[parent >= 0], minlength=n)
    is_follower = np.append(place_b, -1)[joint] == np.arange(n)

    # trees side by side until the lanes are full; like trees are next to each other
    count = len(roots)
    tall = height[roots] + 1
    many = np.bincount(rank, minlength=count)
    by_shape = np.lexsort((np.arange(count), many, tall))
    width = many[by_shape] / tall[by_shape]
    group_of = np.empty(count, np.int64)
    group_of[by_shape] = np.floor((np.cumsum(width) - width) / WIDTH + 1e-9)
    _, group_of = np.unique(group_of, return_inverse=True)
    group = group_of[rank]

    kind = (height.astype(np.int64) * 3 + hangs) * 3 + np.minimum(kids, 2)
    seat = np.lexsort((leaf, kids, kind, group))
    run, within = number_runs([group[seat], kind[seat]])
    batches_of_run = -(-np.bincount(run) // WIDTH)
    first_of_run = np.cumsum(batches_of_run) - batches_of_run
    total = int(batches_of_run.sum())
    batch = np.empty(n, np.int64)
    batch[seat] = first_of_run[run] + within // WIDTH
    below = np.flatnonzero(parent >= 0)
    rank_of_batch, place_of_record = deep_first(total, batch[parent[below]], batch[below])
    slot = np.empty(n, np.int64)
    slot[seat] = rank_of_batch[batch[seat]] * WIDTH + within % WIDTH
    node = np.full(total * WIDTH, -1, np.int64)
    node[slot] = np.arange(n)
    counted = node >= 0
    filled = counted.reshape(total, WIDTH).sum(axis=1)
    last = np.arange(total) * WIDTH + filled - 1
    node = np.where(counted, node, np.repeat(node[last], WIDTH))

    lead = node[::WIDTH]
    rounds = kids[node].reshape(total, WIDTH).max(axis=1)
    first_round = np.cumsum(rounds) - rounds
    child = np.full((int(rounds.sum()), WIDTH), -1, np.int64)
    below = below[np.lexsort((below, parent[below]))]
    if len(below):
        _, ordinal = number_runs([parent[below]])
        up = slot[parent[below]]
        child[first_round[up // WIDTH] + ordinal, up % WIDTH] = slot[below]
    # lanes left over repeat the last body, with its children
    owner_batch = np.repeat(np.arange(total), rounds)
    lanes = np.arange(WIDTH)[None, :]
    over = lanes >= filled[owner_batch][:, None]
    child = np.where(over, child[np.arange(len(child)), filled[owner_batch] - 1][:, None], child)
    source = child[:, 0] // WIDTH if len(child) else np.zeros(0, np.int64)
    aligned = (child == source[:, None] * WIDTH + lanes) | over
    straight = aligned.all(axis=1) & (rounds[owner_batch] == 1) & (filled[np.maximum(source, 0)] == filled[owner_batch])
    source = np.where(straight, source, -1)
    groups = int(group_of.max()) + 1
    first_batch = np.searchsorted(group[lead], np.arange(groups + 1))
    ints = [np.asarray(x, np.int32) for x in (first_batch, hangs[lead], rounds, first_round, child.ravel(), source)]
    return Batches(
        picked, groups, *ints, place_of_record, bodies[node].astype(np.int32), counted,
        *_by_body(model, bodies, joint, is_follower), group_of.astype(np.int32),
    )  # fmt: skip


def _by_body(model: Model, bodies: Int, joint: Int, is_follower: NDArray[np.bool_]) -> tuple[Int, NDArray[np.bool_]]:
    joints, followers = np.full(model.bodies, -1, np.int32), np.zeros(model.bodies, bool)
    joints[bodies], followers[bodies] = joint, is_follower
    return joints, followers


def filled_batches(model: Model, graph: JointGraph, picked: Int) -> Batches | None:
    """Batches of those of the picked components whose groups fill enough of their lanes."""
    while len(picked):
        batches = arrange(model, graph, picked)
        lanes = np.diff(batches.first_batch) * WIDTH
        counted = np.add.reduceat(batches.counted.reshape(-1, WIDTH).sum(axis=1), batches.first_batch[:-1])
        fill = (counted >= LEAST_FILL * lanes)[batches.component_group]
        if fill.all():
            return batches
        picked = picked[fill]
    return None
