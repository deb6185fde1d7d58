"""One self-contained HTML file with a play bar, from a recording; viser's player and the data are both inside."""

from __future__ import annotations

import contextlib
import html
import io
import itertools
import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.view.figures import PoseTable, body_colors
from linkwork.view.framing import Framing, frame_bodies
from linkwork.view.markers import JointMarkers

if TYPE_CHECKING:
    from linkwork.record.looks import Look
    from linkwork.record.reader import Recording

__all__ = ["Animation", "write_html"]

BYTES_PER_POSE = 28
FEWEST_FRAMES = 60


@dataclass(frozen=True)
class Animation:
    """What was written.

    Attributes:
        path: the file.
        frames: frames in the animation.
        shown: bodies drawn; fewer than there are when all of them would make the file too large for a browser.
        size: bytes of the file.
    """

    path: Path
    frames: int
    shown: int
    size: int


def write_html(
    recording: Recording,
    path: str | os.PathLike[str],
    *,
    title: str = "linkwork",
    fps: float = 30.0,
    megabytes: float = 48.0,
) -> Animation:
    """Write an animation that any browser plays without a network.

    Args:
        recording: what to show.
        path: the HTML file; an old one is replaced.
        title: of the page.
        fps: frames per simulated second at most.
        megabytes: limit on the poses in the file before compression. When the frames go beyond it, frames are
            left out first (down to 60), then bodies (every second, third, ... is shown).

    Raises:
        LinkworkError: the recording has no frame.
    """
    if len(recording) == 0:
        raise LinkworkError(f"{recording.path}: the recording has no whole frame, so there is nothing to show")
    bodies = sum(len(look.bodies) for look in recording.looks)
    frames = _chosen_frames(recording, bodies, fps, megabytes * 1e6)
    every = max(1, math.ceil(bodies * len(frames) * BYTES_PER_POSE / (megabytes * 1e6)))
    page = _titled(_page(recording, frames, every), title)
    target = Path(path)
    target.write_text(page, encoding="utf-8")
    shown = sum(len(look.bodies[::every]) for look in recording.looks)
    return Animation(target, len(frames), shown, len(page))


def _chosen_frames(recording: Recording, bodies: int, fps: float, budget: float) -> list[int]:
    """Frames about 1 / fps apart, fewer when all bodies at this rate are too much."""
    times = recording.times
    count = 1 + math.floor((times[-1] - times[0]) * fps + 0.5)
    affordable = max(FEWEST_FRAMES, int(budget / (BYTES_PER_POSE * max(bodies, 1))))
    count = max(1, min(count, affordable, len(times)))
    chosen = np.unique(np.linspace(0, len(times) - 1, count).round().astype(int))
    return [int(frame) for frame in chosen]


def _page(recording: Recording, frames: list[int], every: int) -> str:
    import viser

    # viser announces itself on stdout, which belongs to the caller.
    with contextlib.redirect_stdout(io.StringIO()):
        server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        try:
            return _played(server, recording, frames, every)
        finally:
            server.stop()


def _played(server: Any, recording: Recording, frames: list[int], every: int) -> str:
    scene = server.scene
    scene.set_up_direction("+z")
    framing = frame_bodies(recording, frames)
    _set_stage(server, framing)
    drawn = [_Drawn(scene, number, look, recording, every) for number, look in enumerate(recording.looks)]
    first = PoseTable(recording, frames[0])
    for group in drawn:
        group.add(first)
    markers = JointMarkers(recording)
    if markers.wanted:
        markers.add(scene, first.affine)
    serializer = server.get_scene_serializer()
    times = recording.times
    for previous, frame in itertools.pairwise(frames):
        serializer.insert_sleep(max(float(times[frame] - times[previous]), 0.0))
        poses = PoseTable(recording, frame)
        for group in drawn:
            group.move(poses)
        if markers.wanted:
            markers.move(poses.affine)
    page: str = serializer.as_html()
    return page


def _set_stage(server: Any, framing: Framing) -> None:
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


class _Drawn:
    """The bodies of one look on the stage."""

    def __init__(self, scene: Any, number: int, look: Look, recording: Recording, every: int) -> None:
        self._scene = scene
        self._name = f"/bodies/{number}"
        self._look = look
        self._every = every
        self._bodies = look.bodies[::every]
        self._moves = bool((recording.motion[self._bodies] != 1).any())
        self._colors = body_colors(recording, self._bodies)
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
            cast_shadow=not self._look.endless,
        )

    def move(self, poses: PoseTable) -> None:
        """Move them to another frame."""
        if self._moves:
            self._handle.batched_positions, self._handle.batched_wxyzs = poses.wxyz_of(self._look, self._every)


def _titled(page: str, title: str) -> str:
    named = f"<title>{html.escape(title)}</title>"
    return re.sub(r"<title>.*?</title>", lambda _: named, page, count=1, flags=re.DOTALL)
