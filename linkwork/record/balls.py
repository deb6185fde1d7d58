"""Coordinates of ball joints from the frames of both sides, as the methods measure them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["ball_coordinates"]

Floats = NDArray[np.float64]


def ball_coordinates(base: Floats, follower: Floats) -> Floats:
    """Swing about x and y, and twist (n, 3), rad, of joints whose frames on base and follower are (n, 3, 3) in the world.

    The swing turns the base's z axis into the follower's without twist; in (-pi, pi].
    """
    turn = np.einsum("nki,nkj->nij", base, follower)
    x, y, z = turn[:, 0, 2], turn[:, 1, 2], turn[:, 2, 2]
    sine2 = x * x + y * y
    sine = np.sqrt(np.maximum(sine2, 1e-18))
    # angle over sine, by its series where both vanish
    stretch = np.where((sine2 > 1e-8) | (z < 0.0), np.arctan2(sine, z) / sine, 1.0 + sine2 / 6.0)
    twist = np.arctan2(turn[:, 1, 0] - turn[:, 0, 1], turn[:, 0, 0] + turn[:, 1, 1])
    return np.stack([-stretch * y, stretch * x, twist], axis=1)
