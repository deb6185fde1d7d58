"""The short tables of the README: engines down, sizes across; made from what was measured, never by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linkwork.bench.cases import Row
from linkwork.bench.report import header
from linkwork.bench.running import Result, judge
from linkwork.bench.suites import find_suite, suite_names
from linkwork.bench.suites.peers import SEPARATOR
from linkwork.bench.wording import number

__all__ = ["BEGIN", "END", "overview", "read_results", "write_between_marks"]

BEGIN = "<!-- begin: written by `linkwork bench --into`, do not edit -->"
END = "<!-- end -->"
SHORT = {
    "came apart": "gap",
    "NaN": "NaN",
    "exploded": "exploded",
    "time-out": "time-out",
    "took longer": "time-out",
    "memory": "memory",
    "cannot": "cannot",
    "crashed": "crashed",
}
UNITS = {"peers-net": "knots", "peers-four-bar": "windows"}


def overview(results: Sequence[Result], machine: Mapping[str, str]) -> str:
    """One table per suite of the family `peers`: ms per step and largest gap, or how it failed."""
    parts = [header(machine), ""]
    for result in results:
        if not result.suite.name.startswith("peers-"):
            continue
        sizes = list(dict.fromkeys(_split(row)[1] for row in result.rows))
        engines = list(dict.fromkeys(_split(row)[0] for row in result.rows))
        cells = {_split(row): _cell(row) for row in result.rows}
        unit = UNITS.get(result.suite.name, "links")
        parts += [f"**{result.suite.title}** ({unit} across)", ""]
        parts += [_line(["", *sizes]), _line(["---", *["---:"] * len(sizes)])]
        parts += [_line([engine, *(cells.get((engine, size), "not measured") for size in sizes)]) for engine in engines]
        parts.append("")
    parts.append(
        "Milliseconds per step, and in parentheses the largest gap of a joint in metres; otherwise how it failed: "
        "`gap` the joints came apart by half a link, `NaN`, `exploded` more kinetic energy than falling frees, "
        "`time-out`, `memory`, `cannot` the engine has no way to describe it, `failed` its own error."
    )
    return "\n".join(parts) + "\n"


def write_between_marks(file: Path, text: str) -> None:
    """Replace what stands between the two marks of a page.

    Raises:
        ValueError: the file has not both marks, once each and in order.
    """
    page = file.read_text(encoding="utf-8")
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise ValueError(f"{file} needs the line {BEGIN} and below it the line {END}, once each")
    before, after = page.split(BEGIN)[0], page.split(END)[1]
    file.write_text(f"{before}{BEGIN}\n\n{text.strip()}\n\n{END}{after}", encoding="utf-8")


def read_results(contents: Sequence[Mapping[str, Any]]) -> tuple[list[Result], dict[str, str]]:
    """Results and machine from what `linkwork bench --save` wrote; of a row measured twice, the later counts.

    Rows that were measured with other parameters than the suite has now are left out.

    Raises:
        ValueError: the files are of different machines or versions.
    """
    machines = [dict(content["machine"]) for content in contents]
    for machine in machines[1:]:
        for key, value in machine.items():
            if key not in ("load", "free memory") and value != machines[0].get(key):
                raise ValueError(f"{key} is {machines[0].get(key)} in one file and {value} in another")
    found = {
        (suite["name"], row["label"]): row
        for content in contents
        for suite in content["suites"]
        for row in suite["rows"]
    }
    results = []
    for name in suite_names():
        suite = find_suite(name)
        rows = [
            Row(
                case,
                row["status"],
                row["message"],
                row["values"],
                share=row["core_share"],
            )
            for case in suite.cases
            if (row := found.get((name, case.label))) is not None and row["parameters"] == _as_json(case.parameters)
        ]
        if rows:
            results.append(Result(suite, judge(suite, rows)))
    return results, machines[0]


def _as_json(parameters: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(dict(parameters)))


def _split(row: Row) -> tuple[str, str]:
    engine, _, size = row.case.label.partition(SEPARATOR)
    return engine, size


def _cell(row: Row) -> str:
    if row.status == "missing":
        return "not installed"
    if row.status == "failed":
        reason = row.message
        if reason.startswith("not tried"):
            reason = reason.partition(SEPARATOR)[2].partition(": ")[2]
        return next((short for words, short in SHORT.items() if words in reason), "failed")
    gap = row.values.get("gap")
    return f"{number(row.values.get('ms_per_step'))} ({_power(gap)})"


def _power(gap: object) -> str:
    """A gap to one digit; what is below rounding is none."""
    if not isinstance(gap, float | int):
        return "?"
    return "0" if gap < 1e-12 else f"{gap:.0e}".replace("e-0", "e-")


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
