"""Which bodies may touch, as arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["ContactRules"]


@dataclass(frozen=True, eq=False)
class ContactRules:
    """Which bodies may touch. Bodies that do not move never touch each other, nor do bodies that a joint joins.

    Attributes:
        on: False where the scene has contact switched off as a whole.
        overlaps: what becomes of bodies that overlap at the start: "pass" (until they have come apart), "resolve",
            "refuse".
        group: (n,) group of each body; 0 is that of bodies without one.
        apart: (g, g) True where two groups pass through each other.
        ignored: (k, 2) bodies that pass through each other.
        silent: (n,) bodies that touch nothing.
        self_contact: (n,) bodies that touch others of their own joint component.
    """

    on: bool
    overlaps: str
    group: NDArray[np.int32]
    apart: NDArray[np.bool_]
    ignored: NDArray[np.int32]
    silent: NDArray[np.bool_]
    self_contact: NDArray[np.bool_]
