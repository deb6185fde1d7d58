"""Closed forms and one-degree-of-freedom references: the value, and the order at which the error falls with the step."""

import numpy as np
import pytest
from oracles.measuring import errors_by_step, orders, sampled
from oracles.mechanisms import (
    SPINNING,
    T_HANDLE_SPIN,
    G,
    heavy_top_centres,
    heavy_top_scene,
    pendulum_angles,
    pendulum_scene,
    point_pendulum_angles,
    point_pendulum_scene,
    t_handle_flips,
    t_handle_scene,
    windows_scene,
    windows_tip,
    windows_tips,
)

import linkwork as lw

EULER = lw.MABD(integrator="euler")
FIRST_ORDER = (0.85, 1.15)
SECOND_ORDER = (1.8, 2.3)


def in_range(values, bounds):
    return all(bounds[0] < value < bounds[1] for value in values)


def centre(sim):
    return sim.positions[0]


@pytest.mark.parametrize("joint", ["hinge", "ball"])
@pytest.mark.parametrize(
    ("method", "steps", "order", "best"),
    [(lw.MABD(), (1e-2, 5e-3, 2.5e-3), SECOND_ORDER, 2e-4), (EULER, (2e-3, 1e-3, 5e-4), FIRST_ORDER, 1e-2)],
    ids=["bdf2", "euler"],
)
def test_a_pendulum_swings_as_its_equation_says_at_the_order_of_the_scheme(joint, method, steps, order, best):
    times = np.arange(1, 11) * 0.1
    angle = pendulum_angles(times)
    reference = 0.5 * np.stack([np.cos(angle), 0 * angle, -np.sin(angle)], axis=1)
    errors = errors_by_step(lambda: pendulum_scene(joint), centre, reference, times, steps, method)
    assert errors[-1] < best
    assert in_range(orders(errors, steps), order)


def test_the_pendulum_period_is_that_of_the_elliptic_integral():
    """From horizontal to horizontal: half a period is 2 K(1/2) / w, w^2 = m g (L/2) / I."""
    from scipy.special import ellipk

    w = np.sqrt(G * 0.5 / (0.25 + 1.01 / 12))
    half_period = 2.0 * ellipk(0.5) / w
    dt = half_period / 1000
    tip = sampled(pendulum_scene(), dt, [1000 * dt], centre)[0]
    # at rest on the other side: an error of phase shows in second order, one of energy in first
    np.testing.assert_allclose(tip, [-0.5, 0.0, 0.0], atol=2e-4)


def test_a01_loses_less_than_5e_5_joule_in_10_s():
    times = np.linspace(0.5, 10.0, 20)
    angle = point_pendulum_angles(times)
    reference = np.stack([np.cos(angle), 0 * angle, -np.sin(angle), 0 * angle], axis=1)
    found = sampled(point_pendulum_scene(), 2.5e-4, times, lambda sim: [*sim.positions[0], sim.energy.total])
    assert np.abs(found - reference)[:, 3].max() < 5e-5
    assert np.abs(found - reference)[:, :3].max() < 1e-4


def test_a02_with_two_windows_ends_at_the_published_tip():
    steps = (2e-3, 1e-3, 5e-4)
    published = np.array([[0.32845811, 0.94451854]])
    np.testing.assert_allclose(windows_tips(2, [10.0]), published, atol=1e-8)
    errors = errors_by_step(lambda: windows_scene(2, young=1e14), windows_tip, published, [10.0], steps)
    assert errors[-1] < 3e-4
    assert (orders(errors, steps) > 1.8).all()


@pytest.mark.parametrize("windows", [2, 20])
def test_a02_converges_at_second_order(windows):
    times, steps = np.linspace(0.2, 2.0, 10), (1e-2, 5e-3, 2.5e-3)
    errors = errors_by_step(lambda: windows_scene(windows), windows_tip, windows_tips(windows, times), times, steps)
    assert errors[-1] < 1e-3
    assert in_range(orders(errors, steps), SECOND_ORDER)


