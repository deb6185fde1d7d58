"""Recordings: what is written is read back, whatever happens to the process or the file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from free_flight import FreeFlight

import linkwork as lw
from linkwork.record.looks import looks_of


def falling_scene():
    scene = lw.Scene()
    a = scene.add_body(lw.Box(1, 2, 3), velocity=(1, 0, 0), angular_velocity=(1, 2, 3), name="brick")
    scene.add_body(mass=1, inertia=[1, 1, 1.5], com=(1, 0, 0), position=(5, 0, 0), angular_velocity=(0, 0, 1))
    scene.add_bodies(lw.Capsule(np.array([0.1, 0.2]), np.array([1.0, 2.0])), [(0, 3, 0), (0, 6, 0)], name="pins")
    scene.add_joint(lw.Cylindrical((0, 0, 1)), scene.ground, a)
    return scene


@pytest.fixture
def sim():
    return lw.Simulation(falling_scene(), FreeFlight(), dt=1e-2, state_dir=None)


def test_frames_are_what_the_simulation_said(sim, tmp_path):
    expected = [(sim.time, sim.positions, sim.quaternions, sim.energy)]
    with sim.record(tmp_path / "run.lwr", fps=50, dtype=np.float64) as recorder:
        assert recorder.stride == 2
        for _ in range(10):
            sim.step(2)
            expected.append((sim.time, sim.positions, sim.quaternions, sim.energy))
    recording = lw.Recording(tmp_path / "run.lwr")
    assert len(recording) == recorder.frames == 11
    for frame, (moment, positions, turns, energy) in zip(recording, expected, strict=True):
        assert frame.time == moment
        assert frame.energy == energy
        np.testing.assert_array_equal(frame.positions, positions)
        np.testing.assert_array_equal(frame.quaternions, turns)
        np.testing.assert_array_equal(frame.joint_coordinates[0], [2.0, 5.0])
    assert recording.times[-1] == expected[-1][0]
    assert recording.energies[-1].sum() == pytest.approx(expected[-1][3].total)
    np.testing.assert_array_equal(recording.positions_of(1)[-1], expected[-1][1][1])
    np.testing.assert_array_equal(recording.coordinates_of(0), np.tile([2.0, 5.0], (11, 1)))
    assert recording.body_names(3) == "pins[1]"


def test_steps_between_frames_stay_one_call(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr", fps=10):
        sim.step(35)
    assert sim._stepper.calls == [10, 10, 10, 5]
    assert lw.Recording(tmp_path / "run.lwr").frames["step"].tolist() == [0, 10, 20, 30]


def test_single_precision_is_the_default_and_close(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr"):
        sim.step(50)
    frame = lw.Recording(tmp_path / "run.lwr")[-1]
    np.testing.assert_allclose(frame.positions, sim.positions, rtol=1e-6, atol=1e-6)


def test_missing_folders_are_made(sim, tmp_path):
    with sim.record(tmp_path / "runs" / "today" / "run.lwr", every=5):
        sim.step(10)
    assert len(lw.Recording(tmp_path / "runs" / "today" / "run.lwr")) == 3


def test_nothing_is_written_after_the_end(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr") as recorder:
        sim.step(10)
    size = recorder.path.stat().st_size
    sim.step(10)
    recorder.close()
    assert recorder.path.stat().st_size == size


def test_two_recordings_at_once(sim, tmp_path):
    with sim.record(tmp_path / "fast.lwr", fps=100), sim.record(tmp_path / "slow.lwr", fps=25):
        sim.step(8)
    assert len(lw.Recording(tmp_path / "fast.lwr")) == 9
    assert len(lw.Recording(tmp_path / "slow.lwr")) == 3


def test_a_recording_can_be_read_while_it_grows(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr", fps=100):
        sim.step(5)
        assert len(lw.Recording(tmp_path / "run.lwr")) == 6
        sim.step(5)
        assert len(lw.Recording(tmp_path / "run.lwr")) == 11


def test_a_file_cut_at_any_byte_reads_up_to_its_last_whole_frame(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr", fps=100):
        sim.step(4)
    content = (tmp_path / "run.lwr").read_bytes()
    frame = lw.Recording(tmp_path / "run.lwr").frames.dtype.itemsize
    start = len(content) - 5 * frame
    cut = tmp_path / "cut.lwr"
    for length in sorted({*range(start, len(content) + 1, 37), start, start + frame - 1, start + frame}):
        cut.write_bytes(content[:length])
        recording = lw.Recording(cut)
        assert len(recording) == (length - start) // frame
        assert recording.frames["step"].tolist() == list(range(len(recording)))
    for length in (0, 7, 15, 16, 100):
        cut.write_bytes(content[:length])
        with pytest.raises(lw.LinkworkError, match=r"cut\.lwr.* is not a recording"):
            lw.Recording(cut)


def test_a_tail_of_zeros_is_not_taken_for_frames(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr", fps=100):
        sim.step(4)
    recording = lw.Recording(tmp_path / "run.lwr")
    with (tmp_path / "run.lwr").open("ab") as file:
        file.write(bytes(2 * recording.frames.dtype.itemsize + 5))
    assert len(lw.Recording(tmp_path / "run.lwr")) == 5


def test_what_is_asked_for_must_exist(sim, tmp_path):
    with sim.record(tmp_path / "run.lwr"):
        pass
    recording = lw.Recording(tmp_path / "run.lwr")
    assert len(recording) == 1
    with pytest.raises(IndexError, match="frame 1"):
        recording[1]
    with pytest.raises(lw.LinkworkError, match="body 4"):
        recording.positions_of(4)
    with pytest.raises(lw.LinkworkError, match="joint 1"):
        recording.coordinates_of(1)


def test_bodies_without_a_shape_look_like_the_box_of_their_moments():
    scene = lw.Scene()
    scene.add_body(mass=12.0, inertia=[5.0, 10.0, 13.0])
    (look,) = looks_of(scene.build())
    assert look.principal
    np.testing.assert_allclose(np.sort(look.scales[0]), [1.0, 2.0, 3.0], rtol=1e-6)


def test_shapes_of_many_sizes_are_one_mesh(sim):
    capsules = looks_of(sim.model)[1]
    assert capsules.bodies.tolist() == [2, 3]
    stretched = capsules.vertices[None] * capsules.scales[:, None]
    np.testing.assert_allclose(stretched.max(axis=1), [[0.1, 0.1, 0.6], [0.2, 0.2, 1.2]], rtol=1e-5)


KILLED = """
import sys
sys.path.insert(0, sys.argv[2])
from free_flight import FreeFlight
import linkwork as lw

