"""A recording must not slow the simulation down much."""

from __future__ import annotations

import pytest

import linkwork as lw
from linkwork.bench.recording import recording_cost
from linkwork.gallery import find


def simulation(name, dt=None, **size):
    scene = find(name)
    return lw.Simulation(scene.build(**size), scene.method(), dt or scene.dt, state_dir=None)


@pytest.mark.slow
def test_a_recording_of_a_thousand_links_costs_less_than_a_tenth_of_the_speed():
    cost = recording_cost(simulation("chain", 1e-3, links=1000), steps=2040, rounds=11, fps=60.0)
    assert cost.stride == 17
    # two poses of 12 single numbers a link, and little else
    assert 96_000 <= cost.frame_bytes < 97_000
    assert cost.loss < 0.1, cost


@pytest.mark.slow
def test_a_recording_of_a_pendulum_costs_less_than_a_tenth_of_the_speed():
    cost = recording_cost(simulation("pendulum"), steps=20_000, rounds=31, fps=60.0)
    assert cost.stride == 3
    assert cost.loss < 0.1, cost


def test_turns_with_a_recording_are_measured():
    cost = recording_cost(simulation("pendulum"), steps=200, rounds=1, every=10)
    assert (cost.bodies, cost.stride) == (1, 10)
    assert cost.plain > 0.0
    assert cost.recorded > 0.0
