"""Generated bad input: one spoiled number anywhere is found and its owner named."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

import linkwork as lw

GENTLE = settings(derandomize=True, max_examples=40, deadline=None)
COUNT = 5
SPOILED = st.sampled_from([float("nan"), float("inf"), -float("inf")])


def spoiled(good: np.ndarray, entry: int, place: int, value: float) -> np.ndarray:
    bad = np.array(good, dtype=float)
    row = bad[entry : entry + 1].reshape(-1)
    row[place % row.size] = value
    return bad


BODY_ARRAYS: dict[str, np.ndarray] = {
    "positions": np.zeros((COUNT, 3)),
    "rotations": np.tile(np.eye(3), (COUNT, 1, 1)),
    "velocities": np.zeros((COUNT, 3)),
    "angular_velocities": np.zeros((COUNT, 3)),
    "density": np.ones(COUNT),
    "mass": np.ones(COUNT),
    "inertia": np.ones((COUNT, 3)),
    "com": np.zeros((COUNT, 3)),
}


@GENTLE
@given(st.sampled_from(list(BODY_ARRAYS)), st.integers(0, COUNT - 1), st.integers(0, 8), SPOILED)
def test_a_spoiled_number_of_a_body_is_found_and_named(what: str, entry: int, place: int, value: float) -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0))
    given_arrays: dict[str, Any] = {"positions": BODY_ARRAYS["positions"]}
    if what in ("inertia", "com"):
        given_arrays |= {"mass": 1.0, "inertia": (1, 1, 1), "shape": None}
    given_arrays[what] = spoiled(BODY_ARRAYS[what], entry, place, value)
    given_arrays.setdefault("shape", lw.Box(1, 1, 1))
    with pytest.raises(lw.SceneError, match=rf'body "cups\[{entry}\]" \(index {entry + 1}\): .*must be finite'):
        scene.add_bodies(name="cups", **given_arrays)
    assert len(scene.bodies) == 1


JOINT_ARRAYS: dict[str, np.ndarray] = {
    "at": np.zeros((COUNT, 3)),
    "axis": np.ones((COUNT, 3)),
    "limits": np.tile([-1.0, 1.0], (COUNT, 1)),
    "spring": np.ones(COUNT),
    "damping": np.ones(COUNT),
    "friction": np.ones(COUNT),
    "target": np.zeros(COUNT),
}


@GENTLE
@given(st.sampled_from(list(JOINT_ARRAYS)), st.integers(0, COUNT - 1), st.integers(0, 2))
def test_a_nan_in_a_joint_is_found_and_named(what: str, entry: int, place: int) -> None:
    scene = lw.Scene()
    links = scene.add_bodies(lw.Box(1, 1, 1), np.zeros((COUNT, 3)))
    bad: Any = spoiled(JOINT_ARRAYS[what], entry, place, float("nan"))
    axis = bad if what == "axis" else (0, 0, 1)
    laws = {} if what == "axis" else {"drive": lw.PD(1.0, target=bad)} if what == "target" else {what: bad}
    with pytest.raises(lw.SceneError, match=rf'joint "knees\[{entry}\]" \(index {entry}\): .*must be'):
        scene.add_joints(lw.Hinge(axis), scene.ground, links, name="knees", **laws)
    assert len(scene.joints) == 0


@GENTLE
@given(
    st.sampled_from(["position", "velocity", "angular_velocity", "inertia", "com"]),
    arrays(np.float64, array_shapes(min_dims=0, max_dims=3, max_side=4), elements=st.floats(0.5, 1.0)),
)
def test_an_array_of_the_wrong_shape_is_refused(what: str, array: np.ndarray) -> None:
    scene = lw.Scene()
    given_arrays: dict[str, Any] = {"mass": 1.0, "inertia": (1, 1, 1), what: array}
    if array.shape == (3,):
        scene.add_body(**given_arrays)
    else:
        with pytest.raises(lw.SceneError, match=f'body "cup".*{what} (must have shape|is not symmetric)|no body has'):
            scene.add_body(name="cup", **given_arrays)


@GENTLE
@given(arrays(np.float64, (3, 3), elements=st.floats(-2.0, 2.0)))
def test_a_matrix_is_refused_unless_it_is_a_rotation(matrix: np.ndarray) -> None:
    scene = lw.Scene()
    with pytest.raises(lw.SceneError, match=r'body "cup".*rotation (is not a rotation matrix|mirrors)'):
        scene.add_body(lw.Sphere(1.0), rotation=matrix + 3.0 * np.diag([1.0, 0.0, 0.0]), name="cup")


@GENTLE
@given(arrays(np.float64, (3,), elements=st.floats(-1.0, 3.0)))
def test_an_inertia_is_refused_exactly_when_no_body_has_it(inertia: np.ndarray) -> None:
    scene = lw.Scene()
    second = 0.5 * inertia.sum() - inertia
    largest = second.max()
    if (second > 1e-3 * largest).all() and largest > 0.0:
        scene.add_body(mass=1.0, inertia=inertia)
        np.testing.assert_allclose(scene.build().second_moments[0], second)
    elif (second < -1e-3 * abs(largest)).any():
        with pytest.raises(lw.SceneError, match="no body has"):
            scene.add_body(mass=1.0, inertia=inertia)


@GENTLE
@given(st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_limits_are_refused_exactly_when_they_are_turned_round_or_exclude_the_start(low: float, high: float) -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 1, 1))
    if low <= 0.0 <= high:
        scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, body, limits=(low, high))
    else:
        with pytest.raises(lw.SceneError, match="wrong order" if low > high else "exclude the start"):
            scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, body, limits=(low, high))


@GENTLE
@given(st.integers(-6, 9), st.integers(-6, 9))
def test_joints_are_refused_exactly_between_bodies_that_cannot_be_joined(base: int, follower: int) -> None:
    scene = lw.Scene()
    scene.add_bodies(lw.Box(1, 1, 1), np.zeros((3, 3)))
    scene.add_bodies(lw.Box(1, 1, 1), np.zeros((2, 3)), fixed=True)
    known = -1 <= base < 5 and -1 <= follower < 5
    if known and base != follower and (0 <= base < 3 or 0 <= follower < 3):
        scene.add_joint(lw.Ball(), base, follower)
        assert scene.build().joint_base.tolist() == [base]
    else:
        message = "there is no body" if not known else "with itself" if base == follower else "can move"
        with pytest.raises(lw.SceneError, match=message):
            scene.add_joint(lw.Ball(), base, follower)


@GENTLE
@given(st.lists(st.integers(0, 11), min_size=1, max_size=6, unique=True), st.booleans())
def test_a_mesh_with_faces_missing_or_turned_is_refused(faces: list[int], missing: bool) -> None:
    vertices, good = lw.Box(1, 1, 1).surface()
    bad = good.copy()
    if missing:
        bad = np.delete(good, faces, axis=0)
    else:
        bad[faces] = bad[faces][:, ::-1]
    with pytest.raises(lw.SceneError, match="open" if missing else "not oriented alike"):
        lw.Mesh(vertices, bad)


@GENTLE
@given(arrays(np.float64, (3,), elements=st.floats(-1.0, 1.0)), arrays(np.float64, (3,), elements=st.floats(-1.0, 1.0)))
def test_two_axes_are_accepted_exactly_when_perpendicular(first: np.ndarray, second: np.ndarray) -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 1, 1))
    # however short, an axis that is not zero has a direction; scaled, as the square of a short one is zero
    a, b = (axis / max(np.abs(axis).max(), 1e-320) for axis in (first, second))
    if not a.any() or not b.any():
        expected = "is zero"
    elif abs(a @ b) > 1e-5 * np.linalg.norm(a) * np.linalg.norm(b):
        expected = "parallel|enclose"
    else:
        return
    with pytest.raises(lw.SceneError, match=expected):
        scene.add_joint(lw.Universal(first, second), scene.ground, body)
    square = np.cross(first, [0.3, -0.5, 0.9])
    if np.linalg.norm(square) > 1e-3:
        scene.add_joint(lw.Universal(first, square), scene.ground, body)
