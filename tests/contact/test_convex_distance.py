"""Signed distances of convex pairs against closed forms, proofs by duality, and Minkowski differences."""

import itertools

import numpy as np
import pytest
from contact.convex_pairs import Shape, box, capsule, cylinder, hull, measure, sphere
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from linkwork.contact.geom import CYLINDER

KINDS = ("box", "hull", "cylinder", "capsule", "sphere")


def shape(kind: str, rng: np.random.Generator) -> Shape:
    made = {
        "box": lambda: box(*rng.uniform(0.1, 1.0, 3)),
        "hull": lambda: hull(rng.normal(size=(12, 3)) * (0.5, 0.4, 0.3)),
        "cylinder": lambda: cylinder(*rng.uniform(0.1, 1.0, 2)),
        "capsule": lambda: capsule(*rng.uniform(0.1, 0.6, 2)),
        "sphere": lambda: sphere(rng.uniform(0.1, 0.6)),
    }
    return made[kind]().at(rng.normal(size=3) * rng.choice([0.3, 1.0, 2.0]), Rotation.random(random_state=rng))


def pairs_of_every_kind(seed: int, each: int) -> list[tuple[Shape, Shape]]:
    rng = np.random.default_rng(seed)
    kinds = itertools.product(KINDS, KINDS)
    return [(shape(first, rng), shape(second, rng)) for first, second in kinds for _ in range(each)]


def proven(a: Shape, b: Shape, n: np.ndarray) -> np.ndarray:
    """The gap that planes of the normals n leave: no more than the signed distance."""
    return -a.reach(-n) - b.reach(n)


def test_apart_the_points_and_the_normal_prove_the_distance() -> None:
    # points of both shapes bound the distance from above, a plane between them from below
    pairs = pairs_of_every_kind(0, 40)
    gap, normal, x, y = measure(pairs)
    apart = 0
    for (a, b), d, n, p, q in zip(pairs, gap, normal, x, y, strict=True):
        tolerance = 1e-9 if CYLINDER in (a.kind, b.kind) else 1e-10
        assert abs(np.linalg.norm(n) - 1.0) < 1e-14
        assert abs(proven(a, b, n) - d) < 1e-10 * abs(d) + 1e-14
        if d > 0.0:
            apart += 1
            assert max(a.outside(p), b.outside(q)) < 1e-10
            assert abs(np.linalg.norm(p - q) - d) < tolerance * d + 1e-14
    assert apart > len(pairs) / 4


def test_overlapping_boxes_and_small_hulls_are_as_deep_as_their_minkowski_difference() -> None:
    rng = np.random.default_rng(1)
    corners = rng.normal(size=(8, 3)) * (0.5, 0.4, 0.3)
    pairs = []
    for _ in range(60):
        for first, second in itertools.product((box(*rng.uniform(0.1, 1.0, 3)), hull(corners)), repeat=2):
            offset = rng.normal(size=3) * 0.3
            turn = Rotation.random(2, random_state=rng)
            pairs.append((first.at(offset, turn[0]), second.at((0, 0, 0), turn[1])))
    gap, normal, x, y = measure(pairs)
    for (a, b), d, n, p, q in zip(pairs, gap, normal, x, y, strict=True):
        difference = (b.vertices()[:, None] - a.vertices()[None]).reshape(-1, 3)
        depth = ConvexHull(difference).equations[:, 3].max()
        if depth < 0.0:
            assert abs(d - depth) < 1e-12
            np.testing.assert_allclose(p - q, d * n, atol=1e-9)
            assert abs(a.outside(p)) < 1e-9
            assert abs(b.outside(q)) < 1e-9


def test_where_round_shapes_overlap_no_direction_nearby_is_shallower() -> None:
    rng = np.random.default_rng(2)
    pairs = [p for p in pairs_of_every_kind(3, 20) if CYLINDER in (p[0].kind, p[1].kind)]
    gap, normal, _, _ = measure(pairs)
    shallow = [
        (a.at(a.p - n * (d + 1e-2), a.R), b) for (a, b), d, n in zip(pairs, gap, normal, strict=True) if d > 1e-3
    ]
    gap, normal, x, y = measure(shallow)
    for (a, b), d, n, p, q in zip(shallow, gap, normal, x, y, strict=True):
        assert d < 0.0
        around = rng.normal(size=(500, 3))
        near = n + around * (1e-2 / np.linalg.norm(around, axis=1, keepdims=True))
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        assert proven(a, b, near).max() < d + 1e-8
        assert a.outside(p) < 1e-9
        assert b.outside(q) < 1e-9
        # deeper than a rim is round the search creeps, and ends within a part in a thousand of the depth
        np.testing.assert_allclose(n @ (p - q), d, rtol=1e-3)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_distance_scales_with_the_lengths(scale: float) -> None:
    pairs = pairs_of_every_kind(4, 6)
    gap, _, _, _ = measure(pairs)
    scaled, _, _, _ = measure([(a.scaled(scale), b.scaled(scale)) for a, b in pairs])
    apart = gap > 0.0
    np.testing.assert_allclose(scaled[apart], scale * gap[apart], rtol=1e-9)
    np.testing.assert_allclose(scaled[~apart], scale * gap[~apart], atol=1e-5 * scale)


