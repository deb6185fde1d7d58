"""What holds under load: chains that snap taut under weights up to a million times heavier than their links."""

from __future__ import annotations

from itertools import product

from linkwork.bench.cases import Case, Column, Suite, Target

__all__ = ["HEAVY"]

JOINTS = ("ball", "hinge", "universal")
END_MASSES = (1.0, 1e3, 1e4, 1e6)
STARTS = {"coiled": True, "level": False}
TIME_STEPS = {"10 ms": 1e-2, "33 ms": 1.0 / 30.0}
METHODS = {"default": False, "as published": True}


def _label(joint: str, end_mass: float, start: str, time_step: str, method: str) -> str:
    return f"{method}, {joint}, {end_mass:g} ×, {start}, {time_step}"


CHOICES = list(product(METHODS, JOINTS, END_MASSES, STARTS, TIME_STEPS))
DEFAULTS = tuple(
    _label(joint, mass, start, step, method) for method, joint, mass, start, step in CHOICES if method == "default"
)

HEAVY = Suite(
    "heavy",
    "A chain of 60 links and a weight at its end, for 10 s",
    (
        Column("outcome", "outcome"),
        Column("iterations", "iterations"),
        Column("most_iterations", "at most"),
        Column("residual", "residual, m or rad"),
        Column("rise", "energy rise"),
    ),
    tuple(
        Case(
            _label(joint, mass, start, step, method),
            "linkwork.bench.tasks.ours:heavy_chain",
            {
                "joint": joint,
                "end_mass": mass,
                "coiled": STARTS[start],
                "dt": TIME_STEPS[step],
                "published": METHODS[method],
            },
        )
        for method, joint, mass, start, step in CHOICES
    ),
    (
        Target("outcome", DEFAULTS, equals="finished", name="default"),
        Target("residual", DEFAULTS, 1e-7, name="default"),
        Target("rise", DEFAULTS, 1e-9, name="default"),
    ),
    (
        "The weight is given in link masses.",
        "Energy rise: largest excess of the energy over the start, relative to the largest kinetic energy.",
    ),
)
