"""From a scene to a model: gathers the scene's columns into principal frames, without a loop over bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError
from linkwork.model.model import Model

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

__all__ = ["build_model"]

Array = NDArray[np.float64]

MOVING = 0


def build_model(scene: Scene) -> Model:
    """Freeze a scene into the arrays that solvers read.

    Raises:
        SceneError: the scene has no moving body.
    """
    _require_motion(scene)
    bodies = _body_columns(scene)
    columns = {
        **bodies,
        **_joint_columns(scene, bodies["rotation"], bodies["translation"]),
        **_law_columns(scene),
        **_force_columns(scene, bodies["rotation"], bodies["translation"]),
    }
    for column in columns.values():
        column.flags.writeable = False
    return Model(
        **columns,
        body_names=scene.body_names.frozen(),
        joint_names=scene.joint_names.frozen(),
        trajectories=dict(scene.trajectories),
        contact_rules=scene.contact_book.rules(len(bodies["motion"])),
        shapes=scene.shapes(),
    )


def _require_motion(scene: Scene) -> None:
    motion = scene.body_table["motion"]
    if not len(motion):
        raise SceneError("the scene has no bodies; add one with scene.add_body(lw.Box(0.1, 0.1, 0.1))")
    if (motion != MOVING).all():
        raise SceneError(
            f"the scene has no moving body: all {len(motion)} are fixed or follow a trajectory; "
            "leave fixed=True and trajectory= out for at least one"
        )


def _body_columns(scene: Scene) -> dict[str, NDArray[Any]]:
    table, kinds = scene.body_table, scene.mass_table
    kind = table["mass_kind"]
    gathered = {
        name: _of_kind(kinds[name], kind) for name in ("mass", "volume", "com", "size", "lame_mu", "lame_lambda")
    }
    principal = _of_kind(kinds["axes"], kind)
    rotation = table["rotation"]
    return {
        **gathered,
        "gravity": np.array(scene.gravity, dtype=np.float64),
        "motion": table["motion"].copy(),
        "second_moments": _of_kind(kinds["moments"], kind),
        "contact_friction": _of_kind(kinds["friction"], kind),
        "contact_restitution": _of_kind(kinds["restitution"], kind),
        "contact_rolling_friction": _of_kind(kinds["rolling_friction"], kind),
        "contact_torsional_friction": _of_kind(kinds["torsional_friction"], kind),
        "principal": principal,
        "rotation": rotation @ principal,
        "translation": table["position"] + np.einsum("nij,nj->ni", rotation, gathered["com"]),
        "velocity": table["velocity"].copy(),
        "angular_velocity": table["angular_velocity"].copy(),
    }


def _of_kind(column: NDArray[Any], kind: NDArray[np.int32]) -> NDArray[Any]:
    """The entry of each body's kind; where all bodies are of one kind, one entry in memory stands for all."""
    if (kind == kind[0]).all():
        return np.broadcast_to(column[kind[0]], (len(kind), *column.shape[1:]))
    return column.take(kind, axis=0)


def _joint_columns(scene: Scene, rotation: Array, translation: Array) -> dict[str, NDArray[Any]]:
    table = scene.joint_table
    base, follower = table["base"].copy(), table["follower"].copy()
    point_base, point_follower, frame = table["point_base"], table["point_follower"], table["frame"]
    return {
        "joint_kind": table["kind"].copy(),
        "joint_base": base,
        "joint_follower": follower,
        "point_base": _points_in_body(point_base, base, rotation, translation),
        "point_follower": _points_in_body(point_follower, follower, rotation, translation),
        "frame_base": _axes_in_body(frame, base, rotation),
        "frame_follower": _axes_in_body(frame, follower, rotation),
        "length": table["length"].copy(),
        "distance_locked": table["distance_locked"].copy(),
    }


def _points_in_body(points: Array, body: NDArray[np.int32], rotation: Array, translation: Array) -> Array:
    """X = R^T (x - t); points on the ground stay as they are."""
    # the ground, -1, borrows the last body for the moment
    turned = rotation.take(body, axis=0, mode="wrap")
    local: Array = np.einsum("nji,nj->ni", turned, points - translation.take(body, axis=0, mode="wrap"))
    local[body < 0] = points[body < 0]
    return local


def _axes_in_body(frames: Array, body: NDArray[np.int32], rotation: Array) -> Array:
    """R^T F; frames on the ground stay as they are."""
    local: Array = rotation.take(body, axis=0, mode="wrap").transpose(0, 2, 1) @ frames
    local[body < 0] = frames[body < 0]
    return local


def _law_columns(scene: Scene) -> dict[str, NDArray[Any]]:
    table = scene.law_table
    order = np.lexsort((table["slot"], table["joint"]))
    names = {"joint": "law_joint", "slot": "law_slot"}
    return {names.get(name, name): table[name].take(order) for name in table.names}


def _force_columns(scene: Scene, rotation: Array, translation: Array) -> dict[str, NDArray[Any]]:
    table = scene.force_table
    body = table["body"].copy()
    return {
        "force_body": body,
        "force_point": _points_in_body(table["point"], body, rotation, translation),
        "force_vector": table["force"].copy(),
        "force_torque": table["torque"].copy(),
    }
