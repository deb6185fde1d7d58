"""Forests on the device: their arrays in lanes and the launch of their step."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.arrays import Array, Int, device_array, flat, int_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.forest import Forest, forest_engine, publish_forest
from linkwork.mabd.lanes import WIDTH, lane
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import LawTable, unique_rows
from linkwork.mabd.trees import ON_ANCHOR, TURNS, Batches
from linkwork.model.model import Model
from linkwork.scene.joints import JointId


def in_lanes(values: Array) -> Array:
    """(batches * WIDTH, k) values by slot as lanes, k a batch."""
    k = values.shape[1]
    return np.ascontiguousarray(values.reshape(-1, WIDTH, k).transpose(0, 2, 1)).reshape(-1, WIDTH)


class ForestGroup:
    """Forests whose joints have `size` rows."""

    def __init__(
        self, model: Model, batches: Batches, row: Int, types: NDArray[np.void], kind: Int, start_types: int,
        table: LawTable, laws: Laws, bodies: Bodies, size: int, tolerance: float, failed: wp.array,
    ) -> None:  # fmt: skip
        self.bodies, self.laws, self.size, self._row = bodies, laws, size, row
        self.engine = engine = forest_engine(size)
        self.batches = batches
        node = batches.node
        slots, count, groups = len(node), len(batches.hangs), batches.groups
        joint = batches.joint[node]
        self._joint, self._follows = joint, batches.is_follower[node]
        width = 18 if size == 3 else 38
        f = Forest()
        f.width, f.rows, f.record_width, f.wrench_width = width, size, engine.record, engine.wrench
        own = row[node]
        base_kind = kind[own] - start_types
        constants = self._constants(model, types, base_kind, np.arange(slots), width)
        lanes = in_lanes(constants).reshape(count, -1)
        table_rows, places = unique_rows(lanes)
        tables = [table_rows.reshape(-1, WIDTH)]
        f.table = int_array(places)
        f.start_table = len(table_rows) if start_types else 0
        if start_types:
            alike = np.zeros(len(table_rows), np.int64)
            alike[places] = np.arange(count)
            members = (alike[:, None] * WIDTH + np.arange(WIDTH)).ravel()
            tables.append(in_lanes(self._constants(model, types, base_kind + start_types, members, width)))
        # the constants of scattered children, side by side; those of the others stand so already
        scattered = np.flatnonzero(batches.source < 0)
        child = np.maximum(batches.child.reshape(-1, WIDTH)[scattered], 0).ravel()
        round_table = places[np.maximum(batches.source, 0)]
        round_table[scattered] = sum(map(len, tables)) // width + np.arange(len(scattered))
        f.round_table = int_array(round_table)
        f.constants = device_array(np.concatenate([*tables, in_lanes(constants[child])]), lane)
        f.first_batch, f.hangs = int_array(batches.first_batch), int_array(batches.hangs)
        f.rounds, f.first_round = int_array(batches.rounds), int_array(batches.first_round)
        f.child, f.source = int_array(batches.child), int_array(batches.source)
        anchored = batches.hangs == ON_ANCHOR
        f.anchor = int_array(np.where(anchored, np.cumsum(anchored) - 1, -1))
        branching = batches.rounds > 1
        f.branching = int_array(np.where(branching, np.cumsum(branching) - 1, -1))
        stored = np.repeat(branching, batches.rounds)
        f.round_place = int_array(np.where(stored, np.cumsum(stored) - 1, -1))
        f.row, f.counted = int_array(own), int_array(batches.counted)
        f.filled = int_array(batches.counted.reshape(-1, WIDTH).sum(axis=1))
        first_law = np.full(model.joints + 1, -1, np.int64)
        on_turn = table.slot == TURNS[0]
        first_law[table.joint[on_turn]] = np.flatnonzero(on_turn)
        f.law = int_array(first_law[joint])

        Q, V = (in_lanes(columns_first(rows.numpy()[own])) for rows in (bodies.Q, bodies.V))
        f.Q, f.V, f.Q_past, f.V_past = (device_array(rows, lane) for rows in (Q, V, Q, V))
        f.R = device_array(Q.reshape(count, 12, WIDTH)[:, :9].reshape(-1, WIDTH), lane)
        f.Q_free, f.Q_base, f.P = zeros(12 * count, lane), zeros(12 * count, lane), zeros(9 * count, lane)
        f.N, f.k, f.g = (
            zeros(9 * count if size == 6 else 0, lane),
            zeros(3 * count, lane),
            zeros(12 * count, lane),
        )
        records = (count + 1) * engine.record
        f.gathered_record = count
        f.record, f.solved = zeros(records, lane), zeros(count * engine.solved, lane)
        f.record_flat = flat(f.record, records * WIDTH)
        f.wrench = zeros(count * engine.wrench, lane)
        f.wrench_flat = flat(f.wrench, count * engine.wrench * WIDTH)
        f.branches = zeros(int(branching.sum()) * engine.branch, lane)
        f.round_store = zeros(int(stored.sum()) * engine.store, lane)
        f.scratch, f.scratch_stride, f.own_scratch = zeros(engine.scratch, lane), 0, 0
        f.joint_tolerance = tolerance
        f.iterations, f.steps, f.failed = int_array(np.zeros(groups)), int_array(np.zeros(groups)), failed
        self._anchor_body = np.zeros(0, np.int64)
        self.forest, self.groups, self.slots = f, groups, slots
        self._place_model_anchors(model, anchored, joint)
        self.refer()

    def _constants(
        self, model: Model, types: NDArray[np.void], kind: Int, slot: NDArray[np.int64], width: int
    ) -> Array:
        """Columns of the table of constants of some slots; types by slot."""
        scale = types["inverse_beta2"][:, None]
        T = types["stretch"].reshape(-1, 9)[:, [0, 4, 8, 1, 2, 5]]
        mass, mu, lam = (types[name][:, None] for name in ("mass", "mu", "lam"))
        of_type = np.concatenate([types["second_moments"] * scale, mass * scale, mu, lam, T], axis=1)
        joint, follows = self._joint[slot], self._follows[slot]
        values = np.zeros((len(slot), width))
        values[:, 0:12] = of_type[kind[slot]]
        have = joint >= 0
        j = joint[have]
        here, there = self._sides(follows[have], model.point_base[j], model.point_follower[j])
        values[have, 12:15], values[have, 15:18] = here, there
        if width > 18:
            here, there = self._sides(follows[have], model.frame_base[j], model.frame_follower[j])
            values[:, 18:27] = values[:, 27:36] = np.eye(3).ravel()
            values[have, 18:27], values[have, 27:36] = there.reshape(-1, 9), here.reshape(-1, 9)
            values[:, 36] = np.where(follows | ~have, 1.0, -1.0)
            values[have, 37] = model.joint_kind[j] == JointId.FIXED
        return values

    @staticmethod
    def _sides(follows: NDArray[np.bool_], base: Array, follower: Array) -> tuple[Array, Array]:
        """Of the node, and of its parent."""
        choose = follows.reshape(-1, *([1] * (base.ndim - 1)))
        return np.where(choose, follower, base), np.where(choose, base, follower)

    def _place_model_anchors(self, model: Model, anchored: NDArray[np.bool_], joint: Int) -> None:
        j = joint.reshape(-1, WIDTH)[anchored].ravel()
        follows = self._follows.reshape(-1, WIDTH)[anchored].ravel()
        self._anchor_body = self._row[np.where(follows, model.joint_base[j], model.joint_follower[j])]
        self._anchor_point = self._sides(follows, model.point_base[j], model.point_follower[j])[1]
        self._anchor_frame = self._sides(follows, model.frame_base[j], model.frame_follower[j])[1]
        self.forest.anchors = zeros(int(anchored.sum()) * 12, lane)
        self.place_anchors()

    def place_anchors(self) -> None:
        """Put the anchors where the bodies that carry them are."""
        if len(self._anchor_body):
            Q = self.bodies.Q.numpy()[self._anchor_body]
            A = Q[:, :, :3]
            point = np.einsum("nij,nj->ni", A, self._anchor_point) + Q[:, :, 3]
            values = np.concatenate([point, (A @ self._anchor_frame).reshape(-1, 9)], axis=1)
            self.forest.anchors.numpy()[:] = values.reshape(-1, WIDTH, 12).transpose(0, 2, 1).reshape(-1, WIDTH)

    def refer(self) -> None:
        """Take over where the arrays of the bodies and laws are; to be called again when one of them was replaced."""
        self.forest.b, self.forest.laws = self.bodies, self.laws
        # functions get it as an array: passed by value it would be copied at every call
        self._on_device = wp.array([self.forest], dtype=Forest, device="cpu")

    def launch(self, scheme: Scheme) -> None:
        """Advance every tree by one step."""
        wp.launch(self.engine.step, dim=self.groups, inputs=[self._on_device, scheme], device="cpu")

    def publish(self) -> None:
        """Write poses and rates into the rows of Bodies."""
        f, b = self.forest, self.bodies
        flats = [flat(x, len(f.hangs) * 12 * WIDTH) for x in (f.Q, f.V)]
        wp.launch(publish_forest, dim=self.slots, inputs=[f, b.Q, b.V, *flats], device="cpu")

    @property
    def steps(self) -> Int:
        """Steps taken by each group of trees side by side."""
        steps: Int = self.forest.steps.numpy()
        return steps

    def rows(self, group: int) -> Int:
        """Solver rows of the bodies of one group."""
        first, end = WIDTH * self.batches.first_batch[group : group + 2]
        rows: Int = self._row[self.batches.node[first:end][self.batches.counted[first:end]]]
        return rows

    def _wrenches(self) -> tuple[Int, Array, Array]:
        """Joint, side (1 where the node is the follower) and entries of the wrench, of every real slot with a joint."""
        values = self.forest.wrench.numpy().reshape(-1, self.engine.wrench, WIDTH).transpose(0, 2, 1)
        values = values.reshape(-1, self.engine.wrench)
        use = self.batches.counted & (self._joint >= 0)
        return self._joint[use], np.where(self._follows[use], 1.0, -1.0)[:, None], values[use]

    def multipliers(self, result: Array) -> None:
        """Write those of the own joints into (j, 6), by slot."""
        joint, side, w = self._wrenches()
        result[joint, :3] = side * w[:, :3]
        if self.size == 6:
            result[joint, 3:] = w[:, 6:]

    def wrenches(self, force: Array, torque: Array) -> None:
        """Write force and torque of the base on the follower at the joint's point, world frame."""
        joint, side, w = self._wrenches()
        force[joint] = -side * w[:, :3]
        if self.size == 6:
            torque[joint] = -side * w[:, 3:6]

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on besides the laws."""
        f = self.forest
        arrays = {
            "Q": f.Q, "V": f.V, "Q_past": f.Q_past, "V_past": f.V_past, "k": f.k, "anchors": f.anchors, "wrench": f.wrench,
            "steps": f.steps, "iterations": f.iterations,
        }  # fmt: skip
        return {f"forest_{name}_{self.size}": array for name, array in arrays.items()}


def columns_first(Q: Array) -> Array:
    """(n, 12): the entries of A row by row, then t, of [A | t] (n, 3, 4)."""
    return np.concatenate([Q[:, :, :3].reshape(-1, 9), Q[:, :, 3]], axis=1)
