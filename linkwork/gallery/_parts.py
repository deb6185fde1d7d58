"""Shapes that several scenes draw their machines with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import linkwork as lw

__all__ = ["about", "ring", "wheel"]


def about(axis: str, degrees: float) -> list[float]:
    """Quaternion x, y, z, w of a turn about a coordinate axis."""
    half = np.radians(0.5 * degrees)
    turn = [0.0, 0.0, 0.0, float(np.cos(half))]
    turn["xyz".index(axis)] = float(np.sin(half))
    return turn


def ring(straight: float, radius: float, wire: float, around: int = 12, across: int = 6) -> lw.Mesh:
    """A round wire of radius `wire` bent to a chain link in the plane of x and y.

    Its middle line is two half circles of `radius`, `straight` m apart along x; 0 makes a torus.
    """
    turn = 2.0 * np.pi * (np.arange(around) + 0.5) / around
    out = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
    middle = radius * out + np.outer(np.sign(np.cos(turn)), [0.5 * straight, 0, 0])
    small = 2.0 * np.pi * np.arange(across) / across
    points = middle[:, None] + wire * (
        np.cos(small)[None, :, None] * out[:, None] + np.sin(small)[None, :, None] * np.array([0, 0, 1.0])
    )
    i, j = np.divmod(np.arange(around * across), across)
    next_i, next_j = (i + 1) % around, (j + 1) % across
    a, b, c, d = (p * across + q for p, q in ((i, j), (next_i, j), (next_i, next_j), (i, next_j)))
    faces: NDArray[np.int64] = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    return lw.Mesh(points.reshape(-1, 3), faces)


def wheel(radius: float, spokes: int = 6, extra: Sequence[tuple[Any, ...]] = ()) -> lw.Compound:
    """A spoked wheel that turns about y, with more parts (shape, position, rotation) on it."""
    rim = ring(0.0, 0.93 * radius, 0.045 * radius, around=48, across=8), (0, 0, 0), about("x", 90)
    hub = lw.Cylinder(0.16 * radius, 0.3 * radius), (0, 0, 0), about("x", 90)
    angles = 360.0 * np.arange(spokes) / spokes
    middle = 0.55 * radius
    bars = [
        (
            lw.Cylinder(0.035 * radius, 0.8 * radius),
            (middle * np.sin(np.radians(angle)), 0, middle * np.cos(np.radians(angle))),
            about("y", angle),
        )
        for angle in angles
    ]
    return lw.Compound([rim, hub, *bars, *extra])
