"""What a recording knows over time, by name: "energy.kinetic", "hinge.angle", "bob.position.z".

| name | unit | what |
|---|---|---|
| `energy`, `energy.kinetic`, `.potential`, `.elastic`, `.contact`, `.total` | J | energies of the whole scene |
| `residual` | m or rad | largest joint violation |
| `JOINT`, `JOINT.coordinate` | m, rad | free coordinates; their names are those of the joint catalogue |
| `BODY.position`, `.x`, `.y`, `.z` | m | origin of the body frame |
| `BODY.quaternion`, `.x`, `.y`, `.z`, `.w` | 1 | rotation of the body frame, w >= 0 |
| `BODY.velocity`, `.x`, `.y`, `.z`, `BODY.speed` | m/s | of the COM |
| `BODY.angular_velocity`, `.x`, `.y`, `.z` | rad/s | world frame |

A name without its last part stands for all of its columns. JOINT and BODY are the user's names, `name[3]` for a member
of a set, or `joint 3` and `body 3` by index.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.scene.joints import CATALOGUE
from linkwork.simulation.poses import polar_rotations, quaternions

if TYPE_CHECKING:
    from linkwork.record.reader import Recording

__all__ = ["BODY_QUANTITIES", "ENERGIES", "Column", "Columns"]

Floats = NDArray[np.float64]

ENERGIES = ("kinetic", "potential", "elastic", "contact", "total")
# Quantity -> its unit and the names of its components, none for a single number.
BODY_QUANTITIES: dict[str, tuple[str, tuple[str, ...]]] = {
    "position": ("m", ("x", "y", "z")),
    "quaternion": ("1", ("x", "y", "z", "w")),
    "velocity": ("m/s", ("x", "y", "z")),
    "speed": ("m/s", ()),
    "angular_velocity": ("rad/s", ("x", "y", "z")),
}
TURNING = ("angle", "angle_x", "angle_y", "twist")
MOST_COMPARED = 20_000


@dataclass(frozen=True, eq=False)
class Column:
    """One quantity over time.

    Attributes:
        name: such as ``"hinge.angle"``.
        quantity: what it is, for the axis of a plot: ``"angle"``.
        unit: ``"rad"``.
        values: (frames,).
    """

    name: str
    quantity: str
    unit: str
    values: Floats


class Columns:
    """Finds columns of a recording by name."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        self._body_rows: dict[str, int] | None = None
        self._joint_rows: dict[str, int] | None = None

    def find(self, names: Sequence[str]) -> list[Column]:
        """The columns that the names stand for, in their order, each once.

        Raises:
            LinkworkError: there is no such name; the message says which are near.
        """
        found: dict[str, Column] = {}
        for name in names:
            if not isinstance(name, str) or not name:
                raise LinkworkError(f"a quantity is asked for by its name, such as 'energy', not {name!r}")
            found.update((column.name, column) for column in self.named(name))
        return list(found.values())

    def named(self, name: str) -> list[Column]:
        """The columns that one name stands for.

        Raises:
            LinkworkError: there is no such name; the message says which are near.
        """
        owner, _, part = name.partition(".")
        recording = self._recording
        if owner == "energy" and (not part or part in ENERGIES):
            values = np.column_stack([recording.energies, recording.energies.sum(axis=1)])
            wanted = (part,) if part else ENERGIES
            return [Column(f"energy.{e}", "energy", "J", values[:, ENERGIES.index(e)]) for e in wanted]
        if name == "residual":
            return [Column(name, "joint violation", "m or rad", recording.residuals)]
        # Names of bodies and joints may hold dots of their own: the longest owner wins.
        cuts = [len(name), *(match.start() for match in re.finditer(r"\.", name))]
        for cut in sorted(cuts, reverse=True):
            owner, part = name[:cut], name[cut + 1 :]
            columns = self._of_joint(owner, part) or self._of_body(owner, part)
            if columns:
                return columns
        self._refuse(name)

    def whole_scene(self) -> list[str]:
        """The names that do not belong to a body or a joint; parts of the energy that stay zero are left out."""
        energies = self._recording.energies
        live = [e for e, values in zip(ENERGIES, energies.T, strict=False) if values.any()]
        return [*(f"energy.{e}" for e in [*live, "total"]), "residual"]

    def joint_coordinates(self) -> list[str]:
        """The names of all free joint coordinates, in the order of the joints."""
        return [name for joint in range(self._recording.joints) for name in self._coordinate_names(joint)]

    def listing(self) -> Iterator[tuple[str, str]]:
        """Every name with its unit; members of a set stand in one line as ``name[0..9]``."""
        for name in self.whole_scene():
            yield name, "J" if name.startswith("energy") else "m or rad"
        recording = self._recording
        kinds = recording.joint_kind
        for first, last in _runs(recording.joint_names, recording.joints, lambda i: self._slots(i).tobytes()):
            row = CATALOGUE[kinds[first]]
            names = dict(zip(row.free, row.coordinates, strict=True))
            for slot in self._slots(first).tolist():
                yield f"{_span(recording.joint_names, first, last)}.{names[slot]}", "m" if slot < 3 else "rad"
        for first, last in _runs(recording.body_names, recording.bodies, lambda i: b""):
            for quantity, (unit, parts) in BODY_QUANTITIES.items():
                if recording.has_velocities or unit in ("m", "1"):
                    ending = f".{{{','.join(parts)}}}" if parts else ""
                    yield f"{_span(recording.body_names, first, last)}.{quantity}{ending}", unit

    # Joints

    def _joints(self) -> dict[str, int]:
        if self._joint_rows is None:
            self._joint_rows = _rows(self._recording.joint_names, self._recording.joints, "joint")
        return self._joint_rows

    def _slots(self, joint: int) -> NDArray[np.intp]:
        return self._recording.free_slots.slots(joint)

    def _coordinate_names(self, joint: int) -> list[str]:
        row = CATALOGUE[self._recording.joint_kind[joint]]
        names = dict(zip(row.free, row.coordinates, strict=True))
        return [f"{self._recording.joint_names(joint)}.{names[slot]}" for slot in self._slots(joint).tolist()]

    def _of_joint(self, owner: str, part: str) -> list[Column]:
        joint = self._joints().get(owner)
        if joint is None:
            return []
        recording = self._recording
        row = CATALOGUE[recording.joint_kind[joint]]
        names = dict(zip(row.free, row.coordinates, strict=True))
        wanted = [(k, slot) for k, slot in enumerate(self._slots(joint).tolist()) if part in ("", names[slot])]
        if not wanted:
            return []
        values = recording.coordinates_of(joint)
        columns = []
        for k, slot in wanted:
            series = values[:, k]
            # Coordinates with a law count their turns; the others jump from pi to -pi, which no plot should show.
            if names[slot] in TURNING and not recording.counts_turns[joint, slot]:
                series = np.unwrap(series)
            quantity = names[slot].partition("_")[0]
            columns.append(Column(f"{owner}.{names[slot]}", quantity, "m" if slot < 3 else "rad", series))
        return columns

    # Bodies

    def _bodies(self) -> dict[str, int]:
        if self._body_rows is None:
            self._body_rows = _rows(self._recording.body_names, self._recording.bodies, "body")
        return self._body_rows

    def _of_body(self, owner: str, part: str) -> list[Column]:
        quantity, _, component = part.partition(".")
        body = self._bodies().get(owner)
        if body is None or quantity not in BODY_QUANTITIES:
            return []
        unit, parts = BODY_QUANTITIES[quantity]
        if component and component not in parts:
            return []
        values = self._body_values(body, quantity)
        label = quantity.replace("_", " ")
        if not parts:
            return [Column(f"{owner}.{quantity}", label, unit, values)]
        wanted = (component,) if component else parts
        return [Column(f"{owner}.{quantity}.{c}", label, unit, values[:, parts.index(c)]) for c in wanted]

    def _body_values(self, body: int, quantity: str) -> Floats:
        recording = self._recording
        if quantity == "position":
            return recording.positions_of(body)
        if quantity == "velocity":
            return recording.velocities_of(body)
        if quantity == "speed":
            speeds: Floats = np.linalg.norm(recording.velocities_of(body), axis=1)
            return speeds
        if quantity == "angular_velocity":
            return recording.angular_velocities_of(body)
        affine = np.array(recording.frames["poses"][:, body], dtype=np.float64)
        frames = recording.body_frames.member(body, len(affine))
        return quaternions(frames.rotations(polar_rotations(affine[:, :, :3])))

    # What is not there

    def _refuse(self, name: str) -> NoReturn:
        recording = self._recording
        for owner in sorted((name[: m.start()] for m in re.finditer(r"\.|$", name)), key=len, reverse=True):
            if owner in self._joints():
                known = ", ".join(self._coordinate_names(self._joints()[owner])) or "no free coordinates"
                raise LinkworkError(f"{recording.path}: there is no {name!r}; joint {owner!r} has {known}")
            if owner in self._bodies():
                known = ", ".join(f"{owner}.{quantity}" for quantity in BODY_QUANTITIES)
                raise LinkworkError(f"{recording.path}: there is no {name!r}; body {owner!r} has {known}")
        near = difflib.get_close_matches(name, self._all_names(), n=3, cutoff=0.5)
        if not near:
            start = name.partition(".")[0]
            owners = [*list(self._joints())[:MOST_COMPARED], *list(self._bodies())[:MOST_COMPARED]]
            near = difflib.get_close_matches(start, owners, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"there are {', '.join(self._some())}"
        raise LinkworkError(
            f"{recording.path}: there is no {name!r}; {hint} `linkwork plot FILE --list` shows all names"
        )

    def _all_names(self) -> list[str]:
        names = ["energy", *(f"energy.{e}" for e in ENERGIES), "residual"]
        names += [n for joint in range(min(self._recording.joints, 500)) for n in self._coordinate_names(joint)]
        for body in range(min(self._recording.bodies, 200)):
            owner = self._recording.body_names(body)
            for quantity, (_, parts) in BODY_QUANTITIES.items():
                names += [f"{owner}.{quantity}", *(f"{owner}.{quantity}.{part}" for part in parts)]
        return names

    def _some(self) -> list[str]:
        return ["energy", "residual", *self._all_names()[len(ENERGIES) + 2 :][:3], "..."]


def _rows(names: Callable[[int], str], count: int, kind: str) -> dict[str, int]:
    """Index by name, also by ``"body 3"``; of equal names the first."""
    rows = {f"{kind} {index}": index for index in range(count)}
    for index in reversed(range(count)):
        rows[names(index)] = index
    return rows


def _runs(names: Callable[[int], str], count: int, kind_of: Callable[[int], bytes]) -> Iterator[tuple[int, int]]:
    """First and last index of things whose names differ in their number only and that are of one kind."""
    first = 0
    for index in range(1, count + 1):
        same = index < count and _stem(names(index)) == _stem(names(first)) != "" and kind_of(index) == kind_of(first)
        if not same:
            yield first, index - 1
            first = index


def _stem(name: str) -> str:
    match = re.fullmatch(r"(.*?[\[ ])\d+\]?", name)
    return match[1] if match else ""


def _span(names: Callable[[int], str], first: int, last: int) -> str:
    """``"links[0..9]"`` for a run of a set."""
    if first == last:
        return names(first)
    stem, end = _stem(names(first)), names(last)
    start = re.search(r"(\d+)\]?$", names(first))
    return f"{stem}{start[1] if start else ''}..{end[len(stem) :]}"
