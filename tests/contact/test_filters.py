"""Who touches whom: joints, groups, pairs and components; and that nothing is built where nothing can touch."""

from __future__ import annotations

import time

import numpy as np
import pytest
from contact.finding import Found

import linkwork as lw


def crowd(**settings) -> tuple[lw.Scene, list[lw.Body]]:
    """Five balls that all overlap."""
    scene = lw.Scene(gravity=(0, 0, 0), **settings)
    bodies = [
        scene.add_body(lw.Sphere(1.0), position=(0.1 * i, 0, 0), group=f"g{i % 2}", fixed=i == 4) for i in range(5)
    ]
    return scene, bodies


def touching(scene: lw.Scene) -> set[tuple[int, int]]:
    found = Found(scene)
    if found.finder is None:
        return set()
    contacts = found.launch()
    return {(min(a, b), max(a, b)) for a, b in zip(contacts["body_a"], contacts["body_b"], strict=True)}


ALL = {(i, j) for i in range(5) for j in range(i + 1, 5)}


def test_shapes_of_different_mechanisms_touch() -> None:
    assert touching(crowd()[0]) == ALL


def test_contact_can_be_switched_off() -> None:
    assert touching(crowd(contact=False)[0]) == set()


def test_pairs_and_groups_pass_through_each_other() -> None:
    scene, bodies = crowd()
    scene.ignore_contact(bodies[0], bodies[3])
    scene.ignore_contact("g1", "g1")
    assert touching(scene) == ALL - {(0, 3), (1, 3)}
    scene.ignore_contact("g0", bodies[1])
    assert touching(scene) == ALL - {(0, 3), (1, 3), (0, 1), (1, 2), (1, 4)}
    scene.ignore_contact(bodies[2])
    assert touching(scene) == {(0, 4), (3, 4)}


def test_jointed_bodies_and_those_of_one_mechanism_pass_through_each_other() -> None:
    scene, bodies = crowd()
    scene.add_joint(lw.Ball(), bodies[0], bodies[1], at=(0, 0, 0))
    scene.add_joint(lw.Ball(), bodies[1], bodies[2], at=(0, 0, 0))
    scene.add_joint(lw.Ball(), bodies[4], bodies[2], at=(0, 0, 0))  # to a fixed body
    assert touching(scene) == ALL - {(0, 1), (1, 2), (0, 2), (2, 4)}
    scene.self_contact()
    assert touching(scene) == ALL - {(0, 1), (1, 2), (2, 4)}
    scene.self_contact([bodies[2]], on=False)
    assert touching(scene) == ALL - {(0, 1), (1, 2), (2, 4), (0, 2)}


def test_self_contact_of_a_group() -> None:
    scene, bodies = crowd()
    for i in range(3):
        scene.add_joint(lw.Ball(), bodies[i], bodies[i + 1], at=(0, 0, 0))
    scene.self_contact("g0")
    assert touching(scene) == {(0, 2), (0, 4), (1, 4), (2, 4), (3, 4)}


def test_parts_of_one_body_and_fixed_bodies_never_touch() -> None:
    scene = lw.Scene()
    scene.add_body(lw.Compound([lw.Sphere(1.0), (lw.Sphere(1.0), (0.5, 0, 0))]))
    for x in (5.0, 5.5):
        scene.add_body(lw.Sphere(1.0), position=(x, 0, 0), fixed=True)
    scene.add_body(lw.Plane(), position=(0, 0, -3), fixed=True)
    assert touching(scene) == set()


NOTHING = {
    "a single chain": lambda s: s.add_joints(lw.Ball(), s.links[:-1], s.links[1:], at=(0, 0, 0)),
    "only one group": lambda s: s.ignore_contact("links", "links"),
    "silent": lambda s: s.ignore_contact(s.links),
}


@pytest.mark.parametrize("rule", NOTHING)
def test_nothing_is_built_where_nothing_can_touch(rule: str) -> None:
    scene = lw.Scene()
    scene.links = scene.add_bodies(lw.Sphere(0.1), np.zeros((10, 3)) + np.arange(10)[:, None], group="links")
    NOTHING[rule](scene)
    assert Found(scene).finder is None
    scene.add_body(lw.Plane(), fixed=True)
    assert (Found(scene).finder is None) == (rule == "silent")


def test_a_long_mechanism_without_colliders_costs_nothing() -> None:
    from linkwork.contact.filters import can_any_touch
    from linkwork.model.graph import JointGraph

    scene = lw.Scene()
    n = 200_000
    links = scene.add_bodies(lw.Box(0.1, 0.02, 0.02), np.arange(n)[:, None] * [0.1, 0, 0])
    scene.add_joints(lw.Ball(), links[:-1], links[1:], at=np.arange(1, n)[:, None] * [0.1, 0, 0] - [0.05, 0, 0])
    model = scene.build()
    graph = JointGraph.build(model.motion, model.joint_base, model.joint_follower)
    start = time.perf_counter()
    assert not can_any_touch(model, graph)
    assert time.perf_counter() - start < 1e-3


BAD = {
    "an unknown group": (
        lambda s, b: s.ignore_contact("wheels", b[0]),
        "no group 'wheels'.*'g0', 'g1'.*group='wheels'",
    ),
    "the ground": (lambda s, b: s.ignore_contact(s.ground, b[0]), "ground has no shape"),
    "no body": (lambda s, b: s.ignore_contact(3.5, b[0]), "must be a body"),
    "a body that is not there": (lambda s, b: s.self_contact(17), "no body 17"),
    "too many pairs": (lambda s, b: s.ignore_contact(many(s), many(s)), "16000000 pairs|4000 x 4000.*group"),
    "no group name": (lambda s, b: s.add_body(lw.Sphere(1.0), group=3), "group must be a name"),
    "not a switch": (lambda s, b: s.self_contact(b[0], on=1), "on must be True or False"),
}


def many(scene: lw.Scene) -> lw.Bodies:
    return scene.add_bodies(lw.Sphere(1.0), np.zeros((4000, 3)))


@pytest.mark.parametrize("what", BAD)
def test_bad_rules_are_refused(what: str) -> None:
    say, message = BAD[what]
    with pytest.raises(lw.SceneError, match=message):
        say(*crowd())
