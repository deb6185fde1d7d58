"""Balls where the joints are, so that a mechanism can be told from a heap of boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.scene.shapes import Sphere
from linkwork.view.motion import Motion

__all__ = ["JointMarkers"]

MOST = 20_000
MOST_FINE = 1_000  # so many round balls are half a million triangles
COLOR = (45, 55, 70)
THICKER = 1.25
STOUT = 3.0  # largest over smallest extent


class JointMarkers:
    """One ball per joint, at its point on the follower, a little thicker than the thinner of its bodies.

    Attributes:
        radii: (j,) m.
        wanted: whether there are joints to show, not too many, on bodies that are drawn.
        handle: the balls on a stage of viser, once added.
    """

    def __init__(self, motion: Motion) -> None:
        followers = motion.joint_bodies[:, 1]
        side = np.where(followers >= 0, 1, 0)
        rows = np.arange(motion.joints)
        self._bodies = motion.joint_bodies[rows, side]
        self._points = motion.joint_points[rows, side]
        thickness = np.append(_thickness(motion), np.inf)
        self.radii = THICKER * thickness[motion.joint_bodies].min(axis=1, initial=np.inf)
        self.handle: Any = None
        self.wanted = 0 < motion.joints <= MOST and bool(np.isfinite(self.radii).all())

    def centres(self, poses: NDArray[np.float64]) -> NDArray[np.float64]:
        """World points (j, 3) of the joints, m, for poses (n, 3, 4)."""
        own = poses[self._bodies]
        centres: NDArray[np.float64] = own[:, :, 3] + np.einsum("nij,nj->ni", own[:, :, :3], self._points)
        return centres

    @staticmethod
    def ball() -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Vertices and faces of the unit ball."""
        vertices, faces = Sphere(1.0).surface()
        return vertices.astype(np.float32), faces.astype(np.int32)

    @staticmethod
    def coarse_ball() -> tuple[NDArray[np.float32], NDArray[np.int32]]:
        """Vertices and faces of an icosahedron, which a page can draw many times in every frame."""
        from trimesh.creation import icosahedron

        mesh = icosahedron()
        return mesh.vertices.astype(np.float32), mesh.faces.astype(np.int32)

    def add(self, scene: Any, poses: NDArray[np.float64]) -> None:
        """Put the balls on the stage."""
        vertices, faces = self.ball() if len(self.radii) <= MOST_FINE else self.coarse_ball()
        upright = np.tile(np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32), (len(self.radii), 1))
        self.handle = scene.add_batched_meshes_simple(
            "/joints",
            vertices,
            faces,
            upright,
            self.centres(poses).astype(np.float32),
            batched_scales=self.radii.astype(np.float32),
            batched_colors=COLOR,
            lod="off",
            cast_shadow=False,
            receive_shadow=len(self.radii) <= MOST_FINE,
        )

    def move(self, poses: NDArray[np.float64]) -> None:
        """Move them to another frame."""
        self.handle.batched_positions = self.centres(poses).astype(np.float32)


def _thickness(motion: Motion) -> NDArray[np.float64]:
    """Half of the smallest extent of each body's mesh, m; infinite for bodies that are not drawn.

    A stout body, such as a top on its tip, says nothing about how thick it is at a joint: a tenth of its largest extent.
    """
    thickness = np.full(motion.bodies, np.inf)
    for look in motion.looks:
        half = 0.5 * np.ptp(look.vertices, axis=0)
        if not look.endless:
            extents = look.scales * half
            least, most = extents.min(axis=1), extents.max(axis=1)
            least = np.where(most < STOUT * least, np.minimum(least, 0.1 * most), least)
            thickness[look.bodies] = np.minimum(thickness[look.bodies], least)
    return thickness
