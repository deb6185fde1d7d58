"""Where to put the camera and the floor so that a whole motion is in the picture."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from linkwork.view.motion import Motion

__all__ = ["Framing", "frame_bodies", "with_room"]

LOOKED_AT_FRAMES = 24
LOOKED_AT_BOXES = 500_000
DIRECTION = np.array([0.45, -1.0, 0.35])
FIELD_OF_VIEW = math.radians(40.0)
ASPECT = 1.4
MARGIN = 0.84
ROOM = 1.5


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


def frame_bodies(
    recording: Motion, frames: list[int], *, aspect: float = ASPECT, direction: NDArray[np.float64] | None = None
) -> Framing:
    """Frame the boxes around all bodies in some of the frames.

    Args:
        recording: what is looked at.
        frames: which frames must fit.
        aspect: the picture's width over its height.
        direction: (3,) from the bodies to the eye.
    """
    right, up, forward = _camera_axes(DIRECTION if direction is None else direction)
    axes = np.array([right, up, forward, (0.0, 0.0, 1.0)])
    looks = [look for look in recording.looks if not look.endless]
    sampled = np.unique(np.linspace(0, len(frames) - 1, LOOKED_AT_FRAMES).round().astype(int))
    every = 1 + len(sampled) * sum(len(look.bodies) for look in looks) // LOOKED_AT_BOXES
    places, reaches = [np.zeros((0, 4))], [np.zeros((0, 4))]
    for frame in sampled.tolist():
        poses = recording.poses(frames[frame])
        origins, turned = recording.body_frames.origins(poses), recording.body_frames.rotations(poses[:, :, :3])
        for look in looks:
            bodies = look.bodies[::every]
            rotations = (poses[:, :, :3] if look.principal else turned)[bodies]
            low, high = look.vertices.min(axis=0), look.vertices.max(axis=0)
            middle, half = 0.5 * look.scales[::every] * (low + high), 0.5 * look.scales[::every] * (high - low)
            centres = (poses[:, :, 3] if look.principal else origins)[bodies]
            centres = centres + np.einsum("nij,nj->ni", rotations, middle)
            places.append(centres @ axes.T)
            reaches.append(np.einsum("naj,nj->na", np.abs(np.einsum("ai,nij->naj", axes, rotations)), half))
    place, reach = np.concatenate(places), np.concatenate(reaches)
    if len(place) == 0:
        place, reach = np.zeros((1, 4)), np.ones((1, 4))
    reach = np.maximum(reach, 1e-9)
    low, high = (place - reach).min(axis=0), (place + reach).max(axis=0)
    centre = 0.5 * (low + high)[:3]
    # from how far every box fits into the window
    tangent = MARGIN * math.tan(0.5 * FIELD_OF_VIEW)
    off = np.abs(place[:, :3] - centre) + reach[:, :3]
    near = place[:, 2] - reach[:, 2] - centre[2]
    distance = float((np.maximum(off[:, 0] / (aspect * tangent), off[:, 1] / tangent) - near).max())
    seen = centre @ axes[:3]
    grid = 10.0 ** math.floor(math.log10(distance / 1.5))
    return Framing(seen, seen - distance * forward, distance, float(low[3]), grid, FIELD_OF_VIEW)


def with_room(framing: Framing, motion: Motion) -> Framing:
    """A framing of the beginning of a motion, with room for what may come: seen from farther away, the floor lower.

    A floor on which something fixed stands stays where it is.
    """
    away = ROOM * (framing.eye - framing.centre)
    looks = [look for look in motion.looks if look.endless or (motion.motion[look.bodies] == 1).any()]
    floor = framing.floor if looks else framing.floor - 0.5 * framing.distance
    return replace(framing, eye=framing.centre + away, distance=ROOM * framing.distance, floor=floor)


def _camera_axes(
    direction: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Unit vectors to the right, up and into the picture."""
    forward = -direction / np.linalg.norm(direction)
    # one who looks straight up or down has y at the top of the picture
    right = np.cross(forward, (0.0, 0.0, 1.0) if abs(forward[2]) < 0.999 else (0.0, 1.0, 0.0))
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward
