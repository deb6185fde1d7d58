"""The bodies and joints of a motion as coloured meshes, each drawn many times."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkwork.record.looks import Look
from linkwork.simulation.poses import polar_rotations, quaternions
from linkwork.view.markers import JointMarkers
from linkwork.view.motion import Motion

__all__ = ["FIXED", "JOINT", "MOVING", "PRESCRIBED", "Figure", "PoseTable", "body_colors", "figures_of"]

Floats = NDArray[np.float64]

MOVING = np.array([[70, 130, 200], [95, 160, 220], [60, 105, 170], [120, 180, 225]], dtype=np.uint8)
FIXED = np.array([125, 130, 138], dtype=np.uint8)
PRESCRIBED = np.array([235, 140, 50], dtype=np.uint8)
JOINT = np.array([45, 55, 70], dtype=np.uint8)


class PoseTable:
    """Positions and rotations of all bodies in one frame, for meshes in either body frame."""

    def __init__(self, motion: Motion, index: int) -> None:
        self.affine = motion.poses(index)
        turned = polar_rotations(self.affine[:, :, :3])
        frames = motion.body_frames
        self._of = {
            True: (self.affine[:, :, 3], turned),
            False: (frames.origins(self.affine), frames.rotations(turned)),
        }

    def of(self, look: Look, every: int = 1) -> tuple[Floats, Floats]:
        """Positions (k, 3) and rotations (k, 3, 3) of the bodies of a look, or of every second, third, ... of them."""
        bodies = look.bodies[::every]
        positions, rotations = self._of[look.principal]
        return positions[bodies], rotations[bodies]

    def wxyz_of(self, look: Look, every: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Positions and quaternions w, x, y, z, in single precision."""
        positions, rotations = self.of(look, every)
        wxyz = np.roll(quaternions(rotations), 1, axis=1)
        return positions.astype(np.float32), wxyz.astype(np.float32)


@dataclass(frozen=True)
class Figure:
    """A mesh drawn k times: vertices (v, 3), faces (f, 3), stretched and turned by linear (k, 3, 3), moved to
    origins (k, 3), coloured (k, 3) from 0 to 255; m."""

    vertices: NDArray[np.float32]
    faces: NDArray[np.int32]
    linear: Floats
    origins: Floats
    colors: NDArray[np.uint8]


def body_colors(motion: Motion, bodies: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Colours (k, 3) that tell neighbours apart, and moving bodies from fixed and prescribed ones."""
    kinds = motion.motion[bodies]
    colors: NDArray[np.uint8] = MOVING[bodies % len(MOVING)]
    colors[kinds == 1] = FIXED
    colors[kinds == 2] = PRESCRIBED
    return colors


def figures_of(motion: Motion, poses: PoseTable, markers: JointMarkers) -> list[Figure]:
    """All bodies with an end, and the joints, in one frame."""
    figures = []
    for look in motion.looks:
        if look.endless:
            continue
        origins, rotations = poses.of(look)
        linear = rotations * look.scales[:, None, :]
        figures.append(Figure(look.vertices, look.faces, linear, origins, body_colors(motion, look.bodies)))
    if markers.wanted:
        vertices, faces = markers.ball()
        linear = markers.radii[:, None, None] * np.eye(3)
        colors = np.broadcast_to(JOINT, (len(linear), 3))
        figures.append(Figure(vertices, faces, linear, markers.centres(poses.affine), colors))
    return figures
