"""Side-by-side measurements: the same mechanism here and in other engines, each in its own process on one core.

A suite (`suites/`) is a table of cases, the columns to show and the targets to reach. A case names a task (`tasks/`),
a function that builds and measures one thing and returns numbers; it runs in a child process, so that no competitor
sees another's threads, memory or crash. To add a measurement, write a task and put a case in a suite.
"""

from __future__ import annotations

from linkwork.bench.cases import Case, Column, Peer, Row, Suite, Target, Verdict
from linkwork.bench.machine import machine
from linkwork.bench.running import Result, own_failures, run_suite
from linkwork.bench.suites import chosen_names, find_suite, part, suite_names

__all__ = [
    "Case",
    "Column",
    "Peer",
    "Result",
    "Row",
    "Suite",
    "Target",
    "Verdict",
    "chosen_names",
    "find_suite",
    "machine",
    "own_failures",
    "part",
    "run_suite",
    "suite_names",
]
