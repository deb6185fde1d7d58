"""Simulation, tested with a stepper whose motion is known by heart."""

from __future__ import annotations

import math

import numpy as np
import pytest
from free_flight import FreeFlight

import linkwork as lw
from linkwork.simulation.poses import angular_velocities, polar_rotations, quaternions


@pytest.fixture
def scene():
    scene = lw.Scene(gravity=(0, 0, -10))
    scene.add_body(lw.Box(1, 2, 3), position=(1, 2, 3), velocity=(1, 0, 0), angular_velocity=(0, 0, 2), name="brick")
    scene.add_bodies(lw.Sphere(0.1), np.arange(9.0).reshape(3, 3), name="balls")
    scene.add_body(lw.Box(1, 1, 1), position=(9, 9, 9), fixed=True, name="wall")
    return scene


@pytest.fixture
def sim(scene, tmp_path):
    return lw.Simulation(scene, FreeFlight(), dt=1e-2, state_dir=tmp_path)


def spring_scene():
    """Two joints with drives on several coordinates."""
    scene = lw.Scene()
    a, b = scene.add_body(lw.Box(1, 1, 1), name="a"), scene.add_body(lw.Box(1, 1, 1), position=(2, 0, 0), name="b")
    hinge = scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, a, drive=lw.PD(2.0, 1.0), name="elbow")
    drives = (lw.Velocity(1.0, max_force=3.0), lw.Force(0.5))
    both = scene.add_joint(lw.Cylindrical((1, 0, 0)), a, b, at=(1, 0, 0), drive=drives, name="screw")
    return scene, hinge, both


# Time and measurement


def test_steps_and_time_count_up(sim):
    sim.step()
    sim.step(9)
    assert (sim.steps, sim.time) == (10, pytest.approx(0.1))
    sim.run(0.25)
    assert sim.steps == 35


def test_step_hands_the_whole_count_to_the_stepper(sim):
    sim.step(1000)
    assert sim._stepper.calls == [1000]


@pytest.mark.parametrize(("seconds", "steps"), [(0.0, 0), (0.3, 30), (1.0, 100), (0.101, 11), (1e-4, 1), (0.07, 7)])
def test_run_rounds_up_to_whole_steps_without_rounding_errors(sim, seconds, steps):
    assert sim.steps_for(seconds) == steps


def test_positions_are_the_body_origins_and_velocities_those_of_the_com():
    scene = lw.Scene(gravity=(0, 0, 0))
    turn = [0, 0, math.sin(math.pi / 4), math.cos(math.pi / 4)]
    scene.add_body(mass=1, inertia=[1, 2, 2.5], com=(1, 0, 0), position=(5, 0, 0), rotation=turn, velocity=(0, 1, 0))
    sim = lw.Simulation(scene, FreeFlight())
    np.testing.assert_allclose(sim.positions, [[5, 0, 0]], atol=1e-14)
    np.testing.assert_allclose(sim.quaternions, [turn], atol=1e-14)
    np.testing.assert_allclose(sim.rotations[0] @ [1, 0, 0], [0, 1, 0], atol=1e-14)
    np.testing.assert_allclose(sim.velocities, [[0, 1, 0]])


def test_angular_velocity_is_that_of_the_start(sim):
    np.testing.assert_allclose(sim.angular_velocities[0], [0, 0, 2], atol=1e-12)
    sim.step(50)
    np.testing.assert_allclose(sim.angular_velocities[0], [0, 0, 2], atol=1e-12)


def test_energy_adds_up(sim):
    energy = sim.energy
    assert energy.total == energy.kinetic + energy.potential + energy.elastic + energy.contact
    assert energy.kinetic == pytest.approx(0.5 * 6000 * 1.0)


def test_reading_does_not_give_away_the_state(sim):
    sim.positions[:] = 7.0
    sim.poses[:] = 7.0
    assert sim.positions[0].tolist() == [1, 2, 3]


def test_joint_coordinates_are_ragged_and_found_by_handle():
    scene, hinge, both = spring_scene()
    sim = lw.Simulation(scene, FreeFlight())
    assert [len(values) for values in sim.joint_coordinates] == [1, 2]
    np.testing.assert_array_equal(sim.joint_coordinates[hinge], [5.0])
    np.testing.assert_array_equal(sim.joint_coordinates[both.index], [12.0, 15.0])
    np.testing.assert_array_equal(sim.joint_rates[-1], [-12.0, -15.0])
    with pytest.raises(IndexError, match="joint 2"):
        sim.joint_coordinates[2]


