"""Runs the gallery and writes its pages and pictures in docs/gallery anew:

    make pictures                                       all scenes, about a quarter of an hour
    .venv/bin/python docs/gallery.py willow pear        some of them
    .venv/bin/python docs/gallery.py --pages            pages from the numbers already there, without running anything

Nothing in the pages is timed or random, so the same code gives the same pages.
"""

from __future__ import annotations

import inspect
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import linkwork as lw
from linkwork.gallery import GalleryScene, find, names

HERE = Path(__file__).resolve().parent / "gallery"
SOURCES = Path(lw.__file__).resolve().parent / "gallery"
NUMBERS = HERE / "numbers.json"
SIZE = (960, 540)
COLORS = 192


@dataclass(frozen=True)
class Measured:
    """What a run of a scene with its own parameters came to.

    Attributes:
        bodies, joints: how many there are.
        steps: steps taken.
        residual: largest joint violation in the end, m or rad.
        number: name of the scene's number.
        value: its value.
    """

    bodies: int
    joints: int
    steps: int
    residual: float
    number: str
    value: float


def measure(scene: GalleryScene, picture: Path) -> Measured:
    """Run a scene as long as it says, and paint it on the way."""
    sim = lw.Simulation(scene.build(), scene.method(), dt=scene.dt, state_dir=None)
    watched = scene.prepare(sim)
    sim.run(scene.shown_at, progress=False)
    paint(sim, scene, picture)
    sim.step(sim.steps_for(scene.seconds) - sim.steps)
    number = scene.number(sim, watched)
    assert number is not None
    return Measured(sim.model.bodies, sim.model.joints, sim.steps, sim.residual, number[0], number[1])


def paint(sim: lw.Simulation, scene: GalleryScene, picture: Path) -> None:
    """A still in few enough colours for a small file."""
    from PIL import Image

    from linkwork.view import still

    still(sim, picture, size=SIZE, direction=scene.seen_from)
    Image.open(picture).quantize(COLORS, Image.Quantize.MAXCOVERAGE).save(picture, optimize=True)


def source_of(scene: GalleryScene) -> Path:
    """The scene's file."""
    return SOURCES / f"{scene.name.replace('-', '_')}.py"


def command(scene: GalleryScene) -> str:
    """How to run it and watch it."""
    return f"linkwork run {scene.name} --html {scene.name}.html"


def sentences(text: str | None) -> str:
    """A docstring as Markdown: words between backquotes stay, line ends within a paragraph go."""
    paragraphs = inspect.cleandoc(text or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


def page(scene: GalleryScene, measured: Measured) -> str:
    """The page of a scene."""
    code = source_of(scene).read_text(encoding="utf-8")
    module = sys.modules[f"linkwork.gallery.{source_of(scene).stem}"]
    rows = [
        ("method", f"`lw.{scene.method_name}()`"),
        ("size", scene.size),
        ("bodies, joints", f"{measured.bodies:,}, {measured.joints:,}"),
        ("time", f"{scene.seconds:g} s in {measured.steps:,} steps of {1e3 * scene.dt:g} ms"),
        ("largest joint violation in the end", f"{measured.residual:.0e} m or rad"),
        (f"**{measured.number}**", f"**{measured.value:.6g}**"),
    ]
    table = "\n".join(f"| {name} | {value} |" for name, value in rows)
    parameters = " ".join(f"`--set {name}={value}`" for name, value in scene.parameters.items() if value != "")
    return f"""# {scene.name}

{scene.title}.

![{scene.title}](pictures/{scene.name}.png)

*At {scene.shown_at:g} s. Painted by `docs/gallery.py`.*

Run it: `{command(scene)}`

{sentences(module.__doc__)}

## Its number

| | |
|---|---|
{table}

{sentences(module.number.__doc__)}

## Its parameters

{sentences(module.scene.__doc__)}

As they are by default: {parameters}

## Its code

`linkwork/gallery/{source_of(scene).name}`:

```python
{code}```
"""


def index(scenes: list[GalleryScene], measured: dict[str, Measured]) -> str:
    """The page that shows them all."""
    parts = [
        f"""## [{scene.name}]({scene.name}.md)

[![{scene.title}](pictures/{scene.name}.png)]({scene.name}.md)

{scene.title}. {scene.size}; {measured[scene.name].number}: {measured[scene.name].value:.6g}.

Run it: `{command(scene)}`
"""
        for scene in scenes
    ]
    return f"""# Gallery

Every scene is one short file that builds the mechanism, and has one number that a test compares with a truth from
outside. `linkwork list` shows them all, `linkwork run NAME` runs one. The pictures and numbers here are made by
`make pictures`.

{chr(10).join(parts)}"""


def main(arguments: list[str]) -> None:
    """Measure what was asked for, then write all pages."""
    (HERE / "pictures").mkdir(parents=True, exist_ok=True)
    kept = json.loads(NUMBERS.read_text(encoding="utf-8")) if NUMBERS.exists() else {}
    measured = {name: Measured(**values) for name, values in kept.items() if name in names()}
    scenes = [find(name) for name in names()]
    wanted = [] if arguments == ["--pages"] else arguments or names()
    for name in wanted:
        scene = find(name)
        measured[scene.name] = measure(scene, HERE / "pictures" / f"{scene.name}.png")
        print(f"{scene.name}: {measured[scene.name]}", flush=True)
        NUMBERS.write_text(json.dumps({each: asdict(measured[each]) for each in sorted(measured)}, indent=1) + "\n")
    if missing := [scene.name for scene in scenes if scene.name not in measured]:
        sys.exit(f"not measured yet: {', '.join(missing)}")
    for scene in scenes:
        (HERE / f"{scene.name}.md").write_text(page(scene, measured[scene.name]), encoding="utf-8")
    (HERE / "index.md").write_text(index(scenes, measured), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
