"""Components of one node size on the device: joints, factor, scratch, and the launch of their step."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.linear.blocks import Pattern
from linkwork.linear.supernodes import Supernodes
from linkwork.mabd.affine import mat33, mat34, vec3
from linkwork.mabd.arrays import Array, Int, flat, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.components import Components, Joints, Work, vec6
from linkwork.mabd.engine import component_engine
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import EngineLayout, LawTable, Layout
from linkwork.model.model import Model
from linkwork.scene.joints import JointId

LONG = 6.0  # mean blocks per column of L from which on panels pay


class ComponentGroup:
    """Components whose joints have at most `size` rows each."""

    def __init__(
        self, model: Model, layout: Layout, table: LawTable, laws: Laws, bodies: Bodies,
        picked: Int, size: int, tolerance: float, failed: wp.array,
    ) -> None:  # fmt: skip
        self.bodies, self.laws, self.size, self.moving = bodies, laws, size, layout.moving
        self.count = len(picked)
        e = EngineLayout.build(model, layout, table, picked, size)
        self.layout = e
        self.engine = component_engine(size)
        members = e.joints
        blocks = self.engine.blocks
        nodes, rows, components = len(members), len(e.slot), self.count

        J = Joints()
        base, follower = layout.row[model.joint_base[members]], layout.row[model.joint_follower[members]]
        J.kind, J.base, J.follower = int_array(model.joint_kind[members]), int_array(base), int_array(follower)
        J.point_base = real_array(model.point_base[members], vec3)
        J.point_follower = real_array(model.point_follower[members], vec3)
        J.frame_base = real_array(model.frame_base[members], mat33)
        J.frame_follower = real_array(model.frame_follower[members], mat33)
        J.length = real_array(model.length[members])
        J.plain = int_array((model.joint_kind[members] == JointId.BALL) & ~np.isin(members, table.joint))
        J.first_row, J.unknown, J.slot, J.law = (
            int_array(x) for x in (e.first_row, e.unknown, e.slot, e.law)
        )  # fmt: skip
        J.value, J.defect, J.compliance, J.rhs = (zeros(rows) for _ in range(4))
        J.on_base, J.on_follower = zeros(rows, vec6), zeros(rows, vec6)

        self.joints = J

        fill = np.diff(e.pattern.start).astype(np.float64)
        owner = np.repeat(np.arange(components), np.diff(e.node_start))
        total = np.maximum(np.bincount(owner, fill, minlength=components), 1.0)
        filled = e.closed & (np.bincount(owner, fill**2, minlength=components) / total > LONG)
        in_panels = filled[owner]
        row, column = e.pair_row // 2, e.pair_column // 2
        off = row != column
        couplings = Pattern.of(nodes, row[off], column[off])
        blockwise = couplings.where(in_panels, e.pattern)
        f = blocks.Factor()
        f.start, f.row = int_array(blockwise.start), int_array(blockwise.row)
        f.diagonal, f.lower = zeros(nodes, blocks.mat), zeros(len(blockwise.row), blocks.mat)
        self.factor = f
        super_nodes = Supernodes.build(
            e.pattern.where(in_panels, Pattern.of(nodes, row[:0], column[:0])), e.node_start, size
        )
        w = Work()
        w.moving = layout.moving
        w.Y, w.Q_base = zeros(layout.moving, mat34), zeros(layout.moving, mat34)
        w.N = real_array(np.tile(np.eye(3), (layout.moving, 1, 1)), mat33)
        target = np.where(off, blockwise.locate(row, column) * size * size, -1 - row * size * size)
        w.pair_body, w.pair_row, w.pair_column, w.pair_target = (
            int_array(x) for x in (e.pair_body, e.pair_row, e.pair_column, target)
        )  # fmt: skip
        unknowns = nodes * size
        self._x, self._scratch = zeros(nodes, blocks.vec), zeros(nodes, blocks.vec)
        w.multiplier, w.s = flat(self._x, unknowns), flat(self._scratch, unknowns)
        w.r, w.Dp = zeros(unknowns), zeros(unknowns)
        w.diagonal, w.lower = flat(f.diagonal, unknowns * size), flat(f.lower, len(blockwise.row) * size * size)
        w.panels = super_nodes.device(blockwise, in_panels, f.start, w.diagonal, w.lower)
        self.work = w
        c = Components()
        c.body_start, c.body_end = int_array(e.component_bodies[:, 0]), int_array(e.component_bodies[:, 1])
        c.joint, c.node, c.pair = int_array(e.joint_start), int_array(e.node_start), int_array(e.pair_start)
        c.closed, c.nonlinear, c.filled = int_array(e.closed), int_array(e.nonlinear), int_array(filled)
        c.joint_tolerance = tolerance
        c.super = int_array(super_nodes.start)
        c.iterations, c.steps, c.redundant = (int_array(np.zeros(components)) for _ in range(3))
        c.fresh, c.searched = int_array(np.ones(components)), int_array(np.zeros(components))
        c.failed = failed
        self.components = c

    def launch(self, scheme: Scheme) -> None:
        """Advance every component by one step."""
        wp.launch(
            self.engine.step, dim=self.count,
            inputs=[
                self.bodies, scheme, self.joints, self.laws, self.components, self.work, self.factor, self._x, self._scratch,
            ],
            device="cpu",
        )  # fmt: skip

    @property
    def unknowns(self) -> tuple[wp.array, wp.array]:
        """Multipliers and scratch of the solve, by node."""
        return self._x, self._scratch

    @property
    def steps(self) -> Int:
        """Steps taken by each component."""
        steps: Int = self.components.steps.numpy()
        return steps

    def rows(self, component: int) -> NDArray[np.int64]:
        """Solver rows of the bodies of one component."""
        return np.arange(*self.layout.component_bodies[component])

    def row_places(self) -> tuple[Int, Int]:
        """Own joint of each row, and the place of its multiplier."""
        e = self.layout
        joint = np.repeat(np.arange(len(e.joints), dtype=np.int32), np.diff(e.first_row))
        return joint, e.unknown[joint] + np.arange(len(e.slot), dtype=np.int32) - e.first_row[joint]

    def multipliers(self, result: Array) -> None:
        """Write those of the own joints into (j, 6), by slot."""
        joint, place = self.row_places()
        result[self.layout.joints[joint], self.layout.slot] = self.work.multiplier.numpy()[place]

    def wrenches(self, force: Array, torque: Array) -> None:
        """Write force and torque of the base on the follower about the base's joint point, world frame."""
        e, J = self.layout, self.joints
        joint, place = self.row_places()
        x = self.work.multiplier.numpy()[place]
        follower, base = J.follower.numpy(), J.base.numpy()
        on_base = follower[joint] >= self.moving  # read the reaction where the follower does not move
        row = np.where(on_base[:, None], -J.on_base.numpy(), J.on_follower.numpy())
        body = np.where(on_base, base[joint], follower[joint])
        R, N = self.bodies.R.numpy()[body], self.work.N.numpy()[body]
        plain = J.plain.numpy()[joint] == 1
        row[plain, :3] = R[np.flatnonzero(plain), e.slot[plain]]
        w = np.linalg.solve(N, row[:, 3:, None])[:, :, 0]
        f, t = np.zeros((len(e.joints), 3)), np.zeros((len(e.joints), 3))
        np.add.at(f, joint, -x[:, None] * np.einsum("rij,rj->ri", R, row[:, :3]))
        np.add.at(t, joint, -x[:, None] * np.einsum("rij,rj->ri", R, w))
        Q = self.bodies.Q.numpy()
        ends = [
            np.einsum("nij,nj->ni", Q[b, :, :3], X.numpy()) + Q[b, :, 3]
            for b, X in ((follower, J.point_follower), (base, J.point_base))
        ]
        # an on-base row is measured at the base's point already
        arm = np.where((follower < self.moving)[:, None], ends[0] - ends[1], 0.0)
        force[e.joints], torque[e.joints] = f, t + np.cross(arm, f)

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on besides the bodies and laws."""
        c, J = self.components, self.joints
        arrays = {
            "multiplier": self.work.multiplier, "steps": c.steps, "fresh": c.fresh, "iterations": c.iterations,
            "redundant": c.redundant, "on_base": J.on_base, "on_follower": J.on_follower, "N": self.work.N,
        }  # fmt: skip
        return {f"{name}_{self.size}": array for name, array in arrays.items()}
