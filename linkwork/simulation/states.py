"""Whether what a user wants to restore is a state of this simulation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import SceneError
from linkwork.simulation.stepping import State

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["checked_parts"]

STEPPER, LAWS = "stepper.", "laws."
LISTS = "list."  # within the stepper's part: arrays as long as there are contacts, say, all of one length


def checked_parts(state: Any, present: State, model: Model) -> State:
    """The stepper's part of a state, which must be like its present one.

    Raises:
        SceneError: the state is of another scene or method, or holds a value that is no number.
    """
    if not isinstance(state, Mapping):
        raise SceneError(f"restore needs what sim.state() returned, not {state!r}")
    given = {name.removeprefix(STEPPER): value for name, value in state.items() if name.startswith(STEPPER)}
    columns = {name: value for name, value in state.items() if name.startswith(LAWS)}
    differing = [
        name
        for name, value in present.items()
        if name not in given or not (_alike_rows if name.startswith(LISTS) else _alike)(given[name], value)
    ]
    if len({len(value) for name, value in given.items() if name.startswith(LISTS) and np.ndim(value)}) > 1:
        differing += [name for name in given if name.startswith(LISTS)]
    differing += sorted(given.keys() - present.keys())
    differing += [name for name, value in columns.items() if not _alike(value, _column(model, name))]
    if differing:
        raise SceneError(
            f"this state is of another scene or method (it differs in {', '.join(differing)}); "
            "restore it into a simulation of the scene it was taken from"
        )
    for name, value in (given | columns).items():
        # a law may be without bound, but nothing is NaN
        good = ~np.isnan(value) if name in columns else np.isfinite(value)
        if not np.all(good):
            raise SceneError(f"this state holds a value in {name} that is not a number; take it anew with sim.state()")
    return given


def _column(model: Model, name: str) -> Any:
    return getattr(model, name.removeprefix(LAWS), None)


def _alike_rows(given: Any, present: Any) -> bool:
    """Whether arrays have rows of one shape and one kind of numbers."""
    both = isinstance(given, np.ndarray) and isinstance(present, np.ndarray) and given.ndim > 0 and present.ndim > 0
    return both and given.shape[1:] == present.shape[1:] and given.dtype.kind == present.dtype.kind


def _alike(given: Any, present: Any) -> bool:
    """Whether arrays have one shape and one kind of numbers."""
    if not isinstance(given, np.ndarray | np.generic) or not isinstance(present, np.ndarray | np.generic):
        return False
    return given.shape == present.shape and given.dtype.kind == present.dtype.kind
