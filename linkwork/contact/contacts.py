"""Contacts of a step as arrays, and their predecessors in the step before, found by the features that touch."""

import warp as wp

from linkwork.contact.geom import real, vec3

# odd numbers that scatter contacts over the table
SCATTER_KEY = wp.constant(wp.uint64(11400714819323198485))
SCATTER_A = wp.constant(wp.uint64(14029467366897019727))
SCATTER_B = wp.constant(wp.uint64(1609587929392839161))


@wp.struct
class Contacts:
    """Arrays over contacts, in the order of the pairs that made them.

    The surface point of side a is x_a - radius_a normal, that of side b is x_b + radius_b normal, with x the point fixed
    in the body's principal frame, carried by its pose. gap = normal . (x_a - x_b) - radius_a - radius_b.
    """

    count: wp.array(dtype=wp.int32)  # of all that were found, also beyond the capacity
    geom_a: wp.array(dtype=wp.int32)
    geom_b: wp.array(dtype=wp.int32)
    body_a: wp.array(dtype=wp.int32)  # rows in the solver's arrays
    body_b: wp.array(dtype=wp.int32)
    normal: wp.array(dtype=vec3)  # unit, world, from b to a
    point_a: wp.array(dtype=vec3)  # principal frame, m
    point_b: wp.array(dtype=vec3)
    radius_a: wp.array(dtype=real)  # m
    radius_b: wp.array(dtype=real)
    gap: wp.array(dtype=real)  # m, negative when overlapping
    key: wp.array(dtype=wp.int64)  # which features of the two geoms touch
    predecessor: wp.array(dtype=wp.int32)  # the same contact in the last step that was kept, or -1


@wp.struct
class Past:
    """What contacts of the last kept step are recognised by, and a hash table of them."""

    count: wp.array(dtype=wp.int32)
    geom_a: wp.array(dtype=wp.int32)
    geom_b: wp.array(dtype=wp.int32)
    key: wp.array(dtype=wp.int64)
    slot: wp.array(dtype=wp.int32)  # of each contact in the table
    table: wp.array(dtype=wp.int32)  # contact, -1 where free; a power of two of slots


@wp.func
def first_slot(slots: wp.int32, geom_a: wp.int32, geom_b: wp.int32, key: wp.int64) -> wp.int32:
    h = wp.uint64(key) * SCATTER_KEY
    h = (h ^ wp.uint64(geom_a)) * SCATTER_A
    h = (h ^ (h >> wp.uint64(29)) ^ wp.uint64(geom_b)) * SCATTER_B
    return wp.int32((h ^ (h >> wp.uint64(32))) & wp.uint64(slots - 1))


@wp.kernel(enable_backward=False)
def recognise(contacts: Contacts, past: Past):
    """Find each contact's predecessor."""
    i = wp.tid()
    if i >= contacts.count[0]:
        return
    a = contacts.geom_a[i]
    b = contacts.geom_b[i]
    key = contacts.key[i]
    slots = past.table.shape[0]
    slot = first_slot(slots, a, b, key)
    found = int(-1)
    while found < 0 and past.table[slot] >= 0:
        old = past.table[slot]
        if past.geom_a[old] == a and past.geom_b[old] == b and past.key[old] == key:
            found = old
        slot = (slot + 1) & (slots - 1)
    contacts.predecessor[i] = found


@wp.kernel(enable_backward=False)
def forget(past: Past):
    i = wp.tid()
    if i < past.count[0]:
        past.table[past.slot[i]] = -1


@wp.kernel(enable_backward=False)
def remember(contacts: Contacts, past: Past):
    """Enter the contacts of a step in the empty table."""
    i = wp.tid()
    kept = wp.min(contacts.count[0], past.key.shape[0])
    if i == 0:
        past.count[0] = kept
    if i >= kept:
        return
    past.geom_a[i] = contacts.geom_a[i]
    past.geom_b[i] = contacts.geom_b[i]
    past.key[i] = contacts.key[i]
    slots = past.table.shape[0]
    slot = first_slot(slots, contacts.geom_a[i], contacts.geom_b[i], contacts.key[i])
    while wp.atomic_cas(past.table, slot, -1, i) != -1:
        slot = (slot + 1) & (slots - 1)
    past.slot[i] = slot


def new_contacts(capacity: int, device: str) -> Contacts:
    made = Contacts()
    made.count = wp.zeros(1, dtype=wp.int32, device=device)
    for name, variable in Contacts.vars.items():
        if name != "count":
            setattr(made, name, wp.zeros(capacity, dtype=variable.type.dtype, device=device))
    return made


def new_past(capacity: int, device: str) -> Past:
    made = Past()
    made.count = wp.zeros(1, dtype=wp.int32, device=device)
    for name in ("geom_a", "geom_b", "slot"):
        setattr(made, name, wp.zeros(capacity, dtype=wp.int32, device=device))
    made.key = wp.zeros(capacity, dtype=wp.int64, device=device)
    slots = 1 << int(2 * capacity).bit_length()
    made.table = wp.full(slots, -1, dtype=wp.int32, device=device)
    return made