def test_a_distance_joint_has_a_coordinate_only_when_it_is_free():
    scene = lw.Scene()
    a, b = scene.add_body(lw.Sphere(1)), scene.add_body(lw.Sphere(1), position=(3, 0, 0))
    scene.add_joint(lw.Distance(), scene.ground, a, at=[(0, 0, 1), (0, 0, 0)])
    scene.add_joint(lw.Distance(limits=(0.5, 4)), a, b)
    sim = lw.Simulation(scene, FreeFlight())
    assert [len(values) for values in sim.joint_coordinates] == [0, 1]


# Poses


def test_polar_rotations_of_stretched_sheared_and_flat_matrices():
    rng = np.random.default_rng(1)
    rotations = np.linalg.qr(rng.normal(size=(200, 3, 3)))[0]
    rotations *= np.sign(np.linalg.det(rotations))[:, None, None]
    symmetric = rng.normal(size=(200, 3, 3)) * rng.choice([1e-9, 1e-3, 0.3], size=(200, 1, 1))
    stretch = np.eye(3) + 0.5 * (symmetric + symmetric.transpose(0, 2, 1))
    good = np.linalg.eigvalsh(stretch).min(axis=1) > 0.05
    found = polar_rotations((rotations @ stretch)[good])
    np.testing.assert_allclose(found, rotations[good], atol=1e-12)


def test_quaternions_match_scipy():
    from scipy.spatial.transform import Rotation

    turns = Rotation.random(500, random_state=3)
    expected = turns.as_quat(canonical=True)
    np.testing.assert_allclose(quaternions(turns.as_matrix()), expected, atol=1e-14)
    half_turns = np.array([np.diag([1.0, -1, -1]), np.diag([-1.0, 1, -1]), np.diag([-1.0, -1, 1])])
    np.testing.assert_allclose(np.abs(quaternions(half_turns)), [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0]])


# Pushing and driving


def test_a_force_acts_for_one_step_only(sim, scene):
    mass = sim.model.mass[1]
    sim.apply_force(scene.bodies[1], (mass, 0, 0))
    sim.step(10)
    np.testing.assert_allclose(sim.velocities[1], [0.01, 0, -1], atol=1e-12)


def test_forces_in_a_callback_act_every_step_and_add_up(sim):
    seen = []

    @sim.on_step
    def push(sim):
        seen.append(sim.time)
        sim.apply_force([0, 1], (0, 3000, 0))
        sim.apply_force(np.array([0, 0]), [(0, 1000, 0), (0, 2000, 0)])

    sim.run(0.1)
    assert seen == pytest.approx([0.01 * k for k in range(10)])
    np.testing.assert_allclose(sim.velocities[0], [1, 0.1, -1], atol=1e-12)


def test_a_force_at_a_point_turns_the_body(scene):
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Box(1, 1, 1), density=1.0)
    by_point, by_torque = (lw.Simulation(scene, FreeFlight()) for _ in range(2))
    by_point.apply_force(0, (0, 1, 0), at=(0.5, 0, 0))
    by_torque.apply_force(0, (0, 1, 0))
    by_torque.apply_torque(0, (0, 0, 0.5))
    by_point.step(5)
    by_torque.step(5)
    assert by_point.angular_velocities[0, 2] == pytest.approx(0.01 * 0.5 * 6)
    np.testing.assert_allclose(by_point.rotations, by_torque.rotations, atol=1e-14)
    np.testing.assert_allclose(by_point.positions, by_torque.positions, atol=1e-14)


def test_targets_and_forces_reach_the_right_law():
    scene, hinge, both = spring_scene()
    sim = lw.Simulation(scene, FreeFlight())
    sim.set_target(hinge, 0.25)
    sim.set_target(both, 2.5)
    sim.set_force(both, -4.0, coordinate=1)
    sim.set_drive(hinge, stiffness=20.0, damping=2.0, max_force=9.0)
    laws = sim._stepper.laws
    assert laws["target"].tolist() == [0.25, 0, 0]
    assert laws["target_velocity"].tolist() == [0, 2.5, 0]
    assert laws["force"].tolist() == [0, 0, -4]
    assert (laws["drive_stiffness"][0], laws["drive_damping"][0], laws["max_force"][0]) == (20, 2, 9)