@pytest.mark.parametrize(
    ("seconds", "allowed"), [(0.05, 1e-4), pytest.param(0.5, 1e-3, marks=pytest.mark.slow)], ids=["short", "long"]
)
def test_a02_with_ten_thousand_windows_moves_as_one_degree_of_freedom(seconds, allowed):
    sim = lw.Simulation(windows_scene(10_000), lw.MABD(), dt=1e-2)
    sim.step(round(seconds / sim.dt))
    posts = sim.positions[:10_001] - np.arange(10_001)[:, None] * [1, 0, 0]
    tips = windows_tips(10_000, [seconds])[0]
    assert np.abs(2.0 * posts[:, [0, 2]] - tips).max() < allowed
    assert sim.residual < 1e-8


def middle_spin(sim):
    return (sim.rotations[0].T @ sim.angular_velocities[0])[1]


def flips_of(dt, until=13.5):
    times = np.arange(1, round(until / 1e-2) + 1) * 1e-2
    spin = sampled(t_handle_scene(), dt, times, middle_spin)
    at = np.flatnonzero(np.sign(spin[1:]) != np.sign(spin[:-1]))
    return times[at] + 1e-2 * spin[at] / (spin[at] - spin[at + 1])


def test_the_t_handle_flips_when_eulers_equations_say():
    reference = t_handle_flips(13.5)
    np.testing.assert_allclose(reference, [4.978, 13.064], atol=1e-3)
    errors = np.array([np.abs(flips_of(dt) - reference) for dt in (1e-2, 5e-3, 2.5e-3)])
    assert in_range(orders(errors[:, 0], (1e-2, 5e-3, 2.5e-3)), SECOND_ORDER)
    # each flip starts from the remains of the one before, so errors grow by exp(growth of the instability)
    assert errors[0, 1] < 0.2
    assert errors[2, 1] < 2e-3


def test_a_heavy_top_precesses_as_lagranges_does():
    times, steps = np.arange(1, 11) * 0.1, (5e-3, 2.5e-3, 1.25e-3)
    errors = errors_by_step(heavy_top_scene, centre, heavy_top_centres(times), times, steps)
    assert errors[-1] < 2e-4
    assert in_range(orders(errors, steps), SECOND_ORDER)


def box_scene(spin):
    """A cube of 0.1 m and 1 kg with a momentum of 100 kg m/s."""
    scene = lw.Scene(contact=False, gravity=(0, 0, 0))
    scene.add_body(lw.Box(0.1, 0.1, 0.1), velocity=(100, 0, 0), angular_velocity=(0, 0, spin), material=SPINNING)
    return scene


@pytest.mark.parametrize("method", [lw.MABD(), EULER], ids=["bdf2", "euler"])
def test_a_spinning_box_keeps_its_linear_momentum_to_the_last_digits(method):
    velocity = sampled(box_scene(10.0), 1e-2, np.arange(1, 11) * 0.1, lambda sim: sim.velocities[0], method)
    np.testing.assert_allclose(velocity, np.tile([100.0, 0, 0], (10, 1)), atol=100.0 * 1e-12)


def spin_loss(method, dt):
    spin = sampled(box_scene(5.0), dt, [1.0], lambda sim: sim.angular_velocities[0, 2], method)[0]
    return 1.0 - spin / 5.0


def test_a_spinning_box_loses_angular_momentum_at_second_order():
    steps = (1e-2, 5e-3, 2.5e-3)
    loss = np.array([spin_loss(lw.MABD(), dt) for dt in steps])
    assert (loss > 0.0).all()
    assert (orders(loss, steps) > 1.8).all()


@pytest.mark.parametrize("dt", [1e-2, 2.5e-3])
def test_implicit_euler_slows_a_spin_by_h_times_its_cube(dt):
    """d(omega)/dt = -h omega^3, so omega = omega_0 / sqrt(1 + 2 h omega_0^2 t)."""
    assert spin_loss(EULER, dt) == pytest.approx(1.0 - 1.0 / np.sqrt(1.0 + 2.0 * dt * 25.0), rel=0.02)


def test_a_spinning_t_handle_never_gains_energy():
    sim = lw.Simulation(t_handle_scene(), lw.MABD(), dt=1e-2)
    start = sim.energy.total
    inertia = 0.5 * (np.array([2e-3, 3.5e-3, 4.5e-3]) @ T_HANDLE_SPIN**2)
    assert start == pytest.approx(inertia, rel=1e-12)
    for _ in range(14):
        sim.step(100)
        assert sim.energy.total < start * (1.0 + 1e-3)
