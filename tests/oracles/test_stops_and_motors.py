"""What the corners of a law do to bodies: limits that are rested on, hit and left; motors and friction that give way."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import linkwork as lw


def pair_at_its_stop(tie):
    scene = lw.Scene(contact=False)
    a = scene.add_body(lw.Box(0.2, 0.2, 0.2))
    b = scene.add_body(lw.Box(0.2, 0.2, 0.2), position=(1, 0, 0))
    if tie == "rope":
        scene.add_joint(lw.Distance(limits=(0, 1.0)), a, b, at=[(0, 0, 0), (1, 0, 0)])
        scene.add_force(a, force=(-5, 0, 0))
        scene.add_force(b, force=(5, 0, 0))
    else:
        scene.add_joint(lw.Prismatic((1, 0, 0)), a, b, at=(1, 0, 0), limits=(-0.1, 0.0), drive=lw.Force(5.0))
    return scene


@pytest.mark.parametrize("tie", ["rope", "slider"])
def test_bodies_that_rest_on_a_stop_fall_like_any_others(tie):
    dt = 1e-2
    sim = lw.Simulation(pair_at_its_stop(tie), dt=dt, state_dir=None)
    sim.run(1.0, progress=False)
    # the first step is implicit Euler's and falls by g dt^2 instead of half of it, three more follow the blow at the start
    np.testing.assert_allclose(sim.positions[:, 2], -0.5 * 9.81, atol=2 * 9.81 * dt**2)
    np.testing.assert_allclose(sim.velocities[:, 2], -9.81, rtol=1e-9)


def test_an_elbow_between_equal_limits_turns_like_a_weld():
    scene = lw.Scene(contact=False)
    upper = scene.add_body(lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0))
    lower = scene.add_body(lw.Box(1, 0.1, 0.1), position=(1.5, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, upper, at=(0, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), upper, lower, at=(1, 0, 0), limits=(0.0, 0.0))
    sim = lw.Simulation(scene, dt=1e-3, state_dir=None)
    sim.run(0.6, progress=False)
    inertia = 2 * 10 / 12 * 1.01 + 10 * 0.25 + 10 * 2.25
    truth = solve_ivp(lambda t, y: [y[1], 20 * 9.81 * np.cos(y[0]) / inertia], (0, 0.6), [0, 0], rtol=1e-10).y[0, -1]
    assert sim.joint_coordinates.flat[0] == pytest.approx(truth, abs=2e-4)


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_a_double_pendulum_that_hits_the_stops_of_its_elbow_gains_no_energy(dt):
    scene = lw.Scene(contact=False)
    upper = scene.add_body(lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0))
    lower = scene.add_body(lw.Box(1, 0.1, 0.1), position=(1.5, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, upper, at=(0, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), upper, lower, at=(1, 0, 0), limits=(-0.3, 0.3))
    sim = lw.Simulation(scene, dt=dt, state_dir=None)
    highest = -np.inf
    while sim.time < 5:
        sim.step()
        highest = max(highest, sim.energy.total)
    assert highest < 0.0
    assert sim.residual < 1e-8


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("stop", [(-1.0, 0.3), (-0.3, 1.0)])
def test_a_stop_lets_go_when_the_force_turns_round(stop, seed):
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    axis /= np.linalg.norm(axis)
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    place = rng.normal(size=3)
    body = scene.add_body(mass=2.0, inertia=[0.1, 0.1, 0.1], position=place)
    scene.add_joint(lw.Prismatic(axis), scene.ground, body, at=place, limits=stop)
    towards = 1.0 if stop[1] == 0.3 else -1.0
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.on_step(lambda sim: sim.apply_force(0, (2.0 if sim.steps < 150 else -2.0) * towards * axis))
    sim.step(150)
    assert sim.joint_coordinates.flat[0] == pytest.approx(0.3 * towards, abs=1e-8)
    sim.step(50)
    # half a second of 1 m/s^2; steps after a blow are implicit Euler's
    assert sim.joint_coordinates.flat[0] == pytest.approx((0.3 - 0.125) * towards, abs=1e-2)


@pytest.mark.parametrize("axis", [(0, 0, 1), (1, 2, 3), (1, 1, 1)])
def test_a_speed_motor_comes_to_rest_at_its_limit(axis):
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(mass=2.0, inertia=[0.1, 0.1, 0.1])
    scene.add_joint(
        lw.Prismatic(axis), scene.ground, body, at=(0, 0, 0), limits=(-1.0, 0.3), drive=lw.Velocity(1.0, max_force=3.0)
    )
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.run(1.0, progress=False)
    for _ in range(30):
        sim.step()
        assert sim.joint_coordinates.flat[0] == pytest.approx(0.3, abs=1e-8)
        assert abs(sim.joint_rates.flat[0]) < 1e-8


def spinning_cube(**joint):
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    rate = joint.pop("rate", 0.0)
    body = scene.add_body(lw.Box(0.95, 0.95, 0.95), density=2 / 0.95**3, angular_velocity=(0, 0, rate))
    scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, body, at=(0, 0, 0), **joint)
    return scene, 2 * 0.95**2 / 6


@pytest.mark.parametrize("dt", [1e-2, 1e-3])
def test_a_weak_motor_turns_a_body_with_its_largest_torque(dt):
    scene, inertia = spinning_cube(drive=lw.Velocity(2.0, max_force=0.1))
    sim = lw.Simulation(scene, dt=dt, state_dir=None)
    sim.run(0.8, progress=False)
    assert sim.joint_rates.flat[0] == pytest.approx(0.1 * 0.8 / inertia, rel=1e-4)
    assert sim.joint_torques[0, 2] == pytest.approx(0.1, rel=1e-9)


def test_dry_friction_stops_a_turning_body_where_its_energy_is_spent():
    dt = 1e-2
    scene, inertia = spinning_cube(rate=1.0, friction=0.9)
    sim = lw.Simulation(scene, dt=dt, state_dir=None)
    sim.run(0.5, progress=False)
    # three implicit Euler steps at the ends, each off by a dt^2 / 2
    assert sim.joint_coordinates.flat[0] == pytest.approx(0.5 * inertia / 0.9, abs=1.5 * dt**2 * 0.9 / inertia)
    assert abs(sim.joint_rates.flat[0]) < 1e-9


@pytest.mark.parametrize(("push", "expected"), [(1.0, 0.0), (2.0, 0.5 / 2.0)])
def test_a_motor_has_to_overcome_the_friction_of_its_joint(push, expected):
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(mass=2.0, inertia=[0.1, 0.1, 0.1])
    drive = lw.Velocity(5.0, max_force=push)
    scene.add_joint(lw.Prismatic((1, 0, 0)), scene.ground, body, at=(0, 0, 0), friction=1.5, drive=drive)
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.run(1.0, progress=False)
    assert sim.joint_rates.flat[0] == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_random_mechanisms_with_stops_and_friction_stay_closed_and_gain_nothing(seed):
    rng = np.random.default_rng([7, seed])
    scene = lw.Scene(contact=False)
    bodies = [scene.ground]
    kinds = [lw.Hinge, lw.Prismatic, lw.Cylindrical]
    for i in range(int(rng.integers(2, 6))):
        place = rng.normal(size=3) * 0.3 + [0.3 * i, 0, 0]
        body = scene.add_body(lw.Box(*rng.uniform(0.1, 0.4, 3)), position=place)
        kind = kinds[int(rng.integers(3))](rng.normal(size=3))
        free = 2 if isinstance(kind, lw.Cylindrical) else 1
        limits = [(-rng.uniform(0.05, 0.6), rng.uniform(0.05, 0.6)) for _ in range(free)]
        friction = [rng.uniform(0, 10) * (rng.random() < 0.4) for _ in range(free)]
        scene.add_joint(
            kind, bodies[int(rng.integers(len(bodies)))], body, at=place + 0.1 * rng.normal(size=3),
            limits=limits if free > 1 else limits[0], friction=friction if free > 1 else friction[0],
        )  # fmt: skip
        bodies.append(body)
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    start = sim.energy.total
    worst, highest = 0.0, -np.inf
    for _ in range(200):
        sim.step()
        worst, highest = max(worst, sim.residual), max(highest, sim.energy.total)
    assert worst <= 1.01e-8
    assert highest <= start + 1e-9 * abs(start)


@pytest.mark.parametrize("method", [lw.MABD.as_published(), *(lw.MABD(iterations=n) for n in (1, 2, 5))])
def test_few_iterations_find_the_stop_as_well(method):
    scene = lw.Scene(contact=False)
    bar = scene.add_body(lw.Box(1, 0.1, 0.1), position=(0.5, 0, 0))
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, bar, at=(0, 0, 0), limits=(-0.5, 0.5))
    sim = lw.Simulation(scene, method, dt=1e-2, state_dir=None)
    sim.run(2.0, progress=False)
    assert sim.joint_coordinates.flat[0] == pytest.approx(0.5, abs=1e-7)


@pytest.mark.parametrize("max_force", [np.inf, 1e6])
@pytest.mark.parametrize("friction", [0.0, 2.0])
@pytest.mark.parametrize("kind", [lw.Hinge, lw.Prismatic])
def test_a_strong_motor_rests_at_its_stop_and_leaves_when_it_turns_round(kind, friction, max_force):
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(mass=2.0, inertia=[0.1, 0.1, 0.1])
    drive = lw.Velocity(1.0, max_force=max_force)
    joint = scene.add_joint(
        kind((1, 2, 3)), scene.ground, body, at=(0, 0, 0), limits=(-0.2, 0.2411), drive=drive, friction=friction
    )
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.run(0.5, progress=False)
    assert sim.joint_coordinates.flat[0] == pytest.approx(0.2411, abs=1e-8)
    sim.set_target(joint, -1.0)
    sim.run(0.2, progress=False)
    assert sim.joint_coordinates.flat[0] == pytest.approx(0.2411 - 0.2, abs=0.011)


@pytest.mark.parametrize("limit", [None, 1.5])
def test_a_cone_that_is_not_reached_leaves_the_drives_of_a_ball_alone(limit):
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(lw.Box(0.3, 0.2, 0.5), density=100.0)
    drive = [lw.PD(20.0, 4.0, target) for target in (0.3, -0.2, 0.0)]
    scene.add_joint(lw.Ball(swing_limit=limit), scene.ground, body, at=(0, 0, 0), drive=drive)
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.run(6.0, progress=False)
    np.testing.assert_allclose(sim.joint_coordinates.flat, (0.3, -0.2, 0.0), atol=1e-6)


def test_springs_across_the_cone_pull_a_swing_around_it():
    """A swing held at its cone by one spring goes where the other spring wants it, along the cone."""
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    body = scene.add_body(lw.Box(0.3, 0.2, 0.5), density=100.0)
    drive = [lw.PD(20.0, 4.0, target) for target in (0.9, -1.2, 0.0)]
    scene.add_joint(lw.Ball(swing_limit=0.5), scene.ground, body, at=(0, 0, 0), drive=drive)
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    sim.run(8.0, progress=False)
    # equal stiffnesses pull towards the point of the cone nearest to their target
    np.testing.assert_allclose(sim.joint_coordinates.flat, (0.3, -0.4, 0.0), atol=1e-4)


@pytest.mark.parametrize("seed", range(6))
def test_universal_joints_with_stops_and_motors_end_every_step_closed(seed):
    """Also where the pieces go round in circles until the iterations are used up."""
    rng = np.random.default_rng([11, seed])
    scene = lw.Scene(contact=False)
    places = np.cumsum(rng.normal(size=(3, 3)) * 0.2, axis=0)
    bodies = [scene.add_body(lw.Box(0.2, 0.15, 0.1), position=place) for place in places]
    for k in range(2):
        axis, other = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
        scene.add_joint(
            lw.Universal(axis, other), bodies[k], bodies[k + 1], at=0.5 * (places[k] + places[k + 1]),
            limits=[(-0.3, 0.4), (-0.4, 0.3)], drive=[lw.Velocity(2.0, max_force=2.0), lw.Velocity(-1.0, max_force=2.0)],
        )  # fmt: skip
    sim = lw.Simulation(scene, dt=5e-3, state_dir=None)
    for _ in range(200):
        sim.step()
        assert sim.residual < 1e-7
