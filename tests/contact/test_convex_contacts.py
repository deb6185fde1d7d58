"""Manifolds of convex pairs: stacks, tilts, rims, keys, and what every manifold must hold."""

import itertools

import numpy as np
import pytest
from contact.convex_pairs import Contacts, Shape, box, capsule, collide, cylinder, hull, measure, sphere
from contact.test_convex_distance import pairs_of_every_kind
from scipy.spatial import ConvexHull
from scipy.spatial.transform import Rotation

from linkwork.contact.geom import CAPSULE, CYLINDER, SPHERE

UP = np.array([0.0, 0.0, 1.0])
ORIENTATIONS = Rotation.create_group("O")
LYING = Rotation.from_rotvec((np.pi / 2, 0, 0))


def one(a: Shape, b: Shape, margin: float = 0.02) -> Contacts:
    return collide([(a, b)], margin)[0]


def area(points: np.ndarray) -> float:
    return float(ConvexHull(points[:, :2]).volume)


@pytest.mark.parametrize("gap", [-1e-2, -1e-4, -1e-9, 0.0, 1e-9, 1e-4, 1e-2])
def test_aligned_boxes_of_equal_size_stack_on_four_corners_in_every_orientation(gap: float) -> None:
    b = box(0.5, 0.5, 0.5)
    pairs = [(b.at((0, 0, 1.0 + gap), r), b.at((0, 0, 0), s)) for r, s in itertools.product(ORIENTATIONS, ORIENTATIONS)]
    for c in collide(pairs, 0.02):
        np.testing.assert_allclose(c.normal, UP, atol=1e-15)
        assert len(c) == 4
        np.testing.assert_allclose(c.gap, gap, atol=1e-15)
        np.testing.assert_allclose(np.abs(c.on_a[:, :2]), 0.5, atol=1e-15)
        assert area(c.on_a) == pytest.approx(1.0)


@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-4])
def test_aligned_stacks_keep_their_normal_in_every_frame_of_the_world(gap: float) -> None:
    rng = np.random.default_rng(0)
    b = box(0.5, 0.3, 0.2)
    pairs = []
    turns = Rotation.random(200, random_state=rng).as_matrix()
    for Q in turns:
        shift = rng.normal(size=3) * 10.0
        pairs.append((b.at((0, 0, 0.4 + gap)).moved(shift, Q), b.moved(shift, Q)))
    for c, Q in zip(collide(pairs, 0.01), turns, strict=True):
        np.testing.assert_allclose(c.normal, Q @ UP, atol=1e-13)
        assert len(c) == 4
        np.testing.assert_allclose(c.gap, gap, atol=1e-13)
        assert area(c.on_a @ Q) == pytest.approx(0.6, rel=1e-6)


@pytest.mark.parametrize("overlap", [0.5, 0.1, 1e-2, 1e-3])
@pytest.mark.parametrize("gap", [-1e-4, 0.0, 1e-4])
def test_corner_on_corner_the_normal_stays_upright(overlap: float, gap: float) -> None:
    b = box(0.5, 0.5, 0.5)
    for quarter in range(4):
        turn = Rotation.from_rotvec((0, 0, quarter * np.pi / 2))
        c = one(b.at(turn.apply((1.0 - overlap, 1.0 - overlap, 1.0 + gap)), turn), b)
        np.testing.assert_allclose(c.normal, UP, atol=1e-15)
        assert len(c) == 4
        np.testing.assert_allclose(c.gap, gap, atol=1e-15)
        assert area(c.on_a) == pytest.approx(overlap**2)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_plates_columns_and_prisms_stack_at_every_scale(scale: float) -> None:
    prism = hull(octagon(0.4, 0.3))
    cases = [
        (box(1, 1, 1e-4), box(1, 1, 1e-4), 2e-4, 4.0),
        (box(1e-3, 1e-3, 1), box(1e-3, 1e-3, 1), 2.0, 4e-6),
        (box(0.2, 0.2, 0.1), box(1, 1, 1e-3), 0.101, 0.16),
        (prism, prism, 0.6, 0.9 * 0.32),
        (prism.at((0, 0, 0), Rotation.from_rotvec((0, 0, np.pi / 8))), prism, 0.6, 0.8 * 0.32),
        (cylinder(1.0, 1e-4), cylinder(1.0, 1e-4), 2e-4, 2.0),
        (cylinder(1e-3, 1.0), box(1, 1, 1), 2.0, 2e-6),
    ]
    for gap in (-1e-6, 0.0, 1e-6):
        pairs = [(a.at((0, 0, h + gap), a.R).scaled(scale), b.scaled(scale)) for a, b, h, _ in cases]
        for (_, _, _, least), c in zip(cases, collide(pairs, 1e-3 * scale), strict=True):
            np.testing.assert_allclose(c.normal, UP, atol=1e-14)
            assert len(c) == 4
            np.testing.assert_allclose(c.gap, gap * scale, atol=1e-15 * scale * 2)
            assert area(c.on_a / scale) > least * (1 - 1e-6)


