"""A hook of mkdocs: puts pages that a script generates into the navigation when they are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

FOLDERS = {"Gallery": "gallery"}
PAGES = {"Benchmarks": "benchmarks.md"}
BEHIND = 4  # start, tutorial, how to choose, methods


def on_config(config: Any) -> Any:
    """Add each generated folder that has an index, and each generated page, behind the methods."""
    pages = Path(config["docs_dir"])
    for title, folder in FOLDERS.items():
        if (pages / folder / "index.md").is_file():
            others = sorted(page.relative_to(pages).as_posix() for page in (pages / folder).rglob("*.md"))
            others.remove(f"{folder}/index.md")
            config["nav"].insert(BEHIND, {title: [f"{folder}/index.md", *others]})
    for title, page in PAGES.items():
        if (pages / page).is_file():
            config["nav"].insert(BEHIND, {title: page})
    return config
