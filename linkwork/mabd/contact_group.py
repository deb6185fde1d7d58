"""Contact on the device: finding, the arrays of contacts and islands, and the launches of a step in which bodies touch."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.finder import Finder
from linkwork.mabd.affine import mat34, vec3
from linkwork.mabd.arrays import Array, Int, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.component_group import ComponentGroup
from linkwork.mabd.islands import Islands, find_islands
from linkwork.mabd.laws import Laws
from linkwork.mabd.layout import Layout
from linkwork.mabd.meeting import Kept, Surfaces, begin_contacts, harden_contacts, keep_contacts, sum_energy
from linkwork.mabd.members import Shared
from linkwork.mabd.stiffened import ENTRIES
from linkwork.mabd.together import island_step
from linkwork.mabd.touches import Touches
from linkwork.model.model import Model

KEPT = ("press", "stretch", "coil")
PAST = ("geom_a", "geom_b", "key")
OVERLAPS = ("overlaps", "overlapping")


class ContactGroup:
    """All components of a scene in which bodies may touch, in groups of one or two sizes of nodes."""

    def __init__(
        self, model: Model, layout: Layout, finder: Finder, groups: list[ComponentGroup],
        bodies: Bodies, laws: Laws, energy: wp.array, failed: wp.array,
    ) -> None:  # fmt: skip
        self.finder, self.layout, self.groups, self.bodies = finder, layout, groups, bodies
        self.moving = layout.moving
        self.energy = energy
        few, many = groups[0], groups[-1]
        engine = island_step(few.size, many.size)
        self._step = engine.step
        self.shared = Shared()
        for name in ("gradient", "kept", "total", "r", "p", "Kp"):
            setattr(self.shared, name, zeros(self.moving, mat34))
        self.shared.Y, self.shared.Q_base = few.work.Y, few.work.Q_base
        many.work.Y, many.work.Q_base, many.work.N = few.work.Y, few.work.Q_base, few.work.N
        self._whole = engine.Whole()
        self._whole.laws, self._whole.h = laws, self.shared
        for name, kind, group in (("few", engine.few, few), ("many", engine.many, many)):
            party = kind()
            party.J, party.c, party.w, party.f = group.joints, group.components, group.work, group.factor
            party.x, party.residual = group.unknowns
            party.total, party.search, party.spare = (zeros(len(group.work.multiplier)) for _ in range(3))
            party.floor = zeros(group.count)
            setattr(self._whole, name, party)
        own = layout.order[: self.moving]
        self.land = self._islands(model.mass[own], failed)
        self.surfaces = self._surfaces(model)
        bodies.stiffened = 1
        bodies.slot = zeros(self.moving, wp.int32)
        self.touches, self.kept = Touches(), Kept()
        self._make_room()

    def _islands(self, mass: Array, failed: wp.array) -> Islands:
        groups = self.groups if len(self.groups) > 1 else self.groups[:1]
        ranges = np.concatenate([group.layout.component_bodies for group in groups])
        components = len(ranges)
        component = np.zeros(self.moving, np.int32)
        lengths = ranges[:, 1] - ranges[:, 0]
        rows = np.repeat(ranges[:, 0] - np.cumsum(lengths) + lengths, lengths) + np.arange(lengths.sum())
        component[rows] = np.repeat(np.arange(components), lengths)
        land = Islands()
        land.components, land.small, land.moving = components, groups[0].count, self.moving
        land.component, land.body_start, land.body_end = (int_array(x) for x in (component, ranges[:, 0], ranges[:, 1]))
        land.mass = real_array(np.bincount(component, mass, minlength=components))
        land.failed, land.count, land.turns = failed, zeros(1, wp.int32), zeros(components, wp.int32)
        land.scale, land.weight = zeros(components), zeros(components)
        land.leader, land.island, land.member = (zeros(components, wp.int32) for _ in range(3))
        land.start, land.touch_start = zeros(components + 1, wp.int32), zeros(components + 1, wp.int32)
        return land

    def _surfaces(self, model: Model) -> Surfaces:
        """Of each solver row; the ground, the last, has no shape and touches nothing."""
        order = self.layout.order[:-1]
        mass = np.where(np.arange(len(order)) < self.moving, model.mass[order], 0.0)
        made = Surfaces()
        made.mass = real_array(np.append(mass, 0.0))
        made.friction = real_array(np.append(model.contact_friction[order], 0.0))
        made.restitution = real_array(np.append(model.contact_restitution[order], 0.0))
        made.rolling = real_array(np.append(model.contact_rolling_friction[order], 0.0))
        made.torsional = real_array(np.append(model.contact_torsional_friction[order], 0.0))
        return made

    def _make_room(self) -> None:
        """Arrays for as many contacts as the finder has room for; what is kept of the last step stays."""
        capacity, t, kept = self.finder.capacity, self.touches, Kept()
        t.count = zeros(1, wp.int32)
        for name, variable in Touches.vars.items():
            if name != "count":
                setattr(t, name, zeros(capacity, variable.type.dtype))
        kept.press, kept.stretch, kept.coil = zeros(capacity), zeros(capacity, vec3), zeros(capacity, vec3)
        if self.kept.press is not None:
            for name in KEPT:
                old = getattr(self.kept, name).numpy()
                getattr(kept, name).numpy()[: len(old)] = old
        self.kept = kept
        self.land.touch = zeros(capacity, wp.int32)
        self.bodies.hessian = zeros(min(2 * capacity, self.moving) * int(ENTRIES))

    def find(self, h: float) -> None:
        """Launch the search for contacts."""
        self.finder.launch(self.bodies.Q, self.bodies.V, h)

    def grow(self) -> None:
        """Make room for what the last search found too much."""
        self.finder.grow()
        self._make_room()

    def launch(self, scheme: Scheme) -> None:
        """Advance all islands by one step."""
        contacts, capacity = self.finder.contacts, self.finder.capacity
        whole = self._whole
        whole.b, whole.s, whole.t, whole.land = self.bodies, scheme, self.touches, self.land
        bodies, touches, land = self.bodies, self.touches, self.land
        _run(
            begin_contacts,
            capacity,
            bodies,
            scheme,
            contacts,
            self.surfaces,
            self.kept,
            touches,
            self.moving,
            self.finder.slack(scheme.h),
        )
        _run(give_slots, 1, touches, land, bodies.slot)
        _run(find_islands, 1, touches, land)
        _run(harden_contacts, land.components, scheme, self.surfaces, touches, land)
        _run(self._step, land.components, whole)
        _run(keep_contacts, capacity, bodies, touches, self.kept)
        _run(sum_energy, 1, touches, self.energy)
        self.finder.keep()

    def rows(self, component: int) -> NDArray[np.int64]:
        """Solver rows of all bodies of a component's island."""
        land = self.land
        island = land.island.numpy()
        members = np.flatnonzero(island == island[component])
        start, end = land.body_start.numpy()[members], land.body_end.numpy()[members]
        return np.concatenate([np.arange(first, last) for first, last in zip(start, end, strict=True)])

    # -- reading ------------------------------------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """Contacts of the last step, those that do not press included."""
        return int(self.touches.count.numpy()[0])

    def pressing(self) -> tuple[Int, Array, Array, Array, Array]:
        """Bodies (m, 2), points (m, 3), normals (m, 3), forces (m, 3) on the first body and gaps (m,)."""
        t = self.touches
        pressed = np.flatnonzero(t.press.numpy()[: self.count] > 0.0)
        a, b = t.a.numpy()[pressed], t.b.numpy()[pressed]
        Q = self.bodies.Q.numpy()
        ends = [
            np.einsum("nij,nj->ni", Q[rows, :, :3], core.numpy()[pressed]) + Q[rows, :, 3] + arm.numpy()[pressed]
            for rows, core, arm in ((a, t.core_a, t.arm_a), (b, t.core_b, t.arm_b))
        ]
        gaps = -t.press.numpy()[pressed] / t.stiffness.numpy()[pressed]
        bodies = np.stack([self.layout.order[a], self.layout.order[b]], axis=1)
        return bodies, 0.5 * (ends[0] + ends[1]), t.normal.numpy()[pressed], t.force.numpy()[pressed], gaps

    # -- saving -------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, NDArray[Any]]:
        """What the next step needs to know of the contacts of the last."""
        past = self.finder.state()
        kept = len(past["key"])
        state = {f"contact_{name}": past[name] for name in OVERLAPS}
        state |= {f"list.contact_{name}": past[name] for name in PAST}
        for name in KEPT:
            state[f"list.contact_{name}"] = getattr(self.kept, name).numpy()[:kept].copy()
        return state

    def restore(self, state: dict[str, NDArray[Any]]) -> None:
        """Go back to a state."""
        capacity = self.finder.capacity
        past = {name: state[f"list.contact_{name}"] for name in PAST}
        self.finder.restore(past | {name: state[f"contact_{name}"] for name in OVERLAPS})
        if self.finder.capacity != capacity:
            self._make_room()
        for name in KEPT:
            values = state[f"list.contact_{name}"]
            getattr(self.kept, name).numpy()[: len(values)] = values
        self.touches.count.numpy()[0] = 0


def _run(kernel: wp.Kernel, dim: int, *inputs: Any) -> None:
    wp.launch(kernel, dim=dim, inputs=inputs, device="cpu")


@wp.kernel(enable_backward=False)
def give_slots(t: Touches, land: Islands, slot: wp.array(dtype=wp.int32)):
    """A place for the Hessian of every body that may touch something."""
    for i in range(land.moving):
        slot[i] = -1
    used = int(0)
    for c in range(t.count[0]):
        i = t.a[c]
        if i < land.moving and slot[i] < 0:
            slot[i] = used
            used += 1
        i = t.b[c]
        if i < land.moving and slot[i] < 0:
            slot[i] = used
            used += 1
