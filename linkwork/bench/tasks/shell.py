"""How long a user waits in front of a fresh interpreter."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

__all__ = ["run"]


def run(arguments: list[str]) -> dict[str, float]:
    """Wall seconds of `python ARGUMENTS`, median of three after a first run."""
    times = []
    for _ in range(4):
        begin = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
    return {"seconds": statistics.median(times[1:])}
