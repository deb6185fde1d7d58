"""Everything on a plane: lowest points, how many, and that they span what the shape stands on."""

from __future__ import annotations

import numpy as np
import pytest
from contact.any_pairs import closed, plane
from contact.convex_pairs import Shape, box, capsule, cylinder, hull, sphere
from scipy.spatial.transform import Rotation

TILTED = plane((0.3, -0.5, 0.8), 0.7)
NORMAL = TILTED.R[:, 2]


def on_plane(shape: Shape, R: Rotation, gap: float, base: Shape = TILTED) -> Shape:
    """The shape turned by R and let down until its lowest point is ``gap`` above the plane."""
    n = base.R[:, 2]
    turned = shape.at((0, 0, 0), R)
    return turned.at(n * (turned.reach(-n) + gap) + base.p, R)


SHAPES = {
    "sphere": sphere(0.2),
    "capsule": capsule(0.1, 0.3),
    "cylinder": cylinder(0.2, 0.3),
    "box": box(0.1, 0.2, 0.3),
    "hull": hull(np.random.default_rng(3).normal(size=(30, 3))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_the_deepest_contact_is_the_lowest_point(name: str) -> None:
    turns = Rotation.random(200, random_state=4)
    gaps = np.random.default_rng(5).uniform(-0.02, 0.02, 200)
    pairs = [(on_plane(SHAPES[name], R, gap), TILTED) for R, gap in zip(turns, gaps, strict=True)]
    for (a, _), gap, found in zip(pairs, gaps, closed(pairs, 0.05), strict=True):
        np.testing.assert_allclose(found.normal, NORMAL, atol=1e-15)
        assert 1 <= len(found) <= 4
        np.testing.assert_allclose(found.gap.min(), gap, atol=1e-12)
        heights = (found.on_a - TILTED.p) @ NORMAL
        np.testing.assert_allclose(heights, found.gap, atol=1e-12)
        np.testing.assert_allclose((found.on_b - TILTED.p) @ NORMAL, 0.0, atol=1e-12)
        np.testing.assert_allclose(a.outside(found.on_a[np.argmin(found.gap)]), 0.0, atol=1e-12)


def along(n: np.ndarray) -> Rotation:
    """A turn that brings z onto n."""
    return Rotation.align_vectors([n], [(0, 0, 1)])[0]


def test_a_standing_cylinder_has_four_points_on_its_rim() -> None:
    for lean in (0.0, 1e-9, 1e-6, 1e-3):
        R = Rotation.from_rotvec(np.cross(NORMAL, (1, 0, 0)) * lean) * along(NORMAL)
        (found,) = closed([(on_plane(SHAPES["cylinder"], R, -1e-3), TILTED)], 1e-3)
        assert len(found) == 4
        local = (found.a - found.a.mean(axis=0)) @ R.as_matrix()
        np.testing.assert_allclose(np.linalg.norm(local, axis=1), 0.2, atol=1e-12)
        assert sorted(np.round(local @ local.T / 0.04).ravel().tolist()) == [-1.0] * 4 + [0.0] * 8 + [1.0] * 4


def test_a_lying_cylinder_touches_along_a_line_and_keeps_its_points_as_it_rolls() -> None:
    base = plane()
    start = Rotation.from_rotvec((0, np.pi / 2, 0))
    local = []
    for roll in (0.0, 0.1, 2.0):
        R = Rotation.from_rotvec((roll, 0, 0)) * start
        a = on_plane(SHAPES["cylinder"], R, -1e-3, base)
        (found,) = closed([(a, base)], 1e-2)
        assert len(found) == 2
        np.testing.assert_allclose(found.gap, -1e-3, atol=1e-12)
        local.append((found.a - a.p) @ a.R)
    for later in local[1:]:
        np.testing.assert_allclose(later, local[0], atol=1e-12)
    np.testing.assert_allclose(np.abs(local[0][:, 2]), 0.3, atol=1e-12)


def test_a_tilted_cylinder_touches_with_its_rim() -> None:
    R = Rotation.from_rotvec((0.6, 0, 0))
    a = on_plane(SHAPES["cylinder"], R, 0.0, plane())
    (found,) = closed([(a, plane())], 1e-3)
    assert len(found) == 1
    np.testing.assert_allclose(a.outside(found.on_a), 0.0, atol=1e-12)


def test_a_box_stands_on_the_four_corners_of_its_face() -> None:
    (found,) = closed(
        [(on_plane(box(0.1, 0.2, 0.3), along(NORMAL), -1e-9), TILTED)], 0.7
    )  # all eight within the margin
    assert len(found) == 4
    np.testing.assert_allclose(found.gap, -1e-9, atol=1e-12)
    assert len(set(found.key.tolist())) == 4


def test_a_prism_with_many_sides_stands_on_four_corners_that_span_it() -> None:
    turn = 2 * np.pi * np.arange(24) / 24
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    prism = hull(np.concatenate([np.c_[ring, -np.ones(24)], np.c_[ring, np.ones(24)]]))
    (found,) = closed([(on_plane(prism, Rotation.identity(), 0.0, plane()), plane())], 0.1)
    assert len(found) == 4
    x, y = (found.a - found.a.mean(axis=0))[:, :2].T
    order = np.argsort(np.arctan2(y, x))
    x, y = x[order], y[order]
    area = 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))
    assert area > 1.99  # a square in the unit circle has area 2
    # and nearly the same when it leans by less than rounding
    leaning = Rotation.from_rotvec((1e-12, -2e-12, 0))
    (again,) = closed([(on_plane(prism, leaning, 0.0, plane()), plane())], 0.1)
    assert again.key.tolist() == found.key.tolist()


def test_a_capsule_lies_on_both_its_ends() -> None:
    R = Rotation.from_rotvec((0, np.pi / 2, 0))
    (found,) = closed([(on_plane(SHAPES["capsule"], R, -0.01, plane()), plane())], 0.01)
    assert len(found) == 2
    np.testing.assert_allclose(found.gap, -0.01, atol=1e-12)
    assert found.radius_a == 0.1
