"""Angles count full turns whether or not a law acts on them, and keep their count when a simulation is restored."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

Z = (0, 0, 1)
SPINNING = {
    "hinge": (lw.Hinge(Z), 0),
    "cylindrical": (lw.Cylindrical(Z), 1),
    "planar": (lw.Planar(Z), 2),
    "pin in slot": (lw.PinInSlot((1, 0, 0), Z), 1),
    "universal, first axis": (lw.Universal(Z, (1, 0, 0)), 0),
    "universal, second axis": (lw.Universal((1, 0, 0), Z), 1),
}
RATE, SECONDS = 12.0, 2.0


def spun(kind, rate=RATE, settings=None, **laws):
    """A ball-like body that turns about z at a constant rate, alone on its joint."""
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(mass=2.0, inertia=[0.3, 0.3, 0.3], angular_velocity=(0, 0, rate), name="rotor")
    scene.add_joint(kind, scene.ground, body, at=(0, 0, 0), **laws)
    return lw.Simulation(scene, settings, dt=5e-3, state_dir=None)


@pytest.mark.parametrize("rate", [RATE, -RATE])
@pytest.mark.parametrize(("kind", "coordinate"), SPINNING.values(), ids=SPINNING)
def test_angles_count_turns_like_those_with_a_law(kind, coordinate, rate):
    sim = spun(kind, rate)
    count = len(sim.joint_coordinates[0])
    damped = spun(
        kind, rate, damping=1e-12 if count == 1 else [1e-12 if i == coordinate else None for i in range(count)]
    )
    for simulation in (sim, damped):
        simulation.run(SECONDS)
    angle = sim.joint_coordinates[0][coordinate]
    assert angle == pytest.approx(rate * SECONDS, rel=0.02)
    assert angle == pytest.approx(damped.joint_coordinates[0][coordinate], abs=1e-2)


@pytest.mark.parametrize(
    "settings", [lw.MABD(fast_paths=False), lw.MABD(integrator="euler"), lw.MABD.as_published()], ids=str
)
def test_every_scheme_counts_turns(settings):
    sim = spun(lw.Hinge(Z), settings=settings)
    read = [0.0]
    for _ in range(200):
        sim.step()
        read.append(sim.joint_coordinates[0][0])
    assert read[-1] > 3.0
    assert np.abs(np.diff(read)).max() < 0.1


def test_the_angle_agrees_with_the_rotation_on_both_sides_of_half_a_turn():
    sim = spun(lw.Hinge(Z), rate=1.0)
    for _ in range(1400):
        sim.step()
        angle, rotation = sim.joint_coordinates[0][0], sim.rotations[0]
        assert [np.cos(angle), np.sin(angle)] == pytest.approx(rotation[:2, 0].tolist(), abs=1e-9)
    assert angle > 2.0 * np.pi


def test_turns_are_counted_in_the_middle_of_a_chain_beside_balls():
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    links = scene.add_bodies(lw.Box(0.1, 0.05, 0.05), np.c_[0.1 * np.arange(3), np.zeros((3, 2))])
    scene.add_joint(lw.Ball(), links[0], links[1], at=(0.05, 0, 0))
    turning = scene.add_joint(lw.Hinge((1, 0, 0)), links[1], links[2], at=(0.15, 0, 0))
    sim = lw.Simulation(scene, dt=5e-3, state_dir=None)
    sim.on_step(lambda sim: sim.apply_torque(links[2], (5e-4, 0, 0)))
    sim.run(2.0)
    assert sim.joint_coordinates[turning][0] > 2.0 * np.pi


def test_the_count_survives_restore_and_save_bit_for_bit(tmp_path):
    sim = spun(lw.Hinge(Z))
    sim.run(1.0)
    snapshot = sim.state()
    sim.save(tmp_path / "rotor.lw")
    sim.run(1.0)
    expected = sim.joint_coordinates.flat
    assert expected[0] > 2.0 * np.pi
    sim.restore(snapshot)
    loaded = lw.Simulation.load(tmp_path / "rotor.lw", state_dir=None)
    for again in (sim, loaded):
        again.run(1.0)
        assert np.array_equal(again.joint_coordinates.flat, expected)


def test_a_twist_without_a_law_stays_within_half_a_turn():
    sim = spun(lw.Ball())
    for _ in range(200):
        sim.step()
        assert np.abs(sim.joint_coordinates[0]).max() <= np.pi + 1e-12


def test_joints_without_unbounded_angles_cost_nothing():
    scene = lw.Scene(contact=False)
    body = scene.add_body(lw.Box(0.1, 0.1, 0.1))
    scene.add_joint(lw.Hinge(Z), scene.ground, body, at=(0, 0, 0), drive=lw.PD(1.0))
    scene.add_joint(lw.Prismatic(Z), scene.ground, scene.add_body(lw.Sphere(0.1)))
    assert len(lw.Simulation(scene, state_dir=None)._stepper.turns.joint) == 0
