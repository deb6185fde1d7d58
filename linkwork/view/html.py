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
from linkwork.view.figures import PoseTable
from linkwork.view.framing import frame_bodies
from linkwork.view.markers import JointMarkers
from linkwork.view.meshes import MeshGroup, set_stage

if TYPE_CHECKING:
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
    set_stage(server, framing)
    drawn = [MeshGroup(scene, number, look, recording, every) for number, look in enumerate(recording.looks)]
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


def _titled(page: str, title: str) -> str:
    named = f"<title>{html.escape(title)}</title>"
    return re.sub(r"<title>.*?</title>", lambda _: named, page, count=1, flags=re.DOTALL)
