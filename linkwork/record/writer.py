"""Writes frames while a simulation steps."""

from __future__ import annotations

import io
import math
import os
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from linkwork.errors import LinkworkError, SceneError
from linkwork.record.layout import FRAME_MARK, MAGIC, end_mark, frame_dtype, padded
from linkwork.record.looks import looks_of
from linkwork.simulation.archive import write_archive_to

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Recorder"]

FPS = 60.0


class Recorder:
    """An open recording; made by `Simulation.record`, closed by `close` or at the end of a `with` block.

    Attributes:
        path: the file.
        frames: frames written so far; the first one is the state in which the recording began.
    """

    def __init__(
        self,
        simulation: Simulation,
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
        coordinates = len(simulation.joint_coordinates.flat)
        poses = "<f4" if np.dtype(dtype) == np.dtype(np.float32) else "<f8"
        self._frame = np.zeros(1, frame_dtype(simulation.model.bodies, coordinates, poses, velocities=velocities))
        self._bytes = memoryview(cast(Any, self._frame)).cast("B")
        self._velocities = velocities
        header = _header(simulation, self.stride, coordinates, poses, velocities)
        try:
            self._file = open(self.path, "wb", buffering=0)  # noqa: SIM115 - closed by close()
        except OSError as error:
            raise LinkworkError(f"{os.fspath(path)!r} cannot be written as a recording: {error.strerror}") from error
        self._end = 0
        self._append(memoryview(header))
        self._write(simulation)

    def steps_to_next(self, step: int) -> int:
        """Steps from `step` to the next frame."""
        return self.stride - (step - self._start) % self.stride

    def write_if_due(self, simulation: Simulation) -> None:
        """Write a frame when one is due after the step just taken."""
        if (simulation.steps - self._start) % self.stride == 0:
            self._write(simulation)

    def _write(self, simulation: Simulation) -> None:
        frame = self._frame[0]
        energy = simulation.energy
        frame["mark"] = FRAME_MARK
        frame["step"] = simulation.steps
        frame["time"] = simulation.time
        frame["residual"] = simulation.residual
        frame["energy"] = (energy.kinetic, energy.potential, energy.elastic, energy.contact)
        if frame["coordinates"].size:
            frame["coordinates"] = simulation.joint_coordinates.flat
        frame["poses"] = simulation.poses
        if self._velocities:
            frame["rates"] = simulation.pose_rates
        frame["end"] = end_mark(simulation.steps)
        self._append(self._bytes)
        self.frames += 1

    def _append(self, data: memoryview) -> None:
        try:
            written = 0
            while written < len(data):
                written += self._file.write(data[written:]) or 0
        except OSError as error:
            raise LinkworkError(
                f"{self.path}: the recording cannot go on after {self.frames} frames ({error.strerror}); "
                "what was written so far can be read"
            ) from error
        self._end += len(data)

    def close(self) -> None:
        """End the recording; closing twice does no harm."""
        if not self._file.closed:
            self._file.close()
            self._on_close(self)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


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


def _header(simulation: Simulation, stride: int, coordinates: int, poses: str, velocities: bool) -> bytes:
    model = simulation.model
    counts_turns = np.zeros((model.joints, 6), dtype=bool)
    counts_turns[model.law_joint, model.law_slot] = True
    tree = {
        "bodies": model.bodies,
        "joints": model.joints,
        "dt": simulation.dt,
        "stride": stride,
        "coordinates": coordinates,
        "poses": poses,
        "velocities": velocities,
        "counts_turns": counts_turns,
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
        "body_names": model.body_names,
        "joint_names": model.joint_names,
        "looks": looks_of(model),
    }
    archive = io.BytesIO()
    write_archive_to(archive, tree, "recording")
    content = archive.getvalue()
    head = MAGIC + len(content).to_bytes(8, "little") + content
    return head.ljust(padded(len(head)), b"\0")
