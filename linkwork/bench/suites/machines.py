"""Small mechanisms, where what a step costs besides its arithmetic shows."""

from __future__ import annotations

from linkwork.bench.cases import Case, Column, Suite, Target
from linkwork.bench.machine import MUJOCO, PINOCCHIO

__all__ = ["ARM", "FREE"]

ARM = Suite(
    "arm",
    "A seven-axis arm held upright by its drives, dt = 5 ms, 100 steps a call",
    (
        Column("us_per_step", "µs per step"),
        Column("iterations", "iterations"),
        Column("residual", "residual, m or rad"),
    ),
    (
        Case(
            "linkwork",
            "linkwork.bench.tasks.ours:steps",
            {"scene": "arm", "warm_up": 200, "blocks": 5, "calls": 20, "batch": 100},
        ),
        Case(
            "MuJoCo",
            "linkwork.bench.tasks.in_mujoco:arm",
            peer=MUJOCO,
            note="hinges with the same masses, inertias and gains, position actuators, implicitfast",
        ),
        Case(
            "Pinocchio, aba",
            "linkwork.bench.tasks.in_pinocchio:arm",
            peer=PINOCCHIO,
            note="forward dynamics only: no drives, no integration; called from Python",
        ),
    ),
    (Target("us_per_step", ("linkwork",), 25.0),),
)

FREE = Suite(
    "free",
    "One body that flies and spins, 10,000 steps in one call",
    (Column("ms", "ms for 10,000 steps"),),
    (
        Case("linkwork", "linkwork.bench.tasks.ours:free_body"),
        Case("MuJoCo", "linkwork.bench.tasks.in_mujoco:free_body", peer=MUJOCO, note="implicitfast, no contact"),
    ),
    (Target("ms", ("linkwork",), 30.0),),
)
