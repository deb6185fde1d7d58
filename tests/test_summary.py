"""The summary of a run: its energy drift speaks of the energy in motion, and of nothing where nothing moves."""

from __future__ import annotations

import pytest

import linkwork as lw
from linkwork.simulation.summary import run_measured


def box_on(kind, position, at):
    scene = lw.Scene()
    body = scene.add_body(lw.Box(0.1, 0.1, 0.1), position=position)
    scene.add_joint(kind, scene.ground, body, at=at)
    return lw.Simulation(scene, state_dir=None)


@pytest.mark.parametrize("kind", [lw.Fixed(), lw.Ball(), lw.Prismatic((1, 0, 0))], ids=lambda kind: type(kind).__name__)
@pytest.mark.parametrize("height", [0.0, 0.05, 1e3])
def test_a_scene_at_rest_has_no_drift(kind, height):
    assert run_measured(box_on(kind, (0, 0, height - 0.05), (0, 0, height)), 1.0).energy_drift == 0.0


def test_a_hanging_box_that_is_stretched_by_its_weight_has_no_absurd_drift():
    scene = lw.Scene()
    body = scene.add_body(lw.Box(0.1, 0.1, 1.0), position=(0, 0, -0.5), material=lw.Material(young=1e6))
    scene.add_joint(lw.Ball(), scene.ground, body, at=(0, 0, 0))
    assert abs(run_measured(lw.Simulation(scene, state_dir=None), 1.0).energy_drift) < 2.0


def test_the_drift_of_a_swing_is_relative_to_its_energy():
    swing = box_on(lw.Hinge((0, 1, 0)), (0.5, 0, 0), (0, 0, 0))
    start = swing.energy.total
    summary = run_measured(swing, 1.0)
    lost = (swing.energy.total - start) / (swing.model.mass[0] * 9.81 * 0.5)
    assert summary.energy_drift == pytest.approx(lost, rel=0.1)
