"""Contact on the device: the arrays of contacts and islands, and the launches of a step in which components touch."""

from __future__ import annotations

import numpy as np
import warp as wp

from linkwork.mabd.affine import mat33, mat34, vec3
from linkwork.mabd.arrays import int_array, zeros
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.component_group import ComponentGroup
from linkwork.mabd.islands import Islands, find_islands
from linkwork.mabd.laws import Laws
from linkwork.mabd.stiffened import ENTRIES
from linkwork.mabd.together import Shared, island_step
from linkwork.mabd.touches import Touches


class ContactGroup:
    """All components of a scene in which bodies may touch, in groups of one or two sizes of nodes."""

    def __init__(self, groups: list[ComponentGroup], bodies: Bodies, laws: Laws, moving: int, failed: wp.array) -> None:
        few, many = groups[0], groups[-1]
        self.bodies = bodies
        self.groups = groups
        engine = island_step(few.size, many.size)
        self._step = engine.step
        components = sum(group.count for group in groups)
        shared = Shared()
        for name in ("gradient", "kept", "total", "r", "p", "Kp"):
            setattr(shared, name, zeros(moving, mat34))
        shared.Y, shared.Q_base = few.work.Y, few.work.Q_base
        many.work.Y, many.work.Q_base, many.work.N = few.work.Y, few.work.Q_base, few.work.N
        land = Islands()
        land.components, land.small, land.moving = components, few.count, moving
        start = np.concatenate([group.layout.component_bodies[:, 0] for group in groups])
        end = np.concatenate([group.layout.component_bodies[:, 1] for group in groups])
        component = np.zeros(moving, np.int32)
        for k, (first, last) in enumerate(zip(start, end, strict=True)):
            component[first:last] = k
        land.component, land.body_start, land.body_end = int_array(component), int_array(start), int_array(end)
        land.failed, land.count, land.turns = failed, zeros(1, wp.int32), zeros(components, wp.int32)
        land.leader, land.island, land.member = (zeros(components, wp.int32) for _ in range(3))
        land.start, land.touch_start = zeros(components + 1, wp.int32), zeros(components + 1, wp.int32)
        self.land = land
        self._whole = engine.Whole()
        self._whole.laws, self._whole.h = laws, shared
        for name, kind, group in (("few", engine.few, few), ("many", engine.many, many)):
            party = kind()
            party.J, party.c, party.w, party.f = group.joints, group.components, group.work, group.factor
            party.x, party.residual = group._x, group._scratch
            party.total, party.search = zeros(len(group.work.multiplier)), zeros(len(group.work.multiplier))
            party.floor = zeros(group.count)
            setattr(self._whole, name, party)
        bodies.stiffened = 1
        bodies.slot = zeros(moving, wp.int32)
        self.touches = Touches()
        self.make_room(64)

    def make_room(self, capacity: int) -> None:
        """Arrays for a number of contacts."""
        t = self.touches
        t.count = zeros(1, wp.int32)
        for name in ("a", "b", "pressed", "drag"):
            setattr(t, name, zeros(capacity, wp.int32))
        for name in ("normal", "core_a", "core_b", "skin_a", "skin_b", "parted", "stretch", "force", "sense"):
            setattr(t, name, zeros(capacity, vec3))
        for name in ("radii", "approach", "friction", "stiffness", "press", "bound", "last_bound", "last_result"):
            setattr(t, name, zeros(capacity))
        t.drag_stiffness = zeros(capacity, mat33)
        self.land.touch = zeros(capacity, wp.int32)
        self.bodies.hessian = zeros(min(2 * capacity, self.land.moving) * int(ENTRIES))
        self.capacity = capacity

    def launch(self, scheme: Scheme) -> None:
        """Advance all islands by one step."""
        wp.launch(give_slots, dim=1, inputs=[self.touches, self.land, self.bodies.slot], device="cpu")
        wp.launch(find_islands, dim=1, inputs=[self.touches, self.land], device="cpu")
        whole = self._whole
        whole.b, whole.s, whole.t, whole.land = self.bodies, scheme, self.touches, self.land
        wp.launch(self._step, dim=self.land.components, inputs=[whole], device="cpu")


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
