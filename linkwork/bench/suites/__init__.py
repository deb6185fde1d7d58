"""The tables of `linkwork bench`, one file each, in the order in which they are run."""

from __future__ import annotations

from dataclasses import replace

from linkwork.bench.cases import Suite
from linkwork.bench.suites import machines, many, peers, recording, robustness, start

__all__ = ["chosen_names", "find_suite", "part", "suite_names"]

SUITES = {
    suite.name: suite
    for suite in (
        start.START,
        many.CHAIN,
        many.SCALING,
        many.TREES,
        many.NET,
        machines.ARM,
        machines.FREE,
        many.MILLION,
        recording.RECORDING,
        robustness.HEAVY,
        *peers.PEERS,
    )
}


def suite_names() -> list[str]:
    """Names of all suites."""
    return list(SUITES)


def find_suite(name: str) -> Suite:
    """The suite of a name; KeyError when there is none."""
    return SUITES[name]


def chosen_names(name: str) -> list[str]:
    """The suite of this name, or those of a family: `peers` stands for all `peers-...`; none where there is none."""
    if name in SUITES:
        return [name]
    return [each for each in SUITES if each.startswith(f"{name}-")]


def part(suite: Suite, *, quick: bool = False, label: str = "") -> Suite:
    """The rows for a first look, or those whose label begins so; targets are for whole suites."""
    cases = tuple(case for case in suite.cases if (case.quick or not quick) and case.label.startswith(label))
    return suite if cases == suite.cases else replace(suite, cases=cases, targets=())
