"""Films: MP4 files of a recording, painted frame by frame without a screen."""

from __future__ import annotations

import contextlib
import math
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import LinkworkError
from linkwork.view.motion import motion_of
from linkwork.view.stills import Painter

__all__ = ["Film", "film", "find_encoder"]

FEWER_SKIES = 16


@dataclass(frozen=True)
class Film:
    """What was written.

    Attributes:
        path: the file.
        frames: pictures in it.
        seconds: how long it plays, s.
        size: bytes of the file.
    """

    path: Path
    frames: int
    seconds: float
    size: int


def film(
    source: Any,
    path: str | os.PathLike[str],
    *,
    fps: float = 30.0,
    size: tuple[int, int] = (1280, 720),
    direction: ArrayLike | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Film:
    """Write an MP4 film (H.264) that plays at the speed of the simulated time.

        lw.view.film("run.lwr", "run.mp4", size=(960, 540))

    Args:
        source: a recording, or the file of one.
        path: the MP4 file; an old one is replaced.
        fps: pictures per second.
        size: width and height, pixels, both even.
        direction: (3,) from the bodies to the eye, as for `still`.
        progress: called with the pictures done and the pictures in all.

    Raises:
        LinkworkError: the recording is empty, the size is odd, fps is not positive, or there is no encoder.
    """
    if isinstance(fps, bool) or not isinstance(fps, int | float) or not 0.0 < fps < math.inf:
        raise LinkworkError(f"fps of a film must be a positive number of pictures per second, got {fps!r}")
    motion = motion_of(source)
    painter = Painter(motion, size, frames=range(len(motion)), direction=direction, skies=FEWER_SKIES)
    width, height = size
    if width % 2 or height % 2:
        raise LinkworkError(f"size of a film must be even in both directions, got {width} x {height}")
    times = motion.times
    count = 1 + round((times[-1] - times[0]) * fps)
    wanted = times[0] + np.arange(count) / fps
    after = np.clip(np.searchsorted(times, wanted), 1, max(len(times) - 1, 1))
    frames = np.where(wanted - times[after - 1] <= times[after % len(times)] - wanted, after - 1, after)
    with _encoder(find_encoder(), Path(path), size, fps) as pictures:
        picture, shown = b"", -1
        for done, frame in enumerate(np.minimum(frames, len(times) - 1).tolist(), start=1):
            if frame != shown:
                picture, shown = painter.paint(frame).tobytes(), frame
            pictures.write(picture)
            if progress is not None:
                progress(done, count)
    return Film(Path(path), count, count / fps, Path(path).stat().st_size)


def find_encoder() -> str:
    """The program that encodes films: that of the package imageio-ffmpeg, or ffmpeg on the path.

    Raises:
        LinkworkError: there is neither.
    """
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        found = shutil.which("ffmpeg")
    if found is None:
        raise LinkworkError("a film needs an encoder: pip install 'linkwork[film]', or put ffmpeg on the path")
    return found


@contextlib.contextmanager
def _encoder(program: str, target: Path, size: tuple[int, int], fps: float) -> Iterator[IO[bytes]]:
    """Takes raw pictures, and leaves a whole film or none."""
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.10g}", "-i", "-"]
    coding = ["-c:v", "libx264", "-pix_fmt", "yuv420p", "-crf", "18", "-preset", "medium", "-movflags", "+faststart"]
    command = [program, "-y", "-loglevel", "error", *source, "-an", *coding, "-f", "mp4", os.fspath(target)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stdin is not None
    try:
        # an encoder that gave up closes its end; what it has to say is asked for below
        with contextlib.suppress(BrokenPipeError):
            yield process.stdin
    except BaseException:
        process.kill()
        process.communicate()
        target.unlink(missing_ok=True)
        raise
    said = process.communicate()[1].decode(errors="replace").strip()
    if process.returncode:
        target.unlink(missing_ok=True)
        raise LinkworkError(f"{os.fspath(target)!r}: the film cannot be written: {said.splitlines()[-1:] or program}")
