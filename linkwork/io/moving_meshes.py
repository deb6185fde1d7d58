"""The meshes of a recording, and where they are in one of its frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.simulation.poses import polar_rotations

if TYPE_CHECKING:
    from linkwork.record.looks import Look
    from linkwork.record.reader import Recording

__all__ = ["Placed", "drawn_looks"]

Floats = NDArray[np.float64]


def drawn_looks(recording: Recording) -> list[Look]:
    """The looks that have an end; planes go on for ever and are left out.

    Raises:
        LinkworkError: the recording has no frame, or no body in it has a shape.
    """
    if len(recording) == 0:
        raise LinkworkError(f"{recording.path}: the recording has no whole frame, so there is nothing to write")
    looks = [look for look in recording.looks if not look.endless and len(look.bodies)]
    if not looks:
        raise LinkworkError(f"{recording.path}: no body in the recording has a shape, so there is nothing to write")
    return looks


class Placed:
    """Where the meshes are in one frame."""

    def __init__(self, recording: Recording, index: int) -> None:
        affine = recording.poses(index)
        turned = polar_rotations(affine[:, :, :3])
        frames = recording.body_frames
        self._of = {
            True: (affine[:, :, 3], turned),
            False: (frames.origins(affine), frames.rotations(turned)),
        }

    def of(self, look: Look) -> tuple[Floats, Floats]:
        """Positions (k, 3) and rotations (k, 3, 3) of the mesh frames of a look's bodies."""
        positions, rotations = self._of[look.principal]
        return positions[look.bodies], rotations[look.bodies]
