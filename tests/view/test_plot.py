"""Plots: what is drawn is what was recorded, on axes that say their units."""

from __future__ import annotations

import re
import subprocess
import sys
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from io_recorded import recorded
from PIL import Image

import linkwork as lw


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("plot") / "run.lwr")[0]


def test_quantities_are_stacked_by_unit(recording):
    figure = recording.plot("energy", "residual", "slider", "brick.position.z", "brick.velocity")
    labels = [axis.get_ylabel() for axis in figure.axes]
    assert labels == ["energy, J", "joint violation, m or rad", "travel / position, m", "angle, rad", "velocity, m/s"]
    assert figure.axes[-1].get_xlabel() == "time, s"
    assert figure.get_suptitle() == "run.lwr"


def test_the_lines_are_the_recorded_values(recording):
    figure = recording.plot("brick.position.z", title="A brick falls")
    (line,) = figure.axes[0].get_lines()
    np.testing.assert_array_equal(line.get_xdata(), recording.times)
    np.testing.assert_array_equal(line.get_ydata(), recording.positions_of(0)[:, 2])
    assert line.get_label() == "brick.position.z"
    assert figure.get_suptitle() == "A brick falls"


def test_parts_of_the_energy_that_stay_zero_are_drawn_only_when_named(recording):
    def drawn(*names):
        return [line.get_label() for line in recording.plot(*names).axes[0].get_lines()]

    assert drawn("energy") == ["energy.kinetic", "energy.potential", "energy.total"]
    assert drawn("energy.elastic") == ["energy.elastic"]


def test_without_names_the_whole_scene_and_the_first_joints_are_drawn(recording):
    drawn = [line.get_label() for axis in recording.plot().axes for line in axis.get_lines()]
    assert drawn[:5] == ["energy.kinetic", "energy.potential", "energy.total", "residual", "slider.travel"]


def test_a_picture_has_ink_in_it(recording, tmp_path):
    recording.plot("energy", path=tmp_path / "a.png")
    pixels = np.asarray(Image.open(tmp_path / "a.png").convert("RGB"), np.int64)
    assert pixels.shape[1] == 960
    # The first two of the palette.
    for colour in ((0x00, 0x72, 0xB2), (0xD5, 0x5E, 0x00)):
        assert (np.abs(pixels - colour).max(axis=2) < 12).sum() > 300


def test_drawings_and_pages_are_well_formed_and_need_nothing_from_outside(recording, tmp_path):
    recording.plot("residual", path=tmp_path / "a.svg")
    assert ET.parse(tmp_path / "a.svg").getroot().tag.endswith("svg")
    recording.plot("residual", path=tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert page.count("<svg") == 1
    assert not re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)""", page)


def test_plots_that_cannot_be_made_are_refused(recording, tmp_path):
    with pytest.raises(lw.LinkworkError, match=r"one of \.png, \.svg"):
        recording.plot("energy", path=tmp_path / "a.gif")
    with pytest.raises(lw.LinkworkError, match="No such file"):
        recording.plot("energy", path=tmp_path / "nowhere" / "a.png")
    with pytest.raises(lw.LinkworkError, match="there is no 'speed'"):
        recording.plot("speed")
    empty, _ = recorded(tmp_path / "empty.lwr", steps=0)
    empty.frames = empty.frames[:0]
    with pytest.raises(lw.LinkworkError, match="no whole frame"):
        empty.plot("energy")


def test_a_single_frame_is_drawn_as_dots(tmp_path):
    recording, _ = recorded(tmp_path / "run.lwr", steps=0)
    (line, *_) = recording.plot("brick.position").axes[0].get_lines()
    assert line.get_marker() == "o"


def test_reading_a_recording_does_not_load_the_plotting_library(recording):
    program = f"import sys, linkwork; linkwork.Recording({str(recording.path)!r}).array('energy')\n"
    program += "print('matplotlib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
