"""Every engine on the same mechanisms, from ten links to a million, as far as each of them gets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from linkwork.bench.cases import Case, Column, Peer, Suite
from linkwork.bench.machine import DRAKE, EXUDYN, MUJOCO, NEWTON, PINOCCHIO, PYBULLET

__all__ = ["PEERS", "SEPARATOR"]

SEPARATOR = " · "  # between engine and size in a row's label
LIMIT = 3.0  # s of stepping
MANY = 10.0  # s of stepping, with the largest sizes
TIMEOUT = 15.0  # s for all of a row
COMPILING = 300.0  # s, where a first run compiles kernels


@dataclass(frozen=True)
class Contender:
    """An engine with its settings.

    Attributes:
        name: as shown.
        adapter: module in `linkwork.bench.peers`.
        settings: of the adapter's `build`.
        peer: None for linkwork.
        note: the settings in words.
        changes: other settings for some scenes.
    """

    name: str
    adapter: str
    settings: Mapping[str, Any]
    peer: Peer | None = None
    note: str = ""
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


CONTENDERS = (
    Contender(
        "linkwork",
        "in_linkwork",
        {},
        note="lw.MABD() as it comes; its bodies are elastic, with Young's modulus 1e9 Pa, for the four-bar and the arm "
        "1e12 Pa, for the heavy end 1e10 Pa; its gaps are those between rigid links drawn in their poses, which is the "
        "stretch of its links",
        changes={"four-bar": {"young": 1e12}, "arm": {"young": 1e12}, "heavy-chain": {"young": 1e10}},
    ),
    Contender(
        "MuJoCo, tree",
        "in_mujoco",
        {},
        MUJOCO,
        "bodies nested on joints, implicitfast, Newton solver, sparse, armature 0, no contact; loops closed by "
        'connect equalities with solref = twice the step and solimp "0.99 0.999", hinges by two of them',
    ),
    Contender("MuJoCo, tree, 5 substeps", "in_mujoco", {"substeps": 5}, MUJOCO, "the same with a fifth of the step"),
    Contender(
        "MuJoCo, connect, 5 substeps",
        "in_mujoco",
        {"kind": "connect", "substeps": 5},
        MUJOCO,
        "free bodies, every joint a connect equality with the same settings",
    ),
    Contender(
        "Pinocchio, 5 substeps",
        "in_pinocchio",
        {"substeps": 5},
        PINOCCHIO,
        "its articulated-body algorithm and the semi-implicit Euler rule, called from Python",
    ),
    Contender(
        "PyBullet, multibody, 5 substeps",
        "in_pybullet",
        {"substeps": 5},
        PYBULLET,
        "reduced coordinates, no motors and no damping; loops closed by point constraints of unlimited force",
    ),
    Contender(
        "PyBullet, constraints, 5 substeps",
        "in_pybullet",
        {"kind": "tied", "substeps": 5},
        PYBULLET,
        "free bodies and point constraints, two to a hinge; 200 iterations, residual threshold 1e-12, erp 0.8",
    ),
    Contender(
        "Newton, XPBD, 10 substeps",
        "in_newton",
        {"solver": "XPBD", "substeps": 10, "options": {"iterations": 10}},
        NEWTON,
        "10 iterations in each, no damping; Newton runs in single precision on the processor",
    ),
    Contender(
        "Newton, Featherstone, 5 substeps",
        "in_newton",
        {"solver": "Featherstone", "substeps": 5, "options": {"angular_damping": 0.0}},
        NEWTON,
        "no damping, armature 0",
    ),
    Contender(
        "Newton, MuJoCo, 5 substeps",
        "in_newton",
        {
            "solver": "MuJoCo",
            "substeps": 5,
            "options": {"use_mujoco_cpu": True, "integrator": "implicitfast", "disable_contacts": True},
        },
        NEWTON,
        "MuJoCo's own code for the processor (use_mujoco_cpu), implicitfast, armature 0",
    ),
    Contender(
        "Newton, Kamino, 5 substeps",
        "in_newton",
        {
            "solver": "Kamino",
            "substeps": 5,
            "options": {
                "dynamics_solver": "dvi",
                "sparse_dynamics": True,
                "sparse_jacobian": True,
                "constraints": {"alpha": 1.0},
            },
        },
        NEWTON,
        "its DVI solver with sparse dynamics and sparse Jacobians; alpha = 1 gave the smallest gaps",
    ),
    Contender(
        "Drake, discrete, 5 substeps",
        "in_drake",
        {"substeps": 5},
        DRAKE,
        "MultibodyPlant with time steps, SAP; loops closed by ball constraints, two to a hinge",
    ),
    Contender(
        "Drake, error control",
        "in_drake",
        {"integrator": "runge_kutta3", "accuracy": 1e-4},
        DRAKE,
        "continuous MultibodyPlant, runge_kutta3, accuracy 1e-4",
    ),
    Contender(
        "EXUDYN, 5 substeps",
        "in_exudyn",
        {"substeps": 5},
        EXUDYN,
        "rigid bodies with Euler parameters, generalised alpha with spectral radius 0.8, modified Newton, EigenSparse; "
        "where joints say the same twice (nets, four-bar), EigenDense with ignoreSingularJacobian",
        changes={"net": {"redundant": True}, "four-bar": {"redundant": True}},
    ),
)

COLUMNS = (
    Column("bodies", "links"),
    Column("ms_per_step", "ms per step"),
    Column("us_per_link", "µs per link"),
    Column("gap", "largest joint gap, m"),
    Column("drift", "energy drift"),
    Column("outcome", "outcome"),
)


@dataclass(frozen=True)
class Size:
    """One size of a scene: its name, parameters, and the simulated time, s."""

    name: str
    parameters: Mapping[str, Any]
    seconds: float
    timeout: float = TIMEOUT
    limit: float = LIMIT
    quick: bool = False


def _suite(scene: str, title: str, dt: float, sizes: tuple[Size, ...]) -> Suite:
    cases = []
    for contender in CONTENDERS:
        before = ""
        settings = {**contender.settings, **contender.changes.get(scene, {})}
        for k, size in enumerate(sizes):
            label = f"{contender.name}{SEPARATOR}{size.name}"
            cases.append(
                Case(
                    label,
                    "linkwork.bench.peers.playing:play",
                    {
                        "engine": contender.adapter,
                        "scene": scene,
                        "size": dict(size.parameters),
                        "dt": dt,
                        "seconds": size.seconds,
                        "limit": size.limit,
                        "settings": settings,
                    },
                    contender.peer,
                    timeout=COMPILING if k == 0 and contender.peer in (None, NEWTON) else size.timeout,
                    after=before,
                    quick=size.quick,
                )
            )
            before = label
    return Suite(
        f"peers-{scene}",
        f"{title}, dt = {1e3 * dt:g} ms",
        COLUMNS,
        tuple(cases),
        notes=(
            *(f"{contender.name}: {contender.note}." for contender in CONTENDERS),
            f"A step is {1e3 * dt:g} ms of motion; with 5 substeps it is five steps of a fifth. One thread.",
            f"A run is stopped after {LIMIT:g} s of stepping, a large one after {MANY:g} s; its times are those of the "
            "steps until then. To be started, built and stepped it has 15 s, a large one 20 s or 30 s, and "
            "the smallest of linkwork and Newton 300 s, as their kernels are compiled in a first run.",
            "It may take 8 GB of memory, or four fifths of what is free if that is less.",
            "Energy drift: the largest change of kinetic and potential energy, over the largest kinetic energy; "
            "less than zero where energy is lost. It is looked at 50 times in a run, as are the gaps.",
            "A run has come apart when a joint is open by half a link.",
        ),
    )


PEERS = (
    _suite(
        "chain",
        "A chain of ball-jointed links of 0.1 m, released level",
        1e-2,
        (
            Size("10", {"links": 10}, 1.0, quick=True),
            Size("100", {"links": 100}, 1.0, quick=True),
            Size("1,000", {"links": 1_000}, 1.0),
            Size("10,000", {"links": 10_000}, 0.5),
            Size("100,000", {"links": 100_000}, 0.2, 20.0, MANY),
            Size("1,000,000", {"links": 1_000_000}, 0.1, 30.0, MANY),
        ),
    ),
    _suite(
        "heavy-chain",
        "A chain of 60 links with 1,000 times the mass of a link at its end, released level",
        1e-2,
        (Size("60", {"links": 60, "end_mass": 1000.0}, 2.0),),
    ),
    _suite(
        "net",
        "A net of ball joints, pinned along one edge, released level",
        1e-2,
        (Size("10 × 10", {"size": 10}, 1.0), Size("100 × 100", {"size": 100}, 0.2, 30.0, MANY)),
    ),
    _suite(
        "tree",
        "A tree of boughs that fork in two, on ball joints, let go upright",
        1e-2,
        (Size("100", {"links": 100}, 1.0), Size("10,000", {"links": 10_000}, 0.5)),
    ),
    _suite(
        "four-bar",
        "N four-bar windows in a row (IFToMM A02)",
        1e-3,
        (
            Size("N = 2", {"windows": 2}, 1.0, quick=True),
            Size("N = 30", {"windows": 30}, 1.0),
            Size("N = 1,000", {"windows": 1_000}, 0.5, 30.0, MANY),
        ),
    ),
    _suite(
        "arm",
        "An arm of seven hinges, motors off, let go while it reaches out level",
        2e-3,
        (Size("7", {}, 1.0, quick=True),),
    ),
)
