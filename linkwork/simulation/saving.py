"""A simulation in one file: its model, its settings and its state."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.simulation.archive import read_archive, write_archive

if TYPE_CHECKING:
    from linkwork.model.model import Model
    from linkwork.scene.scene import Scene
    from linkwork.simulation.stepping import Method

__all__ = ["Saved", "read_saved", "write_saved"]


@dataclass(frozen=True)
class Saved:
    """What a file holds."""

    model: Model
    method: Method
    dt: float
    state: dict[str, NDArray[Any]]
    callbacks: int


def write_saved(path: str | os.PathLike[str], saved: Saved) -> None:
    """Write everything but the functions: trajectories are left out, callbacks are only counted."""
    tree = {
        "model": replace(saved.model, trajectories={}),
        "moved_by_trajectory": [saved.model.body_names(body) for body in saved.model.trajectories],
        "callbacks": saved.callbacks,
        "method": saved.method if _is_ours(saved.method) else None,
        "method_name": type(saved.method).__qualname__,
        "dt": saved.dt,
        "state": saved.state,
    }
    write_archive(path, tree, "simulation")


def _is_ours(method: object) -> bool:
    return type(method).__module__.split(".")[0] == "linkwork"


def read_saved(path: str | os.PathLike[str], scene: Scene | None, method: Method | None) -> Saved:
    """Read a file back, with trajectories from the scene; `method` replaces the one in the file.

    Raises:
        LinkworkError: the file is damaged, of another version, or needs its scene.
    """
    tree = read_archive(path, "simulation")
    model: Model = tree["model"]
    moved = tree["moved_by_trajectory"]
    if scene is not None and (len(scene.bodies), len(scene.joints)) != (model.bodies, model.joints):
        raise LinkworkError(
            f"{os.fspath(path)} holds {model.bodies} bodies and {model.joints} joints, the scene has "
            f"{len(scene.bodies)} and {len(scene.joints)}; give the scene the file was saved from"
        )
    if moved:
        if scene is None:
            raise LinkworkError(
                f"body {moved[0]!r} follows a trajectory, which is a Python function and not in the file; "
                "build the scene again and say lw.Simulation.load(path, scene)"
            )
        model = replace(model, trajectories=scene.build().trajectories)
    if tree["callbacks"]:
        warnings.warn(
            f"{os.fspath(path)}: saved with {tree['callbacks']} on_step callbacks, which are not in the file; "
            "register them again before stepping",
            stacklevel=3,
        )
    method = method or tree["method"]
    if method is None:
        name = tree["method_name"]
        raise LinkworkError(
            f"{os.fspath(path)} was saved with the method {name}, which is not linkwork's own; "
            f"say lw.Simulation.load(path, method={name}(...))"
        )
    return Saved(model, method, tree["dt"], tree["state"], tree["callbacks"])
