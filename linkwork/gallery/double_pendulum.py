"""Two rods on hinges, released level: motion that forgets where it began, but never its energy."""

from __future__ import annotations

import linkwork as lw

TITLE = "Two rods on hinges, released level"
METHOD = "MABD"
SIZE = "2 bodies"
SECONDS = 5.0
DT = 2e-3


def scene(length: float = 0.5, width: float = 0.03) -> lw.Scene:
    """Two square steel rods of `length` m each, hinged at their ends, both axes along y."""
    scene = lw.Scene()
    rods = scene.add_bodies(
        lw.Box(length, width, width),
        [(0.5 * length, 0.0, 0.0), (1.5 * length, 0.0, 0.0)],
        density=7800.0,
        material=lw.Material(young=2e11),
        name="rods",
    )
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, rods[0], at=(0, 0, 0), name="shoulder")
    scene.add_joint(lw.Hinge((0, 1, 0)), rods[0], rods[1], at=(length, 0, 0), name="elbow")
    return scene


def prepare(sim: lw.Simulation) -> list[float]:
    """Remember the height of the lower rod's middle in the second 1.5."""
    height: list[float] = []

    def watch(sim: lw.Simulation) -> None:
        if not height and sim.time > 1.5 - 0.5 * sim.dt:
            height.append(float(sim.positions[1, 2]))

    sim.on_step(watch)
    return height


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Height at 1.5 s, while two computations still agree; an integration of Lagrange's equations gives the truth."""
    return "height of the lower rod at 1.5 s, m", watched[0]
