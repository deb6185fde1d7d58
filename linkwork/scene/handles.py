"""Handles: what the user keeps to speak about the bodies and joints of a scene."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError, SceneIndexError

if TYPE_CHECKING:
    from linkwork.scene.joints import JointKind
    from linkwork.scene.scene import Scene

__all__ = ["Bodies", "Body", "Indices", "Joint", "Joints", "Names"]

Indices = NDArray[np.int32]
One = TypeVar("One")


class Names:
    """Names by index: single things have their own, members of a set are called ``name[i]``."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._starts: list[int] = []
        self._names: list[str | None] = []
        self._single: list[bool] = []

    def append(self, start: int, name: str | None, *, single: bool) -> None:
        """Name the things from ``start`` on."""
        self._starts.append(start)
        self._names.append(name)
        self._single.append(single)

    def frozen(self) -> Names:
        """Copy that later additions to the scene do not change."""
        copy = Names(self.kind)
        copy._starts, copy._names, copy._single = self._starts[:], self._names[:], self._single[:]
        return copy

    def __call__(self, index: int) -> str:
        """Name of one thing; ``"body 3"`` where the user gave none."""
        if self.kind == "body" and index < 0:
            return "ground"
        batch = bisect_right(self._starts, index) - 1
        name = self._names[batch] if batch >= 0 else None
        if name is None:
            return f"{self.kind} {index}"
        return name if self._single[batch] else f"{name}[{index - self._starts[batch]}]"

    def label(self, index: int) -> str:
        """Name and index, for messages."""
        name = self(index)
        return name if name in ("ground", f"{self.kind} {index}") else f'{self.kind} "{name}" (index {index})'


class Body:
    """One body of a scene; ``index`` is its row in all arrays (-1 for the ground)."""

    __slots__ = ("index", "scene")

    def __init__(self, scene: Scene, index: int) -> None:
        self.scene = scene
        self.index = index

    @property
    def name(self) -> str:
        """The user's name, ``"set[i]"`` for the member of a named set, ``"ground"``, or ``"body 3"``."""
        return self.scene.body_names(self.index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Body) and other.scene is self.scene and other.index == self.index

    def __hash__(self) -> int:
        return hash((id(self.scene), "body", self.index))

    def __repr__(self) -> str:
        return f"<Body {self.name!r}, index {self.index}>"


class Joint:
    """One joint of a scene; ``index`` is its row in all arrays."""

    __slots__ = ("index", "scene")

    def __init__(self, scene: Scene, index: int) -> None:
        self.scene = scene
        self.index = index

    @property
    def name(self) -> str:
        """The user's name, ``"set[i]"`` for the member of a named set, or ``"joint 3"``."""
        return self.scene.joint_names(self.index)

    @property
    def kind(self) -> JointKind:
        """The kind it was added with."""
        return self.scene.joint_kind(self.index)

    @property
    def base(self) -> Body:
        """The first body."""
        return Body(self.scene, int(self.scene.joint_table["base"][self.index]))

    @property
    def follower(self) -> Body:
        """The second body."""
        return Body(self.scene, int(self.scene.joint_table["follower"][self.index]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Joint) and other.scene is self.scene and other.index == self.index

    def __hash__(self) -> int:
        return hash((id(self.scene), "joint", self.index))

    def __repr__(self) -> str:
        return f"<Joint {self.name!r}, index {self.index}>"


class HandleSet(ABC, Generic[One]):
    """Many things of a scene; slices, index arrays and boolean masks give smaller sets, an integer gives one."""

    kind: str

    def __init__(self, scene: Scene, indices: NDArray[Any], name: str | None = None) -> None:
        self.scene = scene
        self.indices: Indices = np.array(indices, dtype=np.int32)
        self.indices.flags.writeable = False
        self.name = name

    @abstractmethod
    def _one(self, index: int) -> One:
        """Handle of the thing with this index in the scene."""

    def __len__(self) -> int:
        return len(self.indices)

    def __iter__(self) -> Iterator[One]:
        return (self._one(int(index)) for index in self.indices)

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> One: ...
    @overload
    def __getitem__(self, key: slice | NDArray[Any] | list[int] | list[bool]) -> Self: ...

    def __getitem__(self, key: Any) -> One | Self:
        if isinstance(key, slice):
            return type(self)(self.scene, self.indices[key], self.name)
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            if not -len(self) <= key < len(self):
                raise SceneIndexError(self._unknown(int(key)))
            return self._one(int(self.indices[key]))
        return type(self)(self.scene, self.indices[self._selection(key)], self.name)

    def _selection(self, key: Any) -> NDArray[Any]:
        selected = np.asarray(key)
        if selected.size == 0 and selected.ndim == 1:
            return np.zeros(0, dtype=np.intp)
        if selected.ndim != 1 or selected.dtype.kind not in "biu":
            raise SceneError(f"{self!r}: select with an integer, a slice, integers (k,) or a mask ({len(self)},)")
        if selected.dtype.kind == "b":
            if len(selected) != len(self):
                raise SceneIndexError(f"{self!r}: a mask must have {len(self)} entries, got {len(selected)}")
            return np.flatnonzero(selected)
        outside = (selected < -len(self)) | (selected >= len(self))
        if outside.any():
            raise SceneIndexError(self._unknown(int(selected[np.argmax(outside)])))
        return selected

    def _unknown(self, key: int) -> str:
        which = f"indices go from 0 to {len(self) - 1}" if len(self) else "the set is empty"
        return f"{self!r}: there is no {self.kind} {key}; {which}"

    def __repr__(self) -> str:
        name = f" {self.name!r}" if self.name is not None else ""
        return f"<{type(self).__name__}{name}, {len(self)} of them>"


class Bodies(HandleSet[Body]):
    """Many bodies; ``indices`` are their rows in all arrays."""

    kind = "body"

    def _one(self, index: int) -> Body:
        return Body(self.scene, index)


class Joints(HandleSet[Joint]):
    """Many joints; ``indices`` are their rows in all arrays."""

    kind = "joint"

    def _one(self, index: int) -> Joint:
        return Joint(self.scene, index)
