"""Curves beside the scene: energy, residual and the coordinates of the picked joint over time."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

__all__ = ["Curves", "Plots"]

KEPT = 1500
COLORS = ("#2f6fb5", "#e0862f", "#3b9c6b", "#b5484f", "#7a5bb0", "#52606d")


class Curves:
    """One plot of some quantities over time, of the latest moments."""

    def __init__(self, gui: Any, title: str, names: Sequence[str]) -> None:
        self._names = tuple(names)
        self._rows: deque[tuple[float, ...]] = deque(maxlen=KEPT)
        series: list[dict[str, Any]] = [{"label": "t / s"}]
        for name, color in zip(names, COLORS * 6, strict=False):
            series.append({"label": name, "stroke": color, "width": 2})
        self._plot = gui.add_uplot(
            self._data(),
            tuple(series),
            scales={"x": {"time": False, "auto": True}, "y": {"auto": True}},
            # room for numbers of seven digits
            axes=({}, {"size": 72}),
            title=title,
            aspect=1.9,
        )

    def _data(self) -> tuple[np.ndarray[Any, Any], ...]:
        # a plot without a point has no axes to draw
        table = np.array(self._rows or [(0.0,) * (1 + len(self._names))], dtype=np.float64)
        return tuple(np.ascontiguousarray(column) for column in table.T)

    def add(self, time: float, values: Sequence[float]) -> None:
        """One more moment; time that went back begins anew."""
        if self._rows and time < self._rows[-1][0]:
            self._rows.clear()
        if not self._rows or time > self._rows[-1][0]:
            self._rows.append((time, *values))

    def fill(self, times: Sequence[float], values: Any) -> None:
        """All moments at once: values (t, k), thinned to what a plot can show."""
        every = -(-len(times) // KEPT) or 1
        self._rows.clear()
        self._rows.extend((float(t), *map(float, row)) for t, row in zip(times[::every], values[::every], strict=True))
        self.draw()

    def draw(self) -> None:
        """Send the curve to the page."""
        self._plot.data = self._data()

    def remove(self) -> None:
        """Take the plot off the page."""
        self._plot.remove()


class Plots:
    """The plots of a page: energy and residual always, coordinates when a joint is picked."""

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._folder = gui.add_folder("Plots")
        with self._folder:
            self.energy = Curves(gui, "energy / J", ("kinetic", "potential", "total"))
            self.residual = Curves(gui, "joint residual / m, rad", ("residual",))
        self.coordinates: Curves | None = None

    def pick(self, name: str, count: int) -> None:
        """Plot `count` coordinates of a joint from now on, and no longer those of another."""
        if self.coordinates is not None:
            self.coordinates.remove()
            self.coordinates = None
        if count:
            with self._folder:
                names = [f"q{k}" for k in range(count)]
                self.coordinates = Curves(self._gui, f"{name} / m, rad", names)

    def draw(self) -> None:
        """Send all curves to the page."""
        for curves in (self.energy, self.residual, self.coordinates):
            if curves is not None:
                curves.draw()
