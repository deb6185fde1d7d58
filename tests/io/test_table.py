"""Tables: every digit survives."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from io_recorded import recorded

import linkwork as lw


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("table") / "run.lwr")[0]


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    return head, np.array(rows, dtype=float)


def test_named_columns_come_with_time_and_units_and_all_digits(recording, tmp_path):
    recording.to_csv(tmp_path / "a.csv", ["brick.position", "slider.angle"])
    head, rows = rows_of(tmp_path / "a.csv")
    assert head == [
        "time [s]",
        *(f"brick.position.{axis} [m]" for axis in "xyz"),
        "slider.angle [rad]",
    ]
    np.testing.assert_array_equal(rows[:, 0], recording.times)
    np.testing.assert_array_equal(rows[:, 1:4], recording.positions_of(0))


def test_without_names_energy_residual_and_all_joints_are_written(recording, tmp_path):
    recording.to_csv(tmp_path / "a.csv")
    head, rows = rows_of(tmp_path / "a.csv")
    assert head[1:5] == ["energy.kinetic [J]", "energy.potential [J]", "energy.total [J]", "residual [m or rad]"]
    assert head[-1] == "balls[1].twist [rad]"
    assert rows.shape == (len(recording), len(head)) == (21, 13)


def test_tables_that_cannot_be_written_are_refused(recording, tmp_path):
    with pytest.raises(lw.LinkworkError, match="No such file"):
        recording.to_csv(tmp_path / "nowhere" / "a.csv")
    with pytest.raises(lw.LinkworkError, match=r"say \['energy'\]"):
        recording.to_csv(tmp_path / "a.csv", "energy")
    with pytest.raises(lw.LinkworkError, match="there is no 'enrgy'"):
        recording.to_csv(tmp_path / "a.csv", ["enrgy"])
