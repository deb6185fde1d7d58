"""Tasks that child processes of the tests run."""

from __future__ import annotations

import os
import signal
import sys
import time


def numbers(**values):
    return values


def environment(name):
    return {"value": os.environ.get(name)}


def falls(count):
    """A body that falls freely, with linkwork and without its kernels."""
    import numpy as np

    import linkwork as lw

    scene = lw.Scene()
    scene.add_bodies(lw.Sphere(0.1), np.zeros((count, 3)) + np.arange(count)[:, None])
    return {"bodies": scene.build().bodies}


def nan():
    return {"ms": float("nan"), "gap": 0.25}


def unstable():
    return {"ms": 3.0, "failure": "unstable after 0.40 s: NaN"}


def raises():
    raise ValueError("the joint is not there\nsecond line")


def without_module():
    import a_module_that_nobody_has  # noqa: F401


def out_of_memory():
    raise MemoryError


def crashes():
    os.kill(os.getpid(), signal.SIGSEGV)


def is_killed():
    os.kill(os.getpid(), signal.SIGKILL)


def exits():
    print("the last words", file=sys.stderr)
    os._exit(3)


def sleeps():
    time.sleep(60)


def chatters():
    print("a greeting on stdout")
    os.write(1, b"and one from below Python\n")
    return {"ms": 1.0}


def where():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
    return {"cores": cores, "threads": os.environ["OMP_NUM_THREADS"]}
