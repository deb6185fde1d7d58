"""Seeded random mechanisms: chains, trees, loops and graphs of mixed joints, with drives, limits and every kind of anchor."""

from __future__ import annotations

import numpy as np
from oracles.dense_kkt import AT_LOWER, AT_UPPER, FIRST_STEP, POSITION, VELOCITY
from scipy.spatial.transform import Rotation

import linkwork as lw

PARTS = ("ball chain", "chain", "tree", "loop", "graph", "hinge loop")
FORESTS = ("plain forest", "elastic forest")
TOPOLOGIES = (*PARTS, "mixture", *FORESTS)
FREE_COORDINATES = {
    "Fixed": 0, "Ball": 3, "Hinge": 1, "Prismatic": 1, "Cylindrical": 2, "Universal": 2, "Planar": 3, "Cartesian": 3,
    "Rectangular": 2, "PinInSlot": 2, "Slot": 4, "Free": 6, "Distance": 0,
}  # fmt: skip


def unit(rng):
    v = rng.normal(size=3)
    return v / np.linalg.norm(v)


def perpendicular(rng):
    """Two random perpendicular axes."""
    a = unit(rng)
    b = np.cross(a, unit(rng))
    return a, b / np.linalg.norm(b)


def random_kind(rng, name, calm):
    match name:
        case "Ball":
            own = {}
            if rng.random() < 0.4:
                own |= {"bending_stiffness": rng.uniform(0.1, 10), "bending_damping": rng.uniform(0, 0.1)}
            if rng.random() < 0.3:
                own |= {"twisting_stiffness": rng.uniform(0.1, 10), "twisting_damping": rng.uniform(0, 0.1)}
            if rng.random() < 0.3 and not calm:
                own |= {"swing_limit": rng.uniform(0.1, 1.5)}
            return lw.Ball(axis=unit(rng), **own)
        case "Hinge" | "Prismatic" | "Cylindrical" | "Planar" | "Slot":
            return getattr(lw, name)(unit(rng))
        case "Universal" | "Rectangular" | "PinInSlot":
            return getattr(lw, name)(*perpendicular(rng))
        case "Cartesian":
            return lw.Cartesian(Rotation.random(random_state=rng).as_matrix())
        case "Distance":
            return lw.Distance(limits=(0.0, 10.0)) if rng.random() < 0.3 and not calm else lw.Distance()
        case _:
            return getattr(lw, name)()


def random_laws(rng, kind, name, calm):
    """Keywords of add_joint: one entry for each free coordinate."""
    count = FREE_COORDINATES[name]
    own = isinstance(kind, lw.Ball)
    laws = {"spring": [], "damping": [], "friction": [], "drive": [], "limits": []}
    if isinstance(kind, lw.Distance) and kind.limits is not None:
        return {"spring": rng.uniform(1, 100), "damping": rng.uniform(0, 1)}
    for _ in range(count):
        active = rng.random() < 0.5
        laws["spring"].append(
            lw.Spring(rng.uniform(0.1, 100), rng.normal() * 0.1) if active and not own and rng.random() < 0.4 else None
        )
        laws["damping"].append(rng.uniform(0.01, 2) if active and not own and rng.random() < 0.4 else None)
        drive = None
        if active:
            limit = rng.uniform(0.01, 0.5) if rng.random() < 0.3 else np.inf
            drive = [
                lw.PD(rng.uniform(1, 1e3), rng.uniform(0, 10), rng.normal() * 0.1, rng.normal() * 0.1, limit),
                lw.Force(rng.normal()),
                lw.Velocity(rng.normal() * 0.2, rng.uniform(0.1, 5)),
                lw.Position(rng.normal() * 1e-3),
                None,
            ][rng.choice([0, 1, 4] if calm else [0, 0, 1, 2, 3, 4])]
        laws["drive"].append(drive)
        hard = isinstance(drive, lw.Position | lw.Velocity)
        limited = active and not calm and not hard and rng.random() < 0.4 and not (own and kind.swing_limit is not None)
        laws["limits"].append((-rng.uniform(0.01, 1), rng.uniform(0.01, 1)) if limited else None)
        rubbing = active and not calm and not hard and rng.random() < 0.3
        laws["friction"].append(rng.uniform(0.01, 2) if rubbing else None)
    given = {name: value for name, value in laws.items() if any(v is not None for v in value)}
    if count == 1:
        given = {name: value[0] for name, value in given.items()}
    return given


