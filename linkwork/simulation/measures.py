"""What can be read off a stepper between two steps, in the terms of the scene rather than of principal frames."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork.simulation.poses import angular_velocities, polar_rotations

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.simulation.stepping import Stepper

__all__ = ["BodyFrames", "Energy", "Readings", "all_finite"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Energy:
    """Energies of a scene in J.

    Attributes:
        kinetic: of all moving bodies.
        potential: of gravity; zero when every COM is at the height of the world's origin.
        elastic: of the bodies themselves and of the springs and drives of joints.
        contact: of contacts.
    """

    kinetic: float
    potential: float
    elastic: float
    contact: float

    @property
    def total(self) -> float:
        """The sum, J."""
        return self.kinetic + self.potential + self.elastic + self.contact


def all_finite(values: Floats) -> bool:
    """Whether every value is a number."""
    return math.isfinite(float(values.sum()))


class BodyFrames:
    """The user's body frames as seen from the principal frames: the same for the whole life of a model."""

    def __init__(self, com: Floats, principal: Floats) -> None:
        self._turn = np.ascontiguousarray(principal.transpose(0, 2, 1))
        self._same = bool(np.array_equal(principal, np.broadcast_to(np.eye(3), principal.shape)))
        # The body origin in the principal frame.
        self._origin = -np.einsum("nji,nj->ni", principal, com)
        self.centred = not self._origin.any()

    def member(self, body: int, count: int) -> BodyFrames:
        """The frames of one body, `count` times."""
        alone = object.__new__(BodyFrames)
        alone._turn = np.broadcast_to(self._turn[body], (count, 3, 3))
        alone._origin = np.broadcast_to(self._origin[body], (count, 3))
        alone._same, alone.centred = self._same, self.centred
        return alone

    def origins(self, affine: Floats) -> Floats:
        """World positions (n, 3) of the body origins from poses (n, 3, 4)."""
        if self.centred:
            return affine[:, :, 3].copy()
        origins: Floats = affine[:, :, 3] + np.einsum("nij,nj->ni", affine[:, :, :3], self._origin)
        return origins

    def rotations(self, principal_rotations: Floats) -> Floats:
        """Rotations (n, 3, 3) of the body frames from those of the principal frames."""
        return principal_rotations.copy() if self._same else principal_rotations @ self._turn


class Readings:
    """One state of a stepper, read once however often it is asked for."""

    def __init__(self, model: Model, stepper: Stepper) -> None:
        self._frames = BodyFrames(model.com, model.principal)
        self._stepper = stepper

    def forget(self) -> None:
        """The stepper has moved on."""
        vars(self).pop("affine", None)
        vars(self).pop("rates", None)
        vars(self).pop("_polar", None)

    @cached_property
    def affine(self) -> Floats:
        """Poses [A | t] of the principal frames, (n, 3, 4)."""
        return self._stepper.affine()

    @cached_property
    def rates(self) -> Floats:
        """Rates of the poses, (n, 3, 4)."""
        return self._stepper.rates()

    @cached_property
    def _polar(self) -> Floats:
        return polar_rotations(self.affine[:, :, :3])

    def finite(self) -> bool:
        """Whether every pose and rate is a number."""
        return all_finite(self.affine) and all_finite(self.rates)

    def positions(self) -> Floats:
        """World positions of the body origins (n, 3), m."""
        if self._frames.centred and "affine" not in vars(self):
            return self._stepper.centres()
        return self._frames.origins(self.affine)

    def rotations(self) -> Floats:
        """Rotations of the body frames (n, 3, 3)."""
        return self._frames.rotations(self._polar)

    def velocities(self) -> Floats:
        """Velocities of the COM (n, 3), m/s."""
        return self.rates[:, :, 3].copy() if "rates" in vars(self) else self._stepper.velocities()

    def angular_velocities(self) -> Floats:
        """Angular velocities (n, 3), rad/s, world frame."""
        return angular_velocities(self.affine[:, :, :3], self.rates[:, :, :3], self._polar)

    def material_points(self, rows: NDArray[np.intp], points: Floats) -> Floats:
        """World points (k, 3) in the principal frames of the bodies `rows`."""
        affine = self.affine[rows]
        local = np.linalg.solve(affine[:, :, :3], (points - affine[:, :, 3])[:, :, None])[:, :, 0]
        return np.asarray(local, dtype=np.float64)