def test_changed_targets_are_part_of_the_state():
    scene, hinge, _ = spring_scene()
    sim = lw.Simulation(scene, FreeFlight())
    before = sim.state()
    sim.set_target(hinge, 0.25)
    changed = sim.state()
    sim.restore(before)
    assert sim._stepper.laws["target"][0] == 0.0
    sim.restore(changed)
    assert sim._stepper.laws["target"][0] == 0.25


BAD_CALLS = {
    "ground": (lambda s, x: s.apply_force(x.ground, (0, 0, 1)), "ground"),
    "wall": (lambda s, x: s.apply_force(4, (0, 0, 1)), "'wall'.*fixed"),
    "no such body": (lambda s, x: s.apply_torque(99, (0, 0, 1)), "body 99 does not exist"),
    "not a body": (lambda s, x: s.apply_torque("brick", (0, 0, 1)), "expected a body"),
    "nan force": (lambda s, x: s.apply_force(0, (0, math.nan, 1)), "force must be finite"),
    "flat force": (lambda s, x: s.apply_force(0, (0, 1)), "shape"),
    "inf point": (lambda s, x: s.apply_force(0, (0, 0, 1), at=(0, 0, math.inf)), "at must be finite"),
    "text": (lambda s, x: s.apply_force(0, "up"), "numbers"),
    "no joint": (lambda s, x: s.set_target(0, 1.0), "joint 0 does not exist"),
    "negative count": (lambda s, x: s.step(-1), "whole number"),
    "half a step": (lambda s, x: s.step(0.5), "whole number"),
    "negative time": (lambda s, x: s.run(-1), "zero or more"),
    "nan time": (lambda s, x: s.run(math.nan), "zero or more"),
    "no function": (lambda s, x: s.on_step(3), "function"),
    "no fps": (lambda s, x: s.record("never.lwr", fps=0), "fps"),
    "foreign body": (lambda s, x: s.apply_force(other_body(), (0, 0, 1)), "'stranger' belongs to another scene"),
}


def other_body():
    return lw.Scene().add_body(lw.Sphere(1), name="stranger")


@pytest.mark.parametrize("case", BAD_CALLS)
def test_bad_calls_say_what_is_wrong(sim, scene, case):
    call, message = BAD_CALLS[case]
    with pytest.raises(lw.SceneError, match=message):
        call(sim, scene)
    assert sim.steps == 0


BAD_DRIVES = {
    "no drive of this kind": (lambda s: s.set_force(0, 1.0), r"'elbow' has no force to set.*lw.Force"),
    "no target": (lambda s: s.set_target(1, 1.0, coordinate=1), r"coordinate 1 of joint 'screw' has no target"),
    "no such coordinate": (lambda s: s.set_target(0, 1.0, coordinate=3), "1 free coordinates.*no coordinate 3"),
    "bad coordinate": (lambda s: s.set_target(0, 1.0, coordinate=-1), "coordinate must be"),
    "nan": (lambda s: s.set_target(0, math.nan), "target must be finite"),
    "too many": (lambda s: s.set_target(0, [1.0, 2.0]), "one number or 1"),
    "negative gain": (lambda s: s.set_drive(0, stiffness=-1.0), "zero or more"),
}


@pytest.mark.parametrize("case", BAD_DRIVES)
def test_bad_drives_say_what_is_wrong(case):
    call, message = BAD_DRIVES[case]
    with pytest.raises(lw.SceneError, match=message):
        call(lw.Simulation(spring_scene()[0], FreeFlight()))


@pytest.mark.parametrize("dt", [0.0, -1e-3, math.nan, math.inf, "fast", None, True])
def test_dt_must_be_positive(scene, dt):
    with pytest.raises(lw.SceneError, match="dt must be a positive number"):
        lw.Simulation(scene, FreeFlight(), dt=dt)


def test_scene_and_method_must_be_what_they_are_called(scene):
    with pytest.raises(lw.SceneError, match=r"lw\.Scene"):
        lw.Simulation("pendulum", FreeFlight())
    with pytest.raises(lw.SceneError, match="settings of a method"):
        lw.Simulation(scene, FreeFlight)


