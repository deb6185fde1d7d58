"""The chains of a model on the device: joint points, anchors, multipliers, and the launch of their step."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.affine import mat33, mat34, vec3
from linkwork.mabd.arrays import Array, Int, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.chain import Chains, step_chains, step_chains_as_published
from linkwork.mabd.layout import Layout, unique_rows
from linkwork.model.model import Model


class ChainGroup:
    """Components that take the chain path.

    Attributes:
        joints: (k,) model joints on chains.
        slot: (k,) place of each joint's multiplier.
        sign: (k,) 1 where the multiplier is that of the joint's follower against its base, -1 where the links run back.
    """

    def __init__(self, model: Model, layout: Layout, bodies: Bodies, failed: wp.array) -> None:
        self.bodies = bodies
        self.count = len(layout.chains)
        graph, picked, count = layout.graph, layout.chains, self.count
        start = graph.body_start[picked]
        links = graph.body_start[picked + 1] - start
        rank = np.full(len(graph.cycles), -1, np.int64)
        rank[picked] = np.arange(count)
        joints = np.flatnonzero(rank[graph.joint_component] >= 0).astype(np.int32)
        owner = rank[graph.joint_component[joints]]
        rows_a, rows_b = layout.row[model.joint_base[joints]], layout.row[model.joint_follower[joints]]
        x_a = axis_coordinate(model.point_base[joints], layout.turn[rows_a])
        x_b = axis_coordinate(model.point_follower[joints], layout.turn[rows_b])
        size = layout.moving if count else 0
        left, right = np.zeros(size), np.zeros(size)
        multiplier_start = np.zeros(count + 1, np.int64)
        np.cumsum(links + 1, out=multiplier_start[1:])
        slot = np.zeros(len(joints), np.int64)
        sign = np.ones(len(joints))

        inner = (rows_a < layout.moving) & (rows_b < layout.moving)
        forward = rows_b > rows_a
        later, earlier = np.maximum(rows_a, rows_b)[inner], np.minimum(rows_a, rows_b)[inner]
        left[later] = np.where(forward, x_b, x_a)[inner]
        right[earlier] = np.where(forward, x_a, x_b)[inner]
        slot[inner] = multiplier_start[owner[inner]] + later - start[owner[inner]]
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
        slot[outer] = np.where(at_left, multiplier_start[own], multiplier_start[own + 1] - 1)
        # a multiplier belongs to (this link minus the one before); a right anchor stands for a link behind the last
        sign[outer] = np.where(base_moves != at_left, 1.0, -1.0)
        end = np.where(at_left, 0, 1)
        self._anchor_body, self._anchor_point = np.full((count, 2), -1, np.int64), np.zeros((count, 2, 3))
        self._anchor_body[own, end], self._anchor_point[own, end] = still, point

        table, kind = unique_rows(np.column_stack([left, right]))
        c = Chains()
        c.start, c.count = int_array(start), int_array(links)
        c.left_end, c.right_end = (int_array(self._anchor_body[:, side] >= 0) for side in (0, 1))
        c.left_anchor, c.right_anchor = zeros(count, vec3), zeros(count, vec3)
        c.point_kind, c.left, c.right = int_array(kind), real_array(table[:, 0]), real_array(table[:, 1])
        c.z, c.W, c.Q_base = zeros(size, vec3), zeros(size, mat33), zeros(size, mat34)
        c.multiplier, c.multiplier_start = zeros(int(multiplier_start[-1]), vec3), int_array(multiplier_start[:-1])
        c.iterations, c.steps, c.failed = int_array(np.zeros(count)), int_array(np.zeros(count)), failed
        self.chains, self.joints, self.slot, self.sign = c, joints, slot, sign
        self.place_anchors()

    def place_anchors(self) -> None:
        """Put the ends that hang on bodies which do not move by themselves where those bodies are."""
        Q = self.bodies.Q.numpy()
        for end, anchor in ((0, self.chains.left_anchor), (1, self.chains.right_anchor)):
            body = self._anchor_body[:, end]
            have = body >= 0
            X = self._anchor_point[have, end]
            anchor.numpy()[have] = np.einsum("nij,nj->ni", Q[body[have], :, :3], X) + Q[body[have], :, 3]

    def launch(self, scheme: Scheme) -> None:
        """Advance every chain by one step."""
        kernel = step_chains_as_published if scheme.published else step_chains
        if self.count:
            wp.launch(kernel, dim=self.count, inputs=[self.bodies, scheme, self.chains], device="cpu")

    @property
    def steps(self) -> Int:
        """Steps taken by each chain."""
        steps: Int = self.chains.steps.numpy()
        return steps

    def rows(self, chain: int) -> NDArray[np.int64]:
        """Solver rows of the links of one chain."""
        start = int(self.chains.start.numpy()[chain])
        return np.arange(start, start + int(self.chains.count.numpy()[chain]))

    def multipliers(self) -> Array:
        """(k, 3) of `joints`, world axes, N."""
        return self.chains.multiplier.numpy()[self.slot] * self.sign[:, None]

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on besides the bodies."""
        c = self.chains
        return {
            "chain_multiplier": c.multiplier, "chain_steps": c.steps, "chain_iterations": c.iterations,
            "left_anchor": c.left_anchor, "right_anchor": c.right_anchor,
        }  # fmt: skip


def axis_coordinate(points: Array, axis: Int) -> Array:
    return np.take_along_axis(points, axis[:, None].astype(np.int64), axis=1)[:, 0]
