"""Inverse kinematics of a chain of hinges: angles that bring points of the chain to where markers were seen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["HingeChain"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WINDOW = 128  # hinges solved for at once; the first half of them stays as found
CLOSE = 1e-10  # nm, or whatever lengths are in
PRICES = (1.0, 0.1, 1e-2, 1e-3, 0.0)  # of turning by 1 rad, in squared lengths
MOST = 60  # iterations at each price
ENOUGH = 1e-2  # a step that gains less of the cost, times the price, is the last at its price
LARGEST_TURN = 0.3  # rad in one iteration


@dataclass(frozen=True)
class HingeChain:
    """A chain that begins at a fixed body; hinge k carries hinge k + 1.

    Attributes:
        axes: (n, 3) unit vectors at the start.
        points: (n, 3) one point on each axis at the start.
        turns: (n,) which of the hinges may turn.
    """

    axes: Floats
    points: Floats
    turns: NDArray[np.bool_]

    def displacements(self, angles: Floats) -> Floats:
        """How each hinge's follower has moved from its start, (n, 4, 4)."""
        return _running_products(self._screws(slice(None), angles))

    def places(self, angles: Floats, carriers: Ints, starts: Floats) -> Floats:
        """Where points (m, 3) of the followers of hinges `carriers` have gone."""
        return _moved(self.displacements(angles)[carriers], starts)

    def reach(self, angles: Floats, carriers: Ints, starts: Floats, goals: Floats) -> Floats:
        """Angles near the given ones that bring points of the followers of `carriers` (rising) as near to goals as they go.

        Damped least squares, one window along the chain after the other: the cost grows with the chain's length.
        """
        angles = angles.copy()
        base = np.eye(4)
        first, count = 0, len(self.axes)
        while first < count:
            last = min(first + WINDOW, count)
            window = slice(first, last)
            mine = (carriers >= first) & (carriers < last)
            if mine.any():
                angles[window] = self._solve(
                    window, base, angles[window], carriers[mine] - first, starts[mine], goals[mine]
                )
            keep = count if last == count else first + WINDOW // 2
            base = base @ _running_products(self._screws(slice(first, keep), angles[first:keep]))[-1]
            first = keep
        return angles

    def _solve(
        self, window: slice, base: Floats, angles: Floats, carriers: Ints, starts: Floats, goals: Floats
    ) -> Floats:
        """Levenberg's method on the hinges of a window, which begins at the displacement `base`.

        It minimises |left to go|^2 + price |turned|^2 for lower and lower prices of turning, in the end for none.
        """
        near = angles
        for price in PRICES:
            damping = 1e-3
            moved, places, left = self._look(window, base, angles, carriers, starts, goals)
            cost = np.square(left).sum() + price * np.square(angles - near).sum()
            for _ in range(MOST):
                J = self._jacobian(window, base, moved, carriers, places)
                M = J.T @ J
                M[np.diag_indices_from(M)] += price + damping
                change = np.linalg.solve(M, J.T @ left.ravel() - price * (angles - near))
                change *= min(1.0, LARGEST_TURN / max(float(np.abs(change).max()), 1e-300))
                tried = self._look(window, base, angles + change, carriers, starts, goals)
                tried_cost = np.square(tried[2]).sum() + price * np.square(angles + change - near).sum()
                if tried_cost < cost:
                    done = cost - tried_cost < ENOUGH * price * cost or np.abs(tried[2]).max() < CLOSE
                    angles, cost, (moved, places, left) = angles + change, tried_cost, tried
                    damping = max(0.1 * damping, 1e-9)
                    if done:
                        break
                elif damping > 1e3:
                    break
                else:
                    damping *= 10.0
        # a whole turn more is the same place
        return np.asarray(near + (angles - near + np.pi) % (2.0 * np.pi) - np.pi)

    def _look(
        self, window: slice, base: Floats, angles: Floats, carriers: Ints, starts: Floats, goals: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Displacements, places of the points, and what is left to their goals."""
        moved = base @ _running_products(self._screws(window, angles))
        places = _moved(moved[carriers], starts)
        return moved, places, goals - places

    def _jacobian(self, window: slice, base: Floats, moved: Floats, carriers: Ints, places: Floats) -> Floats:
        """d places / d angles, (3 m, w): axis x (place - point) for every hinge that carries the point."""
        before = np.concatenate([base[None], moved[:-1]])
        axes = np.einsum("nij,nj->ni", before[:, :3, :3], self.axes[window])
        points = _moved(before, self.points[window])
        J = np.cross(axes[None], places[:, None] - points[None])
        carried = (np.arange(len(axes)) <= carriers[:, None]) & self.turns[window]
        J[~carried] = 0.0
        return np.asarray(J.transpose(0, 2, 1).reshape(-1, len(axes)))

    def _screws(self, window: slice, angles: Floats) -> Floats:
        """Turns about the start axes, (w, 4, 4), by Rodrigues' formula."""
        axes, points = self.axes[window], self.points[window]
        K = np.zeros((len(axes), 3, 3))
        K[:, [2, 0, 1], [1, 2, 0]] = axes
        K[:, [1, 2, 0], [2, 0, 1]] = -axes
        sines, rest = np.sin(angles)[:, None, None], (1.0 - np.cos(angles))[:, None, None]
        screws = np.tile(np.eye(4), (len(axes), 1, 1))
        screws[:, :3, :3] += sines * K + rest * (K @ K)
        screws[:, :3, 3] = points - np.einsum("nij,nj->ni", screws[:, :3, :3], points)
        return screws


def _running_products(matrices: Floats) -> Floats:
    """M_0, M_0 M_1, M_0 M_1 M_2, ... by doubling."""
    products = matrices.copy()
    reach = 1
    while reach < len(products):
        products[reach:] = products[:-reach] @ products[reach:]
        reach *= 2
    return products


def _moved(displacements: Floats, points: Floats) -> Floats:
    return np.asarray(np.einsum("nij,nj->ni", displacements[:, :3, :3], points) + displacements[:, :3, 3])
