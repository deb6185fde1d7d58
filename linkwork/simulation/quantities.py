"""The quantities a simulation can be asked for between two steps."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import StepFailure
from linkwork.simulation.contacts import Contacts
from linkwork.simulation.coordinates import FreeSlots, JointValues
from linkwork.simulation.measures import Energy, Readings, all_finite
from linkwork.simulation.poses import quaternions
from linkwork.simulation.stepping import Stepper

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

__all__ = ["Quantities"]

Floats = NDArray[np.float64]


class Quantities(ABC):
    """Reads a stepper in the user's terms; every array is the reader's own, and never holds a NaN."""

    _stepper: Stepper
    _readings: Readings
    _slots: FreeSlots
    _scene: Scene | None

    @abstractmethod
    def _fail(self, failure: StepFailure) -> NoReturn:
        """Go back to the last good state and raise SimulationError."""

    def _finite(self) -> Readings:
        if not self._readings.finite():
            self._fail_readings()
        return self._readings

    def _checked(self, values: Floats) -> Floats:
        if not all_finite(values):
            self._fail_readings()
        return values

    def _fail_readings(self) -> NoReturn:
        self._fail(StepFailure(self._stepper.steps_taken, self._bad_bodies(), "pose or velocity"))

    def _bad_bodies(self) -> list[int]:
        readings = self._readings
        good = np.isfinite(readings.affine).all(axis=(1, 2)) & np.isfinite(readings.rates).all(axis=(1, 2))
        return np.flatnonzero(~good).tolist()

    # Bodies

    @property
    def positions(self) -> Floats:
        """Body origins (n, 3), m."""
        return self._checked(self._readings.positions())

    @property
    def rotations(self) -> Floats:
        """Rotations (n, 3, 3) of the body frames."""
        return self._finite().rotations()

    @property
    def quaternions(self) -> Floats:
        """Rotations as unit quaternions (n, 4), order x, y, z, w with w >= 0."""
        return quaternions(self.rotations)

    @property
    def velocities(self) -> Floats:
        """Velocities (n, 3) of the COM, m/s."""
        return self._checked(self._readings.velocities())

    @property
    def angular_velocities(self) -> Floats:
        """Angular velocities (n, 3), world frame, rad/s."""
        return self._finite().angular_velocities()

    @property
    def poses(self) -> Floats:
        """Affine poses [A | t] (n, 3, 4) of the principal frames, as the methods see them: x = A X + t."""
        return self._finite().affine.copy()

    @property
    def pose_rates(self) -> Floats:
        """Time derivatives (n, 3, 4) of `poses`."""
        return self._finite().rates.copy()

    # Joints

    @property
    def joint_forces(self) -> Floats:
        """Forces (j, 3) that the base exerts on the follower at the joint's point, N, world frame.

        All that the joint does: locked directions, limits, springs, dampers, friction and drives.
        """
        return self._stepper.joint_wrenches()[0]

    @property
    def joint_torques(self) -> Floats:
        """Torques (j, 3) that the base exerts on the follower at the joint's point, N m, world frame.

        The torque of a motor is the component along the axis of its hinge.
        """
        return self._stepper.joint_wrenches()[1]

    @property
    def joint_coordinates(self) -> JointValues:
        """Per joint its free coordinates, m and rad, in the order of the joint catalogue; zero in the start pose.

        Index it with a joint for an array of its coordinates; `flat` holds those of all joints.

        The angles of hinges, cylindrical, universal, planar and pin-in-slot joints count full turns, as long as no step
        turns them by pi or more. Swing and twist describe one rotation: a swing lies within pi, a twist in (-pi, pi]
        unless a law acts on it, which then follows it from turn to turn.
        """
        return JointValues(self._stepper.coordinates(), self._slots, self._scene)

    @property
    def joint_rates(self) -> JointValues:
        """Per joint the rates of its free coordinates, m/s and rad/s."""
        return JointValues(self._stepper.coordinate_rates(), self._slots, self._scene)

    # Contacts

    @property
    def contacts(self) -> Contacts:
        """Contacts that press now: bodies, points, normals, forces and gaps."""
        contacts = Contacts(*self._stepper.contacts())
        self._checked(contacts.forces)
        return contacts

    # The whole

    @property
    def residual(self) -> float:
        """Largest violation of a locked joint coordinate now, m or rad."""
        residual = float(self._stepper.residual())
        if not math.isfinite(residual):
            self._fail(StepFailure(self._stepper.steps_taken, [], "joint residual"))
        return residual

    @property
    def energy(self) -> Energy:
        """Energies now, J: kinetic, potential, elastic, contact and their total."""
        return Energy(*(float(part) for part in self._stepper.energies()))

    @property
    def iterations(self) -> tuple[float, float]:
        """Iterations per step of the latest steps: mean and largest."""
        mean, largest = self._stepper.last_iterations()
        return float(mean), float(largest)

    @property
    def redundant_rows(self) -> int:
        """How many locked directions follow from the others, as in a closed loop of hinges.

        They are counted in the first step (0 before it): the pivots that vanish when the joint rows of a mechanism
        with a loop, or with more than one anchor, are factored. A planar four-bar of hinges has 3, a body that is
        welded to the ground twice has 6.
        """
        return int(self._stepper.redundant_rows())
