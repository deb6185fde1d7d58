"""Runs one case in a process of its own: one core, one thread, bounded time and memory."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import tempfile

from linkwork.bench.cases import Case, Row
from linkwork.bench.machine import available_memory, interpreter

__all__ = ["measure"]

ONE_THREAD = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")
MOST_MEMORY = 8e9  # bytes a child may take; less where less is free


def measure(case: Case) -> Row:
    """The row of a case. Never raises for what the measured engine does."""
    python = interpreter(case.peer)
    beside_us = case.peer.module if case.peer is not None and not case.peer.environment else None
    if python is None or (beside_us is not None and importlib.util.find_spec(beside_us) is None):
        return Row(case, "missing", _remedy(case))
    order = {
        "task": case.task,
        "parameters": dict(case.parameters),
        "memory": min(MOST_MEMORY, 0.8 * available_memory()),
    }
    command = [python, "-m", "linkwork.bench.worker", json.dumps(order)]
    # stderr goes to a file: a pipe nobody reads would stop a talkative engine
    with tempfile.TemporaryFile() as said:
        try:
            done = subprocess.run(
                command,
                stdout=subprocess.PIPE,
                stderr=said,
                env=os.environ | dict.fromkeys(ONE_THREAD, "1"),
                timeout=case.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Row(case, "failed", f"took longer than {case.timeout:g} s and was stopped")
        said.seek(0)
        words = said.read().decode(errors="replace").strip().splitlines()
    return _read(case, done.returncode, done.stdout.decode(errors="replace"), words)


def _read(case: Case, code: int, out: str, said: list[str]) -> Row:
    if code != 0:
        last = f": {said[-1]}" if said else ""
        return Row(case, "failed", f"{_death(code)}{last}")
    try:
        answer = json.loads(out)
    except ValueError:
        return Row(case, "failed", f"answered with something that is not JSON: {out[:80]!r}")
    if answer["missing"] is not None:
        return Row(case, "missing", _remedy(case, answer["missing"]))
    if answer["failure"] is not None:
        return Row(case, "failed", answer["failure"], answer["values"], share=answer["share"])
    return Row(case, "ok", "", answer["values"], share=answer["share"])


def _remedy(case: Case, module: str = "") -> str:
    if case.peer is None:
        return f"needs the module {module}, which is not installed: pip install linkwork[bench]"
    if case.peer.environment:
        return f"{case.peer.name} is not installed: make bench puts it into .venv-peers/{case.peer.environment}"
    return f"{case.peer.name} is not installed: pip install linkwork[{case.peer.extra}]"


def _death(code: int) -> str:
    """A negative code is the signal that ended the process."""
    if code == -signal.SIGKILL:
        return "killed by the system (signal 9), most likely out of memory"
    if code < 0:
        return f"crashed ({signal.Signals(-code).name})"
    return f"ended with exit code {code}"
