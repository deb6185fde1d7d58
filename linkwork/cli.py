"""The `linkwork` command. Exit codes: 0 done, 1 the scene or the simulation failed, 2 it was called wrongly."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkwork.errors import LinkworkError, SceneError
from linkwork.gallery import GalleryScene, find, load_file, names, reason_of
from linkwork.recording_commands import export, plot

if TYPE_CHECKING:
    from linkwork.simulation.summary import Summary

__all__ = ["app", "main"]

app = typer.Typer(
    name="linkwork",
    help="Multibody dynamics with joints that do not drift.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)

Port = Annotated[int, typer.Option(help="Port of the page; 0 takes any free one.", min=0, max=65535)]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON and nothing else on stdout.")]

FPS = 30.0  # of recordings and films

# What typer raises for a wrong call: ClickException, which it does not export.
WrongCall: Any = typer.BadParameter.__mro__[2]


def main() -> None:
    """Entry point of the command."""
    as_json = "--json" in sys.argv[1:]
    try:
        if code := app(standalone_mode=not as_json):
            sys.exit(code)
    except WrongCall as error:
        _report(error.format_message(), as_json)
        sys.exit(error.exit_code)
    except LinkworkError as error:
        _report(str(error), as_json)
        sys.exit(1)
    except KeyboardInterrupt:
        print("linkwork: interrupted", file=sys.stderr)
        sys.exit(130)


def _report(error: str, as_json: bool, **more: Any) -> None:
    """Say what went wrong, on stderr for people and on stdout for programs."""
    print(f"linkwork: {error}", file=sys.stderr)
    if as_json:
        print(json.dumps(more | {"error": error}, indent=2))


@contextlib.contextmanager
def _user_code(as_json: bool) -> Iterator[None]:
    """Code of the user runs in here: it may print, but not into the JSON, and it does not end the command."""
    with contextlib.redirect_stdout(sys.stderr if as_json else sys.stdout):
        try:
            yield
        except SystemExit as error:
            raise LinkworkError(f"the scene's file ended the run: {reason_of(error)}") from error


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"linkwork {version('linkwork')}")
        raise typer.Exit


@app.callback()
def _options(
    _: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


@app.command("list")
def list_scenes(as_json: AsJson = False) -> None:
    """Show the gallery: name, what it shows, method, size, parameters."""
    scenes = [find(name) for name in names()]
    if as_json:
        rows = [
            {
                "name": scene.name,
                "title": scene.title,
                "method": scene.method_name,
                "size": scene.size,
                "seconds": scene.seconds,
                "dt": scene.dt,
                "parameters": dict(scene.parameters),
            }
            for scene in scenes
        ]
        print(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table("name", "what it shows", box=None, pad_edge=False)
    for scene in scenes:
        table.add_row(scene.name, scene.title)
        settings = (f"{name}={value if value != '' else '...'}" for name, value in scene.parameters.items())
        table.add_row("", Text(f"{scene.size}; lw.{scene.method_name}; {' '.join(settings)}", style="dim"))
    Console().print(table)


@app.command()
def run(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A gallery scene, or a Python file that defines one.")],
    seconds: Annotated[float | None, typer.Option(help="Simulated time, s.")] = None,
    dt: Annotated[float | None, typer.Option(help="Time step, s.")] = None,
    size: Annotated[str | None, typer.Option(help="Value of the scene's first parameter.")] = None,
    parameters: Annotated[
        list[str] | None, typer.Option("--set", metavar="PARAMETER=VALUE", help="A parameter of the scene.")
    ] = None,
    published: Annotated[bool, typer.Option("--published", help="The method's settings as in its paper.")] = False,
    html: Annotated[Path | None, typer.Option(help="Write an animation to this file.", dir_okay=False)] = None,
    png: Annotated[Path | None, typer.Option(help="Write a still to this file.", dir_okay=False)] = None,
    at: Annotated[float | None, typer.Option(help="Moment of the still, simulated s; the end by default.")] = None,
    mp4: Annotated[Path | None, typer.Option(help="Write a film to this file.", dir_okay=False)] = None,
    picture_size: Annotated[
        str, typer.Option("--picture", metavar="WxH", help="Size of the still and the film, pixels.")
    ] = "1280x720",
    view: Annotated[bool, typer.Option("--view", help="Run it live on a page for the browser, until Ctrl-C.")] = False,
    port: Port = 8080,
    record: Annotated[Path | None, typer.Option(help="Write a recording to this file.", dir_okay=False)] = None,
    fps: Annotated[float | None, typer.Option(help="Frames per simulated second; 30 by default.", min=0.001)] = None,
    every: Annotated[
        int | None, typer.Option(help="Steps from one recorded frame to the next, instead of --fps.", min=1)
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Run a scene, show how it goes, and sum it up."""
    with _user_code(as_json):
        scene = _find(name)
    chosen = _parameters(scene, size, parameters or [])
    if view and (html or png or mp4 or record or as_json or seconds is not None):
        raise typer.BadParameter(
            "a live page runs until Ctrl-C and writes no file; leave the other away", param_hint="--view"
        )
    duration = scene.seconds if seconds is None else seconds
    if not 0.0 <= duration < math.inf:
        raise typer.BadParameter(f"{duration} is not a length of time", param_hint="--seconds")
    if dt is not None and not 0.0 < dt < math.inf:
        raise typer.BadParameter(f"{dt} is not a time step", param_hint="--dt")
    if at is not None and (png is None or not 0.0 <= at <= duration):
        reason = "no still is wanted; add --png FILE" if png is None else f"the run ends at {duration:g} s"
        raise typer.BadParameter(f"there is no still to take at {at} s: {reason}", param_hint="--at")
    if every is not None and fps is not None:
        raise typer.BadParameter("--fps also says how often a frame is kept; give one of them", param_hint="--every")
    pixels = _pixels(picture_size)
    if mp4 is not None:
        from linkwork.view.films import find_encoder

        find_encoder()
    for target in (html, png, mp4):
        if target is not None and not target.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {target.absolute().parent}")

    from linkwork.simulation import Simulation
    from linkwork.simulation.summary import run_measured

    with _user_code(as_json):
        simulation = Simulation(scene.build(**chosen), scene.method(published=published), dt or scene.dt)
        watched = scene.prepare(simulation)
        if view:
            simulation.view(port=port)
            return
        shown = [path for path in (html, png, mp4) if path]
        with _recorded(simulation, record, bool(shown), fps, every) as recording_file:
            summary = run_measured(simulation, duration, progress=None)
            number = _number(scene, simulation, watched)
            if html is not None:
                _animate(recording_file, html, scene)
            if png is not None:
                from linkwork.view import still

                still(recording_file, png, at=at, size=pixels)
            if mp4 is not None:
                _film(recording_file, mp4, pixels, fps or FPS)
    if as_json:
        print(json.dumps(asdict(summary) | {"scene": scene.name, "number": number}, indent=2))
    else:
        _print_summary(scene, summary, number, [*shown, *([record] if record else [])])


