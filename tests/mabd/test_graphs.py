"""Graphs whose factor lies in panels."""

import numpy as np

import linkwork as lw
from linkwork.gallery import find


def net():
    sim = lw.Simulation(find("net").build(size=8), lw.MABD(), 1e-2, state_dir=None)
    assert sim._stepper.groups[0].components.filled.numpy().all()
    return sim


def test_a_net_continues_bit_identically_from_a_state_that_holds_no_factor():
    went_on, restored = net(), net()
    went_on.step(7)
    state = went_on.state()
    went_on.step(5)
    restored.step(2)  # and has a factor of another pose
    restored.restore(state)
    restored.step(5)
    for name, values in went_on.state().items():
        np.testing.assert_array_equal(values, restored.state()[name], err_msg=name)
    factor = went_on._stepper.groups[0].work.panels.lanes
    assert max(values.size for values in state.values()) < factor.size * 8


def test_a_net_closes_its_joints_in_every_step():
    sim = net()
    for _ in range(40):
        sim.step()
        assert sim.residual < 1e-8
