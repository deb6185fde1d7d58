"""Runs suites, and holds what was measured against the targets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from linkwork.bench.cases import Case, Row, Suite, Target, Value, Verdict
from linkwork.bench.child import measure
from linkwork.bench.wording import number

__all__ = ["Result", "judge", "own_failures", "run_suite"]


@dataclass(frozen=True)
class Result:
    """A suite and its rows, one per case."""

    suite: Suite
    rows: Sequence[Row]


def run_suite(suite: Suite, on_case: Callable[[Suite, Case], object] | None = None) -> Result:
    """Measure all cases of a suite, one after the other; `on_case` hears of each before it starts."""
    rows: list[Row] = []
    for case in suite.cases:
        smaller = next((row for row in rows if row.case.label == case.after), None)
        if smaller is not None and smaller.too_large:
            first = smaller.message.removeprefix("not tried, as ")
            if first == smaller.message:
                first = f"{smaller.case.label}: {first}"
            rows.append(Row(case, "failed", f"not tried, as {first}"))
            continue
        if on_case is not None:
            on_case(suite, case)
        rows.append(measure(case))
    return Result(suite, judge(suite, rows))


def own_failures(results: Sequence[Result]) -> list[str]:
    """What went wrong in linkwork's own rows."""
    return [
        f"{result.suite.name}, {row.case.label}: {row.message}"
        for result in results
        for row in result.rows
        if row.case.peer is None and row.status != "ok"
    ]


def judge(suite: Suite, rows: Sequence[Row]) -> list[Row]:
    """The rows with a verdict for every target that holds for them."""
    values = {row.case.label: row.values for row in rows}
    return [
        replace(
            row,
            verdicts=tuple(
                _verdict(suite, target, row, values) for target in suite.targets if row.case.label in target.rows
            ),
        )
        for row in rows
    ]


def _verdict(suite: Suite, target: Target, row: Row, values: Mapping[str, Mapping[str, Value]]) -> Verdict:
    title = next(column.title for column in suite.columns if column.key == target.column)
    title = f"{target.name}: {title}" if target.name else title
    measured = row.values.get(target.column)
    if target.equals is not None:
        met = None if row.status != "ok" else measured == target.equals
        return Verdict(target.column, f"{title}: {target.equals}", measured, target.equals, met)
    assert target.at_most is not None
    limit: float | None = target.at_most
    words = f"{title}: at most {number(target.at_most)}"
    if target.of is not None:
        label, column = target.of
        compared = [label] if label != Target.SMALLEST else list(target.rows)
        found = [value for each in compared if _is_number(value := values[each].get(column))]
        limit = target.at_most * min(found) if len(found) == len(compared) else None
        words += f" × {label}" + ("" if limit is None else f" = {number(limit)}")
    met = None
    if row.status == "ok" and limit is not None and _is_number(measured):
        met = measured <= limit
    return Verdict(target.column, words, measured, limit, met)


def _is_number(value: Value) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