def test_coincident_shapes_still_report_their_overlap() -> None:
    rng = np.random.default_rng(3)
    shapes = [box(0.5, 0.5, 0.5), hull(rng.normal(size=(9, 3))), cylinder(0.5, 0.5), capsule(0.2, 0.5), sphere(0.5)]
    pairs = list(itertools.product(shapes, shapes))
    pairs += [(a, b.at((0, 0, 0), turn)) for a, b in pairs for turn in ORIENTATIONS[:4]]
    for c in collide(pairs, 0.01):
        assert len(c) >= 1
        assert np.all(np.isfinite(np.concatenate([c.a, c.b])))
        assert abs(np.linalg.norm(c.normal) - 1.0) < 1e-14
        assert c.gap.min() < -0.1


def test_small_errors_of_pose_do_not_tip_a_stack() -> None:
    rng = np.random.default_rng(1)
    b = box(0.5, 0.5, 0.5)
    for size in (1e-12, 1e-9, 1e-7, 1e-5, 1e-3):
        pairs = []
        for _ in range(200):
            turn = Rotation.from_rotvec(rng.normal(size=3) * size)
            pairs.append((b.at(rng.normal(size=3) * size + (0, 0, 1.0), turn), b))
        for c in collide(pairs, 0.02):
            assert c.normal @ UP > np.cos(20 * size) - 1e-15
            assert len(c) == 4
            assert area(c.on_a) > 0.9
            assert np.max(np.abs(c.gap)) < 20 * size


def test_boxes_that_share_an_edge_or_a_corner_touch_without_depth() -> None:
    b = box(0.5, 0.5, 0.5)
    for step in itertools.product((-1.0, 0.0, 1.0), repeat=3):
        if np.count_nonzero(step) > 1:
            c = one(b.at(step), b)
            assert 1 <= len(c) <= 4
            np.testing.assert_allclose(c.gap, 0.0, atol=1e-15)
            # the normal parts them
            assert c.normal @ np.array(step) >= 0.99


def test_corner_over_corner_apart_the_normal_is_the_true_direction() -> None:
    b = box(0.5, 0.5, 0.5)
    c = one(b.at((1.003, 1.004, 1.012)), b)
    np.testing.assert_allclose(c.normal, np.array([3, 4, 12]) / 13, atol=1e-12)
    np.testing.assert_allclose(c.gap, [0.013], atol=1e-15)


def test_parallel_edges_apart_touch_at_both_ends_of_what_they_share() -> None:
    b = box(0.5, 0.5, 0.5)
    c = one(b.at((1.003, 0.25, 1.004)), b)
    np.testing.assert_allclose(c.normal, (0.6, 0, 0.8), atol=1e-12)
    np.testing.assert_allclose(c.gap, [0.005, 0.005], atol=1e-15)
    assert sorted(c.on_a[:, 1]) == pytest.approx([-0.25, 0.5])


def test_what_passes_beside_gets_no_ghost_contact() -> None:
    # level with the top and 3 cm beyond the border: the plane of the top says -1e-3, the true gap is 3e-2
    b = box(0.5, 0.5, 0.5)
    assert len(one(b.at((1.03, 0, 0.999)), b)) == 0
    assert len(one(b.at((1.03, 1.03, 0.999)), b)) == 0
    assert len(one(sphere(0.1).at((0.65, 0.65, 0.55)), b)) == 0


def test_crossing_edges_touch_once_along_their_common_perpendicular() -> None:
    roof = Rotation.from_rotvec((np.pi / 4, 0, 0))
    half = 0.5 * 2**0.5
    for angle in (0.3, 1.0, np.pi / 2):
        for depth in (-1e-3, 1e-3):
            top = box(0.5, 0.5, 0.5).at((0.1, 0.1, 2 * half - depth), Rotation.from_rotvec((0, 0, angle)) * roof)
            c = one(top, box(0.5, 0.5, 0.5).at((0, 0, 0), roof), 5e-3)
            np.testing.assert_allclose(c.normal, UP, atol=1e-12)
            np.testing.assert_allclose(c.gap, [-depth], atol=1e-14)


