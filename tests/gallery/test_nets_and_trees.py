import numpy as np
import pytest
from gallery.truth import run

import linkwork as lw
from linkwork.gallery import find


def momentum_up(sim):
    return float((sim.model.mass * sim.velocities[:, 2]).sum())


@pytest.mark.parametrize("size", [5, 10])
def test_pins_of_the_net_carry_its_weight_and_what_it_gains_in_momentum(size):
    pull, sim = run("net", size=size, seconds=1.0)
    weight = 9.81 * sim.model.mass.sum()
    assert pull == pytest.approx(weight + momentum_up(sim) / sim.time, rel=1e-2)
    assert sim.residual < 1e-7


@pytest.mark.parametrize(("size", "links"), [(10, 280), (100, 29_800)])
def test_net_has_a_body_for_every_knot_and_link_and_two_joints_for_every_link(size, links):
    scene = find("net").build(size=size)
    assert len(scene.bodies) == links
    assert len(scene.joints) == 2 * (links - size * size) + size


@pytest.mark.slow
def test_net_of_29800_links_stays_in_one_piece():
    _, sim = run("net", size=100, seconds=0.03)
    assert sim.residual < 1e-7


@pytest.mark.parametrize("name", ["willow", "pear"])
def test_roots_carry_the_weight_of_the_tree_however_it_sways(name):
    force, sim = run(name, links=1500, seconds=1.0)
    weight = 9.81 * sim.model.mass.sum()
    assert force == pytest.approx(weight + momentum_up(sim) / sim.time, rel=1e-3)
    assert sim.residual < 1e-7


@pytest.mark.parametrize("name", ["willow", "pear"])
def test_tree_without_wind_stands_still(name):
    sim = lw.Simulation(find(name).build(links=1500), dt=1e-2, state_dir=None)
    before = sim.positions
    sim.step(40)
    assert np.abs(sim.positions - before).max() < 2e-3


@pytest.mark.parametrize("name", ["willow", "pear"])
@pytest.mark.parametrize("links", [40, 1000, 7000])
def test_tree_has_as_many_links_as_asked_for(name, links):
    scene = find(name).build(links=links)
    assert (len(scene.bodies), len(scene.joints)) == (links, links)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "links"), [("willow", 21_000), ("pear", 29_000)])
def test_whole_tree_sways_in_the_wind(name, links):
    force, sim = run(name, seconds=0.1)
    assert sim.model.bodies == links
    assert force == pytest.approx(9.81 * sim.model.mass.sum(), rel=2e-2)