def test_a_kinematic_body_follows_its_trajectory():
    scene = lw.Scene()
    lift = scene.add_body(lw.Box(1, 1, 1), position=None, trajectory=lambda t: ((0, 0, 1 + t), None), name="lift")
    scene.add_body(lw.Sphere(1), position=(5, 0, 0))
    sim = lw.Simulation(scene, FreeFlight())
    sim.step(30)
    np.testing.assert_allclose(sim.positions[lift.index], [0, 0, 1.3], atol=1e-12)


# Keeping


def test_a_restored_state_continues_bit_identically(sim):
    sim.step(5)
    snapshot = sim.state()
    sim.step(20)
    first = sim.positions, sim.rotations, sim.time
    sim.restore(snapshot)
    assert sim.steps == 5
    sim.step(20)
    assert np.array_equal(sim.positions, first[0])
    assert np.array_equal(sim.rotations, first[1])
    assert sim.time == first[2]


def test_a_snapshot_does_not_change_with_the_simulation(sim):
    snapshot = sim.state()
    kept = {name: value.copy() for name, value in snapshot.items()}
    sim.step(3)
    assert all(np.array_equal(snapshot[name], kept[name]) for name in kept)


def test_a_state_of_another_scene_is_refused(sim):
    with pytest.raises(lw.LinkworkError, match="another scene"):
        sim.restore(lw.Simulation(spring_scene()[0], FreeFlight()).state())


def test_a_saved_simulation_continues_bit_identically(sim, tmp_path):
    sim.step(5)
    sim.save(tmp_path / "x.lw")
    sim.step(20)
    again = lw.Simulation.load(tmp_path / "x.lw", method=FreeFlight())
    again.step(20)
    assert np.array_equal(again.positions, sim.positions)
    assert (again.dt, again.time, again.model.body_names(2)) == (sim.dt, sim.time, "balls[1]")


def test_a_saved_method_of_others_has_to_be_given_again(sim, tmp_path):
    sim.save(tmp_path / "x.lw")
    with pytest.raises(lw.LinkworkError, match=r"method=FreeFlight"):
        lw.Simulation.load(tmp_path / "x.lw")


def test_all_shapes_and_joints_survive_a_save(tmp_path):
    scene = lw.Scene()
    mesh = lw.Mesh(*lw.Box(1, 1, 1).surface())
    compound = lw.Compound([lw.Sphere(1), (lw.Box(1, 1, 1), (1, 0, 0))])
    shapes = [lw.Capsule(0.1, 1), lw.Cylinder(0.1, 1), mesh, compound]
    bodies = [scene.add_body(shape, position=(3 * k, 0, 0)) for k, shape in enumerate(shapes)]
    scene.add_bodies(lw.Box(np.array([1.0, 2.0]), 1, 1), [(0, 5, 0), (5, 5, 0)])
    scene.add_body(lw.Plane((0, 0, 1), 0.0), fixed=True)
    scene.add_joint(lw.Hinge((0, 0, 1)), bodies[0], bodies[1], limits=(-1, 1), spring=3.0)
    sim = lw.Simulation(scene, FreeFlight())
    sim.save(tmp_path / "x.lw")
    again = lw.Simulation.load(tmp_path / "x.lw", method=FreeFlight()).model
    assert [type(shape) for shape, _ in again.shapes] == [type(shape) for shape, _ in sim.model.shapes]
    np.testing.assert_array_equal(again.lower, sim.model.lower)
    np.testing.assert_array_equal(again.shapes[2][0].vertices, sim.model.shapes[2][0].vertices)


def test_trajectories_and_callbacks_are_asked_for_again(tmp_path):
    scene = lw.Scene()
    scene.add_body(lw.Box(1, 1, 1), position=None, trajectory=lambda t: ((0, 0, t), None), name="lift")
    scene.add_body(lw.Sphere(1), position=(5, 0, 0))
    sim = lw.Simulation(scene, FreeFlight())
    sim.on_step(lambda sim: None)
    sim.step(3)
    sim.save(tmp_path / "x.lw")
    with pytest.raises(lw.LinkworkError, match=r"'lift' follows a trajectory"):
        lw.Simulation.load(tmp_path / "x.lw", method=FreeFlight())
    with pytest.warns(UserWarning, match="1 on_step callbacks"):
        again = lw.Simulation.load(tmp_path / "x.lw", scene, method=FreeFlight())
    again.step(3)
    sim.step(3)
    assert np.array_equal(again.positions, sim.positions)
    other = lw.Scene()
    other.add_body(lw.Sphere(1))
    with pytest.raises(lw.LinkworkError, match="the scene has 1"):
        lw.Simulation.load(tmp_path / "x.lw", other, method=FreeFlight())