def test_a_tilted_box_reports_the_corners_within_the_margin() -> None:
    b = box(0.5, 0.5, 0.5)
    tilt = 0.01
    low = 0.5 * np.cos(tilt) + 0.5 * np.sin(tilt)
    c = one(b.at((0, 0, 0.5 + low - 1e-3), Rotation.from_rotvec((0, tilt, 0))), box(2, 2, 0.5), 0.02)
    assert len(c) == 4
    np.testing.assert_allclose(sorted(c.gap), [-1e-3] * 2 + [np.sin(tilt) - 1e-3] * 2, atol=1e-14)
    assert len(one(b.at((0, 0, 0.5 + low - 1e-3), Rotation.from_rotvec((0, tilt, 0))), box(2, 2, 0.5), 0.005)) == 2


def test_a_standing_cylinder_rests_on_four_points_of_its_rim() -> None:
    for spin in (0.0, 0.4, 1.3):
        c = one(cylinder(0.5, 1.0).at((0, 0, 1.5 - 1e-4), Rotation.from_rotvec((0, 0, spin))), box(2, 2, 0.5))
        np.testing.assert_allclose(c.normal, UP, atol=1e-15)
        np.testing.assert_allclose(c.gap, [-1e-4] * 4, atol=1e-15)
        np.testing.assert_allclose(np.hypot(*c.on_a[:, :2].T), 0.5, atol=1e-15)
        assert area(c.on_a) == pytest.approx(0.5)


def test_a_cylinder_rolls_without_bumps() -> None:
    for angle in np.linspace(0.0, 2.0, 21):
        c = one(cylinder(0.5, 1.0).at((0, 0, 1.0 - 1e-4), LYING * Rotation.from_rotvec((0, 0, angle))), box(2, 2, 0.5))
        np.testing.assert_allclose(c.normal, UP, atol=1e-15)
        np.testing.assert_allclose(c.gap, [-1e-4] * 2, atol=1e-15)
        # the core points lie on the axis, so that they do not turn with it
        assert c.radius_a == 0.5
        np.testing.assert_allclose(c.a[np.argsort(c.a[:, 1])], [(0, -1, 1 - 1e-4), (0, 1, 1 - 1e-4)], atol=1e-15)


@pytest.mark.parametrize("tilt", [0.1, 0.5, 1.0, 1.4])
def test_a_tilted_cylinder_stands_on_the_lowest_point_of_its_rim(tilt: float) -> None:
    low = np.cos(tilt) + 0.5 * np.sin(tilt)
    for spin in (0.0, 0.3, 2.0):
        turn = (
            Rotation.from_rotvec((0, 0, spin))
            * Rotation.from_rotvec((0, tilt, 0))
            * Rotation.from_rotvec((0, 0, 3 * spin))
        )
        c = one(cylinder(0.5, 1.0).at((0, 0, 0.5 + low - 1e-4), turn), box(2, 2, 0.5), 0.01)
        np.testing.assert_allclose(c.normal, UP, atol=1e-12)
        np.testing.assert_allclose(c.gap.min(), -1e-4, atol=1e-12)
        assert len(c) == 1


def test_a_cap_that_overhangs_is_held_at_the_border() -> None:
    c = one(cylinder(0.5, 1.0).at((0.8, 0.0, 1.5)), box(1, 1, 0.5))
    np.testing.assert_allclose(c.normal, UP, atol=1e-15)
    assert len(c) == 4
    np.testing.assert_allclose(c.gap, 0.0, atol=1e-15)
    assert c.on_a[:, 0].max() == pytest.approx(1.0)
    # of the segment of the disc left of the border, whose area is 0.5 * 0.5 * (pi - acos(0.4) + 0.4 sin acos(0.4))
    assert area(c.on_a) > 0.5 * 0.25 * (np.pi - np.arccos(0.4) + 0.4 * np.sin(np.arccos(0.4)))


