"""The broad phase finds the same pairs as looking at all of them."""

from __future__ import annotations

import numpy as np
import pytest
from contact.finding import Found

import linkwork as lw

RADII = {
    "alike": lambda rng, n: np.full(n, 0.1),
    "within a factor of ten": lambda rng, n: rng.uniform(0.02, 0.2, n),
    "over six decades": lambda rng, n: 10.0 ** rng.uniform(-5, 1, n),
    "one giant": lambda rng, n: np.where(np.arange(n) == 7, 30.0, 0.1),
    "many giants": lambda rng, n: np.where(np.arange(n) % 10 == 7, 5.0, 0.1),
}


@pytest.mark.parametrize("speed", [0.0, 1.0, 100.0])
@pytest.mark.parametrize("sizes", RADII)
def test_the_grid_finds_all_overlapping_boxes(sizes: str, speed: float) -> None:
    rng = np.random.default_rng(11)
    n = 400
    scene = lw.Scene()
    scene.add_bodies(
        lw.Sphere(RADII[sizes](rng, n)), rng.uniform(-1, 1, (n, 3)), velocities=speed * rng.normal(size=(n, 3))
    )
    scene.add_bodies(lw.Box(0.3, 0.1, 0.2), rng.uniform(-1, 1, (40, 3)), angular_velocities=speed * np.ones((40, 3)))
    scene.add_bodies(lw.Sphere(0.2), rng.uniform(-1, 1, (20, 3)), fixed=True)
    found = Found(scene)
    found.launch()
    low, high = found.finder.broad.bounds.low.numpy(), found.finder.broad.bounds.high.numpy()
    meet = ((low[:, None] <= high) & (low <= high[:, None])).all(axis=2)
    moving = found.model.motion == 0
    meet &= moving[:, None] | moving
    wanted = set(zip(*np.nonzero(np.triu(meet, 1)), strict=True))
    pairs = np.sort(found.pairs(), axis=1)
    assert len(pairs) == len({tuple(pair) for pair in pairs.tolist()})
    assert {tuple(pair) for pair in pairs.tolist()} == wanted


def test_boxes_hold_the_bodies_all_through_the_step() -> None:
    rng = np.random.default_rng(2)
    n = 60
    scene = lw.Scene()
    corners = rng.normal(size=(12, 3)) * 0.3 + [0.5, 0, 0]
    shape = lw.Compound([lw.ConvexHull(corners), (lw.Box(0.2, 0.1, 0.7), (0, 0.3, 0))])
    scene.add_bodies(
        shape,
        rng.normal(size=(n, 3)),
        velocities=rng.normal(size=(n, 3)),
        angular_velocities=20 * rng.normal(size=(n, 3)),
    )
    scene.gravity = (0, 0, 0)
    found = Found(scene, dt=0.1)
    found.launch()
    low, high = found.finder.broad.bounds.low.numpy(), found.finder.broad.bounds.high.numpy()
    parts = [part.surface()[0] @ turn.T + at for part, at, turn in shape.parts]
    start = found.x.copy(), found.R.copy()
    for time in np.linspace(0, 0.1, 9):
        found.x, found.R = start
        found.move(time)
        for k, vertices in enumerate(parts):
            local = (vertices - found.model.com[0]) @ found.model.principal[0]
            world = np.einsum("nij,vj->nvi", found.R, local) + found.x[:, None]
            assert (world >= low[k * n : (k + 1) * n, None] - 1e-12).all()
            assert (world <= high[k * n : (k + 1) * n, None] + 1e-12).all()


def test_bodies_far_away_and_at_a_standstill_do_no_harm() -> None:
    scene = lw.Scene()
    x = [0.0, 0.15, 1e12, 1e12 + 0.1, -1e15, 1e50]
    scene.add_bodies(lw.Sphere(0.1), np.stack([x, np.zeros(6), np.zeros(6)], axis=1))
    found = Found(scene)
    contacts = found.launch()
    assert (0, 1) in set(zip(contacts["geom_a"].tolist(), contacts["geom_b"].tolist(), strict=True))
