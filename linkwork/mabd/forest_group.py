"""Forests on the device: their arrays in lanes and the launch of their step."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.arrays import Array, Int, flat, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.affine import vec3
from linkwork.mabd.forest import LOADS, Forest, forest_engine
from linkwork.mabd.forest_exchange import publish_poses, read_translations, read_wrenches, take_levers, take_loads
from linkwork.mabd.lanes import WIDTH, lane
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import LawTable, unique_rows
from linkwork.mabd.trees import ON_ANCHOR, TURNS, arrange
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model
from linkwork.scene.joints import JointId


def in_lanes(values: Array) -> wp.array:
    """(batches * WIDTH, k) values by slot as lanes, k a batch."""
    k = values.shape[1]
    arranged = values.reshape(-1, WIDTH, k).transpose(0, 2, 1)
    return wp.array(np.ascontiguousarray(arranged).reshape(-1, WIDTH), dtype=lane, device="cpu")


class ForestGroup:
    """Forests whose joints have `size` rows."""

    def __init__(
        self, model: Model, graph: JointGraph, row: Int, types: NDArray[np.void], kind: Int, start_types: int,
        table: LawTable, laws: Laws, bodies: Bodies, picked: Int, size: int, tolerance: float, failed: wp.array,
    ) -> None:  # fmt: skip
        self.bodies, self.laws, self.size, self._row = bodies, laws, size, row
        self.engine = engine = forest_engine(size)
        self.batches = arranged = arrange(model, graph, picked)
        node = arranged.node
        slots, batches, groups = len(node), len(arranged.hangs), arranged.groups
        joint = arranged.joint[node]
        self._joint, self._follows = joint, arranged.is_follower[node]
        width = 18 if size == 3 else 38
        f = Forest()
        f.width, f.rows, f.record_width, f.wrench_width = width, size, engine.record, engine.wrench
        own = row[node]
        base_kind = kind[own] - start_types
        columns = [self._constants(model, types, base_kind + shift, joint, width) for shift in (0, start_types)]
        tables, places = [], None
        for values in columns:
            lanes = np.ascontiguousarray(values.reshape(batches, WIDTH, width).transpose(0, 2, 1)).reshape(batches, -1)
            if places is None:
                _, places = unique_rows(lanes)
                chosen = np.zeros(int(places.max()) + 1, np.int64)
                chosen[places] = np.arange(batches)
            tables.append(lanes[chosen].reshape(-1, WIDTH))
        f.table = int_array(places)
        f.start_table = len(tables[0]) // width if start_types else 0
        # the constants of scattered children, side by side; those of the others stand so already
        scattered = np.flatnonzero(arranged.source < 0)
        child = np.maximum(arranged.child.reshape(-1, WIDTH)[scattered], 0).ravel()
        beside = columns[0][child].reshape(-1, WIDTH, width).transpose(0, 2, 1).reshape(-1, WIDTH)
        round_table = places[np.maximum(arranged.source, 0)]
        round_table[scattered] = sum(map(len, tables)) // width + np.arange(len(scattered))
        f.round_table = int_array(round_table)
        f.constants = wp.array(np.ascontiguousarray(np.concatenate([*tables, beside])), dtype=lane, device="cpu")
        f.first_batch, f.hangs = int_array(arranged.first_batch), int_array(arranged.hangs)
        f.rounds, f.first_round = int_array(arranged.rounds), int_array(arranged.first_round)
        f.child, f.source = int_array(arranged.child), int_array(arranged.source)
        anchored = arranged.hangs == ON_ANCHOR
        f.anchor = int_array(np.where(anchored, np.cumsum(anchored) - 1, -1))
        branching = arranged.rounds > 1
        f.branching = int_array(np.where(branching, np.cumsum(branching) - 1, -1))
        stored = np.repeat(branching, arranged.rounds)
        f.round_place = int_array(np.where(stored, np.cumsum(stored) - 1, -1))
        f.row, f.counted = int_array(own), int_array(arranged.counted)
        f.filled = int_array(arranged.counted.reshape(-1, WIDTH).sum(axis=1))
        first_law = np.full(model.joints + 1, -1, np.int64)
        on_turn = table.slot == TURNS[0]
        first_law[table.joint[on_turn]] = np.flatnonzero(on_turn)
        f.law = int_array(first_law[joint])

        Q, V = bodies.Q.numpy()[own], bodies.V.numpy()[own]
        f.Q, f.V = in_lanes(columns_first(Q)), in_lanes(columns_first(V))
        f.Q_past, f.V_past = in_lanes(columns_first(Q)), in_lanes(columns_first(V))
        f.Q_free, f.Q_base = zeros(12 * batches, lane), zeros(12 * batches, lane)
        f.R, f.P = in_lanes(Q[:, :, :3].reshape(-1, 9)), zeros(9 * batches, lane)
        f.N, f.k, f.g = (
            zeros(9 * batches if size == 6 else 0, lane),
            zeros(3 * batches, lane),
            zeros(12 * batches, lane),
        )
        records = (batches + 1) * engine.record
        f.gathered_record = batches
        f.record, f.solved = zeros(records, lane), zeros(batches * engine.solved, lane)
        f.record_flat = flat(f.record, records * WIDTH)
        f.wrench = zeros(batches * engine.wrench, lane)
        f.wrench_flat = flat(f.wrench, batches * engine.wrench * WIDTH)
        f.branches = zeros(int(branching.sum()) * engine.branch, lane)
        f.round_store = zeros(int(stored.sum()) * engine.store, lane)
        f.scratch, f.scratch_stride, f.own_scratch = zeros(engine.scratch, lane), 0, 0
        f.joint_tolerance = tolerance
        f.iterations, f.steps, f.failed = int_array(np.zeros(groups)), int_array(np.zeros(groups)), failed
        self._body = int_array(node)
        jointed = np.flatnonzero(arranged.counted & (joint >= 0))
        self._jointed, self._own_joint = int_array(jointed), int_array(joint[jointed])
        self._side = real_array(np.where(self._follows[jointed], -1.0, 1.0))
        f.loads, f.levers = zeros(0, lane), int_array([0])
        self._anchor_body = np.zeros(0, np.int64)
        self.forest, self.groups, self.slots, self.count = f, groups, slots, int(arranged.counted.sum())
        self._place_model_anchors(model, anchored, joint)
        self.refer()

    def _constants(self, model: Model, types: NDArray[np.void], kind: Int, joint: Int, width: int) -> Array:
        """Columns of the table of constants, by slot."""
        own = types[kind]
        scale = own["inverse_beta2"][:, None]
        T = own["stretch"].reshape(-1, 9)[:, [0, 4, 8, 1, 2, 5]]
        values = np.zeros((len(kind), width))
        values[:, 0:3] = own["second_moments"] * scale
        values[:, 3], values[:, 4], values[:, 5], values[:, 6:12] = own["mass"] * scale[:, 0], own["mu"], own["lam"], T
        have, follows = joint >= 0, self._follows
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
        inputs = [f.row, self._flat(f.Q, 12), self._flat(f.V, 12), b.Q, b.V]
        wp.launch(publish_poses, dim=self.slots, inputs=inputs, device="cpu")

    def translations(self, result: wp.array) -> None:
        """Write the places of the centres of mass, by body of the model."""
        self._read_translations(self.forest.Q, result)

    def velocities(self, result: wp.array) -> None:
        """Write the velocities of the centres of mass, by body of the model."""
        self._read_translations(self.forest.V, result)

    def _read_translations(self, poses: wp.array, result: wp.array) -> None:
        wp.launch(read_translations, dim=self.slots, inputs=[self._body, self._flat(poses, 12), result], device="cpu")

    def _flat(self, lanes: wp.array, width: int) -> wp.array:
        return flat(lanes, len(self.forest.hangs) * width * WIDTH)

    def make_room_for_loads(self) -> None:
        """From now on bodies may be pushed."""
        if len(self.forest.loads) == 0:
            self.forest.loads = zeros(len(self.forest.hangs) * LOADS, lane)
        self.refer()

    def take_loads(self, forces: wp.array, torques: wp.array, point_forces: wp.array | None) -> None:
        """Replace the loads by those of the model's bodies, as in Stepper.set_forces."""
        loads = self._flat(self.forest.loads, LOADS)
        wp.launch(take_loads, dim=self.slots, inputs=[self._body, forces, torques, loads], device="cpu")
        if point_forces is not None:
            wp.launch(take_levers, dim=self.slots, inputs=[self._body, point_forces, loads], device="cpu")
        self.forest.levers.numpy()[0] = point_forces is not None

    def multipliers(self, result: Array) -> None:
        """Write those of the own joints into (j, 6), by slot."""
        values = self.forest.wrench.numpy().reshape(-1, self.engine.wrench, WIDTH).transpose(0, 2, 1)
        w = values.reshape(-1, self.engine.wrench)[self._jointed.numpy()]
        joint, side = self._own_joint.numpy(), -self._side.numpy()[:, None]
        result[joint, :3] = side * w[:, :3]
        if self.size == 6:
            result[joint, 3:] = w[:, 6:]

    def wrenches(self, force: wp.array, torque: wp.array) -> None:
        """Write force and torque of the base on the follower at the joint's point, world frame."""
        width = self.engine.wrench
        inputs = [self._jointed, self._own_joint, self._side, self._flat(self.forest.wrench, width), width]
        wp.launch(
            read_wrenches, dim=len(self._jointed), inputs=[*inputs, int(self.size == 6), force, torque], device="cpu"
        )

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
