"""The model built from a scene: frames, points, masses, forces, names."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw


def skew_scene() -> tuple[lw.Scene, np.ndarray]:
    """Two bodies with off-centre, skew mass, turned in the world, and one joint of each kind between them."""
    scene = lw.Scene()
    skew = lw.Compound([(lw.Box(0.4, 0.1, 0.1), (0.2, 0.05, 0.0)), (lw.Box(0.1, 0.3, 0.2), (0.0, 0.2, 0.1))])
    turns = Rotation.random(2, random_state=4)
    a = scene.add_body(skew, position=(1.0, 2.0, 3.0), rotation=turns[0], name="a")
    b = scene.add_body(skew, position=(-1.0, 0.5, 2.0), rotation=turns[1], density=500.0, name="b")
    at = np.array([0.3, -0.2, 1.1])
    for kind in (
        lw.Fixed(),
        lw.Ball(axis=(1, 2, 3)),
        lw.Hinge((1, 2, 3)),
        lw.Prismatic((0, 0, -2)),
        lw.Cylindrical((1, 0, 1)),
        lw.Universal((1, 2, 0), (-2, 1, 5)),
        lw.Planar((0, 1, 0)),
        lw.Cartesian(turns[0]),
        lw.Rectangular((0, 1, 0), (1, 0, 0)),
        lw.PinInSlot((1, 1, 0), (1, -1, 0)),
        lw.Slot((3, 0, 0.1)),
        lw.Free(),
    ):
        scene.add_joint(kind, a, b, at=at)
        scene.add_joint(kind, scene.ground, b, at=at)
    return scene, at


def world(model: lw.Model, bodies: np.ndarray, points: np.ndarray) -> np.ndarray:
    """World positions of points in principal frames at the start; points on the ground are in the world already."""
    moved = np.einsum("nij,nj->ni", model.rotation[bodies], points) + model.translation[bodies]
    return np.where(bodies[:, None] < 0, points, moved)


def test_points_and_frames_of_joints_meet_in_the_world() -> None:
    scene, at = skew_scene()
    model = scene.build()
    np.testing.assert_allclose(world(model, model.joint_base, model.point_base), np.tile(at, (24, 1)), atol=1e-14)
    np.testing.assert_allclose(world(model, model.joint_follower, model.point_follower), np.tile(at, (24, 1)))
    on_base = np.where(
        model.joint_base[:, None, None] < 0, model.frame_base, model.rotation[model.joint_base] @ model.frame_base
    )
    on_follower = model.rotation[model.joint_follower] @ model.frame_follower
    np.testing.assert_allclose(on_base, on_follower, atol=1e-14)
    np.testing.assert_allclose(on_base @ on_base.transpose(0, 2, 1), np.tile(np.eye(3), (24, 1, 1)), atol=1e-14)
    np.testing.assert_allclose(np.linalg.det(on_base), 1.0)


def unit(*vector: float) -> np.ndarray:
    return np.array(vector) / np.linalg.norm(vector)


AXES = {
    "ball": (lw.Ball(axis=(1, 2, 3)), {2: unit(1, 2, 3)}),
    "ball, default": (lw.Ball(), {0: unit(1, 0, 0), 2: unit(0, 0, 1)}),
    "hinge": (lw.Hinge((1, 2, 3)), {2: unit(1, 2, 3)}),
    "hinge of huge axis": (lw.Hinge((1e300, 0, 1e300)), {2: unit(1, 0, 1)}),
    "hinge of tiny axis": (lw.Hinge((0, 1e-300, 0)), {2: unit(0, 1, 0)}),
    "prismatic": (lw.Prismatic((0, 0, -2)), {2: unit(0, 0, -1)}),
    "cylindrical": (lw.Cylindrical((1, 0, 1)), {2: unit(1, 0, 1)}),
    "universal": (lw.Universal((1, 2, 0), (-2, 1, 5)), {0: unit(1, 2, 0), 1: unit(-2, 1, 5)}),
    "planar": (lw.Planar((0, 1, 0)), {2: unit(0, 1, 0)}),
    "cartesian": (lw.Cartesian((0, 0, np.sqrt(0.5), np.sqrt(0.5))), {0: unit(0, 1, 0), 1: unit(-1, 0, 0)}),
    "rectangular": (lw.Rectangular((0, 1, 0), (1, 0, 0)), {0: unit(0, 1, 0), 1: unit(1, 0, 0), 2: unit(0, 0, -1)}),
    "pin in slot": (lw.PinInSlot((1, 1, 0), (0, 0, 2)), {0: unit(1, 1, 0), 2: unit(0, 0, 1)}),
    "slot": (lw.Slot((3, 0, 0.1)), {2: unit(3, 0, 0.1)}),
}


@pytest.mark.parametrize(("kind", "columns"), AXES.values(), ids=AXES.keys())
def test_joint_axes_are_the_columns_the_catalogue_says(kind: object, columns: dict[int, np.ndarray]) -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 1, 1))
    scene.add_joint(kind, scene.ground, body)
    frame = scene.build().frame_base[0]
    for column, axis in columns.items():
        np.testing.assert_allclose(frame[:, column], axis, atol=1e-15)
    np.testing.assert_allclose(np.cross(frame[:, 0], frame[:, 1]), frame[:, 2], atol=1e-15)


def test_principal_axes_diagonalise_the_mass_in_the_world() -> None:
    scene, _ = skew_scene()
    model = scene.build()
    skew = lw.Compound([(lw.Box(0.4, 0.1, 0.1), (0.2, 0.05, 0.0)), (lw.Box(0.1, 0.3, 0.2), (0.0, 0.2, 0.1))])
    volume, com, second = skew.moments()
    for body, density in ((0, 1000.0), (1, 500.0)):
        axes = model.principal[body]
        np.testing.assert_allclose(axes @ np.diag(model.second_moments[body]) @ axes.T, density * second, atol=1e-14)
        assert model.mass[body] == pytest.approx(density * volume)
        np.testing.assert_allclose(model.com[body], com)
        # the user's origin is found back from the principal frame
        origin = model.translation[body] - model.rotation[body] @ axes.T @ model.com[body]
        np.testing.assert_allclose(origin, scene.body_table["position"][body])


def test_a_diagonal_body_keeps_the_users_axes_bit_for_bit() -> None:
    turn = Rotation.random(random_state=1).as_matrix()
    scene = lw.Scene()
    scene.add_body(lw.Box(0.3, 0.1, 0.2), rotation=turn)
    model = scene.build()
    assert np.array_equal(model.principal[0], np.eye(3))
    np.testing.assert_allclose(model.rotation[0], turn, atol=1e-15)


def test_mass_and_inertia_are_taken_as_given_and_get_the_box_of_the_same_moments() -> None:
    scene = lw.Scene()
    edges, mass = np.array([0.4, 0.2, 0.1]), 3.0
    squares = mass * edges**2 / 12.0
    turn = Rotation.from_euler("z", 0.5).as_matrix()
    tensor = turn @ np.diag(squares.sum() - squares) @ turn.T
    scene.add_body(mass=mass, inertia=tensor, com=(0.1, 0.2, 0.3), position=(1, 0, 0))
    model = scene.build()
    np.testing.assert_allclose(model.second_moments[0], squares)
    np.testing.assert_allclose(np.abs(model.principal[0]), np.abs(turn), atol=1e-12)
    assert model.volume[0] == pytest.approx(edges.prod())
    assert model.size[0] == pytest.approx(0.4)
    np.testing.assert_allclose(model.translation[0], [1.1, 0.2, 0.3])


def test_a_shape_beside_mass_and_inertia_is_only_drawn() -> None:
    scene = lw.Scene()
    ball = lw.Sphere(5.0)
    scene.add_body(ball, mass=1.0, inertia=[0.04, 0.1, 0.1])
    model = scene.build()
    np.testing.assert_allclose(model.second_moments[0], [0.08, 0.02, 0.02])
    assert model.size[0] < 1.0
    assert model.shapes[0][0] is ball


def test_mass_with_a_shape_sets_its_density_and_mass_alone_is_a_ball() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Box(1, 2, 3), mass=12.0)
    scene.add_body(mass=1000.0 * 4.0 / 3.0 * np.pi * 0.5**3)
    model = scene.build()
    np.testing.assert_allclose(model.mass[0], 12.0)
    np.testing.assert_allclose(model.second_moments[0], [1.0, 4.0, 9.0])
    assert model.volume[0] == 6.0
    np.testing.assert_allclose(model.second_moments[1], model.mass[1] * 0.05)
    assert model.size[1] == pytest.approx(1.0)


def test_a_flat_plate_has_one_zero_moment() -> None:
    scene = lw.Scene()
    scene.add_body(mass=1.0, inertia=[0.1, 0.2, 0.3])
    model = scene.build()
    np.testing.assert_allclose(model.second_moments[0], [0.2, 0.1, 0.0], atol=1e-15)
    assert model.second_moments[0, 2] == 0.0
    assert model.volume[0] > 0.0


def test_a_set_equals_the_same_bodies_and_joints_added_one_by_one() -> None:
    rng = np.random.default_rng(5)
    n = 12
    positions, turns = rng.normal(size=(n, 3)), Rotation.random(n, random_state=2)
    speeds, spins = rng.normal(size=(n, 3)), rng.normal(size=(n, 3))
    sizes, densities = rng.uniform(0.1, 1.0, n), rng.uniform(500, 2000, n)
    axes, points, stiffness = rng.normal(size=(n - 1, 3)), rng.normal(size=(n - 1, 3)), rng.uniform(1, 2, n - 1)
    together, single = lw.Scene(), lw.Scene()
    links = together.add_bodies(
        lw.Box(sizes, 0.2, 0.1), positions, turns, speeds, spins, density=densities, name="links"
    )
    together.add_joints(
        lw.Hinge(axes), links[:-1], links[1:], at=points, spring=lw.Spring(stiffness, 0.1), limits=(-stiffness, 2.0)
    )
    previous = None
    for i in range(n):
        body = single.add_body(
            lw.Box(sizes[i], 0.2, 0.1),
            position=positions[i],
            rotation=turns[i],
            velocity=speeds[i],
            angular_velocity=spins[i],
            density=densities[i],
            name=f"links[{i}]",
        )
        if previous is not None:
            single.add_joint(
                lw.Hinge(axes[i - 1]),
                previous,
                body,
                at=points[i - 1],
                spring=lw.Spring(stiffness[i - 1], 0.1),
                limits=(-stiffness[i - 1], 2.0),
            )
        previous = body
    a, b = together.build(), single.build()
    for name, column in vars(a).items():
        if isinstance(column, np.ndarray):
            np.testing.assert_array_equal(column, getattr(b, name), err_msg=name)
    assert [a.body_names(i) for i in range(n)] == [b.body_names(i) for i in range(n)]


def test_forces_act_at_the_point_given_in_the_world() -> None:
    scene, _ = skew_scene()
    a, b = scene.bodies
    scene.add_force(a, force=(1, 2, 3))
    scene.add_force(scene.bodies, force=[(0, 0, 1), (0, 0, 2)], torque=(4, 5, 6), at=[(0, 1, 0), (2, 0, 0)])
    scene.add_force(b, torque=(0, 0, 7))
    model = scene.build()
    assert model.force_body.tolist() == [0, 0, 1, 1]
    np.testing.assert_array_equal(model.force_vector, [[1, 2, 3], [0, 0, 1], [0, 0, 2], [0, 0, 0]])
    np.testing.assert_array_equal(model.force_torque, [[0, 0, 0], [4, 5, 6], [4, 5, 6], [0, 0, 7]])
    points = world(model, model.force_body, model.force_point)
    centres = model.translation[[0, 1]]
    np.testing.assert_allclose(points, [centres[0], [0, 1, 0], [2, 0, 0], centres[1]], atol=1e-14)


def test_distance_joints_take_their_length_from_the_start_pose() -> None:
    scene = lw.Scene()
    a = scene.add_body(lw.Box(1, 1, 1), position=(1, 0, 0))
    b = scene.add_body(lw.Box(1, 1, 1), position=(1, 3, 0))
    scene.add_joint(lw.Distance(), a, b)
    scene.add_joint(lw.Distance(limits=(0, 6)), scene.ground, b, at=(1, 0, 4))
    scene.add_joint(lw.Distance(length=2.0), a, b, at=[(1, 0.5, 0), (1, 2.5, 0)])
    scene.add_joint(lw.Distance(), scene.ground, b, limits=(None, 5.0))
    model = scene.build()
    np.testing.assert_allclose(model.length, [3.0, 5.0, 2.0, np.sqrt(10.0)])
    assert model.distance_locked.tolist() == [True, False, True, False]
    assert model.law_joint.tolist() == [1, 3]
    assert model.law_slot.tolist() == [0, 0]
    np.testing.assert_array_equal(model.upper, [6.0, 5.0])
    np.testing.assert_allclose(world(model, model.joint_follower, model.point_follower)[2], [1, 2.5, 0])


def test_the_default_point_of_a_joint_is_the_followers_origin() -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Compound([(lw.Box(1, 1, 1), (3, 0, 0))]), position=(1, 2, 3))
    scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, body)
    model = scene.build()
    np.testing.assert_array_equal(model.point_base[0], [1, 2, 3])
    np.testing.assert_allclose(model.point_follower[0], [-3, 0, 0])


def test_materials_reach_the_model_as_lame_parameters() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0), material=lw.Material(young=2.5e6, poisson=0.25, friction=0.7, restitution=0.1))
    model = scene.build()
    np.testing.assert_allclose([model.lame_mu[0], model.lame_lambda[0]], [1e6, 1e6])
    assert (model.contact_friction[0], model.contact_restitution[0]) == (0.7, 0.1)


def test_motions_are_numbered_moving_fixed_kinematic() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0))
    scene.add_body(lw.Plane((0, 0, 1)), fixed=True)
    scene.add_body(lw.Sphere(1.0), trajectory=lambda t: ((t, 0, 0), None))
    model = scene.build()
    assert model.motion.tolist() == [0, 1, 2]
    assert all(np.isfinite(getattr(model, name)).all() for name in ("mass", "second_moments", "volume", "size", "com"))


def test_shapes_are_listed_once_with_all_their_bodies() -> None:
    scene = lw.Scene()
    box, ball, sizes = lw.Box(1, 1, 1), lw.Sphere(1.0), lw.Sphere([1.0, 2.0])
    scene.add_body(box)
    scene.add_bodies(box, np.zeros((2, 3)))
    scene.add_bodies([ball, box], np.zeros((2, 3)))
    scene.add_bodies(sizes, np.zeros((2, 3)))
    scene.add_bodies(sizes, np.zeros((2, 3)))
    listed = [(shape, indices.tolist()) for shape, indices in scene.build().shapes]
    assert listed == [(box, [0, 1, 2, 4]), (ball, [3]), (sizes, [5, 6]), (sizes, [7, 8])]


def test_the_model_is_frozen_and_does_not_follow_later_changes() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0), name="first")
    model = scene.build()
    scene.add_body(lw.Sphere(2.0), name="second")
    assert model.bodies == 1
    assert model.body_names(0) == "first"
    for name, column in vars(model).items():
        if isinstance(column, np.ndarray):
            assert not column.flags.writeable, name
            assert column.flags.c_contiguous, name
    with pytest.raises(AttributeError):
        model.gravity = np.zeros(3)


def test_arrays_of_the_model_have_their_agreed_types_and_shapes() -> None:
    scene, _ = skew_scene()
    model = scene.build()
    n, j, d = model.bodies, model.joints, len(model.law_joint)
    assert (n, j, d) == (2, 24, 0)
    types = {"motion": "int8", "joint_kind": "int8", "law_slot": "int8", "drive": "int8"}
    types |= {"joint_base": "int32", "joint_follower": "int32", "law_joint": "int32", "force_body": "int32"}
    types |= {"cone": "bool", "distance_locked": "bool"}
    for name, column in vars(model).items():
        if isinstance(column, np.ndarray):
            assert column.dtype == types.get(name, "float64"), name
    assert model.principal.shape == model.rotation.shape == (n, 3, 3)
    assert model.frame_base.shape == (j, 3, 3)
    assert model.point_base.shape == (j, 3)
    assert model.force_vector.shape == (0, 3)


@pytest.mark.parametrize("how", ["empty", "fixed", "kinematic"])
def test_a_scene_without_a_moving_body_is_refused(how: str) -> None:
    scene = lw.Scene()
    if how == "fixed":
        scene.add_body(lw.Sphere(1.0), fixed=True)
    if how == "kinematic":
        scene.add_body(lw.Sphere(1.0), trajectory=lambda t: ((0, 0, t), None))
    with pytest.raises(lw.SceneError, match="no bodies" if how == "empty" else "no moving body"):
        scene.build()
