"""One file for a tree of linkwork's own objects, arrays and numbers: a zip of .npy arrays plus one JSON outline.

Nothing is pickled: reading a file builds objects of linkwork's classes from plain values and runs no code of the file.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import os
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError, SceneError

__all__ = ["read_archive", "write_archive", "write_archive_to"]

Arrays = dict[str, NDArray[Any]]
OUTLINE = "outline"


def write_archive(path: str | os.PathLike[str], tree: dict[str, Any], kind: str) -> None:
    """Write a tree under a temporary name and move it into place, so that no half-written file is left.

    Raises:
        SceneError: the file cannot be written.
        LinkworkError: the tree holds something that cannot be written, such as a function.
    """
    target = _path(path)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if not target.absolute().parent.is_dir():
            raise SceneError(f"{str(target)!r} cannot be written: there is no folder {target.absolute().parent}")
        with draft.open("wb") as file:
            write_archive_to(file, tree, kind)
        draft.replace(target)
    except OSError as error:
        raise SceneError(
            f"{str(target)!r} cannot be written: {error.strerror or error}; choose another file"
        ) from error
    finally:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)


def _path(path: str | os.PathLike[str]) -> Path:
    try:
        return Path(path)
    except TypeError as error:
        raise SceneError(f"a file is named by a string or path, not by {path!r}") from error


def write_archive_to(file: IO[bytes], tree: dict[str, Any], kind: str) -> None:
    """Write a tree to an open file.

    Raises:
        LinkworkError: the tree holds something that cannot be written, such as a function.
    """
    arrays: Arrays = {}
    outline = {"linkwork": kind, "version": 1, "tree": _pack(tree, "", arrays)}
    arrays[OUTLINE] = np.frombuffer(json.dumps(outline).encode(), dtype=np.uint8)
    np.savez(file, allow_pickle=False, **arrays)


def read_archive(source: str | os.PathLike[str] | IO[bytes], kind: str, *, name: str = "") -> dict[str, Any]:
    """Read a tree back from a file; `name` says in messages where an open one came from.

    Raises:
        SceneError: the file cannot be read.
        LinkworkError: the file is damaged or holds something else.
    """
    name = name or str(source)
    if not hasattr(source, "read"):
        source = _path(source)
    try:
        with np.load(source, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        outline = json.loads(arrays.pop(OUTLINE).tobytes())
        found, version = outline["linkwork"], outline["version"]
    except FileNotFoundError as error:
        raise SceneError(f"{name!r} cannot be read: there is no such file") from error
    except OSError as error:
        raise SceneError(f"{name!r} cannot be read: {error.strerror or error}") from error
    except (ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise LinkworkError(f"{name!r} is not a file that linkwork wrote, or it is damaged") from error
    if found != kind or version != 1:
        raise LinkworkError(f"{name!r} holds a {found} (format {version}), not a {kind} (format 1)")
    tree: dict[str, Any] = _unpack(outline["tree"], arrays)
    return tree


def _pack(value: Any, place: str, arrays: Arrays) -> Any:
    """Plain JSON for a value; arrays go to `arrays` under the place where they were found."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.generic):
        return _pack(value.item(), place, arrays)
    if isinstance(value, int | float):
        return float(value) if isinstance(value, float) else int(value)
    if isinstance(value, np.ndarray) and value.dtype != object:
        arrays[place] = value
        return {"array": place}
    if isinstance(value, list | tuple):
        items = [_pack(item, f"{place}.{i}", arrays) for i, item in enumerate(value)]
        return {"tuple" if isinstance(value, tuple) else "list": items}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _pack(item, f"{place}.{key}", arrays) for key, item in value.items()}}
    cls = type(value)
    if cls.__module__.split(".")[0] == "linkwork" and hasattr(value, "__dict__"):
        parts = {key: _pack(item, f"{place}.{key}", arrays) for key, item in vars(value).items()}
        return {"object": f"{cls.__module__}:{cls.__qualname__}", "parts": parts}
    raise LinkworkError(f"{place.lstrip('.')}: a {cls.__name__} cannot be saved to a file")


def _unpack(value: Any, arrays: Arrays) -> Any:
    if not isinstance(value, dict):
        return value
    if "array" in value:
        array = arrays[value["array"]]
        array.flags.writeable = False
        return array
    if "list" in value:
        return [_unpack(item, arrays) for item in value["list"]]
    if "tuple" in value:
        return tuple(_unpack(item, arrays) for item in value["tuple"])
    if "dict" in value:
        return {key: _unpack(item, arrays) for key, item in value["dict"].items()}
    cls = _own_class(value["object"])
    parts = {key: _unpack(item, arrays) for key, item in value["parts"].items()}
    if dataclasses.is_dataclass(cls) and set(parts) != {field.name for field in dataclasses.fields(cls)}:
        raise LinkworkError(f"the file was written by another version of linkwork: {cls.__name__} has changed")
    instance = object.__new__(cls)
    vars(instance).update(parts)
    return instance


def _own_class(name: str) -> type[Any]:
    module, _, qualname = name.partition(":")
    if module.split(".")[0] != "linkwork" or not qualname.isidentifier():
        raise LinkworkError(f"the file names {name!r}, which is not a class of linkwork")
    found = getattr(importlib.import_module(module), qualname, None)
    if not isinstance(found, type) or found.__module__ != module:
        raise LinkworkError(f"the file was written by another version of linkwork: {qualname} is gone from {module}")
    return found
