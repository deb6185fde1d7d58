"""Which bodies may touch: what the user said about groups, pairs and components, kept until the model is built."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError
from linkwork.model.contact_rules import ContactRules
from linkwork.scene.handles import Indices
from linkwork.scene.joining import body_indices

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

__all__ = ["ContactBook"]

OVERLAPS = ("pass", "resolve", "refuse")
MOST_PAIRS = 10_000_000


class ContactBook:
    """Groups by name, ignored pairs of groups and of bodies, and bodies that touch their own component.

    Bodies without a group belong to group 0.
    """

    def __init__(self, contact: bool, overlaps: str) -> None:
        if not isinstance(contact, bool | np.bool_):
            raise SceneError(f"Scene: contact must be True or False, got {contact!r}")
        if overlaps not in OVERLAPS:
            raise SceneError(f"Scene: overlaps must be one of {', '.join(map(repr, OVERLAPS))}, got {overlaps!r}")
        self.on = bool(contact)
        self.overlaps = overlaps
        self._groups: dict[str, int] = {}
        self._members: list[tuple[int, int, int]] = []
        self._apart: set[tuple[int, int]] = set()
        self._ignored: list[Indices] = []
        self._silent: list[Indices] = []
        self._self_contact: list[tuple[Indices | None, bool]] = []

    def group(self, name: Any, who: str) -> int:
        """Number of a group, a new one for a new name."""
        if name is None:
            return 0
        if not isinstance(name, str) or not name:
            raise SceneError(f"{who}: group must be a name such as 'wheels', got {name!r}")
        return self._groups.setdefault(name, len(self._groups) + 1)

    def enrol(self, group: int, start: int, rows: int) -> None:
        """Bodies from ``start`` on belong to a group."""
        if group and rows:
            self._members.append((group, start, start + rows))

    def ignore(self, scene: Scene, a: Any, b: Any) -> None:
        """Bodies or groups a and b pass through each other; b None stands for everything."""
        who = "ignore_contact"
        first = self._read(scene, a, who)
        second = None if b is None else self._read(scene, b, who)
        if second is None:
            self._silent.append(self._bodies(first))
        elif isinstance(first, int) and isinstance(second, int):
            self._apart.add((min(first, second), max(first, second)))
        else:
            self._ignored.append(_pairs(self._bodies(first), self._bodies(second)))

    def allow_self(self, scene: Scene, bodies: Any, on: Any) -> None:
        """Bodies touch others of their own joint component; None stands for all."""
        if not isinstance(on, bool | np.bool_):
            raise SceneError(f"self_contact: on must be True or False, got {on!r}")
        chosen = None if bodies is None else self._bodies(self._read(scene, bodies, "self_contact"))
        self._self_contact.append((chosen, bool(on)))

    def rules(self, bodies: int) -> ContactRules:
        """Freeze into arrays over bodies."""
        group: NDArray[np.int32] = np.broadcast_to(np.int32(0), bodies)
        if self._members:
            group = np.zeros(bodies, np.int32)
            for number, start, stop in self._members:
                group[start:stop] = number
        apart = np.zeros((len(self._groups) + 1,) * 2, bool)
        for a, b in self._apart:
            apart[a, b] = apart[b, a] = True
        silent = np.broadcast_to(np.False_, bodies)
        if self._silent:
            silent = np.zeros(bodies, bool)
            silent[np.concatenate(self._silent)] = True
        own = np.broadcast_to(np.False_, bodies)
        for chosen, on in self._self_contact:
            if chosen is None:
                own = np.broadcast_to(np.bool_(on), bodies)
            else:
                own = own.copy()
                own[chosen] = on
        ignored = np.concatenate([np.zeros((0, 2), np.int32), *self._ignored])
        for array in (group, apart, silent, own, ignored):
            array.flags.writeable = False
        return ContactRules(self.on, self.overlaps, group, apart, ignored, silent, own)

    def _read(self, scene: Scene, what: Any, who: str) -> int | Indices:
        """A group's number, or the indices of bodies."""
        if isinstance(what, str):
            if what not in self._groups:
                known = ", ".join(repr(name) for name in self._groups) or "none yet"
                raise SceneError(
                    f"{who}: there is no group {what!r} (groups: {known}); name it with add_body(..., group={what!r}) first"
                )
            return self._groups[what]
        indices, _ = body_indices(scene, what, who)
        if (indices < 0).any():
            raise SceneError(f"{who}: the ground has no shape to touch; name the fixed bodies that stand for it")
        return indices

    def _bodies(self, what: int | Indices) -> Indices:
        if not isinstance(what, int):
            return what
        runs = [np.arange(start, stop, dtype=np.int32) for group, start, stop in self._members if group == what]
        return np.concatenate([np.zeros(0, np.int32), *runs])


def _pairs(a: Indices, b: Indices) -> Indices:
    if len(a) * len(b) > MOST_PAIRS:
        raise SceneError(
            f"ignore_contact: {len(a)} x {len(b)} pairs of bodies are too many to list; "
            "give the bodies a group each and name the two groups"
        )
    return np.stack([np.repeat(a, len(b)), np.tile(b, len(a))], axis=1).astype(np.int32)
