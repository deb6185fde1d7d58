"""Scenes with contact: each ends as its number says."""

import numpy as np
import pytest

import linkwork as lw
from linkwork.gallery import find


def run(name, **parameters):
    scene = find(name)
    sim = lw.Simulation(scene.build(**parameters), scene.method(), dt=scene.dt, state_dir=None)
    watched = scene.prepare(sim)
    worst, highest = 0.0, sim.energy.total
    for _ in range(sim.steps_for(scene.seconds)):
        sim.step()
        worst = max(worst, sim.residual)
        highest = max(highest, sim.energy.total)
    return sim, scene.number(sim, watched)[1], worst, highest


def test_the_stack_stands_under_a_thousand_times_its_boxes():
    sim, carried, _, _ = run("stack")
    assert carried == pytest.approx(1.0, rel=1e-4)
    assert np.abs(sim.positions[1:, :2]).max() < 1e-3


def test_boxes_slide_down_the_slope_as_their_friction_says():
    _, travel, _, _ = run("slope")
    assert travel == pytest.approx(1.0, rel=0.01)


def test_the_house_of_cards_stands():
    _, height, _, _ = run("card-house")
    assert height == pytest.approx(1.0, abs=1e-3)


def test_the_conveyor_takes_boxes_along():
    _, way, _, _ = run("conveyor")
    assert way == pytest.approx(1.0, rel=0.01)


def test_the_net_drapes_over_the_cylinder_with_its_joints_closed():
    sim, carried, worst, highest = run("net-on-cylinder")
    assert carried == pytest.approx(1.0, rel=0.02)
    assert worst < 1e-6
    assert sim.contacts.gaps.min() > -0.02 * 0.012
    assert highest < sim.model.mass[1:].sum() * 9.81 * 0.36


def test_jointed_pairs_come_to_lie_in_the_bowl():
    sim, sinking, worst, _ = run("falling-joints", size=5)
    assert sinking < 0.02
    assert worst < 1e-6
    assert np.abs(sim.positions).max() < 3.0
