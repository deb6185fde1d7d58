"""The joint catalogue."""

from __future__ import annotations

import numpy as np
import pytest

import linkwork as lw
from linkwork.scene.joints import CATALOGUE, JointId

KINDS = {
    lw.Fixed(): 0,
    lw.Ball(): 3,
    lw.Hinge((0, 0, 1)): 1,
    lw.Prismatic((0, 0, 1)): 1,
    lw.Cylindrical((0, 0, 1)): 2,
    lw.Universal((1, 0, 0), (0, 1, 0)): 2,
    lw.Planar((0, 0, 1)): 3,
    lw.Cartesian(): 3,
    lw.Rectangular((1, 0, 0), (0, 1, 0)): 2,
    lw.PinInSlot((1, 0, 0), (0, 0, 1)): 2,
    lw.Slot((0, 0, 1)): 4,
    lw.Free(): 6,
    lw.Distance(): 1,
}


def test_rows_of_the_catalogue_stand_at_their_numbers() -> None:
    assert [row.id for row in CATALOGUE] == list(JointId)
    assert [kind.row.id for kind in KINDS] == list(JointId)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_free_and_locked_slots_make_up_all_six(kind: object) -> None:
    row = kind.row
    assert len(row.free) == len(row.coordinates) == KINDS[kind]
    if row.id is not JointId.DISTANCE:
        assert sorted(row.free + row.locked) == list(range(6))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_every_kind_reaches_the_model_with_its_number(kind: object) -> None:
    scene = lw.Scene()
    a = scene.add_body(lw.Box(1, 1, 1), position=(1, 0, 0), name="a")
    b = scene.add_body(lw.Box(1, 1, 1), position=(3, 0, 0), name="b")
    single = scene.add_joint(kind, a, b, name="j")
    many = scene.add_joints(kind, scene.ground, scene.bodies, name="set")
    model = scene.build()
    assert model.joint_kind.tolist() == [kind.row.id] * 3
    assert model.joint_base.tolist() == [0, -1, -1]
    assert model.joint_follower.tolist() == [1, 0, 1]
    assert (single.index, single.name, single.kind, single.base, single.follower) == (0, "j", kind, a, b)
    assert [(joint.name, joint.kind) for joint in many] == [("set[0]", kind), ("set[1]", kind)]


@pytest.mark.parametrize("kind", [lw.Universal, lw.Rectangular, lw.PinInSlot])
def test_nearly_perpendicular_axes_are_made_so(kind: type) -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Box(1, 1, 1))
    scene.add_joint(kind((1, 0, 0), (1e-7, 1, 0)), scene.ground, body)
    frame = scene.build().frame_base[0]
    np.testing.assert_allclose(frame.T @ frame, np.eye(3), atol=1e-15)


def test_a_single_body_is_joined_to_each_of_the_others() -> None:
    scene = lw.Scene()
    hub = scene.add_body(lw.Box(1, 1, 1))
    spokes = scene.add_bodies(lw.Box(1, 1, 1), np.arange(9.0).reshape(3, 3) + 1.0)
    scene.add_joints(lw.Ball(), hub, spokes)
    scene.add_joints(lw.Ball(), spokes, hub, at=(0, 0, 0))
    scene.add_joints(lw.Ball(), np.array([-1, 1, 2]), [1, 2, 3], at=(0, 0, 0))
    scene.add_joints(lw.Ball(), [scene.ground, hub], [hub, spokes[0]], at=(0, 0, 0))
    assert scene.joint_table["base"].tolist() == [0, 0, 0, 1, 2, 3, -1, 1, 2, -1, 0]
    assert scene.joint_table["follower"].tolist() == [1, 2, 3, 0, 0, 0, 1, 2, 3, 0, 1]


def test_empty_sets_join_nothing() -> None:
    scene = lw.Scene()
    one = scene.add_bodies(lw.Box(1, 1, 1), np.zeros((1, 3)))
    none = scene.add_bodies(lw.Box(1, 1, 1), np.zeros((0, 3)))
    joints = scene.add_joints(lw.Hinge((0, 0, 1)), one[:-1], one[1:], at=np.zeros((0, 3)), limits=(-1, 1))
    last = scene.add_joint(lw.Ball(), scene.ground, one[0])
    assert (len(none), len(joints), last.index) == (0, 0, 0)
    assert type(last.kind) is lw.Ball
    assert scene.build().joints == 1
