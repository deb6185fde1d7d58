"""The contacts of a state, in the terms of the scene."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Contacts"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contacts that press, in the world frame.

    Attributes:
        bodies: (m, 2) indices of the two bodies.
        points: (m, 3) m, between the two surfaces.
        normals: (m, 3) unit, from the second body to the first.
        forces: (m, 3) N, of the second body on the first: normal force and friction.
        gaps: (m,) m, below zero by how far the surfaces sink into each other.
    """

    bodies: NDArray[np.int32]
    points: Floats
    normals: Floats
    forces: Floats
    gaps: Floats

    def __len__(self) -> int:
        return len(self.gaps)

    def __iter__(self) -> Iterator[tuple[tuple[int, int], Floats, Floats, Floats]]:
        """Bodies, point, normal and force of each contact."""
        for k in range(len(self)):
            yield (int(self.bodies[k, 0]), int(self.bodies[k, 1])), self.points[k], self.normals[k], self.forces[k]

    def of(self, body: Any, other: Any = None) -> Contacts:
        """The contacts of a body, or of a pair of bodies, given by handle or index."""
        mine = (self.bodies == _index(body)).any(axis=1)
        if other is not None:
            mine &= (self.bodies == _index(other)).any(axis=1)
        return Contacts(self.bodies[mine], self.points[mine], self.normals[mine], self.forces[mine], self.gaps[mine])

    def force_on(self, body: Any) -> Floats:
        """Sum of the contact forces (3,) on a body, N."""
        index = _index(body)
        sign = (self.bodies[:, 0] == index).astype(float) - (self.bodies[:, 1] == index)
        total: Floats = (sign[:, None] * self.forces).sum(axis=0)
        return total


def _index(body: Any) -> int:
    return int(getattr(body, "index", body))
