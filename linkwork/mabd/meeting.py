"""From contacts found to springs: what each begins the step with, and what it leaves to the next."""

import warp as wp

from linkwork.contact.contacts import Contacts
from linkwork.mabd.affine import axial, linear_part, point_at, real, vec3
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.islands import Islands
from linkwork.mabd.touches import Touches

HARDNESS = wp.constant(wp.float64(250.0))  # a contact's stiffness in units of mass / h^2
HEAVIEST = wp.constant(wp.float64(30.0))  # load, in masses of the heavier of two bodies, that stiffness allows for


@wp.struct
class Surfaces:
    """Of each row of Bodies."""

    mass: wp.array(dtype=wp.float64)  # kg, 0 where it does not move freely
    friction: wp.array(dtype=wp.float64)
    restitution: wp.array(dtype=wp.float64)
    rolling: wp.array(dtype=wp.float64)  # m
    torsional: wp.array(dtype=wp.float64)


@wp.struct
class Kept:
    """What contacts of the last step left."""

    press: wp.array(dtype=wp.float64)  # N
    stretch: wp.array(dtype=vec3)  # m, in the principal frame of b
    coil: wp.array(dtype=vec3)  # rad, likewise


@wp.func
def speed_at(b: Bodies, i: int, X: vec3) -> vec3:
    return point_at(b.V[i], X)


@wp.func
def spin_of(b: Bodies, i: int) -> vec3:
    """Angular velocity, rad/s."""
    return axial(linear_part(b.V[i]) * wp.transpose(linear_part(b.Q[i])))


@wp.func
def surface_speed(b: Bodies, i: int, X: vec3, arm: vec3) -> vec3:
    return point_at(b.V[i], X) + wp.cross(spin_of(b, i), arm)


@wp.func
def rebound(
    b: Bodies, s: Scheme, surfaces: Surfaces, i: int, j: int, n: vec3, closing: real, gap: real, moving: int,
) -> real:  # fmt: skip
    """Speed at which two surfaces part that close at a speed and are a gap apart; 0 for what just lies."""
    fall = real(0.0)
    if i < moving:
        fall -= wp.dot(n, s.gravity)
    if j < moving:
        fall += wp.dot(n, s.gravity)
    # they meet within the step, not at its start
    speed = wp.sqrt(wp.max(closing * closing + real(2.0) * fall * wp.max(gap, real(0.0)), real(0.0)))
    if closing <= real(0.0) or speed <= wp.length(s.gravity) * s.h:
        return real(0.0)
    return wp.max(surfaces.restitution[i], surfaces.restitution[j]) * speed


@wp.kernel(enable_backward=False)
def begin_contacts(
    b: Bodies, s: Scheme, contacts: Contacts, surfaces: Surfaces, kept: Kept, t: Touches, moving: int, recovery: real,
):  # fmt: skip
    """Fill the springs of all contacts, at the start of the step."""
    c = wp.tid()
    if c == 0:
        t.count[0] = contacts.count[0]
    if c >= contacts.count[0]:
        return
    i = contacts.body_a[c]
    j = contacts.body_b[c]
    n = contacts.normal[c]
    t.a[c] = i
    t.b[c] = j
    t.normal[c] = n
    t.core_a[c] = contacts.point_a[c]
    t.core_b[c] = contacts.point_b[c]
    # what is deep inside is not thrown out: it comes back by a little in each step
    t.radii[c] = contacts.radius_a[c] + contacts.radius_b[c] + wp.min(contacts.gap[c] + recovery, real(0.0))
    arm_a = n * (-contacts.radius_a[c])
    arm_b = n * contacts.radius_b[c]
    t.arm_a[c] = arm_a
    t.arm_b[c] = arm_b
    parted = point_at(b.Q[i], contacts.point_a[c]) - point_at(b.Q[j], contacts.point_b[c])
    # bodies that follow a trajectory are at the end of the step already
    if i >= moving:
        parted -= surface_speed(b, i, contacts.point_a[c], arm_a) * s.h
    if j >= moving:
        parted += surface_speed(b, j, contacts.point_b[c], arm_b) * s.h
    t.parted[c] = parted
    now = wp.dot(n, speed_at(b, i, contacts.point_a[c]) - speed_at(b, j, contacts.point_b[c]))
    before = real(0.0)
    if i < moving:
        before += wp.dot(n, point_at(b.V_past[i], contacts.point_a[c]))
    else:
        before += wp.dot(n, speed_at(b, i, contacts.point_a[c]))
    if j < moving:
        before -= wp.dot(n, point_at(b.V_past[j], contacts.point_b[c]))
    else:
        before -= wp.dot(n, speed_at(b, j, contacts.point_b[c]))
    t.approach[c] = wp.max(wp.abs(now), wp.abs(before))
    t.rebound[c] = rebound(b, s, surfaces, i, j, n, -now, contacts.gap[c], moving)
    t.friction[c] = wp.sqrt(surfaces.friction[i] * surfaces.friction[j])
    press = real(0.0)
    stretch = vec3()
    coil = vec3()
    old = contacts.predecessor[c]
    if old >= 0:
        press = kept.press[old]
        stretch = linear_part(b.Q[j]) * kept.stretch[old]
        stretch = stretch - n * wp.dot(n, stretch)
        coil = linear_part(b.Q[j]) * kept.coil[old]
    if i >= moving:
        coil += spin_of(b, i) * s.h
    if j >= moving:
        coil -= spin_of(b, j) * s.h
    t.coil[c] = coil
    t.roll_arm[c] = wp.max(surfaces.rolling[i], surfaces.rolling[j])
    t.spin_arm[c] = wp.max(surfaces.torsional[i], surfaces.torsional[j])
    t.press[c] = press
    t.stretch[c] = stretch


@wp.kernel(enable_backward=False)
def harden_contacts(s: Scheme, surfaces: Surfaces, t: Touches, land: Islands):
    """Stiffness for the heaviest component of each island: nothing sinks in, whatever rests on it."""
    island = wp.tid()
    if island >= land.count[0]:
        return
    heaviest = real(0.0)
    for e in range(land.start[island], land.start[island + 1]):
        heaviest = wp.max(heaviest, land.mass[land.member[e]])
    for e in range(land.touch_start[island], land.touch_start[island + 1]):
        c = land.touch[e]
        own = wp.max(surfaces.mass[t.a[c]], surfaces.mass[t.b[c]])
        t.stiffness[c] = HARDNESS * wp.min(heaviest, HEAVIEST * own) / (s.h * s.h)


@wp.kernel(enable_backward=False)
def keep_contacts(b: Bodies, t: Touches, kept: Kept):
    c = wp.tid()
    if c < t.count[0]:
        kept.press[c] = t.press[c]
        back = wp.transpose(linear_part(b.Q[t.b[c]]))
        kept.stretch[c] = back * t.stretch[c]
        kept.coil[c] = back * t.coil[c]


@wp.kernel(enable_backward=False)
def sum_energy(t: Touches, energy: wp.array(dtype=wp.float64)):
    """In the springs of all contacts, J."""
    total = real(0.0)
    for c in range(t.count[0]):
        press = t.press[c]
        spin = wp.dot(t.normal[c], t.coil[c])
        roll = wp.length_sq(t.coil[c]) - spin * spin
        wound = t.roll_arm[c] * t.roll_arm[c] * roll + t.spin_arm[c] * t.spin_arm[c] * spin * spin
        total += press * press / t.stiffness[c] + t.stiffness[c] * (wp.length_sq(t.stretch[c]) + wound)
    energy[0] = real(0.5) * total
