"""Growing columns: rows are appended in bulk and read back as arrays, without copying the past each time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["Table"]


class Table:
    """Named columns of equal length; each column has a dtype and the shape of one row."""

    def __init__(self, **columns: tuple[DTypeLike, tuple[int, ...]]) -> None:
        self._columns: dict[str, NDArray[Any]] = {
            name: np.empty((0, *shape), dtype=dtype) for name, (dtype, shape) in columns.items()
        }
        self._rows = 0

    def __len__(self) -> int:
        return self._rows

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._columns)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return the rows of a column written so far (a view: read, do not write)."""
        return self._columns[column][: self._rows]

    def append(self, rows: int, **values: Any) -> int:
        """Append rows, one value per column, broadcast over the rows; returns the index of the first."""
        start, stop = self._rows, self._rows + rows
        for name, column in self._columns.items():
            if stop > len(column):
                grown = np.empty((max(stop, 2 * len(column)), *column.shape[1:]), dtype=column.dtype)
                grown[:start] = column[:start]
                self._columns[name] = column = grown
            column[start:stop] = values[name]
        self._rows = stop
        return start
