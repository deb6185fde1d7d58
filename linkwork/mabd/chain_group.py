"""The chains of a model on the device: their links in lanes, joint points, anchors, and the launch of their step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.affine import vec3
from linkwork.mabd.arrays import Array, Int, flat, int_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.chain import Chains, Front, Solved, step_chains
from linkwork.mabd.lane_bodies import Constants, LaneBodies, Load, Pose, publish_bodies
from linkwork.mabd.lanes import WIDTH, Mat, Vec, lane
from linkwork.mabd.layout import Layout, unique_rows
from linkwork.mabd.seams import SEGMENT_ENTRIES, Seams
from linkwork.model.model import Model
from linkwork.scene.bodies import KINEMATIC


@dataclass
class Segments:
    """Chains cut into segments of equal length, or one link less behind an empty slot.

    Attributes:
        used: (chains,) segments of each.
        late: (chains, WIDTH) whether a segment begins with an empty slot.
        first_batch: (chains + 1,)
        link: (batches, WIDTH) link of each slot, counted over all chains; a neighbour's where the slot is empty.
        counted: (batches, WIDTH) whether the slot is not empty.
    """

    used: NDArray[np.int64]
    late: NDArray[np.bool_]
    first_batch: NDArray[np.int64]
    link: NDArray[np.int64]
    counted: NDArray[np.bool_]

    @property
    def longest(self) -> int:
        """Batches of the longest chain."""
        return int(np.diff(self.first_batch).max(initial=0))

    @staticmethod
    def build(links: NDArray[np.int64]) -> Segments:
        used = np.minimum(links, WIDTH)
        shortest, longer = links // np.maximum(used, 1), links % np.maximum(used, 1)
        depth = shortest + (longer > 0)
        first_batch = np.concatenate([[0], np.cumsum(depth)])
        first_link = np.cumsum(links) - links
        k = np.arange(WIDTH)
        late = (longer[:, None] > 0) & (k >= longer[:, None])
        begin = k * shortest[:, None] + np.minimum(k, longer[:, None])
        owner = np.repeat(np.arange(len(links)), depth)
        place = (np.arange(first_batch[-1]) - first_batch[owner])[:, None] - late[owner]
        counted = (place >= 0) & (k < used[owner, None])
        link = np.minimum(begin[owner] + np.maximum(place, 0), links[owner, None] - 1) + first_link[owner, None]
        return Segments(used, late, first_batch, link, counted)


def lane_structs(dtype: Any, values: Array) -> wp.array:
    """(batches, WIDTH, k) values as structs of k lanes."""
    result = zeros(len(values), dtype)
    as_lanes(result).numpy()[:] = values.transpose(0, 2, 1).reshape(-1, WIDTH)
    return result


def as_lanes(structs: wp.array) -> wp.array:
    """The same memory as lanes."""
    size = structs.strides[0] // (WIDTH * 8)
    return wp.array(ptr=structs.ptr, shape=(len(structs) * size,), dtype=lane, device="cpu", copy=False)


def columns_first(Q: Array) -> Array:
    """(..., 12): the entries of A row by row, then t, of [A | t] (..., 3, 4)."""
    return np.concatenate([Q[..., :3].reshape(*Q.shape[:-2], 9), Q[..., 3]], axis=-1)


class ChainGroup:
    """Components that take the chain path.

    Attributes:
        joints: (k,) model joints on chains.
        slot: (k,) of each joint's multiplier: that of the link to its right, or behind all slots that of a right end.
        sign: (k,) 1 where the multiplier is that of the joint's follower against its base, -1 where the links run back.
    """

    def __init__(self, model: Model, layout: Layout, bodies: Bodies, start_types: int, failed: wp.array) -> None:
        self.bodies = bodies
        self.count = len(layout.chains)
        graph, picked, count = layout.graph, layout.chains, self.count
        start = graph.body_start[picked].astype(np.int64)
        links = graph.body_start[picked + 1] - start
        rank = np.full(len(graph.cycles), -1, np.int64)
        rank[picked] = np.arange(count)
        joints = np.flatnonzero(rank[graph.joint_component] >= 0).astype(np.int32)
        owner = rank[graph.joint_component[joints]]
        rows_a, rows_b = layout.row[model.joint_base[joints]], layout.row[model.joint_follower[joints]]
        x_a = axis_coordinate(model.point_base[joints], layout.turn[rows_a])
        x_b = axis_coordinate(model.point_follower[joints], layout.turn[rows_b])
        left, right = np.zeros(layout.moving), np.zeros(layout.moving)
        sign = np.ones(len(joints))
        # every joint is known by the link to its right; right ends come behind all links
        right_link = np.zeros(len(joints), np.int64)

        inner = (rows_a < layout.moving) & (rows_b < layout.moving)
        forward = rows_b > rows_a
        later, earlier = np.maximum(rows_a, rows_b)[inner], np.minimum(rows_a, rows_b)[inner]
        left[later] = np.where(forward, x_b, x_a)[inner]
        right[earlier] = np.where(forward, x_a, x_b)[inner]
        right_link[inner] = later
        sign[inner] = np.where(forward, 1.0, -1.0)[inner]

        outer = np.flatnonzero(~inner)
        base_moves = (rows_a < layout.moving)[outer]
        body = np.where(base_moves, rows_a[outer], rows_b[outer])
        still = np.where(base_moves, rows_b[outer], rows_a[outer])
        x = np.where(base_moves, x_a[outer], x_b[outer])
        point = np.where(base_moves[:, None], model.point_follower[joints[outer]], model.point_base[joints[outer]])
        own = owner[outer]
        # the first anchor on a chain's first link is its left end, any other its right end
        at_left = body == start[own]
        order = np.lexsort((outer, ~at_left, own))
        repeated = (own[order][1:] == own[order][:-1]) & at_left[order][1:] & at_left[order][:-1]
        at_left[order[1:][repeated]] = False
        left[body[at_left]], right[body[~at_left]] = x[at_left], x[~at_left]
        right_link[outer] = np.where(at_left, start[own], layout.moving + own)
        # a multiplier belongs to (this link minus the one before); a right anchor stands for a link behind the last
        sign[outer] = np.where(base_moves != at_left, 1.0, -1.0)
        end = np.where(at_left, 0, 1)
        self._anchor_body, self._anchor_point = np.full((count, 2), -1, np.int64), np.zeros((count, 2, 3))
        self._anchor_body[own, end], self._anchor_point[own, end] = still, point

        segments = Segments.build(links)
        row = (np.repeat(start - (np.cumsum(links) - links), links) + np.arange(links.sum()))[segments.link]
        slot = np.zeros(layout.moving + count, np.int64)
        slot[row[segments.counted]] = np.flatnonzero(segments.counted)
        slot[layout.moving :] = segments.counted.size + np.arange(count)
        self.joints, self.sign, self.slot = joints, sign, slot[right_link]
        self.slots = segments.counted.size
        self.lanes = self._lane_bodies(segments, row, left[row], right[row], start_types)
        self._fill_chains(segments, failed)
        holder = np.where(self._anchor_body < 0, -1, layout.order[self._anchor_body])
        self.chains.carried = int_array(((holder >= 0) & (model.motion[holder] == KINEMATIC)).any(axis=1))
        self.place_anchors()

    def _lane_bodies(self, segments: Segments, row: Int, left: Array, right: Array, start_types: int) -> LaneBodies:
        bodies, counted, batches = self.bodies, segments.counted, len(row)
        types, kind = bodies.types.numpy(), bodies.kind.numpy()
        b = LaneBodies()
        b.row, b.counted = int_array(row.ravel()), int_array(counted.ravel())
        # equal batches share their constants
        _, points = unique_rows(np.column_stack([left.ravel(), right.ravel()]))
        slots = (kind[row] * (points.max(initial=0) + 1) + points.reshape(row.shape)) * 2 + counted
        _, place = unique_rows(slots.astype(np.float64))
        chosen = np.zeros(int(place.max(initial=-1)) + 1, np.int64)
        chosen[place] = np.arange(batches)
        base = kind[row[chosen]] - start_types
        own = counted[chosen], left[chosen], right[chosen]
        tables = [link_constants(types[base + shift], *own) for shift in (0, start_types)]
        b.kind, b.start_kinds = int_array(place), len(chosen) if start_types else 0
        Q, V = bodies.Q.numpy()[row], bodies.V.numpy()[row] * counted[:, :, None, None]
        b.constants = lane_structs(Constants, np.concatenate(tables))
        b.Q, b.V, b.Q_past, b.V_past = (lane_structs(Pose, columns_first(x)) for x in (Q, V, Q, V))
        b.k = zeros(batches, Vec)
        b.Q_free, b.Q_base, b.g = (zeros(segments.longest, Pose) for _ in range(3))
        b.R, b.P, b.load = (zeros(segments.longest, dtype) for dtype in (Mat, Mat, Load))
        b.load_entries = as_lanes(b.load)
        return b

    def _fill_chains(self, segments: Segments, failed: wp.array) -> None:
        count, batches = self.count, len(segments.link)
        c = Chains()
        c.first_batch = int_array(segments.first_batch)
        c.late = wp.array(np.ascontiguousarray(segments.late, np.float64), dtype=lane, device="cpu")
        c.front, c.solved = zeros(count, Front), zeros(segments.longest, Solved)
        c.multiplier, c.ends = zeros(batches, Vec), zeros(2 * count, Vec)
        c.iterations, c.steps, c.searched = (int_array(np.zeros(count)) for _ in range(3))
        c.fresh, c.failed = int_array(np.ones(count)), failed
        m = Seams()
        m.segments = int_array(segments.used)
        m.left_end, m.right_end = (int_array(self._anchor_body[:, side] >= 0) for side in (0, 1))
        m.left_anchor, m.right_anchor, m.right_multiplier = (zeros(count, vec3) for _ in range(3))
        m.segment, m.ends = flat(c.front, SEGMENT_ENTRIES * count * WIDTH), flat(c.ends, 6 * count * WIDTH)
        m.z, m.W = zeros((WIDTH + 1) * count, Vec), zeros((WIDTH + 1) * count, Mat)
        self.chains, self.seams = c, m

    def place_anchors(self) -> None:
        """Put the ends that hang on bodies which do not move by themselves where those bodies are."""
        Q = self.bodies.Q.numpy()
        for end, anchor in ((0, self.seams.left_anchor), (1, self.seams.right_anchor)):
            body = self._anchor_body[:, end]
            have = body >= 0
            X = self._anchor_point[have, end]
            anchor.numpy()[have] = np.einsum("nij,nj->ni", Q[body[have], :, :3], X) + Q[body[have], :, 3]

    def launch(self, scheme: Scheme) -> None:
        """Advance every chain by one step."""
        if self.count:
            inputs = [self.chains, self.lanes, self.seams, scheme, self.bodies]
            wp.launch(step_chains, dim=self.count, inputs=inputs, device="cpu")

    def publish(self) -> None:
        """Write poses and rates into the rows of Bodies."""
        if self.count:
            flats = [flat(x, self.slots * 12) for x in (self.lanes.Q, self.lanes.V)]
            inputs = [self.lanes.row, self.lanes.counted, *flats, self.bodies.Q, self.bodies.V]
            wp.launch(publish_bodies, dim=self.slots, inputs=inputs, device="cpu")

    @property
    def steps(self) -> Int:
        """Steps taken by each chain."""
        steps: Int = self.chains.steps.numpy()
        return steps

    def rows(self, chain: int) -> Int:
        """Solver rows of the links of one chain."""
        first, end = WIDTH * self.chains.first_batch.numpy()[chain : chain + 2]
        rows: Int = self.lanes.row.numpy()[first:end][self.lanes.counted.numpy()[first:end] == 1]
        return rows

    def multipliers(self) -> Array:
        """(k, 3) of `joints`, world axes, N."""
        links = as_lanes(self.chains.multiplier).numpy().reshape(-1, 3, WIDTH).transpose(0, 2, 1).reshape(-1, 3)
        return np.concatenate([links, self.seams.right_multiplier.numpy()])[self.slot] * self.sign[:, None]

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on."""
        b, c, m = self.lanes, self.chains, self.seams
        in_batches = {
            "Q": b.Q, "V": b.V, "Q_past": b.Q_past, "V_past": b.V_past, "k": b.k, "multiplier": c.multiplier,
        }  # fmt: skip
        arrays = {name: as_lanes(array) for name, array in in_batches.items()} | {
            "left_anchor": m.left_anchor, "right_anchor": m.right_anchor, "right_multiplier": m.right_multiplier,
            "steps": c.steps, "fresh": c.fresh, "iterations": c.iterations,
        }  # fmt: skip
        return {f"chain_{name}": array for name, array in arrays.items()}


def link_constants(types: NDArray[np.void], counted: NDArray[np.bool_], left: Array, right: Array) -> Array:
    """(batches, WIDTH, k) entries of Constants."""
    scale = types["inverse_beta2"]
    mass = types["mass"] * scale
    stretch = types["stretch"].reshape(*counted.shape, 9)[:, :, [0, 4, 8, 1, 2, 5]]
    single = [mass, types["mu"], types["lam"]], [1.0 / mass, types["mass"] * counted, left * counted, right * counted]
    before, after = (np.stack(columns, axis=-1) for columns in single)
    return np.concatenate([types["second_moments"] * scale[:, :, None], before, stretch, after], axis=-1)


def axis_coordinate(points: Array, axis: Int) -> Array:
    return np.take_along_axis(points, axis[:, None].astype(np.int64), axis=1)[:, 0]
