"""From a Model to solver order: which component takes which path, and the arrays each path reads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.contact.filters import can_any_touch
from linkwork.linear.blocks import Pattern
from linkwork.linear.ordering import fill_reducing
from linkwork.mabd.trees import Batches, plant_forests
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model
from linkwork.scene.joints import CATALOGUE, JointId

Array = NDArray[np.float64]
Int = NDArray[np.int32]

LONG_CHAIN = 32  # links from which on a chain is faster in lanes by itself than in a forest with others


def unique_rows(rows: Array) -> tuple[Array, Int]:
    """Distinct rows and, for each row, which of them it is."""
    if len(rows) == 0:
        return rows[:0], np.zeros(0, np.int32)
    if (rows == rows[0]).all():
        return rows[:1].copy(), np.zeros(len(rows), np.int32)
    _, where, kind = np.unique(fingerprints(rows), return_index=True, return_inverse=True)
    table = rows[where]
    if not (table[kind] == rows).all():
        table, kind = np.unique(rows, axis=0, return_inverse=True)
    return table, kind.ravel().astype(np.int32)


def fingerprints(rows: Array) -> NDArray[np.uint64]:
    """A number for each row from all bits of its entries: rows that differ by rounding only get different ones."""
    multipliers = np.random.default_rng(0).integers(1, 2**63, (2, rows.shape[1]), np.uint64) | np.uint64(1)
    result = np.empty(len(rows), np.uint64)
    for start in range(0, len(rows), 4096):  # pieces that stay in the cache
        bits = np.ascontiguousarray(rows[start : start + 4096]).view(np.uint64) * multipliers[0]
        bits ^= bits >> np.uint64(32)
        result[start : start + 4096] = (bits * multipliers[1]).sum(axis=1)
    return result


@dataclass
class Layout:
    """Bodies in solver order and the joints of each path.

    Attributes:
        graph: components of the joint graph.
        order: model body of each solver row; moving bodies first, then the others, then the ground (-1).
        row: (n + 1,) solver row of each model body, the ground last.
        moving: number of moving bodies.
        turn: per solver row, how many places the columns of A are rotated so that a chain's joint points lie on x.
        chains: components that take the chain path.
        forests: components that take the forest path, arranged, by the rows of their joints (3 or 6).
        others: components that take the component engine.
        touching: whether any two bodies may ever touch; then all components take the engine.
    """

    graph: JointGraph
    order: Int
    row: Int
    moving: int
    turn: Int
    chains: Int
    forests: dict[int, Batches]
    others: Int
    touching: bool

    @staticmethod
    def build(model: Model, laws: LawTable, fast_paths: bool) -> Layout:
        graph = JointGraph.build(model.motion, model.joint_base, model.joint_follower)
        touching = can_any_touch(model, graph)
        fast_paths = fast_paths and not touching
        still = np.flatnonzero(model.motion != 0).astype(np.int32)
        order = np.concatenate([graph.order, still, np.array([-1], np.int32)])
        row = np.empty(len(model.motion) + 1, np.int32)
        row[order] = np.arange(len(order), dtype=np.int32)
        components = len(graph.cycles)
        turn = np.zeros(len(order), np.int32)
        eligible = graph.chain if fast_paths else np.zeros(components, bool)
        if eligible.any():
            eligible = eligible & inline_chains(model, graph, turn)
        long = eligible & (np.diff(graph.body_start) >= LONG_CHAIN)
        forests = plant_forests(model, graph, laws, ~long) if fast_paths else {}
        left = np.ones(components, bool)
        for batches in forests.values():
            left[batches.components] = False
        eligible &= left
        turn[: len(graph.order)][~np.repeat(eligible, np.diff(graph.body_start))] = 0
        return Layout(
            graph, order, row, len(graph.order), turn,
            np.flatnonzero(eligible).astype(np.int32), forests, np.flatnonzero(left & ~eligible).astype(np.int32), touching,
        )  # fmt: skip


def inline_chains(model: Model, graph: JointGraph, turn: Int) -> NDArray[np.bool_]:
    """Components whose joints are plain balls, two a body at most, on one principal axis of each body; sets turn."""
    components = len(graph.cycles)
    good = np.ones(components, bool)
    if model.joints == 0:
        return good
    plain = model.joint_kind == JointId.BALL
    plain[model.law_joint] = False
    good[graph.joint_component[~plain]] = False
    sides = np.concatenate([model.joint_base, model.joint_follower])
    points = np.concatenate([model.point_base, model.point_follower])
    place = np.where(sides >= 0, graph.place[sides], -1)
    moves = place >= 0
    used = np.bincount(place[moves], minlength=len(graph.order))
    component = np.repeat(np.arange(components), np.diff(graph.body_start))
    good[component[used > 2]] = False
    body = graph.order[place[moves]]
    size = model.size[body]
    small = np.abs(points[moves]) <= 1e-13 * size[:, None]
    on_axis = np.ones((len(graph.order), 3), bool)
    for axis in range(3):
        off = ~(small[:, (axis + 1) % 3] & small[:, (axis + 2) % 3])
        on_axis[place[moves][off], axis] = False
    good[component[~on_axis.any(axis=1)]] = False
    turn[: len(graph.order)] = np.argmax(on_axis, axis=1)
    # anchors may only hang on the two ends; a lone link may have two
    base_moves = (model.joint_base >= 0) & (graph.place[model.joint_base] >= 0)
    follower_moves = (model.joint_follower >= 0) & (graph.place[model.joint_follower] >= 0)
    anchored = base_moves ^ follower_moves
    inner = graph.place[np.where(base_moves, model.joint_base, model.joint_follower)][anchored]
    owner = graph.joint_component[anchored]
    first, last = graph.body_start[owner], graph.body_start[owner + 1] - 1
    good[owner[(inner != first) & (inner != last)]] = False
    # two anchors on one end of a longer chain are caught by used > 2
    return good


@dataclass
class EngineLayout:
    """Joints of the component engine, in elimination order, their rows, nodes and couplings."""

    joints: Int  # model joint of each
    component_bodies: Int  # (c, 2) ranges of solver rows
    joint_start: Int
    node_start: Int
    pair_start: Int
    closed: NDArray[np.bool_]
    nonlinear: NDArray[np.bool_]
    first_row: Int
    slot: Int
    law: Int
    unknown: Int
    pair_body: Int
    pair_row: Int
    pair_column: Int
    pattern: Pattern

    @staticmethod
    def build(model: Model, layout: Layout, laws: LawTable, picked: Int, size: int) -> EngineLayout:
        graph = layout.graph
        chosen = np.zeros(len(graph.cycles), bool)
        chosen[picked] = True
        members = np.flatnonzero(chosen[graph.joint_component]).astype(np.int32)
        rank = np.full(len(graph.cycles), -1, np.int64)
        rank[picked] = np.arange(len(picked))

        rows_a = layout.row[model.joint_base[members]]
        rows_b = layout.row[model.joint_follower[members]]
        deepest = np.where(
            np.maximum(rows_a, rows_b) < layout.moving, np.maximum(rows_a, rows_b), np.minimum(rows_a, rows_b)
        )
        owner = rank[graph.joint_component[members]]
        order = np.lexsort((members, -deepest.astype(np.int64), owner))
        if (graph.cycles[picked] > 0).any():
            points = joint_points(model, members)
            order = reorder_cyclic(order, owner, rows_a, rows_b, graph.cycles[picked] > 0, layout.moving, points)
        members, owner = members[order], owner[order]
        rows_a, rows_b = rows_a[order], rows_b[order]
        count = len(members)
        components = len(picked)
        joint_start = starts(owner, components)

        slot, law, first_row = joint_rows(model, laws, members)
        unknown = np.arange(count, dtype=np.int32) * size

        # couplings of two joint sides through each moving body
        side_body = np.concatenate([rows_a, rows_b])
        side = np.concatenate([2 * np.arange(count), 2 * np.arange(count) + 1]).astype(np.int64)
        keep = side_body < layout.moving
        side_body, side = side_body[keep], side[keep]
        by_body = np.lexsort((side, side_body))
        side_body, side = side_body[by_body], side[by_body]
        position = np.arange(len(side)) - np.searchsorted(side_body, side_body)
        later = np.repeat(np.arange(len(side)), position + 1)
        offset = np.arange(len(later)) - np.repeat(np.cumsum(position + 1) - (position + 1), position + 1)
        earlier = (later - np.repeat(position, position + 1)) + offset
        pair_row, pair_column, pair_body = side[later], side[earlier], side_body[later]
        node_row, node_column = pair_row // 2, pair_column // 2
        pair_owner = owner[node_row]
        arrange = np.lexsort((node_row, node_column, pair_owner))
        pair_row, pair_column, pair_body = pair_row[arrange], pair_column[arrange], pair_body[arrange]
        node_row, node_column = node_row[arrange], node_column[arrange]
        off = node_row != node_column
        pattern = Pattern.build(count, node_row[off], node_column[off])
        pair_start = starts(pair_owner[arrange], components)

        anchored = (rows_a >= layout.moving) | (rows_b >= layout.moving)
        anchors = np.bincount(owner[anchored], minlength=components)
        closed = (graph.cycles[picked] > 0) | (anchors > 1)
        row_owner = np.repeat(owner, np.diff(first_row))
        linear = np.isin(model.joint_kind[members], (JointId.BALL,))
        curved = np.repeat(~linear, np.diff(first_row)) | (law >= 0)
        nonlinear = np.zeros(components, bool)
        nonlinear[row_owner[curved]] = True
        ranges = np.stack([graph.body_start[picked], graph.body_start[picked + 1]], axis=1)
        return EngineLayout(
            members, ranges, joint_start, joint_start, pair_start, closed, nonlinear, first_row, slot, law, unknown,
            pair_body.astype(np.int32), pair_row.astype(np.int32), pair_column.astype(np.int32), pattern,
        )  # fmt: skip


def starts(owner: NDArray[np.int64], count: int) -> Int:
    result = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(owner, minlength=count), out=result[1:])
    return result


def joint_points(model: Model, members: Int) -> Array:
    """(k, 3) where joints lie in the world at the start, m."""
    base = model.joint_base[members]
    points = np.einsum("jik,jk->ji", model.rotation[base], model.point_base[members]) + model.translation[base]
    return np.where(base[:, None] < 0, model.point_base[members], points)


def reorder_cyclic(
    order: NDArray[np.int64], owner: NDArray[np.int64], rows_a: Int, rows_b: Int,
    cyclic: NDArray[np.bool_], moving: int, points: Array,
) -> NDArray[np.int64]:  # fmt: skip
    """Replace the order inside components with cycles by one of little fill; points: where the joints lie."""
    picked = np.flatnonzero(cyclic[owner[order]])
    joints = order[picked]
    place = np.full(len(owner), -1, np.int64)
    place[joints] = np.arange(len(joints))
    side_body = np.concatenate([rows_a[joints], rows_b[joints]])
    node = np.concatenate([np.arange(len(joints))] * 2)
    keep = side_body < moving
    side_body, node = side_body[keep], node[keep]
    sort = np.argsort(side_body, kind="stable")
    side_body, node = side_body[sort], node[sort]
    position = np.arange(len(node)) - np.searchsorted(side_body, side_body)
    later = np.repeat(np.arange(len(node)), position)
    offset = np.arange(len(later)) - np.repeat(np.cumsum(position) - position, position)
    earlier = later - np.repeat(position, position) + offset
    result = order.copy()
    result[picked] = joints[fill_reducing(points[joints], owner[joints], node[later], node[earlier])]
    return result


@dataclass
class LawTable:
    """The model's laws in their order, with a passive partner on slot 4 behind every cone on slot 3.

    Attributes:
        joint, slot: of each row.
        columns: the numbers of each row by field name of the model.
        row: (d,) row of each of the model's laws.
    """

    joint: Int
    slot: Int
    columns: dict[str, NDArray[np.generic]]
    row: Int

    FIELDS = (
        "lower", "upper", "stiffness", "rest", "damping", "friction", "force", "drive", "drive_stiffness",
        "drive_damping", "target", "target_velocity", "max_force", "cone",
    )  # fmt: skip

    @staticmethod
    def build(model: Model) -> LawTable:
        joint, slot = model.law_joint, model.law_slot.astype(np.int32)
        key = joint.astype(np.int64) * 6 + slot
        cones = np.flatnonzero(model.cone)
        alone = cones[~np.isin(key[cones] + 1, key)]
        at = alone + 1
        passive = {"lower": -np.inf, "upper": np.inf, "max_force": np.inf}
        columns = {name: np.insert(getattr(model, name), at, passive.get(name, 0)) for name in LawTable.FIELDS}
        row = np.arange(len(joint)) + np.searchsorted(alone, np.arange(len(joint)), side="left")
        return LawTable(
            np.insert(joint, at, joint[alone]), np.insert(slot, at, slot[alone] + 1), columns, row.astype(np.int32)
        )


def active_slots(model: Model, laws: LawTable) -> Int:
    """(j, 6): 0 for a slot without a row, 1 where it is locked, 2 + law where it has a law."""
    active = np.zeros((model.joints, 6), np.int32)
    for kind in JointId:
        which = model.joint_kind == kind
        if which.any():
            active[which] = np.array([slot in CATALOGUE[kind].locked for slot in range(6)], np.int32)
    distance = model.joint_kind == JointId.DISTANCE
    active[distance, 0] = model.distance_locked[distance]
    active[laws.joint, laws.slot] = 2 + np.arange(len(laws.joint), dtype=np.int32)
    return active


def rows_per_joint(model: Model, laws: LawTable) -> Int:
    return (active_slots(model, laws) > 0).sum(axis=1).astype(np.int32)


def joint_rows(model: Model, laws: LawTable, members: Int) -> tuple[Int, Int, Int]:
    """Slots and laws of the rows of each joint, and the first row of each joint."""
    table = active_slots(model, laws)[members]
    joint, slot = np.nonzero(table)
    law = table[joint, slot] - 2
    first_row = np.zeros(len(members) + 1, np.int32)
    np.cumsum(np.bincount(joint, minlength=len(members)), out=first_row[1:])
    return slot.astype(np.int32), np.where(law < 0, -1, law).astype(np.int32), first_row
