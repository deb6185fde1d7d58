import pytest
from gallery.truth import run

import linkwork as lw
from linkwork.gallery import find


def test_curtain_turns_what_it_loses_in_potential_energy_into_kinetic_energy():
    share, sim = run("million", links=300, count=5, dt=2e-3, seconds=1.0)
    assert share == pytest.approx(1.0, abs=1e-3)
    assert sim.residual < 1e-7


def test_million_is_a_curtain_of_1001_chains_by_default():
    assert find("million").parameters == {"links": 1_077_076, "count": 1001}
    assert 1_077_076 % 1001 == 0


def test_million_says_how_many_links_can_be_shared_evenly():
    with pytest.raises(lw.SceneError, match="try 98"):
        find("million").build(links=100, count=7)


@pytest.mark.slow
def test_a_million_links_swing_in_one_piece():
    _, sim = run("million", seconds=0.05)
    assert sim.model.bodies == 1_077_076
    assert sim.residual < 1e-7
