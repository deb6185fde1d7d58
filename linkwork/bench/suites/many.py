"""Speed and scale: a million links, growth with their number, chains, trees and nets."""

from __future__ import annotations

from linkwork.bench.cases import Case, Column, Suite, Target
from linkwork.bench.machine import MUJOCO, PINOCCHIO, PYBULLET

__all__ = ["CHAIN", "MILLION", "NET", "SCALING", "TREES"]

STEPS = "linkwork.bench.tasks.ours:steps"
DEFAULT, PUBLISHED, ABA = "linkwork, default", "linkwork, as published", "Pinocchio, aba"
PER_ITERATION = Column("ns_per_link_iteration", "ns per link per iteration")
PER_LINK = Column("ns_per_link_step", "ns per link per step")
PER_STEP = Column("ms_per_step", "ms per step")
ITERATIONS = Column("iterations", "iterations")
RESIDUAL = Column("residual", "residual, m or rad")
BODIES = Column("bodies", "links")

SPREAD_OUT = {"warm_up": 2, "blocks": 5, "calls": 3, "between": 7}
MILLION = Suite(
    "million",
    "1,001 chains of 1,076 ball-jointed links, released level, dt = 10 ms",
    (
        BODIES,
        PER_ITERATION,
        PER_LINK,
        ITERATIONS,
        RESIDUAL,
        Column("first_step", "s from scene to first step"),
        Column("memory", "peak memory, GB"),
    ),
    (
        *(
            Case(
                label,
                STEPS,
                {"scene": "chain", "parameters": {"links": 1076, "count": 1001}, "published": published, **SPREAD_OUT},
            )
            for label, published in ((DEFAULT, False), (PUBLISHED, True))
        ),
        Case(
            ABA,
            "linkwork.bench.tasks.in_pinocchio:chain",
            peer=PINOCCHIO,
            note="forward dynamics only, no integration, on one chain of ball joints as long as fits in memory, "
            "which grows with the cube of its length",
        ),
    ),
    (
        Target("ns_per_link_iteration", (DEFAULT, PUBLISHED), 0.35, of=(ABA, "ns_per_link_step")),
        Target("ns_per_link_step", (PUBLISHED,), 0.35, of=(ABA, "ns_per_link_step")),
        Target("ns_per_link_step", (DEFAULT,), 0.9, of=(ABA, "ns_per_link_step")),
        Target("residual", (DEFAULT, PUBLISHED), 1e-7),
        Target("first_step", (DEFAULT, PUBLISHED), 10.0),
        Target("memory", (DEFAULT, PUBLISHED), 4.0),
    ),
    (
        "Medians over single steps at five times of the motion; a step's time is divided by the mean iterations of "
        "its chains.",
        "Kernels are compiled before the clock of the first step starts.",
    ),
)

COUNTS = (1, 10, 100, 1000)


def _scaling(label: str, count: int) -> str:
    return f"{label}, {count:,} × 1,000"


SCALING = Suite(
    "scaling",
    "Chains of 1,000 ball-jointed links side by side in one run, dt = 10 ms",
    (BODIES, PER_ITERATION, PER_LINK, ITERATIONS, RESIDUAL),
    tuple(
        Case(
            _scaling(label, count),
            STEPS,
            {
                "scene": "chain",
                "parameters": {"links": 1000, "count": count},
                "published": published,
                **(SPREAD_OUT if count > 100 else {"warm_up": 5, "blocks": 5, "calls": 20}),
            },
        )
        for label, published in ((DEFAULT, False), (PUBLISHED, True))
        for count in COUNTS
    ),
    tuple(
        Target(
            "ns_per_link_iteration",
            tuple(_scaling(label, count) for count in COUNTS),
            1.5,
            of=(Target.SMALLEST, "ns_per_link_iteration"),
            name=label,
        )
        for label in (DEFAULT, PUBLISHED)
    ),
)

