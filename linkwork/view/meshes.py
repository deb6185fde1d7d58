"""Instanced meshes on a stage of viser, for pages and for animations in a file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.record.looks import Look
from linkwork.view.figures import PoseTable, body_colors
from linkwork.view.framing import Framing
from linkwork.view.motion import Motion

__all__ = ["PICKED", "MeshGroup", "set_stage"]

MOST_SHADED = 2_000  # bodies: shadows draw each of them once more for every part of the depth
PICKED = np.array([255, 196, 0], dtype=np.uint8)


def set_stage(server: Any, framing: Framing) -> None:
    """Light, floor and camera."""
    server.scene.configure_default_lights(True, cast_shadow=True)
    server.scene.add_grid(
        "/floor",
        infinite_grid=True,
        cell_size=framing.grid,
        section_size=5.0 * framing.grid,
        cell_color=(225, 228, 232),
        section_color=(200, 204, 210),
        fade_distance=6.0 * framing.distance,
        shadow_opacity=0.2,
        position=(float(framing.centre[0]), float(framing.centre[1]), framing.floor),
    )
    server.initial_camera.position = framing.eye
    server.initial_camera.look_at = framing.centre
    server.initial_camera.fov = framing.field_of_view
    server.initial_camera.near = 0.01 * framing.distance
    server.initial_camera.far = 50.0 * framing.distance


class MeshGroup:
    """The bodies of one look on the stage."""

    def __init__(self, scene: Any, number: int, look: Look, motion: Motion, every: int) -> None:
        self._scene = scene
        self._name = f"/bodies/{number}"
        self._look = look
        self._every = every
        self._bodies = look.bodies[::every]
        self._moves = bool((motion.motion[self._bodies] != 1).any())
        self._colors = body_colors(motion, self._bodies)
        self._shadows = motion.bodies <= MOST_SHADED
        self._marked = False
        self._handle: Any = None

    def add(self, poses: PoseTable) -> None:
        """Put the meshes where they begin."""
        positions, wxyz = poses.wxyz_of(self._look, self._every)
        self._handle = self._scene.add_batched_meshes_simple(
            self._name,
            self._look.vertices,
            self._look.faces,
            wxyz,
            positions,
            batched_scales=self._look.scales[:: self._every],
            batched_colors=self._colors,
            lod="off",
            flat_shading=len(self._look.faces) <= 12,
            side="double" if self._look.endless else "front",
            cast_shadow=self._shadows and not self._look.endless,
            receive_shadow=self._shadows,
        )

    def move(self, poses: PoseTable) -> None:
        """Move them to another frame."""
        if self._moves:
            self._handle.batched_positions, self._handle.batched_wxyzs = poses.wxyz_of(self._look, self._every)

    def listen(
        self,
        clicked: Callable[[int], None],
        pulled: Callable[[int, str, NDArray[np.float64], NDArray[np.float64]], None] | None,
    ) -> None:
        """Call back with the body that is clicked or dragged; see Stage.listen."""

        # what is awaited on the loop of the page keeps its order
        async def on_click(event: Any) -> None:
            if event.instance_index is not None:
                clicked(int(self._bodies[event.instance_index]))

        async def on_drag(event: Any) -> None:
            if event.instance_index is not None and pulled is not None:
                body = int(self._bodies[event.instance_index])
                pulled(body, event.phase, np.array(event.start_position), np.array(event.end_position))

        self._handle.on_click(on_click)
        if self._moves and pulled is not None:
            self._handle.on_drag(on_drag)

    def mark(self, body: int | None) -> None:
        """Colour one body of the group; None or a body of another group takes the colour off."""
        here = self._bodies == (-1 if body is None else body)
        if self._marked or here.any():
            self._marked = bool(here.any())
            self._handle.batched_colors = np.where(here[:, None], PICKED, self._colors)
