"""Where to put the camera and the floor so that a whole motion is in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from linkwork.record.reader import Recording

__all__ = ["Framing", "frame_bodies"]

LOOKED_AT_FRAMES = 24
DIRECTION = np.array([0.45, -1.0, 0.35])
FIELD_OF_VIEW = math.radians(40.0)
ASPECT = 1.4
MARGIN = 0.78


@dataclass(frozen=True)
class Framing:
    """Camera and floor; lengths in m.

    Attributes:
        centre: point looked at.
        eye: where the camera is.
        distance: between the two.
        floor: height of the floor.
        grid: side of a square on the floor.
        field_of_view: vertical opening, rad.
    """

    centre: NDArray[np.float64]
    eye: NDArray[np.float64]
    distance: float
    floor: float
    grid: float
    field_of_view: float


def frame_bodies(recording: Recording, frames: list[int]) -> Framing:
    """Frame the boxes around all bodies in some of the frames."""
    low, high = np.full(3, np.inf), np.full(3, -np.inf)
    sampled = np.unique(np.linspace(0, len(frames) - 1, LOOKED_AT_FRAMES).round().astype(int))
    looks = [look for look in recording.looks if not look.endless]
    for frame in sampled.tolist():
        poses = recording.poses(frames[frame])
        origins, turned = recording.body_frames.origins(poses), recording.body_frames.rotations(poses[:, :, :3])
        for look in looks:
            rotations = (poses[:, :, :3] if look.principal else turned)[look.bodies]
            centres = (poses[:, :, 3] if look.principal else origins)[look.bodies]
            reach = np.einsum("nij,nj->ni", np.abs(rotations), look.scales * np.abs(look.vertices).max(axis=0))
            low = np.minimum(low, (centres - reach).min(axis=0))
            high = np.maximum(high, (centres + reach).max(axis=0))
    if not np.isfinite(low).all():
        low, high = np.full(3, -1.0), np.full(3, 1.0)
    centre, half = 0.5 * (low + high), np.maximum(0.5 * (high - low), 1e-9)
    forward = -DIRECTION / np.linalg.norm(DIRECTION)
    distance = _distance(half, forward)
    grid = 10.0 ** math.floor(math.log10(distance / 1.5))
    return Framing(centre, centre - distance * forward, distance, float(low[2]), grid, FIELD_OF_VIEW)


def _distance(half: NDArray[np.float64], forward: NDArray[np.float64]) -> float:
    """From how far all corners of a box (half extents, centred) fit into the window."""
    right = np.cross(forward, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, forward)
    corners = half * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    tangent = MARGIN * math.tan(0.5 * FIELD_OF_VIEW)
    needed = np.maximum(np.abs(corners @ right) / (ASPECT * tangent), np.abs(corners @ up) / tangent)
    return float((needed - corners @ forward).max())
