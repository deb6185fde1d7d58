"""The command: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from free_flight import FreeFlight
from PIL import Image

import linkwork as lw
from linkwork import cli
from linkwork.gallery import find, names

ROOT = Path(__file__).parents[1]

FALLING = """
import linkwork as lw
TITLE = "Two balls fall"
SIZE = "2 bodies"
SECONDS = 0.5
def scene(count: int = 2, height: float = 1.0, label: str = "ball") -> lw.Scene:
    scene = lw.Scene()
    scene.add_bodies(lw.Sphere(0.1), [(k, 0, height) for k in range(count)], name=label)
    return scene
def number(sim, watched):
    return "height, m", float(sim.positions[0, 2])
"""


@pytest.fixture
def linkwork(monkeypatch, capsys, tmp_path):
    """The command in this process, with free flight for a method: (exit code, stdout, stderr)."""
    monkeypatch.setitem(vars(lw), "MABD", FreeFlight)
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["linkwork", *map(str, arguments)])
        code = 0
        try:
            cli.main()
        except SystemExit as done:
            code = done.code or 0
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return call


@pytest.fixture
def falling(tmp_path):
    path = tmp_path / "falling.py"
    path.write_text(FALLING)
    return path


def in_a_shell(*arguments, cwd):
    return subprocess.run(
        [sys.executable, "-m", "linkwork", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        timeout=300,
        check=False,
    )


def test_every_gallery_file_is_listed_and_complete(linkwork):
    code, out, _ = linkwork("list")
    assert code == 0
    assert "pendulum" in names()
    for name in names():
        scene = find(name)
        assert name in out
        assert scene.title
        assert scene.size
        assert scene.seconds > 0
        assert scene.dt > 0
        assert hasattr(lw, scene.method_name)


def test_list_as_json(linkwork):
    code, out, _ = linkwork("list", "--json")
    rows = {row["name"]: row for row in json.loads(out)}
    assert code == 0
    assert rows["pendulum"]["parameters"] == {"length": 1.0, "width": 0.05}


def test_run_prints_a_summary(linkwork, falling):
    code, out, _ = linkwork("run", falling)
    assert code == 0
    for words in ("Two balls fall", "bodies, joints", "2, 0", "50 of 0.01 s", "real time", "height, m"):
        assert words in out


def test_run_as_json_prints_nothing_else(linkwork, falling):
    code, out, err = linkwork("run", falling, "--json", "--dt", "0.005", "--set", "height=2", "--size", "3")
    summary = json.loads(out)
    assert (code, err) == (0, "")
    assert (summary["bodies"], summary["joints"], summary["steps"]) == (3, 0, 100)
    assert summary["residual"] == 0.0
    assert summary["ms_per_step"] > 0.0
    assert summary["realtime_factor"] == pytest.approx(5.0 / summary["ms_per_step"])
    assert -0.05 < summary["energy_drift"] < 0.0
    assert summary["number"] == {"name": "height, m", "value": pytest.approx(2 - 9.81 / 8, abs=0.02)}


def test_a_run_cut_short_has_no_number(linkwork, falling):
    _, out, _ = linkwork("run", falling, "--json", "--seconds", "0.1")
    assert json.loads(out)["number"] is None


def test_every_says_how_often_a_frame_is_recorded(linkwork, falling, tmp_path):
    code, _, err = linkwork("run", falling, "--record", "new/a.lwr", "--every", "7")
    assert code == 0, err
    assert lw.Recording(tmp_path / "new" / "a.lwr").stride == 7
    code, _, err = linkwork("run", falling, "--record", "a.lwr", "--every", "7", "--fps", "10")
    assert code == 2
    assert "--fps also says" in err


def test_run_writes_recording_and_animation(linkwork, falling, tmp_path):
    code, out, err = linkwork("run", falling, "--record", "a.lwr", "--html", "a.html", "--json")
    assert code == 0
    assert json.loads(out)["steps"] == 50
    assert "a.html" in err
    assert len(lw.Recording(tmp_path / "a.lwr")) == 17
    assert "<title>linkwork: falling</title>" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_run_writes_a_still_of_a_moment(linkwork, falling, tmp_path):
    code, out, _ = linkwork("run", falling, "--png", "a.png", "--at", "0.25", "--picture", "64x48")
    assert code == 0
    assert "a.png" in out
    assert Image.open(tmp_path / "a.png").size == (64, 48)
    assert not list(tmp_path.glob("*.lwr"))


def test_view_of_something_that_is_no_recording_ends_with_1(linkwork, tmp_path):
    code, _, err = linkwork("view", "missing.lwr")
    assert code == 1
    assert "there is no such recording" in err


def test_a_scene_is_found_by_the_beginning_of_its_name():
    assert find("pendul").name == "pendulum"
    with pytest.raises(lw.SceneError, match="no gallery scene 'nothing': it is none of"):
        find("nothing")


USAGE = {
    "no such scene": ["run", "nothing-like-this"],
    "no such file": ["run", "missing.py"],
    "no such option": ["run", "pendulum", "--fast"],
    "no such command": ["dance"],
    "dt of zero": ["run", "pendulum", "--dt", "0"],
    "negative time": ["run", "pendulum", "--seconds", "-1"],
    "nan": ["run", "pendulum", "--seconds", "nan"],
    "text for a number": ["run", "pendulum", "--dt", "fast"],
    "no such parameter": ["run", "pendulum", "--set", "colour=red"],
    "no value": ["run", "pendulum", "--set", "length"],
    "wrong type": ["run", "pendulum", "--set", "length=long"],
    "no folder": ["run", "pendulum", "--html", "nowhere/a.html"],
    "a moment without a still": ["run", "pendulum", "--at", "1"],
    "a moment after the end": ["run", "pendulum", "--png", "a.png", "--seconds", "1", "--at", "2"],
    "a size that is none": ["run", "pendulum", "--png", "a.png", "--picture", "large"],
    "live and a file": ["run", "pendulum", "--view", "--html", "a.html"],
    "no such port": ["run", "pendulum", "--view", "--port", "70000"],
    "check without a file": ["check", "missing.py"],
}


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_call_ends_with_2_and_says_why(linkwork, case):
    code, out, err = linkwork(*USAGE[case])
    assert (code, out) == (2, "")
    assert len(err) > 20
    assert "Traceback" not in err


@pytest.mark.parametrize("case", USAGE)
def test_a_wrong_call_says_why_in_json_too(linkwork, case):
    code, out, err = linkwork(*USAGE[case], "--json")
    assert code == 2
    assert len(json.loads(out)["error"]) > 20
    assert "Traceback" not in err


INVALID = {
    "not Python": ("def scene(:\n", "line 1"),
    "fails": ("import linkwork as lw\nx = 1 / 0\n", "line 2: ZeroDivisionError"),
    "no scene": ("x = 3\n", "no `scene`"),
    "needs a parameter": ("def scene(count): ...\n", "default for count"),
    "returns something else": ("def scene():\n    return 5\n", "lw.Scene"),
    "exits": ("import sys\nsys.exit(0)\n", "line 2: it calls sys.exit(0)"),
    "exits when built": ("import sys\ndef scene():\n    sys.exit('enough')\n", "calls sys.exit('enough')"),
    "fails when built": ("def scene():\n    return [][1]\n", "IndexError"),
    "empty": ("import linkwork as lw\nscene = lw.Scene()\n", "no bodies"),
    "bad body": (
        "import linkwork as lw\nscene = lw.Scene()\nscene.add_body(lw.Sphere(1), density=-1, name='stone')\n",
        'body "stone"',
    ),
}


@pytest.mark.parametrize("case", INVALID)
def test_an_invalid_scene_ends_with_1_and_says_what_is_wrong(linkwork, tmp_path, case):
    content, message = INVALID[case]
    (tmp_path / "broken.py").write_text(content)
    code, out, err = linkwork("check", "broken.py")
    assert (code, out) == (1, "")
    assert message in err
    assert "Traceback" not in err
    code, out, _ = linkwork("check", "broken.py", "--json")
    assert code == 1
    assert json.loads(out)["valid"] is False
    assert message in json.loads(out)["error"]


EXITING = (
    FALLING
    + """