def test_distance_does_not_change_with_the_frame_or_the_order() -> None:
    pairs = [(a, b) for a, b in pairs_of_every_kind(5, 8)]
    Q = Rotation.from_rotvec((0.3, -1.0, 0.7)).as_matrix()
    shift = np.array([10.0, -20.0, 5.0])
    gap, normal, _, _ = measure(pairs)
    moved, turned, _, _ = measure([(a.moved(shift, Q), b.moved(shift, Q)) for a, b in pairs])
    swapped, opposite, _, _ = measure([(b, a) for a, b in pairs])
    apart = gap > 1e-3
    np.testing.assert_allclose(moved[apart], gap[apart], rtol=1e-9)
    np.testing.assert_allclose(swapped[apart], gap[apart], rtol=1e-9)
    np.testing.assert_allclose(turned[apart], normal[apart] @ Q.T, atol=1e-5)
    np.testing.assert_allclose(opposite[apart], -normal[apart], atol=1e-5)


def test_plates_and_needles_keep_their_digits() -> None:
    rng = np.random.default_rng(6)
    thin = [box(1.0, 1.0, 1e-4), box(1.0, 1e-3, 1e-3), cylinder(1.0, 1e-4), cylinder(1e-3, 1.0), capsule(1e-4, 1.0)]
    pairs = [
        (
            a.at(rng.normal(size=3), Rotation.random(random_state=rng)),
            b.at((0, 0, 0), Rotation.random(random_state=rng)),
        )
        for a, b in itertools.product(thin, thin)
        for _ in range(12)
    ]
    gap, normal, x, y = measure(pairs)
    for (a, b), d, n, p, q in zip(pairs, gap, normal, x, y, strict=True):
        assert abs(proven(a, b, n) - d) < 1e-13
        if d > 0.0:
            assert abs(np.linalg.norm(p - q) - d) < 1e-9 * d + 1e-13


def test_closed_forms_of_round_shapes() -> None:
    c = cylinder(0.5, 1.0)
    lying = Rotation.from_rotvec((np.pi / 2, 0, 0))
    cases = [
        # beside, above, and beyond the rim of a cylinder
        (sphere(0.25).at((1.0, 0, 0.3)), c, 0.25, (1, 0, 0)),
        (sphere(0.25).at((0.1, 0.1, 1.5)), c, 0.25, (0, 0, 1)),
        (sphere(0.25).at((0.5 + 0.3, 0, 1.0 + 0.4)), c, 0.25, (0.6, 0, 0.8)),
        # inside: out by the side, out by the cap
        (sphere(0.25).at((0.4, 0, 0.0)), c, -0.35, (1, 0, 0)),
        (sphere(0.25).at((0.0, 0.1, 0.8)), c, -0.45, (0, 0, 1)),
        # side by side, crossing, one on the other's cap
        (c.at((1.5, 0, 0.5)), c, 0.5, (1, 0, 0)),
        (c.at((0.9, 0, 0.5)), c, -0.1, (1, 0, 0)),
        (c.at((1.2, 0, 0), lying), c, 0.2, (1, 0, 0)),
        (c.at((0.2, 0.1, 2.01)), c, 0.01, (0, 0, 1)),
        (c.at((0, 0, 1.49), lying), c, -0.01, (0, 0, 1)),
        # a box's face, edge and corner against the side, and a corner under the cap
        (box(1, 1, 1).at((1.6, 0.2, 0)), c, 0.1, (1, 0, 0)),
        (box(1, 1, 1).at((0.5 + 0.1 + 2**0.5, 0, 0), Rotation.from_rotvec((0, 0, np.pi / 4))), c, 0.1, (1, 0, 0)),
        (box(1, 1, 1).at((0.3, 0.2, 1.99)), c, -0.01, (0, 0, 1)),
        (capsule(0.1, 1.0).at((0.7, 0, 0)), c, 0.1, (1, 0, 0)),
        (capsule(0.1, 1.0).at((0, 0, 1.3), lying), c, 0.2, (0, 0, 1)),
    ]
    gap, normal, _, _ = measure([(a, b) for a, b, _, _ in cases])
    np.testing.assert_allclose(gap, [d for _, _, d, _ in cases], atol=1e-14)
    np.testing.assert_allclose(normal, [n for _, _, _, n in cases], atol=1e-13)


def test_coincident_centres_and_touching_shapes_give_finite_answers() -> None:
    shapes = [
        box(0.5, 0.5, 0.5),
        hull(np.random.default_rng(7).normal(size=(9, 3))),
        cylinder(0.5, 0.5),
        capsule(0.2, 0.5),
        sphere(0.5),
    ]
    flat = [a.at((0, 0, 0)) for a in shapes]
    gap, normal, x, y = measure(list(itertools.product(flat, flat)))
    assert np.all(gap < 0.0)
    for answer in (gap, normal, x, y):
        assert np.all(np.isfinite(answer))
    np.testing.assert_allclose(np.linalg.norm(normal, axis=1), 1.0, atol=1e-14)
    touching = [
        (a.at((0, 0, 1.0)), b)
        for a, b in itertools.product([box(0.5, 0.5, 0.5), cylinder(0.5, 0.5), sphere(0.5)], repeat=2)
    ]
    gap, normal, _, _ = measure(touching)
    np.testing.assert_allclose(gap, 0.0, atol=1e-15)
    np.testing.assert_allclose(normal, [(0, 0, 1)] * 9, atol=1e-6)
