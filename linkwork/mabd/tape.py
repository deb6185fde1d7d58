"""Frames written while the steps of a captured graph are replayed: poses, rates, energies, residual, coordinates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.mabd.affine import CPU_OPTIONS, linear_part, mat34, point_at, polar_rotation, real, vec3
from linkwork.mabd.arrays import Array, flat, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.chain_tape import Slots, take_chains
from linkwork.mabd.coordinates import unwrap
from linkwork.mabd.joints import measure
from linkwork.mabd.laws import PD, POSITION, Laws
from linkwork.mabd.observe import Observed, body_energies, locked_violation
from linkwork.mabd.reel import Reel, put_entry
from linkwork.model.model import Model
from linkwork.scene.joints import JointId

if TYPE_CHECKING:
    from linkwork.mabd.stepper import Stepper

__all__ = ["Tape", "from_poses"]

BATCH = 64  # steps of one captured graph
LAW, TURN = 1, 2


@wp.struct
class Balls:
    """Ball joints without laws: their violation asks for no rotation, their coordinates follow from the poses."""

    base: wp.array(dtype=wp.int32)
    follower: wp.array(dtype=wp.int32)
    point_base: wp.array(dtype=vec3)
    point_follower: wp.array(dtype=vec3)


@wp.struct
class Others:
    """The other joints, and which of their coordinates a frame keeps."""

    count: wp.int32
    o: Observed
    first: wp.array(dtype=wp.int32)  # count + 1: coordinates of each
    slot: wp.array(dtype=wp.int32)
    counted: wp.array(dtype=wp.int32)  # LAW or TURN where full turns count
    counter: wp.array(dtype=wp.int32)  # their row


@wp.struct
class Rows:
    """Bodies outside chains, by row of Bodies."""

    row: wp.array(dtype=wp.int32)
    body: wp.array(dtype=wp.int32)
    moving: wp.int32  # so many of them, the first, move


@wp.func
def put_pose(reel: Reel, at: int, Q: mat34, V: mat34):
    """Pose and rate; outside chains the solver's axes are the model's."""
    for r in range(3):
        for k in range(4):
            put_entry(reel, at + 4 * r + k, Q[r, k])
            if reel.rates > 0:
                put_entry(reel, at + reel.rates + 4 * r + k, V[r, k])


@wp.func
def law_violation(laws: Laws, i: int) -> real:
    """By how much a limit is passed or a prescribed coordinate missed."""
    value = laws.past[i]
    over = wp.max(laws.lower[i] - value, value - laws.upper[i])
    if laws.cone[i] != 0:
        next = laws.past[i + 1]
        over = wp.sqrt(value * value + next * next) - laws.upper[i]
    if laws.drive[i] == POSITION:
        over = wp.max(over, wp.abs(value - laws.target[i]))
    return over


@wp.func
def law_energy(laws: Laws, i: int) -> real:
    """Of the spring and the PD drive, J."""
    c = laws.past[i]
    x = c - laws.rest[i]
    energy = real(0.5) * laws.stiffness[i] * x * x
    if laws.drive[i] == PD:
        y = c - laws.target[i]
        energy += real(0.5) * laws.drive_stiffness[i] * y * y
    return energy


@wp.struct
class Filmed:
    """All that a frame is made of. The kernel gets it as an array: passed by value it would be copied every time."""

    b: Bodies
    gravity: vec3
    rows: Rows
    chains: wp.array(dtype=wp.float64)  # of each: kinetic, potential, elastic energy, residual
    loads: wp.array(dtype=mat34)  # the scene's own, by row of Bodies
    balls: Balls
    others: Others
    laws: Laws
    turns: wp.array(dtype=wp.float64)
    reel: Reel


@wp.kernel(module="unique", module_options=CPU_OPTIONS, enable_backward=False)
def take_rest(f: wp.array(dtype=Filmed)):
    """What is not on chains, and the sums over all; closes the frame."""
    taken = f[0].reel.taken[0]
    at = taken * f[0].reel.size
    energy = vec3()
    worst = real(0.0)
    for i in range(f[0].chains.shape[0] / 4):
        energy += vec3(f[0].chains[4 * i], f[0].chains[4 * i + 1], f[0].chains[4 * i + 2])
        worst = wp.max(worst, f[0].chains[4 * i + 3])
    poses = taken * f[0].reel.pose_size + f[0].reel.poses
    for n in range(f[0].rows.row.shape[0]):
        i = f[0].rows.row[n]
        Q = f[0].b.Q[i]
        V = f[0].b.V[i]
        put_pose(f[0].reel, poses + 12 * f[0].rows.body[n], Q, V)
        if n < f[0].rows.moving:
            energy += body_energies(f[0].b.types[f[0].b.kind[i]], Q, V, f[0].gravity)
    for i in range(f[0].loads.shape[0]):
        energy[1] -= wp.ddot(f[0].loads[i], f[0].b.Q[i])
    for j in range(f[0].balls.base.shape[0]):
        QB = f[0].b.Q[f[0].balls.base[j]]
        QF = f[0].b.Q[f[0].balls.follower[j]]
        d = point_at(QF, f[0].balls.point_follower[j]) - point_at(QB, f[0].balls.point_base[j])
        worst = wp.max(worst, wp.max(wp.abs(d)))
    for j in range(f[0].others.count):
        kind = f[0].others.o.kind[j]
        QB = f[0].b.Q[f[0].others.o.base[j]]
        QF = f[0].b.Q[f[0].others.o.follower[j]]
        B = polar_rotation(linear_part(QB)) * f[0].others.o.frame_base[j]
        F = polar_rotation(linear_part(QF)) * f[0].others.o.frame_follower[j]
        d = point_at(QF, f[0].others.o.point_follower[j]) - point_at(QB, f[0].others.o.point_base[j])
        worst = wp.max(worst, locked_violation(kind, f[0].others.o.locked[j], f[0].others.o.length[j], B, F, d))
        for c in range(f[0].others.first[j], f[0].others.first[j + 1]):
            value = measure(kind, f[0].others.slot[c], B, F, d).value
            if f[0].others.counted[c] == LAW:
                value = unwrap(value, f[0].laws.past[f[0].others.counter[c]])
            elif f[0].others.counted[c] == TURN:
                value = unwrap(value, f[0].turns[f[0].others.counter[c]])
            f[0].reel.numbers[at + f[0].reel.coordinates + c] = value
    for i in range(f[0].laws.past.shape[0]):
        worst = wp.max(worst, law_violation(f[0].laws, i))
        energy[2] += law_energy(f[0].laws, i)
    f[0].reel.numbers[at + f[0].reel.residual] = worst
    for k in range(3):
        f[0].reel.numbers[at + f[0].reel.energy + k] = energy[k]
    f[0].reel.numbers[at + f[0].reel.energy + 3] = real(0.0)
    f[0].reel.taken[0] = taken + 1


def from_poses(model: Model) -> NDArray[np.bool_]:
    """Joints whose coordinates are functions of the poses alone: balls without laws."""
    balls: NDArray[np.bool_] = model.joint_kind == JointId.BALL
    balls[model.law_joint] = False
    return balls


class Tape:
    """Frames of a stepper in a block of memory, taken within the captured graphs that step it.

    Args:
        stepper: what is filmed.
        block: frames of `record.layout.frame_dtype`; residual, energy, coordinates, poses and rates are written.
        slots: (j, 6) free coordinates that a frame keeps.
    """

    def __init__(self, stepper: Stepper, block: NDArray[Any], slots: NDArray[np.bool_]) -> None:
        self._stepper = stepper
        self._reel = self._make_reel(block)
        self._taken = self._reel.taken.numpy()
        self._slots, rows = self._make_places()
        f = Filmed()
        f.b, f.gravity, f.rows, f.reel = stepper.bodies, stepper.scheme.gravity, rows, self._reel
        f.chains, f.loads = zeros(4 * stepper.chains.count), real_array(self._constant_loads(), mat34)
        f.balls, f.others = self._make_joints(slots)
        f.laws, f.turns = stepper.laws, stepper.turns.counted
        self._filmed, self._on_device = f, wp.array([f], dtype=Filmed, device="cpu")

    def _make_reel(self, block: NDArray[Any]) -> Reel:
        fields = block.dtype.fields
        assert fields is not None
        number, entry = 8, block["poses"].dtype.itemsize
        reel = Reel()
        reel.precise = int(entry == number)
        reel.singles = wp.array(block.view(np.float32), dtype=wp.float32, device="cpu", copy=False)
        reel.taken = int_array([0])
        reel.numbers = wp.array(block.view(np.float64), dtype=wp.float64, device="cpu", copy=False)
        reel.size, reel.pose_size = block.dtype.itemsize // number, block.dtype.itemsize // entry
        reel.residual, reel.energy = fields["residual"][1] // number, fields["energy"][1] // number
        reel.coordinates, reel.poses = fields["coordinates"][1] // number, fields["poses"][1] // entry
        reel.rates = (fields["rates"][1] - fields["poses"][1]) // entry if "rates" in fields else 0
        return reel

    def _make_places(self) -> tuple[Slots, Rows]:
        chains, layout = self._stepper.chains, self._stepper.layout
        row, counted = chains.lanes.row.numpy(), chains.lanes.counted.numpy()
        slots = Slots()
        slots.body, slots.turn = int_array(np.where(counted == 1, layout.order[row], -1)), int_array(layout.turn[row])
        slots.Q, slots.V = (flat(poses, chains.slots * 12) for poses in (chains.lanes.Q, chains.lanes.V))
        outside = np.ones(self._stepper.model.bodies, bool)
        outside[row] = False
        rows = Rows()
        own = np.flatnonzero(outside)
        rows.row, rows.body, rows.moving = (
            int_array(own),
            int_array(layout.order[own]),
            int((own < layout.moving).sum()),
        )
        return slots, rows

    def _constant_loads(self) -> Array:
        """The scene's own loads by solver row, whose work counts as potential energy; none where there are none."""
        stepper, layout = self._stepper, self._stepper.layout
        if stepper.constant_loads is None:
            return np.zeros((0, 3, 4))
        force, _, levers = stepper.constant_loads
        own = layout.order[: layout.moving]
        return stepper.columns(np.concatenate([levers, force[:, :, None]], axis=2)[own])

    def _make_joints(self, slots: NDArray[np.bool_]) -> tuple[Balls, Others]:
        stepper = self._stepper
        model, table = stepper.model, stepper.law_table
        balls = from_poses(model)
        others = np.flatnonzero(~balls)
        balls[stepper.chains.joints] = False
        B = Balls()
        o = stepper.joints_of(np.flatnonzero(balls))
        B.base, B.follower, B.point_base, B.point_follower = o.base, o.follower, o.point_base, o.point_follower
        joint, slot = np.nonzero(slots)
        counted, counter = np.zeros((model.joints, 6), np.int32), np.zeros((model.joints, 6), np.int32)
        turning = np.flatnonzero(table.slot >= 3)
        for mark, joints, at, rows in (
            (LAW, table.joint[turning], table.slot[turning], turning),
            (TURN, stepper.turns.joint, stepper.turns.slot, np.arange(len(stepper.turns.joint))),
        ):
            counted[joints, at], counter[joints, at] = mark, rows
        c = Others()
        c.count, c.o = len(others), stepper.joints_of(others)
        c.first = int_array(np.concatenate([[0], np.cumsum(slots.sum(axis=1)[others])]))
        c.slot = int_array(slot)
        c.counted, c.counter = int_array(counted[joint, slot]), int_array(counter[joint, slot])
        return B, c

    def rewind(self) -> None:
        """Begin the block anew."""
        self._taken[0] = 0

    def close(self) -> None:
        """Let go of the graphs that write to the block."""
        self._stepper.forget_graphs(self)

    def launch(self) -> None:
        """Write a frame of the present state."""
        s = self._stepper
        if len(self._filmed.loads):
            s.publish_lanes()
        else:
            for forest in s.forests:
                forest.publish()
        chains = s.chains
        if chains.count:
            inputs = [chains.chains, chains.lanes, chains.seams, s.scheme, self._slots, self._reel, self._filmed.chains]
            wp.launch(take_chains, dim=chains.count, inputs=inputs, device="cpu")
        wp.launch(take_rest, dim=1, inputs=[self._on_device], device="cpu")

    def take(self) -> None:
        """Write a frame of the present state."""
        self._stepper.replay(0, tape=self)

    def step(self, count: int, first: int, every: int) -> None:
        """Advance the stepper; a frame is taken after `first` steps, and every so many from there.

        Raises:
            StepFailure: a component diverged; frames after that step are worthless.
        """
        self._stepper.step_taped(self, count, first, every)
