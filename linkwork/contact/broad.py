"""The broad phase of one model: picks the grid's levels and holds its memory."""

from __future__ import annotations

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.colliders import Colliders
from linkwork.contact.geom import PLANE
from linkwork.contact.geoms import Filter
from linkwork.contact.grid import Grid, Pairs, accumulate, clear, locate, search, search_wide, sort_in
from linkwork.contact.motion import Bounds, Step, bound

__all__ = ["BroadPhase"]

# geoms that are this many times larger than the usual one are tested against all others, if there are only a few
WIDE = 16.0
MOST_WIDE = 16
# the usual size fills this much of a cell at rest, so that slow motion does not lift it to the next level
FILLING = 0.95
COARSEST = 2.0**40  # times the usual size: holds everything


class BroadPhase:
    """Finds pairs of geoms whose boxes overlap during a step.

    Attributes:
        pairs: what was found; ``resize`` gives it another capacity.
        bounds: the geoms' boxes.
    """

    def __init__(self, colliders: Colliders, filter: Filter, capacity: int, device: str = "cpu") -> None:
        self.device = device
        self.colliders = colliders
        self.filter = filter
        n = self.count = len(colliders.type)
        diameter = 2.0 * colliders.types["radius"][colliders.type]
        plane = colliders.types["kind"][colliders.type] == PLANE
        usual = float(np.median(diameter[~plane])) if not plane.all() else 1.0
        wide = diameter > WIDE * usual
        if np.count_nonzero(wide & ~plane) > MOST_WIDE:
            wide = plane
        buckets = 1 << max(7, int(2 * n - 1).bit_length())
        cells = _cells(diameter[~wide], usual)
        self.bounds = Bounds()
        self.bounds.low = wp.zeros(n, dtype=wp.vec3d, device=device)
        self.bounds.high = wp.zeros(n, dtype=wp.vec3d, device=device)
        self.grid = grid = Grid()
        grid.levels = len(cells)
        grid.cell = wp.array(cells, dtype=wp.float64, device=device)
        grid.occupied = wp.zeros(len(cells), dtype=wp.int32, device=device)
        grid.mask = buckets - 1
        grid.start = wp.zeros(buckets + 1, dtype=wp.int32, device=device)
        grid.wide = wp.array(np.flatnonzero(wide).astype(np.int32), dtype=wp.int32, device=device)
        grid.in_grid = wp.array((~wide).astype(np.int32), dtype=wp.int32, device=device)
        grid.place = wp.zeros(n, dtype=wp.vec4i, device=device)
        grid.entry_geom = wp.zeros(n, dtype=wp.int32, device=device)
        grid.entry_place = wp.zeros(n, dtype=wp.vec4i, device=device)
        grid.entry_low = wp.zeros(n, dtype=wp.vec3d, device=device)
        grid.entry_high = wp.zeros(n, dtype=wp.vec3d, device=device)
        self._any_wide = bool(wide.any())
        self._any_in_grid = not wide.all()
        self.pairs = Pairs()
        self.pairs.count = wp.zeros(1, dtype=wp.int32, device=device)
        self.resize(capacity)

    def resize(self, capacity: int) -> None:
        """Make room for this many pairs; what was found before is lost."""
        self.capacity = capacity
        self.pairs.a = wp.zeros(capacity, dtype=wp.int32, device=self.device)
        self.pairs.b = wp.zeros(capacity, dtype=wp.int32, device=self.device)

    def launch(self, Q: wp.array, V: wp.array, step: Step) -> None:
        """Find the pairs of a step that starts at poses Q with rates V."""
        geoms, grid, n = self.colliders.geoms, self.grid, self.count

        def run(kernel: wp.Kernel, dim: int, *inputs: object) -> None:
            wp.launch(kernel, dim=dim, inputs=inputs, device=self.device)

        run(bound, n, geoms, Q, V, step, self.bounds)
        run(clear, grid.mask + 2, grid, self.pairs)
        if self._any_in_grid:
            run(locate, n, grid, self.bounds)
            run(accumulate, 1, grid)
            run(sort_in, n, grid, self.bounds)
            run(search, n, geoms, self.filter, grid, self.pairs)
        if self._any_wide:
            run(search_wide, n, geoms, self.filter, grid, self.bounds, Q, self.pairs, step.slack)


def _cells(diameter: NDArray[np.float64], usual: float) -> NDArray[np.float64]:
    """Cell edges: the usual size times powers of two, from the smallest geom up, and one cell for everything."""
    if not len(diameter):
        return np.array([usual])
    finest = int(np.floor(np.log2(max(float(diameter.min()) / usual, 2.0**-20))))
    coarsest = int(np.ceil(np.log2(float(diameter.max()) / usual))) + 8
    return np.append(usual / FILLING * 2.0 ** np.arange(finest, coarsest + 1), usual * COARSEST)