@pytest.mark.parametrize("content", [b"", b"not a file of ours", b"PK\x03\x04 broken"])
def test_a_damaged_file_is_refused(tmp_path, content):
    (tmp_path / "x.lw").write_bytes(content)
    with pytest.raises(lw.LinkworkError, match=r"x\.lw"):
        lw.Simulation.load(tmp_path / "x.lw")


def test_saving_over_a_file_leaves_no_draft(sim, tmp_path):
    for _ in range(2):
        sim.save(tmp_path / "x.lw")
    assert [path.name for path in tmp_path.iterdir()] == ["x.lw"]


# Failure


@pytest.mark.parametrize("untidy", [False, True])
@pytest.mark.parametrize("how", ["one call", "singly", "run", "watched"])
def test_a_failed_step_leaves_the_last_good_state(scene, tmp_path, untidy, how):
    sim = lw.Simulation(scene, FreeFlight(fails_at=8, untidy=untidy), dt=1e-2, state_dir=tmp_path)
    good = lw.Simulation(scene, FreeFlight())
    if how == "watched":
        sim.on_step(lambda sim: None)
    advance = {"one call": lambda: sim.step(20), "singly": lambda: [sim.step() for _ in range(20)]}
    with pytest.raises(lw.SimulationError, match=r"step 8 .*velocity of 'brick'") as caught:
        advance.get(how, lambda: sim.run(1.0))()
    error = caught.value
    assert (error.step, error.bodies, error.quantity) == (8, ["brick"], "velocity")
    steps = 7
    assert (sim.steps, error.time) == (steps, pytest.approx(steps * 0.01))
    good.step(steps)
    assert np.array_equal(sim.positions, good.positions)
    sim._callbacks.clear()
    sim.save(tmp_path / "again.lw")
    assert error.state_file.stat().st_size > 0
    saved = lw.Simulation.load(tmp_path / "again.lw", method=FreeFlight(), state_dir=None)
    assert saved.steps == steps
    assert np.array_equal(saved.positions, good.positions)


def test_numbers_that_went_bad_in_silence_are_never_handed_out(scene, tmp_path):
    sim = lw.Simulation(scene, FreeFlight(fails_at=8, silent=True), state_dir=tmp_path)
    sim.step(9)
    with pytest.raises(lw.SimulationError, match=r"step 8 .* pose or velocity of 'brick'"):
        _ = sim.positions
    assert sim.steps == 7
    assert np.isfinite(sim.positions).all()
    assert np.isfinite(sim.velocities).all()


def test_no_state_is_saved_where_none_is_wanted_or_possible(scene, tmp_path):
    (tmp_path / "file").touch()
    for folder in (None, tmp_path / "file" / "below"):
        with pytest.raises(lw.SimulationError) as caught:
            lw.Simulation(scene, FreeFlight(fails_at=2), state_dir=folder).step(3)
        assert caught.value.state_file is None


def test_an_error_in_a_callback_leaves_the_state_before_the_step(sim):
    sim.step(3)

    @sim.on_step
    def broken(sim):
        sim.apply_force(0, (0, 0, 1e9))
        raise KeyError("oops")

    with pytest.raises(KeyError):
        sim.step()
    assert sim.steps == 3


def test_progress_shows_time_pace_and_residual(sim, capsys):
    sim.run(0.5, progress=True)
    shown = capsys.readouterr()
    assert shown.out == ""
    assert "0.50 / 0.50 s simulated" in shown.err
    assert "ms/step" in shown.err
    assert "residual" in shown.err


def test_no_progress_is_shown_where_there_is_no_terminal(sim, capsys):
    sim.run(0.1)
    assert capsys.readouterr() == ("", "")


