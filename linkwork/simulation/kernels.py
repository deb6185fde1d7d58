"""Keeps warp quiet, and says what is going on while kernels are compiled for the first time."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

__all__ = ["CompileNotice", "quiet_warp"]

EXPECTED = "10 s to a minute"  # a single body to an elastic tree


class CompileNotice:
    """Wraps warp's compiler of CPU kernels: one line on stderr when it is first called."""

    def __init__(self, compile_kernels: Callable[..., Any]) -> None:
        self._compile = compile_kernels
        self.seconds = 0.0
        self.modules = 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Compile one module of kernels."""
        if not self.modules:
            print(
                f"linkwork: compiling kernels (once, {EXPECTED}; kept for later runs) ...",
                file=sys.stderr,
                flush=True,
            )
        start = time.perf_counter()
        try:
            return self._compile(*args, **kwargs)
        finally:
            self.modules += 1
            self.seconds += time.perf_counter() - start


@contextlib.contextmanager
def _stderr_closed() -> Iterator[None]:
    """Nothing reaches stderr, not even from native code: warp warns there about machines without a GPU."""
    sys.stderr.flush()
    try:
        kept = os.dup(2)
    except OSError:
        yield
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


@functools.cache
def quiet_warp() -> CompileNotice | None:
    """Silence warp's banner and its lines about loaded modules, and announce compilation; does so once.

    Returns the notice, or None when this version of warp compiles in another place (then nothing is announced).
    """
    import warp

    warp.config.log_level = warp.LOG_WARNING
    with _stderr_closed():
        warp.init()
    build: Any = getattr(getattr(warp, "_src", None), "build", None)
    if not hasattr(build, "build_cpu"):
        return None
    notice = CompileNotice(build.build_cpu)
    build.build_cpu = notice
    return notice
