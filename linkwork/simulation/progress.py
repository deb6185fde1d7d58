"""Shows how far a run has come: simulated time, milliseconds per step, residual."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

__all__ = ["RunProgress", "run_progress"]


class RunProgress(Protocol):
    """Told after every chunk of steps."""

    def __call__(self, simulated: float, steps: int, residual: float) -> None:
        """`simulated` s of the run and `steps` steps are done; the joints are violated by `residual`."""


@contextmanager
def run_progress(seconds: float, wanted: bool | None) -> Iterator[RunProgress | None]:
    """A progress bar on stderr for a run of `seconds` simulated seconds, or None when it is not wanted.

    Args:
        wanted: None shows it only when stderr is a terminal.
    """
    if wanted is False or (wanted is None and not sys.stderr.isatty()):
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        BarColumn(bar_width=None),
        TextColumn("{task.completed:.2f} / {task.total:.2f} s simulated"),
        TextColumn("{task.fields[pace]}"),
        TextColumn("{task.fields[residual]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        task = bar.add_task("", total=seconds, pace="", residual="")
        start = time.perf_counter()

        def show(simulated: float, steps: int, residual: float) -> None:
            pace = 1e3 * (time.perf_counter() - start) / max(steps, 1)
            bar.update(task, completed=simulated, pace=f"{pace:.3g} ms/step", residual=f"residual {residual:.1e}")

        yield show
