"""Simulation: steps a scene with a method, measures it, saves it, and keeps the last good state when a step fails."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import LinkworkError, SceneError, SimulationError, StepFailure
from linkwork.simulation.coordinates import FreeSlots
from linkwork.simulation.forcing import Forcing
from linkwork.simulation.guard import Guard
from linkwork.simulation.kernels import quiet_warp
from linkwork.simulation.measures import Readings
from linkwork.simulation.progress import run_progress
from linkwork.simulation.quantities import Quantities
from linkwork.simulation.saving import Saved, read_saved, write_saved
from linkwork.simulation.states import checked_parts
from linkwork.simulation.stepping import Method, State

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.record.writer import Recorder
    from linkwork.scene.scene import Scene
    from linkwork.view.live import LiveView

__all__ = ["Simulation"]

Floats = NDArray[np.float64]
Callback = Callable[["Simulation"], object]
CHUNK_SECONDS = 0.1
SHORTEST, LONGEST = 1e-20, 1e20  # time steps, s


class Simulation(Quantities):
    """Advances a scene in time.

    Arrays have one row per body or joint, in the order in which they were added to the scene (`body.index`,
    `joint.index`). SI units, world frame. They are the reader's own: changing one changes nothing in the simulation.

    Args:
        scene: what to simulate; later changes to the scene do not reach the simulation.
        method: settings of the method, `lw.MABD()` when None.
        dt: time step, s.
        state_dir: folder in which the last good state is saved when a step fails; None saves none.

    Raises:
        SceneError: the scene cannot be simulated, or dt is not a positive number.

    Examples:
        >>> scene = lw.Scene()
        >>> ball = scene.add_body(lw.Sphere(0.1), position=(0, 0, 20))
        >>> sim = lw.Simulation(scene, lw.MABD(), dt=1e-2)
        >>> sim.run(1.0, progress=False)
        >>> print(f"{sim.time:.0f} s, {sim.velocities[ball.index, 2]:.2f} m/s")
        1 s, -9.81 m/s
    """

    def __init__(
        self,
        scene: Scene,
        method: Method | None = None,
        dt: float = 1e-2,
        *,
        state_dir: str | os.PathLike[str] | None = ".",
    ) -> None:
        build = getattr(scene, "build", None)
        if not callable(build) or isinstance(scene, type):
            raise SceneError(f"a Simulation needs a lw.Scene, not {type(scene).__name__}")
        self._assemble(build(), _checked_method(method), _checked_dt(dt), scene, state_dir)

    def _assemble(
        self,
        model: Model,
        method: Method,
        dt: float,
        scene: Scene | None,
        state_dir: str | os.PathLike[str] | None,
    ) -> None:
        quiet_warp()
        self.model = model
        self.method = method
        self.dt = dt
        self._scene = scene
        self._state_dir = None if state_dir is None else Path(state_dir)
        self._stepper = method.build(model, dt)
        self._readings = Readings(model, self._stepper)
        self._slots = FreeSlots(model.joint_kind, model.distance_locked)
        self._guard = Guard(self._stepper, model, lambda: method.build(model, dt).state())
        self._forcing = Forcing(model, self._guard, self._readings, self._slots, scene)
        self._callbacks: list[Callback] = []
        self._calling = False
        self._recorders: list[Recorder] = []

    # Time

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self._stepper.steps_taken

    @property
    def time(self) -> float:
        """Simulated time, s."""
        return self._stepper.steps_taken * self.dt

    def step(self, count: int = 1) -> None:
        """Advance by `count` steps of `dt`; many at once cost less than one by one.

        Args:
            count: how many, zero or more.

        Raises:
            SceneError: count is not a whole number, or negative.
            SimulationError: a step failed; the simulation is left at the last good state, which is also saved.
        """
        if count.__class__ is not int or count < 0:
            count = _checked_count(count)
        forcing = self._forcing
        if self._callbacks or self._recorders or forcing.each_step:
            self._step_watched(count)
            return
        if forcing.once:
            first = min(count, 1)
            self._step_watched(first)
            self._forcing.settle()
            count -= first
        self._advance(count)

    def _advance(self, count: int, by: Callable[[int], None] | None = None) -> None:
        self._readings.forget()
        try:
            self._guard.step(count, by)
        except StepFailure as failure:
            self._fail(failure)

    def _step_watched(self, count: int) -> None:
        """Steps with callbacks, moving bodies or recordings in between: as many at a time as these allow."""
        if self._calling:
            raise SceneError(
                "step or run was called by a function that on_step registered, which runs before every step and would "
                "not end; call them outside of it"
            )
        end = self.steps + count
        stops = self._callbacks or self._forcing.each_step or self._forcing.once
        if len(self._recorders) == 1 and not stops:
            self._step_filmed(self._recorders[0], end)
            return
        while self.steps < end:
            stretch = min([end - self.steps, *(recorder.steps_to_next(self.steps) for recorder in self._recorders)])
            if self._callbacks or self._forcing.each_step or self._forcing.once:
                stretch = 1
                self._call_back()
            try:
                self._forcing.hand_over(self.time + self.dt)
                self._advance(stretch)
            finally:
                self._forcing.clear()
            for recorder in self._recorders:
                recorder.take_if_due(self)

    def _step_filmed(self, recorder: Recorder, end: int) -> None:
        """Steps while one recording is made and nothing else looks on: a block of frames at a time."""
        while self.steps < end:
            stretch = min(end - self.steps, recorder.steps_in_block(self.steps))
            try:
                self._advance(stretch, recorder.step)
            finally:
                recorder.flush(self)

    def _call_back(self) -> None:
        self._calling = True
        try:
            for callback in tuple(self._callbacks):
                callback(self)
        finally:
            self._calling = False

    def run(self, seconds: float, *, progress: bool | None = None) -> None:
        """Advance by a stretch of simulated time, rounded up to whole steps.

        Args:
            seconds: simulated time, s.
            progress: show a bar with simulated time, milliseconds per step and residual on stderr; None shows it
                when stderr is a terminal.

        Raises:
            SceneError: seconds is not a number, negative or not finite.
            SimulationError: a step failed; the simulation is left at the last good state, which is also saved.
        """
        total = self.steps_for(seconds)
        done = 0
        chunk = 1
        with run_progress(total * self.dt, progress) as show:
            while done < total:
                count = min(chunk, total - done)
                start = time.perf_counter()
                self.step(count)
                spent = time.perf_counter() - start
                done += count
                residual = self.residual
                if show is not None:
                    show(done * self.dt, done, residual)
                # The next chunk takes about CHUNK_SECONDS, but never many times longer than this one.
                chunk = max(1, min(8 * chunk, int(chunk * CHUNK_SECONDS / max(spent * chunk / count, 1e-9))))

    def steps_for(self, seconds: float) -> int:
        """Steps that cover a stretch of simulated time, rounded up."""
        if not isinstance(seconds, int | float | np.number) or not 0.0 <= seconds < math.inf:
            raise SceneError(f"run needs a number of seconds that is zero or more, got {seconds!r}")
        return max(0, math.ceil(float(seconds) / self.dt * (1.0 - 1e-12) - 1e-6))

    def on_step(self, callback: Callback) -> Callback:
        """Call `callback(sim)` before every step, for forces and targets that change; also usable as a decorator.

        Args:
            callback: a function of the simulation. `sim.time` is then the time before the step; what the callback
                reads is the state there, what it applies acts during the step.

        Raises:
            SceneError: the callback cannot be called.

        Examples:
            >>> scene = lw.Scene()
            >>> links = scene.add_bodies(lw.Sphere(0.1), [(k, 0, 0) for k in range(10)])
            >>> sim = lw.Simulation(scene)
            >>> @sim.on_step
            ... def wind(sim):
            ...     sim.apply_force(links, (0.1 * math.sin(sim.time), 0.0, 0.0))
            >>> sim.step()
        """
        if not callable(callback):
            raise SceneError(f"on_step needs a function that takes the simulation, got {callback!r}")
        self._callbacks.append(callback)
        return callback

    # Pushing and driving

    def apply_force(self, bodies: Any, force: ArrayLike, at: ArrayLike | None = None) -> None:
        """Push bodies during the coming step only.

        Args:
            bodies: a body, a set of bodies, or indices.
            force: (3,) for each of them or (k, 3), N, world frame. Forces add up.
            at: world point (3,) or (k, 3) in the present pose, m; the COM when None.

        Raises:
            SceneError: a value is not finite or has the wrong shape, or the body is not of this scene.
        """
        self._forcing.apply_force(bodies, force, at)

    def apply_torque(self, bodies: Any, torque: ArrayLike) -> None:
        """Twist bodies during the coming step only.

        Args:
            bodies: a body, a set of bodies, or indices.
            torque: (3,) for each of them or (k, 3), N m, world frame. Torques add up.

        Raises:
            SceneError: a value is not finite or has the wrong shape, or the body is not of this scene.
        """
        self._forcing.apply_torque(bodies, torque)

    def set_target(self, joints: Any, target: ArrayLike, coordinate: int = 0) -> None:
        """Change the target of PD, Position and Velocity drives from the next step on.

        Args:
            joints: a joint, a set of joints, or indices.
            target: one number or one per joint: m or rad, for Velocity drives m/s or rad/s.
            coordinate: which of the joint's free coordinates, counted from 0.

        Raises:
            SceneError: the coordinate has no such drive, or a value is not finite.
        """
        self._forcing.set_target(joints, target, coordinate)

    def set_force(self, joints: Any, value: ArrayLike, coordinate: int = 0) -> None:
        """Change the value of Force drives from the next step on.

        Args:
            joints: a joint, a set of joints, or indices.
            value: one number or one per joint: N or N m, positive towards growing coordinates.
            coordinate: which of the joint's free coordinates, counted from 0.

        Raises:
            SceneError: the coordinate has no Force drive, or a value is not finite.
        """
        self._forcing.set_force(joints, value, coordinate)

    def set_drive(
        self,
        joints: Any,
        coordinate: int = 0,
        *,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        target_velocity: ArrayLike | None = None,
        max_force: ArrayLike | None = None,
    ) -> None:
        """Change the gains of PD drives (and `max_force` of Velocity drives) from the next step on.

        Args:
            joints: a joint, a set of joints, or indices.
            coordinate: which of the joint's free coordinates, counted from 0.
            stiffness: N/m or N m/rad, one number or one per joint; None leaves it as it is, as below.
            damping: N s/m or N m s/rad.
            target_velocity: m/s or rad/s.
            max_force: largest force N or torque N m.

        Raises:
            SceneError: the coordinate has no such drive, or a value is out of range.
        """
        self._forcing.set_drive(
            joints,
            coordinate,
            drive_stiffness=stiffness,
            drive_damping=damping,
            target_velocity=target_velocity,
            max_force=max_force,
        )

    # Keeping

    def state(self) -> dict[str, NDArray[Any]]:
        """Everything the next step depends on, as arrays; `restore` continues from it bit-identically.

        Callbacks registered with `on_step` are functions and are not in it; targets and gains that were set are.
        """
        self._forcing.settle()
        state: State = {f"stepper.{name}": value for name, value in self._stepper.state().items()}
        state.update(self._forcing.state())
        state["steps"] = np.array(self.steps)
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go back (or on) to a state of a simulation of the same scene, method and dt.

        Args:
            state: what `state` gave.

        Raises:
            SceneError: the state belongs to another scene or method, or holds a value that is no number.
        """
        given = checked_parts(state, self._stepper.state(), self.model)
        self._forcing.restore(state)
        self._stepper.restore(given)
        self._readings.forget()
        self._guard.keep()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, the settings and the state to one file that `Simulation.load` continues from exactly.

        Trajectories of kinematic bodies and callbacks are Python functions and are not in the file: `load` asks for
        the scene when there are trajectories, and callbacks are registered again with `on_step`.

        Args:
            path: the file, usually `NAME.lw`; an old one is replaced.

        Raises:
            SceneError: the file cannot be written.
        """
        write_saved(path, Saved(self.model, self.method, self.dt, self.state(), len(self._callbacks)))

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        scene: Scene | None = None,
        *,
        method: Method | None = None,
        state_dir: str | os.PathLike[str] | None = ".",
    ) -> Self:
        """Continue a saved simulation.

        Args:
            path: the file written by `save`.
            scene: the scene it was built from: needed when bodies follow trajectories, and to use the handles of
                that scene with the loaded simulation.
            method: needed when the file was saved with a method that is not linkwork's own.
            state_dir: as in `Simulation`.

        Raises:
            SceneError: the file cannot be read.
            LinkworkError: the file is damaged, of another version, or needs its scene.
        """
        saved = read_saved(path, scene, method)
        simulation = cls.__new__(cls)
        simulation._assemble(saved.model, saved.method, saved.dt, scene, state_dir)
        simulation.restore(saved.state)
        return simulation

    def record(
        self,
        path: str | os.PathLike[str],
        *,
        fps: float | None = None,
        every: int | None = None,
        velocities: bool = True,
        dtype: type[np.floating] = np.float32,
    ) -> Recorder:
        """Write frames to a file while the simulation steps, from now until the recording is closed.

        Frames are on disk when `step` or `run` returns, and meanwhile at least every 1024 steps: a recording whose
        process is killed reads back up to the last complete frame there. Use it as a context manager;
        `lw.Recording(path)` reads it.

        Args:
            path: the file, usually `NAME.lwr`; an old one is replaced, and folders that are missing are made.
            fps: frames per simulated second, rounded to whole steps; 60 when neither fps nor every is given.
            every: steps from one frame to the next, instead of fps.
            velocities: keep the velocities of all bodies too; False makes the file nearly half as large.
            dtype: precision of poses and velocities, numpy.float32 or numpy.float64.

        Raises:
            SceneError: fps, every or dtype is not what it should be.
            LinkworkError: the file cannot be written.
        """
        from linkwork.record.writer import Recorder

        recorder = Recorder(
            self,
            self._stepper,
            path,
            fps=fps,
            every=every,
            velocities=velocities,
            dtype=dtype,
            on_close=self._recorders.remove,
        )
        self._recorders.append(recorder)
        return recorder

    def view(self, *, host: str = "127.0.0.1", port: int = 8080, playing: bool = True, wait: bool = True) -> LiveView:
        """Open a live page of this simulation: play, pause, step, pick, pull and plot in a browser.

        The page steps the simulation until Ctrl-C. With `wait=False` it only shows it: step in a loop of your own
        and call `update()` of what is returned, or `run()` to hand over to the page.

        Args:
            host: where to listen; the default is this machine only.
            port: the page's port, 0 for any free one.
            playing: whether time goes on from the start.
            wait: serve the page before returning.

        Raises:
            LinkworkError: the port cannot be used.
        """
        from linkwork.view.live import LiveView

        page = LiveView(self, host=host, port=port, title="linkwork", playing=playing)
        if wait:
            with page:
                page.run()
        return page

    # Failure

    def _fail(self, failure: StepFailure) -> NoReturn:
        """Go back to the last good state, save it, and raise SimulationError."""
        failed = self._guard.go_back()
        self._forcing.doubt()
        self._readings.forget()
        state_file = self._save_failure(failed)
        names = [self.model.body_names(body) for body in failure.bodies[:20]]
        where = f" and saved in {state_file}" if state_file else ""
        raise SimulationError(
            f"step {failed} (t = {failed * self.dt:.6g} s) failed: "
            f"{failure.quantity}{_whose(names, len(failure.bodies))}. "
            f"The simulation is back at the step before, its last good state (t = {self.time:.6g} s){where}. "
            "Try a smaller dt, softer or more damped drives, or a stiffer material for the load.",
            step=failed,
            time=self.time,
            bodies=names,
            quantity=failure.quantity,
            state_file=state_file,
        ) from failure

    def _save_failure(self, step: int) -> Path | None:
        if self._state_dir is None:
            return None
        path = self._state_dir / f"linkwork-last-good-before-step-{step}.lw"
        try:
            self._state_dir.mkdir(parents=True, exist_ok=True)
            self.save(path)
        except (OSError, LinkworkError):
            return None
        return path.resolve()


def _whose(names: list[str], count: int) -> str:
    if not names:
        return ""
    shown = ", ".join(repr(name) for name in names[:3])
    return f" of {shown}" + (f" and {count - 3} more" if count > 3 else "")


def _checked_dt(dt: float) -> float:
    if not isinstance(dt, int | float | np.number) or isinstance(dt, bool) or not 0.0 < dt < math.inf:
        raise SceneError(f"dt must be a positive number of seconds, got {dt!r}")
    if not SHORTEST <= dt <= LONGEST:
        raise SceneError(
            f"dt must lie between {SHORTEST:g} and {LONGEST:g} s for its square to be computed, got {dt:g}"
        )
    return float(dt)


def _checked_count(count: object) -> int:
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise SceneError(f"step needs a whole number of steps that is zero or more, got {count!r}")
    return int(count)


def _checked_method(method: object) -> Method:
    if method is None:
        from linkwork.mabd import MABD

        method = MABD()
    if isinstance(method, type) or not isinstance(method, Method):
        raise SceneError(f"method must be the settings of a method such as lw.MABD(), got {method!r}")
    return method