import sys
def prepare(sim):
    sim.on_step(lambda sim: sys.exit(0) if sim.steps > 5 else None)
"""
)


@pytest.mark.parametrize("content", ["import sys\nsys.exit()\n", EXITING], ids=["when read", "in a callback"])
@pytest.mark.parametrize("json_wanted", [False, True])
def test_a_file_that_exits_does_not_end_the_run_in_silence(linkwork, tmp_path, content, json_wanted):
    (tmp_path / "exits.py").write_text(content)
    code, out, err = linkwork("run", "exits.py", *(["--json"] if json_wanted else []))
    assert code == 1
    assert "sys.exit" in err
    assert ("sys.exit" in json.loads(out)["error"]) if json_wanted else not out


PRINTING = 'print("hello from the top")\n' + FALLING.replace(
    "    scene = lw", '    print("from scene()")\n    scene = lw'
)


@pytest.mark.parametrize("command", ["run", "check"])
def test_what_a_file_prints_does_not_spoil_the_json(linkwork, tmp_path, command):
    (tmp_path / "prints.py").write_text(PRINTING)
    code, out, err = linkwork(command, "prints.py", "--json")
    assert code == 0
    assert json.loads(out)
    assert "hello from the top" in err
    assert "from scene()" in err
    assert "from scene()" in linkwork(command, "prints.py")[1]


def test_a_valid_scene_is_summed_up(linkwork, falling, tmp_path):
    code, out, _ = linkwork("check", falling)
    assert (code, "2 moving, 0 fixed, 0 kinematic" in out) == (0, True)
    (tmp_path / "ready.py").write_text(
        "import linkwork as lw\nscene = lw.Scene()\na = scene.add_body(lw.Sphere(1))\n"
        "scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, a)\n"
    )
    code, out, _ = linkwork("check", "ready.py", "--json")
    assert code == 0
    assert json.loads(out) == {
        "valid": True,
        "bodies": {"moving": 1, "fixed": 0, "kinematic": 0},
        "joints": {"hinge": 1},
    }


def test_a_failed_run_ends_with_1_and_leaves_a_state(linkwork, falling, tmp_path, monkeypatch):
    monkeypatch.setitem(vars(lw), "MABD", lambda: FreeFlight(fails_at=7))
    code, out, err = linkwork("run", falling, "--json")
    assert code == 1
    assert "step 7" in json.loads(out)["error"]
    assert "step 7" in err
    assert [path.suffix for path in tmp_path.iterdir() if path.suffix == ".lw"] == [".lw"]


def test_the_command_works_from_a_shell_and_starts_quickly(tmp_path):
    first = in_a_shell("run", "pendulum", "--json", cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    begin = time.perf_counter()
    second = in_a_shell("run", "pendulum", "--json", cwd=tmp_path)
    elapsed = time.perf_counter() - begin
    assert second.returncode == 0, second.stderr
    assert second.stderr == ""
    summary = json.loads(second.stdout)
    assert summary["residual"] < 1e-8
    assert summary["number"]["value"] == pytest.approx(1.933939, rel=2e-3)
    # 4 s on a quiet machine; the tests may share theirs.
    assert elapsed < 8.0
    assert in_a_shell("run", "nothing", cwd=tmp_path).returncode == 2


def commands():
    """The parts of the command: name and parameters."""
    return [(name, part.params) for name, part in typer.main.get_command(cli.app).commands.items()]


@pytest.mark.parametrize(("name", "parameters"), commands(), ids=[name for name, _ in commands()])
def test_the_reference_has_a_section_of_every_command_with_all_its_options(name, parameters):
    page = (ROOT / "docs/reference/command.md").read_text("utf-8")
    section = page.partition(f"## `linkwork {name}`\n")[2].partition("\n## ")[0]
    options = [option for each in parameters for option in each.opts if option.startswith("--")]
    assert section
    assert [option for option in options if not re.search(rf"{option}\b", section)] == []
