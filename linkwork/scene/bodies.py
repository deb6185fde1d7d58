"""Adding bodies to a scene's tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.scene.inputs import Label, RotationLike, rotations, vectors
from linkwork.scene.masses import read_masses
from linkwork.scene.materials import Material
from linkwork.scene.shapes import Shape
from linkwork.scene.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwork.scene.scene import Scene

__all__ = ["add", "count_of"]

MOVING, FIXED, KINEMATIC = 0, 1, 2


def count_of(positions: ArrayLike, name: str | None) -> int:
    """Number of bodies from their positions (n, 3)."""
    shape = (
        np.shape(np.asarray(positions, dtype=object)) if isinstance(positions, list | tuple) else np.shape(positions)
    )
    if len(shape) == 1 and shape[0] == 0:
        return 0
    if len(shape) != 2 or shape[1] != 3:
        which = f'body set "{name}"' if name is not None else "body set"
        raise SceneError(f"{which}: positions must have shape (n, 3), got {shape}; use add_body for a single body")
    return int(shape[0])


def add(
    scene: Scene,
    shape: Shape | Sequence[Shape] | None,
    label: Label,
    *,
    position: ArrayLike | None,
    rotation: RotationLike | None,
    velocity: ArrayLike | None,
    angular_velocity: ArrayLike | None,
    density: ArrayLike,
    material: Material,
    mass: ArrayLike | None,
    inertia: ArrayLike | None,
    com: ArrayLike | None,
    fixed: bool,
    trajectory: Trajectory | None = None,
    group: str | None = None,
) -> int:
    """Check and append label.rows bodies; returns the index of the first."""
    if not isinstance(fixed, bool | np.bool_):
        raise SceneError(f"{label.whole()}: fixed must be True or False, got {fixed!r}")
    if not isinstance(material, Material):
        raise SceneError(f"{label.whole()}: material must be a Material, got {type(material).__name__}")
    number = scene.contact_book.group(group, label.whole())
    motion = FIXED if fixed else KINEMATIC if trajectory is not None else MOVING
    origin, turn, speed, spin = _start_state(
        label, position, rotation, velocity, angular_velocity, fixed=fixed, trajectory=trajectory
    )
    given = {"density": density, "mass": mass, "inertia": inertia, "com": com}
    mass_kind = _mass_kinds(scene, shape, label, material, given, motion)
    if trajectory is not None and velocity is None and angular_velocity is None:
        # the centre of mass moves with the prescribed origin: v + w x R c
        speed, spin = (rate[None] for rate in trajectory.start_rates())
        speed = speed + np.cross(spin, turn[0] @ scene.mass_table["com"][mass_kind])
    start = scene.body_table.append(
        label.rows,
        motion=motion,
        mass_kind=mass_kind,
        position=origin,
        rotation=turn,
        velocity=speed,
        angular_velocity=spin,
    )
    scene.body_names.append(start, label.name, single=label.count is None)
    if trajectory is not None:
        scene.trajectories[start] = trajectory
    scene.contact_book.enrol(number, start, label.rows)
    _draw(scene, shape, start, label.rows)
    return start


def _start_state(
    label: Label,
    position: ArrayLike | None,
    rotation: RotationLike | None,
    velocity: ArrayLike | None,
    angular_velocity: ArrayLike | None,
    *,
    fixed: bool,
    trajectory: Trajectory | None,
) -> tuple[Any, Any, Any, Any]:
    """Origins (rows, 3), rotations (rows, 3, 3), velocities (rows, 3) and angular velocities (rows, 3)."""
    zero = (0.0, 0.0, 0.0)
    turn = rotations(rotation, "rotation", label)
    if label.count is None:
        origin = vectors(zero if position is None else position, "position", label)
    else:
        origin = vectors(position if label.count else np.zeros((0, 3)), "positions", label)
    if trajectory is not None:
        if fixed:
            raise SceneError(f"{label()}: fixed=True and a trajectory exclude each other; leave one out")
        start_position, start_rotation = trajectory(0.0)
        if position is not None and np.abs(origin[0] - start_position).max() > 1e-9:
            raise SceneError(
                f"{label()}: trajectory starts at {start_position.tolist()}, not at position; leave it out"
            )
        if rotation is not None and np.abs(turn[0] - start_rotation).max() > 1e-9:
            raise SceneError(f"{label()}: trajectory starts with another rotation than the one given; leave it out")
        origin, turn = start_position[None], start_rotation[None]
    speed = vectors(zero if velocity is None else velocity, "velocity", label)
    spin = vectors(zero if angular_velocity is None else angular_velocity, "angular_velocity", label)
    if fixed and (speed.any() or spin.any()):
        raise SceneError(f"{label.whole()}: a fixed body cannot have a velocity; leave velocity or fixed=True out")
    return origin, turn, speed, spin


def _mass_kinds(scene: Scene, shape: Any, label: Label, material: Material, given: dict[str, Any], motion: int) -> Any:
    """Rows of the mass table for the bodies: one shared row, or one for each."""
    if isinstance(shape, list | tuple):
        return _mass_kinds_of_list(scene, shape, label, material, given, motion)
    if shape is not None and not isinstance(shape, Shape):
        got = f"the class {shape.__name__}" if isinstance(shape, type) else f"a {type(shape).__name__}"
        raise SceneError(f"{label.whole()}: shape must be a shape such as Box(0.1, 0.1, 0.1), got {got}")
    if shape is not None and shape.massless and motion != FIXED:
        what = type(shape).__name__.lower()
        raise SceneError(f"{label.whole()}: a {what} has no mass and cannot move; set fixed=True or use a Box")
    if label.rows == 0:
        return 0
    key = None
    if isinstance(given["density"], float | int) and all(given[name] is None for name in ("mass", "inertia", "com")):
        key = (shape, float(given["density"]), material, motion == MOVING)
        if key in scene._mass_kinds and (shape is None or shape.count is None):
            return scene._mass_kinds[key]
    masses = read_masses(shape, label, **given, moves=motion == MOVING)
    mu, lam = material.lame
    rows = len(masses.mass)
    first = scene.mass_table.append(
        rows,
        **masses.columns(),
        lame_mu=mu,
        lame_lambda=lam,
        friction=material.friction,
        restitution=material.restitution,
        rolling_friction=material.rolling_friction,
        torsional_friction=material.torsional_friction,
    )
    if rows != 1:
        return np.arange(first, first + rows)
    if key is not None and (shape is None or shape.count is None):
        scene._mass_kinds[key] = first
    return first


def _mass_kinds_of_list(
    scene: Scene, shapes: Sequence[Any], label: Label, material: Material, given: dict[str, Any], motion: int
) -> Any:
    if label.count is None or len(shapes) != label.count:
        raise SceneError(
            f"{label.whole()}: a list of shapes needs one for each body ({label.rows}), got {len(shapes)}; "
            "join several shapes in one body with Compound"
        )
    kinds = []
    for entry, shape in enumerate(shapes):
        alone = Label(label.kind, label.name and f"{label.name}[{entry}]", label.start + entry)
        own = {name: _member(value, entry, label.count, name) for name, value in given.items()}
        if isinstance(shape, list | tuple):
            raise SceneError(f"{alone()}: shape must be a shape such as Box(x, y, z), got {type(shape).__name__}")
        kinds.append(_mass_kinds(scene, shape, alone, material, own, motion))
    return np.array(kinds, dtype=np.int32)


def _member(value: Any, entry: int, count: int, what: str) -> Any:
    """The value of one body, where a set may have been given one for all or one for each."""
    shape: tuple[int, ...] = np.shape(value) if value is not None else ()
    shared = (3,) if what == "com" else ((3, 3) if np.shape(value) == (3, 3) else (3,)) if what == "inertia" else ()
    return value if shape == shared or not shape or shape[0] != count else value[entry]


def _draw(scene: Scene, shape: Any, start: int, rows: int) -> None:
    if isinstance(shape, list | tuple):
        for entry, one in enumerate(shape):
            _draw(scene, one, start + entry, 1)
    elif shape is not None and rows:
        scene._drawn.append((shape, np.arange(start, start + rows, dtype=np.int32)))