def test_cylinders_on_and_beside_each_other() -> None:
    c = cylinder(0.5, 1.0)
    stacked = one(c.at((0.3, 0.0, 2.0 - 1e-4)), c)
    np.testing.assert_allclose(stacked.normal, UP, atol=1e-15)
    assert len(stacked) == 4
    np.testing.assert_allclose(stacked.gap, -1e-4, atol=1e-14)
    beside = one(c.at((1.0 - 1e-4, 0, 0.5)), c)
    np.testing.assert_allclose(beside.normal, (1, 0, 0), atol=1e-14)
    np.testing.assert_allclose(beside.gap, [-1e-4] * 2, atol=1e-14)
    assert sorted(beside.on_a[:, 2]) == pytest.approx([-0.5, 1.0])
    crossing = one(c.at((1.0 - 1e-4, 0.2, 0.1), LYING), c)
    np.testing.assert_allclose(crossing.normal, (1, 0, 0), atol=1e-14)
    np.testing.assert_allclose(crossing.gap, [-1e-4], atol=1e-14)
    lying = one(c.at((0.1, 0, 1.5 - 1e-4), LYING), cylinder(0.5, 1.0))
    np.testing.assert_allclose(lying.normal, UP, atol=1e-14)
    np.testing.assert_allclose(lying.gap, [-1e-4] * 2, atol=1e-14)
    assert np.ptp(lying.on_a[:, 1]) == pytest.approx(2 * np.sqrt(0.25 - 0.01))


def test_capsules_lie_on_two_points_and_stand_on_one() -> None:
    k = capsule(0.2, 0.5)
    lying = one(k.at((0.1, 0, 0.7 - 1e-4), LYING), box(1, 1, 0.5))
    np.testing.assert_allclose(lying.gap, [-1e-4] * 2, atol=1e-15)
    assert sorted(lying.a[:, 1]) == pytest.approx([-0.5, 0.5])
    standing = one(k.at((0.1, 0, 1.2 - 1e-4)), box(1, 1, 0.5))
    np.testing.assert_allclose(standing.gap, [-1e-4], atol=1e-15)
    along_an_edge = one(k.at((0.5 + 0.12, 0.1, 0.5 + 0.16), LYING), box(0.5, 0.5, 0.5))
    np.testing.assert_allclose(along_an_edge.normal, (0.6, 0, 0.8), atol=1e-12)
    np.testing.assert_allclose(along_an_edge.gap, [0.0] * 2, atol=1e-14)
    ball = one(sphere(0.2).at((0.1, 0.2, 0.699)), box(0.5, 0.5, 0.5))
    np.testing.assert_allclose(ball.gap, [-1e-3], atol=1e-15)
    np.testing.assert_allclose(ball.a, [(0.1, 0.2, 0.699)], atol=1e-15)


def test_every_manifold_holds_the_nearest_points_and_lies_on_both_surfaces() -> None:
    pairs = pairs_of_every_kind(8, 24)
    gap, normal, _, _ = measure(pairs)
    for apart in (1e-3, -1e-3, 0.05):
        near = [
            (a.at(a.p - n * (d - apart), a.R), b) for (a, b), d, n in zip(pairs, gap, normal, strict=True) if d > 1e-3
        ]
        distances, _, _, _ = measure(near)
        for (a, b), d, c in zip(near, distances, collide(near, 0.1), strict=True):
            assert 1 <= len(c) <= 4
            assert len(set(c.key)) == len(c)
            assert np.all(c.key >= 0)
            assert np.all(c.gap < 0.1)
            np.testing.assert_allclose((c.a - c.b) @ c.normal - c.radius_a - c.radius_b, c.gap, atol=1e-14)
            # within the 1e-6 of the size (below 2) by which a face is preferred
            assert abs(c.gap.min() - d) < 4e-6 + 1e-3 * (CYLINDER in (a.kind, b.kind) and d < 0)
            for s, x in ((a, c.on_a), (b, c.on_b)):
                if s.kind in (SPHERE, CAPSULE):
                    # the higher end of a tilted capsule is held by a sphere inside it
                    assert np.all(s.outside(x) < 1e-9)
                else:
                    assert np.all(np.abs(s.outside(x)) < 2e-5)


