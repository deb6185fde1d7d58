"""What pictures are made of: the looks of the bodies and their poses, from a recording or from a simulation now."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.record.looks import Look, looks_of
from linkwork.simulation.measures import BodyFrames

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Motion", "Present", "motion_of", "nearest_frame"]

Floats = NDArray[np.float64]


class Motion(Protocol):
    """Frames of moving bodies; a `Recording` is one."""

    bodies: int
    joints: int
    motion: NDArray[np.int8]
    looks: list[Look]
    body_frames: BodyFrames
    joint_bodies: NDArray[np.int32]
    joint_points: Floats

    def __len__(self) -> int: ...

    @property
    def times(self) -> Floats:
        """Simulated time of every frame, s."""

    def poses(self, index: int) -> Floats:
        """Poses [A | t] (n, 3, 4) of the principal frames in one frame."""


class Present:
    """The present state of a simulation as a motion of one frame; reads it anew whenever it is asked."""

    def __init__(self, simulation: Simulation) -> None:
        model = simulation.model
        self._simulation = simulation
        self.bodies: int = model.bodies
        self.joints: int = model.joints
        self.motion: NDArray[np.int8] = model.motion
        self.looks: list[Look] = looks_of(model)
        self.body_frames = BodyFrames(model.com, model.principal)
        self.joint_bodies: NDArray[np.int32] = np.stack([model.joint_base, model.joint_follower], axis=1)
        self.joint_points: Floats = np.stack([model.point_base, model.point_follower], axis=1)

    def __len__(self) -> int:
        return 1

    @property
    def times(self) -> Floats:
        """The simulated time, s, alone."""
        return np.array([self._simulation.time])

    def poses(self, index: int) -> Floats:
        """Poses [A | t] (n, 3, 4) of the principal frames now."""
        if index != 0:
            raise IndexError(f"frame {index} does not exist; a simulation has only its present state")
        return self._simulation.poses


def motion_of(source: Any) -> Motion:
    """The motion of a simulation (its present state), of a recording, or of a recording's file.

    Raises:
        LinkworkError: it is none of these, or the recording has no whole frame.
    """
    from linkwork.record.reader import Recording
    from linkwork.simulation.simulation import Simulation

    if isinstance(source, Simulation):
        return Present(source)
    recording = Recording(source) if isinstance(source, str | os.PathLike) else source
    if not isinstance(recording, Recording):
        raise LinkworkError(
            f"a picture needs a simulation, a recording or the file of a recording, got {type(source).__name__}"
        )
    if len(recording) == 0:
        raise LinkworkError(f"{recording.path}: the recording has no whole frame, so there is nothing to show")
    return recording


def nearest_frame(motion: Motion, at: float | None) -> int:
    """The frame nearest to a simulated time, s; the last one when `at` is None.

    Raises:
        LinkworkError: the motion does not reach that time.
    """
    times = motion.times
    if at is None:
        return len(times) - 1
    spacing = float(np.diff(times).max(initial=1e-9))
    if not times[0] - spacing <= at <= times[-1] + spacing:
        reach = f"from {times[0]:g} s to {times[-1]:g} s" if len(times) > 1 else f"only at {times[0]:g} s"
        raise LinkworkError(f"there is nothing to show at {at!r} s: it is known {reach}")
    return int(np.abs(times - at).argmin())
