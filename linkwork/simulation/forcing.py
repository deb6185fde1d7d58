"""What drives a simulation from outside: forces for one step, changing targets and gains, prescribed motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError
from linkwork.scene.laws import DriveId
from linkwork.simulation.coordinates import FreeSlots, LawRows
from linkwork.simulation.guard import Guard
from linkwork.simulation.loads import StepLoads, read_vectors
from linkwork.simulation.measures import Readings
from linkwork.simulation.selection import rows_of
from linkwork.simulation.stepping import State

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.scene.scene import Scene

__all__ = ["Forcing"]

Floats = NDArray[np.float64]
# Signs that a number may have: a gain is zero or more.
NONNEGATIVE = ("drive_stiffness", "drive_damping", "max_force")


class Forcing:
    """Hands the stepper the user's forces and targets and the poses of kinematic bodies."""

    def __init__(self, model: Model, guard: Guard, readings: Readings, slots: FreeSlots, scene: Scene | None) -> None:
        self._model = model
        self._guard = guard
        self._readings = readings
        self._slots = slots
        self._scene = scene
        self._loads: StepLoads | None = None
        self._law_rows: LawRows | None = None
        self._moved = np.array(sorted(model.trajectories), dtype=np.int32)
        self.each_step = len(self._moved) > 0

    @property
    def once(self) -> bool:
        """Whether the coming step is pushed, or the last one was and the push has to be taken away."""
        return self._loads is not None and self._loads.unsettled

    def hand_over(self, end: float) -> None:
        """Give the stepper the loads of the coming step and the poses of kinematic bodies at its end (time, s)."""
        if self._loads is not None:
            self._loads.hand_over(self._guard)
        if self.each_step:
            self._guard.set_kinematic(self._moved, self._poses(end))

    def clear(self) -> None:
        """The step is over: forget its loads."""
        if self._loads is not None:
            self._loads.clear()

    def _poses(self, time: float) -> Floats:
        poses = np.empty((len(self._moved), 3, 4))
        for k, body in enumerate(self._moved.tolist()):
            origin, rotation = self._model.trajectories[body](time)
            poses[k, :, :3] = rotation @ self._model.principal[body]
            poses[k, :, 3] = origin + rotation @ self._model.com[body]
        return poses

    def _bodies(self, bodies: Any) -> NDArray[np.intp]:
        rows = rows_of(bodies, "body", self._model.bodies, self._scene)
        still = self._model.motion[rows] != 0
        if still.any():
            name = self._model.body_names(int(rows[still.argmax()]))
            raise SceneError(f"body {name!r} is fixed or follows a trajectory, so no force moves it; push another body")
        return rows

    def _step_loads(self) -> StepLoads:
        if self._loads is None:
            self._loads = StepLoads(self._model.bodies)
        return self._loads

    def apply_force(self, bodies: Any, force: ArrayLike, at: ArrayLike | None) -> None:
        """See Simulation.apply_force."""
        rows = self._bodies(bodies)
        points = None
        if at is not None:
            points = self._readings.material_points(rows, read_vectors(at, len(rows), "at"))
        self._step_loads().add_force(rows, force, points)

    def apply_torque(self, bodies: Any, torque: ArrayLike) -> None:
        """See Simulation.apply_torque."""
        self._step_loads().add_torque(self._bodies(bodies), torque)

    def set_target(self, joints: Any, target: ArrayLike, coordinate: int) -> None:
        """See Simulation.set_target."""
        rows = self._rows(joints, coordinate, (DriveId.PD, DriveId.POSITION, DriveId.VELOCITY), "target to set")
        values = _values(target, len(rows), "target")
        self._check_limits(rows, values)
        speed = self._model.drive[rows] == DriveId.VELOCITY
        if not speed.all():
            self._guard.set_law("target", rows[~speed], values[~speed])
        if speed.any():
            self._guard.set_law("target_velocity", rows[speed], values[speed])

    def _check_limits(self, rows: NDArray[np.int32], targets: Floats) -> None:
        """A prescribed position must respect the limits of its coordinate, as in the scene."""
        model = self._model
        lower, upper = model.lower[rows], model.upper[rows]
        outside = (model.drive[rows] == DriveId.POSITION) & ((targets < lower) | (targets > upper))
        if outside.any():
            i = int(outside.argmax())
            name = model.joint_names(int(model.law_joint[rows[i]]))
            raise SceneError(
                f"joint {name!r}: the target {targets[i]:g} lies outside its limits ({lower[i]:g}, {upper[i]:g}); "
                "choose one between them"
            )

    def set_force(self, joints: Any, value: ArrayLike, coordinate: int) -> None:
        """See Simulation.set_force."""
        rows = self._rows(joints, coordinate, (DriveId.FORCE,), "force to set")
        self._guard.set_law("force", rows, _values(value, len(rows), "force"))

    def set_drive(self, joints: Any, coordinate: int, **changes: ArrayLike | None) -> None:
        """See Simulation.set_drive."""
        given = {field: value for field, value in changes.items() if value is not None}
        bounded_only = set(given) <= {"max_force"}
        drives = (DriveId.PD, DriveId.VELOCITY) if bounded_only else (DriveId.PD,)
        rows = self._rows(joints, coordinate, drives, "gains to set")
        read = {field: _values(value, len(rows), field) for field, value in given.items()}
        for field, values in read.items():
            self._guard.set_law(field, rows, values)

    def _rows(self, joints: Any, coordinate: int, drives: tuple[DriveId, ...], what: str) -> NDArray[np.int32]:
        if self._law_rows is None:
            self._law_rows = LawRows(self._model, self._slots)
        chosen = rows_of(joints, "joint", self._model.joints, self._scene)
        return self._law_rows.find(chosen, coordinate, drives, what)

    def state(self) -> State:
        """The changed columns of the laws."""
        return {f"laws.{field}": values.copy() for field, values in self._guard.laws.items()}

    def restore(self, state: State) -> None:
        """Put the laws back; columns that were not changed then get the model's numbers."""
        given = {name[5:]: values for name, values in state.items() if name.startswith("laws.")}
        rows = np.arange(len(self._model.law_joint), dtype=np.int32)
        for field in self._guard.laws.keys() | given.keys():
            values = np.array(given.get(field, getattr(self._model, field)), dtype=np.float64)
            self._guard.set_law(field, rows, values)

    def settle(self) -> None:
        """Take the loads of an earlier step off the stepper, so that its state does not hold them."""
        if self._loads is not None:
            self._loads.settle(self._guard)

    def doubt(self) -> None:
        """The stepper is back at an earlier state, which may hold loads."""
        if self._loads is not None:
            self._loads.doubt()


def _values(value: ArrayLike, count: int, what: str) -> Floats:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf" or array.shape not in ((), (1,), (count,)):
        raise SceneError(f"{what} must be one number or {count}, one per joint, got {value!r}")
    values = np.broadcast_to(array.astype(np.float64), (count,))
    accepted = (values >= 0.0) if what in NONNEGATIVE else np.isfinite(values)
    if what in NONNEGATIVE and what != "max_force":
        accepted &= np.isfinite(values)
    if not accepted.all():
        wanted = "zero or more" if what in NONNEGATIVE else "finite"
        raise SceneError(f"{what} must be {wanted}, got {float(values[~accepted][0])}")
    return values
