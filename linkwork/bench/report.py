"""The tables: on a terminal, as Markdown, as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from linkwork.bench.cases import Column, Row, Suite
from linkwork.bench.running import Result
from linkwork.bench.wording import number

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["as_json", "as_markdown", "header", "print_result"]

MET, MISSED, UNJUDGED = "✓", "✗", "?"
MARKS = {True: MET, False: MISSED, None: UNJUDGED}
NOT_JUDGED = "could not be judged"
ALONE = 0.85  # a row with less of its core than this was disturbed
PLACE = ("processor", "cores", "free memory", "load", "system")


def header(machine: Mapping[str, str]) -> str:
    """What it was measured with, in a line or two."""
    versions = ", ".join(f"{name} {value}" for name, value in machine.items() if name not in PLACE)
    memory, load = machine["free memory"], machine["load"]
    place = f"{machine['processor']}, {machine['cores']} cores, {memory} free, load {load}, {machine['system']}"
    return f"{place}. {versions}. One thread on one core each; medians of processor time."


def print_result(result: Result, console: Console) -> None:
    """A table for people, with a mark on every number that has a target, and the targets below it."""
    from rich.markup import escape
    from rich.table import Table

    suite = result.suite
    columns = _shown(result)
    console.print(f"[bold]{escape(suite.name)}[/bold]: {escape(suite.title)}")
    table = Table(box=None, pad_edge=False)
    table.add_column("")
    for column in columns:
        table.add_column(column.title, justify="right")
    for row in result.rows:
        table.add_row(escape(row.case.label), *(escape(_cell(row, column)) for column in columns))
    console.print(table)
    for line in _below(result):
        console.print(f"  {escape(line)}", highlight=False)
    console.print()


def as_markdown(results: Sequence[Result], machine: Mapping[str, str]) -> str:
    """All tables as a piece of a page; made again, never edited."""
    parts = ["# Side by side with other engines", "", header(machine), ""]
    for result in results:
        columns = _shown(result)
        parts += [f"## {result.suite.name}: {result.suite.title}", ""]
        parts.append(_line(["", *(column.title for column in columns)]))
        parts.append(_line(["---", *["---:"] * len(columns)]))
        parts += [_line([row.case.label, *(_cell(row, column) for column in columns)]) for row in result.rows]
        below = _below(result)
        parts += ["", *(f"- {_escaped(line)}" for line in below), ""] if below else [""]
    return "\n".join(parts).rstrip() + "\n"


def as_json(results: Sequence[Result], machine: Mapping[str, str]) -> dict[str, Any]:
    """Everything that was measured, as JSON values."""
    return {"machine": dict(machine), "suites": [_suite_json(result) for result in results]}


def _suite_json(result: Result) -> dict[str, Any]:
    suite = result.suite
    return {
        "name": suite.name,
        "title": suite.title,
        "columns": {column.key: column.title for column in suite.columns},
        "notes": list(suite.notes),
        "rows": [
            {
                "label": row.case.label,
                "competitor": row.case.competitor,
                "parameters": dict(row.case.parameters),
                "note": row.case.note,
                "status": row.status,
                "message": row.message,
                "core_share": row.share,
                "values": dict(row.values),
                "targets": [vars(verdict) for verdict in row.verdicts],
            }
            for row in result.rows
        ],
    }


def _shown(result: Result) -> list[Column]:
    """Columns that have a number in some row or a target."""
    judged = {verdict.column for row in result.rows for verdict in row.verdicts}
    return [
        column
        for column in result.suite.columns
        if column.key in judged or any(row.values.get(column.key) is not None for row in result.rows)
    ]


def _cell(row: Row, column: Column) -> str:
    verdicts = [verdict.met for verdict in row.verdicts if verdict.column == column.key]
    mark = ""
    if verdicts:
        mark = MARKS[False if False in verdicts else None if None in verdicts else True]
    value = row.values.get(column.key)
    if value is None and column.key == "outcome" and row.status != "ok":
        value = row.message
    return f"{number(value)} {mark}".strip()


def _below(result: Result) -> list[str]:
    """Targets, then rows that are missing or failed, then how to read the table."""
    return [*_target_lines(result.suite, result.rows), *_trouble(result), *_notes(result)]


def _target_lines(suite: Suite, rows: Sequence[Row]) -> list[str]:
    """One line per target; when it holds for many rows, how many of them met it."""
    found: dict[str, list[tuple[Row, bool | None, str]]] = {}
    for row in rows:
        for verdict in row.verdicts:
            found.setdefault(verdict.target, []).append((row, verdict.met, number(verdict.measured)))
    lines = []
    for target, judged in found.items():
        if len(judged) <= 2:
            lines += [
                f"{row.case.label}: {target}: {_judgement(met)} ({value or 'no value'})" for row, met, value in judged
            ]
            continue
        met = sum(each is True for _, each, _ in judged)
        mark = MET if met == len(judged) else MISSED
        lines.append(f"{target}: {mark} met by {met} of {len(judged)} rows")
    return lines


def _judgement(met: bool | None) -> str:
    return {True: f"{MET} met", False: f"{MISSED} missed", None: f"{UNJUDGED} {NOT_JUDGED}"}[met]


def _trouble(result: Result) -> list[str]:
    rows = result.rows
    told = any(column.key == "outcome" for column in _shown(result))
    lines = [] if told else [f"{row.case.label}: {row.status}: {row.message}" for row in rows if row.status != "ok"]
    shared = [row.share for row in rows if row.status == "ok" and row.share is not None and row.share < ALONE]
    if shared:
        lines.append(
            f"Disturbed: other processes used the same core during {len(shared)} of {len(rows)} rows, which had as "
            f"little as {min(shared):.0%} of it; their caches may cost time."
        )
    return lines


def _notes(result: Result) -> list[str]:
    return [*(f"{row.case.label}: {row.case.note}" for row in result.rows if row.case.note), *result.suite.notes]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
