"""Reads recordings through a memory map: only the frames that are looked at are loaded."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.record.balls import ball_coordinates
from linkwork.record.columns import Columns
from linkwork.record.layout import FRAME_MARK, KIND, MAGIC, end_mark, frame_dtype, padded
from linkwork.record.looks import Look
from linkwork.simulation.archive import read_archive
from linkwork.simulation.coordinates import FreeSlots
from linkwork.simulation.measures import BodyFrames, Energy
from linkwork.simulation.poses import angular_velocities, polar_rotations, quaternions

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
        bodies: how many there are.
        joints: how many there are.
        dt: time step of the simulation, s.
        stride: steps from one frame to the next.
        body_names: index -> name; call it.
        joint_names: index -> name; call it.
        body_frames: the user's body frames within the principal frames of `poses`.
        looks: the meshes to draw.
        joint_bodies: base and follower (j, 2), -1 for the ground.
        joint_points: the joint's points (j, 2, 3) in the principal frames of both, m.
        joint_kind: (j,) lw.scene.joints.JointId.
        free_slots: which of a joint's six slots are free.
        has_velocities: whether the frames hold the rates of the poses.
        columns: finds what is plotted by its name.
        frames: the frames as a structured array on disk: step, time, residual, energy (4,), coordinates (of the joints
            where they do not follow from the poses), poses, and rates of the poses where the recording has velocities.

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
            if len(head) == 16 and head[:5] == KIND and head[:8] != MAGIC:
                raise LinkworkError(f"{os.fspath(path)!r} was recorded by another version of linkwork; record it again")
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
        self.joint_kind: NDArray[np.int8] = header["joint_kind"]
        self.has_velocities: bool = header["velocities"]
        self.free_slots = FreeSlots(self.joint_kind, header["distance_locked"])
        derived: NDArray[np.bool_] = header["derived"]
        self._kept = FreeSlots(self.joint_kind, header["distance_locked"], without=derived).starts
        self._derived = np.flatnonzero(derived)
        ends = len(self._derived), 3, 3
        self._joint_frames = [np.broadcast_to(header[f"frame_{side}"], ends) for side in ("base", "follower")]
        self.columns = Columns(self)
        dtype = frame_dtype(self.bodies, header["coordinates"], header["poses"], velocities=self.has_velocities)
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
        """Free coordinates (frames, c) of one joint, given by its index; m and rad.

        Raises:
            LinkworkError: the joint does not exist.
        """
        if not 0 <= joint < self.joints:
            raise LinkworkError(f"joint {joint} does not exist; the recording has {self.joints}, counted from 0")
        place = int(np.searchsorted(self._derived, joint))
        if place == len(self._derived) or self._derived[place] != joint:
            return np.array(self.frames["coordinates"][:, self._kept[joint] : self._kept[joint + 1]])
        sides = []
        for body, frames in zip(self.joint_bodies[joint], self._joint_frames, strict=True):
            turns = np.eye(3) if body < 0 else polar_rotations(self._series("poses", int(body))[:, :, :3])
            sides.append(np.broadcast_to(turns @ frames[place], (len(self), 3, 3)))
        return ball_coordinates(*sides)

    def positions_of(self, body: int) -> Floats:
        """Positions (frames, 3) of the origin of one body, given by its index; m.

        Raises:
            LinkworkError: the body does not exist.
        """
        poses = self._series("poses", body)
        return self.body_frames.member(body, len(poses)).origins(poses)

    def velocities_of(self, body: int) -> Floats:
        """Velocities (frames, 3) of the COM of one body, m/s.

        Raises:
            LinkworkError: there is no such body, or the velocities were left out of the recording.
        """
        return self._series("rates", body)[:, :, 3].copy()

    def angular_velocities_of(self, body: int) -> Floats:
        """Angular velocities (frames, 3) of one body, rad/s, world frame.

        Raises:
            LinkworkError: there is no such body, or the velocities were left out of the recording.
        """
        affine, rates = self._series("poses", body)[:, :, :3], self._series("rates", body)[:, :, :3]
        return angular_velocities(affine, rates, polar_rotations(affine))

    def _series(self, field: str, body: int) -> Floats:
        if not 0 <= body < self.bodies:
            raise LinkworkError(f"body {body} does not exist; the recording has {self.bodies}, counted from 0")
        if field == "rates" and not self.has_velocities:
            raise LinkworkError(f"{self.path} was recorded without velocities; record it with velocities=True")
        return np.array(self.frames[field][:, body], dtype=np.float64)

    def array(self, name: str) -> Floats:
        """A quantity over time by its name: (frames,), or (frames, k) when the name stands for k columns.

            recording.array("hinge.angle"), recording.array("bob.position")

        The names are listed in `linkwork.record.columns` and by `linkwork plot FILE --list`.

        Raises:
            LinkworkError: there is no such name; the message says which are near.
        """
        found = self.columns.find([name])
        if len(found) == 1 and found[0].name == name:
            return found[0].values.copy()
        return np.stack([column.values for column in found], axis=1)

    def plot(self, *names: str, path: str | os.PathLike[str] | None = None, title: str | None = None) -> Figure:
        """Draw quantities over time, one panel for each unit; the residual has a panel of its own.

        Args:
            names: as in `array`; energy, residual and the first joint coordinates when none is given.
            path: also write the picture to this .png, .svg, .pdf or .html file.
            title: of the picture; the name of the file when None.

        Raises:
            LinkworkError: there is no such name, the recording is empty, or the file has another ending.
        """
        from linkwork.view.plot import plot_columns, write_plot

        figure = plot_columns(self, names, title=title)
        if path is not None:
            write_plot(figure, path)
        return figure

    def to_csv(self, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
        """Write quantities over time as a table: time, then one column each, with units in the first line.

        Args:
            path: the file; an old one is replaced.
            names: as in `array`; energy, residual and all joint coordinates when None.

        Raises:
            LinkworkError: there is no such name, or the file cannot be written.
        """
        from linkwork.io.table import write_csv

        write_csv(self, path, names)

    def to_vtk(self, path: str | os.PathLike[str], *, every: int = 1) -> Path:
        """Write the moving meshes for ParaView: one .vtp per frame and the .pvd that names them; returns the .pvd.

        Args:
            path: a folder, which gets recording.pvd, or the .pvd file itself.
            every: frames from one file to the next.

        Raises:
            LinkworkError: the recording is empty, nothing in it has a shape, or a file cannot be written.
        """
        from linkwork.io.vtk import write_vtk

        return write_vtk(self, path, every=every)

    def to_gltf(self, path: str | os.PathLike[str], *, fps: float = 30.0) -> None:
        """Write one .glb with a node for every body and an animation that moves it, y up as glTF wants it.

        Args:
            path: the file; an old one is replaced.
            fps: key frames per simulated second at most.

        Raises:
            LinkworkError: the recording is empty or has too many bodies, or the file cannot be written.
        """
        from linkwork.io.gltf import write_gltf

        write_gltf(self, path, fps=fps)

    def __getitem__(self, index: int) -> Frame:
        if not -len(self) <= index < len(self):
            raise IndexError(f"frame {index} does not exist; the recording has {len(self)}")
        frame = self.frames[index]
        poses = self.poses(index)
        rotations = polar_rotations(poses[:, :, :3])
        return Frame(
            step=int(frame["step"]),
            time=float(frame["time"]),
            residual=float(frame["residual"]),
            energy=Energy(*frame["energy"].tolist()),
            positions=self.body_frames.origins(poses),
            rotations=self.body_frames.rotations(rotations),
            joint_coordinates=self._coordinates(np.array(frame["coordinates"]), rotations),
        )

    def _coordinates(self, kept: Floats, rotations: Floats) -> list[Floats]:
        """Per joint its free coordinates, in a frame with these rotations of the principal frames."""
        coordinates = [kept[a:b] for a, b in zip(self._kept[:-1], self._kept[1:], strict=True)]
        # the ground, body -1, comes last
        turns = np.concatenate([rotations, np.eye(3)[None]])
        bodies = self.joint_bodies[self._derived]
        sides = [turns[bodies[:, side]] @ self._joint_frames[side] for side in (0, 1)]
        for joint, own in zip(self._derived.tolist(), ball_coordinates(*sides), strict=True):
            coordinates[joint] = own
        return coordinates

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
