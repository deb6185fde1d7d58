"""Writes frames while a simulation steps."""

from __future__ import annotations

import io
import math
import os
from bisect import bisect_right
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError, SceneError
from linkwork.record.layout import FRAME_MARK, MAGIC, end_mark, frame_dtype, padded
from linkwork.record.looks import looks_of
from linkwork.record.reading import Read
from linkwork.simulation.archive import write_archive_to
from linkwork.simulation.coordinates import FreeSlots
from linkwork.simulation.stepping import Filmed, Stepper, Tape

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Recorder"]

FPS = 60.0
BLOCK_BYTES = 524288  # of frames that may wait to be written, and the steps that they may wait
LONGEST_WAIT = 1024
MOST_AT_ONCE = 1024**2  # bytes: Linux takes ten times as long for a piece of a hundred times this size


class Recorder:
    """An open recording; made by `Simulation.record`, closed by `close` or at the end of a `with` block.

    Attributes:
        path: the file.
        frames: frames written so far; the first one is the state in which the recording began.
    """

    def __init__(
        self,
        simulation: Simulation,
        stepper: Stepper,
        path: str | os.PathLike[str],
        *,
        fps: float | None,
        every: int | None,
        velocities: bool,
        dtype: type[np.floating[Any]],
        on_close: Callable[[Recorder], None],
    ) -> None:
        if not isinstance(path, str | os.PathLike):
            raise SceneError(f"record needs the name of a file to write, got {path!r}")
        stride = _steps_between_frames(fps, every, simulation.dt)
        if not _is_float32_or_float64(dtype):
            raise SceneError(f"dtype of a recording must be numpy.float32 or numpy.float64, got {dtype!r}")
        self.path = Path(path)
        self.frames = 0
        self.stride = stride
        self._start = simulation.steps
        self._on_close = on_close
        self._stepper = stepper
        model = simulation.model
        filmed = isinstance(stepper, Filmed)
        derived = stepper.from_poses() if isinstance(stepper, Filmed) else np.zeros(model.joints, dtype=bool)
        slots = FreeSlots(model.joint_kind, model.distance_locked, without=derived).mask
        poses = "<f4" if np.dtype(dtype) == np.dtype(np.float32) else "<f8"
        frame = frame_dtype(model.bodies, int(slots.sum()), poses, velocities=velocities)
        header = _header(simulation, self.stride, derived, int(slots.sum()), poses, velocities)
        self._file = _opened(self.path)
        self._append(memoryview(header))
        self._block = np.zeros(max(1, BLOCK_BYTES // frame.itemsize) if filmed else 1, frame)
        self._block["mark"] = FRAME_MARK
        self._bytes = memoryview(cast(Any, self._block)).cast("B")
        self._due = range(0)
        self._tape: Tape
        if isinstance(stepper, Filmed):
            self._tape = stepper.tape(self._block, slots)
        else:
            self._tape = Read(stepper, self._block, slots)
        self._take(simulation)

    def steps_to_next(self, step: int) -> int:
        """Steps from `step` to the next frame."""
        return self.stride - (step - self._start) % self.stride

    def steps_in_block(self, step: int) -> int:
        """Steps from `step` to the last frame that may wait to be written."""
        frames = min(len(self._block), max(1, LONGEST_WAIT // self.stride))
        return self.steps_to_next(step) + (frames - 1) * self.stride

    def step(self, count: int) -> None:
        """Advance the stepper and take the frames that become due; `flush` writes them."""
        step = self._stepper.steps_taken
        first = self.steps_to_next(step)
        self._due = range(step + first, step + count + 1, self.stride)
        self._tape.step(count, first, self.stride)

    def take_if_due(self, simulation: Simulation) -> None:
        """Write a frame when one is due after the step just taken."""
        if (simulation.steps - self._start) % self.stride == 0:
            self._take(simulation)

    def _take(self, simulation: Simulation) -> None:
        self._due = range(simulation.steps, simulation.steps + 1)
        self._tape.take()
        self.flush(simulation)

    def flush(self, simulation: Simulation) -> None:
        """Write the frames that were taken, up to the step where the simulation is now.

        Raises:
            SimulationError: there are no numbers in them; the simulation is back at its last good state.
        """
        due, self._due = self._due, range(0)
        self._tape.rewind()
        try:
            reached = self._block["energy"][: bisect_right(due, simulation.steps)]
            if not np.isfinite(reached.sum()):
                simulation.poses  # noqa: B018 - raises when they are not numbers
        finally:
            self._write(due[: bisect_right(due, simulation.steps)], simulation.dt)

    def _write(self, steps: range, dt: float) -> None:
        frames = self._block[: len(steps)]
        frames["step"] = np.arange(steps.start, steps.stop, steps.step)
        frames["time"] = frames["step"] * dt
        frames["end"] = end_mark(frames["step"])
        self._append(self._bytes[: frames.nbytes])
        self.frames += len(steps)

    def _append(self, data: memoryview) -> None:
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written : written + MOST_AT_ONCE]) or 0
        except OSError as error:
            raise LinkworkError(
                f"{self.path}: the recording cannot go on after {self.frames} frames ({error.strerror}); "
                "what was written so far can be read"
            ) from error

    def close(self) -> None:
        """End the recording; closing twice does no harm."""
        if not self._file.closed:
            self._file.close()
            self._tape.close()
            self._on_close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _opened(path: Path) -> io.FileIO:
    try:
        path.absolute().parent.mkdir(parents=True, exist_ok=True)
        return open(path, "wb", buffering=0)
    except OSError as error:
        raise LinkworkError(
            f"{os.fspath(path)!r} cannot be written as a recording: {error.strerror}; choose another file"
        ) from error


def _steps_between_frames(fps: float | None, every: int | None, dt: float) -> int:
    if every is not None:
        if fps is not None:
            raise SceneError("fps and every both say how often a frame is written; give one of them")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise SceneError(f"every must be a whole number of steps of one or more, got {every!r}")
        return int(every)
    rate = FPS if fps is None else fps
    if isinstance(rate, bool) or not isinstance(rate, int | float | np.number) or not 0.0 < rate < math.inf:
        raise SceneError(f"fps must be a positive number of frames per simulated second, got {fps!r}")
    return max(1, round(1.0 / (rate * dt)))


def _is_float32_or_float64(dtype: object) -> bool:
    try:
        return np.dtype(cast(Any, dtype)) in (np.dtype(np.float32), np.dtype(np.float64))
    except TypeError:
        return False


def _header(
    simulation: Simulation,
    stride: int,
    derived: NDArray[np.bool_],
    coordinates: int,
    poses: str,
    velocities: bool,
) -> bytes:
    model = simulation.model
    tree = {
        "bodies": model.bodies,
        "joints": model.joints,
        "dt": simulation.dt,
        "stride": stride,
        "coordinates": coordinates,
        "poses": poses,
        "velocities": velocities,
        "gravity": model.gravity,
        "motion": model.motion,
        "com": model.com,
        "principal": model.principal,
        "joint_kind": model.joint_kind,
        "joint_base": model.joint_base,
        "joint_follower": model.joint_follower,
        "point_base": model.point_base,
        "point_follower": model.point_follower,
        "distance_locked": model.distance_locked,
        "derived": derived,
        "frame_base": _once(model.frame_base[derived]),
        "frame_follower": _once(model.frame_follower[derived]),
        "body_names": model.body_names,
        "joint_names": model.joint_names,
        "looks": looks_of(model),
    }
    archive = io.BytesIO()
    write_archive_to(archive, tree, "recording")
    content = archive.getvalue()
    head = MAGIC + len(content).to_bytes(8, "little") + content
    return head.ljust(padded(len(head)), b"\0")


def _once(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The first row where all are the same."""
    return rows[:1] if (rows == rows[:1]).all() else rows
