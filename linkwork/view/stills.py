"""Stills: shaded pictures of a simulation or a recording, painted without a screen, a browser or a GPU."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import LinkworkError
from linkwork.view.figures import PoseTable, figures_of
from linkwork.view.framing import Framing, frame_bodies
from linkwork.view.markers import JointMarkers
from linkwork.view.motion import Motion, motion_of, nearest_frame

__all__ = ["Painter", "still"]

LARGEST = 8192
LEVEL = 0.7


def still(
    source: Any,
    path: str | os.PathLike[str],
    *,
    at: float | None = None,
    size: tuple[int, int] = (1280, 720),
    direction: ArrayLike | None = None,
    whole_motion: bool = False,
) -> Path:
    """Paint one moment to a PNG file.

        lw.view.still(sim, "now.png")
        lw.view.still("run.lwr", "pear.png", at=1.5, size=(1600, 900))

    Args:
        source: a simulation (its present state), a recording, or the file of a recording.
        path: the PNG file; an old one is replaced.
        at: simulated time, s: the nearest frame of the recording is shown. None shows the last one.
        size: width and height, pixels.
        direction: (3,) from the bodies to the eye; None looks slightly down on them from the side (0.45, -1, 0.35).
        whole_motion: frame the whole recording rather than the moment shown, for a series of pictures.

    Returns:
        The file.

    Raises:
        LinkworkError: the recording is empty or does not reach that time, or the size or direction is not one.
    """
    from PIL import Image

    motion = motion_of(source)
    frame = nearest_frame(motion, at)
    frames = list(range(len(motion))) if whole_motion else [frame]
    painter = Painter(motion, size, frames=frames, direction=direction)
    target = Path(path)
    try:
        Image.fromarray(painter.paint(frame)).save(target, format="PNG")
    except OSError as error:
        raise LinkworkError(f"{os.fspath(path)!r} cannot be written: {error.strerror or error}") from error
    return target


class Painter:
    """Paints frames of one motion from one place.

    Args:
        motion: what to show.
        size: width and height, pixels.
        frames: the frames that must fit into the picture.
        direction: from the bodies to the eye; None is the usual one.
        skies: directions from which the light of the sky comes: more are smoother and slower.
    """

    def __init__(
        self,
        motion: Motion,
        size: tuple[int, int],
        *,
        frames: Sequence[int],
        direction: ArrayLike | None = None,
        skies: int = 48,
    ) -> None:
        self._motion = motion
        self._size = _checked_size(size)
        self._markers = JointMarkers(motion)
        self._framing = frame_bodies(
            motion, list(frames), aspect=self._size[0] / self._size[1], direction=_checked_direction(direction)
        )
        self._skies = skies

    def paint(self, frame: int) -> NDArray[np.uint8]:
        """The picture (height, width, 3) of one frame, sRGB."""
        from linkwork.simulation.kernels import quiet_warp

        quiet_warp()
        from linkwork.view.painting import Canvas, paint

        poses = PoseTable(self._motion, frame)
        framing = self._framing
        canvas = Canvas(
            *self._size,
            eye=framing.eye,
            centre=framing.centre,
            field_of_view=framing.field_of_view,
            planes=_planes(self._motion, poses, framing),
            grid=framing.grid,
            skies=self._skies,
        )
        return paint(figures_of(self._motion, poses, self._markers), canvas)


def _planes(motion: Motion, poses: PoseTable, framing: Framing) -> list[tuple[NDArray[np.float64], Any]]:
    """Points and normals of the endless planes; a floor below everything where no plane is level."""
    planes = []
    for look in motion.looks:
        if look.endless:
            corner, normal = look.vertices[0], np.cross(*np.diff(look.vertices[look.faces[0]], axis=0))
            normal = normal / np.linalg.norm(normal)
            origins, rotations = poses.of(look)
            # the point below the middle of the picture, so that its grid does not move with the body
            for point, turned in zip(origins + rotations @ corner, rotations @ normal, strict=True):
                planes.append((framing.centre - turned * float(turned @ (framing.centre - point)), turned))
    if not any(normal[2] > LEVEL for _, normal in planes):
        planes.append((np.array([0.0, 0.0, framing.floor]), np.array([0.0, 0.0, 1.0])))
    return planes


def _checked_size(size: Any) -> tuple[int, int]:
    try:
        width, height = (int(side) for side in size)
    except (TypeError, ValueError):
        width = height = 0
    if not 16 <= width <= LARGEST or not 16 <= height <= LARGEST:
        raise LinkworkError(f"size of a picture must be width and height from 16 to {LARGEST} pixels, got {size!r}")
    return width, height


def _checked_direction(direction: ArrayLike | None) -> NDArray[np.float64] | None:
    if direction is None:
        return None
    try:
        given = np.asarray(direction, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.zeros(0)
    if given.shape != (3,) or not np.isfinite(given).all() or not given.any():
        raise LinkworkError(f"direction must be three numbers, not all zero, got {direction!r}")
    return given / np.linalg.norm(given)
