"""Equal rows are found fast, and arrays lie on the device as its lanes like them."""

from __future__ import annotations

import time

import numpy as np
import warp as wp

from linkwork.mabd.arrays import CACHE_LINE, device_array, zeros
from linkwork.mabd.layout import unique_rows


def test_rows_that_differ_by_rounding_only_are_told_apart_in_linear_time():
    rng = np.random.default_rng(1)
    kinds = np.repeat(rng.uniform(1.0, 2.0, (1, 144)) * 10.0 ** rng.integers(-6, 6, 144), 1000, axis=0)
    kinds[:, 70] += 1e-19 * np.arange(1000)
    kinds[np.arange(500, 1000), 3] = 2.0 ** np.arange(-250, 250)
    rows = kinds[rng.integers(0, 1000, 60_000)]
    start = time.process_time()
    table, kind = unique_rows(rows)
    assert time.process_time() - start < 1.0
    assert np.array_equal(table[kind], rows)
    assert len(table) == len(np.unique(rows, axis=0))


def test_zeros_of_both_signs_do_not_confuse_the_table():
    rows = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 0.0]])
    table, kind = unique_rows(rows)
    assert np.array_equal(table[kind], rows)


def test_device_arrays_are_copies_on_cache_lines():
    values = np.arange(24.0)
    first, second = device_array(values, wp.float64), device_array(values, wp.float64)
    first.numpy()[0] = 5.0
    assert second.numpy()[0] == values[0] == 0.0
    assert first.ptr % CACHE_LINE == zeros(3).ptr % CACHE_LINE == 0
