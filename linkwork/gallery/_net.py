"""Nets of knots and links on ball joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import linkwork as lw

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Net:
    """A net in a scene.

    Attributes:
        knots: size^2 bodies, row by row.
        links: 2 size (size - 1) bodies.
        places: (size^2, 3) of the knots, m.
        row, column: of each knot.
    """

    knots: lw.Bodies
    links: lw.Bodies
    places: Array
    row: NDArray[np.int64]
    column: NDArray[np.int64]


def add_net(
    scene: lw.Scene,
    size: int,
    pitch: float,
    radius: float,
    thick: float,
    corner: tuple[float, float, float],
    rows_along: float,
    material: lw.Material | None = None,
) -> Net:
    """Add a level net: its first knot at a corner, its columns along x, its rows along y or, with -1, against it.

    Each link is ball-jointed to two knots, at four different points of a knot's surface.
    """
    material = lw.Material() if material is None else material
    row, column = np.divmod(np.arange(size * size), size)
    places = np.array(corner) + pitch * np.stack([column, rows_along * row, 0 * row], axis=1)
    knots = scene.add_bodies(lw.Sphere(radius), places, density=2000.0, material=material, name="knots")
    x_edges, y_edges = np.flatnonzero(column < size - 1), np.flatnonzero(row < size - 1)
    first = np.concatenate([x_edges, y_edges])
    second = np.concatenate([x_edges + 1, y_edges + size])
    along = (places[second] - places[first]) / pitch
    quarter = np.sqrt(0.5)
    turns = np.repeat([[0, 0, 0, 1.0], [0, 0, rows_along * quarter, quarter]], [len(x_edges), len(y_edges)], axis=0)
    shape = lw.Box(pitch - 2 * radius, thick, thick)
    links = scene.add_bodies(shape, 0.5 * (places[first] + places[second]), turns, material=material, name="links")
    scene.add_joints(lw.Ball(), knots[first], links, at=places[first] + radius * along, name="starts")
    scene.add_joints(lw.Ball(), links, knots[second], at=places[second] - radius * along, name="ends")
    return Net(knots, links, places, row, column)
