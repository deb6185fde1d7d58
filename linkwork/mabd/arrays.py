"""NumPy to the device and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

Array = NDArray[np.float64]
Int = NDArray[np.int32]

CACHE_LINE = 64  # bytes; a lane fills one


def device_array(values: NDArray[Any], dtype: Any) -> wp.array:
    """Copy to the device."""
    memory = cleared(values.shape, values.dtype)
    memory[...] = values
    return wp.array(memory, dtype=dtype, device="cpu", copy=False)


def real_array(values: Any, dtype: Any = wp.float64) -> wp.array:
    return device_array(np.asarray(values, np.float64), dtype)


def int_array(values: Any) -> wp.array:
    return device_array(np.asarray(values, np.int32), wp.int32)


def zeros(count: int, dtype: Any = wp.float64) -> wp.array:
    if hasattr(dtype, "numpy_dtype"):  # a struct
        memory = cleared((count,), np.dtype(dtype.numpy_dtype()))
    else:
        scalar = getattr(dtype, "_wp_scalar_type_", dtype)
        memory = cleared((count, *getattr(dtype, "_shape_", ())), wp.dtype_to_numpy(scalar))
    return wp.array(memory, dtype=dtype, device="cpu", copy=False)


def cleared(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Zeros that start on a cache line. NumPy asks for huge pages, which are got and walked faster than Warp's small ones."""
    size = math.prod(shape) * np.dtype(dtype).itemsize
    memory = np.zeros(size + CACHE_LINE, np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + size].view(dtype).reshape(shape)


def flat(blocks: wp.array, count: int) -> wp.array:
    """The same memory as scalars."""
    return wp.array(ptr=blocks.ptr, shape=(count,), dtype=wp.float64, device="cpu", copy=False)