def test_angular_velocities_of_stretched_bodies_are_those_of_their_polar_rotation():
    rng = np.random.default_rng(5)
    turn = polar_rotations(np.eye(3) + 0.3 * rng.normal(size=(50, 3, 3)))
    strain = rng.normal(size=(50, 3, 3)) * 0.05
    stretch = np.eye(3) + 0.5 * (strain + strain.transpose(0, 2, 1))
    spin, growth = rng.normal(size=(50, 3)), rng.normal(size=(50, 3, 3))
    growth = 0.1 * (growth + growth.transpose(0, 2, 1))
    skew = np.zeros((50, 3, 3))
    skew[:, [2, 0, 1], [1, 2, 0]], skew[:, [1, 2, 0], [2, 0, 1]] = spin, -spin
    affine, rates = turn @ stretch, skew @ turn @ stretch + turn @ growth
    np.testing.assert_allclose(angular_velocities(affine, rates, turn), spin, atol=1e-13)


def test_a_stepper_that_leaves_finite_garbage_is_not_trusted(scene, tmp_path):
    sim = lw.Simulation(scene, FreeFlight(fails_at=8, garbage=True), state_dir=tmp_path)
    good = lw.Simulation(scene, FreeFlight())
    calls = []

    def push(sim):
        calls.append(sim.steps)
        sim.apply_force(0, (0, 1000.0 * sim.steps, 0), at=(1.5, 2, 3))

    for each in (sim, good):
        each.on_step(push)
    with pytest.raises(lw.SimulationError, match="step 8 "):
        sim.run(1.0)
    assert calls == list(range(8))
    good.step(7)
    assert sim.steps == 7
    assert np.array_equal(sim.positions, good.positions)
    assert np.array_equal(sim.rotations, good.rotations)


def test_the_way_back_begins_at_the_latest_snapshot_with_its_laws_and_loads():
    scene, hinge, _ = spring_scene()
    sim = lw.Simulation(scene, FreeFlight(fails_at=9, garbage=True), state_dir=None)
    sim.on_step(lambda sim: sim.apply_force(0, (0, 10.0 * (1 + sim.steps), 0)))
    sim.step(3)
    sim.set_target(hinge, 0.5)
    sim._guard.keep()
    sim.step(2)
    sim.set_target(hinge, 0.75)
    with pytest.raises(lw.SimulationError, match="step 9 "):
        sim.step(10)
    assert sim._stepper.laws["target"][0] == 0.75
    good = lw.Simulation(scene, FreeFlight())
    good.on_step(lambda sim: sim.apply_force(0, (0, 10.0 * (1 + sim.steps), 0)))
    good.step(8)
    assert np.array_equal(sim.positions, good.positions)
    assert np.array_equal(sim.velocities, good.velocities)


def test_a_diverging_mabd_run_with_a_callback_is_back_at_its_last_good_state(tmp_path):
    def pendulum():
        scene = lw.Scene()
        rod = scene.add_body(lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0), name="rod")
        scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, rod, at=(0, 0, 0))
        return lw.Simulation(scene, lw.MABD(), dt=1e-2, state_dir=tmp_path)

    sim, good = pendulum(), pendulum()

    @sim.on_step
    def hit(sim):
        if sim.steps == 25:
            sim.apply_force(0, (0, 0, 1e30))

    with pytest.raises(lw.SimulationError, match="'rod'") as caught:
        sim.run(1.0)
    good.step(25)
    assert caught.value.step == 26
    assert np.array_equal(sim.positions, good.positions)
    with pytest.warns(UserWarning, match="callbacks"):
        saved = lw.Simulation.load(caught.value.state_file)
    assert np.array_equal(saved.positions, good.positions)


def test_what_is_read_belongs_to_the_state_it_is_read_in():
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, body, at=(0, 0, 0))
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.step(10)
    snapshot, angle, rate = sim.state(), sim.joint_coordinates.flat.copy(), sim.joint_rates.flat.copy()
    sim.joint_coordinates.flat[:] = 99.0  # a copy
    sim.joint_rates.flat[:] = 99.0
    assert (sim.joint_coordinates.flat == angle).all()
    assert (sim.joint_rates.flat == rate).all()
    sim.step()
    assert sim.joint_coordinates.flat[0] != angle[0]
    sim.restore(snapshot)
    assert (sim.joint_coordinates.flat == angle).all()
    assert (sim.joint_rates.flat == rate).all()