@app.command("view")
def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording, such as run --record writes.")],
    port: Port = 8080,
) -> None:
    """Replay a recording on a page for the browser, with a time slider, until Ctrl-C."""
    from linkwork.view.replay import Replay

    with Replay(file, port=port) as page:
        page.run()


@app.command()
def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A Python file that defines `scene` or scene().")],
    as_json: AsJson = False,
) -> None:
    """Say whether a scene is valid and what it holds; exit code 1 and the reason when it is not."""
    if not file.is_file():
        raise typer.BadParameter(f"there is no file {file}", param_hint="FILE")
    try:
        with _user_code(as_json):
            model = load_file(file).build().build()
    except LinkworkError as error:
        _report(str(error), as_json, valid=False)
        raise typer.Exit(1) from error
    from linkwork.scene.joints import JointId

    moving, fixed, prescribed = (int((model.motion == motion).sum()) for motion in (0, 1, 2))
    kinds = {kind.name.lower(): int((model.joint_kind == kind).sum()) for kind in JointId}
    kinds = {kind: count for kind, count in kinds.items() if count}
    if as_json:
        counts = {"moving": moving, "fixed": fixed, "kinematic": prescribed}
        print(json.dumps({"valid": True, "bodies": counts, "joints": kinds}, indent=2))
        return
    joints = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
    print(f"{file}: valid. Bodies: {moving} moving, {fixed} fixed, {prescribed} kinematic. Joints: {joints}.")


