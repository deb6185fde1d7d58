"""Prescribed motion of kinematic bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from linkwork.errors import SceneError
from linkwork.scene.inputs import Array, Label, rotations, vectors

__all__ = ["Trajectory"]


class Trajectory:
    """A user's callable t -> (position, rotation), read strictly.

    Calling it with a time in s gives the body origin (3,) in m and the rotation (3, 3), both in the world.
    """

    def __init__(self, motion: Callable[[float], Any], label: Label) -> None:
        if not callable(motion):
            raise SceneError(f"{label.whole()}: trajectory must be a function t -> (position, rotation)")
        self._motion = motion
        self._label = label

    def __call__(self, time: float) -> tuple[Array, Array]:
        """Pose at a time.

        Raises:
            SceneError: the function failed, or gave something else than a finite position and a rotation.
        """
        at = f"at t = {time:g} s"
        try:
            pose = self._motion(time)
        except Exception as error:
            raise SceneError(
                f"{self._label.whole()}: trajectory failed {at}: {type(error).__name__}: {error}"
            ) from error
        if not isinstance(pose, tuple | list) or len(pose) != 2:
            raise SceneError(
                f"{self._label.whole()}: trajectory must return (position, rotation), got {type(pose).__name__} {at}; "
                "return rotation None for a body that does not turn"
            )
        position = vectors(pose[0], f"trajectory position {at}", self._label)[0]
        rotation = rotations(pose[1], f"trajectory rotation {at}", self._label)[0]
        return np.array(position), np.array(rotation)

    def start_rates(self) -> tuple[Array, Array]:
        """Velocity of the origin (3,), m/s, and angular velocity (3,), rad/s, at t = 0, by one-sided differences."""
        h = 1e-4
        (p0, r0), (p1, r1), (p2, r2) = self(0.0), self(h), self(2.0 * h)
        spin = ((4.0 * r1 - r2 - 3.0 * r0) / (2.0 * h)) @ r0.T
        turn = 0.5 * np.array([spin[2, 1] - spin[1, 2], spin[0, 2] - spin[2, 0], spin[1, 0] - spin[0, 1]])
        return np.asarray((4.0 * p1 - p2 - 3.0 * p0) / (2.0 * h)), turn
