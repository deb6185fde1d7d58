"""Adding joints and forces to a scene's tables."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError, SceneIndexError
from linkwork.scene.handles import Bodies, Body, Indices
from linkwork.scene.inputs import Array, Label, numbers, positive, require, vectors
from linkwork.scene.joints import Distance, JointKind
from linkwork.scene.laws import LAW_COLUMNS, joint_laws

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

__all__ = ["add", "add_force", "body_indices", "count_of", "kind_of"]

MOVING = 0


def body_indices(scene: Scene, bodies: Any, who: str) -> tuple[Indices, bool]:
    """Indices of bodies given as handles or numbers, and whether a single body was given.

    Raises:
        SceneError: a body of another scene, an index that does not exist, or something that is no body.
    """
    if isinstance(bodies, Body | Bodies):
        if bodies.scene is not scene:
            raise SceneError(f"{who}: {bodies!r} belongs to another scene; use bodies of the scene you add to")
        return (np.array([bodies.index], dtype=np.int32), True) if isinstance(bodies, Body) else (bodies.indices, False)
    if isinstance(bodies, list | tuple) and any(isinstance(body, Body) for body in bodies):
        rows = [body_indices(scene, body, who)[0] for body in bodies]
        return np.concatenate(rows), False
    indices = np.asarray(bodies) if not isinstance(bodies, str | bytes | None) else np.asarray("")
    if indices.size == 0 and indices.ndim == 1:
        return np.zeros(0, dtype=np.int32), False
    if indices.dtype.kind not in "iu" or indices.ndim > 1:
        raise SceneError(f"{who} must be a body, bodies, scene.ground or indices, got {type(bodies).__name__}")
    count = len(scene.body_table)
    unknown = (indices < -1) | (indices >= count)
    if np.any(unknown):
        bad = int(np.atleast_1d(indices)[np.argmax(np.atleast_1d(unknown))])
        raise SceneIndexError(f"{who}: there is no body {bad}; indices go from 0 to {count - 1}, -1 is the ground")
    return np.atleast_1d(indices).astype(np.int32), indices.ndim == 0


def count_of(scene: Scene, bases: Any, followers: Any, name: str | None) -> int:
    """Number of joints that bases and followers make, a single body counting as often as needed."""
    who = "joint set" if name is None else f'joint set "{name}"'
    base, lone_base = body_indices(scene, bases, f"{who}: bases")
    follower, lone_follower = body_indices(scene, followers, f"{who}: followers")
    if not lone_base and not lone_follower and len(base) != len(follower):
        raise SceneError(f"{who}: {len(base)} bases but {len(follower)} followers; give as many of each")
    return len(follower) if lone_base else len(base)


def add(
    scene: Scene, kind: JointKind, bases: Any, followers: Any, at: ArrayLike | None, label: Label, laws: dict[str, Any]
) -> int:
    """Check and append label.rows joints; returns the index of the first."""
    if isinstance(kind, type) and issubclass(kind, JointKind):
        raise SceneError(f"{label.whole()}: pass an instance of the joint kind: {kind.__name__}(...)")
    if not isinstance(kind, JointKind):
        raise SceneError(f"{label.whole()}: kind must be a joint such as Hinge(axis=(0, 0, 1)), got {kind!r}")
    base, follower = _pairs(scene, bases, followers, label)
    point_base, point_follower = _points(scene, kind, base, follower, at, label)
    locked = np.array(False)
    free = kind.row.free
    start = np.zeros(label.rows)
    if isinstance(kind, Distance):
        laws = _distance_limits(kind, laws, label)
        start = _start_length(kind, point_base, point_follower, label)
        free, locked = ((), np.array(True)) if laws["limits"] is None else (free, locked)
    rows = joint_laws(kind, free, start, label, **laws)
    first = scene.joint_table.append(
        label.rows,
        kind=int(kind.id),
        base=base,
        follower=follower,
        point_base=point_base,
        point_follower=point_follower,
        frame=kind.start_frame(label),
        length=start,
        distance_locked=locked,
    )
    for slot, row in rows.items():
        scene.law_table.append(label.rows, joint=np.arange(first, first + label.rows), slot=slot, **(LAW_COLUMNS | row))
    scene.joint_names.append(first, label.name, single=label.count is None)
    scene._joint_kinds.append((first, kind))
    return first


def kind_of(kinds: list[tuple[int, JointKind]], index: int) -> JointKind:
    """The kind of the joint with this index."""
    return kinds[bisect_right(kinds, index, key=lambda entry: entry[0]) - 1][1]


def _pairs(scene: Scene, bases: Any, followers: Any, label: Label) -> tuple[Indices, Indices]:
    sides = []
    for role, bodies in (("base", bases), ("follower", followers)):
        indices, single = body_indices(scene, bodies, f"{label.whole()}: {role}")
        if label.count is None and not single:
            raise SceneError(f"{label()}: {role} must be one body; use add_joints for many")
        sides.append(np.broadcast_to(indices, label.rows))
    base, follower = sides
    names = scene.body_names
    require(
        base != follower,
        label,
        lambda i: f"joins {names.label(int(base[i]))} with itself; give two different bodies",
    )
    motion = scene.body_table["motion"]
    held_base, held_follower = _held(motion, base), _held(motion, follower)
    require(
        ~(held_base & held_follower),
        label,
        lambda i: (
            f"neither {names.label(int(base[i]))} nor {names.label(int(follower[i]))} can move; "
            "leave the joint out or free one of them"
        ),
    )
    return base, follower


def _held(motion: Any, body: Indices) -> Any:
    """Whether bodies are fixed, kinematic or the ground."""
    return (body < 0) | (motion[body] != MOVING) if len(motion) else body < 0


def _origins(scene: Scene, body: Indices) -> Array:
    """Body origins in the world (rows, 3); the world's own for the ground."""
    origins = np.zeros((len(body), 3))
    real = body >= 0
    origins[real] = scene.body_table["position"][body[real]]
    return origins


