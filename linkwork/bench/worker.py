"""`python -m linkwork.bench.worker ORDER`: runs one task, described in JSON, and answers with one line of JSON."""

from __future__ import annotations

import contextlib
import importlib
import json
import math
import os
import sys
import time
from typing import Any

__all__ = ["answer", "main"]

# as engines say it that raise something else than MemoryError
OUT_OF_MEMORY = ("bad_alloc", "allocate memory", "unable to allocate", "out of memory")


def main() -> None:
    """Run the task that the first argument names; only its answer goes to stdout."""
    order = json.loads(sys.argv[1])
    _confine(order["memory"])
    # engines print what they like: their stdout becomes stderr, also for what is written from C
    stdout = os.dup(1)
    os.dup2(2, 1)
    line = json.dumps(answer(order["task"], order["parameters"]), allow_nan=False)
    sys.stdout.flush()
    with os.fdopen(stdout, "w") as out:
        print(line, file=out)


def answer(task: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Values of a task, with the failure in words or the module that is missing, if any.

    `share` is how much of a core the task had; a number much below one says that others ran on it too.
    """
    module, _, function = task.partition(":")
    missing, failure, values = None, None, {}
    wall, busy = time.perf_counter(), _busy()
    try:
        values = dict(getattr(importlib.import_module(module), function)(**parameters))
        failure = values.pop("failure", None)
    except ModuleNotFoundError as error:
        missing = error.name or str(error)
    except MemoryError:
        failure = "ran out of memory"
    except Exception as error:
        failure = f"{type(error).__name__}: {error}".splitlines()[0]
        if any(words in failure.lower() for words in OUT_OF_MEMORY):
            failure = f"ran out of memory ({failure})"
    bad = [key for key, value in values.items() if isinstance(value, float) and not math.isfinite(value)]
    for key in bad:
        failure = failure or f"{key} is {values[key]}"
        values[key] = None
    share = (_busy() - busy) / max(time.perf_counter() - wall, 1e-9)
    return {"values": values, "failure": failure, "missing": missing, "share": share}


def _busy() -> float:
    """Processor time of this process and those it started, s."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _confine(memory: float) -> None:
    """One core, and an allocation that fails before the machine runs out of memory; where the system can do it."""
    if hasattr(os, "sched_setaffinity"):
        # a machine's first core takes most of its interrupts
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (int(memory), int(memory)))


if __name__ == "__main__":
    main()
