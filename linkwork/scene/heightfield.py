"""Ground given by heights on a grid."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.scene.inputs import Array, Label, numbers
from linkwork.scene.shapes import Faces, Shape

__all__ = ["Heightfield"]


class Heightfield(Shape):
    """Ground for fixed bodies: solid below heights on a regular grid, two triangles in each of its rectangles.

    The grid is centred at the body's origin: heights[i, j] stands at x = (i - (m - 1) / 2) dx, y = (j - (n - 1) / 2) dy,
    and the diagonal of a rectangle runs from (i, j) to (i + 1, j + 1).

    Args:
        heights: (m, n) m, along z of the body's frame; at least 2 x 2.
        spacing: dx = dy, or (dx, dy), m. Either this or ``size``.
        size: of the whole grid along x and y, m: (m - 1) dx, (n - 1) dy.

    Raises:
        SceneError: heights that are no finite grid, or neither or both of spacing and size.

    Examples:
        >>> x = np.linspace(-5.0, 5.0, 101)
        >>> hills = Heightfield(0.3 * np.sin(x[:, None]) * np.cos(x), spacing=0.1)
    """

    massless: ClassVar[bool] = True

    def __init__(self, heights: ArrayLike, *, spacing: ArrayLike | None = None, size: ArrayLike | None = None) -> None:
        label = Label("Heightfield")
        shape = np.shape(heights)
        if len(shape) != 2 or min(shape) < 2:
            raise SceneError(f"Heightfield: heights must have shape (m, n) with m and n of at least 2, got {shape}")
        self.heights: Array = np.array(numbers(heights, "heights", shape, label)[0])
        if (spacing is None) == (size is None):
            raise SceneError(
                "Heightfield: give either spacing, the distance of two heights, or size, of the whole grid"
            )
        if spacing is not None:
            pair = np.broadcast_to(np.asarray(spacing), 2) if np.ndim(spacing) == 0 else spacing
            self.spacing: Array = np.array(numbers(pair, "spacing", (2,), label)[0])
        else:
            self.spacing = numbers(size, "size", (2,), label)[0] / (np.array(shape) - 1.0)
        if (self.spacing <= 0.0).any():
            raise SceneError(f"Heightfield: the grid's spacing must be above zero, got {self.spacing.tolist()}")
        self.heights.flags.writeable = False
        self.spacing.flags.writeable = False

    def __repr__(self) -> str:
        rows, columns = self.heights.shape
        return f"Heightfield({rows} x {columns} heights)"

    def moments(self) -> tuple[Array, Array, Array]:
        """Raise SceneError: ground has no mass."""
        raise SceneError("Heightfield: it has no volume and no mass; use it on a fixed body (fixed=True)")

    def surface(self) -> tuple[Array, Faces]:
        """All grid points, row after row, and two triangles for each rectangle, seen from above."""
        rows, columns = self.heights.shape
        x, y = np.meshgrid(*self.grid_lines(), indexing="ij")
        vertices = np.stack([x, y, self.heights], axis=-1).reshape(-1, 3)
        corner = (np.arange(rows - 1)[:, None] * columns + np.arange(columns - 1)).ravel()
        across, along, beyond = corner + columns, corner + 1, corner + columns + 1
        faces = np.stack(
            [np.stack([corner, across, beyond], axis=1), np.stack([corner, beyond, along], axis=1)], axis=1
        )
        return vertices, faces.reshape(-1, 3)

    def grid_lines(self) -> tuple[Array, Array]:
        """x of the rows (m,) and y of the columns (n,), m."""
        x, y = ((np.arange(n) - 0.5 * (n - 1)) * d for n, d in zip(self.heights.shape, self.spacing, strict=True))
        return x, y

    def reach(self, rotation: Array) -> tuple[Array, Array]:
        """Bounding box of the turned surface."""
        turned = self.surface()[0] @ rotation.T
        return turned.min(axis=0), turned.max(axis=0)
