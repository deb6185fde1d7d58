"""Balls where the joints are, so that a mechanism can be told from a heap of boxes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.scene.shapes import Sphere

if TYPE_CHECKING:
    from linkwork.record.reader import Recording

__all__ = ["JointMarkers"]

MOST = 20_000
COLOR = (45, 55, 70)


class JointMarkers:
    """One ball per joint, at its point on the follower, a little thicker than the thinner of its bodies."""

    def __init__(self, recording: Recording) -> None:
        followers = recording.joint_bodies[:, 1]
        side = np.where(followers >= 0, 1, 0)
        rows = np.arange(recording.joints)
        self._bodies = recording.joint_bodies[rows, side]
        self._points = recording.joint_points[rows, side]
        thickness = np.append(_thickness(recording), np.inf)
        self._radii = 0.62 * thickness[recording.joint_bodies].min(axis=1, initial=np.inf)
        self._handle: Any = None
        self.wanted = 0 < recording.joints <= MOST and bool(np.isfinite(self._radii).all())

    def _centres(self, poses: NDArray[np.float64]) -> NDArray[np.float32]:
        own = poses[self._bodies]
        centres = own[:, :, 3] + np.einsum("nij,nj->ni", own[:, :, :3], self._points)
        return np.asarray(centres, dtype=np.float32)

    def add(self, scene: Any, poses: NDArray[np.float64]) -> None:
        """Put the balls on the stage."""
        vertices, faces = Sphere(1.0).surface()
        upright = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (len(self._radii), 1))
        self._handle = scene.add_batched_meshes_simple(
            "/joints",
            vertices.astype(np.float32),
            faces.astype(np.int32),
            upright,
            self._centres(poses),
            batched_scales=self._radii.astype(np.float32),
            batched_colors=COLOR,
            lod="off",
            cast_shadow=False,
        )

    def move(self, poses: NDArray[np.float64]) -> None:
        """Move them to another frame."""
        self._handle.batched_positions = self._centres(poses)


def _thickness(recording: Recording) -> NDArray[np.float64]:
    """Half of the smallest extent of each body's mesh, m; infinite for bodies that are not drawn."""
    thickness = np.full(recording.bodies, np.inf)
    for look in recording.looks:
        half = 0.5 * np.ptp(look.vertices, axis=0)
        if not look.endless:
            thickness[look.bodies] = np.minimum(thickness[look.bodies], (look.scales * half).min(axis=1))
    return thickness
