"""Rotations as NumPy arrays, for engines that have them as quaternions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.bench.peers.mechanism import Array

__all__ = ["matrices", "text"]


def matrices(quaternions: ArrayLike, *, scalar_first: bool) -> Array:
    """(n, 3, 3) from unit quaternions (n, 4)."""
    w, x, y, z = np.moveaxis(np.asarray(quaternions, float), -1, 0)[[0, 1, 2, 3] if scalar_first else [3, 0, 1, 2]]
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def text(values: ArrayLike) -> str:
    """Numbers with blanks between, as XML wants them."""
    return " ".join(f"{value:.15g}" for value in np.asarray(values, float).ravel())
