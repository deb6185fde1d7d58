"""Joint axes: unit vectors from what the user gave, completed to right-handed frames by a fixed rule."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from linkwork.scene.inputs import Array, Label, numbers, require

__all__ = ["frame_from_pair", "frame_from_z", "unit_axes"]


def unit_axes(value: ArrayLike | None, what: str, label: Label) -> Array:
    """Read axes of any nonzero length, (3,) or one per joint; returns unit vectors (rows, 3)."""
    axes = numbers(value, what, (3,), label)
    largest = np.abs(axes).max(axis=1, initial=0.0)
    require(largest > 0.0, label, lambda i: f"{what} is zero; give it a direction")
    scaled = axes / largest[:, None]
    return np.asarray(scaled / _lengths(scaled)[:, None])


def _lengths(vectors: Array) -> Array:
    return np.asarray(np.sqrt(np.einsum("ni,ni->n", vectors, vectors)))


def frame_from_z(z: Array) -> Array:
    """Frames (n, 3, 3) with the given third column; x is the projection of the world axis least along z."""
    x = np.eye(3)[np.argmin(np.abs(z), axis=1)]
    x = x - np.einsum("ni,ni->n", x, z)[:, None] * z
    x /= _lengths(x)[:, None]
    return _completed(np.stack([x, x, z], axis=2), 1)


def _completed(frames: Array, column: int) -> Array:
    """Fill one column with the cross product of the two that follow it cyclically."""
    first, second = frames[:, :, (column + 1) % 3], frames[:, :, (column + 2) % 3]
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        frames[:, i, column] = first[:, j] * second[:, k] - first[:, k] * second[:, j]
    return frames


def frame_from_pair(
    first: Array, second: Array, columns: tuple[int, int], names: tuple[str, str], label: Label
) -> Array:
    """Frames (n, 3, 3) with two perpendicular axes in the given columns.

    Raises:
        SceneError: the axes are parallel, or off the right angle by more than 1e-6.
    """
    dot = np.einsum("ni,ni->n", first, second)
    pair = f"{names[0]} and {names[1]}"
    require(np.abs(dot) < 1.0 - 1e-9, label, lambda i: f"{pair} are parallel; they must be perpendicular")
    require(
        np.abs(dot) <= 1e-6,
        label,
        lambda i: f"{pair} enclose {np.degrees(np.arccos(dot[i])):.6g} degrees; they must be perpendicular",
    )
    second = second - dot[:, None] * first
    second /= _lengths(second)[:, None]
    frames = np.empty((len(first), 3, 3))
    frames[:, :, columns[0]] = first
    frames[:, :, columns[1]] = second
    return _completed(frames, 3 - columns[0] - columns[1])
