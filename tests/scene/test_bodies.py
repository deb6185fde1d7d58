"""Bodies: poses, velocities, trajectories."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

TURN = Rotation.from_euler("xyz", [0.3, 0.5, -0.7])
TURNS = Rotation.random(4, random_state=0)


@pytest.mark.parametrize(
    "rotation", [TURN, TURN.as_matrix(), TURN.as_quat(), -TURN.as_quat(), TURN.as_matrix().tolist()]
)
def test_rotations_are_matrices_quaternions_or_scipys(rotation: object) -> None:
    scene = lw.Scene()
    scene.add_body(lw.Box(3, 2, 1), rotation=rotation)
    np.testing.assert_allclose(scene.build().rotation[0], TURN.as_matrix(), atol=1e-15)


@pytest.mark.parametrize("rotations", [TURNS, TURNS.as_matrix(), TURNS.as_quat()])
def test_sets_take_one_rotation_for_each_body(rotations: object) -> None:
    scene = lw.Scene()
    scene.add_bodies(lw.Box(3, 2, 1), np.zeros((4, 3)), rotations)
    np.testing.assert_allclose(scene.build().rotation, TURNS.as_matrix(), atol=1e-14)


@pytest.mark.parametrize("rotations", [TURN, TURN.as_matrix(), TURN.as_quat(), None])
@pytest.mark.parametrize("count", [1, 3, 4])
def test_sets_take_one_rotation_for_all(rotations: object, count: int) -> None:
    scene = lw.Scene()
    scene.add_bodies(lw.Box(3, 2, 1), np.zeros((count, 3)), rotations)
    expected = np.eye(3) if rotations is None else TURN.as_matrix()
    np.testing.assert_allclose(scene.build().rotation, np.tile(expected, (count, 1, 1)), atol=1e-14)


def test_single_precision_rotations_are_made_exact() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Box(3, 2, 1), rotation=TURN.as_matrix().astype(np.float32))
    rotation = scene.build().rotation[0]
    np.testing.assert_allclose(rotation.T @ rotation, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(rotation, TURN.as_matrix(), atol=1e-6)


def test_velocities_are_those_of_the_centre_of_mass() -> None:
    scene = lw.Scene()
    scene.add_body(
        mass=1.0, inertia=[1, 1, 1], com=(1, 0, 0), velocity=(1, 2, 3), angular_velocity=(4, 5, 6), position=(7, 8, 9)
    )
    model = scene.build()
    np.testing.assert_array_equal(model.velocity[0], [1, 2, 3])
    np.testing.assert_array_equal(model.angular_velocity[0], [4, 5, 6])
    np.testing.assert_array_equal(model.translation[0], [8, 8, 9])


def test_sets_take_masses_and_inertias() -> None:
    scene = lw.Scene()
    scene.add_bodies(None, np.zeros((2, 3)), mass=[1.0, 2.0], inertia=[[2, 2, 2], [4, 4, 4]])
    scene.add_bodies(None, np.zeros((2, 3)), mass=3.0, inertia=np.stack([np.eye(3), 2 * np.eye(3)]), com=(1, 0, 0))
    scene.add_bodies(None, np.zeros((3, 3)), mass=3.0, inertia=np.diag([2, 2, 2]))
    scene.add_bodies(lw.Sphere(1.0), np.zeros((2, 3)), mass=[1.0, 2.0])
    model = scene.build()
    assert model.mass.tolist() == [1, 2, 3, 3, 3, 3, 3, 1, 2]
    np.testing.assert_allclose(model.second_moments[:, 0], [1, 2, 0.5, 1, 1, 1, 1, 0.2, 0.4])
    assert model.com[:, 0].tolist() == [0, 0, 1, 1, 0, 0, 0, 0, 0]


def test_a_list_of_shapes_gives_each_body_its_own() -> None:
    scene = lw.Scene()
    scene.add_bodies([lw.Box(1, 1, 1), lw.Sphere(1.0)], np.zeros((2, 3)), density=[10.0, 20.0])
    np.testing.assert_allclose(scene.build().mass, [10.0, 20.0 * 4.0 / 3.0 * np.pi])


def swinging(time: float) -> tuple[np.ndarray, Rotation]:
    return np.array([np.sin(time), 2.0, np.cos(3.0 * time)]), Rotation.from_rotvec([0.0, 0.0, 0.5 + 2.0 * time])


def test_a_body_on_a_trajectory_starts_on_it_with_its_speed() -> None:
    scene = lw.Scene()
    scene.add_body(mass=1.0, inertia=[1, 1, 1], com=(1.0, 0, 0), trajectory=swinging, name="crank")
    scene.add_body(lw.Sphere(1.0))
    model = scene.build()
    arm = np.array([np.cos(0.5), np.sin(0.5), 0.0])
    np.testing.assert_allclose(model.translation[0], np.add([0, 2, 1], arm), atol=1e-12)
    np.testing.assert_allclose(model.angular_velocity[0], [0, 0, 2], atol=1e-6)
    np.testing.assert_allclose(model.velocity[0], np.add([1, 0, 0], np.cross([0, 0, 2], arm)), atol=1e-6)
    position, rotation = model.trajectories[0](0.5)
    np.testing.assert_allclose(position, [np.sin(0.5), 2.0, np.cos(1.5)])
    np.testing.assert_allclose(rotation, Rotation.from_rotvec([0, 0, 1.5]).as_matrix())


def test_a_pose_given_beside_a_trajectory_must_be_its_start() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Sphere(1.0), position=(0, 2, 1), rotation=Rotation.from_rotvec([0, 0, 0.5]), trajectory=swinging)
    with pytest.raises(lw.SceneError, match=r'"crank".*trajectory starts at'):
        scene.add_body(lw.Sphere(1.0), position=(0, 2, 1.1), trajectory=swinging, name="crank")
    with pytest.raises(lw.SceneError, match="another rotation"):
        scene.add_body(lw.Sphere(1.0), rotation=np.eye(3), trajectory=swinging)


def test_a_trajectory_that_goes_wrong_later_names_its_body_and_the_time() -> None:
    scene = lw.Scene()
    body = scene.add_body(
        lw.Sphere(1.0), trajectory=lambda t: ((0, 0, np.nan if t > 1 else 0), None), velocity=(0, 0, 0), name="crank"
    )
    with pytest.raises(lw.SceneError, match=r'"crank".*position at t = 2 s must be finite'):
        scene.trajectories[body.index](2.0)


def test_a_refused_call_leaves_the_scene_as_it_was() -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Sphere(1.0))
    for bad in ({"density": -1}, {"velocity": (0, 0)}, {"rotation": np.zeros((3, 3))}):
        with pytest.raises(lw.SceneError):
            scene.add_body(lw.Sphere(1.0), **bad)
    for bad in ({"limits": (1, 2)}, {"at": (0, 0)}, {"drive": 3}):
        with pytest.raises(lw.SceneError):
            scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, body, **bad)
    with pytest.raises(lw.SceneError):
        scene.add_force(body, force=(0, 0, 1), torque=(0, 0, np.nan))
    model = scene.build()
    assert (model.bodies, model.joints, len(model.law_joint), len(model.force_body)) == (1, 0, 0, 0)
