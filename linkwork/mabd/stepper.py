"""The MABD stepper: device arrays in solver order, the captured step, and everything a simulation reads or sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.finder import Finder
from linkwork.contact.overlaps import report_overlaps
from linkwork.errors import StepFailure
from linkwork.mabd import bodies as device_bodies
from linkwork.mabd.affine import BodyType, mat33, mat34, vec3
from linkwork.mabd.arrays import Array, Int, int_array, real_array, zeros
from linkwork.mabd.chain_group import ChainGroup
from linkwork.mabd.component_group import ComponentGroup
from linkwork.mabd.forest_group import ForestGroup
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import LawTable, Layout, rows_per_joint, unique_rows
from linkwork.mabd.observe import Observed, observe_bodies, observe_joints
from linkwork.mabd.settings import MABD
from linkwork.mabd.tape import BATCH, Tape, from_poses
from linkwork.mabd.turns import Turns
from linkwork.model.model import Model
from linkwork.scene.joints import CATALOGUE, JointId

if TYPE_CHECKING:
    from linkwork.mabd.contact_group import ContactGroup

FIND, MEET = -1, -2  # the two graphs of a step with contact, next to those of as many steps as their names
NODE_SIZES = (3, 6)  # rows of the nodes of the component engine


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


class Stepper:
    """Advances a model by MABD. Built by `MABD.build`; a `Simulation` is what users hold."""

    def __init__(self, model: Model, settings: MABD, dt: float) -> None:
        self.model = model
        self.settings = settings
        self.dt = float(dt)
        self.law_table = LawTable.build(model)
        self.layout = Layout.build(model, self.law_table, settings.fast_paths)
        self.steps_taken = 0
        self._stale = False
        self._seen: tuple[Array, Array, Array] | None = None
        self._graphs: dict[tuple[int, int, Tape | None], Any] = {}
        self._observed: Observed | None = None
        self._failed = int_array([0])
        self._failure = self._failed.numpy()  # the same memory
        self._fill_bodies()
        self._fill_laws()
        self.chains = ChainGroup(model, self.layout, self.bodies, self._start_types, self._failed)
        self.forests = self._forest_groups()
        self.groups = self._component_groups()
        self.contact_energy = zeros(1)
        self.contact = self._contact_group() if self.layout.touching else None
        self.turns = Turns(model, self.law_table, self.layout.row, self.bodies)
        self.constant_loads = self._model_loads() if len(model.force_body) else None
        if self.constant_loads is not None:
            still = np.zeros((model.bodies, 3))
            self.set_forces(still, still)

    # -- building -----------------------------------------------------------------------------------------------------

    def columns(self, A: Array, back: bool = False) -> Array:
        """Rotate the first three columns of the first rows from the model's principal axes to the solver's, or back."""
        turn = self.layout.turn[: len(A)]
        if not turn.any():
            return A
        index = (np.arange(3)[None, :] + (-turn if back else turn)[:, None]) % 3
        result = A.copy()
        result[:, :, :3] = np.take_along_axis(A[:, :, :3], index[:, None, :], axis=2)
        return result

    def _fill_bodies(self) -> None:
        model, layout = self.model, self.layout
        rows, moving = layout.order, layout.moving
        real_rows = rows[:-1]  # the last is the ground
        Q, V = np.zeros((len(rows), 3, 4)), np.zeros((len(rows), 3, 4))
        rotation = model.rotation.take(real_rows, axis=0)
        Q[:-1, :, :3], Q[-1, :, :3] = rotation, np.eye(3)
        Q[:-1, :, 3] = model.translation.take(real_rows, axis=0)
        if model.angular_velocity.any():
            V[:-1, :, :3] = cross_columns(model.angular_velocity.take(real_rows, axis=0), rotation)
        V[:-1, :, 3] = model.velocity.take(real_rows, axis=0)
        V[:-1][model.motion[real_rows] == 1] = 0.0
        Q, V = self.columns(Q), self.columns(V)
        h = self.dt
        bdf2 = self.settings.integrator == "bdf2"
        own = rows[:moving]
        J = model.second_moments.take(own, axis=0)
        if layout.turn.any():
            J = np.take_along_axis(J, (np.arange(3)[None, :] + layout.turn[:moving, None]) % 3, axis=1)
        mu, lam = model.lame_mu[own] * model.volume[own], model.lame_lambda[own] * model.volume[own]
        table, kind = unique_rows(np.column_stack([model.mass[own], J, mu, lam]))
        betas = (2.0 * h / 3.0, h) if bdf2 else (h,)
        types = np.concatenate([body_types(table, beta) for beta in betas])
        if bdf2:
            kind = kind + np.int32(len(table))
        b = device_bodies.Bodies()
        self._types, self._start_types = types, len(table) if bdf2 else 0
        b.kind, b.types = int_array(kind), wp.array(types, dtype=BodyType, device="cpu")
        b.Q, b.V = real_array(Q, mat34), real_array(V, mat34)
        # what only the component engine reads
        alone = moving if len(layout.others) else 0
        b.Q_past, b.V_past = real_array(Q[:alone], mat34), real_array(V[:alone], mat34)
        b.Q_free, b.g = zeros(alone, mat34), zeros(alone, mat34)
        b.R = real_array(Q[:, :, :3], mat33)
        b.P, b.k = zeros(alone, mat33), zeros(alone, vec3)
        b.loaded = 0
        b.force, b.torque = wp.zeros(0, dtype=mat34, device="cpu"), wp.zeros(0, dtype=vec3, device="cpu")
        b.stiffened = 0
        b.slot, b.hessian = int_array(np.zeros(0)), zeros(0)
        self.bodies = b
        s = device_bodies.Scheme()
        s.h, s.euler, s.start_types = h, int(not bdf2), self._start_types
        s.published = int(self.settings.published)
        s.gravity = vec3(*model.gravity)
        s.update_tolerance, s.iterations = self.settings.update_tolerance, self.settings.iterations
        self.scheme = s

    def _model_loads(self) -> tuple[Array, Array, Array]:
        """The scene's constant loads of all bodies: forces, torques, and sums of f X^T."""
        model = self.model
        force, torque, levers = (np.zeros((model.bodies, *shape)) for shape in ((3,), (3,), (3, 3)))
        np.add.at(force, model.force_body, model.force_vector)
        np.add.at(torque, model.force_body, model.force_torque)
        np.add.at(levers, model.force_body, model.force_vector[:, :, None] * model.force_point[:, None, :])
        return force, torque, levers

    def _fill_laws(self) -> None:
        model = self.model
        table = self.law_table
        laws = Laws()
        for name, column in table.columns.items():
            setattr(laws, name, int_array(column) if name in ("drive", "cone") else real_array(column))
        value = np.zeros(len(table.joint))
        on_distance = model.joint_kind[table.joint] == JointId.DISTANCE
        value[on_distance] = model.length[table.joint[on_distance]]
        laws.value, laws.past, laws.older = real_array(value), real_array(value), real_array(value)
        laws.piece = int_array(np.zeros(len(value)))
        self.laws = laws

    def _forest_groups(self) -> list[ForestGroup]:
        layout = self.layout
        return [
            ForestGroup(
                self.model, layout.row, self._types, self.bodies.kind.numpy(),
                self.law_table, self.laws, self.bodies, batches, size, self.settings.joint_tolerance, self._failed,
            )
            for size, batches in layout.forests.items()
        ]  # fmt: skip

    def _publish(self) -> None:
        """Bring the rows of Bodies up to date with what is kept elsewhere."""
        if self._stale:
            self.publish_lanes()
            self._stale = False

    def publish_lanes(self) -> None:
        """Write what chains and forests keep into the rows of Bodies."""
        for group in (self.chains, *self.forests):
            group.publish()

    def _component_groups(self) -> list[ComponentGroup]:
        layout, others = self.layout, self.layout.others
        most = np.zeros(len(layout.graph.cycles), np.int64)
        np.maximum.at(most, layout.graph.joint_component, rows_per_joint(self.model, self.law_table))
        groups = []
        smaller = -1
        for size in NODE_SIZES:
            picked = others[(most[others] > smaller) & (most[others] <= size)]
            smaller = size
            if len(picked):
                groups.append(
                    ComponentGroup(
                        self.model, layout, self.law_table, self.laws, self.bodies, picked, size,
                        self.settings.joint_tolerance, self._failed,
                    )
                )  # fmt: skip
        return groups

    def _contact_group(self) -> ContactGroup:
        from linkwork.mabd.contact_group import ContactGroup

        finder = Finder(self.model, self.layout.graph, self.layout.row)
        report_overlaps(
            self.model, finder.start_overlaps(self.bodies.Q, ignore=self.model.contact_rules.overlaps == "pass")
        )
        return ContactGroup(
            self.model, self.layout, finder, self.groups, self.bodies, self.laws, self.contact_energy, self._failed
        )

    # -- stepping -----------------------------------------------------------------------------------------------------

    def _launch(self) -> None:
        for group in (self.chains, *self.forests, *self.groups):
            group.launch(self.scheme)
        self.turns.launch()

    def replay(self, steps: int, cycles: int = 1, tape: Tape | None = None) -> None:
        """Take so many cycles of steps as one captured graph; with a tape, each ends in a frame."""
        key = steps, cycles, tape
        if key not in self._graphs:
            with wp.ScopedCapture(device="cpu") as capture:
                for _ in range(cycles):
                    for _ in range(steps):
                        self._launch()
                    if tape is not None:
                        tape.launch()
            self._graphs[key] = capture.graph
        wp.capture_launch(self._graphs[key])
        if self._failure[0]:
            self._fail()

    def forget_graphs(self, tape: Tape) -> None:
        """The tape is not used any more."""
        self._graphs = {key: graph for key, graph in self._graphs.items() if key[2] is not tape}

    def step(self, count: int) -> None:
        """Advance by count steps; raises StepFailure when a component diverged."""
        if self.contact is not None:
            self._step_in_contact(count)
            return
        self._begin_stepping()
        self._replay_steps(count)
        self.steps_taken += count

    def step_taped(self, tape: Tape, count: int, first: int, every: int) -> None:
        """As `step`, with a frame after `first` steps and every so many from there."""
        if self.contact is not None:
            done, due = 0, first
            while done + due <= count:
                self._step_in_contact(due)
                tape.take()
                done, due = done + due, every
            self._step_in_contact(count - done)
            return
        self._begin_stepping()
        lead = min(first, count)
        if lead == every:
            lead = 0
        else:
            self._replay_steps(lead)
            if lead == first:
                tape.take()
        frames, rest = divmod(count - lead, every)
        together = BATCH // every
        while frames > 0:
            cycles = together if 0 < together <= frames else 1
            if every > BATCH:
                self._replay_steps(every)
            self.replay(0 if every > BATCH else every, cycles, tape)
            frames -= cycles
        self._replay_steps(rest)
        self.steps_taken += count

    def _begin_stepping(self) -> None:
        self._stale = bool(self.chains.count or self.forests)
        self._seen = None

    def _replay_steps(self, count: int) -> None:
        for _ in range(count // BATCH):
            self.replay(BATCH)
        for _ in range(count % BATCH):
            self.replay(1)

    def tape(self, block: NDArray[Any], slots: NDArray[np.bool_]) -> Tape:
        """Frames of this stepper, see Tape."""
        return Tape(self, block, slots)

    def from_poses(self) -> NDArray[np.bool_]:
        """Joints whose coordinates are functions of the poses alone."""
        return from_poses(self.model)

    def _step_in_contact(self, count: int) -> None:
        """Contacts are found first; the step goes on when there was room for all of them."""
        self._seen = None
        contact = self.contact
        assert contact is not None
        for _ in range(count):
            while True:
                wp.capture_launch(self._recorded(FIND, lambda: contact.find(self.dt)))
                if not contact.finder.overflowed:
                    break
                contact.grow()
                self._graphs.clear()
            wp.capture_launch(self._recorded(MEET, self._launch_in_contact))
            self.steps_taken += 1
            if self._failure[0]:
                self._fail()

    def _launch_in_contact(self) -> None:
        assert self.contact is not None
        self.contact.launch(self.scheme)
        self.turns.launch()

    def _recorded(self, name: int, launch: Callable[[], None]) -> Any:
        key = name, 1, None
        if key not in self._graphs:
            with wp.ScopedCapture(device="cpu") as capture:
                launch()
            self._graphs[key] = capture.graph
        return self._graphs[key]

    def _fail(self) -> None:
        self._publish()
        groups = [group for group in (self.chains, *self.forests, *self.groups) if len(group.steps)]
        step = max(int(group.steps.max()) for group in groups)
        # groups and their components go one after the other, and none goes on after a failure
        failing = [group for group in groups if group.steps.max() == step][-1]
        rows = (self.contact or failing).rows(int(self._failure[0]) - 1)
        A, V = self.bodies.Q.numpy()[rows, :, :3], self.bodies.V.numpy()[rows]
        with np.errstate(invalid="ignore"):
            wild = ~(np.abs(A).max(axis=(1, 2)) < 10.0)
            speed = np.abs(V).max(axis=(1, 2))
        if not wild.any():
            wild = ~(speed < 0.5 * speed.max())
        bodies = np.sort(self.layout.order[rows[wild]])
        raise StepFailure(step, [int(body) for body in bodies[:20]], "pose (the Newton iteration diverged)")

    # -- reading ------------------------------------------------------------------------------------------------------

    def affine(self) -> Array:
        """(n, 3, 4) maps [A | t] from principal frames to the world."""
        self._publish()
        Q = self.columns(self.bodies.Q.numpy(), back=True)
        return Q[self.layout.row[:-1]]

    def rates(self) -> Array:
        """(n, 3, 4) time derivatives of `affine`."""
        self._publish()
        V = self.columns(self.bodies.V.numpy(), back=True)
        return V[self.layout.row[:-1]]

    def centres(self) -> Array:
        """(n, 3) centres of mass, m: the last column of `affine` without the others."""
        return self._last_column(self.bodies.Q, [forest.translations for forest in self.forests])

    def velocities(self) -> Array:
        """(n, 3) velocities of the centres of mass, m/s."""
        return self._last_column(self.bodies.V, [forest.velocities for forest in self.forests])

    def _last_column(self, rows: wp.array, in_forests: list[Callable[[wp.array], None]]) -> Array:
        result = wp.empty(self.model.bodies, dtype=vec3, device="cpu")
        values: Array = result.numpy()
        if sum(forest.count for forest in self.forests) < self.model.bodies:
            if self.chains.count:
                self._publish()
            values[:] = rows.numpy()[self.layout.row[:-1], :, 3]
        for read in in_forests:
            read(result)
        return values

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
        """Coordinates, rates and violations of all joints; made once for each state, not to be changed."""
        if self._seen is None:
            self._seen = self._observe_anew()
        return self._seen

    def _observe_anew(self) -> tuple[Array, Array, Array]:
        self._publish()
        model = self.model
        if self._observed is None:
            self._observed = self.joints_of(np.arange(model.joints))
        joints = model.joints
        coordinate = wp.zeros((joints, 6), dtype=wp.float64, device="cpu")
        rate = wp.zeros((joints, 6), dtype=wp.float64, device="cpu")
        violation = wp.zeros(joints, dtype=wp.float64, device="cpu")
        if joints:
            inputs = [self.bodies.Q, self.bodies.V, self._observed, coordinate, rate, violation]
            wp.launch(observe_joints, dim=joints, inputs=inputs, device="cpu")
        return coordinate.numpy(), rate.numpy(), violation.numpy()

    def joints_of(self, joints: NDArray[np.intp]) -> Observed:
        """Some of the model's joints, to be measured on the rows of Bodies."""
        model, row = self.model, self.layout.row
        o = Observed()
        kind = model.joint_kind[joints]
        base, follower = row[model.joint_base[joints]], row[model.joint_follower[joints]]
        o.kind, o.base, o.follower = int_array(kind), int_array(base), int_array(follower)
        for side, at in (("base", base), ("follower", follower)):
            # the axes of points and frames are those of the columns of A
            axes = (np.arange(3)[None, :] + self.layout.turn[at][:, None]) % 3
            points, frames = getattr(model, f"point_{side}")[joints], getattr(model, f"frame_{side}")[joints]
            setattr(o, f"point_{side}", real_array(np.take_along_axis(points, axes, axis=1), vec3))
            setattr(o, f"frame_{side}", real_array(np.take_along_axis(frames, axes[:, :, None], axis=1), mat33))
        o.length = real_array(model.length[joints])
        bits = np.array([sum(1 << slot for slot in CATALOGUE[kind].locked) for kind in JointId], np.int32)
        locked = bits[kind]
        locked[(kind == JointId.DISTANCE) & ~model.distance_locked[joints]] = 0
        o.locked = int_array(locked)
        return o

    def coordinates(self) -> Array:
        """(j, 6) joint coordinates by slot, m and rad, 0 for locked slots; angles and those with a law count full turns."""
        coordinate = self._observe()[0].copy()
        table = self.law_table
        turning = table.slot >= 3
        laws = table.joint[turning], table.slot[turning], self.laws.past.numpy()[turning]
        for joint, slot, value in (laws, (self.turns.joint, self.turns.slot, self.turns.values)):
            near = coordinate[joint, slot]
            coordinate[joint, slot] = near + 2.0 * np.pi * np.round((value - near) / (2.0 * np.pi))
        return coordinate

    def coordinate_rates(self) -> Array:
        """(j, 6) rates of the joint coordinates by slot, m/s and rad/s, 0 for locked slots."""
        return self._observe()[1].copy()

    def residual(self) -> float:
        """Largest violation of a locked or prescribed coordinate or of a limit, m or rad."""
        violation = self._observe()[2]
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
        self._publish()
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
        return kinetic, potential, elastic, float(self.contact_energy.numpy()[0])

    def _constant_work(self) -> float:
        if self.constant_loads is None:
            return 0.0
        force, _, levers = self.constant_loads
        moves = self.layout.row[:-1] < self.layout.moving
        Q = self.affine()[moves]
        return float((levers[moves] * Q[:, :, :3]).sum() + (force[moves] * Q[:, :, 3]).sum())

    def contacts(self) -> tuple[Int, Array, Array, Array, Array]:
        """Bodies (m, 2), points (m, 3), normals (m, 3), forces (m, 3) on the first of two bodies, N, and gaps (m,)."""
        if self.contact is None:
            return np.zeros((0, 2), np.int32), *(np.zeros((0, 3)) for _ in range(3)), np.zeros(0)
        return self.contact.pressing()

    def last_iterations(self) -> tuple[float, int]:
        """Mean over components and maximum of the Newton iterations of the last step."""
        used = np.concatenate(
            [
                self.chains.chains.iterations.numpy(),
                *(group.components.iterations.numpy() for group in self.groups),
                *(forest.forest.iterations.numpy() for forest in self.forests),
            ]
        )
        return (float(used.mean()), int(used.max())) if len(used) else (0.0, 0)

    def redundant_rows(self) -> int:
        """Locked rows that follow from others."""
        return sum(int(group.components.redundant.numpy().sum()) for group in self.groups)

    def multipliers(self) -> Array:
        """(j, 6) multiplier by slot: minus the generalised force along the coordinate, N and N m.

        NaN for joints in forests, which solve for wrenches."""
        result = np.zeros((self.model.joints, 6))
        for forest in self.forests:
            result[forest.joints] = np.nan
        result[self.chains.joints, :3] = self.chains.multipliers()
        for group in self.groups:
            group.multipliers(result)
        return result

    def joint_wrenches(self) -> tuple[Array, Array]:
        """Forces N and torques N m, (j, 3), of the base on the follower about the base's joint point, world frame."""
        on_follower = [wp.zeros(self.model.joints, dtype=vec3, device="cpu") for _ in range(2)]
        force, torque = (array.numpy() for array in on_follower)
        if len(self.chains.joints):
            force[self.chains.joints] = -self.chains.multipliers()
        for group in self.groups:
            group.wrenches(force, torque)
        for forest in self.forests:
            forest.wrenches(*on_follower)
        return force, torque

    # -- setting ------------------------------------------------------------------------------------------------------

    def _state_arrays(self) -> dict[str, wp.array]:
        b, laws = self.bodies, self.laws
        arrays = {
            "Q": b.Q, "V": b.V, "Q_past": b.Q_past, "V_past": b.V_past, "R": b.R, "stiffness": b.k, "kind": b.kind,
            "law_value": laws.value, "law_past": laws.past, "law_older": laws.older, "law_piece": laws.piece,
        } | self.chains.arrays()  # fmt: skip
        for group in (*self.forests, *self.groups, self.turns):
            arrays |= group.arrays()
        return arrays

    def state(self) -> dict[str, NDArray[Any]]:
        """Copy of everything the next step depends on."""
        state: dict[str, NDArray[Any]] = {name: array.numpy().copy() for name, array in self._state_arrays().items()}
        state["steps_taken"] = np.array(self.steps_taken)
        if self.contact is not None:
            state |= self.contact.state()
            state["contact_energy"] = self.contact_energy.numpy().copy()
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Return to a state of this model; the continuation is bit-identical."""
        for name, array in self._state_arrays().items():
            array.numpy()[...] = state[name]
        self.steps_taken = int(state["steps_taken"])
        if self.contact is not None:
            self.contact.restore(state)
            self.contact_energy.numpy()[...] = state["contact_energy"]
            self._graphs.clear()
        self._stale = bool(self.chains.count or self.forests)
        self._seen = None
        self._failure[0] = 0

    def set_forces(self, forces: Array, torques: Array, point_forces: Array | None = None) -> None:
        """Replace the user's part of the loads: forces (n, 3) at the centres of mass, torques (n, 3), and
        point_forces (n, 3, 3), the sums of f X^T over further forces f at points X of the principal frames (their
        resultants already in forces)."""
        if self.constant_loads is not None:
            force, torque, levers = self.constant_loads
            forces, torques = forces + force, torques + torque
            point_forces = levers if point_forces is None else point_forces + levers
        if self.bodies.loaded == 0:
            self._make_room_for_loads()
        if len(self.bodies.force):
            self._load_bodies(forces, torques, point_forces)
        if self.forests:
            pushed = real_array(forces, vec3), real_array(torques, vec3)
            levers_given = None if point_forces is None else real_array(point_forces)
            for forest in self.forests:
                forest.take_loads(*pushed, levers_given)

    def _make_room_for_loads(self) -> None:
        b, layout = self.bodies, self.layout
        size = layout.moving if len(layout.chains) or len(layout.others) else 0
        b.loaded = 1
        b.force, b.torque = wp.zeros(size, dtype=mat34, device="cpu"), wp.zeros(size, dtype=vec3, device="cpu")
        for forest in self.forests:
            forest.make_room_for_loads()
        self._graphs.clear()

    def _load_bodies(self, forces: Array, torques: Array, point_forces: Array | None) -> None:
        """Loads of the bodies outside forests."""
        own = self.layout.order[: self.layout.moving]
        force = self.bodies.force.numpy()
        if point_forces is None:
            force[:, :, :3] = 0.0
        else:
            force[:, :, :3] = point_forces[own]
            force[:] = self.columns(force)
        force[:, :, 3] = forces[own]
        self.bodies.torque.numpy()[:] = torques[own]

    def set_law(self, field: str, rows: Int, values: Array) -> None:
        """Set a column of the model's laws, e.g. "target", for some of its rows."""
        getattr(self.laws, field).numpy()[self.law_table.row[rows]] = values
        for forest in self.forests:
            forest.take_lines()

    def set_kinematic(self, bodies: Int, affine: Array) -> None:
        """Pose [A | t] (k, 3, 4) of kinematic bodies at the end of the coming step."""
        b = self.bodies
        self._seen = None
        row = self.layout.row[bodies]
        Q, V = b.Q.numpy(), b.V.numpy()
        V[row] = (affine - Q[row]) / self.dt
        Q[row] = affine
        b.R.numpy()[row] = affine[:, :, :3]
        for group in (self.chains, *self.forests):
            group.place_anchors()
