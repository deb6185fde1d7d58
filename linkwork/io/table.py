"""Quantities over time as a table of comma-separated values."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.record.reader import Recording

__all__ = ["write_csv"]

MOST_COLUMNS = 10_000


def write_csv(recording: Recording, path: str | os.PathLike[str], names: Sequence[str] | None = None) -> None:
    """Write time and the named columns, each headed "name [unit]", with all digits of every number.

    Args:
        recording: what to read.
        path: the file; an old one is replaced.
        names: as in `Recording.array`; energy, residual and all joint coordinates when None or empty.

    Raises:
        LinkworkError: there is no such name, there are too many columns, or the file cannot be written.
    """
    if isinstance(names, str):
        raise LinkworkError(f"the names of columns come as a list; say [{names!r}]")
    found = recording.columns
    if not names and recording.free_slots.mask.sum() > MOST_COLUMNS:
        raise LinkworkError(f"{recording.path} has too many joint coordinates for one table; name those you want")
    columns = found.find(names or [*found.whole_scene(), *found.joint_coordinates()])
    if len(columns) > MOST_COLUMNS:
        raise LinkworkError(f"{len(columns)} columns are too many for one table; name at most {MOST_COLUMNS}")
    table = np.column_stack([recording.times, *(column.values for column in columns)])
    try:
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(["time [s]", *(f"{column.name} [{column.unit}]" for column in columns)])
            writer.writerows(table.tolist())
    except OSError as error:
        raise LinkworkError(f"{os.fspath(path)!r} cannot be written: {error.strerror}") from error
