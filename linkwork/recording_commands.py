"""The commands that read recordings: `linkwork plot` and `linkwork export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from linkwork.record import Recording

__all__ = ["export", "plot"]

RecordingFile = Annotated[
    Path, typer.Argument(metavar="FILE", help="A recording, as `linkwork run --record` writes it.")
]
EXPORTS = {
    ".csv": "a table of quantities over time",
    ".glb": "an animated glTF scene",
    ".pvd": "VTK files for ParaView",
    ".vtk": "the same, in a folder",
}


def plot(
    file: RecordingFile,
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Such as energy, residual, hinge.angle, bob.position.z."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="A .png, .svg, .pdf or .html file; FILE.png by default.", dir_okay=False)
    ] = None,
    title: Annotated[str | None, typer.Option(help="Title of the picture.")] = None,
    listing: Annotated[bool, typer.Option("--list", help="Show what can be plotted, and draw nothing.")] = False,
) -> None:
    """Draw quantities of a recording over time; without names, show what can be plotted."""
    from linkwork.record import Recording
    from linkwork.view.plot import ENDINGS

    recording = Recording(file)
    if listing or not names:
        _print_names(recording)
        return
    target = out or file.with_suffix(".png")
    if target.suffix.lower() not in ENDINGS:
        raise typer.BadParameter(f"{target} does not end in one of {', '.join(ENDINGS)}", param_hint="--out")
    _check_folder(target)
    recording.plot(*names, path=target, title=title)
    print(f"linkwork: wrote {target}", file=sys.stderr)


def export(
    file: RecordingFile,
    target: Annotated[
        Path, typer.Argument(metavar="TARGET", help="What to write: NAME.csv, NAME.glb, NAME.pvd or NAME.vtk.")
    ],
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="For .csv: which quantities, as in `linkwork plot`.")
    ] = None,
    every: Annotated[
        int | None, typer.Option(help="For .pvd and .vtk: frames from one file to the next; 1 by default.", min=1)
    ] = None,
    fps: Annotated[
        float | None, typer.Option(help="For .glb: key frames per simulated second; 30 by default.", min=0.001)
    ] = None,
) -> None:
    """Write a recording for other tools: .csv, .glb (glTF), .pvd or .vtk (VTK, ParaView)."""
    ending = target.suffix.lower()
    if ending not in EXPORTS:
        known = "; ".join(f"{name}: {what}" for name, what in EXPORTS.items())
        raise typer.BadParameter(f"{target} ends in none of these: {known}", param_hint="TARGET")
    for given, what, endings in (
        (names, "names of quantities", (".csv",)),
        (every, "--every", (".pvd", ".vtk")),
        (fps, "--fps", (".glb",)),
    ):
        if given and ending not in endings:
            raise typer.BadParameter(f"{what}: only for {' and '.join(endings)}, not {ending}")
    _check_folder(target)
    from linkwork.record import Recording

    recording = Recording(file)
    if len(recording) == 0:
        raise LinkworkError(f"{file}: the recording has no whole frame, so there is nothing to write")
    written = target
    if ending == ".csv":
        recording.to_csv(target, names)
    elif ending == ".glb":
        recording.to_gltf(target, fps=fps or 30.0)
    else:
        written = recording.to_vtk(target, every=every or 1)
    print(f"linkwork: wrote {written}", file=sys.stderr)


def _check_folder(target: Path) -> None:
    if not target.absolute().parent.is_dir():
        raise typer.BadParameter(f"there is no folder {target.absolute().parent}")


def _print_names(recording: Recording) -> None:
    moments = recording.times
    span = f", {moments[0]:g} to {moments[-1]:g} s" if len(moments) else ""
    print(f"{recording.path}: {len(recording)} frames{span}. Quantities:")
    rows = list(recording.columns.listing())
    width = max(len(name) for name, _ in rows)
    for name, unit in rows:
        print(f"  {name:{width}}  {unit}")
