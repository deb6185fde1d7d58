"""What is measured and what is wanted of it: cases, columns, targets, suites, and the rows that come of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

__all__ = ["OURS", "Case", "Column", "Peer", "Row", "Suite", "Target", "Value", "Verdict"]

OURS = "linkwork"
TOO_LARGE = ("took longer", "time-out", "ran out of memory", "killed by the system", "not tried")
Value = float | int | str | bool | None


@dataclass(frozen=True)
class Peer:
    """Another engine.

    Attributes:
        name: as shown.
        module: what Python imports.
        distribution: what pip installs, for its version.
        extra: the extra of linkwork that brings it.
        environment: name of the virtual environment it has for itself, where its needs clash with ours or others'.
    """

    name: str
    module: str
    distribution: str
    extra: str = "bench"
    environment: str = ""


@dataclass(frozen=True)
class Case:
    """One row to measure.

    Attributes:
        label: unique in its suite.
        task: "package.module:function"; the function gets `parameters` and returns numbers and words by column key.
            Under the key "failure" it may say why what it measured does not count.
        parameters: JSON values.
        peer: the engine measured, None for linkwork itself.
        note: how the engine was set up, shown under the table.
        timeout: wall time after which the row has failed, s.
        after: label of a smaller row; where that one took too long or too much memory, this one is not tried.
        quick: belongs to what `linkwork bench --quick` runs.
    """

    label: str
    task: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    peer: Peer | None = None
    note: str = ""
    timeout: float = 600.0
    after: str = ""
    quick: bool = False

    @property
    def competitor(self) -> str:
        """Name of the engine."""
        return OURS if self.peer is None else self.peer.name


@dataclass(frozen=True)
class Column:
    """A number or word of every row: its key among a task's values, and its heading with the unit."""

    key: str
    title: str


@dataclass(frozen=True)
class Target:
    """A bound on one column of some rows.

    Attributes:
        column: key of the column.
        rows: labels it holds for.
        at_most: the bound, or the factor on what `of` names; "below" is not distinguished from "at most".
        of: (label, column) of the row the bound is relative to; label SMALLEST is the smallest among `rows`.
        equals: the word wanted instead of a bound.
        name: of the rows together, where the table has several such targets.
    """

    column: str
    rows: tuple[str, ...]
    at_most: float | None = None
    of: tuple[str, str] | None = None
    equals: str | None = None
    name: str = ""

    SMALLEST = "the smallest"


@dataclass(frozen=True)
class Verdict:
    """How one row did against one target.

    Attributes:
        column: key of the column.
        target: the target in words.
        measured: the row's value.
        limit: the bound in the column's unit, or the word wanted.
        met: None when it cannot be judged, because a number is missing.
    """

    column: str
    target: str
    measured: Value
    limit: Value
    met: bool | None


@dataclass(frozen=True)
class Row:
    """What came of a case.

    Attributes:
        case: what was measured.
        status: "ok", "missing" (the peer is not installed) or "failed".
        message: why it is missing or how it failed.
        values: by column key; a failed row keeps what was measured before it failed.
        verdicts: one per target that holds for the row.
        share: of a core that it had, on average; None when it did not run. A shared core has colder caches.
    """

    case: Case
    status: Literal["ok", "missing", "failed"]
    message: str = ""
    values: Mapping[str, Value] = field(default_factory=dict)
    verdicts: Sequence[Verdict] = ()
    share: float | None = None

    @property
    def too_large(self) -> bool:
        """It took too long or too much memory, so that a larger one need not be tried."""
        return self.status == "failed" and self.message.startswith(TOO_LARGE)


@dataclass(frozen=True)
class Suite:
    """Cases that belong in one table.

    Attributes:
        name: as on the command line.
        title: what is measured.
        columns: of the table, after the label.
        cases: rows, in order.
        targets: what is wanted of them.
        notes: what a reader must know to read the table right.
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    cases: tuple[Case, ...]
    targets: tuple[Target, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        labels = [case.label for case in self.cases]
        keys = {column.key for column in self.columns}
        for target in self.targets:
            wanted = {*target.rows, *([target.of[0]] if target.of and target.of[0] != Target.SMALLEST else [])}
            if not wanted <= set(labels) or target.column not in keys:
                raise ValueError(f"suite {self.name!r}: a target of {target.column!r} names what the table has not")
        if len(set(labels)) != len(labels):
            raise ValueError(f"suite {self.name!r}: two cases have the same label")
