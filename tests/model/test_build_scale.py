"""Large scenes are described and built without a loop over bodies."""

from __future__ import annotations

import time

import numpy as np

import linkwork as lw


def test_a_chain_of_200_000_links_is_described_and_built_in_seconds() -> None:
    n = 200_000
    start = time.process_time()
    scene = lw.Scene()
    positions = np.zeros((n, 3))
    positions[:, 0] = 0.1 * np.arange(n) + 0.05
    links = scene.add_bodies(lw.Box(0.1, 0.02, 0.02), positions, name="links")
    scene.add_joints(
        lw.Ball(bending_stiffness=1.0), links[:-1], links[1:], at=np.add(positions[:-1], [0.05, 0, 0]), damping=0.1
    )
    scene.add_joint(lw.Ball(), scene.ground, links[0], at=(0, 0, 0))
    model = scene.build()
    seconds = time.process_time() - start
    assert model.bodies == model.joints == n
    assert len(model.law_joint) == 3 * (n - 1)
    assert (np.diff(model.law_joint) >= 0).all()
    assert seconds < 3.0


def test_links_of_different_length_are_built_together() -> None:
    n = 50_000
    start = time.process_time()
    lengths = np.linspace(0.05, 0.2, n)
    scene = lw.Scene()
    positions = np.zeros((n, 3))
    positions[:, 0] = np.cumsum(lengths) - 0.5 * lengths
    turns = np.tile([0.0, 0.0, 0.0, 1.0], (n, 1))
    scene.add_bodies(lw.Box(lengths, 0.02, 0.01), positions, turns)
    model = scene.build()
    np.testing.assert_allclose(model.mass, 1000.0 * lengths * 0.02 * 0.01)
    np.testing.assert_allclose(model.second_moments[:, 0], model.mass * lengths**2 / 12.0)
    assert time.process_time() - start < 3.0
