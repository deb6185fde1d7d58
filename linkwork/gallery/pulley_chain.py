"""A hoist: a winch pulls a chain over rocking wheels, lifts a heavy anchor, lets it go and catches it.

There is no contact in this scene, so no chain lies on a rim. Every wheel turns on a hinge and rocks less than half a
turn, and the chain between two wheels hangs with its ends on pins in their rims: a wheel is a two-armed lever for the
chain on its left and on its right, and all of the load goes through joints. The links on a rim are part of the wheel.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.gallery._parts import about, ring, wheel

TITLE = "A winch lifts a heavy anchor with a chain over rocking wheels, drops it and catches it"
METHOD = "MABD"
SIZE = "400 links, 6 wheels"
SECONDS = 9.0
DT = 1e-2

RADIUS, RISE, FLOOR = 0.5, 3.0, 0.9  # of the wheels; between low and high axles; height of the low axles
LIFTED, CAUGHT = 0.95, -0.45  # angles of the winch, rad
STEEL = 7800.0


def scene(links: int = 400, wheels: int = 6, anchor_mass: float = 150.0) -> lw.Scene:
    """A chain of `links` links in all over `wheels` wheels, low and high in turn (an even number, winch included)."""
    if wheels < 2 or wheels % 2 or links < 2 * wheels:
        raise lw.SceneError("pulley-chain: wheels must be even, at least 2, and links at least twice as many")
    scene = lw.Scene(contact=False)
    rise = round(links / (wheels - 0.5))  # links between two wheels; the rest carries the anchor
    pitch = RISE / rise
    wire = 0.13 * pitch
    link = ring(0.64 * pitch, 0.31 * pitch, wire)
    volume = float(link.moments()[0])
    strong = lw.Material(young=max(1e9, anchor_mass * 9.81 * pitch / (0.002 * volume)))

    axles = np.stack([2 * RADIUS * np.arange(wheels), np.zeros(wheels), FLOOR + RISE * (np.arange(wheels) % 2)], axis=1)
    shapes = [wheel(RADIUS, extra=_on_rim(link, pitch, side)) for side in (-1.0, 1.0)] * (wheels // 2)
    discs = scene.add_bodies(shapes, axles, density=1500.0, material=strong, name="wheels")
    scene.add_joint(
        lw.Hinge((0, 1, 0)),
        scene.ground,
        discs[0],
        at=axles[0],
        drive=lw.Velocity(0.0, _full(anchor_mass)),
        name="winch",
    )
    scene.add_joints(lw.Hinge((0, 1, 0)), scene.ground, discs[1:], at=axles[1:], damping=3.0, name="axles")

    # links from the winch to the anchor: up and down between the wheels, then down to the load
    span = np.minimum(np.arange(links) // rise, wheels - 1)
    step = np.arange(links) - rise * span
    up = np.where(span % 2 == 0, 1.0, -1.0)
    foot = axles[span] + [RADIUS, 0, 0]
    middles = foot + np.outer(up * pitch * (step + 0.5), [0, 0, 1])
    roll = np.where(np.arange(links)[:, None] % 2 == 0, [about("y", -90)], [[0.5, -0.5, 0.5, 0.5]])
    chain = scene.add_bodies(link, middles, roll, density=STEEL, material=strong, name="chain")
    starts = foot + np.outer(up * pitch * step, [0, 0, 1])
    first, last = step == 0, np.append(step[1:] == 0, True)
    scene.add_joints(lw.Ball(), discs, chain[first], at=starts[first], name="pins out")
    scene.add_joints(lw.Ball(), chain[:-1][~last[:-1]], chain[~first], at=starts[~first], name="chain joints")
    scene.add_joints(lw.Ball(), chain[last][:-1], discs[1:], at=axles[1:] - [RADIUS, 0, 0], name="pins in")

    low = middles[-1] - [0, 0, 0.5 * pitch]
    anchor = scene.add_body(_anchor(), position=low, mass=anchor_mass, material=strong, name="anchor")
    scene.add_joint(lw.Ball(), chain[-1], anchor, at=low, name="shackle")
    _frame(scene, axles)
    return scene


def _on_rim(link: lw.Mesh, pitch: float, side: float) -> list[tuple[lw.Mesh, list[float], list[float]]]:
    """Links on the half of a rim above (side 1) or below (-1) the axle, every second one across."""
    count = round(np.pi * RADIUS / pitch)
    parts = []
    for k in range(count):
        degrees = 180.0 * (k + 0.5) / count - 90.0
        angle = np.radians(degrees)
        place = [RADIUS * float(np.sin(angle)), 0.0, side * RADIUS * float(np.cos(angle))]
        turn = Rotation.from_euler("xy", [90.0 * (k % 2), side * degrees], degrees=True)
        parts.append((link, place, turn.as_quat().tolist()))
    return parts


def _full(anchor_mass: float) -> float:
    """Strongest torque of the winch, three times what the anchor asks for, N m."""
    return 3.0 * anchor_mass * 9.81 * RADIUS


def _anchor() -> lw.Compound:
    """A ship's anchor that hangs from its ring at the origin."""
    arms = [
        part
        for side in (-1.0, 1.0)
        for part in (
            (lw.Capsule(0.05, 0.36), (side * 0.17, 0, -0.97), about("y", side * 62)),
            (lw.Capsule(0.045, 0.20), (side * 0.40, 0, -0.81), about("y", side * 25)),
            (lw.Box(0.03, 0.20, 0.22), (side * 0.42, 0, -0.74), about("y", side * 25)),
        )
    ]
    shank = lw.Capsule(0.055, 0.88), (0, 0, -0.60)
    stock = lw.Cylinder(0.035, 0.56), (0, 0, -0.26), about("x", 90)
    return lw.Compound([(ring(0.0, 0.075, 0.02), (0, 0, -0.075), about("x", 90)), shank, stock, *arms])


