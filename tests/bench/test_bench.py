"""The bench: what a case brings back, how targets are judged, and what is printed and written."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from linkwork import bench, cli
from linkwork.bench import Case, Column, Peer, Result, Row, Suite, Target, report, suites
from linkwork.bench.child import measure
from linkwork.bench.running import judge
from linkwork.bench.wording import number

NOBODY = Peer("Nobody", "a_module_that_nobody_has", "nobody-has-it")
SOMEBODY = Peer("Somebody", "json", "numpy")


def case(function, label="row", **more):
    return Case(label, f"tasks_for_tests:{function}", **more)


@pytest.fixture(autouse=True)
def _tasks_are_found(monkeypatch):
    here = Path(__file__)
    monkeypatch.setenv("PYTHONPATH", f"{here.parents[2]}:{here.parent}")


def test_a_case_brings_back_its_numbers():
    row = measure(case("falls", parameters={"count": 3}))
    assert (row.status, row.message, row.values) == ("ok", "", {"bodies": 3})


def test_a_case_has_one_core_and_one_thread():
    assert measure(case("where")).values == {"cores": 1, "threads": "1"}


def test_what_an_engine_prints_does_not_reach_the_answer():
    assert measure(case("chatters")).values == {"ms": 1.0}


def test_a_peer_that_is_not_installed_says_how_to_get_it():
    row = measure(case("numbers", peer=NOBODY))
    assert row.status == "missing"
    assert row.message == "Nobody is not installed: pip install linkwork[bench]"


def test_a_part_of_a_peer_that_is_not_installed_says_how_to_get_it():
    row = measure(case("without_module", peer=SOMEBODY))
    assert (row.status, row.message) == ("missing", "Somebody is not installed: pip install linkwork[bench]")


def test_a_peer_with_an_environment_of_its_own_runs_there(monkeypatch, tmp_path):
    apart = Peer("Apart", "apart", "apart", environment="apart")
    monkeypatch.setenv("LINKWORK_PEERS", str(tmp_path))
    row = measure(case("numbers", peer=apart))
    assert (row.status, row.message) == ("missing", "Apart is not installed: make bench puts it into .venv-peers/apart")
    python = tmp_path / "apart" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nFROM_APART=yes exec {sys.executable} "$@"\n', encoding="utf-8")
    python.chmod(0o755)
    assert measure(case("environment", peer=apart, parameters={"name": "FROM_APART"})).values == {"value": "yes"}


def test_what_is_larger_than_a_row_that_took_too_long_is_not_tried():
    cases = (
        case("sleeps", "10", timeout=0.5),
        case("numbers", "100", after="10"),
        case("numbers", "1,000", after="100"),
    )
    rows = bench.run_suite(Suite("tiny", "", COLUMNS, cases)).rows
    assert [row.status for row in rows] == ["failed"] * 3
    assert [row.message for row in rows[1:]] == ["not tried, as 10: took longer than 0.5 s and was stopped"] * 2


FAILURES = {
    "nan": "ms is nan",
    "unstable": "unstable after 0.40 s: NaN",
    "raises": "ValueError: the joint is not there",
    "out_of_memory": "ran out of memory",
    "crashes": "crashed (SIGSEGV)",
    "is_killed": "killed by the system (signal 9), most likely out of memory",
    "exits": "ended with exit code 3: the last words",
    "sleeps": "took longer than 1 s and was stopped",
}


@pytest.mark.parametrize("function", FAILURES)
def test_a_case_that_fails_says_how(function):
    row = measure(case(function, peer=SOMEBODY, timeout=1.0 if function == "sleeps" else 60.0))
    assert row.status == "failed"
    assert row.message.startswith(FAILURES[function])


def test_a_failed_case_keeps_what_it_measured():
    assert measure(case("nan")).values == {"ms": None, "gap": 0.25}
    assert measure(case("unstable")).values == {"ms": 3.0}


COLUMNS = (Column("ms", "ms per step"), Column("outcome", "outcome"))


def judged(targets, *rows):
    cases = tuple(case("numbers", label) for label, _, _ in rows)
    suite = Suite("tiny", "A tiny suite", COLUMNS, cases, tuple(targets))
    measured = [Row(each, status, "", values) for each, (_, status, values) in zip(cases, rows, strict=True)]
    return [[verdict.met for verdict in row.verdicts] for row in judge(suite, measured)]


def test_a_bound_is_met_up_to_its_value():
    target = Target("ms", ("a", "b", "c"), 2.0)
    rows = ("a", "ok", {"ms": 2.0}), ("b", "ok", {"ms": 2.001}), ("c", "ok", {})
    assert judged([target], *rows) == [[True], [False], [None]]


def test_a_bound_can_be_relative_to_another_row():
    target = Target("ms", ("ours",), 0.25, of=("theirs", "ms"))
    for theirs, met in ((8.0, True), (7.9, False)):
        rows = ("ours", "ok", {"ms": 2.0}), ("theirs", "ok", {"ms": theirs})
        assert judged([target], *rows) == [[met], []]


def test_without_the_other_row_a_relative_bound_is_not_judged():
    target = Target("ms", ("ours",), 0.25, of=("theirs", "ms"))
    assert judged([target], ("ours", "ok", {"ms": 2.0}), ("theirs", "missing", {})) == [[None], []]


def test_a_peer_that_failed_can_still_be_compared_with():
    target = Target("ms", ("ours",), 0.25, of=("theirs", "ms"))
    assert judged([target], ("ours", "ok", {"ms": 2.0}), ("theirs", "failed", {"ms": 80.0})) == [[True], []]


def test_a_bound_can_be_relative_to_the_smallest_of_its_rows():
    target = Target("ms", ("a", "b", "c"), 1.5, of=(Target.SMALLEST, "ms"))
    rows = ("a", "ok", {"ms": 2.0}), ("b", "ok", {"ms": 3.0}), ("c", "ok", {"ms": 3.1})
    assert judged([target], *rows) == [[True], [True], [False]]


def test_a_target_can_be_a_word():
    target = Target("outcome", ("a", "b"), equals="finished")
    rows = ("a", "ok", {"outcome": "finished"}), ("b", "ok", {"outcome": "failed at 3.00 s"})
    assert judged([target], *rows) == [[True], [False]]


def test_a_row_of_ours_that_failed_meets_no_target():
    assert judged([Target("ms", ("a",), 2.0)], ("a", "failed", {"ms": 1.0})) == [[None]]


def test_a_suite_whose_targets_name_nothing_is_refused():
    for target in (Target("ms", ("b",), 1.0), Target("s", ("a",), 1.0), Target("ms", ("a",), 1.0, of=("b", "ms"))):
        with pytest.raises(ValueError, match="names what the table has not"):
            Suite("tiny", "", COLUMNS, (case("numbers", "a"),), (target,))
    with pytest.raises(ValueError, match="same label"):
        Suite("tiny", "", COLUMNS, (case("numbers", "a"), case("nan", "a")))


NUMBERS = {
    0: "0",
    0.0123456: "0.0123",
    12.345: "12.3",
    3.0: "3",
    1234.5: "1,234",
    2.34e-9: "2.3e-09",
    None: "",
    "x": "x",
}


@pytest.mark.parametrize("value", NUMBERS)
def test_numbers_are_short(value):
    assert number(value) == NUMBERS[value]


TINY = Suite(
    "tiny",
    "A tiny suite",
    COLUMNS,
    (
        case("numbers", "ours", parameters={"ms": 1.5}),
        case("numbers", "theirs | fast", parameters={"ms": 30.0}, peer=SOMEBODY, note="as it comes"),
        case("unstable", "theirs, stiff", peer=SOMEBODY),
        case("numbers", "nobody's", peer=NOBODY),
    ),
    (
        Target("ms", ("ours",), 1.0),
        Target("ms", ("ours",), 0.1, of=("theirs | fast", "ms")),
        Target("ms", ("ours",), 1.0, of=("nobody's", "ms")),
    ),
    ("A note for all.",),
)


@pytest.fixture(scope="module")
def measured():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", f"{Path(__file__).parents[2]}:{Path(__file__).parent}")
        return bench.run_suite(TINY)


def test_json_holds_every_row_and_every_target(measured):
    content = json.loads(json.dumps(report.as_json([measured], bench.machine()), allow_nan=False))
    assert {"processor", "Python", "linkwork", "Warp", "MuJoCo", "Pinocchio", "PyBullet"} <= set(content["machine"])
    rows = content["suites"][0]["rows"]
    assert [row["status"] for row in rows] == ["ok", "ok", "failed", "missing"]
    assert [row["competitor"] for row in rows] == ["linkwork", "Somebody", "Somebody", "Nobody"]
    assert [target["met"] for target in rows[0]["targets"]] == [False, True, None]
    assert [target["limit"] for target in rows[0]["targets"]] == [1.0, 3.0, None]


def test_markdown_tables_are_well_formed(measured):
    lines = report.as_markdown([measured, measured], bench.machine()).splitlines()
    table = [line for line in lines if line.startswith("|")]
    assert len(table) == 2 * (2 + len(TINY.cases))
    assert {len(re.findall(r"(?<!\\)\|", line)) for line in table} == {3}
    assert table[1] == "| --- | ---: |"
    assert lines.count("## tiny: A tiny suite") == 2
    # a table needs an empty line before and after it
    for k, line in enumerate(lines):
        if line.startswith("|"):
            assert lines[k - 1] == "" or lines[k - 1].startswith("|")
            assert lines[k + 1] == "" or lines[k + 1].startswith("|")


def test_the_report_says_what_is_met_what_is_missing_and_what_failed(measured):
    text = report.as_markdown([measured], bench.machine())
    for words in (
        "ours: ms per step: at most 1: ✗ missed (1.5)",
        "at most 0.1 × theirs \\| fast = 3: ✓ met (1.5)",
        "at most 1 × nobody's: ? could not be judged (1.5)",
        "theirs, stiff: failed: unstable after 0.40 s: NaN",
        "nobody's: missing: Nobody is not installed: pip install linkwork[bench]",
        "theirs \\| fast: as it comes",
        "A note for all.",
    ):
        assert words in text


def test_a_target_of_many_rows_takes_one_line():
    labels = ("a", "b", "c")
    suite = Suite("tiny", "", COLUMNS, tuple(case("numbers", each) for each in labels), (Target("ms", labels, 2.0),))
    rows = [Row(each, "ok", "", {"ms": value}) for each, value in zip(suite.cases, (1.0, 2.0, 3.0), strict=True)]
    text = report.as_markdown([Result(suite, judge(suite, rows))], bench.machine())
    assert "- ms per step: at most 2: ✗ met by 2 of 3 rows" in text


def test_a_row_from_a_shared_core_says_so():
    suite = Suite("tiny", "", COLUMNS, (case("numbers", "a"),))
    row = Row(suite.cases[0], "ok", "", {"ms": 1.0}, share=0.5)
    text = report.as_markdown([Result(suite, [row])], bench.machine())
    assert "Disturbed: other processes used the same core during 1 of 1 rows, which had as little as 50% of it" in text


@pytest.fixture
def linkwork(monkeypatch, capsys, tmp_path):
    """The command in this process, with the tiny suite only: (exit code, stdout, stderr)."""
    monkeypatch.setattr(suites, "SUITES", {"tiny": TINY})
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["linkwork", "bench", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


def test_a_missed_target_is_not_an_error(linkwork):
    code, out, _ = linkwork("tiny")
    assert code == 0
    for words in ("Python", "A tiny suite", "1.5 ✗", "theirs | fast", "missed"):
        assert words in out


def test_json_prints_nothing_else_and_files_are_written(linkwork, tmp_path):
    code, out, _ = linkwork("--json", "--save", "a.json", "--markdown", "a.md")
    assert code == 0
    assert json.loads(out) == json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert "| ours | 1.5 ✗ |" in (tmp_path / "a.md").read_text(encoding="utf-8")


def test_a_run_of_ours_that_fails_ends_with_1(linkwork, monkeypatch):
    broken = replace(TINY, cases=(case("raises", "ours"),), targets=())
    monkeypatch.setattr(suites, "SUITES", {"tiny": broken})
    code, out, err = linkwork("tiny", "--json")
    assert code == 1
    assert json.loads(out)["suites"][0]["rows"][0]["status"] == "failed"
    assert "tiny, ours: ValueError: the joint is not there" in err


def test_an_unknown_suite_ends_with_2_and_names_those_there_are(linkwork):
    code, out, err = linkwork("tony")
    assert (code, out) == (2, "")
    assert "tony" in err
    assert "tiny" in err


def test_a_folder_that_is_not_there_ends_with_2_before_anything_runs(linkwork):
    for option in ("--save", "--markdown"):
        code, out, err = linkwork("tiny", option, "nowhere/a")
        assert (code, out) == (2, "")
        assert "nowhere" in err


def test_list_names_the_suites(linkwork):
    code, out, _ = linkwork("--list")
    assert code == 0
    assert "tiny" in out
    assert "4 rows" in out


def test_the_suites_of_the_project_are_there():
    own = {"million", "scaling", "chain", "trees", "net", "arm", "free", "heavy", "start", "recording"}
    peers = {f"peers-{scene}" for scene in ("chain", "heavy-chain", "net", "tree", "four-bar", "arm")}
    assert set(bench.suite_names()) == own | peers
    assert set(bench.chosen_names("peers")) == peers
    assert bench.chosen_names("chain") == ["chain"]
    assert len(bench.find_suite("heavy").cases) == 96
    assert all(any(target.rows for target in bench.find_suite(name).targets) for name in own)
