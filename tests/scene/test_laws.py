"""Limits, springs, friction and drives as law rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import linkwork as lw
from linkwork.scene.laws import LAW_COLUMNS, DriveId

UNIVERSAL = lw.Universal((1, 0, 0), (0, 1, 0))


def laws(kind: Any, count: int | None = None, **given: Any) -> dict[str, Any]:
    """Law rows of one joint, or of a set, between bodies 2 m apart."""
    scene = lw.Scene()
    if count is None:
        a = scene.add_body(lw.Box(1, 1, 1))
        b = scene.add_body(lw.Box(1, 1, 1), position=(2, 0, 0))
        scene.add_joint(kind, a, b, **given)
    else:
        a = scene.add_bodies(lw.Box(1, 1, 1), np.zeros((count, 3)))
        b = scene.add_bodies(lw.Box(1, 1, 1), np.tile([2.0, 0, 0], (count, 1)))
        scene.add_joints(kind, a, b, **given)
    model = scene.build()
    rows = {name: getattr(model, name) for name in LAW_COLUMNS}
    return rows | {"joint": model.law_joint, "slot": model.law_slot}


def others(rows: dict[str, Any], *named: str) -> None:
    """All columns but these hold their defaults."""
    for name, default in LAW_COLUMNS.items():
        if name not in named:
            np.testing.assert_array_equal(rows[name], default, err_msg=name)


def test_a_joint_without_laws_has_no_rows() -> None:
    assert len(laws(lw.Hinge((0, 0, 1)))["joint"]) == 0


def test_limits_fill_lower_and_upper() -> None:
    rows = laws(lw.Hinge((0, 0, 1)), limits=(-1.0, 0.5))
    assert (rows["lower"].tolist(), rows["upper"].tolist(), rows["slot"].tolist()) == ([-1.0], [0.5], [5])
    others(rows, "lower", "upper")


def test_an_end_of_the_limits_may_be_open() -> None:
    rows = laws(lw.Prismatic((0, 0, 1)), limits=(None, 0.5))
    assert (rows["lower"][0], rows["upper"][0]) == (-np.inf, 0.5)


def test_a_number_is_a_spring_that_is_slack_at_the_start() -> None:
    rows = laws(lw.Hinge((0, 0, 1)), spring=7.0)
    assert (rows["stiffness"][0], rows["rest"][0]) == (7.0, 0.0)
    others(rows, "stiffness")


def test_every_law_of_one_coordinate_shares_its_row() -> None:
    rows = laws(
        lw.Prismatic((1, 0, 0)),
        limits=(-1, 1),
        spring=lw.Spring(3.0, rest=0.2),
        damping=0.4,
        friction=0.5,
        drive=lw.PD(10.0, 1.0, target=0.6, target_velocity=0.1, max_force=20.0),
    )
    expected = {
        "joint": 0,
        "slot": 2,
        "lower": -1,
        "upper": 1,
        "stiffness": 3.0,
        "rest": 0.2,
        "damping": 0.4,
        "friction": 0.5,
        "force": 0.0,
        "drive": DriveId.PD,
        "drive_stiffness": 10.0,
        "drive_damping": 1.0,
        "target": 0.6,
        "target_velocity": 0.1,
        "max_force": 20.0,
        "cone": False,
    }
    assert {name: column.tolist() for name, column in rows.items()} == {name: [v] for name, v in expected.items()}


DRIVES = {
    "position": (lw.Position(0.3), {"drive": DriveId.POSITION, "target": 0.3}),
    "force": (lw.Force(-4.0), {"drive": DriveId.FORCE, "force": -4.0}),
    "velocity": (
        lw.Velocity(2.0, max_force=9.0),
        {"drive": DriveId.VELOCITY, "target_velocity": 2.0, "max_force": 9.0},
    ),
    "pd": (lw.PD(5.0), {"drive": DriveId.PD, "drive_stiffness": 5.0}),
}


@pytest.mark.parametrize(("drive", "expected"), DRIVES.values(), ids=DRIVES.keys())
def test_drives_fill_their_columns(drive: Any, expected: dict[str, float]) -> None:
    rows = laws(lw.Hinge((0, 0, 1)), drive=drive)
    assert {name: rows[name][0] for name in expected} == expected
    others(rows, *expected)


def test_one_value_is_valid_for_all_coordinates() -> None:
    rows = laws(lw.Free(), damping=0.3, drive=lw.PD(2.0))
    assert rows["slot"].tolist() == [0, 1, 2, 3, 4, 5]
    assert rows["damping"].tolist() == [0.3] * 6
    assert rows["drive"].tolist() == [DriveId.PD] * 6


def test_a_sequence_gives_each_coordinate_its_own() -> None:
    rows = laws(
        lw.Cylindrical((0, 0, 1)),
        limits=[(-1, 2), None],
        spring=[None, lw.Spring(3.0, 0.1)],
        damping=(0.1, 0.2),
        drive=[lw.Force(1.0), lw.PD(2.0)],
    )
    assert rows["slot"].tolist() == [2, 5]
    assert rows["lower"].tolist() == [-1.0, -np.inf]
    assert rows["upper"].tolist() == [2.0, np.inf]
    assert rows["stiffness"].tolist() == [0.0, 3.0]
    assert rows["damping"].tolist() == [0.1, 0.2]
    assert rows["drive"].tolist() == [DriveId.FORCE, DriveId.PD]


def test_only_coordinates_with_a_law_have_rows() -> None:
    rows = laws(lw.Planar((0, 0, 1)), friction=[None, None, 0.7])
    assert rows["slot"].tolist() == [5]


def test_numbers_may_differ_from_joint_to_joint() -> None:
    rows = laws(
        lw.Hinge((0, 0, 1)),
        count=3,
        damping=np.array([1.0, 2.0, 3.0]),
        spring=[4.0, 5.0, 6.0],
        friction=0.1,
        limits=np.array([[-1, 1], [-2, 2], [-3, 3]]),
        drive=lw.PD([1.0, 2.0, 3.0], target=[0.1, 0.2, 0.3]),
    )
    assert rows["joint"].tolist() == [0, 1, 2]
    assert rows["damping"].tolist() == [1.0, 2.0, 3.0]
    assert rows["stiffness"].tolist() == [4.0, 5.0, 6.0]
    assert rows["friction"].tolist() == [0.1] * 3
    assert rows["lower"].tolist() == [-1.0, -2.0, -3.0]
    assert rows["target"].tolist() == [0.1, 0.2, 0.3]


def test_numbers_may_differ_by_joint_and_coordinate() -> None:
    rows = laws(UNIVERSAL, count=3, damping=np.arange(6.0).reshape(3, 2), spring=[np.array([7.0, 8.0, 9.0]), None])
    assert rows["joint"].tolist() == [0, 0, 1, 1, 2, 2]
    assert rows["slot"].tolist() == [3, 4] * 3
    assert rows["damping"].tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]
    assert rows["stiffness"].tolist() == [7.0, 0.0, 8.0, 0.0, 9.0, 0.0]


def test_limits_of_several_coordinates_may_be_an_array_per_joint() -> None:
    limits = np.stack([-np.arange(1.0, 7.0), np.arange(1.0, 7.0)], axis=1).reshape(3, 2, 2)
    rows = laws(UNIVERSAL, count=3, limits=limits)
    assert rows["upper"].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    rows = laws(UNIVERSAL, limits=np.array([[-1, 2], [-3, 4]]))
    assert rows["lower"].tolist() == [-1.0, -3.0]


def test_an_array_that_can_only_be_per_joint_is_read_so() -> None:
    rows = laws(UNIVERSAL, count=3, damping=np.array([1.0, 2.0, 3.0]))
    assert rows["damping"].tolist() == [1.0, 1.0, 2.0, 2.0, 3.0, 3.0]


def test_rows_are_sorted_by_joint_and_slot() -> None:
    scene = lw.Scene()
    bodies = scene.add_bodies(lw.Box(1, 1, 1), np.zeros((4, 3)))
    scene.add_joints(lw.Ball(twisting_stiffness=1.0), bodies[:-1], bodies[1:], damping=[1.0, 2.0, 3.0])
    scene.add_joint(lw.Ball(swing_limit=1.0), bodies[0], bodies[3])
    model = scene.build()
    assert model.law_joint.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2, 3]
    assert model.law_slot.tolist() == [3, 4, 5, 3, 4, 5, 3, 4, 5, 3]
    assert model.damping.tolist() == [1.0, 2.0, 3.0] * 3 + [0.0]


def test_a_ball_carries_its_own_limits_and_elasticity() -> None:
    rows = laws(
        lw.Ball(
            swing_limit=0.8,
            twist_limits=(-0.3, 0.4),
            bending_stiffness=2.0,
            twisting_stiffness=3.0,
            bending_damping=0.2,
            twisting_damping=0.3,
        )
    )
    assert rows["slot"].tolist() == [3, 4, 5]
    assert rows["stiffness"].tolist() == [2.0, 2.0, 3.0]
    assert rows["damping"].tolist() == [0.2, 0.2, 0.3]
    assert rows["lower"].tolist() == [-np.inf, -np.inf, -0.3]
    assert rows["upper"].tolist() == [0.8, np.inf, 0.4]
    assert rows["cone"].tolist() == [True, False, False]


def test_numbers_of_a_ball_may_differ_from_joint_to_joint() -> None:
    rows = laws(lw.Ball(bending_stiffness=[1.0, 2.0], swing_limit=[0.1, 0.2]), count=2)
    assert rows["stiffness"].tolist() == [1.0, 1.0, 2.0, 2.0]
    assert rows["upper"].tolist() == [0.1, np.inf, 0.2, np.inf]


def test_laws_of_a_ball_and_of_the_call_add_up_on_different_terms() -> None:
    rows = laws(lw.Ball(bending_stiffness=1.0), damping=0.5, limits=[None, None, (-1, 1)])
    assert rows["stiffness"].tolist() == [1.0, 1.0, 0.0]
    assert rows["damping"].tolist() == [0.5] * 3


def test_a_rope_is_a_distance_with_an_upper_limit() -> None:
    rows = laws(lw.Distance(limits=(0, 3.0)), spring=100.0, drive=lw.PD(5.0))
    assert rows["slot"].tolist() == [0]
    assert (rows["lower"][0], rows["upper"][0]) == (0.0, 3.0)
    assert (rows["rest"][0], rows["target"][0]) == (2.0, 2.0)


def test_a_taut_rope_is_not_refused_for_rounding() -> None:
    scene = lw.Scene()
    body = scene.add_body(lw.Sphere(0.1), position=(0.1, 0.2, 0.3))
    length = 0.1 * np.sqrt(14.0)
    for upper in (np.nextafter(length, 0.0), length, np.nextafter(length, 1.0)):
        scene.add_joint(lw.Distance(limits=(0, upper)), scene.ground, body, at=(0, 0, 0))
