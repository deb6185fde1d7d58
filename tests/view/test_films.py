"""Films: as long as the motion, and something moves in them."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest
from free_flight import FreeFlight

import linkwork as lw
from linkwork.view import film
from linkwork.view.films import find_encoder

try:
    ENCODER = find_encoder()
except lw.LinkworkError:
    ENCODER = None
needs_encoder = pytest.mark.skipif(ENCODER is None, reason="no ffmpeg on this machine to encode with")
SIZE = (96, 64)


def recorded(tmp_path, steps=30):
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_bodies(lw.Box(0.5, 0.5, 0.5), [(0, 0, 0), (0, 0, 2)], velocities=(2, 0, 0))
    sim = lw.Simulation(scene, FreeFlight(), dt=1 / 30)
    with sim.record(tmp_path / "run.lwr", fps=30):
        sim.step(steps)
    return tmp_path / "run.lwr"


@needs_encoder
def test_a_film_lasts_as_long_as_the_motion_and_shows_it(tmp_path):
    done = []
    made = film(
        recorded(tmp_path), tmp_path / "a.mp4", fps=10, size=SIZE, progress=lambda now, total: done.append((now, total))
    )
    assert (made.frames, done[-1]) == (11, (11, 11))
    assert made.size == (tmp_path / "a.mp4").stat().st_size > 1000
    raw = subprocess.run(
        [ENCODER, "-loglevel", "error", "-i", tmp_path / "a.mp4", "-f", "rawvideo", "-pix_fmt", "rgb24", "-"],
        capture_output=True,
        check=True,
    ).stdout
    pictures = np.frombuffer(raw, np.uint8).reshape(-1, SIZE[1], SIZE[0], 3).astype(np.int64)
    assert len(pictures) == 11
    columns = [np.nonzero(picture[..., 2] - picture[..., 0] > 25)[1].mean() for picture in pictures]
    assert columns[-1] - columns[0] > 20
    assert (np.diff(columns) > 0).all()


@needs_encoder
def test_a_film_that_cannot_be_written_says_why_and_leaves_nothing(tmp_path):
    with pytest.raises(lw.LinkworkError, match="the film cannot be written"):
        film(recorded(tmp_path, steps=2), tmp_path / "nowhere" / "a.mp4", size=SIZE)


def test_an_odd_size_and_a_rate_of_nothing_are_refused(tmp_path):
    with pytest.raises(lw.LinkworkError, match="must be even in both directions, got 95 x 64"):
        film(recorded(tmp_path, steps=2), tmp_path / "a.mp4", size=(95, 64))
    with pytest.raises(lw.LinkworkError, match="fps of a film must be a positive number"):
        film(recorded(tmp_path, steps=2), tmp_path / "a.mp4", fps=0)


def test_without_an_encoder_the_remedy_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(lw.LinkworkError, match=r"pip install 'linkwork\[film\]'"):
        find_encoder()
