"""Spheres with everything and capsules with capsules: the normal proves the gap from below, the points from above."""

from __future__ import annotations

import numpy as np
import pytest
from contact.any_pairs import closed
from contact.convex_pairs import Shape, box, capsule, cylinder, hull, sphere
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

POINTS = np.random.default_rng(3).normal(size=(14, 3)) * 0.3
OTHERS = {
    "sphere": sphere(0.3),
    "capsule": capsule(0.2, 0.4),
    "cylinder": cylinder(0.3, 0.4),
    "flat cylinder": cylinder(0.6, 0.05),
    "box": box(0.2, 0.5, 0.3),
    "hull": hull(POINTS),
    "wedge": hull(np.array([[0, 0, 0], [1, 0, 0], [0, 0.5, 0], [1, 0.5, 0], [0, 0, 0.3], [0, 0.5, 0.3]]) - 0.2),
}


def separation(a: Shape, b: Shape, n: np.ndarray) -> np.ndarray:
    """The gap that planes with normals n (..., 3) prove."""
    return -a.reach(-n) - b.reach(n)


def random_poses(count: int, seed: int, spread: float = 1.0):
    rng = np.random.default_rng(seed)
    return zip(rng.normal(size=(count, 3)) * spread, Rotation.random(count, random_state=seed), strict=True)


@pytest.mark.parametrize("name", OTHERS)
def test_a_sphere_apart_has_the_gap_that_its_normal_proves(name: str) -> None:
    other = OTHERS[name]
    pairs = [(sphere(0.1).at(p), other.at((0.1, -0.2, 0.3), R)) for p, R in random_poses(300, 1)]
    met = 0
    for (a, b), found in zip(pairs, closed(pairs), strict=True):
        assert len(found) == 1
        if found.gap[0] + 0.1 < 1e-9:  # the centre lies inside
            continue
        met += 1
        np.testing.assert_allclose(separation(a, b, found.normal), found.gap[0], atol=1e-12)
        np.testing.assert_allclose(found.on_a - found.on_b, found.gap[:, None] * found.normal, atol=1e-12)
        np.testing.assert_allclose(a.outside(found.on_a), 0.0, atol=1e-12)
        np.testing.assert_allclose(b.outside(found.on_b), 0.0, atol=1e-12)
    assert met > 100


@pytest.mark.parametrize("name", ["cylinder", "box", "hull", "wedge"])
def test_a_centre_inside_leaves_by_the_nearest_face(name: str) -> None:
    other = OTHERS[name]
    pairs = [(sphere(0.1).at(p), other.at((0, 0, 0), R)) for p, R in random_poses(400, 2, 0.15)]
    met = 0
    for (a, b), found in zip(pairs, closed(pairs), strict=True):
        depth = b.outside(a.p)
        if depth > -1e-9:
            continue
        met += 1
        np.testing.assert_allclose(found.gap[0], depth - 0.1, atol=1e-12)
        np.testing.assert_allclose(b.outside(found.on_b), 0.0, atol=1e-12)
    assert met > 20


def test_the_centre_of_a_sphere_on_that_of_another_still_has_a_unit_normal() -> None:
    pairs = [
        (sphere(0.1), sphere(0.2)),
        (sphere(0.1), capsule(0.2, 0.5).at((0, 0, 0), Rotation.from_rotvec((1, 0, 0)))),
        (sphere(0.1), cylinder(0.2, 0.5)),
        (sphere(0.1), box(0.2, 0.2, 0.2)),
        (capsule(0.1, 0.2), capsule(0.1, 0.3)),
        (capsule(0.1, 0.2), capsule(0.1, 0.3).at((0, 0, 0), Rotation.from_rotvec((1, 0, 0)))),
    ]
    depth = [0.3, 0.3, 0.3, 0.3, 0.2, 0.2]
    for found, deep in zip(closed(pairs), depth, strict=True):
        np.testing.assert_allclose(np.linalg.norm(found.normal), 1.0, rtol=1e-12)
        np.testing.assert_allclose(found.gap, -deep, atol=1e-12)


