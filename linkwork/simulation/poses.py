"""From affine poses A X + t to what people read: rotations, quaternions, angular velocities."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["angular_velocities", "polar_rotations", "quaternions"]

Floats = NDArray[np.float64]


def polar_rotations(affine: Floats) -> Floats:
    """The rotations nearest to the matrices `affine` (n, 3, 3): R of A = R S.

    Newton-Schulz doubles the correct digits with each sweep while |A^T A - I| < 1; the rest goes through an SVD.
    """
    # Entries first: long loops over the bodies instead of one tiny product per body.
    rotations = _entries_first(affine)
    excess = _excess(rotations)
    far = np.abs(excess).max(axis=(0, 1), initial=0.0) > 0.5
    for _ in range(8):
        size = np.abs(excess).max(axis=(0, 1), initial=0.0)[~far].max(initial=0.0)
        if size < 1e-16:
            break
        rotations -= 0.5 * _product("ijn,jkn->ikn", rotations, excess)
        if size < 1e-8:
            break
        excess = _excess(rotations)
    result = np.ascontiguousarray(rotations.transpose(2, 0, 1))
    if far.any():
        u, _, vt = np.linalg.svd(affine[far])
        u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
        result[far] = u @ vt
    return result


def _entries_first(matrices: Floats) -> Floats:
    return np.array(matrices.transpose(1, 2, 0), order="C", dtype=np.float64)


def _product(which: str, a: Floats, b: Floats) -> Floats:
    product: Floats = np.einsum(which, a, b)
    return product


def _excess(rotations: Floats) -> Floats:
    """R^T R - I, zero for a rotation."""
    return _product("jin,jkn->ikn", rotations, rotations) - np.eye(3)[:, :, None]


def quaternions(rotations: Floats) -> Floats:
    """Unit quaternions (n, 4), order x, y, z, w with w >= 0, of rotation matrices (n, 3, 3)."""
    r = rotations
    xx, yy, zz = r[:, 0, 0], r[:, 1, 1], r[:, 2, 2]
    # Four formulas, one per component; the one with the largest divisor is used (Shepperd).
    squares = np.stack([1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], axis=1)
    largest = squares.argmax(axis=1)
    a, b, c = r[:, 2, 1] - r[:, 1, 2], r[:, 0, 2] - r[:, 2, 0], r[:, 1, 0] - r[:, 0, 1]
    d, e, f = r[:, 1, 0] + r[:, 0, 1], r[:, 0, 2] + r[:, 2, 0], r[:, 2, 1] + r[:, 1, 2]
    result = np.empty((len(r), 4))
    rows = ((squares[:, 0], d, e, a), (d, squares[:, 1], f, b), (e, f, squares[:, 2], c), (a, b, c, squares[:, 3]))
    for which, row in enumerate(rows):
        chosen = largest == which
        for component in range(4):
            result[chosen, component] = row[component][chosen]
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    result *= np.where(result[:, 3:] < 0.0, -1.0, 1.0)
    return result


def angular_velocities(affine: Floats, rates: Floats, rotations: Floats) -> Floats:
    """Angular velocities (n, 3), world frame, rad/s, of the polar rotations of `affine` changing at `rates`.

    With A = R S, R^T A' = Omega S + S', so its skew part is (Omega S + S Omega) / 2 = [(tr S - S) omega] / 2.
    """
    turn = _entries_first(rotations)
    stretch = _product("jin,jkn->ikn", turn, _entries_first(affine))
    change = _product("jin,jkn->ikn", turn, _entries_first(rates))
    axial = np.stack([change[2, 1] - change[1, 2], change[0, 2] - change[2, 0], change[1, 0] - change[0, 1]])
    system = (stretch[0, 0] + stretch[1, 1] + stretch[2, 2]) * np.eye(3)[:, :, None]
    system -= 0.5 * (stretch + stretch.transpose(1, 0, 2))
    # Cramer's rule.
    x, y, z = system[:, 0], system[:, 1], system[:, 2]
    volume = _dot(x, _cross(y, z))
    body = np.stack([_dot(axial, _cross(y, z)), _dot(x, _cross(axial, z)), _dot(x, _cross(y, axial))]) / volume
    return np.ascontiguousarray(_product("ijn,jn->in", turn, body).T)


def _dot(a: Floats, b: Floats) -> Floats:
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def _cross(a: Floats, b: Floats) -> Floats:
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])
