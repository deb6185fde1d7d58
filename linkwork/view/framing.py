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
    radius = np.zeros(recording.bodies)
    for look in recording.looks:
        if not look.endless:
            reach = np.linalg.norm(look.vertices, axis=1).max()
            radius[look.bodies] = np.maximum(radius[look.bodies], reach * look.scales.max(axis=1))
    drawn = radius > 0.0
    sampled = np.unique(np.linspace(0, len(frames) - 1, LOOKED_AT_FRAMES).round().astype(int))
    for frame in sampled:
        if not drawn.any():
            break
        centres = recording.body_frames.origins(recording.poses(frames[frame]))[drawn]
        around = 0.7 * radius[drawn, None]
        low, high = np.minimum(low, (centres - around).min(axis=0)), np.maximum(high, (centres + around).max(axis=0))
    if not np.isfinite(low).all():
        low, high = np.full(3, -1.0), np.full(3, 1.0)
    centre, extent = 0.5 * (low + high), high - low
    field_of_view = math.radians(40.0)
    # The ball around the motion fills the height; wide motions only need their width in a 16:10 window.
    needed = max(extent[2], 0.75 * float(np.hypot(extent[0], extent[1])))
    distance = 0.62 * max(needed, 1e-6) / math.tan(0.5 * field_of_view) + 0.3 * float(np.hypot(extent[0], extent[1]))
    eye = centre + distance * DIRECTION / np.linalg.norm(DIRECTION)
    grid = 10.0 ** math.floor(math.log10(max(distance, 1e-6) / 4.0))
    return Framing(centre, eye, distance, float(low[2] - 0.02 * distance), grid, field_of_view)
