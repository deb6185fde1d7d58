"""Finds gallery scenes, and scenes in files of the user, and reads what they declare."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError, SceneError

if TYPE_CHECKING:
    from linkwork.scene import Scene
    from linkwork.simulation import Method, Simulation

__all__ = ["GalleryScene", "find", "load_file", "names", "reason_of"]

OWN_MODULES = ("registry",)


@dataclass(frozen=True)
class GalleryScene:
    """A scene and how to run it; see the package's text for the parts of a scene file.

    Attributes:
        name: as on the command line.
        title: what it shows.
        method_name: class of linkwork to run it with.
        size: how large it is by default.
        seconds: simulated time shown, s.
        dt: time step, s.
        shown_at: simulated time of its picture, s.
        seen_from: direction (3,) from the bodies to the eye in its picture; None is the usual one.
        parameters: parameters of `build` with their defaults, the size first.
    """

    name: str
    title: str
    method_name: str
    size: str
    seconds: float
    dt: float
    shown_at: float
    seen_from: tuple[float, float, float] | None
    parameters: Mapping[str, Any]
    _scene: Callable[..., Scene]
    _prepare: Callable[[Simulation], object] | None
    _number: Callable[[Simulation, object], tuple[str, float]] | None

    def build(self, **parameters: Any) -> Scene:
        """The scene.

        Raises:
            SceneError: a parameter does not exist, or what was built is not a scene.
            LinkworkError: building it failed.
        """
        for name in parameters:
            if name not in self.parameters:
                known = ", ".join(self.parameters) or "none"
                raise SceneError(f"scene {self.name!r} has no parameter {name!r}; it has: {known}")
        from linkwork.scene import Scene

        try:
            scene = self._scene(**parameters)
        except LinkworkError:
            raise
        except (Exception, SystemExit) as error:
            raise LinkworkError(f"scene {self.name!r}: scene() failed: {reason_of(error)}") from error
        if not isinstance(scene, Scene):
            raise SceneError(f"scene {self.name!r}: scene() must return a lw.Scene, not {type(scene).__name__}")
        return scene

    def method(self, *, published: bool = False) -> Method:
        """Default settings of the method, or those of its paper."""
        cls = getattr(importlib.import_module("linkwork"), self.method_name)
        settings: Method = cls.as_published() if published else cls()
        return settings

    def prepare(self, simulation: Simulation) -> object:
        """Register the scene's callbacks; the result belongs to `number`."""
        return self._prepare(simulation) if self._prepare else None

    def number(self, simulation: Simulation, watched: object) -> tuple[str, float] | None:
        """The scene's number after a run, with its name, or None when it has none."""
        return self._number(simulation, watched) if self._number else None

    def parameter(self, name: str, text: str) -> Any:
        """A parameter's value from the text of a command line.

        Raises:
            SceneError: the parameter does not exist, or the text is not of its default's type.
        """
        if name not in self.parameters:
            known = ", ".join(self.parameters) or "none"
            raise SceneError(f"scene {self.name!r} has no parameter {name!r}; it has: {known}")
        default = self.parameters[name]
        if isinstance(default, str):
            return text
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = text
        wanted = type(default)
        if wanted is float and type(value) is int:
            value = float(value)
        if default is not None and type(value) is not wanted:
            raise SceneError(f"{name}={text}: scene {self.name!r} wants {wanted.__name__}, such as {name}={default}")
        return value


def names() -> list[str]:
    """Names of all gallery scenes, without importing them."""
    package = importlib.import_module("linkwork.gallery")
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    return sorted(name.replace("_", "-") for name in modules if name not in OWN_MODULES and name[0] != "_")


def find(name: str) -> GalleryScene:
    """The gallery scene of a name, or of the beginning of exactly one name.

    Raises:
        SceneError: there is no such scene.
    """
    known = names()
    wanted = name.replace("_", "-")
    matches = [wanted] if wanted in known else [other for other in known if other.startswith(wanted)]
    if len(matches) != 1:
        what = f"could be {', '.join(matches)}" if matches else f"is none of: {', '.join(known)}"
        raise SceneError(f"there is no gallery scene {name!r}: it {what}")
    return _read(importlib.import_module(f"linkwork.gallery.{matches[0].replace('-', '_')}"), matches[0])


def load_file(path: Path) -> GalleryScene:
    """The scene that a Python file defines: `scene`, a function without required parameters or a lw.Scene.

    Raises:
        LinkworkError: the file cannot be run, or defines no scene; the message says why and where.
    """
    spec = importlib.util.spec_from_file_location(f"linkwork_scene_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise LinkworkError(f"{path}: only Python files (.py) can be read as scenes")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except SceneError as error:
        raise SceneError(f"{path}: {error}") from error
    except SyntaxError as error:
        raise LinkworkError(f"{path}, line {error.lineno}: {error.msg}") from error
    except (Exception, SystemExit) as error:
        raise LinkworkError(f"{path}{_line(error, path)}: {reason_of(error)}") from error
    finally:
        sys.path.remove(str(path.resolve().parent))
    return _read(module, path.stem, path)


def reason_of(error: BaseException) -> str:
    """What went wrong in code of the user, in one line."""
    if isinstance(error, SystemExit):
        return f"it calls sys.exit({error.code!r}); leave that out, or put it under if __name__ == '__main__'"
    return f"{type(error).__name__}: {error}"


def _line(error: BaseException, path: Path) -> str:
    """Where in the file an error came from."""
    trace, line = error.__traceback__, ""
    while trace is not None:
        if Path(trace.tb_frame.f_code.co_filename) == path.absolute():
            line = f", line {trace.tb_lineno}"
        trace = trace.tb_next
    return line


def _read(module: ModuleType, name: str, path: Path | None = None) -> GalleryScene:
    from linkwork.scene import Scene

    where = path or name
    build = getattr(module, "scene", None)
    if isinstance(build, Scene):
        built = build

        def build() -> Scene:
            return built

    if not callable(build):
        raise SceneError(f"{where}: defines no `scene`; give it a function scene() that returns a lw.Scene")
    parameters = inspect.signature(build).parameters
    required = [each.name for each in parameters.values() if each.default is each.empty]
    if required:
        raise SceneError(f"{where}: scene() must have a default for {', '.join(required)}")
    seconds = float(getattr(module, "SECONDS", 5.0))
    return GalleryScene(
        name=name,
        title=getattr(module, "TITLE", ""),
        method_name=getattr(module, "METHOD", "MABD"),
        size=getattr(module, "SIZE", ""),
        seconds=seconds,
        dt=float(getattr(module, "DT", 1e-2)),
        shown_at=float(getattr(module, "SHOWN_AT", 0.5 * seconds)),
        seen_from=getattr(module, "SEEN_FROM", None),
        parameters={each.name: each.default for each in parameters.values()},
        _scene=build,
        _prepare=getattr(module, "prepare", None),
        _number=getattr(module, "number", None),
    )
