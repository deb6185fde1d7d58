"""Handles: indices, names, slices."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw


@pytest.fixture
def scene() -> lw.Scene:
    scene = lw.Scene()
    scene.add_body(lw.Box(1, 1, 1), name="base")
    scene.add_bodies(lw.Box(1, 1, 1), np.zeros((4, 3)), name="links")
    scene.add_body(lw.Box(1, 1, 1))
    scene.add_bodies(lw.Box(1, 1, 1), np.zeros((2, 3)))
    return scene


def test_names_are_those_given_or_the_index(scene: lw.Scene) -> None:
    names = [body.name for body in scene.bodies]
    assert names == ["base", "links[0]", "links[1]", "links[2]", "links[3]", "body 5", "body 6", "body 7"]
    assert scene.ground.name == "ground"
    assert scene.ground.index == -1


def test_sets_are_selected_like_arrays(scene: lw.Scene) -> None:
    links = scene.bodies[1:5]
    assert links[1:].indices.tolist() == [2, 3, 4]
    assert links[::-2].indices.tolist() == [4, 2]
    assert links[[0, -1]].indices.tolist() == [1, 4]
    assert links[np.array([True, False, False, True])].indices.tolist() == [1, 4]
    assert links[np.int32(2)].index == 3
    assert links[-1] == scene.bodies[4]
    assert links[[]].indices.tolist() == []
    assert len(links) == 4
    assert [body.index for body in links] == [1, 2, 3, 4]


def test_handles_of_one_body_are_equal_and_of_two_scenes_are_not(scene: lw.Scene) -> None:
    other = lw.Scene()
    assert scene.bodies[0] == scene.bodies[0]
    assert len({scene.bodies[0], scene.bodies[:2][0], scene.bodies[1]}) == 2
    assert scene.ground != other.ground
    assert scene.bodies[0] != 0


def test_joints_are_selected_like_bodies(scene: lw.Scene) -> None:
    links = scene.bodies[1:5]
    first = scene.add_joint(lw.Ball(), scene.ground, links[0], name="root")
    rest = scene.add_joints(lw.Hinge((0, 0, 1)), links[:-1], links[1:])
    assert scene.joints[0] == first
    assert rest[1:].indices.tolist() == [2, 3]
    assert [joint.name for joint in scene.joints] == ["root", "joint 1", "joint 2", "joint 3"]
    assert rest[-1].base == links[2]
    assert repr(first) == "<Joint 'root', index 0>"
    assert repr(scene) == "<Scene of 8 bodies and 4 joints>"


@pytest.mark.parametrize("key", [8, -9, [0, 8], np.array([-9]), np.zeros(3, dtype=bool)])
def test_an_index_that_does_not_exist_is_refused(scene: lw.Scene, key: object) -> None:
    with pytest.raises(lw.SceneError, match=r"no body|mask"):
        scene.bodies[key]
    with pytest.raises(IndexError):
        scene.bodies[key]


@pytest.mark.parametrize("key", ["links", 1.5, [0.5], np.zeros((2, 2), dtype=int)])
def test_a_key_that_selects_nothing_is_refused(scene: lw.Scene, key: object) -> None:
    with pytest.raises(lw.SceneError, match="select with"):
        scene.bodies[key]
