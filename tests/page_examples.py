"""Reads the examples out of a Markdown page and runs them as a reader would: in order, in an empty folder.

A block of code begins an example of its own unless the line before it is `<!-- continues -->`. Kinds of blocks:

- `python` is executed; with `title="NAME"` it is also written to a file of that name;
- `sh` is executed by a shell in the same folder;
- `sh` after the line `<!-- until Ctrl-C -->` is one command that serves a page: it is ended as soon as it does;
- `text` is shown; after the line `<!-- prints -->` it is what the block before it has to print.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FENCE = re.compile(
    r"^(?P<mark>(?:<!-- (?:continues|prints|until Ctrl-C) -->\n)?)```(?P<head>.*)\n(?P<body>(?:.*\n)*?)```$", re.M
)
SHELL = f'set -e\nlinkwork() {{ "{sys.executable}" -m linkwork "$@"; }}\npython() {{ "{sys.executable}" "$@"; }}\n'


@dataclass(frozen=True)
class Block:
    """One fenced block: its language, its text, the file it is written to, and the mark before it."""

    language: str
    body: str
    file: str
    mark: str


@dataclass(frozen=True)
class Example:
    """Blocks of one page that belong together."""

    page: Path
    number: int
    blocks: list[Block] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}, example {self.number}"

    def run(self, folder: Path) -> None:
        """Run all blocks; raises what they raise, and AssertionError where they print something else than shown."""
        names: dict[str, Any] = {"__name__": "__main__"}
        printed = ""
        for block in self.blocks:
            if block.language == "text":
                shown = [line.rstrip() for line in block.body.splitlines()]
                assert [line.rstrip() for line in printed.splitlines()] == shown
                continue
            if block.file:
                (folder / block.file).write_text(block.body, encoding="utf-8")
            if block.language == "python":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(block.body, str(self.page), "exec", dont_inherit=True), names)
                printed = out.getvalue()
            elif "until Ctrl-C" in block.mark:
                _served(block.body, folder)
            else:
                printed = _in_a_shell(block.body, folder)


def _environment() -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "MPLBACKEND": "agg"}


def _served(command: str, folder: Path) -> None:
    """Run a command until it says where its page is, and press Ctrl-C."""
    program, *arguments = shlex.split(command, comments=True)
    head = {"linkwork": [sys.executable, "-m", "linkwork"], "python": [sys.executable]}[program]
    with subprocess.Popen(
        [*head, *arguments], cwd=folder, env=_environment(), stderr=subprocess.PIPE, text=True
    ) as page:
        assert page.stderr is not None
        said = ""
        for line in page.stderr:
            said += line
            if "Ctrl-C ends" in line:
                time.sleep(0.5)  # to read it
                page.send_signal(signal.SIGINT)
        assert page.wait(timeout=60) == 0, said
        assert "Ctrl-C ends" in said, said


def _in_a_shell(script: str, folder: Path) -> str:
    done = subprocess.run(
        ["sh", "-c", SHELL + script],
        cwd=folder,
        env=_environment(),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def blocks_of(page: Path) -> Iterator[Block]:
    """All fenced blocks of a page."""
    for found in FENCE.finditer(page.read_text("utf-8")):
        language, _, options = found["head"].partition(" ")
        title = re.search(r'title="(.+?)"', options)
        yield Block(language, found["body"], title[1] if title else "", found["mark"])


def examples_of(page: Path) -> list[Example]:
    """The examples of a page, in order."""
    examples: list[Example] = []
    for block in blocks_of(page):
        if block.language == "diff" or (block.language == "text" and not block.mark):
            continue
        if not block.mark or not examples:
            examples.append(Example(page, len(examples) + 1))
        examples[-1].blocks.append(block)
    return examples
