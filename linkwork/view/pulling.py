"""A spring between a body and the mouse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork.record.looks import looks_of

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Pull", "body_box"]

Floats = NDArray[np.float64]

STIFF = 60.0
HEAVIEST = 200.0


def body_box(simulation: Simulation, body: int) -> tuple[Floats, Floats]:
    """Lowest and highest corner (3,) of a body's meshes in its principal frame, m; the COM for one without."""
    model = simulation.model
    corners = [np.zeros((1, 3))]
    for look in looks_of(model):
        for row in np.flatnonzero(look.bodies == body):
            points = look.vertices * look.scales[row]
            corners.append(points if look.principal else (points - model.com[body]) @ model.principal[body])
    points = np.concatenate(corners)
    return points.min(axis=0), points.max(axis=0)


class Pull:
    """Pulls a point of a body towards the mouse, as strongly as it takes to move the whole, softly enough to be stable.

    Attributes:
        body: index; held: the point in the principal frame, m; goal: world point of the mouse, m.
    """

    def __init__(self, simulation: Simulation, body: int, held: Floats, goal: Floats) -> None:
        self.body = body
        self.goal = goal
        model = simulation.model
        affine = simulation.poses[body]
        # what was grabbed on the page is a few frames old: the body itself is held, not the air beside it
        low, high = body_box(simulation, body)
        self.held: Floats = np.clip(np.linalg.solve(affine[:, :3], held - affine[:, 3]), low, high)
        self._last: Floats | None = None
        mass, dt = float(model.mass[body]), simulation.dt
        moved = min(float(model.mass[model.motion == 0].sum()), HEAVIEST * mass)
        # the spring is explicit: its frequency on the body alone must stay well below the time step's
        self.stiffness = min(STIFF * moved, 0.05 * mass / dt**2)
        self._damping = min(np.sqrt(self.stiffness * moved), 0.1 * mass / dt)
        self._dt = dt

    def point(self, simulation: Simulation) -> Floats:
        """World point that is held now, m."""
        affine = simulation.poses[self.body]
        point: Floats = affine[:, :3] @ self.held + affine[:, 3]
        return point

    def apply(self, simulation: Simulation) -> None:
        """Push the body during the coming step."""
        point = self.point(simulation)
        velocity = np.zeros(3) if self._last is None else (point - self._last) / self._dt
        self._last = point
        force = self.stiffness * (self.goal - point) - self._damping * velocity
        simulation.apply_force([self.body], force, at=point)
