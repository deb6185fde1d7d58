"""The neutral mechanisms, how they are played, and that every engine moves them alike."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from linkwork.bench import find_suite, suite_names
from linkwork.bench.machine import DRAKE, EXUDYN, NEWTON, interpreter
from linkwork.bench.peers.mechanism import spanning_tree
from linkwork.bench.peers.playing import Motion, play, watch
from linkwork.bench.peers.scenes import SCENES, chain, four_bar, net

SMALL = {
    "arm": {},
    "chain": {"links": 4},
    "four-bar": {"windows": 2},
    "heavy-chain": {"links": 3, "end_mass": 10.0},
    "net": {"size": 3},
    "tree": {"links": 9},
}


@pytest.mark.parametrize("scene", SMALL)
def test_joints_are_closed_and_inertias_possible(scene):
    mechanism = SCENES[scene](**SMALL[scene])
    turn = np.repeat(np.eye(3)[None], mechanism.bodies, axis=0)
    assert mechanism.gap(mechanism.position, turn) < 1e-12
    moments = np.linalg.eigvalsh(mechanism.inertia)
    assert (moments > 0).all()
    assert (moments[:, 2] <= moments[:, :2].sum(axis=1) * (1 + 1e-9)).all()
    # hinges and pins move together at the start
    spin = np.concatenate([mechanism.angular_velocity, np.zeros((1, 3))])
    speed = np.concatenate([mechanism.velocity, np.zeros((1, 3))])
    on_base, on_follower = mechanism.arms()
    first = speed[mechanism.base] + np.cross(spin[mechanism.base], on_base)
    second = speed[mechanism.follower] + np.cross(spin[mechanism.follower], on_follower)
    np.testing.assert_allclose(first, second, atol=1e-12)


@pytest.mark.parametrize("scene", SMALL)
def test_a_spanning_tree_reaches_every_body_after_its_parent(scene):
    mechanism = SCENES[scene](**SMALL[scene])
    tree = spanning_tree(mechanism)
    rank = np.empty(mechanism.bodies + 1)
    rank[tree.order], rank[-1] = np.arange(mechanism.bodies), -1
    assert sorted(tree.order) == list(range(mechanism.bodies))
    assert (rank[tree.parent] < rank[:-1]).all()
    assert len(tree.closing) == mechanism.joints - mechanism.bodies


def test_four_bars_and_nets_have_loops():
    assert len(spanning_tree(four_bar(2)).closing) == 2
    assert len(spanning_tree(net(3)).closing) > 0


def still(mechanism, shift=lambda time: 0.0):
    """Bodies that stay, but for what `shift` does to the last of them."""
    steps = [0]
    turn, rest = np.repeat(np.eye(3)[None], mechanism.bodies, axis=0), np.zeros((mechanism.bodies, 3))

    def state():
        place = mechanism.position.copy()
        place[-1, 0] += shift(0.01 * steps[0])
        return place, turn, rest, rest

    def advance(count):
        steps[0] += count

    return Motion(advance, state)


ENDS = {
    "finished": lambda time: 0.001 if time > 0.5 else 0.0,
    "NaN at 0.6 s": lambda time: np.nan if time > 0.58 else 0.0,
    "came apart (gap 0.2 m) at 0.6 s": lambda time: 0.2 if time > 0.58 else 0.0,
}


@pytest.mark.parametrize("outcome", ENDS)
def test_a_run_says_how_it_ended(outcome):
    mechanism = chain(3)
    values = watch(mechanism, still(mechanism, ENDS[outcome]), 0.01, 1.0, 10.0)
    assert values["outcome"] == outcome
    assert ("failure" in values) == (outcome != "finished")
    assert values["bodies"] == 3


def test_a_run_that_takes_too_long_is_stopped_and_keeps_its_time_per_step():
    mechanism = chain(3)
    values = watch(mechanism, still(mechanism), 0.01, 1.0, 0.0)
    assert values["failure"] == "time-out: 0.04 s of 1 s simulated in 0 s"
    assert values["ms_per_step"] >= 0.0


def test_every_row_names_a_scene_and_settings_that_json_can_hold():
    for name in suite_names():
        if name.startswith("peers-"):
            for case in find_suite(name).cases:
                assert case.parameters["scene"] in SCENES
                assert json.loads(json.dumps(dict(case.parameters))) == case.parameters


# after 0.2 s, with steps of 1 ms: where the last body of a chain of 4 is; other engines must be there too
def last_place(engine, settings, scene="chain", python=sys.executable):
    code = (
        "import json, sys; from importlib import import_module; from linkwork.bench.peers.scenes import SCENES\n"
        f"motion = import_module('linkwork.bench.peers.{engine}').build(SCENES[{scene!r}](**{SMALL[scene]!r}), 1e-3, "
        f"**{settings!r})\n"
        "motion.advance(200); print('[' + ','.join(str(float(x)) for x in motion.state()[0][-1]) + ']')"
    )
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        [python, "-c", code],
        env=os.environ | {"PYTHONPATH": root},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-800:]
    return np.array(json.loads(done.stdout.strip().splitlines()[-1]))


@pytest.fixture(scope="module")
def ours():
    return {scene: last_place("in_linkwork", {"young": 1e10}, scene) for scene in ("chain", "four-bar", "tree")}


HERE = {
    "mujoco": [("in_mujoco", {}), ("in_mujoco", {"kind": "connect"})],
    "pinocchio": [("in_pinocchio", {})],
    "pybullet": [("in_pybullet", {}), ("in_pybullet", {"kind": "tied"})],
}


@pytest.mark.parametrize("module", HERE)
@pytest.mark.parametrize("scene", ["chain", "four-bar", "tree"])
def test_engines_beside_us_move_the_same_mechanism_alike(module, scene, ours):
    pytest.importorskip(module, reason=f"{module} is not installed")
    if module == "pinocchio" and scene == "four-bar":
        assert play("in_pinocchio", scene, {"windows": 2}, 1e-3, 0.1, 1.0)["outcome"].startswith("cannot: ")
        return
    for engine, settings in HERE[module]:
        np.testing.assert_allclose(last_place(engine, settings, scene), ours[scene], atol=4e-3)


APART = [
    (NEWTON, "in_newton", {"solver": "MuJoCo", "options": {"use_mujoco_cpu": True}}),
    (DRAKE, "in_drake", {}),
    (EXUDYN, "in_exudyn", {}),
]


@pytest.mark.parametrize(("peer", "engine", "settings"), APART, ids=["newton", "drake", "exudyn"])
def test_engines_in_their_own_environment_move_the_chain_alike(peer, engine, settings, ours):
    python = interpreter(peer)
    if python is None:
        pytest.skip(f"{peer.name} is not installed: make bench puts it into .venv-peers/{peer.environment}")
    np.testing.assert_allclose(last_place(engine, settings, python=python), ours["chain"], atol=4e-3)