def random_system(topology, seed, *, calm=False):
    """A scene of 3 to 12 bodies. calm: at rest and without prescribed coordinates, so that redundant rows agree."""
    rng = np.random.default_rng([TOPOLOGIES.index(topology), seed])
    scene = lw.Scene(contact=False, gravity=rng.normal(size=3) * 5.0)
    if topology == "mixture":
        parts = [str(rng.choice(PARTS)) for _ in range(3)]
        for k, part in enumerate(parts):
            add_part(scene, rng, part, int(rng.integers(2, 5)), calm, np.array([3.0 * k, 0, 0]))
        scene.add_body(lw.Sphere(0.1), position=(0, 5, 0), velocity=unit(rng), angular_velocity=unit(rng))
    elif topology in FORESTS:
        add_forest(scene, rng, topology == "elastic forest", calm)
    else:
        add_part(scene, rng, topology, int(rng.integers(3, 11)), calm, np.zeros(3))
    return scene


def motion_of(rng, calm, speed=1.0):
    return {} if calm else {"velocity": rng.normal(size=3) * speed, "angular_velocity": rng.normal(size=3) * 3 * speed}


def material_of(rng):
    # rounding in a stress of 1e-16 E acts as geometric stiffness against spin inertia: E stays moderate for 1e-9
    return lw.Material(young=10.0 ** rng.uniform(7, 8.5), poisson=rng.uniform(0.0, 0.45))


def anchor(scene, rng, position, calm):
    """The ground, a fixed body, or one that follows a trajectory."""
    choice = rng.integers(3)
    if choice == 0:
        return scene.ground
    rotation = Rotation.random(random_state=rng)
    if choice == 1 or calm:
        return scene.add_body(lw.Box(0.1, 0.1, 0.1), position=position, rotation=rotation, fixed=True)
    spin, speed, start = rng.normal(size=3), rng.normal(size=3), rotation.as_matrix()

    def trajectory(t):
        return position + t * speed, Rotation.from_rotvec(spin * t).as_matrix() @ start

    return scene.add_body(lw.Box(0.1, 0.1, 0.1), position=None, trajectory=trajectory)


def add_part(scene, rng, topology, count, calm, origin):
    if topology == "ball chain":
        return add_ball_chain(scene, rng, count, calm, origin)
    if topology == "hinge loop":
        return add_hinge_loop(scene, rng, calm, origin)
    positions = origin + rng.uniform(-0.3, 0.3, (count, 3)) * count**0.3
    bodies = [
        scene.add_body(
            lw.Box(*rng.uniform(0.05, 0.3, 3)), position=p, rotation=Rotation.random(random_state=rng),
            density=rng.uniform(300, 3000), material=material_of(rng), **motion_of(rng, calm),
        )
        for p in positions
    ]  # fmt: skip
    if topology == "chain":
        pairs = [(i, i + 1) for i in range(count - 1)]
    elif topology == "loop":
        pairs = [(i, (i + 1) % count) for i in range(count)]
    else:
        pairs = [(int(rng.integers(i)), i) for i in range(1, count)]
        if topology == "graph":
            extra = int(rng.integers(1, 4))
            pairs += [tuple(int(x) for x in rng.choice(count, 2, replace=False)) for _ in range(extra)]
    names = list(FREE_COORDINATES)
    for a, b in pairs:
        if rng.random() < 0.5:
            a, b = b, a
        add_random_joint(scene, rng, str(rng.choice(names)), bodies[a], bodies[b], positions[a], positions[b], calm)
    for _ in range(int(rng.integers(0, 3)) if topology == "graph" else int(rng.integers(0, 2))):
        k = int(rng.integers(count))
        point = positions[k] + rng.normal(size=3) * 0.2
        sides = [(anchor(scene, rng, point, calm), point), (bodies[k], positions[k])]
        if rng.random() < 0.3:
            sides.reverse()
        add_random_joint(scene, rng, str(rng.choice(names)), sides[0][0], sides[1][0], sides[0][1], sides[1][1], calm)
    for k in range(0, count, 3):
        scene.add_force(bodies[k], force=rng.normal(size=3), torque=rng.normal(size=3) * 0.1, at=positions[k] + 0.1)
    return None


def add_random_joint(scene, rng, name, base, follower, base_position, follower_position, calm):
    kind = random_kind(rng, name, calm)
    middle = 0.5 * (base_position + follower_position) + rng.normal(size=3) * 0.05
    at = np.stack([base_position, follower_position]) + 0.05 * rng.normal(size=(2, 3)) if name == "Distance" else middle
    scene.add_joint(kind, base, follower, at=at, **random_laws(rng, kind, name, calm))


def add_ball_chain(scene, rng, count, calm, origin):
    """Links joined on one of their principal axes, hung at none, one or both ends."""
    along = int(rng.integers(3))
    point = origin.copy()
    last = anchor(scene, rng, point, calm) if rng.random() < 0.7 else None
    for k in range(count):
        length = rng.uniform(0.1, 0.3)
        size = rng.uniform(0.03, 0.06, 3)
        size[along] = length
        rotation = Rotation.random(random_state=rng)
        axis = rotation.as_matrix()[:, along]
        body = scene.add_body(
            lw.Box(*size), position=point + 0.5 * length * axis, rotation=rotation, density=rng.uniform(300, 3000),
            material=material_of(rng), **motion_of(rng, calm),
        )  # fmt: skip
        if last is not None:
            pair = (last, body) if rng.random() < 0.6 else (body, last)
            scene.add_joint(lw.Ball(), *pair, at=point)
        point = point + length * axis
        last = body
        if k % 3 == 1:
            scene.add_force(body, force=rng.normal(size=3), torque=rng.normal(size=3) * 0.01)
    if rng.random() < 0.4:
        scene.add_joint(lw.Ball(), anchor(scene, rng, point, calm), last, at=point)


