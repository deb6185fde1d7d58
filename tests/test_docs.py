"""The pages: every Python example runs as it stands, and every link inside the repository leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
EXAMPLES = [
    pytest.param(page, block, id=f"{name}, example {number}")
    for page, name in zip(PAGES, NAMES, strict=True)
    for number, block in enumerate(re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.M | re.S), 1)
]


def test_the_readme_has_an_example():
    assert any(example.values[0].name == "README.md" for example in EXAMPLES)


@pytest.mark.parametrize(("page", "block"), EXAMPLES)
def test_an_example_runs_as_it_stands(page, block, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(block, str(page), "exec"), {"__name__": "__main__"})


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_inside_the_repository_lead_somewhere(page):
    links = re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text("utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_a_page_has_all_its_tables(page):
    for name, table in re.findall(r"<!-- table: (.+?) -->\n(.*?)<!-- end -->", page.read_text("utf-8"), re.S):
        assert table.count("\n|") >= 3, f"{name}: run docs/tables.py"
