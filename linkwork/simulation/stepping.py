"""What Simulation asks of a method: settings that build a stepper, and a stepper that advances the bodies.

Every array covers all bodies in the order of the scene and speaks of principal frames: x = A X + t, SI units.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["Filmed", "Floats", "Method", "Stepper", "Tape"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int32]
State = dict[str, NDArray[np.generic]]


class Stepper(Protocol):
    """Advances one model with one time step; knows nothing of time, files or people."""

    steps_taken: int

    def step(self, count: int) -> None:
        """Advance `count` steps; raises StepFailure at the first one that fails."""

    def affine(self) -> Floats:
        """Poses [A | t], (n, 3, 4)."""

    def rates(self) -> Floats:
        """Rates of the poses, (n, 3, 4)."""

    def centres(self) -> Floats:
        """Centres of mass, the last column of `affine`, (n, 3)."""

    def velocities(self) -> Floats:
        """Velocities of the centres of mass, the last column of `rates`, (n, 3)."""

    def joint_wrenches(self) -> tuple[Floats, Floats]:
        """Forces and torques (j, 3) of the base on the follower at the joint's point, world frame, N and N m."""

    def coordinates(self) -> Floats:
        """Joint coordinates by slot, (j, 6), zero in locked slots."""

    def coordinate_rates(self) -> Floats:
        """Rates of the joint coordinates by slot, (j, 6)."""

    def contacts(self) -> tuple[Rows, Floats, Floats, Floats, Floats]:
        """Bodies (m, 2), points (m, 3), normals (m, 3), forces (m, 3) on the first of them, and gaps (m,) of contacts."""

    def residual(self) -> float:
        """Largest violation of a locked coordinate, m or rad."""

    def energies(self) -> tuple[float, float, float, float]:
        """Kinetic, potential, elastic and contact energy, J."""

    def last_iterations(self) -> tuple[float, float]:
        """Iterations per step of the latest steps: mean and largest."""

    def redundant_rows(self) -> int:
        """How many joint rows follow from the others."""

    def state(self) -> State:
        """A copy of everything the next step depends on."""

    def restore(self, state: State) -> None:
        """Go back to such a state; the continuation is bit-identical."""

    def set_forces(self, forces: Floats, torques: Floats, point_forces: Floats | None = None) -> None:
        """Replace the user's forces at the COM (n, 3), torques (n, 3) and force-times-point sums (n, 3, 3)."""

    def set_law(self, field: str, rows: Rows, values: Floats) -> None:
        """Change numbers of joint laws from the next step on."""

    def set_kinematic(self, bodies: Rows, affine: Floats) -> None:
        """Poses (k, 3, 4) of kinematic bodies at the end of the coming step."""


class Tape(Protocol):
    """Writes frames of a stepper into a block of memory, one after the other."""

    def take(self) -> None:
        """Write a frame of the present state."""

    def step(self, count: int, first: int, every: int) -> None:
        """Advance the stepper; a frame is taken after `first` steps, and every so many from there.

        Raises StepFailure as the stepper does; frames after the step that failed are worthless.
        """

    def rewind(self) -> None:
        """Begin the block anew."""

    def close(self) -> None:
        """No more frames will be wanted."""


@runtime_checkable
class Filmed(Protocol):
    """A stepper may offer this besides: frames taken while it steps, at little cost. Others are read frame by frame."""

    def from_poses(self) -> NDArray[np.bool_]:
        """Joints (j,) whose coordinates are functions of the poses alone, so that no frame needs to keep them: balls
        whose turns are not counted."""

    def tape(self, block: NDArray[Any], slots: NDArray[np.bool_]) -> Tape:
        """Frames for a structured array: residual, energy, poses, rates if it has them, and the coordinates (j, 6)."""


@runtime_checkable
class Method(Protocol):
    """Settings of a simulation method, such as `lw.MABD()`."""

    def build(self, model: Model, dt: float) -> Stepper:
        """Prepare to step the model with time step dt (s)."""
