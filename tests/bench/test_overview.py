"""The short tables of the README: what a cell says, where they are written, and that the README has their form."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from linkwork.bench import Result, Row, chosen_names, find_suite, machine, report
from linkwork.bench.overview import BEGIN, END, overview, read_results, write_between_marks
from linkwork.bench.suites.peers import SEPARATOR

SUITE = find_suite("peers-four-bar")
README = Path(__file__).parents[2] / "README.md"


def result():
    """Rows of which the first finished, the second came apart, the third was too slow, the fourth not tried."""
    ends = {
        0: ("ok", "", {"ms_per_step": 0.5, "gap": 2.3e-7, "outcome": "finished"}),
        1: ("failed", "came apart (gap 0.6 m) at 0.2 s", {"ms_per_step": 0.5, "gap": 0.6}),
        3: ("failed", "time-out: 0.1 s of 1 s simulated in 3 s", {"ms_per_step": 9.0}),
        4: ("failed", f"not tried, as {SUITE.cases[3].label}: time-out: 0.1 s", {}),
        5: ("missing", "MuJoCo is not installed", {}),
    }
    return Result(SUITE, [Row(SUITE.cases[k], *end) for k, end in ends.items()])


def test_a_cell_says_the_time_and_the_gap_or_how_it_failed():
    lines = [line for line in overview([result()], machine()).splitlines() if line.startswith("|")]
    assert lines == [
        "|  | N = 2 | N = 30 | N = 1,000 |",
        "| --- | ---: | ---: | ---: |",
        "| linkwork | 0.5 (2e-7) | gap | not measured |",
        "| MuJoCo, tree | time-out | time-out | not installed |",
    ]


def test_what_was_saved_is_read_back_and_later_rows_count():
    used = machine()
    first = report.as_json([result()], used)
    second = json.loads(json.dumps(first))
    second["suites"][0]["rows"] = second["suites"][0]["rows"][:1]
    second["suites"][0]["rows"][0]["values"]["ms_per_step"] = 0.25
    results, read = read_results([first, second])
    assert read == used
    assert [row.status for row in results[0].rows] == ["ok", "failed", "failed", "failed", "missing"]
    assert results[0].rows[0].values["ms_per_step"] == 0.25


def test_rows_measured_with_other_parameters_are_left_out():
    content = json.loads(json.dumps(report.as_json([result()], machine())))
    content["suites"][0]["rows"][0]["parameters"]["dt"] = 0.5
    results, _ = read_results([content])
    assert [row.case.label for row in results[0].rows] == [SUITE.cases[k].label for k in (1, 3, 4, 5)]


def test_files_of_different_versions_are_not_mixed():
    first = report.as_json([result()], machine())
    second = json.loads(json.dumps(first))
    second["machine"]["MuJoCo"] = "0.1"
    with pytest.raises(ValueError, match=r"MuJoCo is .* in one file and 0\.1 in another"):
        read_results([first, second])


def test_only_what_is_between_the_marks_is_written(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n", encoding="utf-8")
    for _ in range(2):
        write_between_marks(page, "new")
        assert page.read_text(encoding="utf-8") == f"before\n{BEGIN}\n\nnew\n\n{END}\nafter\n"
    page.write_text("no marks\n", encoding="utf-8")
    with pytest.raises(ValueError, match="needs the line"):
        write_between_marks(page, "new")


CELL = re.compile(
    r"[\d.,e+-]+ \((0|\d+(e[+-]?\d+)?)\)|gap|NaN|exploded|time-out|memory|cannot|crashed|failed|not installed|not measured"
)


def test_the_readme_has_the_tables_of_the_generator():
    written = README.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    assert "One thread on one core each" in written
    suites = [find_suite(name) for name in chosen_names("peers")]
    for suite in suites:
        assert f"**{suite.title}**" in written
        lines = written.split(f"**{suite.title}**")[1].split("\n\n")[1].splitlines()
        table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
        labels = [case.label.partition(SEPARATOR) for case in suite.cases]
        assert table[0] == ["", *dict.fromkeys(size for _, _, size in labels)]
        engines = [row[0] for row in table[2:]]
        assert engines == [each for each in dict.fromkeys(engine for engine, _, _ in labels) if each in engines]
        assert engines[0] == "linkwork"
        assert len(engines) > 3
        for row in table[2:]:
            assert all(CELL.fullmatch(cell) for cell in row[1:]), row
