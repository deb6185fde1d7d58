import numpy as np
import pytest
from gallery.truth import run

import linkwork as lw
from linkwork.gallery import find


def anchor_of(sim):
    return next(i for i in range(sim.model.bodies) if sim.model.body_names(i) == "anchor")


def test_shackle_carries_the_anchor_through_drop_and_catch():
    pull, sim = run("pulley-chain", links=150)
    mass, speed, anchor = sim.model.mass, sim.velocities[:, 2], anchor_of(sim)
    assert pull == pytest.approx(mass[anchor] * (9.81 + speed[anchor] / sim.time), rel=1e-2)
    assert sim.residual < 1e-7


def test_winch_lifts_the_anchor_and_lets_it_fall():
    known = find("pulley-chain")
    sim = lw.Simulation(known.build(links=150), known.method(), dt=known.dt, state_dir=None)
    known.prepare(sim)
    anchor = anchor_of(sim)
    heights = [sim.positions[anchor, 2]]
    for seconds in (2.9, 2.0):
        sim.run(seconds, progress=False)
        heights.append(sim.positions[anchor, 2])
    assert heights[1] > heights[0] + 0.25
    assert heights[2] < heights[0]


def test_pulley_chain_has_as_many_links_as_asked_for():
    scene = find("pulley-chain").build(links=1500, wheels=8)
    assert sum(body.name.startswith("chain") for body in scene.bodies) == 1500


@pytest.mark.parametrize("parameters", [{"wheels": 5}, {"links": 5}])
def test_pulley_chain_refuses_what_it_cannot_build(parameters):
    with pytest.raises(lw.SceneError, match="wheels must be even"):
        find("pulley-chain").build(**parameters)


def test_shoulder_of_the_arm_sags_by_the_moment_of_the_weight_over_the_stiffness():
    sag, sim = run("arm")
    carried = slice(2, None)  # the links beyond the shoulder: body 0 is the foot, body 1 turns below it
    middles = sim.positions + np.einsum("nij,nj->ni", sim.rotations, sim.model.com)
    weight = sim.model.mass[carried, None] * [0.0, 0.0, -9.81]
    moment = np.cross(middles[carried] - sim.positions[2], weight).sum(axis=0)
    assert sag == pytest.approx(1e3 * float(moment @ sim.rotations[1][:, 1]) / 6000.0, rel=1e-3)
    assert sim.residual < 1e-8
