"""How long a user waits in front of a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from linkwork.bench.tasks.timing import median_seconds

__all__ = ["run"]


def run(arguments: list[str], warm_up: int = 1) -> dict[str, float]:
    """Seconds of `python ARGUMENTS`, median of three."""

    def call() -> None:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)

    return {"seconds": median_seconds(call, repeats=3, warm_up=warm_up)}
