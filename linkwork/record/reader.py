"""Reads recordings through a memory map: only the frames that are looked at are loaded."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.record.layout import FRAME_MARK, MAGIC, end_mark, frame_dtype, padded
from linkwork.record.looks import Look
from linkwork.simulation.archive import read_archive
from linkwork.simulation.coordinates import FreeSlots
from linkwork.simulation.measures import BodyFrames, Energy
from linkwork.simulation.poses import polar_rotations, quaternions

__all__ = ["Frame", "Recording"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Frame:
    """One moment of a recording; SI units, world frame.

    Attributes:
        step: steps taken by the simulation.
        time: s.
        residual: largest joint violation, m or rad.
        energy: J.
        positions: body origins (n, 3), m.
        rotations: (n, 3, 3) of the body frames.
        joint_coordinates: per joint its free coordinates, m and rad.
    """

    step: int
    time: float
    residual: float
    energy: Energy
    positions: Floats
    rotations: Floats
    joint_coordinates: list[Floats]

    @property
    def quaternions(self) -> Floats:
        """Rotations as unit quaternions (n, 4), order x, y, z, w."""
        return quaternions(self.rotations)


class Recording:
    """A recording on disk, also of a process that was killed or is still writing: its whole frames.

        recording = lw.Recording("run.lwr")
        recording.times, recording.energies, recording[-1].positions

    Attributes:
        path: the file.
        bodies, joints: how many there are.
        dt: time step of the simulation, s; stride: steps between frames.
        body_names, joint_names: index -> name.
        body_frames: the user's body frames within the principal frames of `poses`.
        looks: the meshes to draw.
        joint_bodies: base and follower (j, 2), -1 for the ground; joint_points: the joint's points (j, 2, 3) in the
            principal frames of both, m.
        frames: the frames as a structured array on disk: step, time, residual, energy (4,), coordinates, poses.

    Raises:
        LinkworkError: there is no such file, it is not a recording, or was cut before its first frame was begun.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        if not isinstance(path, str | os.PathLike) or not os.path.isfile(path):
            raise LinkworkError(f"{path!r}: there is no such recording; give the file that Simulation.record wrote")
        self.path = Path(path)
        size = self.path.stat().st_size
        with self.path.open("rb") as file:
            head = file.read(16)
            length = int.from_bytes(head[8:], "little")
            if head[:8] != MAGIC or len(head) < 16 or 16 + length > size:
                raise LinkworkError(f"{os.fspath(path)!r} is not a recording of linkwork, or its header was cut off")
            header = read_archive(io.BytesIO(file.read(length)), "recording", name=os.fspath(path))
        self.bodies: int = header["bodies"]
        self.joints: int = header["joints"]
        self.dt: float = header["dt"]
        self.stride: int = header["stride"]
        self.gravity: Floats = header["gravity"]
        self.motion: NDArray[np.int8] = header["motion"]
        self.body_names = header["body_names"]
        self.joint_names = header["joint_names"]
        self.looks: list[Look] = header["looks"]
        self.body_frames = BodyFrames(header["com"], header["principal"])
        self.joint_bodies: NDArray[np.int32] = np.stack([header["joint_base"], header["joint_follower"]], axis=1)
        self.joint_points: Floats = np.stack([header["point_base"], header["point_follower"]], axis=1)
        self._starts = FreeSlots(header["joint_kind"], header["distance_locked"]).starts
        dtype = frame_dtype(self.bodies, header["coordinates"], header["poses"])
        self.frames: NDArray[Any] = _whole_frames(self.path, padded(16 + length), size, dtype)

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def times(self) -> Floats:
        """Simulated time of every frame, s."""
        return np.array(self.frames["time"])

    @property
    def residuals(self) -> Floats:
        """Largest joint violation in every frame, m or rad."""
        return np.array(self.frames["residual"])

    @property
    def energies(self) -> Floats:
        """Kinetic, potential, elastic and contact energy (frames, 4), J."""
        return np.array(self.frames["energy"])

    def coordinates_of(self, joint: int) -> Floats:
        """Free coordinates (frames, c) of one joint, m and rad."""
        if not 0 <= joint < self.joints:
            raise LinkworkError(f"joint {joint} does not exist; the recording has {self.joints}, counted from 0")
        return np.array(self.frames["coordinates"][:, self._starts[joint] : self._starts[joint + 1]])

    def positions_of(self, body: int) -> Floats:
        """Positions (frames, 3) of the origin of one body, m."""
        if not 0 <= body < self.bodies:
            raise LinkworkError(f"body {body} does not exist; the recording has {self.bodies}, counted from 0")
        poses = np.array(self.frames["poses"][:, body], dtype=np.float64)
        return self.body_frames.member(body, len(poses)).origins(poses)

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} does not exist; the recording has {len(self)}")
        frame = self.frames[index]
        poses = self.poses(index)
        flat = np.array(frame["coordinates"])
        return Frame(
            step=int(frame["step"]),
            time=float(frame["time"]),
            residual=float(frame["residual"]),
            energy=Energy(*frame["energy"].tolist()),
            positions=self.body_frames.origins(poses),
            rotations=self.body_frames.rotations(polar_rotations(poses[:, :, :3])),
            joint_coordinates=[flat[a:b] for a, b in zip(self._starts[:-1], self._starts[1:], strict=True)],
        )

    def __iter__(self) -> Iterator[Frame]:
        return (self[index] for index in range(len(self)))

    def poses(self, index: int) -> Floats:
        """Poses [A | t] (n, 3, 4) of the principal frames in one frame."""
        return np.array(self.frames["poses"][index], dtype=np.float64)


def _whole_frames(path: Path, start: int, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    count = max(0, size - start) // dtype.itemsize
    if count == 0:
        return np.zeros(0, dtype)
    frames: NDArray[Any] = np.memmap(path, dtype=dtype, mode="r", offset=start, shape=(count,))
    # A file system that lost power may have given the file its length but not its content.
    while count and not _is_whole(frames[count - 1]):
        count -= 1
    return frames[:count]


def _is_whole(frame: Any) -> bool:
    return bool(frame["mark"] == FRAME_MARK and frame["end"] == end_mark(frame["step"]))
