"""Refusals before a step, and failures of a step: both name the thing at fault."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw

NAN = float("nan")


def arm(**given):
    scene = lw.Scene()
    body = scene.add_body(lw.Box(0.1, 0.1, 0.1), position=(0.05, 0, 0), name="alpha", **given)
    joint = scene.add_joint(
        lw.Hinge((0, 1, 0)), scene.ground, body, at=(0, 0, 0), drive=lw.PD(1.0, 0.1), limits=(-2, 2), name="elbow"
    )
    return scene, body, joint


@pytest.fixture
def sim():
    return lw.Simulation(arm()[0], state_dir=None)


METHOD = {
    "half an iteration": {"iterations": 1.5},
    "text": {"iterations": "x"},
    "True": {"iterations": True},
    "far too many": {"iterations": 10**20},
    "text for a tolerance": {"update_tolerance": "x"},
    "nothing": {"joint_tolerance": None},
    "infinite": {"joint_tolerance": float("inf")},
    "text for a switch": {"published": "yes"},
}


@pytest.mark.parametrize("settings", METHOD.values(), ids=METHOD)
def test_settings_that_mean_nothing_are_refused_by_name(settings):
    with pytest.raises(lw.SceneError, match=f"MABD: {next(iter(settings))} is"):
        lw.MABD(**settings)


def test_whole_numbers_of_numpy_are_iterations():
    assert lw.MABD(iterations=np.int64(5)).iterations == 5


@pytest.mark.parametrize("dt", [1e300, 1e-320, 1e100, 1e-200])
def test_time_steps_whose_square_is_no_number_are_refused(dt):
    with pytest.raises(lw.SceneError, match="dt must lie between"):
        lw.Simulation(arm()[0], dt=dt)


@pytest.mark.parametrize("what", ["mass", "density"])
def test_true_is_no_number(what):
    with pytest.raises(lw.SceneError, match=f"{what} must be numbers"):
        lw.Scene().add_body(lw.Sphere(0.1), **{what: True})


@pytest.mark.parametrize("what", ["position", "velocity", "angular_velocity"])
def test_numbers_whose_squares_overflow_are_refused(what):
    with pytest.raises(lw.SceneError, match=f'body "alpha".*{what} must be at most 1e\\+100 in size'):
        lw.Scene().add_body(lw.Sphere(0.1), name="alpha", **{what: (1e300, 0, 0)})


def test_a_force_whose_work_overflows_is_refused(sim):
    with pytest.raises(lw.SceneError, match=r"force must be at most 1e\+100"):
        sim.apply_force(0, (0, 0, 1e300))


def test_a_prescribed_position_outside_its_limits_is_refused():
    scene = lw.Scene(gravity=(0, 0, 0))
    bodies = scene.add_bodies(lw.Sphere(0.1), np.c_[np.arange(3.0), np.zeros((3, 2))])
    joints = scene.add_joints(
        lw.Prismatic((0, 0, 1)), scene.ground, bodies, limits=(-1, 1), drive=lw.Position(0.0), name="lift"
    )
    sim = lw.Simulation(scene, state_dir=None)
    with pytest.raises(lw.SceneError, match=r"lift\[1\].*target 2 lies outside its limits \(-1, 1\)"):
        sim.set_target(joints, [0.5, 2.0, -5.0])
    sim.set_target(joints, [0.5, 1.0, -1.0])
    sim.step()
    assert sim.joint_coordinates.flat == pytest.approx([0.5, 1.0, -1.0])


def test_a_pd_target_may_lie_outside_the_limits(sim):
    sim.set_target(0, 3.0)


@pytest.mark.parametrize("state", [None, [1], 3.0, "state"], ids=repr)
def test_what_is_no_state_is_not_restored(sim, state):
    with pytest.raises(lw.SceneError, match=r"restore needs what sim\.state\(\) returned"):
        sim.restore(state)


@pytest.mark.parametrize("value", [NAN, float("inf")])
def test_a_state_with_a_value_that_is_no_number_is_refused_up_front(sim, value):
    sim.step(3)
    state, before = sim.state(), sim.poses
    state["stepper.V"][0, 0, 0] = value
    with pytest.raises(lw.SceneError, match="a value in V that is not a number"):
        sim.restore(state)
    assert np.array_equal(sim.poses, before)


@pytest.mark.parametrize("change", [lambda v: v.astype(object), lambda v: v[..., None], lambda v: v.tolist()])
def test_arrays_of_another_kind_are_not_restored(sim, change):
    state = sim.state()
    state["stepper.Q"] = change(state["stepper.Q"])
    with pytest.raises(lw.SceneError, match="another scene or method"):
        sim.restore(state)


def test_laws_of_another_scene_are_not_restored(sim):
    sim.set_target(0, 0.1)
    state = sim.state()
    state["laws.target"] = np.zeros(7)
    with pytest.raises(lw.SceneError, match=r"laws\.target"):
        sim.restore(state)


def test_an_unbounded_drive_is_part_of_a_state_that_is_restored(sim):
    sim.set_drive(0, max_force=np.inf)
    sim.restore(sim.state())
    sim.step()


def test_files_that_cannot_be_written_or_read_are_named(sim, tmp_path):
    with pytest.raises(lw.SceneError, match="there is no folder"):
        sim.save(tmp_path / "nowhere" / "x.lw")
    with pytest.raises(lw.SceneError, match="cannot be written"):
        sim.save(tmp_path)
    with pytest.raises(lw.SceneError, match="there is no such file"):
        lw.Simulation.load(tmp_path / "missing.lw")
    with pytest.raises(lw.SceneError, match="cannot be read"):
        lw.Simulation.load(tmp_path)
    with pytest.raises(lw.SceneError, match="not by None"):
        lw.Simulation.load(None)


@pytest.mark.parametrize("advance", [lambda sim: sim.step(), lambda sim: sim.run(0.1)], ids=["step", "run"])
def test_a_callback_cannot_step(sim, advance):
    sim.on_step(advance)
    with pytest.raises(lw.SceneError, match="on_step"):
        sim.step()
    sim._callbacks.clear()
    sim.step()


def pushed(force):
    scene, body, _ = arm()
    sim = lw.Simulation(scene, state_dir=None)
    sim.on_step(lambda sim: sim.apply_force(body, (0, 0, force)))
    return sim


def jumping():
    scene = lw.Scene()
    base = scene.add_body(lw.Sphere(0.1), trajectory=lambda t: ((1e6 if t > 0.05 else 0.0, 0, 0), None), name="base")
    body = scene.add_body(lw.Sphere(0.1), position=(1, 0, 0), name="alpha")
    scene.add_joint(lw.Ball(), base, body, at=(0, 0, 0))
    return lw.Simulation(scene, state_dir=None)


def whirling():
    return lw.Simulation(arm(angular_velocity=(0, 1e6, 0))[0], state_dir=None)


def whirling_among_others():
    """Free flyers in lanes, one of which spins far too fast."""
    scene = lw.Scene()
    for i in range(40):
        spin = (0, 0, 1e6 if i == 17 else 1.0)
        scene.add_body(
            lw.Box(0.1, 0.2, 0.3), position=(i, 0, 0), angular_velocity=spin, name=f"b{i}" if i != 17 else "alpha"
        )
    return lw.Simulation(scene, state_dir=None)


FAILING = {
    "1e9 N": lambda: pushed(1e9),
    "1e30 N": lambda: pushed(1e30),
    "a jump of 1,000 km": jumping,
    "a spin of 1e6 rad/s": whirling,
    "a spin among others": whirling_among_others,
}


@pytest.mark.parametrize("make", FAILING.values(), ids=FAILING)
def test_a_failed_step_names_body_and_quantity(make):
    sim = make()
    with pytest.raises(lw.SimulationError, match="'alpha'") as caught:
        sim.run(0.2)
    assert caught.value.bodies == ["alpha"]
    assert "pose" in caught.value.quantity
    assert np.isfinite(sim.positions).all()


@pytest.mark.parametrize("thin", [1e-3, 1e-6, 1e-9, 1e-12])
def test_a_rod_of_little_inertia_about_itself_swings_like_a_thick_one(thin):
    def swing(inertia):
        scene = lw.Scene()
        body = scene.add_body(mass=2.0, inertia=inertia, position=(1, 0, 0))
        scene.add_joint(lw.Ball(), scene.ground, body, at=(0, 0, 0))
        sim = lw.Simulation(scene, dt=1e-3, state_dir=None)
        sim.run(1.0)
        return sim.positions[0]

    np.testing.assert_allclose(swing([thin, 1, 1]), swing([0.05, 1, 1]), atol=0.02)


def test_flat_bodies_are_accepted_and_threads_are_not():
    lw.Scene().add_body(mass=1.0, inertia=[1, 1, 2])
    with pytest.raises(lw.SceneError, match="thickness"):
        lw.Scene().add_body(mass=1.0, inertia=[0, 1, 1])


def test_redundant_rows_counts_what_follows_from_other_locked_directions():
    scene = lw.Scene()
    body = scene.add_body(lw.Box(0.1, 0.1, 0.1))
    for _ in range(2):
        scene.add_joint(lw.Fixed(), scene.ground, body)
    sim = lw.Simulation(scene, state_dir=None)
    sim.step()
    assert sim.redundant_rows == 6
