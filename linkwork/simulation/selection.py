"""Which bodies or joints a caller means: handles of a scene, indices, slices or masks, turned into checked rows."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError

__all__ = ["rows_of"]


def rows_of(which: Any, kind: Literal["body", "joint"], count: int, scene: object | None) -> NDArray[np.intp]:
    """Rows in the arrays of a simulation, 1-D, all of them between 0 and count.

    Args:
        which: a handle, a set of handles, an index, index arrays, a slice or a mask.
        kind: what is asked for, for the messages.
        count: how many there are.
        scene: the scene of the simulation; handles must belong to it. None when it was loaded from a file.

    Raises:
        SceneError: the handle belongs to another scene, or an index does not exist.
    """
    owner = getattr(which, "scene", None)
    if owner is not None and scene is not None and owner is not scene:
        raise SceneError(f"{_name(which, kind)} belongs to another scene; take the {kind} from this simulation's scene")
    indices = getattr(which, "indices", getattr(which, "index", which) if owner is not None else which)
    if isinstance(indices, slice):
        return np.arange(count)[indices]
    rows = np.atleast_1d(np.asarray(indices))
    if rows.dtype == np.bool_:
        if rows.shape != (count,):
            raise SceneError(f"a mask of {kind} rows must have shape ({count},), not {rows.shape}")
        return np.flatnonzero(rows)
    if rows.size == 0:
        return np.empty(0, dtype=np.intp)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise SceneError(f"expected a {kind}, a set of them or their indices, got {which!r}")
    bad = (rows < 0) | (rows >= count)
    if bad.any():
        index = int(rows[bad.argmax()])
        if kind == "body" and index == -1:
            raise SceneError("the ground cannot be pushed; choose a body that moves")
        raise SceneError(f"{kind} {index} does not exist; the scene has {count}, counted from 0")
    return rows.astype(np.intp, copy=False)


def _name(handle: Any, kind: str) -> str:
    name = getattr(handle, "name", None)
    return f"{kind} {name!r}" if isinstance(name, str) else f"the {kind}"
