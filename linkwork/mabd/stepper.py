"""The MABD stepper: device arrays in solver order, the captured step, and everything a simulation reads or sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.errors import StepFailure
from linkwork.mabd import bodies as device_bodies
from linkwork.mabd.affine import BodyType, mat33, mat34, vec3
from linkwork.mabd.chain import Chains, step_chains, step_chains_as_published
from linkwork.mabd.engine import Components, Joints, Work, component_engine, vec6
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import EngineLayout, LawTable, Layout, unique_rows
from linkwork.mabd.observe import Observed, observe_bodies, observe_joints
from linkwork.mabd.settings import MABD
from linkwork.model.model import Model
from linkwork.scene.joints import CATALOGUE, JointId

Array = NDArray[np.float64]
Int = NDArray[np.int32]

BATCH = 64  # steps replayed by one captured graph when many are asked for
NODE = 6  # rows of a node of the component engine


def real_array(values: Any, dtype: Any = wp.float64) -> wp.array:
    return wp.array(np.ascontiguousarray(values, np.float64), dtype=dtype, device="cpu")


def int_array(values: Any) -> wp.array:
    return wp.array(np.ascontiguousarray(values, np.int32), dtype=wp.int32, device="cpu")


def affine_of(rotation: Array, translation: Array) -> Array:
    return np.concatenate([rotation, translation[:, :, None]], axis=2)


def cross_columns(w: Array, R: Array) -> Array:
    return np.cross(w[:, None, :], R.transpose(0, 2, 1)).transpose(0, 2, 1)


def body_types(table: Array, beta: float) -> NDArray[Any]:
    """From rows of mass, three second moments, mu V and lambda V."""
    types = np.zeros(max(len(table), 1), BodyType.numpy_dtype())
    if len(table):
        J, mu, lam = table[:, 1:4], table[:, 4], table[:, 5]
        stretch = (J / beta**2 + 2.0 * mu[:, None])[:, :, None] * np.eye(3) + lam[:, None, None]
        types["mass"], types["second_moments"], types["mu"], types["lam"] = table[:, 0], J, mu, lam
        types["pairs"] = pair_blocks(J / beta**2, mu)
        types["beta"], types["inverse_beta2"], types["stretch"] = beta, 1.0 / beta**2, np.linalg.inv(stretch)
    return types


def pair_blocks(J: Array, mu: Array) -> Array:
    """Inverses of the 2x2 blocks of each pair (S_ij, S_ji); the diagonal holds the coupling of the opposite pair."""
    pairs = np.zeros((len(J), 3, 3))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        determinant = J[:, i] * J[:, j] + (J[:, i] + J[:, j]) * mu
        pairs[:, i, j], pairs[:, j, i] = (J[:, i] + mu) / determinant, (J[:, j] + mu) / determinant
        pairs[:, k, k] = -mu / determinant
    return pairs


def flat(blocks: wp.array, count: int) -> wp.array:
    """The same memory as scalars."""
    return wp.array(ptr=blocks.ptr, shape=(count,), dtype=wp.float64, device="cpu", copy=False)


class Stepper:
    """Advances a model by MABD. Built by `MABD.build`; a `Simulation` is what users hold."""

    def __init__(self, model: Model, settings: MABD, dt: float) -> None:
        self.model = model
        self.settings = settings
        self.dt = float(dt)
        self.layout = Layout.build(model, settings.fast_paths)
        self.steps_taken = 0
        self._graphs: dict[int, Any] = {}
        self._observed: Observed | None = None
        self._fill_bodies()
        self._fill_chains()
        self._fill_engine()

    # -- building -----------------------------------------------------------------------------------------------------

    def _columns(self, A: Array, back: bool = False) -> Array:
        """Rotate the first three columns from the model's principal axes to the solver's, or back (solver order)."""
        turn = self.layout.turn
        if not turn.any():
            return A
        index = (np.arange(3)[None, :] + (-turn if back else turn)[:, None]) % 3
        result = A.copy()
        result[:, :, :3] = np.take_along_axis(A[:, :, :3], index[:, None, :], axis=2)
        return result

    def _fill_bodies(self) -> None:
        model, layout = self.model, self.layout
        rows, moving = layout.order, layout.moving
        n = len(rows)
        real_rows = rows[:-1]  # the last is the ground
        rotation = np.tile(np.eye(3), (n, 1, 1))
        translation = np.zeros((n, 3))
        rotation[:-1], translation[:-1] = model.rotation[real_rows], model.translation[real_rows]
        Q = self._columns(affine_of(rotation, translation))
        V = np.zeros((n, 3, 4))
        V[:-1] = affine_of(cross_columns(model.angular_velocity[real_rows], rotation[:-1]), model.velocity[real_rows])
        V[:-1][model.motion[real_rows] == 1] = 0.0
        V = self._columns(V)
        h = self.dt
        bdf2 = self.settings.integrator == "bdf2"
        own = rows[:moving]
        J = model.second_moments[own]
        if layout.turn.any():
            J = np.take_along_axis(J, (np.arange(3)[None, :] + layout.turn[:moving, None]) % 3, axis=1)
        mu, lam = model.lame_mu[own] * model.volume[own], model.lame_lambda[own] * model.volume[own]
        table, kind = unique_rows(np.column_stack([model.mass[own], J, mu, lam]))
        betas = (2.0 * h / 3.0, h) if bdf2 else (h,)
        types = np.concatenate([body_types(table, beta) for beta in betas])
        if bdf2:
            kind = kind + np.int32(len(table))
        b = device_bodies.Bodies()
        b.kind, b.types = int_array(kind), wp.array(types, dtype=BodyType, device="cpu")
        b.Q, b.V = real_array(Q, mat34), real_array(V, mat34)
        b.Q_past, b.V_past = real_array(Q[:moving], mat34), real_array(V[:moving], mat34)
        b.Q_free = wp.zeros(moving, dtype=mat34, device="cpu")
        b.R = real_array(Q[:, :, :3], mat33)
        b.P = wp.zeros(moving, dtype=mat33, device="cpu")
        b.k = wp.zeros(moving, dtype=vec3, device="cpu")
        loaded = len(model.force_body) > 0
        b.loaded = int(loaded)
        size = moving if loaded else 0
        b.force, b.torque = wp.zeros(size, dtype=mat34, device="cpu"), wp.zeros(size, dtype=vec3, device="cpu")
        self.bodies = b
        if loaded:
            self._constant_force, self._constant_torque = self._model_forces()
            b.force.numpy()[:], b.torque.numpy()[:] = self._constant_force, self._constant_torque
        else:
            self._constant_force, self._constant_torque = np.zeros((0, 3, 4)), np.zeros((0, 3))
        s = device_bodies.Scheme()
        s.h, s.euler, s.start_types = h, int(not bdf2), len(table) if bdf2 else 0
        s.published = int(self.settings.published)
        s.gravity = vec3(*model.gravity)
        s.update_tolerance, s.iterations = self.settings.update_tolerance, self.settings.iterations
        self.scheme = s

    def _model_forces(self) -> tuple[Array, Array]:
        model, layout = self.model, self.layout
        force, torque = np.zeros((layout.moving, 3, 4)), np.zeros((layout.moving, 3))
        row = layout.row[model.force_body]
        use = row < layout.moving
        G = np.concatenate(
            [model.force_vector[:, :, None] * model.force_point[:, None, :], model.force_vector[:, :, None]], axis=2
        )
        np.add.at(force, row[use], G[use])
        np.add.at(torque, row[use], model.force_torque[use])
        return self._columns_moving(force), torque

    def _columns_moving(self, A: Array) -> Array:
        turn = self.layout.turn[: self.layout.moving]
        if not turn.any():
            return A
        index = (np.arange(3)[None, :] + turn[:, None]) % 3
        result = A.copy()
        result[:, :, :3] = np.take_along_axis(A[:, :, :3], index[:, None, :], axis=2)
        return result

    def _fill_chains(self) -> None:
        model, layout = self.model, self.layout
        graph = layout.graph
        picked = layout.chains
        count = len(picked)
        c = Chains()
        start = graph.body_start[picked]
        links = graph.body_start[picked + 1] - start
        on_chain = np.zeros(len(graph.cycles), bool)
        on_chain[picked] = True
        joints = np.flatnonzero(on_chain[graph.joint_component]).astype(np.int32)
        rank = np.full(len(graph.cycles), -1, np.int64)
        rank[picked] = np.arange(count)
        owner = rank[graph.joint_component[joints]]
        rows_a, rows_b = layout.row[model.joint_base[joints]], layout.row[model.joint_follower[joints]]
        axis = layout.turn
        x_a = self._axis_coordinate(model.point_base[joints], axis[rows_a])
        x_b = self._axis_coordinate(model.point_follower[joints], axis[rows_b])
        left, right = np.zeros(layout.moving), np.zeros(layout.moving)
        multiplier_start = np.zeros(count + 1, np.int64)
        np.cumsum(links + 1, out=multiplier_start[1:])
        slot = np.zeros(len(joints), np.int64)  # which multiplier a joint has
        sign = np.ones(len(joints))  # +1 if the later link is the follower
        inner = (rows_a < layout.moving) & (rows_b < layout.moving)
        later, earlier = np.maximum(rows_a, rows_b), np.minimum(rows_a, rows_b)
        left[later[inner]] = np.where(rows_b > rows_a, x_b, x_a)[inner]
        right[earlier[inner]] = np.where(rows_b > rows_a, x_a, x_b)[inner]
        slot[inner] = (multiplier_start[owner] + later - start[owner])[inner]
        sign[inner] = np.where(rows_b > rows_a, 1.0, -1.0)[inner]
        left_end, right_end = np.zeros(count, np.int32), np.zeros(count, np.int32)
        self._anchor_bodies = np.full((count, 2), -1, np.int64)
        self._anchor_points = np.zeros((count, 2, 3))
        outer = np.flatnonzero(~inner)
        body = np.where(rows_a < layout.moving, rows_a, rows_b)[outer]
        x = np.where(rows_a < layout.moving, x_a, x_b)[outer]
        still = np.where(rows_a < layout.moving, rows_b, rows_a)[outer]
        point = np.where(
            (rows_a < layout.moving)[outer, None], model.point_follower[joints[outer]], model.point_base[joints[outer]]
        )
        own = owner[outer]
        # the first anchor of a chain's first link is its left end; others are right ends
        at_left = body == start[own]
        repeated = np.zeros(len(outer), bool)
        if len(outer):
            order = np.lexsort((outer, ~at_left, own))
            same = (own[order][1:] == own[order][:-1]) & at_left[order][1:] & at_left[order][:-1]
            repeated[order[1:][same]] = True
        at_left &= ~repeated
        end = np.where(at_left, 0, 1)
        left_end[own[at_left]], right_end[own[~at_left]] = 1, 1
        left[body[at_left]], right[body[~at_left]] = x[at_left], x[~at_left]
        slot[outer] = np.where(at_left, multiplier_start[own], multiplier_start[own + 1] - 1)
        # lambda is that of (this link minus the one before); at a right end the anchor stands for the later link
        moving_follows = (rows_b < layout.moving)[outer]
        sign[outer] = np.where(moving_follows == at_left, 1.0, -1.0)
        self._anchor_bodies[own, end], self._anchor_points[own, end] = still, point
        table, kind = unique_rows(np.column_stack([left, right]))
        c.start, c.count = int_array(start), int_array(links)
        c.left_end, c.right_end = int_array(left_end), int_array(right_end)
        c.left_anchor = wp.zeros(count, dtype=vec3, device="cpu")
        c.right_anchor = wp.zeros(count, dtype=vec3, device="cpu")
        c.point_kind = int_array(kind)
        c.left, c.right = real_array(table[:, 0]), real_array(table[:, 1])
        size = layout.moving if count else 0
        c.z, c.W = wp.zeros(size, dtype=vec3, device="cpu"), wp.zeros(size, dtype=mat33, device="cpu")
        c.Q_base = wp.zeros(size, dtype=mat34, device="cpu")
        c.multiplier = wp.zeros(int(multiplier_start[-1]), dtype=vec3, device="cpu")
        c.multiplier_start = int_array(multiplier_start[:-1])
        c.iterations, c.steps = int_array(np.zeros(count)), int_array(np.zeros(count))
        c.failed = int_array([0])
        self.chains, self._chain_joints, self._chain_slot, self._chain_sign = c, joints, slot, sign
        self._place_anchors()

    @staticmethod
    def _axis_coordinate(points: Array, axis: Int) -> Array:
        return np.take_along_axis(points, axis[:, None].astype(np.int64), axis=1)[:, 0]

    def _place_anchors(self) -> None:
        c = self.chains
        Q = self.bodies.Q.numpy()
        for end, anchor in ((0, c.left_anchor), (1, c.right_anchor)):
            body = self._anchor_bodies[:, end]
            have = body >= 0
            X = self._anchor_points[have, end]
            anchor.numpy()[have] = np.einsum("nij,nj->ni", Q[body[have], :, :3], X) + Q[body[have], :, 3]

    def _fill_engine(self) -> None:
        model, layout = self.model, self.layout
        self.law_table = LawTable.build(model)
        e = EngineLayout.build(model, layout, self.law_table, NODE)
        self.engine_layout = e
        self.engine = component_engine(NODE)
        members = e.joints
        J = Joints()
        J.kind = int_array(model.joint_kind[members])
        J.base, J.follower = int_array(layout.row[model.joint_base[members]]), int_array(layout.row[model.joint_follower[members]])
        J.point_base, J.point_follower = real_array(model.point_base[members], vec3), real_array(model.point_follower[members], vec3)
        J.frame_base, J.frame_follower = real_array(model.frame_base[members], mat33), real_array(model.frame_follower[members], mat33)
        J.length = real_array(model.length[members])
        J.first_row, J.unknown = int_array(e.first_row), int_array(e.unknown)
        J.slot, J.law = int_array(e.slot), int_array(e.law)
        rows = len(e.slot)
        J.value, J.defect, J.compliance, J.rhs = (wp.zeros(rows, dtype=wp.float64, device="cpu") for _ in range(4))
        J.axes = int_array(np.full(len(members), -1))
        J.on_base, J.on_follower = (wp.zeros(rows, dtype=vec6, device="cpu") for _ in range(2))
        self.joints = J
        laws = Laws()
        for name, column in self.law_table.columns.items():
            setattr(laws, name, int_array(column) if name in ("drive", "cone") else real_array(column))
        value = np.zeros(len(self.law_table.joint))
        on_distance = model.joint_kind[self.law_table.joint] == JointId.DISTANCE
        value[on_distance] = model.length[self.law_table.joint[on_distance]]
        laws.value, laws.past, laws.older = real_array(value), real_array(value), real_array(value)
        laws.piece = int_array(np.zeros(len(value)))
        self.laws = laws
        blocks = self.engine.blocks
        nodes = len(members)
        f = blocks.Factor()
        f.start, f.row = int_array(e.pattern.start), int_array(e.pattern.row)
        f.diagonal = wp.zeros(nodes, dtype=blocks.mat, device="cpu")
        f.lower = wp.zeros(len(e.pattern.row), dtype=blocks.mat, device="cpu")
        self.factor = f
        components = len(layout.others)
        busy = components > 0
        w = Work()
        w.moving = layout.moving
        size = layout.moving if busy else 0
        w.g, w.Y, w.Q_base = (wp.zeros(size, dtype=mat34, device="cpu") for _ in range(3))
        w.N = wp.zeros(size, dtype=mat33, device="cpu")
        w.unilateral = wp.zeros(size, dtype=wp.int32, device="cpu")
        w.pair_body, w.pair_row = int_array(e.pair_body), int_array(e.pair_row)
        w.pair_column, w.pair_target = int_array(e.pair_column), int_array(e.pair_target)
        unknowns = nodes * NODE
        self.multiplier = wp.zeros(nodes, dtype=blocks.vec, device="cpu")
        self.scratch = wp.zeros(nodes, dtype=blocks.vec, device="cpu")
        w.multiplier = flat(self.multiplier, unknowns)
        w.s = flat(self.scratch, unknowns)
        w.r, w.p, w.Dp = (wp.zeros(unknowns, dtype=wp.float64, device="cpu") for _ in range(3))
        w.diagonal = flat(f.diagonal, unknowns * NODE)
        w.lower = flat(f.lower, len(e.pattern.row) * NODE * NODE)
        self.work = w
        c = Components()
        ranges = e.component_bodies
        c.body_start, c.body_end = int_array(ranges[:, 0]), int_array(ranges[:, 1])
        c.joint, c.node, c.pair = int_array(e.joint_start), int_array(e.node_start), int_array(e.pair_start)
        c.closed, c.nonlinear = int_array(e.closed), int_array(e.nonlinear)
        c.reuse, c.sweeps = int_array(np.zeros(components)), int_array(np.zeros(components))
        c.joint_tolerance = self.settings.joint_tolerance
        c.iterations, c.steps, c.redundant = (int_array(np.zeros(components)) for _ in range(3))
        c.failed = self.chains.failed
        self.components = c

    # -- stepping -----------------------------------------------------------------------------------------------------

    def _launch(self) -> None:
        if len(self.layout.chains):
            kernel = step_chains_as_published if self.settings.published else step_chains
            wp.launch(
                kernel, dim=len(self.layout.chains), inputs=[self.bodies, self.scheme, self.chains], device="cpu"
            )
        if len(self.layout.others):
            wp.launch(
                self.engine.step,
                dim=len(self.layout.others),
                inputs=[
                    self.bodies, self.scheme, self.joints, self.laws, self.components, self.work, self.factor,
                    self.multiplier, self.scratch,
                ],
                device="cpu",
            )  # fmt: skip

    def _graph(self, steps: int) -> Any:
        if steps not in self._graphs:
            with wp.ScopedCapture(device="cpu") as capture:
                for _ in range(steps):
                    self._launch()
            self._graphs[steps] = capture.graph
        return self._graphs[steps]

    def step(self, count: int) -> None:
        """Advance by count steps; raises StepFailure when a component diverged."""
        left = count
        while left > 0:
            batch = BATCH if left >= BATCH else 1
            wp.capture_launch(self._graph(batch))
            left -= batch
            if self.chains.failed.numpy()[0]:
                self._fail()
        self.steps_taken += count

    def _fail(self) -> None:
        raise StepFailure(self.steps_taken, [], "update")

    # -- reading ------------------------------------------------------------------------------------------------------

    def affine(self) -> Array:
        """(n, 3, 4) maps [A | t] from principal frames to the world."""
        Q = self._columns(self.bodies.Q.numpy(), back=True)
        return Q[self.layout.row[:-1]]

    def rates(self) -> Array:
        """(n, 3, 4) time derivatives of `affine`."""
        V = self._columns(self.bodies.V.numpy(), back=True)
        return V[self.layout.row[:-1]]

    def polar_rotations(self) -> Array:
        """(n, 3, 3) rotations of the principal frames nearest to `affine`."""
        A = self.affine()[:, :, :3]
        R = A
        for _ in range(4):
            E = np.einsum("nki,nkj->nij", R, R) - np.eye(3)
            if len(E) == 0 or np.abs(E).max() < 1e-15:
                break
            R = R - 0.5 * np.einsum("nij,njk->nik", R, E)
        return R

    def _observe(self) -> tuple[Array, Array, Array]:
        model, row = self.model, self.layout.row
        if self._observed is None:
            o = Observed()
            o.kind = int_array(model.joint_kind)
            o.base, o.follower = int_array(row[model.joint_base]), int_array(row[model.joint_follower])
            o.point_base, o.point_follower = real_array(model.point_base, vec3), real_array(model.point_follower, vec3)
            o.frame_base = real_array(model.frame_base, mat33)
            o.frame_follower = real_array(model.frame_follower, mat33)
            o.length = real_array(model.length)
            bits = np.array([sum(1 << slot for slot in CATALOGUE[kind].locked) for kind in JointId], np.int32)
            locked = bits[model.joint_kind]
            locked[(model.joint_kind == JointId.DISTANCE) & ~model.distance_locked] = 0
            o.locked = int_array(locked)
            self._observed = o
        joints = model.joints
        coordinate = wp.zeros((joints, 6), dtype=wp.float64, device="cpu")
        rate = wp.zeros((joints, 6), dtype=wp.float64, device="cpu")
        violation = wp.zeros(joints, dtype=wp.float64, device="cpu")
        if joints:
            Q = real_array(self._columns(self.bodies.Q.numpy(), back=True), mat34)
            V = real_array(self._columns(self.bodies.V.numpy(), back=True), mat34)
            inputs = [Q, V, self._observed, coordinate, rate, violation]
            wp.launch(observe_joints, dim=joints, inputs=inputs, device="cpu")
        return coordinate.numpy(), rate.numpy(), violation.numpy()

    def coordinates(self) -> Array:
        """(j, 6) joint coordinates by slot, m and rad, 0 for locked slots; those with a law count full turns."""
        coordinate, _, _ = self._observe()
        table = self.law_table
        if len(table.joint):
            value = self.laws.past.numpy()
            near = coordinate[table.joint, table.slot]
            turns = np.where(table.slot >= 3, np.round((value - near) / (2.0 * np.pi)), 0.0)
            coordinate[table.joint, table.slot] = near + 2.0 * np.pi * turns
        return coordinate

    def coordinate_rates(self) -> Array:
        """(j, 6) rates of the joint coordinates by slot, m/s and rad/s, 0 for locked slots."""
        return self._observe()[1]

    def residual(self) -> float:
        """Largest violation of a locked or prescribed coordinate or of a limit, m or rad."""
        coordinate, _, violation = self._observe()
        worst = float(violation.max(initial=0.0))
        table = self.law_table
        if len(table.joint):
            laws = self.laws
            value = laws.past.numpy()
            over = np.maximum(laws.lower.numpy() - value, value - laws.upper.numpy())
            cone = np.flatnonzero(laws.cone.numpy())
            over[cone] = np.hypot(value[cone], value[cone + 1]) - laws.upper.numpy()[cone]
            prescribed = np.where(laws.drive.numpy() == 2, np.abs(value - laws.target.numpy()), 0.0)
            worst = max(worst, float(np.maximum(over, prescribed).max()))
        return worst

    def energies(self) -> tuple[float, float, float, float]:
        """Kinetic, potential, elastic (bodies and springs) and contact energy, J."""
        out = wp.zeros(3, dtype=wp.float64, device="cpu")
        wp.launch(
            observe_bodies, dim=1,
            inputs=[self.bodies, self.scheme.gravity, self.layout.moving, out], device="cpu",
        )  # fmt: skip
        kinetic, potential, elastic = (float(x) for x in out.numpy())
        potential -= self._constant_work()
        laws = self.laws
        if len(self.law_table.joint):
            c = laws.past.numpy()
            elastic += float((0.5 * laws.stiffness.numpy() * (c - laws.rest.numpy()) ** 2).sum())
            pd = laws.drive.numpy() == 1
            elastic += float((0.5 * laws.drive_stiffness.numpy() * (c - laws.target.numpy()) ** 2)[pd].sum())
        return kinetic, potential, elastic, 0.0

    def _constant_work(self) -> float:
        if len(self._constant_force) == 0:
            return 0.0
        Q = self.bodies.Q.numpy()[: self.layout.moving]
        return float((self._constant_force * Q).sum())

    def last_iterations(self) -> tuple[float, int]:
        """Mean over components and maximum of the Newton iterations of the last step."""
        used = np.concatenate([self.chains.iterations.numpy(), self.components.iterations.numpy()])
        return (float(used.mean()), int(used.max())) if len(used) else (0.0, 0)

    def redundant_rows(self) -> int:
        """Locked rows that follow from others."""
        return int(self.components.redundant.numpy().sum())

    def multipliers(self) -> Array:
        """(j, 6) multiplier by slot: minus the generalised force along the coordinate, N and N m."""
        result = np.zeros((self.model.joints, 6))
        result[self._chain_joints, :3] = (
            self.chains.multiplier.numpy()[self._chain_slot] * self._chain_sign[:, None]
        )
        e = self.engine_layout
        joint = np.repeat(np.arange(len(e.joints)), np.diff(e.first_row))
        place = e.unknown[joint] + np.arange(len(e.slot)) - e.first_row[joint]
        result[e.joints[joint], e.slot] = self.work.multiplier.numpy()[place]
        return result

    def joint_wrenches(self) -> tuple[Array, Array]:
        """(j, 3) force N and (j, 3) torque N m of the base on the follower about the base's joint point, world frame."""
        force, torque = np.zeros((self.model.joints, 3)), np.zeros((self.model.joints, 3))
        force[self._chain_joints] = -self.chains.multiplier.numpy()[self._chain_slot] * self._chain_sign[:, None]
        e = self.engine_layout
        if len(e.joints):
            own_force, own_torque = np.zeros((len(e.joints), 3)), np.zeros((len(e.joints), 3))
            joint = np.repeat(np.arange(len(e.joints)), np.diff(e.first_row))
            x = self.work.multiplier.numpy()[e.unknown[joint] + np.arange(len(e.slot)) - e.first_row[joint]]
            on = self.joints.on_follower.numpy()
            body = self.joints.follower.numpy()[joint]
            sign = -1.0
            fixed_follower = body >= self.layout.moving
            base = self.joints.base.numpy()[joint]
            row = np.where(fixed_follower[:, None], -self.joints.on_base.numpy(), on)
            body = np.where(fixed_follower, base, body)
            R = self.bodies.R.numpy()[body]
            N = self.work.N.numpy()[body]
            np.add.at(own_force, joint, sign * x[:, None] * np.einsum("rij,rj->ri", R, row[:, :3]))
            w = np.linalg.solve(N, row[:, 3:, None])[:, :, 0] if len(row) else row[:, 3:]
            np.add.at(own_torque, joint, sign * x[:, None] * np.einsum("rij,rj->ri", R, w))
            Q = self.bodies.Q.numpy()
            J = self.joints
            ends = [
                np.einsum("nij,nj->ni", Q[body.numpy(), :, :3], X.numpy()) + Q[body.numpy(), :, 3]
                for body, X in ((J.follower, J.point_follower), (J.base, J.point_base))
            ]
            own_torque += np.cross(ends[0] - ends[1], own_force)
            force[e.joints], torque[e.joints] = own_force, own_torque
        return force, torque

    # -- setting ------------------------------------------------------------------------------------------------------

    def _state_arrays(self) -> dict[str, wp.array]:
        b, c, k, laws = self.bodies, self.chains, self.components, self.laws
        return {
            "Q": b.Q, "V": b.V, "Q_past": b.Q_past, "V_past": b.V_past, "R": b.R, "stiffness": b.k, "kind": b.kind,
            "chain_multiplier": c.multiplier, "chain_steps": c.steps, "chain_iterations": c.iterations,
            "left_anchor": c.left_anchor, "right_anchor": c.right_anchor,
            "multiplier": self.work.multiplier, "steps": k.steps, "iterations": k.iterations, "redundant": k.redundant,
            "on_base": self.joints.on_base, "on_follower": self.joints.on_follower, "N": self.work.N,
            "law_value": laws.value, "law_past": laws.past, "law_older": laws.older, "law_piece": laws.piece,
        }  # fmt: skip

    def state(self) -> dict[str, NDArray[Any]]:
        """Copy of everything the next step depends on."""
        state: dict[str, NDArray[Any]] = {name: array.numpy().copy() for name, array in self._state_arrays().items()}
        state["steps_taken"] = np.array(self.steps_taken)
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Return to a state of this model; the continuation is bit-identical."""
        for name, array in self._state_arrays().items():
            array.numpy()[...] = state[name]
        self.steps_taken = int(state["steps_taken"])
        self.chains.failed.numpy()[0] = 0

    def set_forces(self, forces: Array, torques: Array, point_forces: Array | None = None) -> None:
        """Replace the user's part of the loads: forces (n, 3) at the centres of mass, torques (n, 3), and
        point_forces (n, 3, 3), the sums of f X^T over further forces f at points X of the principal frames (their
        resultants already in forces)."""
        layout = self.layout
        b = self.bodies
        if b.loaded == 0:
            b.loaded = 1
            b.force = wp.zeros(layout.moving, dtype=mat34, device="cpu")
            b.torque = wp.zeros(layout.moving, dtype=vec3, device="cpu")
            self._constant_force, self._constant_torque = np.zeros((layout.moving, 3, 4)), np.zeros((layout.moving, 3))
            self._graphs.clear()
        own = layout.order[: layout.moving]
        force, torque = b.force.numpy(), b.torque.numpy()
        force[:, :, :3] = 0.0
        if point_forces is not None:
            force[:, :, :3] = point_forces[own]
            force[:] = self._columns_moving(force)
        force[:, :, 3] = forces[own]
        force += self._constant_force
        torque[:] = self._constant_torque + torques[own]

    def set_law(self, field: str, rows: Int, values: Array) -> None:
        """Set a column of the model's laws, e.g. "target", for some of its rows."""
        getattr(self.laws, field).numpy()[self.law_table.row[rows]] = values

    def set_kinematic(self, bodies: Int, affine: Array) -> None:
        """Pose [A | t] (k, 3, 4) of kinematic bodies at the end of the coming step."""
        b = self.bodies
        row = self.layout.row[bodies]
        Q, V = b.Q.numpy(), b.V.numpy()
        V[row] = (affine - Q[row]) / self.dt
        Q[row] = affine
        b.R.numpy()[row] = affine[:, :, :3]
        self._place_anchors()
