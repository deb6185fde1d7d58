"""Frames taken while MABD steps are what the simulation itself says at those moments."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.gallery import find

EPS32 = float(np.finfo(np.float32).eps)


def chain(links=21):
    """Links in a row, hung at both ends, that fall and turn about all axes."""
    scene = lw.Scene()
    positions = np.stack([0.1 * np.arange(links) + 0.05, np.zeros(links), np.zeros(links)], axis=1)
    bodies = scene.add_bodies(lw.Box(0.1, 0.02, 0.03), positions, name="links")
    scene.add_joints(lw.Ball(), bodies[:-1], bodies[1:], at=positions[:-1] + np.array([0.05, 0, 0]), name="joints")
    scene.add_joint(lw.Ball(), scene.ground, bodies[0], at=(0, 0, 0))
    return scene


def upright(links=45):
    """A chain along the links' z axes, which the solver turns, with a force in the scene."""
    scene = lw.Scene(gravity=(1.0, 2.0, -9.81))
    positions = np.stack([np.zeros(links), np.zeros(links), -0.1 * np.arange(links) - 0.05], axis=1)
    bodies = scene.add_bodies(lw.Box(0.03, 0.02, 0.1), positions, name="links")
    scene.add_joints(lw.Ball(), bodies[:-1], bodies[1:], at=positions[:-1] - [0, 0, 0.05], name="joints")
    scene.add_joint(lw.Ball(), scene.ground, bodies[0], at=(0, 0, 0))
    scene.add_force(bodies[links - 1], (0.0, 0.3, 0.0))
    return scene


def laws():
    """Every kind of joint, with springs, drives, limits and turning angles."""
    scene = lw.Scene()
    for k, kind in enumerate(
        (
            lw.Ball(), lw.Hinge((0, 1, 0)), lw.Prismatic((0, 0, 1)), lw.Cylindrical((0, 0, 1)), lw.Fixed(),
            lw.Universal((1, 0, 0), (0, 1, 0)), lw.Planar((0, 1, 0)), lw.Cartesian(), lw.Rectangular((1, 0, 0), (0, 0, 1)),
            lw.PinInSlot((1, 0, 0), (0, 1, 0)), lw.Slot((0, 0, 1)), lw.Free(), lw.Distance(),
        )
    ):  # fmt: skip
        body = scene.add_body(lw.Box(0.2, 0.1, 0.3), position=(2 * k + 0.1, 0, -0.3), angular_velocity=(1, 20, 2))
        scene.add_joint(kind, scene.ground, body, at=(2 * k, 0, 0), name=f"joint{k}")
    body = scene.add_body(lw.Box(0.2, 0.1, 0.3), position=(0.1, 5, 0))
    limited = {"limits": (-0.1, 0.2), "drive": lw.PD(stiffness=3.0, damping=0.1, target=0.3)}
    scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, body, at=(0, 5, 0), name="driven", **limited)
    last = scene.add_body(lw.Sphere(0.1), position=(0.4, 5, 0))
    scene.add_joint(lw.Ball(), body, last, at=(0.2, 5, 0), name="spring", spring=lw.Spring(stiffness=2.0))
    return scene


SCENES = {
    "short chain": (chain, 1e-2),
    "long chain": (lambda: chain(130), 1e-3),
    "turned chain": (upright, 1e-3),
    "joints and laws": (laws, 1e-3),
    "tree": (lambda: find("willow").build(), 1e-3),
    "net": (lambda: find("net").build(), 1e-3),
    "loop": (lambda: find("four-bar").build(), 1e-3),
}