def test_manifolds_do_not_change_with_the_frame_or_the_order() -> None:
    pairs = [p for p in pairs_of_every_kind(9, 12) if CYLINDER not in (p[0].kind, p[1].kind)]
    gap, normal, _, _ = measure(pairs)
    near = [(a.at(a.p - n * (d - 1e-3), a.R), b) for (a, b), d, n in zip(pairs, gap, normal, strict=True) if d > 1e-2]
    Q = Rotation.from_rotvec((0.3, -1.0, 0.7)).as_matrix()
    shift = np.array([10.0, -20.0, 5.0])
    plain = collide(near, 0.05)
    moved = collide([(a.moved(shift, Q), b.moved(shift, Q)) for a, b in near], 0.05)
    swapped = collide([(b, a) for a, b in near], 0.05)
    for c, m, s in zip(plain, moved, swapped, strict=True):
        assert len(c) == len(m) == len(s)
        np.testing.assert_allclose(m.normal, Q @ c.normal, atol=1e-9)
        np.testing.assert_allclose(s.normal, -c.normal, atol=1e-9)
        np.testing.assert_allclose(np.sort(m.gap), np.sort(c.gap), atol=1e-9)
        np.testing.assert_allclose(np.sort(s.gap), np.sort(c.gap), atol=1e-9)
        assert set(m.key) == set(c.key)


def test_keys_stay_while_the_same_features_touch() -> None:
    rng = np.random.default_rng(2)
    b = box(0.5, 0.4, 0.3)
    for shape, height in ((b, 0.6), (cylinder(0.3, 0.4), 0.7), (hull(octagon(0.4, 0.3)), 0.6)):
        pairs = []
        for _ in range(50):
            turn = Rotation.from_rotvec(rng.normal(size=3) * 1e-7)
            pairs.append(
                (shape.at(rng.normal(size=3) * (1e-2, 1e-2, 1e-7) + (0.05, 0.03, height), turn), box(1, 1, 0.3))
            )
        contacts = collide(pairs, 0.02)
        assert all(set(c.key) == set(contacts[0].key) for c in contacts)


def octagon(radius: float, half: float) -> np.ndarray:
    angles = np.arange(8) * np.pi / 4
    ring = np.stack([radius * np.cos(angles), radius * np.sin(angles)], axis=1)
    return np.concatenate([np.insert(ring, 2, z, axis=1) for z in (-half, half)])


def test_four_of_many_corners_span_most_of_the_area_and_keep_the_deepest() -> None:
    for corners in (8, 64):
        angles = np.arange(corners) * 2 * np.pi / corners
        ring = np.stack([np.cos(angles), np.sin(angles)], axis=1)
        prism = hull(np.concatenate([np.insert(ring, 2, z, axis=1) for z in (-0.5, 0.5)]))
        c = one(prism.at((0, 0, 1.0)), box(2, 2, 0.5))
        assert len(c) == 4
        # a square is the best of four points on a circle, and has the area 2
        assert area(c.on_a) > 1.7
        tilt = Rotation.from_rotvec((0, 1e-3, 0))
        c = one(prism.at((0, 0, 1.0), tilt), box(2, 2, 0.5))
        assert c.gap.min() == pytest.approx(-np.sin(1e-3) + 0.5 * (1 - np.cos(1e-3)), abs=1e-9)
        assert area(c.on_a) > 1.4


def test_the_normal_turns_smoothly_around_an_edge_and_a_corner() -> None:
    # a box whose corner circles the border of another at 1 cm
    b = box(0.5, 0.5, 0.5)
    tilt = Rotation.from_rotvec((0.5, 0.6, 0.1))
    corner = tilt.apply((-0.5, -0.5, -0.5))
    low = np.array([tilt.apply(s) for s in itertools.product((-0.5, 0.5), repeat=3)])
    angles = np.linspace(0.02, np.pi / 2 - 0.02, 400)
    pairs = []
    for t in angles:
        n = np.array([np.sin(t), 0.0, np.cos(t)])
        corner = low[np.argmin(low @ n)]
        pairs.append((b.at(np.array([0.5, 0.1, 0.5]) + 0.01 * n - corner, tilt), b))
    contacts = collide(pairs, 0.02)
    for t, c in zip(angles, contacts, strict=True):
        np.testing.assert_allclose(c.normal, (np.sin(t), 0, np.cos(t)), atol=1e-6)
        np.testing.assert_allclose(c.gap.min(), 0.01, atol=1e-12)


def test_the_same_input_gives_the_same_bits() -> None:
    pairs = pairs_of_every_kind(10, 4)
    for c, again in zip(collide(pairs, 0.5), collide(pairs, 0.5), strict=True):
        assert c.normal.tobytes() == again.normal.tobytes()
        assert c.gap.tobytes() == again.gap.tobytes()
        assert np.array_equal(c.key, again.key)
