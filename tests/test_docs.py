"""The pages: every example runs as it stands and prints what is shown, and everything they point at is there."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys

import pytest
from page_examples import ROOT, blocks_of, examples_of

import linkwork as lw
from linkwork.scene.joints import CATALOGUE

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
EXAMPLES = [example for page in PAGES for example in examples_of(page)]
MODULES_WITH_EXAMPLES = ["scene.scene", "scene.compound", "simulation.simulation"]


def test_the_readme_has_an_example():
    assert any(example.page.name == "README.md" for example in EXAMPLES)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_an_example_runs_as_it_stands(example, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    example.run(tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_blocks_that_do_not_run_say_so(page):
    blocks = list(blocks_of(page))
    assert page.read_text("utf-8").count("\n```") == 2 * len(blocks)
    assert {block.language for block in blocks} <= {"python", "sh", "text", "diff"}
    text = "".join(block.body for block in blocks if block.language == "text")
    assert not re.search(r"^(linkwork|python) ", text, re.M), "show commands in a block that runs: ```sh"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_make_targets_on_a_page_exist(page):
    shown = "".join(block.body for block in blocks_of(page) if block.language == "text")
    named = re.findall(r"^make ([a-z-]+)", shown, re.M) + re.findall(r"`make ([a-z-]+)", page.read_text("utf-8"))
    for target in named:
        subprocess.run(["make", "--dry-run", target], cwd=ROOT, capture_output=True, check=True)


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_inside_the_repository_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_files_named_on_a_page_exist(page):
    named = re.findall(r"`((?:linkwork|tests|docs)/[\w/.-]+)`", page.read_text("utf-8"))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_has_all_its_tables(page):
    for name, table in re.findall(r"<!-- table: (.+?) -->\n(.*?)<!-- end -->", page.read_text("utf-8"), re.S):
        assert table.count("\n|") >= 3, f"{name}: run docs/tables.py"


@pytest.mark.parametrize("name", lw.__all__)
def test_every_public_name_is_in_the_reference(name):
    reference = "\n".join(page.read_text("utf-8") for page in sorted((ROOT / "docs/reference").glob("*.md")))
    assert re.search(rf"^::: linkwork\.{name}$", reference, re.M)


@pytest.mark.parametrize("row", CATALOGUE, ids=lambda row: row.id.name.lower())
def test_the_reference_names_the_coordinates_of_every_joint_in_their_order(row):
    reference = (ROOT / "docs/reference/joints.md").read_text("utf-8")
    name = row.id.name.title().replace("_In_", "In").replace("_", "")
    cells = re.search(rf"^\| `{name}` \| (.*?) \|", reference, re.M)
    assert cells
    assert tuple(re.findall(r"`(.+?)`", cells[1])) == row.coordinates


@pytest.mark.parametrize("module", MODULES_WITH_EXAMPLES)
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {name: getattr(lw, name) for name in lw.__all__} | {"lw": lw}
    failed, tried = doctest.testmod(importlib.import_module(f"linkwork.{module}"), extraglobs=names)
    assert (failed, tried > 0) == (0, True)


TRIAL = """
import numpy as np
from oracles import test_every_joint as every
from linkwork.scene.joints import PointInPlane

every.KINDS["point in plane"] = (lambda: PointInPlane(every.A), [every.SPRING, every.SPRING, None, None, None])
for between in (False, True):
    every.test_a_joint_under_load_stays_closed_for_ten_seconds("point in plane", between)
    every.test_a_joint_moves_as_an_independent_integration_says("point in plane", between)
"""


@pytest.mark.slow
def test_the_joint_that_the_page_adds_moves_as_an_independent_integration_says(tmp_path):
    shutil.copytree(ROOT / "linkwork", tmp_path / "linkwork", ignore=shutil.ignore_patterns("__pycache__"))
    for block in blocks_of(ROOT / "docs/extending/joint.md"):
        if block.language == "diff":
            _apply(block.body, tmp_path)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT / "tests")])}
    done = subprocess.run([sys.executable, "-c", TRIAL], cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def _apply(diff, folder):
    """Make the changes of a diff whose hunks are found by their lines alone."""
    for part in re.split(r"^--- .*\n\+\+\+ b/", diff, flags=re.M)[1:]:
        name, *hunks = re.split(r"^@@ .*\n|\n(?=@@ )", part, flags=re.M)
        file = folder / name.strip()
        text = file.read_text("utf-8")
        for hunk in filter(None, hunks):
            lines = hunk.splitlines()
            old = "".join(line[1:] + "\n" for line in lines if not line.startswith("+"))
            new = "".join(line[1:] + "\n" for line in lines if not line.startswith("-"))
            assert text.count(old) == 1, f"{name}: {old}"
            text = text.replace(old, new)
        file.write_text(text, "utf-8")
