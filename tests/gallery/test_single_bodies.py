import numpy as np
import pytest
from gallery.truth import integrate, run
from scipy.special import ellipk


def test_pendulum_swings_with_the_period_of_the_elliptic_integral():
    period, _ = run("pendulum")
    inertia_over_mass = (1.0**2 + 0.05**2) / 12.0 + 0.25
    assert period == pytest.approx(4.0 * ellipk(0.5) * np.sqrt(inertia_over_mass / (9.81 * 0.5)), rel=1e-3)


def test_spinning_box_keeps_its_momenta():
    kept, sim = run("spinning-box")
    assert kept == pytest.approx(100.0, rel=1e-2)
    np.testing.assert_allclose(sim.model.mass[0] * sim.velocities[0], [100, 0, 0], atol=1e-10)


def test_spinning_box_with_the_numbers_of_the_paper_loses_less_with_shorter_steps():
    losses = [100.0 - run("spinning-box", edge=0.1, dt=dt, seconds=1e-4)[0] for dt in (4e-7, 2e-7)]
    assert 0.0 < losses[1] < 0.35 * losses[0] < 0.1


def test_t_handle_turns_over_when_euler_s_equations_say():
    inertia = np.array([2.0e-3, 3.5e-3, 4.5e-3])
    times = np.linspace(0.0, 6.0, 60001)
    spin = integrate(lambda t, w: np.cross(inertia * w, w) / inertia, [0.1, 3.0, 0.1], times)[1]
    turnover, _ = run("t-handle", seconds=6.0)
    assert turnover == pytest.approx(times[np.argmax(spin < 0.0)], abs=5e-3)


def test_heavy_top_precesses_like_a_lagrange_top():
    mean, sim = run("heavy-top")
    mass, arm = sim.model.mass[0], np.linalg.norm(sim.model.com[0])
    J = sim.model.second_moments[0]
    along = np.sort(J.sum() - J)[-1]  # a flat top: the largest moment is the one about its axis
    across = np.sort(J.sum() - J)[0] + mass * arm**2
    tilt = np.radians(5.0)
    twist = 10.0 * along  # momentum about the axis of the top and, at rest otherwise, about the vertical
    vertical = twist * np.cos(tilt)

    def rates(t, y):
        turn = (vertical - twist * np.cos(y[0])) / (across * np.sin(y[0]) ** 2)
        fall = mass * 9.81 * arm * np.sin(y[0]) - twist * turn * np.sin(y[0])
        return [y[1], (fall + across * turn**2 * np.sin(y[0]) * np.cos(y[0])) / across, turn]

    time = sim.time - sim.dt
    turned = integrate(rates, [tilt, 0.0, 0.0], np.array([time]))[2, -1]
    assert mean == pytest.approx(turned / time, rel=3e-3)