scene = lw.Scene()
scene.add_bodies(lw.Box(1, 1, 1), [(2.0 * k, 0, 0) for k in range(200)])
sim = lw.Simulation(scene, FreeFlight(), dt=1e-2, state_dir=None)
with sim.record(sys.argv[1], fps=100):
    while True:
        sim.step()
"""


def test_a_recording_of_a_killed_process_reads_up_to_its_last_frame(tmp_path):
    path = tmp_path / "killed.lwr"
    tests = str(Path(__file__).parents[1])
    root = str(Path(__file__).parents[2])
    environment = os.environ | {"PYTHONPATH": root}
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(path), tests], env=environment)
    try:
        deadline = time.monotonic() + 60.0
        while time.monotonic() < deadline and not (path.exists() and path.stat().st_size > 500_000):
            assert process.poll() is None
            time.sleep(0.01)
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
    recording = lw.Recording(path)
    assert len(recording) >= 20
    assert recording.frames["step"].tolist() == list(range(len(recording)))
    fallen = 9.81 * 1e-4 * 0.5 * np.arange(len(recording)) * (np.arange(len(recording)) + 1)
    np.testing.assert_allclose(recording.positions_of(7)[:, 2], -fallen, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("path", ["missing.lwr", ".", None, 3])
def test_a_recording_that_is_not_there_is_refused(path, tmp_path):
    where = tmp_path / path if isinstance(path, str) else path
    with pytest.raises(lw.LinkworkError, match="there is no such recording"):
        lw.Recording(where)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"path": None}, "name of a file"),
        ({"path": "there/run.lwr"}, "cannot be written as a recording: .* choose another file"),
        ({"path": "."}, "cannot be written as a recording: Is a directory"),
        ({"fps": "often"}, "fps must be a positive number"),
        ({"fps": True}, "fps must be a positive number"),
        ({"dtype": "precise"}, "dtype of a recording"),
        ({"fps": 30, "every": 2}, "give one of them"),
        ({"every": 0}, "every must be a whole number of steps"),
        ({"every": 2.5}, "every must be a whole number of steps"),
    ],
)
def test_a_recording_that_cannot_be_made_is_refused(given, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").write_text("a file, not a folder")
    scene = lw.Scene()
    scene.add_body(lw.Box(1, 1, 1))
    sim = lw.Simulation(scene, FreeFlight(), dt=1e-2, state_dir=None)
    with pytest.raises(lw.LinkworkError, match=message):
        sim.record(**({"path": "run.lwr"} | given))
    sim.step()
