"""The pages of the gallery: every scene has one, with its picture, its command, its number and its code as it is."""

import json
import re
import shlex

import pytest
from page_examples import ROOT
from PIL import Image

from linkwork.gallery import find, names

PAGES = ROOT / "docs" / "gallery"
EACH = pytest.mark.parametrize("name", names())


@EACH
def test_page_shows_the_scene_s_code_as_it_is(name):
    source = ROOT / "linkwork" / "gallery" / f"{name.replace('-', '_')}.py"
    shown = re.search(r"^```python\n(.*?)^```$", (PAGES / f"{name}.md").read_text("utf-8"), re.M | re.S)[1]
    assert shown == source.read_text("utf-8"), "run `make pictures`, or `docs/gallery.py --pages` for the pages alone"


@EACH
def test_page_says_what_the_scene_says_of_itself(name):
    scene, page = find(name), (PAGES / f"{name}.md").read_text("utf-8")
    assert page.startswith(f"# {name}\n\n{scene.title}.\n")
    assert f"![{scene.title}](pictures/{name}.png)" in page
    assert f"At {scene.shown_at:g} s" in page
    assert f"{scene.seconds:g} s in {scene.seconds / scene.dt:,.0f} steps" in page


@EACH
def test_page_has_the_number_measured(name):
    measured = json.loads((PAGES / "numbers.json").read_text("utf-8"))[name]
    assert f"| **{measured['number']}** | **{measured['value']:.6g}** |" in (PAGES / f"{name}.md").read_text("utf-8")
    assert measured["residual"] < 1e-7


@EACH
def test_page_s_command_runs_the_scene(name):
    command = re.search(r"^Run it: `(.+)`$", (PAGES / f"{name}.md").read_text("utf-8"), re.M)[1]
    assert shlex.split(command)[:3] == ["linkwork", "run", name]


@EACH
def test_picture_is_sharp_small_and_not_empty(name):
    path = PAGES / "pictures" / f"{name}.png"
    assert path.stat().st_size < 200_000
    with Image.open(path) as picture:
        assert picture.size == (960, 540)
        dark = sum(count for count, shade in picture.convert("L").getcolors() if shade < 150)
    assert dark > 0.001 * 960 * 540


def test_index_shows_every_scene_and_no_other():
    index = (PAGES / "index.md").read_text("utf-8")
    assert re.findall(r"^## \[(.+?)\]", index, re.M) == names()
    assert sorted(page.stem for page in PAGES.glob("*.md")) == sorted([*names(), "index"])
