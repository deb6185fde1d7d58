"""Sets up the eye, the lights and the tables of a picture, and runs the kernels that paint it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.view.figures import Figure
from linkwork.view.painting.cover import Tables, View, cover
from linkwork.view.painting.light import Stage, shade, soften
from linkwork.view.painting.surfaces import corner_normals

__all__ = ["Canvas", "paint"]

Floats = NDArray[np.float64]

TO_SUN = np.array([-0.42, -0.5, 0.95])
SUN_SIZE = 0.045
SUN_MAP = 2048
SKY_MAP = 512
# beyond so many triangles the sky is looked at from fewer directions
MANY_TRIANGLES = 3_000_000
PER_LAUNCH = 50_000_000


@dataclass(frozen=True)
class Canvas:
    """Size and place of a picture.

    Attributes:
        width, height: pixels.
        eye: where it is seen from; centre: point looked at, m.
        field_of_view: vertical opening, rad.
        planes: points and outward normals of endless planes, the floor among them, m.
        grid: side of a square on the floor, m.
        skies: directions from which the light of the sky comes.
        per_pixel: samples along each side of a pixel.
    """

    width: int
    height: int
    eye: Floats
    centre: Floats
    field_of_view: float
    planes: Sequence[tuple[Floats, Floats]]
    grid: float
    skies: int = 48
    per_pixel: int = 2


def paint(figures: Sequence[Figure], canvas: Canvas) -> NDArray[np.uint8]:
    """The picture (height, width, 3) of figures in the open, sRGB; the same figures give the same picture.

    Raises:
        ValueError: the eye is at the point it looks at.
    """
    distance = float(np.linalg.norm(canvas.centre - canvas.eye))
    if distance == 0.0:
        raise ValueError("the eye of a picture must not be at the point it looks at")
    shown = [figure for figure in figures if len(figure.faces) and len(figure.origins)]
    tables, triangles = _tables(shown, canvas.centre)
    low, high = _corners(shown, canvas.centre)
    eye = _eye(canvas, distance)
    stage = _stage(canvas, distance, tables, triangles, low, high)
    nearest = _covered(tables, triangles, eye)
    light = wp.empty(eye.width * eye.height, dtype=wp.vec3, device="cpu")
    wp.launch(shade, (eye.width, eye.height), [tables, eye, stage, nearest, 0], [light], device="cpu")
    picture = wp.empty((canvas.height, canvas.width, 3), dtype=wp.uint8, device="cpu")
    wp.launch(soften, (canvas.width, canvas.height), [light, canvas.per_pixel, eye.width], [picture], device="cpu")
    return np.array(picture.numpy())


def _linear(colors: Any) -> NDArray[np.float32]:
    """From sRGB values 0 to 255 to linear light."""
    values = np.asarray(colors, dtype=np.float64) / 255.0
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4).astype(np.float32)


def _tables(figures: Sequence[Figure], centre: Floats) -> tuple[Any, int]:
    """All meshes one after the other, seen from the centre so that single precision is enough."""
    faces_of = np.array([len(figure.faces) for figure in figures], dtype=np.int64)
    copies_of = np.array([len(figure.origins) for figure in figures], dtype=np.int64)
    vertices_of = np.array([len(figure.vertices) for figure in figures], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(faces_of * copies_of)])
    offsets = np.cumsum(vertices_of) - vertices_of

    def joined(parts: list[Any], shape: tuple[int, ...]) -> Any:
        return np.concatenate(parts) if parts else np.zeros((1, *shape))

    tables = Tables()
    tables.group_first = _array(starts, wp.int64)
    tables.group_face = _array(np.cumsum(faces_of) - faces_of, wp.int32)
    tables.group_faces = _array(faces_of, wp.int32)
    tables.group_copy = _array(np.cumsum(copies_of) - copies_of, wp.int32)
    tables.vertices = _array(joined([figure.vertices for figure in figures], (3,)), wp.vec3)
    faces = [figure.faces + offset for figure, offset in zip(figures, offsets, strict=True)]
    tables.faces = _array(joined(faces, (3,)), wp.vec3i)
    tables.normals = _array(joined([corner_normals(each.vertices, each.faces) for each in figures], (3, 3)), wp.vec3)
    tables.linear = _array(joined([figure.linear for figure in figures], (3, 3)), wp.mat33)
    tables.origins = _array(joined([figure.origins - centre for figure in figures], (3,)), wp.vec3)
    tables.colors = _array(joined([_linear(figure.colors) for figure in figures], (3,)), wp.vec3)
    return tables, int(starts[-1])


def _array(values: Any, dtype: Any) -> Any:
    plain = {wp.int64: np.int64, wp.int32: np.int32, wp.vec3i: np.int32}.get(dtype, np.float32)
    return wp.array(np.ascontiguousarray(values, dtype=plain), dtype=dtype, device="cpu")


def _corners(figures: Sequence[Figure], centre: Floats) -> tuple[Floats, Floats]:
    """Centres and reaches (k, 3) of boxes around all copies, as seen from the centre."""
    middles, reaches = [np.zeros((0, 3))], [np.zeros((0, 3))]
    for figure in figures:
        low, high = figure.vertices.min(axis=0), figure.vertices.max(axis=0)
        middles.append(figure.origins - centre + figure.linear @ (0.5 * (low + high)))
        reaches.append(np.abs(figure.linear) @ (0.5 * (high - low)))
    return np.concatenate(middles), np.concatenate(reaches)


def _eye(canvas: Canvas, distance: float) -> Any:
    forward = (canvas.centre - canvas.eye) / distance
    width, height = canvas.width * canvas.per_pixel, canvas.height * canvas.per_pixel
    scale = 0.5 * height / math.tan(0.5 * canvas.field_of_view)
    view = View()
    view.eye = wp.vec3(*(canvas.eye - canvas.centre))
    view.axes = wp.mat33(*_axes(forward).reshape(-1))
    view.scale = wp.vec2(scale, scale)
    view.centre = wp.vec2(0.5 * width, 0.5 * height)
    view.near, view.far, view.parallel = 1e-3 * distance, 1e4 * distance, 0
    view.width, view.height = width, height
    return view


def _axes(forward: Floats) -> Floats:
    """Rows right, down and forward; z is up in the picture unless one looks along it."""
    upward = np.array([0.0, 0.0, 1.0]) if abs(forward[2]) < 0.999 else np.array([0.0, 1.0, 0.0])
    right = np.cross(forward, upward)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(forward, right), forward])


def _stage(canvas: Canvas, distance: float, tables: Any, triangles: int, middles: Floats, reaches: Floats) -> Any:
    stage = Stage()
    to_sun = TO_SUN / np.linalg.norm(TO_SUN)
    stage.to_sun = wp.vec3(*to_sun)
    # a level surface in the open gets as much light as the horizon has
    stage.sun = wp.vec3(*(np.array([0.62, 0.605, 0.58]) / to_sun[2]))
    stage.sun_size = SUN_SIZE
    stage.sky = wp.vec3(0.42, 0.435, 0.46)
    stage.bounce = wp.vec3(0.38, 0.375, 0.37)
    stage.horizon, stage.zenith = wp.vec3(*_linear((246, 248, 250))), wp.vec3(*_linear((226, 235, 245)))
    stage.floor, stage.line = wp.vec3(*_linear((238, 240, 243))), wp.vec3(*_linear((150, 158, 170)))
    stage.grid = canvas.grid
    stage.fade = 3.5 * distance
    stage.centre = wp.vec3(0.0, 0.0, 0.0)
    stage.plane_points = _array(np.reshape([point - canvas.centre for point, _ in canvas.planes], (-1, 3)), wp.vec3)
    stage.plane_normals = _array(np.reshape([normal for _, normal in canvas.planes], (-1, 3)), wp.vec3)
    stage.sun_view = _beam(to_sun, middles, reaches, SUN_MAP)
    stage.sun_map = wp.array(_nearness(tables, triangles, stage.sun_view), dtype=wp.float32, device="cpu")
    directions = _sky_directions(canvas.skies if triangles <= MANY_TRIANGLES else 8)
    views = [_beam(direction, middles, reaches, SKY_MAP) for direction in directions]
    stage.sky_views = wp.array(views, dtype=View, device="cpu")
    stage.sky_directions = _array(directions, wp.vec3)
    maps = np.stack([_nearness(tables, triangles, view) for view in views])
    stage.sky_maps = wp.array(maps, dtype=wp.float32, device="cpu")
    return stage


def _sky_directions(count: int) -> Floats:
    """Directions (k, 3) spread evenly over the sky, the lowest few degrees left out (a spiral of golden angles).

    They are shuffled by a fixed rule so that every fourth of them covers the sky as well.
    """
    number = np.arange(count)
    heights = 1.0 - 0.97 * (number + 0.5) / count
    angles = number * (math.pi * (3.0 - math.sqrt(5.0)))
    across = np.sqrt(1.0 - heights**2)
    return np.stack([across * np.cos(angles), across * np.sin(angles), heights], axis=1)


def _beam(towards: Floats, middles: Floats, reaches: Floats, size: int) -> Any:
    """The view of a light from far away that holds all figures."""
    axes = _axes(-towards)
    if len(middles) == 0:
        middles, reaches = np.zeros((1, 3)), np.ones((1, 3))
    seen, reach = middles @ axes.T, reaches @ np.abs(axes).T
    low, high = (seen - reach).min(axis=0), (seen + reach).max(axis=0)
    extent = np.maximum(high - low, 1e-6 * (high - low).max() + 1e-12)
    low, high = low - 0.02 * extent, high + 0.02 * extent
    # texels are at most three times as long as wide, so that blurred shadows stay round
    extent = np.maximum(1.04 * extent, extent[:2].max() / 3.0)
    view = View()
    view.eye = wp.vec3(0.0, 0.0, 0.0)
    view.axes = wp.mat33(*axes.reshape(-1))
    scale = size / extent[:2]
    view.scale = wp.vec2(*scale)
    view.centre = wp.vec2(*(0.5 * size - scale * 0.5 * (low + high)[:2]))
    view.near, view.far, view.parallel = float(low[2]), float(low[2] + extent[2]), 1
    view.width = view.height = size
    return view


def _covered(tables: Any, triangles: int, view: Any) -> Any:
    nearest = wp.zeros(view.width * view.height, dtype=wp.uint64, device="cpu")
    for first in range(0, triangles, PER_LAUNCH):
        count = min(PER_LAUNCH, triangles - first)
        wp.launch(cover, count, [tables, view, first], [nearest], device="cpu")
    return nearest


def _nearness(tables: Any, triangles: int, view: Any) -> NDArray[np.float32]:
    """How near the nearest surface is at every sample of a light's view, 0 where there is none."""
    keys = _covered(tables, triangles, view).numpy()
    bits = (keys >> np.uint64(32)).astype(np.uint32)
    return np.asarray(bits.view(np.float32).reshape(view.height, view.width))
