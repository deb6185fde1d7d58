"""A hook of mkdocs: puts pages that a script generates into the navigation when they are there."""

from __future__ import annotations

from pathlib import Path
from typing import Any

GENERATED = {"Gallery": "gallery"}


def on_config(config: Any) -> Any:
    """Add each generated folder that has an index, behind the methods."""
    pages = Path(config["docs_dir"])
    for title, folder in GENERATED.items():
        if (pages / folder / "index.md").is_file():
            others = sorted(page.relative_to(pages).as_posix() for page in (pages / folder).rglob("*.md"))
            others.remove(f"{folder}/index.md")
            config["nav"].insert(4, {title: [f"{folder}/index.md", *others]})
    return config
