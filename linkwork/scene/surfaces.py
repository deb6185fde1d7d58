"""Triangle surfaces of the closed-form shapes, for drawing: closed, faces counter-clockwise from outside."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from linkwork.scene.inputs import Array

__all__ = ["box_surface", "lathe", "quarter_arc"]

Faces = NDArray[np.int64]

AROUND = 24


def box_surface() -> tuple[Array, Faces]:
    """Vertices (8, 3) and faces (12, 3) of the cube from -0.5 to 0.5."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    quads = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
    return corners, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])


def quarter_arc(count: int) -> tuple[Array, Array]:
    """Radii and heights of a quarter of the unit circle, from the equator towards the pole (left out)."""
    angles = np.linspace(0.0, 0.5 * np.pi, count, endpoint=False)
    return np.cos(angles), np.sin(angles)


def lathe(radii: Array, heights: Array, bottom: Array, top: Array) -> tuple[Array, Faces]:
    """Surface of revolution about z through rings (..., k) from bottom to top, closed by points at z = bottom, top.

    Vertices (..., 2 + 24 k, 3), faces (f, 3): leading dimensions give one surface each, all with the same faces.
    """
    turn = 2.0 * np.pi * np.arange(AROUND) / AROUND
    rings = radii.shape[-1]
    ring_points = np.stack(
        [
            radii[..., None] * np.cos(turn),
            radii[..., None] * np.sin(turn),
            np.broadcast_to(heights[..., None], (*radii.shape, AROUND)),
        ],
        axis=-1,
    ).reshape(*radii.shape[:-1], rings * AROUND, 3)
    poles = np.zeros((*radii.shape[:-1], 2, 3))
    poles[..., 0, 2], poles[..., 1, 2] = bottom, top
    vertices = np.concatenate([poles, ring_points], axis=-2)
    here = np.arange(AROUND)
    onward = (here + 1) % AROUND
    faces = [np.stack([np.zeros_like(here), 2 + onward, 2 + here], axis=1)]
    for ring in range(rings - 1):
        low, high = 2 + ring * AROUND, 2 + (ring + 1) * AROUND
        faces.append(np.stack([low + here, low + onward, high + onward], axis=1))
        faces.append(np.stack([low + here, high + onward, high + here], axis=1))
    last = 2 + (rings - 1) * AROUND
    faces.append(np.stack([np.ones_like(here), last + here, last + onward], axis=1))
    return vertices, np.concatenate(faces)
