"""A live page must not slow the simulation down much."""

from __future__ import annotations

import pytest

import linkwork as lw
from linkwork.bench.live_view import live_view_cost
from linkwork.gallery import find


@pytest.mark.slow
def test_a_live_page_of_a_thousand_bodies_costs_less_than_a_fifth_of_the_speed():
    scene = find("chain")
    simulation = lw.Simulation(scene.build(links=1000), scene.method(), scene.dt)
    cost = live_view_cost(simulation)
    assert cost.bodies >= 1000
    assert cost.received > 100_000
    assert cost.loss < 0.2, cost