LONG, SHORT = "linkwork, 1,500 links", "linkwork, 100 links"
TIED = "MuJoCo, connect, soft"
TREE = "MuJoCo, tree"
IN_MUJOCO = "linkwork.bench.tasks.in_mujoco:chain"
CHAIN = Suite(
    "chain",
    "One chain of ball-jointed links, released level, 10 ms a step, for 1 s",
    (
        PER_STEP,
        Column("gap", "largest joint gap, m"),
        Column("free_end_error", "error of the free end, m"),
        ITERATIONS,
        RESIDUAL,
    ),
    (
        Case(LONG, STEPS, {"scene": "chain", "parameters": {"links": 1500}, "warm_up": 20, "blocks": 5, "calls": 20}),
        Case(
            SHORT,
            "linkwork.bench.tasks.ours:chain",
            note="its gap is that between rigid links drawn in their poses, which is the stretch of the links",
        ),
        Case(
            TREE,
            IN_MUJOCO,
            {"kind": "tree", "integrator": "Euler"},
            MUJOCO,
            "100 nested bodies on ball joints: no gap by construction; Euler, as fast as it goes",
        ),
        Case(
            "MuJoCo, tree, implicitfast",
            IN_MUJOCO,
            {"kind": "tree"},
            MUJOCO,
            "the same with the integrator its manual recommends",
        ),
        Case(
            "MuJoCo, tree, 5 × 2 ms",
            IN_MUJOCO,
            {"kind": "tree", "integrator": "Euler", "substeps": 5},
            MUJOCO,
            "five steps of 2 ms to each of the others",
        ),
        Case(
            TIED,
            IN_MUJOCO,
            {"kind": "connect", "solref": "0.15 1", "solimp": "0.99 0.99 0.001"},
            MUJOCO,
            '100 free bodies and 100 connect equalities, implicitfast, Newton, sparse; solref "0.15 1" and solimp '
            '"0.99 0.99" gave the smallest gap among settings that hold for the whole second at 10 ms',
        ),
        Case(
            "MuJoCo, connect, stiff",
            IN_MUJOCO,
            {"kind": "connect", "solref": "0.02 1", "solimp": "0.999 0.9999 0.001"},
            MUJOCO,
            'the stiffest at this step: solref "0.02 1", solimp "0.999 0.9999"',
        ),
        Case(
            "MuJoCo, connect, 5 × 2 ms",
            IN_MUJOCO,
            {"kind": "connect", "substeps": 5, "solref": "0.004 1", "solimp": "0.999 0.9999 0.001"},
            MUJOCO,
            'stiff joints and five steps of 2 ms to each of the others: solref "0.004 1", solimp "0.999 0.9999"',
        ),
        Case(
            "PyBullet, multibody",
            "linkwork.bench.tasks.in_pybullet:chain",
            peer=PYBULLET,
            note="100 spherical joints in one multibody, without motors and damping: no gap by construction",
        ),
    ),
    (
        Target("ms_per_step", (LONG,), 0.7),
        Target("ms_per_step", (SHORT,), 0.2, of=(TIED, "ms_per_step")),
        Target("gap", (SHORT,), 1.0, of=(TIED, "gap")),
        Target("ms_per_step", (SHORT,), 0.025, of=(TREE, "ms_per_step")),
    ),
    (
        "The free end is compared with Lagrange's equations integrated to rtol 1e-11.",
        "A chain that breaks up is timed up to then.",
    ),
)

TREES = Suite(
    "trees",
    "Trees that sway in the wind, dt = 10 ms",
    (BODIES, PER_STEP, Column("ms_per_iteration", "ms per iteration"), ITERATIONS, RESIDUAL),
    tuple(
        Case(f"linkwork, {name}{how}", STEPS, {"scene": name, "prepare": wind, "warm_up": 110, "blocks": 7, "calls": 5})
        for name in ("willow", "pear")
        for how, wind in (("", True), (", no wind", False))
    ),
    (Target("ms_per_step", ("linkwork, willow",), 18.0), Target("ms_per_step", ("linkwork, pear",), 23.0)),
    (
        "Timed from 1.1 s on, when the wind has risen.",
        "The wind is a Python callback that pushes every link in every step, and part of the time.",
    ),
)

NET = Suite(
    "net",
    "A net of 100 × 100 knots, dt = 10 ms",
    (BODIES, PER_STEP, Column("ms_per_iteration", "ms per iteration"), ITERATIONS, RESIDUAL),
    (
        Case(
            "linkwork",
            STEPS,
            {"scene": "net", "parameters": {"size": 100}, "warm_up": 2, "blocks": 5, "calls": 2, "between": 3},
            timeout=900.0,
        ),
    ),
    (Target("ms_per_iteration", ("linkwork",), 90.0), Target("residual", ("linkwork",), 1e-7)),
)