def brute_distance(a: Shape, b: Shape) -> float:
    """Of two capsules: the nearest pair of points on the axes, searched from several starts."""
    ends_a, ends_b = a.vertices(), b.vertices()

    def apart(x):
        return np.linalg.norm(ends_a[0] + x[0] * (ends_a[1] - ends_a[0]) - ends_b[0] - x[1] * (ends_b[1] - ends_b[0]))

    grid = [(s, t) for s in np.linspace(0, 1, 21) for t in np.linspace(0, 1, 21)]
    start = min(grid, key=apart)
    best = minimize(lambda x: apart(x) ** 2, start, bounds=[(0, 1), (0, 1)], tol=1e-15)
    return min(apart(best.x), apart(start)) - a.size[0] - b.size[0]


def test_capsules_meet_where_their_axes_are_nearest() -> None:
    pairs = [(capsule(0.1, 0.4).at(p, R), capsule(0.2, 0.3).at((0.1, 0, 0))) for p, R in random_poses(150, 5)]
    for (a, b), found in zip(pairs, closed(pairs), strict=True):
        np.testing.assert_allclose(found.gap.min(), brute_distance(a, b), atol=2e-8)
        nearest = np.argmin(found.gap)
        np.testing.assert_allclose(a.outside(found.on_a[nearest]), 0.0, atol=1e-12)
        np.testing.assert_allclose(b.outside(found.on_b[nearest]), 0.0, atol=1e-12)


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-8, 1e-5])
@pytest.mark.parametrize("flip", [False, True])
def test_parallel_capsules_touch_at_both_ends_of_their_overlap(turn: float, flip: bool) -> None:
    R = Rotation.from_rotvec((turn, np.pi if flip else 0.0, 0.0))
    (found,) = closed([(capsule(0.1, 0.5).at((0.3, 0, 0.4), R), capsule(0.1, 0.5))])
    assert len(found) == 2
    np.testing.assert_allclose(np.sort(found.on_a[:, 2]), [-0.1, 0.5], atol=1e-4)
    np.testing.assert_allclose(found.gap, 0.1, atol=1e-9)


def test_collinear_capsules_touch_once() -> None:
    (found,) = closed([(capsule(0.1, 0.5).at((0, 0, 1.3)), capsule(0.1, 0.5))])
    assert len(found) == 1
    np.testing.assert_allclose(found.gap, 0.1)
    np.testing.assert_allclose(found.normal, (0, 0, 1))


SMALL = st.floats(-1.0, 1.0)
VECTOR = st.tuples(SMALL, SMALL, SMALL)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(p=VECTOR, turn=VECTOR, shift=VECTOR, motion=VECTOR, name=st.sampled_from(sorted(OTHERS)))
def test_rigid_motions_move_the_contact_along(p, turn, shift, motion, name) -> None:
    a = sphere(0.1).at(p)
    b = OTHERS[name].at((0.2, 0.1, -0.1), Rotation.from_rotvec(turn))
    R = Rotation.from_rotvec(motion).as_matrix()
    x = np.asarray(shift)
    before, after = closed([(a, b), (a.moved(x, R), b.moved(x, R))])
    np.testing.assert_allclose(after.gap, before.gap, atol=1e-12)
    if abs(before.gap[0] + 0.1) > 1e-6 and b.outside(a.p) > 0.0:  # inside, two faces may be equally near
        np.testing.assert_allclose(after.normal, R @ before.normal, atol=1e-8)
        np.testing.assert_allclose(after.on_b, before.on_b @ R.T + x, atol=1e-8)


@settings(derandomize=True, max_examples=60, deadline=None)
@given(p=VECTOR, turn=VECTOR)
def test_swapping_capsules_turns_the_normal_round(p, turn) -> None:
    a, b = capsule(0.1, 0.4).at(p, Rotation.from_rotvec(turn)), capsule(0.2, 0.3)
    one, other = closed([(a, b), (b, a)])
    np.testing.assert_allclose(one.gap.min(), other.gap.min(), atol=1e-12)
    if one.gap.min() + 0.3 > 1e-6:
        np.testing.assert_allclose(one.normal, -other.normal, atol=1e-6)