def moment(sim):
    return {
        "time": sim.time,
        "residual": sim.residual,
        "energy": np.array([getattr(sim.energy, e) for e in ("kinetic", "potential", "elastic", "contact")]),
        "coordinates": np.concatenate([*sim.joint_coordinates, []]),
        "poses": sim.poses,
        "rates": sim.pose_rates,
    }


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", SCENES)
def test_a_frame_says_what_the_simulation_says(name, dtype, tmp_path):
    build, dt = SCENES[name]
    scene = build()
    sim = lw.Simulation(scene, lw.MABD(), dt=dt, state_dir=None)
    same = lw.Simulation(scene, lw.MABD(), dt=dt, state_dir=None)
    with sim.record(tmp_path / "run.lwr", every=7, dtype=dtype):
        sim.step(3)
        sim.step(200)
    recording = lw.Recording(tmp_path / "run.lwr")
    assert recording.frames["step"].tolist() == list(range(0, 204, 7))
    for index, frame in enumerate(recording):
        said = moment(same)
        assert frame.time == said["time"]
        # sums in another order, and a residual of positions that are rounded
        size = np.abs(said["poses"]).max()
        np.testing.assert_allclose(frame.residual, said["residual"], rtol=1e-6, atol=1e-14 * (1 + size))
        energy = np.array([frame.energy.kinetic, frame.energy.potential, frame.energy.elastic, frame.energy.contact])
        np.testing.assert_allclose(energy, said["energy"], rtol=1e-11, atol=1e-12 * np.abs(said["energy"]).max())
        rounding = 0.0 if dtype == np.float64 else EPS32
        np.testing.assert_array_equal(recording.frames["poses"][index], said["poses"].astype(dtype))
        np.testing.assert_array_equal(recording.frames["rates"][index], said["rates"].astype(dtype))
        turns = np.concatenate([*frame.joint_coordinates, []])
        np.testing.assert_allclose(turns, said["coordinates"], rtol=0, atol=1e-12 + 20 * rounding)
        one_by_one = np.concatenate([*(recording.coordinates_of(j)[index] for j in range(recording.joints)), []])
        np.testing.assert_allclose(one_by_one, turns, rtol=0, atol=1e-14 + rounding)
        same.step(7)


def test_recording_changes_nothing(tmp_path):
    plain, filmed = (lw.Simulation(chain(), lw.MABD(), dt=1e-3, state_dir=None) for _ in range(2))
    plain.step(500)
    with filmed.record(tmp_path / "run.lwr", every=3):
        filmed.step(500)
    assert np.array_equal(plain.poses, filmed.poses)
    assert np.array_equal(plain.pose_rates, filmed.pose_rates)


@pytest.mark.parametrize("every", [1, 3, 64, 65, 200])
def test_frames_come_at_the_same_steps_however_the_steps_are_asked_for(every, tmp_path):
    files = []
    for k, asked in enumerate(([1] * 450, [450], [7, 300, 143], [64] * 7 + [2])):
        sim = lw.Simulation(chain(9), lw.MABD(), dt=1e-3, state_dir=None)
        sim.step(5)
        files.append(tmp_path / f"{k}.lwr")
        with sim.record(files[-1], every=every):
            for count in asked:
                sim.step(count)
    assert lw.Recording(files[0]).frames["step"].tolist() == list(range(5, 456, every))
    assert len({path.read_bytes() for path in files}) == 1


def test_a_callback_in_every_step_records_the_same(tmp_path):
    files = [tmp_path / "watched.lwr", tmp_path / "plain.lwr"]
    for path, watched in zip(files, (True, False), strict=True):
        sim = lw.Simulation(chain(9), lw.MABD(), dt=1e-3, state_dir=None)
        if watched:
            sim.on_step(lambda _: None)
        with sim.record(path, every=4):
            sim.step(41)
    assert files[0].read_bytes() == files[1].read_bytes()


def test_a_run_that_fails_leaves_the_frames_before(tmp_path):
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 1, 1))
    pin = scene.add_joint(lw.Hinge((0, 1, 0)), scene.ground, body, at=(0, 0, 0.5), drive=lw.Force(0.0))
    sim = lw.Simulation(scene, lw.MABD(), dt=1e-3, state_dir=None)
    with sim.record(tmp_path / "run.lwr", every=2):
        sim.step(11)
        sim.set_force(pin, 1e250)
        with pytest.raises(lw.SimulationError):
            sim.step(20)
    last = sim.steps
    recording = lw.Recording(tmp_path / "run.lwr")
    assert 11 <= last < 31
    assert recording.frames["step"].tolist() == list(range(0, last + 1, 2))
    assert np.isfinite(recording.energies).all()
