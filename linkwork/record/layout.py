"""The recording file: a mark, a header, then frames of equal size that each say where they begin and end.

    8 bytes   LWREC003
    8 bytes   length of the header, little-endian
    header    an archive (see simulation.archive): the scene's constants, and the fields of a frame
    zeros     up to a multiple of 64
    frames    one after the other; a frame is good when both of its marks are

Frames are only ever appended, so that a file cut at any byte reads back up to its last whole frame. A frame keeps no
coordinates of joints whose coordinates follow from the poses: they are computed when they are read.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["FRAME_MARK", "KIND", "MAGIC", "end_mark", "frame_dtype", "padded"]

KIND = b"LWREC"
MAGIC = KIND + b"003"
FRAME_MARK = 0x4C57_4652_414D_4531


def frame_dtype(bodies: int, coordinates: int, poses: str, *, velocities: bool) -> np.dtype[Any]:
    """Fields of a frame; poses are [A | t] of the principal frames in the given precision ("<f4" or "<f8")."""
    fields: list[Any] = [
        ("mark", "<u8"),
        ("step", "<i8"),
        ("time", "<f8"),
        ("residual", "<f8"),
        ("energy", "<f8", (4,)),
        ("coordinates", "<f8", (coordinates,)),
        ("poses", poses, (bodies, 3, 4)),
    ]
    if velocities:
        fields.append(("rates", poses, (bodies, 3, 4)))
    return np.dtype([*fields, ("end", "<u8")])


def end_mark(step: Any) -> Any:
    """The closing mark of the frame of a step."""
    return np.uint64(FRAME_MARK) ^ np.asarray(step).astype(np.uint64)


def padded(length: int) -> int:
    """The next multiple of 64."""
    return -(-length // 64) * 64
