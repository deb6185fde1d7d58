"""Reading what the user passed: numbers and rotations with the right shape, or an error that names the culprit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkwork.errors import SceneError

__all__ = [
    "IDENTITY",
    "LARGEST",
    "Array",
    "Label",
    "RotationLike",
    "fraction",
    "nonnegative",
    "numbers",
    "positive",
    "require",
    "rotations",
    "vectors",
]

Array = NDArray[np.float64]

LARGEST = 1e100  # of vectors of state and load, so that products such as m v^2 are finite

IDENTITY: Array = np.eye(3)[None]
IDENTITY.flags.writeable = False


class SupportsMatrix(Protocol):
    """Anything that turns itself into rotation matrices, such as ``scipy.spatial.transform.Rotation``."""

    def as_matrix(self) -> Any:
        """Return rotation matrices, (3, 3) or (n, 3, 3)."""


RotationLike = ArrayLike | SupportsMatrix


@dataclass(frozen=True)
class Label:
    """Names the entries of one call in error messages.

    Attributes:
        kind: ``"body"``, ``"joint"`` or the name of a shape or setting.
        name: the user's name, or None.
        start: index of the first entry in the scene; -1 where there is none.
        count: number of entries of a set, or None when there is only one thing.
    """

    kind: str
    name: str | None = None
    start: int = -1
    count: int | None = None

    def __call__(self, entry: int = 0) -> str:
        """Say which entry: its name, and its index in the scene."""
        if self.start < 0:
            return self.kind if self.count is None else f"{self.kind} (entry {entry})"
        index = f"index {self.start + entry}"
        if self.name is None:
            return f"{self.kind} {self.start + entry}"
        member = self.name if self.count is None else f"{self.name}[{entry}]"
        return f'{self.kind} "{member}" ({index})'

    @property
    def rows(self) -> int:
        """Number of entries (1 for a single thing)."""
        return 1 if self.count is None else self.count

    def whole(self) -> str:
        """Say which call: the single thing, or the set."""
        if self.count is None:
            return self()
        return f'{self.kind} set "{self.name}"' if self.name is not None else f"{self.kind} set of {self.count}"


def require(good: NDArray[np.bool_] | bool, label: Label, reason: Callable[[int], str]) -> None:
    """Raise SceneError naming the first entry that is not good."""
    if good is True or (isinstance(good, np.ndarray) and good.all()):
        return
    entry = int(np.argmin(np.atleast_1d(good)))
    raise SceneError(f"{label(entry)}: {reason(entry)}")


def numbers(value: ArrayLike | None, what: str, shape: tuple[int, ...], label: Label, *, finite: bool = True) -> Array:
    """Read finite numbers of the given shape, or one such per entry of a set; returns (rows, *shape), maybe a view.

    ``finite=False`` lets infinities through, never a NaN.
    """
    array = _floats(value, what, shape, label)
    if array.shape == shape:
        array = array.reshape(1, *shape) if label.rows == 1 else np.broadcast_to(array, (label.rows, *shape))
    elif label.count is None or array.shape != (label.count, *shape):
        raise SceneError(f"{label.whole()}: {what} must have shape {_allowed(shape, label)}, got {array.shape}")
    accepted = np.isfinite(array) if finite else ~np.isnan(array)
    if not accepted.all():
        per_row = accepted.reshape(label.rows, -1).all(axis=1)
        entry = int(np.argmin(per_row))
        bad = array[entry].tolist()
        raise SceneError(f"{label(entry)}: {what} must be {'finite' if finite else 'a number'}, got {bad}")
    return array


def vectors(value: ArrayLike | None, what: str, label: Label) -> Array:
    """Read vectors (rows, 3) of state or load, whose squares and products with masses have to be finite too."""
    array = numbers(value, what, (3,), label)
    small = np.abs(array) <= LARGEST
    if not small.all():
        entry = int(np.argmin(small.all(axis=1)))
        raise SceneError(
            f"{label(entry)}: {what} must be at most {LARGEST:g} in size, or what follows from it cannot be computed, "
            f"got {array[entry].tolist()}"
        )
    return array


def _floats(value: ArrayLike | None, what: str, shape: tuple[int, ...], label: Label) -> Array:
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.empty(0, dtype=object)
    if array.dtype.kind not in "iuf":
        got = "None" if value is None else f"a {type(value).__name__}"
        if isinstance(value, list | tuple | np.ndarray):
            got += " with rows of uneven length or entries that are no numbers"
        raise SceneError(f"{label.whole()}: {what} must be numbers of shape {_allowed(shape, label)}, got {got}")
    return array.astype(np.float64, copy=False)


def _allowed(shape: tuple[int, ...], label: Label) -> str:
    single = str(shape) if shape else "() (one number)"
    return single if label.count is None else f"{single} or {(label.count, *shape)}"


def positive(value: ArrayLike | None, what: str, label: Label) -> Array:
    """Read finite numbers above zero, one or one per entry; returns (rows,)."""
    array = numbers(value, what, (), label)
    require(array > 0.0, label, lambda i: f"{what} must be above zero, got {array[i]:g}")
    return array


def nonnegative(value: ArrayLike | None, what: str, label: Label, *, finite: bool = True) -> Array:
    """Read numbers that are zero or more, one or one per entry; returns (rows,)."""
    array = numbers(value, what, (), label, finite=finite)
    require(array >= 0.0, label, lambda i: f"{what} must be zero or more, got {array[i]:g}")
    return array


def fraction(value: ArrayLike | None, what: str, label: Label) -> Array:
    """Read numbers from 0 to 1, one or one per entry; returns (rows,)."""
    array = numbers(value, what, (), label)
    require((array >= 0.0) & (array <= 1.0), label, lambda i: f"{what} must lie between 0 and 1, got {array[i]:g}")
    return array


def rotations(value: RotationLike | None, what: str, label: Label) -> Array:
    """Read rotations: None (identity), matrix, quaternion x, y, z, w, or scipy Rotation; returns (rows, 3, 3).

    Sets also take (n, 3, 3), (n, 4) or a Rotation of n. Matrices and quaternions that are off by rounding are
    repaired; others are refused.
    """
    if value is None:
        return IDENTITY if label.rows == 1 else np.broadcast_to(IDENTITY, (label.rows, 3, 3))
    raw: ArrayLike | None = value.as_matrix() if hasattr(value, "as_matrix") else value
    array = _floats(raw, what, (3, 3), label)
    if array.shape == (4,) or (label.count is not None and array.shape == (label.count, 4)):
        return _from_quaternions(numbers(array, what, (4,), label), what, label)
    if array.shape != (3, 3) and (label.count is None or array.shape != (label.count, 3, 3)):
        shapes = (
            "(3, 3) or (4,)" if label.count is None else f"(3, 3), (4,), {(label.count, 3, 3)} or {(label.count, 4)}"
        )
        raise SceneError(f"{label.whole()}: {what} must have shape {shapes}, got {array.shape}")
    matrices = numbers(array, what, (3, 3), label)
    return _repaired(matrices[:1] if array.ndim == 2 else matrices, what, label)


def _repaired(matrices: Array, what: str, label: Label) -> Array:
    """Refuse what is not a rotation and take rounding errors out (two steps towards the nearest rotation)."""
    gram = matrices.transpose(0, 2, 1) @ matrices
    off = np.abs(gram - np.eye(3)).max(axis=(1, 2))
    require(off < 1e-5, label, lambda i: f"{what} is not a rotation matrix: its columns are not orthonormal")
    handed = np.einsum("ni,ni->n", matrices[:, :, 0], np.cross(matrices[:, :, 1], matrices[:, :, 2]))
    require(handed > 0.0, label, lambda i: f"{what} mirrors space (determinant -1); flip one column")
    if off.max(initial=0.0) > 1e-15:
        for _ in range(2):
            gram = matrices.transpose(0, 2, 1) @ matrices
            matrices = matrices @ (1.5 * np.eye(3) - 0.5 * gram)
    return np.broadcast_to(matrices, (label.rows, 3, 3))


def _from_quaternions(quaternions: Array, what: str, label: Label) -> Array:
    norm = np.linalg.norm(quaternions, axis=1)
    require(
        np.abs(norm - 1.0) < 1e-3,
        label,
        lambda i: f"{what} is a quaternion (x, y, z, w) of length {norm[i]:g}; give it unit length",
    )
    x, y, z, w = (quaternions / norm[:, None]).T
    matrices = np.empty((len(x), 3, 3))
    matrices[:, 0, 0] = 1.0 - 2.0 * (y * y + z * z)
    matrices[:, 1, 1] = 1.0 - 2.0 * (x * x + z * z)
    matrices[:, 2, 2] = 1.0 - 2.0 * (x * x + y * y)
    matrices[:, 0, 1] = 2.0 * (x * y - z * w)
    matrices[:, 1, 0] = 2.0 * (x * y + z * w)
    matrices[:, 0, 2] = 2.0 * (x * z + y * w)
    matrices[:, 2, 0] = 2.0 * (x * z - y * w)
    matrices[:, 1, 2] = 2.0 * (y * z - x * w)
    matrices[:, 2, 1] = 2.0 * (y * z + x * w)
    return matrices
