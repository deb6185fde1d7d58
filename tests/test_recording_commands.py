"""`linkwork plot` and `linkwork export`: what they write, what they say, and their exit codes."""

from __future__ import annotations

import sys

import pytest
from io_recorded import recorded

from linkwork import cli


@pytest.fixture
def linkwork(monkeypatch, capsys, tmp_path):
    """The command in this process, in a folder with a recording: (exit code, stdout, stderr)."""
    monkeypatch.chdir(tmp_path)
    recorded(tmp_path / "run.lwr", steps=6)

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


def test_plot_writes_a_picture_beside_the_recording(linkwork, tmp_path):
    code, out, err = linkwork("plot", "run.lwr", "energy", "slider.angle")
    assert (code, out, err) == (0, "", "linkwork: wrote run.png\n")
    assert (tmp_path / "run.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize("ending", ["png", "svg", "pdf", "html"])
def test_plot_writes_where_it_is_told(linkwork, tmp_path, ending):
    assert linkwork("plot", "run.lwr", "residual", "--out", f"a.{ending}", "--title", "Gaps")[0] == 0
    assert (tmp_path / f"a.{ending}").stat().st_size > 1000
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize("call", [("plot", "run.lwr"), ("plot", "run.lwr", "energy", "--list")])
def test_plot_lists_what_there_is(linkwork, tmp_path, call):
    code, out, _ = linkwork(*call)
    assert code == 0
    for name in (
        "4 frames, 0 to 0.06 s",
        "energy.total",
        "slider.travel",
        "balls[0..1].twist",
        "brick.position.{x,y,z}",
    ):
        assert name in out
    assert not (tmp_path / "run.png").exists()


@pytest.mark.parametrize("target", ["a.csv", "a.glb", "a.pvd", "a.vtk"])
def test_export_goes_by_the_ending(linkwork, tmp_path, target):
    code, out, err = linkwork("export", "run.lwr", target)
    assert (code, out) == (0, "")
    assert target in err
    assert (tmp_path / target).exists()


def test_export_writes_the_columns_asked_for(linkwork, tmp_path):
    assert linkwork("export", "run.lwr", "a.csv", "brick.speed")[0] == 0
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0] == "time [s],brick.speed [m/s]"
    assert len(lines) == 5


WRONG = {
    "no such ending": (2, ["export", "run.lwr", "a.obj"], ".glb"),
    "no folder": (2, ["export", "run.lwr", "nowhere/a.csv"], "there is no folder"),
    "names for a scene": (2, ["export", "run.lwr", "a.glb", "energy"], "only for .csv"),
    "thinning of a table": (2, ["export", "run.lwr", "a.csv", "--every", "2"], "only for .pvd"),
    "key frames of a table": (2, ["export", "run.lwr", "a.csv", "--fps", "2"], "only for .glb"),
    "no picture": (2, ["plot", "run.lwr", "energy", "--out", "a.gif"], ".png"),
    "no folder for a picture": (2, ["plot", "run.lwr", "energy", "--out", "nowhere/a.png"], "there is no folder"),
    "no such recording": (1, ["plot", "walk.lwr", "energy"], "there is no such recording"),
    "not a recording": (1, ["plot", "text.lwr", "energy"], "is not a recording"),
    "old recording": (1, ["plot", "old.lwr"], "another version"),
    "no such name": (1, ["plot", "run.lwr", "hinge.angle"], "slider.angle"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_call_says_why(linkwork, tmp_path, case):
    expected, call, message = WRONG[case]
    (tmp_path / "text.lwr").write_text("just a text, but a longer one")
    (tmp_path / "old.lwr").write_bytes(b"LWREC001" + bytes(100))
    code, out, err = linkwork(*call)
    assert (code, out) == (expected, "")
    assert message in " ".join(err.replace("│", " ").split())
    assert "Traceback" not in err