def _centres(scene: Scene, body: Indices) -> Array:
    """Centres of mass in the world (rows, 3); the world's origin for the ground."""
    centres = _origins(scene, body)
    real = body >= 0
    members = body[real]
    com = scene.mass_table["com"][scene.body_table["mass_kind"][members]]
    centres[real] += np.einsum("nij,nj->ni", scene.body_table["rotation"][members], com)
    return centres


def _points(
    scene: Scene, kind: JointKind, base: Indices, follower: Indices, at: ArrayLike | None, label: Label
) -> tuple[Array, Array]:
    """World points of the joint on base and follower, (rows, 3) each."""
    if not isinstance(kind, Distance):
        point = _origins(scene, follower) if at is None else vectors(at, "at", label)
        return point, point
    if at is None:
        return _centres(scene, base), _centres(scene, follower)
    shape = np.shape(at)
    if len(shape) == 3 or (shape == (2, 3) and label.count is None):
        both = numbers(at, "at", (2, 3), label)
        return both[:, 0], both[:, 1]
    return vectors(at, "at", label), _centres(scene, follower)


def _distance_limits(kind: Distance, laws: dict[str, Any], label: Label) -> dict[str, Any]:
    if kind.limits is None:
        if laws["limits"] is not None and kind.length is not None:
            raise SceneError(f"{label.whole()}: length and limits exclude each other; leave one out")
        return laws
    if laws["limits"] is not None:
        raise SceneError(f"{label.whole()}: limits given twice, by Distance itself and by limits=; give them once")
    return laws | {"limits": kind.limits}


def _start_length(kind: Distance, point_base: Array, point_follower: Array, label: Label) -> Array:
    distance: Array = np.linalg.norm(point_follower - point_base, axis=1)
    scale = np.maximum(np.abs(point_base).max(axis=1), np.abs(point_follower).max(axis=1))
    require(
        distance > 1e-12 * scale,
        label,
        lambda i: "its two points coincide, so their distance has no direction; move one, or use a Ball",
    )
    if kind.length is None:
        return np.asarray(distance)
    length = np.array(positive(kind.length, "length", label))
    require(
        np.abs(length - distance) <= 1e-6 * length,
        label,
        lambda i: (
            f"length is {length[i]:g}, but its points are {distance[i]:g} apart in the start pose; "
            "move the bodies or leave length out"
        ),
    )
    return length


def add_force(scene: Scene, bodies: Any, force: Any, torque: Any, at: Any) -> None:
    """Check and append constant forces."""
    indices, single = body_indices(scene, bodies, "add_force: bodies")
    label = Label("add_force", count=None if single else len(indices))
    if force is None and torque is None:
        raise SceneError("add_force: give a force, a torque or both")
    if at is not None and force is None:
        raise SceneError("add_force: at needs a force; a torque has no point of attack")
    require(indices >= 0, label, lambda i: "a force on the ground has no effect; name a body")
    scene.force_table.append(
        len(indices),
        body=indices,
        point=_centres(scene, indices) if at is None else vectors(at, "at", label),
        force=vectors((0.0, 0.0, 0.0) if force is None else force, "force", label),
        torque=vectors((0.0, 0.0, 0.0) if torque is None else torque, "torque", label),
    )
