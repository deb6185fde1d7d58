"""The tables of `linkwork bench`, one file each, in the order in which they are run."""

from __future__ import annotations

from linkwork.bench.cases import Suite
from linkwork.bench.suites import machines, many, robustness, start

__all__ = ["find_suite", "suite_names"]

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
        robustness.HEAVY,
    )
}


def suite_names() -> list[str]:
    """Names of all suites."""
    return list(SUITES)


def find_suite(name: str) -> Suite:
    """The suite of a name; KeyError when there is none."""
    return SUITES[name]
