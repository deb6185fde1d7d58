"""The pages: every example runs as it stands and prints what is shown, and everything they point at is there."""

from __future__ import annotations

import doctest
import importlib
import re
import subprocess

import pytest
from page_examples import ROOT, blocks_of, examples_of

import linkwork as lw

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
EXAMPLES = [example for page in PAGES for example in examples_of(page)]
MODULES_WITH_EXAMPLES = ["scene.scene", "scene.shapes", "scene.compound", "simulation.simulation", "record.reader"]


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
    assert {block.language for block in blocks} <= {"python", "sh", "text"}
    text = "".join(block.body for block in blocks if block.language == "text")
    assert not re.search(r"^(linkwork|python) ", text, re.M), "show commands in a block that runs: ```sh"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_make_targets_on_a_page_exist(page):
    for target in re.findall(r"\bmake ([a-z-]+)\b", " ".join(re.findall(r"`[^`]+`", page.read_text("utf-8")))):
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


@pytest.mark.parametrize("module", MODULES_WITH_EXAMPLES)
def test_examples_in_docstrings_run(module, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {name: getattr(lw, name) for name in lw.__all__} | {"lw": lw}
    failed, tried = doctest.testmod(importlib.import_module(f"linkwork.{module}"), extraglobs=names)
    assert (failed, tried > 0) == (0, True)
