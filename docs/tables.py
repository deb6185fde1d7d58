"""Measures what docs/methods/mabd.md says and writes its tables anew; run it by hand:

    .venv/bin/python docs/tables.py            all tables, some minutes
    .venv/bin/python docs/tables.py pendulum   one of them

Nothing in it is timed or random, so the same code gives the same tables.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[0] = str(HERE.parent / "tests")  # in place of this folder, which has a gallery of its own

from gallery.heavy_chain_runs import DTS, JOINTS, MASSES, HeavyRun, follow  # noqa: E402
from oracles import mechanisms, test_every_joint  # noqa: E402

import linkwork as lw  # noqa: E402

PAGE = HERE / "methods" / "mabd.md"
SCHEMES = {
    "`lw.MABD()`": lw.MABD(),
    "`lw.MABD(iterations=1)`": lw.MABD(iterations=1),
    "`lw.MABD.as_published()`": lw.MABD.as_published(),
}
Rows = Iterator[list[str]]


def power(value: float) -> str:
    """Two digits, with the power of ten written out where it is small."""
    if value == 0.0 or 0.01 <= abs(value) < 100.0:
        return f"{value:.2g}"
    return re.sub(r"e([+-])0", r"e\1", f"{value:.1e}").replace("e+", "e")


def pendulum() -> Rows:
    """Energy and phase of a pendulum over ten seconds, energies in parts of m g L / 2."""
    yield ["scheme", "dt", "kinetic and potential energy lost", "largest elastic energy", "largest phase error, rad"]
    schemes = {
        "BDF2, `lw.MABD()`": lw.MABD(),
        'converged Euler, `lw.MABD(integrator="euler")`': lw.MABD(integrator="euler"),
        "as published, `lw.MABD.as_published()`": lw.MABD.as_published(),
    }
    for name, method in schemes.items():
        for dt in (1e-2, 5e-3, 1e-3):
            scene = mechanisms.pendulum_scene(material=lw.Material(young=1e9))
            sim = lw.Simulation(scene, method, dt=dt, state_dir=None)
            truth = mechanisms.pendulum_angles(dt * np.arange(1, sim.steps_for(10.0) + 1))
            before, elastic, error = sim.energy, 0.0, 0.0
            for angle in truth:
                sim.step()
                off = float(sim.joint_coordinates[0][0]) - angle
                error = max(error, abs(np.remainder(off + np.pi, 2.0 * np.pi) - np.pi))
                elastic = max(elastic, sim.energy.elastic)
            in_play = float(sim.model.mass[0]) * mechanisms.G * 0.5
            lost = before.kinetic + before.potential - sim.energy.kinetic - sim.energy.potential
            yield [name, f"{dt:g}", power(lost / in_play), power(elastic / in_play), power(error)]


def spin() -> Rows:
    """How fast a free body still spins after a second, and how far it is stretched."""
    schemes = {
        "BDF2": lw.MABD(),
        "converged Euler": lw.MABD(integrator="euler"),
        "as published": lw.MABD.as_published(),
    }
    yield ["rad/s", "dt", "rad in a step", *schemes, "strain, BDF2", "strain, as published"]
    for rate in (3.0, 10.0, 30.0, 100.0):
        for dt in (1e-2, 1e-3):
            left, strain = [], []
            for method in schemes.values():
                scene = lw.Scene(gravity=(0, 0, 0))
                scene.add_body(lw.Box(0.1, 0.2, 0.3), angular_velocity=(0, 0, rate))
                sim = lw.Simulation(scene, method, dt=dt, state_dir=None)
                sim.run(1.0, progress=False)
                A = sim.poses[0, :, :3]
                left.append(f"{np.linalg.norm(sim.angular_velocities[0]):.4g}")
                strain.append(power(float(np.abs(np.linalg.svd(A, compute_uv=False) - 1.0).max())))
            yield [f"{rate:g}", f"{dt:g}", f"{rate * dt:g}", *left, strain[0], strain[2]]


def worst_violation(kind: str, between: bool, method: lw.MABD) -> str:
    """Largest violation after any step of ten seconds, or when the run failed."""
    sim = lw.Simulation(test_every_joint.scene_of(kind, between), method, dt=1e-2, state_dir=None)
    worst = 0.0
    for _ in range(1000):
        try:
            sim.step()
            worst = max(worst, sim.residual)
        except lw.SimulationError as error:
            return f"fails at {error.time:.2f} s"
    return power(worst)


def one_iteration() -> Rows:
    """What a single iteration leaves of each joint."""
    yield ["joint", *(f"{name}{side}" for side in ("", ", between bodies") for name in SCHEMES)]
    for kind in test_every_joint.KINDS:
        cells = [worst_violation(kind, side, method) for side in (False, True) for method in SCHEMES.values()]
        yield [kind, *cells]


def default_cells(run: HeavyRun) -> list[str]:
    """How the default did on a heavy chain."""
    if run.failed_at is not None:
        return [f"fails at {run.failed_at:.2f} s", *["-"] * 5]
    return [
        power(run.residual),
        f"{run.iterations:.1f}",
        f"{100 * run.capped:.1f} %",
        "never" if run.above_start <= 1e-9 else power(run.above_start),
        f"{100 * run.largest_rise:.1f} %",
        f"{100 * run.lost:.0f} %",
    ]


def published_cell(run: HeavyRun) -> str:
    """How the published scheme did."""
    if run.exploded_at is not None:
        return f"explodes at {run.exploded_at:.2f} s"
    if run.failed_at is not None:
        return f"fails at {run.failed_at:.2f} s"
    return f"finishes, residual {power(run.residual)}, {100 * run.lost:.0f} % lost"


def heavy_chain() -> Rows:
    """The default and the published scheme on the heavy chain."""
    yield [
        "weight", "released", "dt", "joints", "residual", "iterations", "steps cut at 40", "energy above start",
        "largest rise in a step", "energy lost", "as published",
    ]  # fmt: skip
    for end_mass in MASSES:
        for coiled in (True, False):
            for dt in DTS:
                joints: dict[tuple[str, ...], list[str]] = {}
                for joint in JOINTS:
                    cells = default_cells(follow(joint, end_mass, coiled, dt))
                    cells.append(published_cell(follow(joint, end_mass, coiled, dt, lw.MABD.as_published())))
                    joints.setdefault(tuple(cells), []).append(joint)
                for row, names in joints.items():
                    released = "folded" if coiled else "level"
                    yield [f"{end_mass:,.0f}", released, "1/100" if dt == DTS[0] else "1/30", ", ".join(names), *row]


TABLES: dict[str, Callable[[], Rows]] = {
    "pendulum": pendulum,
    "spin": spin,
    "one iteration": one_iteration,
    "heavy chain": heavy_chain,
}


def markdown(rows: Rows) -> str:
    """A table whose first row is its head."""
    head, *body = rows
    lines = [head, ["---"] * len(head), *body]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines)


def main(wanted: list[str]) -> None:
    """Put the tables between their marks in the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name in wanted or TABLES:
        table = markdown(TABLES[name]())
        print(f"{name}\n\n{table}\n", flush=True)
        marks = rf"(<!-- table: {name} -->\n).*?(<!-- end -->)"
        text, found = re.subn(marks, lambda m, t=table: f"{m[1]}\n{t}\n\n{m[2]}", text, flags=re.DOTALL)
        if not found:
            sys.exit(f"{PAGE} has no place for the table {name!r}")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main([" ".join(sys.argv[1:])] if sys.argv[1:] else [])