def _frame(scene: lw.Scene, axles: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """The timber behind the wheels; it only stands there."""
    left, right = axles[0, 0] - 1.1, axles[-1, 0] + 1.1
    width, middle, back = right - left, 0.5 * (left + right), 0.32
    for height in (FLOOR, FLOOR + RISE):
        scene.add_body(lw.Box(width, 0.12, 0.16), position=(middle, back, height), fixed=True)
    tall = FLOOR + RISE + 0.3
    for x in (left + 0.1, right - 0.1):
        scene.add_body(lw.Box(0.16, 0.12, tall), position=(x, back, 0.5 * tall), fixed=True)
    scene.add_body(lw.Box(width + 0.4, 0.9, 0.08), position=(middle, back, -0.04), fixed=True)
    ends = axles + np.array([0, 0.17, 0])
    scene.add_bodies(lw.Cylinder(0.04, 0.5), ends, about("x", 90), fixed=True, name="axle pins")


def prepare(sim: lw.Simulation) -> list[float]:
    """Run the winch: lift, hold, let go, catch, and again; add up the impulse of the shackle, N s."""
    released = [False]
    impulse = [0.0]
    winch, shackle = 0, sim.model.joints - 1  # the first joint of the scene and the last
    full = float(sim.model.max_force[0])

    def run_winch(sim: lw.Simulation) -> None:
        angle, time = float(sim.joint_coordinates[winch][0]), sim.time % 6.0
        lifting = time < 3.0
        released[0] = not lifting and (released[0] or time < 3.1) and angle > CAUGHT
        sim.set_target(winch, min(2.5 * (LIFTED - angle), 0.9) * min(1.0, time / 0.4) if lifting else 0.0)
        sim.set_drive(winch, max_force=0.01 * full if released[0] else full)
        if sim.steps:
            impulse[0] += sim.dt * float(sim.joint_forces[shackle, 2])

    sim.on_step(run_winch)
    return impulse


def number(sim: lw.Simulation, watched: list[float]) -> tuple[str, float]:
    """Mean pull on the anchor through drop and catch; Newton's law wants its weight and its gain in momentum."""
    return "mean pull on the anchor, N", watched[0] / (sim.time - sim.dt)
