"""The contacts of a model, step after step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.advance import advance_kernel
from linkwork.contact.broad import BroadPhase
from linkwork.contact.colliders import Colliders
from linkwork.contact.contacts import forget, new_contacts, new_past, recognise, remember
from linkwork.contact.filters import body_components, can_any_touch, pair_filter, refuse_pairs_of_meshes
from linkwork.contact.geom import BOX, CAPSULE, CYLINDER, HULL, MESH
from linkwork.contact.motion import Step
from linkwork.contact.narrow import (
    SUNK,
    Fast,
    Overlaps,
    any_convex,
    any_distance,
    clear_contacts,
    leave_separated,
    narrow_kernel,
    rounded_only,
)
from linkwork.contact.on_mesh import collide_meshes
from linkwork.contact.rounded import rounded_distance
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model

__all__ = ["Finder", "StartOverlap"]

Int = NDArray[np.int32]

# of the thinnest collider: pairs nearer than this are reported however slow
SLACK = 0.01


@dataclass(frozen=True)
class StartOverlap:
    """Two bodies that overlap before the first step.

    Attributes:
        a, b: bodies of the model.
        depth: of the deepest contact, m.
    """

    a: int
    b: int
    depth: float


class Finder:
    """Finds the contacts of a step in arrays of a fixed capacity; everything ``launch`` and ``keep`` run can be captured.

    A step goes: ``launch``, solve, ``keep``. When ``overflowed`` says so after a launch, ``grow`` makes room; then whatever
    was captured is captured again, as the arrays are others, and the step taken once more.

    Attributes:
        contacts: what was found, see ``Contacts``.
        colliders: the geoms.
    """

    def __init__(self, model: Model, graph: JointGraph, row: Int, device: str = "cpu") -> None:
        self.device = device
        self.model = model
        self.colliders = Colliders.build(model, graph, row, device)
        component = body_components(graph)
        filter = pair_filter(model, component, device)
        kind = self.colliders.types["kind"][self.colliders.type]
        refuse_pairs_of_meshes(model, component, filter, np.unique(self.colliders.body[kind >= MESH]))
        geoms = len(self.colliders.type)
        self.broad = BroadPhase(self.colliders, filter, max(64, 4 * geoms), device)
        types = self.colliders.types
        self._thinnest = float(types["thickness"][np.isfinite(types["thickness"])].min())
        # spheres, capsules among themselves and half spaces have closed forms; the rest takes seconds to compile
        flat = np.isin(kind, (BOX, CYLINDER, HULL))
        needs_convex = bool(flat.any()) and np.count_nonzero(flat | (kind == CAPSULE)) > 1
        collide, distance = (any_convex, any_distance) if needs_convex else (rounded_only, rounded_distance)
        self._narrow = narrow_kernel(collide)
        self._advance = advance_kernel(collide, distance)
        self.overlaps = self._no_overlaps(geoms)
        self._room_for_pairs()
        self._room_for_contacts(max(64, 4 * geoms))

    @staticmethod
    def build(model: Model, graph: JointGraph, row: Int, device: str = "cpu") -> Finder | None:
        """A finder with room for all bodies, or None where no two bodies can ever touch."""
        return Finder(model, graph, row, device) if can_any_touch(model, graph) else None

    # -- memory -------------------------------------------------------------------------------------------------------

    def _room_for_pairs(self) -> None:
        self.fast = Fast()
        self.fast.count = wp.zeros(1, dtype=wp.int32, device=self.device)
        self.fast.pair = wp.zeros(self.broad.capacity, dtype=wp.int32, device=self.device)

    def _room_for_contacts(self, capacity: int) -> None:
        self.capacity = capacity
        self.contacts = new_contacts(capacity, self.device)
        self.past = new_past(capacity, self.device)

    def _no_overlaps(self, geoms: int) -> Overlaps:
        return _overlaps(np.zeros(0, np.int64), np.zeros(0, np.int32), geoms, self.device)

    @property
    def overflowed(self) -> bool:
        """Whether the last launch found more than there is room for."""
        return self._count(self.broad.pairs.count) > self.broad.capacity or self.count > self.capacity

    @property
    def count(self) -> int:
        """Contacts found by the last launch."""
        return self._count(self.contacts.count)

    def grow(self) -> None:
        """Make room for half as much again as the last launch found; what was kept of the step before stays known."""
        pairs = self._count(self.broad.pairs.count)
        if pairs > self.broad.capacity:
            self.broad.resize(pairs + pairs // 2)
            self._room_for_pairs()
        if self.count > self.capacity:
            kept = self.state()
            self._room_for_contacts(self.count + self.count // 2)
            self.restore(kept)

    @staticmethod
    def _count(counter: wp.array) -> int:
        return int(counter.numpy()[0])

    # -- a step -------------------------------------------------------------------------------------------------------

    def launch(self, Q: wp.array, V: wp.array, dt: float) -> None:
        """Find the contacts of the step of dt seconds from poses Q with rates V, (3, 4) each, one for each row."""
        step = Step()
        step.dt = dt
        step.gravity = wp.vec3d(*self.model.gravity)
        step.slack = self.slack(dt)
        self.broad.launch(Q, V, step)
        geoms, hulls, pairs = self.colliders.geoms, self.colliders.tables.hulls, self.broad.pairs
        self._run(clear_contacts, max(1, len(self.overlaps.key)), self.contacts, self.fast, self.overlaps)
        found = (geoms, hulls, pairs, Q, V, step, self.contacts, self.fast)
        self._run(self._narrow, self.broad.capacity, *found, self.overlaps)
        self._run(self._advance, self.broad.capacity, *found)
        if self.colliders.meshes is not None:
            meshes, bounds = self.colliders.meshes.meshes, self.broad.bounds
            inputs = (geoms, hulls, meshes, bounds, pairs, Q, V, step, self.contacts, self.overlaps)
            self._run(collide_meshes, self.broad.capacity, *inputs)
        self._run(recognise, self.capacity, self.contacts, self.past)

    def slack(self, dt: float) -> float:
        """Distance below which pairs are reported however slow they are, m."""
        return 2.0 * float(np.linalg.norm(self.model.gravity)) * dt * dt + SLACK * self._thinnest

    def keep(self) -> None:
        """Take the contacts of the last launch as the predecessors of the next ones: the step is done."""
        self._run(forget, self.capacity, self.past)
        self._run(remember, self.capacity, self.contacts, self.past)
        if len(self.overlaps.key):
            self._run(leave_separated, len(self.overlaps.key), self.overlaps)

    def _run(self, kernel: wp.Kernel, dim: int, *inputs: Any) -> None:
        wp.launch(kernel, dim=dim, inputs=inputs, device=self.device)

    # -- the start ----------------------------------------------------------------------------------------------------

    def start_overlaps(self, Q: wp.array, *, ignore: bool = True) -> list[StartOverlap]:
        """Bodies that overlap at poses Q by more than a thousandth of their thickness, deepest first.

        With ``ignore`` these pairs do not collide until they have come apart.
        """
        self.overlaps = self._no_overlaps(len(self.colliders.type))
        still = wp.zeros_like(Q)
        self.launch(Q, still, 0.0)
        while self.overflowed:
            self.grow()
            self.launch(Q, still, 0.0)
        count = self.count
        a, b, gap = (getattr(self.contacts, name).numpy()[:count] for name in ("geom_a", "geom_b", "gap"))
        thickness = self.colliders.types["thickness"][self.colliders.type]
        deep = gap < -float(SUNK) * np.minimum(thickness[a], thickness[b])
        geoms = len(self.colliders.type)
        keys, pair = np.unique(a[deep].astype(np.int64) * geoms + b[deep], return_inverse=True)
        depth = np.zeros(len(keys))
        np.maximum.at(depth, pair, -gap[deep])
        if ignore:
            self.overlaps = _overlaps(keys, np.ones(len(keys), np.int32), geoms, self.device)
        body = self.colliders.body
        order = np.argsort(-depth, kind="stable")
        return [StartOverlap(int(body[keys[k] // geoms]), int(body[keys[k] % geoms]), float(depth[k])) for k in order]

    # -- saving -------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """What the next step needs to know of the past."""
        kept = self._count(self.past.count)
        names = ("geom_a", "geom_b", "key")
        past = {name: getattr(self.past, name).numpy()[:kept].copy() for name in names}
        return past | {"overlaps": self.overlaps.key.numpy(), "overlapping": self.overlaps.active.numpy().copy()}

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go back to a state."""
        kept = len(state["key"])
        if kept > self.capacity:
            self._room_for_contacts(kept + kept // 2)
        self._run(forget, self.capacity, self.past)
        back = new_contacts(self.capacity, self.device)
        for name in ("geom_a", "geom_b", "key"):
            padded = np.zeros(self.capacity, state[name].dtype)
            padded[:kept] = state[name]
            getattr(back, name).assign(padded)
        back.count.fill_(kept)
        self._run(remember, self.capacity, back, self.past)
        self.overlaps = _overlaps(state["overlaps"], state["overlapping"], len(self.colliders.type), self.device)


def _overlaps(keys: NDArray[np.int64], active: Int, geoms: int, device: str) -> Overlaps:
    made = Overlaps()
    made.geoms = geoms
    made.key = wp.array(keys, dtype=wp.int64, device=device)
    made.active = wp.array(active, dtype=wp.int32, device=device)
    made.seen = wp.zeros(len(keys), dtype=wp.int32, device=device)
    return made
