"""NumPy to the device and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Int = NDArray[np.int32]


def real_array(values: Any, dtype: Any = wp.float64) -> wp.array:
    return wp.array(np.ascontiguousarray(values, np.float64), dtype=dtype, device="cpu")


def int_array(values: Any) -> wp.array:
    return wp.array(np.ascontiguousarray(values, np.int32), dtype=wp.int32, device="cpu")


def flat(blocks: wp.array, count: int) -> wp.array:
    """The same memory as scalars."""
    return wp.array(ptr=blocks.ptr, shape=(count,), dtype=wp.float64, device="cpu", copy=False)


def zeros(count: int, dtype: Any = wp.float64) -> wp.array:
    return wp.zeros(count, dtype=dtype, device="cpu")