def add_forest(scene, rng, elastic, calm):
    """Trees of one shape and of different bodies side by side: plain balls, or elastic ones with fixed joints between."""
    count = int(rng.integers(1, 6))
    parent = [-1] + [int(rng.integers(k)) for k in range(1, count)]
    anchored, turned = rng.random() < 0.8, rng.random(count) < 0.4
    for copy in range(int(rng.integers(5, 11))):
        positions = np.array([2.0 * copy, 0, 0]) + rng.uniform(-0.3, 0.3, (count, 3))
        bodies = [
            scene.add_body(
                lw.Box(*rng.uniform(0.05, 0.3, 3)), position=p, rotation=Rotation.random(random_state=rng),
                density=rng.uniform(300, 3000), material=material_of(rng), **motion_of(rng, calm),
            )
            for p in positions
        ]  # fmt: skip
        for k in range(count):
            if k == 0 and not anchored:
                continue
            point = positions[k] + rng.normal(size=3) * 0.1
            base = anchor(scene, rng, point, calm) if k == 0 else bodies[parent[k]]
            pair = (bodies[k], base) if turned[k] else (base, bodies[k])
            laws = {}
            kind = lw.Ball(axis=unit(rng))
            if elastic and rng.random() < 0.3:
                kind = lw.Fixed()
            elif elastic:
                laws["spring"] = [lw.Spring(rng.uniform(1, 100), rng.normal() * 0.2) for _ in range(3)]
                laws["damping"] = list(rng.uniform(0, 1, 3))
                if rng.random() < 0.3:
                    laws["drive"] = [lw.PD(rng.uniform(1, 50), rng.uniform(0, 1), rng.normal() * 0.1), None, None]
            scene.add_joint(kind, *pair, at=point, **laws)
        if rng.random() < 0.5:
            scene.add_force(
                bodies[-1], force=rng.normal(size=3), torque=rng.normal(size=3) * 0.1, at=positions[-1] + 0.1
            )


def add_hinge_loop(scene, rng, calm, origin):
    """Four-bar windows with parallel hinges in a skew plane, moving as they can: two redundant rows and more a loop."""
    turn = Rotation.random(random_state=rng).as_matrix()
    rate = 0.0 if calm else rng.normal()
    windows = int(rng.integers(1, 4))
    x, y, z = turn.T
    lean = rng.uniform(-0.5, 0.5)
    up = np.cos(lean) * y + np.sin(lean) * x
    swing = -rate * np.cross(z, up)

    def bar(a, b, velocity, spin):
        axis = (b - a) / np.linalg.norm(b - a)
        frame = np.stack([axis, np.cross(z, axis), z], axis=1)
        return scene.add_body(
            lw.Box(float(np.linalg.norm(b - a)), 0.03, 0.05), position=0.5 * (a + b), rotation=frame, velocity=velocity,
            angular_velocity=spin, material=material_of(rng),
        )  # fmt: skip

    feet = [origin + k * x for k in range(windows + 1)]
    posts = [bar(p, p + up, 0.5 * swing, -rate * z) for p in feet]
    for post, foot in zip(posts, feet, strict=True):
        scene.add_joint(lw.Hinge(z), scene.ground, post, at=foot, damping=rng.uniform(0, 1))
    for k in range(windows):
        top = bar(feet[k] + up, feet[k + 1] + up, swing, np.zeros(3))
        scene.add_joint(lw.Hinge(z), posts[k], top, at=feet[k] + up)
        drive = lw.PD(rng.uniform(1, 100), rng.uniform(0, 1), rng.normal()) if rng.random() < 0.5 else None
        scene.add_joint(lw.Hinge(-z), top, posts[k + 1], at=feet[k + 1] + up, drive=drive)


def random_pieces(model, rng):
    """A piece for each law: at a limit, held by friction or a motor, or on a step between."""
    pieces = np.full(len(model.law_joint), FIRST_STEP)
    for i in range(len(pieces)):
        if model.drive[i] == POSITION:
            continue
        corners = int(model.friction[i] > 0) + int(model.drive[i] == VELOCITY and model.max_force[i] > 0)
        choices = [FIRST_STEP + place for place in range(2 * corners + 1)]
        if np.isfinite(model.upper[i]):
            choices.append(AT_UPPER)
        if np.isfinite(model.lower[i]):
            choices.append(AT_LOWER)
        pieces[i] = rng.choice(choices)
    return pieces