@app.command()
def bench(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="Suites to run, or `peers` for all with other engines; default all."),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only small rows: a first look, in about two minutes.")
    ] = False,
    only: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Only rows whose label begins with this, such as an engine.")
    ] = None,
    listing: Annotated[bool, typer.Option("--list", help="Show the suites and run none.")] = False,
    save: Annotated[Path | None, typer.Option(help="Write the JSON to this file too.", dir_okay=False)] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables to this file.", dir_okay=False)] = None,
    into: Annotated[
        Path | None, typer.Option(help="Write the short tables between the marks of this page.", dir_okay=False)
    ] = None,
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            "--from", metavar="FILE", help="Measure nothing: take what --save wrote.", dir_okay=False, exists=True
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure side by side with other engines; a missed target is a result, not an error."""
    from linkwork.bench import Case, Suite, chosen_names, find_suite, machine, own_failures, part, run_suite
    from linkwork.bench import overview as bench_overview
    from linkwork.bench import report as bench_report
    from linkwork.bench import suite_names as all_names

    chosen: list[str] = []
    for name in names or all_names():
        if not chosen_names(name):
            known = ", ".join(all_names())
            raise typer.BadParameter(f"there is no suite {name!r}: it is none of: {known}", param_hint="NAME")
        chosen += [each for each in chosen_names(name) if each not in chosen]
    for target in (save, markdown, into):
        if target is not None and not target.absolute().parent.is_dir():
            raise typer.BadParameter(f"there is no folder {target.absolute().parent}")
    if into is not None and not into.is_file():
        raise typer.BadParameter(f"there is no page {into}", param_hint="--into")
    from rich.console import Console

    # a pipe has no width of its own; a table must not be folded in it
    console = Console(width=None if sys.stdout.isatty() else 200)
    suites = [part(find_suite(name), quick=quick, label=only or "") for name in chosen]
    suites = [suite for suite in suites if suite.cases]
    if listing:
        for suite in suites:
            console.print(f"{suite.name:18} {suite.title} ({len(suite.cases)} rows)", highlight=False)
        return

    def announce(suite: Suite, case: Case) -> None:
        print(f"linkwork: bench: {suite.name}: {case.label}", file=sys.stderr)

    used = machine()
    if measured:
        contents = [json.loads(file.read_text(encoding="utf-8")) for file in measured]
        try:
            results, used = bench_overview.read_results(contents)
        except ValueError as error:
            raise LinkworkError(f"bench: {error}") from error
        results = [result for result in results if result.suite.name in chosen]
    else:
        results = []
    if not as_json:
        console.print(bench_report.header(used) + "\n", highlight=False)
    for suite in [] if measured else suites:
        results.append(run_suite(suite, announce))
        if save is not None:  # a long run that is interrupted has not been for nothing
            save.write_text(json.dumps(bench_report.as_json(results, used)) + "\n", encoding="utf-8")
        if not as_json:
            bench_report.print_result(results[-1], console)
    if measured and not as_json:
        for result in results:
            bench_report.print_result(result, console)
    content = json.dumps(bench_report.as_json(results, used), indent=2, allow_nan=False)
    if as_json:
        print(content)
    if save is not None:
        save.write_text(content + "\n", encoding="utf-8")
    if markdown is not None:
        markdown.write_text(bench_report.as_markdown(results, used), encoding="utf-8")
    if into is not None:
        try:
            bench_overview.write_between_marks(into, bench_overview.overview(results, used))
        except ValueError as error:
            raise LinkworkError(f"bench: {error}") from error
    if failures := own_failures(results):
        # the JSON is out already and says so row by row
        _report(f"bench: linkwork failed in {len(failures)} of its own rows: {'; '.join(failures)}", as_json=False)
        raise typer.Exit(1)


app.command()(plot)
app.command()(export)


def _find(name: str) -> GalleryScene:
    if name.endswith(".py"):
        if not Path(name).is_file():
            raise typer.BadParameter(f"there is no file {name}", param_hint="NAME")
        return load_file(Path(name))
    try:
        return find(name)
    except SceneError as error:
        raise typer.BadParameter(str(error), param_hint="NAME") from error


def _parameters(scene: GalleryScene, size: str | None, settings: list[str]) -> dict[str, Any]:
    given = dict(setting.partition("=")[::2] for setting in settings)
    for setting in settings:
        if "=" not in setting:
            raise typer.BadParameter(f"{setting!r} is not PARAMETER=VALUE", param_hint="--set")
    if size is not None:
        if not scene.parameters:
            raise typer.BadParameter(f"scene {scene.name!r} has no parameters", param_hint="--size")
        given.setdefault(next(iter(scene.parameters)), size)
    try:
        return {name: scene.parameter(name, text) for name, text in given.items()}
    except SceneError as error:
        raise typer.BadParameter(str(error), param_hint="--set") from error


@contextlib.contextmanager
def _recorded(
    simulation: Any, record: Path | None, shown: bool, fps: float | None, every: int | None
) -> Iterator[Path]:
    """Record while the block runs, into a file that is thrown away when only pictures are wanted."""
    if record is None and not shown:
        yield Path()
        return
    with tempfile.TemporaryDirectory(prefix="linkwork-") as folder:
        path = record or Path(folder) / "run.lwr"
        with simulation.record(path, fps=fps if every or fps else FPS, every=every):
            yield path


def _animate(recording_file: Path, target: Path, scene: GalleryScene) -> None:
    from linkwork.record import Recording
    from linkwork.view import write_html

    animation = write_html(Recording(recording_file), target, title=f"linkwork: {scene.name}")
    size = animation.size / 1e6
    print(
        f"linkwork: wrote {target} ({animation.frames} frames, bodies: {animation.shown}, {size:.1f} MB)",
        file=sys.stderr,
    )


def _film(recording_file: Path, target: Path, size: tuple[int, int], fps: float) -> None:
    from rich.console import Console
    from rich.progress import Progress

    from linkwork.view import film

    with Progress(console=Console(stderr=True), disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task("painting the film")
        made = film(
            recording_file,
            target,
            fps=fps,
            size=size,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    print(f"linkwork: wrote {target} ({made.frames} pictures, {made.size / 1e6:.1f} MB)", file=sys.stderr)


def _pixels(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdigit() and height.isdigit()):
        raise typer.BadParameter(f"{text!r} is not a size such as 1280x720", param_hint="--picture")
    return int(width), int(height)


def _number(scene: GalleryScene, simulation: Any, watched: object) -> dict[str, Any] | None:
    """The scene's number; a run too short to have one gives none."""
    if simulation.time < scene.seconds * (1.0 - 1e-9):
        return None
    number = scene.number(simulation, watched)
    return None if number is None else {"name": number[0], "value": number[1]}


def _print_summary(scene: GalleryScene, summary: Summary, number: dict[str, Any] | None, files: list[Path]) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "", box=None, show_header=False, pad_edge=False)
    rows = {
        "scene": f"{scene.name}: {scene.title}" if scene.title else scene.name,
        "bodies, joints": f"{summary.bodies:,}, {summary.joints:,}",
        "steps": f"{summary.steps:,} of {summary.dt:g} s",
        "per step": f"{summary.ms_per_step:.3g} ms ({summary.iterations:.2g} iterations)",
        "speed": f"{summary.realtime_factor:.3g} x real time",
        "largest joint violation": f"{summary.residual:.1e} m or rad",
        "change of energy": f"{summary.energy_drift:+.1e} of the energy in motion",
    }
    if number is not None:
        rows[number["name"]] = f"{number['value']:.6g}"
    for label, value in rows.items():
        table.add_row(label, value)
    for path in files:
        table.add_row("written", str(path))
    Console().print(table)


if __name__ == "__main__":
    main()
