"""What a recording costs the simulation that writes it."""

from __future__ import annotations

from linkwork.bench.cases import Case, Column, Suite, Target

__all__ = ["RECORDING"]

TASK = "linkwork.bench.tasks.ours:recorded"
CHAIN = {"scene": "chain", "size": {"links": 1000}, "dt": 1e-3, "steps": 2040, "rounds": 11}
PENDULUM = {"scene": "pendulum", "size": {}, "steps": 20_000, "rounds": 31, "fps": 60.0}
MILLION = {"scene": "million", "size": {}, "steps": 20, "rounds": 5, "every": 20}
LABELS = ("1,000 links, 30 a second", "1,000 links, 60 a second", "a pendulum, 60 a second", "a million links")

RECORDING = Suite(
    "recording",
    "A recording's cost: poses, velocities, energies, residual and joint coordinates, to a file",
    (
        Column("stride", "steps per frame"),
        Column("us_per_step", "µs per step without"),
        Column("us_recorded", "µs per step with"),
        Column("frame_kb", "kB per frame"),
        Column("loss", "share of the speed"),
    ),
    (
        Case(LABELS[0], TASK, CHAIN | {"fps": 30.0}, note="a chain of ball joints, dt = 1 ms"),
        Case(LABELS[1], TASK, CHAIN | {"fps": 60.0}, note="a chain of ball joints, dt = 1 ms", quick=True),
        Case(LABELS[2], TASK, PENDULUM, note="dt = 5 ms", quick=True),
        Case(LABELS[3], TASK, MILLION, note="every 20th step, dt = 10 ms"),
    ),
    (Target("loss", LABELS, 0.1),),
    ("Processor time; turns with and without a recording follow each other. The disk writes on by itself.",),
)
