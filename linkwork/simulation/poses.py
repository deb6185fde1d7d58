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
    rotations = np.ascontiguousarray(affine, dtype=np.float64)
    gram = _gram(rotations)
    far = np.abs(gram - np.eye(3)).max(axis=(1, 2), initial=0.0) > 0.5
    for _ in range(8):
        rotations = rotations @ (1.5 * np.eye(3) - 0.5 * gram)
        if np.abs(gram - np.eye(3))[~far].max(initial=0.0) < 1e-8:
            break
        gram = _gram(np.where(far[:, None, None], np.eye(3), rotations))
    if far.any():
        u, _, vt = np.linalg.svd(affine[far])
        u[:, :, 2] *= np.sign(np.linalg.det(u @ vt))[:, None]
        rotations[far] = u @ vt
    return rotations


def _gram(matrices: Floats) -> Floats:
    gram: Floats = matrices.transpose(0, 2, 1) @ matrices
    return gram


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
    turned = rotations.transpose(0, 2, 1)
    stretch = turned @ affine
    stretch = 0.5 * (stretch + stretch.transpose(0, 2, 1))
    change = turned @ rates
    axial = np.stack(
        [change[:, 2, 1] - change[:, 1, 2], change[:, 0, 2] - change[:, 2, 0], change[:, 1, 0] - change[:, 0, 1]],
        axis=1,
    )
    system = np.trace(stretch, axis1=1, axis2=2)[:, None, None] * np.eye(3) - stretch
    body = np.linalg.solve(system, axial[:, :, None])
    world: Floats = (rotations @ body)[:, :, 0]
    return world
