"""Forests on the device: their arrays in lanes and the launch of their step."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.arrays import Array, Int, device_array, flat, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.forest import forest_engine
from linkwork.mabd.forest_data import LOADS, Forest, places
from linkwork.mabd.forest_exchange import (
    publish_turns,
    read_translations,
    read_wrenches,
    take_levers,
    take_loads,
)
from linkwork.mabd.lane_bodies import publish_bodies
from linkwork.mabd.lanes import WIDTH, lane
from linkwork.mabd.laws import PD, Laws
from linkwork.mabd.layout import LawTable, unique_rows
from linkwork.mabd.trees import ON_ANCHOR, TURNS, Batches
from linkwork.model.model import Model
from linkwork.scene.bodies import KINEMATIC
from linkwork.scene.joints import JointId


def in_lanes(values: Array) -> wp.array:
    """(batches * WIDTH, k) values by slot as lanes, k a batch."""
    k = values.shape[1]
    arranged = values.reshape(-1, WIDTH, k).transpose(0, 2, 1)
    return device_array(np.ascontiguousarray(arranged).reshape(-1, WIDTH), lane)


def shared_rows(values: Array) -> tuple[wp.array, wp.array, int]:
    """(k, WIDTH, columns) values as rows of lanes, equal ones once; the row of each of the k; and the columns."""
    width = values.shape[2]
    rows = np.ascontiguousarray(values.transpose(0, 2, 1)).reshape(len(values), width * WIDTH)
    _, place = unique_rows(rows)
    chosen = np.zeros(int(place.max(initial=-1)) + 1, np.int64)
    chosen[place] = np.arange(len(values))
    return device_array(rows[chosen].reshape(-1, WIDTH), lane), int_array(place), width


class ForestGroup:
    """Forests whose joints have `size` rows."""

    def __init__(
        self, model: Model, row: Int, types: NDArray[np.void], kind: Int,
        table: LawTable, laws: Laws, bodies: Bodies, arranged: Batches, size: int, tolerance: float, failed: wp.array,
    ) -> None:  # fmt: skip
        self.bodies, self.laws, self.size, self._row = bodies, laws, size, row
        self._step, self._places = forest_engine(size), places(size)
        self.batches = arranged
        node = arranged.node
        slots, batches, groups = len(node), len(arranged.hangs), arranged.groups
        joint = arranged.joint[node]
        self._joint, self._follows = joint, arranged.is_follower[node]
        f, widths = Forest(), self._places
        f.record_width, f.frame_width, f.wrench_width = widths.record, 9, widths.wrench
        own = row[node]
        of_bodies, of_joints = self._constants(model, types[kind[own]], joint)
        anchored = arranged.hangs == ON_ANCHOR
        f.constants, f.table, f.width = shared_rows(of_bodies.reshape(batches, WIDTH, -1))
        # joints stand where their parents read them
        child = np.maximum(arranged.child, 0)
        side_by_side = (-1, WIDTH, of_joints.shape[1])
        f.joint_constants, f.joint_table, f.joint_width = shared_rows(of_joints[child].reshape(side_by_side))
        f.first_batch, f.hangs = int_array(arranged.first_batch), int_array(arranged.hangs)
        f.rounds, f.first_round = int_array(arranged.rounds), int_array(arranged.first_round)
        f.child, f.source = int_array(arranged.child), int_array(arranged.source)
        f.anchor = int_array(np.where(anchored, np.cumsum(anchored) - 1, -1))
        branching = arranged.rounds > 1
        f.branching = int_array(np.where(branching, np.cumsum(branching) - 1, -1))
        f.row, f.counted = int_array(own), int_array(arranged.counted)
        f.filled = int_array(arranged.counted.reshape(-1, WIDTH).sum(axis=1))
        first_law = np.full(model.joints + 1, -1, np.int64)
        on_turn = table.slot == TURNS[0]
        first_law[table.joint[on_turn]] = np.flatnonzero(on_turn)
        self._law = first_law[joint]
        f.law = int_array(self._law)
        f.driven = int(np.isin(joint, table.joint[table.columns["drive"] == PD]).any())
        on_turns = slots if size == 6 else 0
        f.turns, f.lines = zeros(9 * on_turns // WIDTH, lane), zeros(10 * on_turns // WIDTH, lane)
        f.turns_flat = flat(f.turns, 9 * on_turns)

        Q, V = bodies.Q.numpy()[own], bodies.V.numpy()[own]
        f.Q, f.V = in_lanes(columns_first(Q)), in_lanes(columns_first(V))
        f.Q_past, f.V_past = in_lanes(columns_first(Q)), in_lanes(columns_first(V))
        f.Q_free, f.Q_base = zeros(12 * batches, lane), zeros(12 * batches, lane)
        f.R = in_lanes(Q[:, :, :3].reshape(-1, 9))
        f.N, f.k = zeros(9 * batches if size == 6 else 0, lane), zeros(3 * batches, lane)
        f.place = int_array(arranged.place)
        f.gathered_record = int(arranged.place.max(initial=-1)) + 1
        records = (f.gathered_record + 1) * widths.record
        f.record, f.solved = zeros(records, lane), zeros(len(arranged.source) * widths.solved, lane)
        f.record_flat = flat(f.record, records * WIDTH)
        f.wrench = zeros(batches * widths.wrench, lane)
        f.wrench_flat = flat(f.wrench, batches * widths.wrench * WIDTH)
        f.branches = zeros(int(branching.sum()) * widths.branch, lane)
        f.scratch, f.scratch_stride, f.own_scratch = zeros(widths.wrench, lane), 0, 0
        f.joint_tolerance = tolerance
        f.iterations, f.steps, f.searched = (int_array(np.zeros(groups)) for _ in range(3))
        f.fresh, f.failed = int_array(np.ones(groups)), failed
        self._body = int_array(node)
        jointed = np.flatnonzero(arranged.counted & (joint >= 0))
        self._jointed, self._own_joint = int_array(jointed), int_array(joint[jointed])
        self._side = real_array(np.where(self._follows[jointed], -1.0, 1.0))
        f.loads, f.levers = zeros(0, lane), int_array([0])
        self._anchor_body = np.zeros(0, np.int64)
        self.forest, self.groups, self.slots, self.count = f, groups, slots, int(arranged.counted.sum())
        self._place_model_anchors(model, anchored, joint)
        self.take_lines()
        self.refer()

    def _constants(self, model: Model, own: NDArray[np.void], joint: Int) -> tuple[Array, Array]:
        """Constants of bodies of these types, and of their joints, by slot; columns as named in forest.py."""
        elastic = self.size == 6
        bodies, joints = np.zeros((len(joint), 20 if elastic else 9)), np.zeros((len(joint), 14 if elastic else 3))
        bodies[:, 0:3] = own["second_moments"]
        bodies[:, 3], bodies[:, 4], bodies[:, 5] = own["mass"], own["mu"], own["lam"]
        have, follows = joint >= 0, self._follows
        j = joint[have]
        bodies[have, 6:9], joints[have, 0:3] = self._sides(follows[have], model.point_base[j], model.point_follower[j])
        if elastic:
            here, there = self._sides(follows[have], model.frame_base[j], model.frame_follower[j])
            bodies[:, 9:18] = joints[:, 3:12] = np.eye(3).ravel()
            bodies[have, 9:18], joints[have, 3:12] = here.reshape(-1, 9), there.reshape(-1, 9)
            joints[:, 12] = np.where(follows | ~have, 1.0, -1.0)
            joints[have, 13] = model.joint_kind[j] == JointId.FIXED
            bodies[:, 18:20] = joints[:, 12:14]
        return bodies, joints

    @staticmethod
    def _sides(follows: NDArray[np.bool_], base: Array, follower: Array) -> tuple[Array, Array]:
        """Of the node, and of its parent."""
        choose = follows.reshape(-1, *([1] * (base.ndim - 1)))
        return np.where(choose, follower, base), np.where(choose, base, follower)

    def _place_model_anchors(self, model: Model, anchored: NDArray[np.bool_], joint: Int) -> None:
        j = joint.reshape(-1, WIDTH)[anchored].ravel()
        follows = self._follows.reshape(-1, WIDTH)[anchored].ravel()
        still = np.where(follows, model.joint_base[j], model.joint_follower[j])
        self._anchor_body = self._row[still]
        self.forest.carried = int((model.motion[still[still >= 0]] == KINEMATIC).any())
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

    def take_lines(self) -> None:
        """Take over the springs, dampers and constant forces of the laws; to be called again when one was changed."""
        if self.size == 6:
            laws, sprung = self.laws, self._law >= 0
            row = self._law[sprung, None] + np.arange(3)
            stiffness, rest, damping, force = (
                a.numpy()[row] for a in (laws.stiffness, laws.rest, laws.damping, laws.force)
            )
            lines = np.zeros((len(self._law), 10))
            lines[sprung] = np.concatenate(
                [stiffness, damping, stiffness * rest + force, np.ones((len(row), 1))], axis=1
            )
            self.forest.lines.numpy()[:] = lines.reshape(-1, WIDTH, 10).transpose(0, 2, 1).reshape(-1, WIDTH)

    def refer(self) -> None:
        """Take over where the arrays of the bodies and laws are; to be called again when one of them was replaced."""
        self.forest.b, self.forest.laws = self.bodies, self.laws
        # functions get it as an array: passed by value it would be copied at every call
        self._on_device = wp.array([self.forest], dtype=Forest, device="cpu")

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

    @property
    def joints(self) -> Int:
        """Joints of the model that belong here."""
        joints: Int = self._own_joint.numpy()
        return joints

    def launch(self, scheme: Scheme) -> None:
        """Advance every tree by one step."""
        wp.launch(self._step, dim=self.groups, inputs=[self._on_device, scheme], device="cpu")

    def publish(self) -> None:
        """Write poses and rates into the rows of Bodies, and turns into those of Laws."""
        f, b = self.forest, self.bodies
        inputs = [f.row, f.counted, self._flat(f.Q, 12), self._flat(f.V, 12), b.Q, b.V]
        wp.launch(publish_bodies, dim=self.slots, inputs=inputs, device="cpu")
        if self.size == 6:
            inputs = [f.law, f.counted, f.turns_flat, self.laws.value, self.laws.past, self.laws.older]
            wp.launch(publish_turns, dim=self.slots, inputs=inputs, device="cpu")

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

    def wrenches(self, force: wp.array, torque: wp.array) -> None:
        """Write force and torque of the base on the follower at the joint's point, world frame."""
        width = self._places.wrench
        inputs = [self._jointed, self._own_joint, self._side, self._flat(self.forest.wrench, width), width]
        wp.launch(
            read_wrenches, dim=len(self._jointed), inputs=[*inputs, int(self.size == 6), force, torque], device="cpu"
        )

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on besides the laws."""
        f = self.forest
        arrays = {
            "Q": f.Q, "V": f.V, "Q_past": f.Q_past, "V_past": f.V_past, "k": f.k, "anchors": f.anchors, "wrench": f.wrench,
            "turns": f.turns,
            "steps": f.steps, "fresh": f.fresh, "iterations": f.iterations,
        }  # fmt: skip
        return {f"forest_{name}_{self.size}": array for name, array in arrays.items()}


def columns_first(Q: Array) -> Array:
    """(n, 12): the entries of A row by row, then t, of [A | t] (n, 3, 4)."""
    return np.concatenate([Q[:, :, :3].reshape(-1, 9), Q[:, :, 3]], axis=1)
