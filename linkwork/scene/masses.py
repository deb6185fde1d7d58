"""Mass, centre of mass and principal frame of bodies, from a shape and a density or from given numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.model.moments import box_extents, inertia_of, principal_frames, second_moments_of
from linkwork.scene.inputs import Array, Label, numbers, positive, require
from linkwork.scene.shapes import Shape, Sphere

__all__ = ["Masses", "read_masses"]

# an inertia tensor may miss the triangle inequality by this much of its largest moment (rounded data)
ROUNDING = 1e-6


@dataclass(frozen=True)
class Masses:
    """Mass data of one body, or of k bodies (all leading dimensions k).

    Attributes:
        mass: kg.
        volume: m^3.
        com: centre of mass in the user's body frame, m.
        moments: principal second moments J, kg m^2.
        axes: columns = principal axes in the user's body frame.
        size: largest full extent, m.
    """

    mass: Array
    volume: Array
    com: Array
    moments: Array
    axes: Array
    size: Array

    def columns(self) -> dict[str, Any]:
        """The data by name."""
        return vars(self)


def read_masses(
    shape: Shape | None,
    label: Label,
    *,
    density: ArrayLike,
    mass: ArrayLike | None,
    inertia: ArrayLike | None,
    com: ArrayLike | None,
    moves: bool,
) -> Masses:
    """Mass data of the bodies of one add_body(s) call; one row where all bodies share it.

    ``moves`` says that the body needs a mass: fixed and kinematic bodies without one get a unit stand-in.

    Raises:
        SceneError: numbers no body can have, or numbers missing.
    """
    if shape is not None and shape.count is not None and shape.count != label.rows:
        raise SceneError(f"{label.whole()}: the shape has dimensions for {shape.count} bodies, not {label.rows}")
    if inertia is not None:
        return _given(label, mass, inertia, com)
    positive(density, "density", label)
    if shape is None and mass is not None:
        ball = _ball(label, mass, density)
        centre = _shared(numbers((0.0, 0.0, 0.0) if com is None else com, "com", (3,), label), com, (3,))
        return _from_shape(ball, label, density=density, mass=mass, shift=centre)
    if com is not None:
        raise SceneError(f"{label.whole()}: com needs mass and inertia as well; without them the shape gives it")
    if shape is None and moves:
        raise SceneError(f"{label.whole()}: has neither a shape nor a mass; give a shape, or mass and inertia")
    if shape is None or shape.massless:
        return _stand_in(density, label)
    return _from_shape(shape, label, density=density, mass=mass, shift=np.zeros((1, 3)))


def _shared(rows: Array, value: Any, shape: tuple[int, ...]) -> Array:
    """One row where the user gave one value for all."""
    return rows[:1] if np.shape(value) == shape or value is None else rows


def _given(label: Label, mass: ArrayLike | None, inertia: ArrayLike, com: ArrayLike | None) -> Masses:
    if mass is None:
        raise SceneError(f"{label.whole()}: inertia given without mass; give both")
    masses = _shared(positive(mass, "mass", label), mass, ())
    tensors = _inertia_tensors(inertia, label)
    centres = _shared(numbers((0.0, 0.0, 0.0) if com is None else com, "com", (3,), label), com, (3,))
    rows = max(len(masses), len(tensors), len(centres))
    masses, centres = np.broadcast_to(masses, rows), np.broadcast_to(centres, (rows, 3))
    moments, axes = principal_frames(second_moments_of(tensors))
    _check_moments(moments, label)
    _require_sane(masses, moments, label if len(moments) == rows == label.rows else Label(label.whole()))
    moments = np.where(moments < 1e-14 * moments.max(axis=1, keepdims=True), 0.0, moments)
    moments, axes = np.broadcast_to(moments, (rows, 3)), np.broadcast_to(axes, (rows, 3, 3))
    edges = box_extents(moments, masses)
    return Masses(masses, edges.prod(axis=1), centres, moments, axes, edges.max(axis=1))


def _inertia_tensors(inertia: ArrayLike, label: Label) -> Array:
    """Tensors (rows, 3, 3) from principal moments (3,) or (n, 3), or from tensors (3, 3) or (n, 3, 3)."""
    shape = np.shape(inertia)
    if shape == (3,) or (label.count is not None and shape == (label.count, 3) and shape != (3, 3)):
        diagonal = _shared(numbers(inertia, "inertia", (3,), label), inertia, (3,))
        return np.asarray(diagonal[:, :, None] * np.eye(3))
    if shape != (3, 3) and (label.count is None or shape != (label.count, 3, 3)):
        each = "" if label.count is None else f", {(label.count, 3)} or {(label.count, 3, 3)}"
        raise SceneError(f"{label.whole()}: inertia must have shape (3,) or (3, 3){each}, got {shape}")
    tensors = _shared(numbers(inertia, "inertia", (3, 3), label), inertia, (3, 3))
    skew = np.abs(tensors - tensors.transpose(0, 2, 1)).max(axis=(1, 2))
    require(
        skew <= 1e-6 * np.abs(tensors).max(axis=(1, 2)),
        label,
        lambda i: "inertia is not symmetric; give the tensor about the centre of mass",
    )
    return np.asarray(0.5 * (tensors + tensors.transpose(0, 2, 1)))


def _check_moments(moments: Array, label: Label) -> None:
    """Refuse second moments that no body has, and bodies without thickness."""
    largest = moments.max(axis=1)
    inertia = inertia_of(moments)

    def impossible(i: int) -> str:
        top, others = inertia[i].max(), inertia[i].sum() - inertia[i].max()
        return (
            f"no body has the principal moments of inertia {', '.join(f'{value:g}' for value in inertia[i])}: "
            f"the largest, {top:g}, must not exceed the sum of the others, {others:g}; check units and order"
        )

    shared = Label(label.whole()) if len(moments) != label.rows else label
    require((largest >= 0.0) & (moments.min(axis=1) >= -ROUNDING * largest), shared, impossible)
    require(
        np.sort(moments, axis=1)[:, 1] > 1e-14 * largest,
        shared,
        lambda i: "inertia of a point or of a segment, with no resistance to spin about itself; give it thickness",
    )


def _ball(label: Label, mass: ArrayLike, density: ArrayLike) -> Sphere:
    masses = _shared(positive(mass, "mass", label), mass, ())
    densities = _shared(positive(density, "density", label), density, ())
    radius = np.cbrt(masses / densities * 0.75 / np.pi)
    return Sphere(radius if len(radius) > 1 else float(radius[0]))


def _from_shape(shape: Shape, label: Label, *, density: ArrayLike, mass: ArrayLike | None, shift: Array) -> Masses:
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        volume, com, second = shape.moments()
    volume, com, second = np.atleast_1d(volume), com.reshape(-1, 3), second.reshape(-1, 3, 3)
    whose = label if len(volume) == label.rows else Label(label.whole())
    _require_computable(volume, second, whose)
    if mass is None:
        densities = _shared(positive(density, "density", label), density, ())
    else:
        densities = _shared(positive(mass, "mass", label), mass, ()) / volume
    rows = max(len(volume), len(densities), len(shift))
    per_unit, axes = principal_frames(second)
    moments = per_unit * densities[:, None]
    sane = label if len(moments) == label.rows else Label(label.whole())
    _require_sane(np.broadcast_to(densities * volume, len(moments)), moments, sane)
    require(
        np.sort(per_unit, axis=1)[:, 1] > 1e-14 * per_unit.max(axis=1),
        whose,
        lambda i: "the shape is a thread or a point to within rounding, with no resistance to spin; give it thickness",
    )
    return Masses(
        np.broadcast_to(densities * volume, rows),
        np.broadcast_to(volume, rows),
        np.broadcast_to(com + shift, (rows, 3)),
        np.broadcast_to(moments, (rows, 3)),
        np.broadcast_to(axes, (rows, 3, 3)),
        np.broadcast_to(np.atleast_1d(shape.extent), rows),
    )


def _require_computable(volume: Array, second: Array, whose: Label) -> None:
    """Refuse sizes so far from 1 m that the moments over- or underflow."""
    largest = np.abs(second).max(axis=(1, 2))
    require(
        (volume > 1e-200) & (volume < 1e200) & (largest > 1e-200) & (largest < 1e200),
        whose,
        lambda i: "the shape is too large or too small for its moments to be computed; check its units",
    )


def _require_sane(mass: Array, moments: Array, whose: Label) -> None:
    """Refuse masses and moments whose products with each other and with h^-2 over- or underflow."""
    largest = np.broadcast_to(moments.max(axis=1), len(mass))
    require(
        (mass > 1e-100) & (mass < 1e100) & (largest > 1e-100) & (largest < 1e100),
        whose,
        lambda i: (
            f"a mass of {mass[i]:g} kg with second moments up to {largest[i]:g} kg m^2 is out of the range "
            "of what can be computed; check the units"
        ),
    )


def _stand_in(density: ArrayLike, label: Label) -> Masses:
    """A cube of 1 m for fixed bodies without mass, so that every array of the model is finite."""
    one = np.ones(1)
    mass = one * positive(density, "density", label)[0]
    return Masses(mass, one, np.zeros((1, 3)), np.tile(mass[:, None] / 12.0, 3), np.eye(3)[None], one)
