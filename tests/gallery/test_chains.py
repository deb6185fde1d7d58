import numpy as np
import pytest
from gallery.truth import integrate, mechanical, planar_chain, run

import linkwork as lw
from linkwork.gallery import find


def test_double_pendulum_is_where_lagrange_s_equations_put_it():
    height, _ = run("double-pendulum", seconds=1.6, dt=1e-3)
    first, second = planar_chain(2, 0.5, (0.5**2 + 0.03**2) / 12.0, 1.5)
    assert height == pytest.approx(-0.5 * np.sin(first) - 0.25 * np.sin(second), abs=2e-3)


def test_chain_is_where_lagrange_s_equations_put_it():
    height, _ = run("chain", links=6, seconds=0.8, dt=1e-3)
    angles = planar_chain(6, 0.1, (0.1**2 + 0.02**2) / 12.0, 0.8)
    assert height == pytest.approx(-0.1 * np.sin(angles).sum(), abs=5e-4)


def test_chains_side_by_side_move_alike():
    _, sim = run("chain", links=5, count=3, seconds=0.5)
    heights = sim.positions[:, 2].reshape(3, 5)
    np.testing.assert_allclose(heights, heights[[0, 0, 0]], atol=1e-12)


@pytest.mark.slow
def test_a_million_links_hang_in_one_piece():
    _, sim = run("chain", links=1000, count=1000, seconds=0.03)
    assert sim.model.bodies == 1_000_000
    assert sim.residual < 1e-7


@pytest.mark.parametrize("windows", [2, 20])
def test_four_bar_falls_like_its_one_degree_of_freedom(windows):
    x, sim = run("four-bar", windows=windows, seconds=2.0)
    heavy, light = (windows + 1) / 2 + windows, (windows + 1) / 3 + windows
    angle = integrate(lambda t, y: [y[1], heavy * 9.81 * np.sin(y[0]) / light], [0.0, 1.0], np.array([2.0]))[0, -1]
    assert x == pytest.approx(np.sin(angle), abs=3e-3)
    assert sim.residual < 1e-8


def test_two_windows_are_where_iftomm_a02_says_after_ten_seconds():
    x, _ = run("four-bar", windows=2, dt=5e-4)
    assert x == pytest.approx(0.32845811, abs=4e-4)


@pytest.mark.parametrize("joint", ["ball", "hinge", "universal"])
def test_folded_heavy_chain_lets_its_weight_fall_freely(joint):
    speed, sim = run("heavy-chain", joint=joint, seconds=2.0)
    fallen = 60 * 0.1 * (1.0 - 0.3)
    assert 0.985 * np.sqrt(2 * 9.81 * fallen) < speed < 1.001 * np.sqrt(2 * 9.81 * fallen)
    assert sim.residual < 1e-7


@pytest.mark.parametrize("end_mass", [1e3, 1e4, 1e6])
def test_level_heavy_chain_swings_its_weight_like_a_rigid_pendulum(end_mass):
    speed, sim = run("heavy-chain", end_mass=end_mass, coiled=False, seconds=1.5)
    radius = np.cbrt(end_mass * 0.04 / (7800 * 4 / 3 * np.pi))
    # a stiff rod of 6 m and the ball on it, from level to upright
    arm, ball, rod = 6.0 + radius, end_mass * 0.04, 60 * 0.04
    inertia = ball * (arm**2 + 0.4 * radius**2) + rod * 12.0
    rate = np.sqrt(2 * 9.81 * (ball * arm + rod * 3.0) / inertia)
    assert speed == pytest.approx(rate * arm, rel=2e-2)
    assert sim.residual < 1e-7


@pytest.mark.parametrize("coiled", [True, False])
@pytest.mark.parametrize("end_mass", [1.0, 1e3])
def test_heavy_chain_never_gains_energy(coiled, end_mass):
    known = find("heavy-chain")
    sim = lw.Simulation(known.build(end_mass=end_mass, coiled=coiled), known.method(), dt=1 / 30, state_dir=None)
    extremes = known.prepare(sim)
    before = mechanical(sim)
    sim.run(3.0, progress=False)
    in_play = 9.81 * 0.04 * end_mass * 6.0
    assert extremes[1] - before < 1e-6 * in_play
