"""From contacts found to springs: what each begins the step with, and what it leaves to the next."""

import warp as wp

from linkwork.contact.contacts import Contacts
from linkwork.mabd.affine import linear_part, point_at, real, translation_part, vec3
from linkwork.mabd.bodies import Bodies, Scheme
from linkwork.mabd.islands import Islands
from linkwork.mabd.touches import Touches

HARDNESS = wp.constant(wp.float64(250.0))  # a contact's stiffness in units of mass / h^2
HEAVIEST = wp.constant(wp.float64(1.0e4))  # load in masses of the lighter body that stiffness allows for


@wp.struct
class Surfaces:
    """Of each row of Bodies."""

    mass: wp.array(dtype=wp.float64)  # kg, 0 where it does not move freely
    friction: wp.array(dtype=wp.float64)
    restitution: wp.array(dtype=wp.float64)


@wp.struct
class Kept:
    """What contacts of the last step left."""

    press: wp.array(dtype=wp.float64)  # N
    stretch: wp.array(dtype=vec3)  # m, in the principal frame of b


@wp.func
def skin_point(b: Bodies, i: int, core: vec3, arm: vec3) -> vec3:
    """Material point at the core point plus an arm of the world."""
    Q = b.Q[i]
    if wp.length_sq(arm) == real(0.0):
        return core
    return core + wp.inverse(linear_part(Q)) * arm


@wp.func
def speed_at(b: Bodies, i: int, X: vec3) -> vec3:
    return point_at(b.V[i], X)


@wp.kernel(enable_backward=False)
def begin_contacts(b: Bodies, s: Scheme, contacts: Contacts, surfaces: Surfaces, kept: Kept, t: Touches, moving: int):
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
    t.radii[c] = contacts.radius_a[c] + contacts.radius_b[c]
    skin_a = skin_point(b, i, contacts.point_a[c], n * (-contacts.radius_a[c]))
    skin_b = skin_point(b, j, contacts.point_b[c], n * contacts.radius_b[c])
    t.skin_a[c] = skin_a
    t.skin_b[c] = skin_b
    parted = point_at(b.Q[i], skin_a) - point_at(b.Q[j], skin_b)
    # bodies that follow a trajectory are at the end of the step already
    if i >= moving:
        parted -= speed_at(b, i, skin_a) * s.h
    if j >= moving:
        parted += speed_at(b, j, skin_b) * s.h
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
    t.friction[c] = wp.sqrt(surfaces.friction[i] * surfaces.friction[j])
    press = real(0.0)
    stretch = vec3()
    old = contacts.predecessor[c]
    if old >= 0:
        press = kept.press[old]
        stretch = linear_part(b.Q[j]) * kept.stretch[old]
        stretch = stretch - n * wp.dot(n, stretch)
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
        kept.stretch[c] = wp.transpose(linear_part(b.Q[t.b[c]])) * t.stretch[c]
