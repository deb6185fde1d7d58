"""Quantities by name: what a recording gives back is what the simulation said."""

from __future__ import annotations

import numpy as np
import pytest
from io_recorded import recorded

import linkwork as lw


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp("columns") / "run.lwr")


@pytest.mark.parametrize("body", [0, 1, 3])
def test_body_quantities_are_those_of_the_simulation(made, body):
    recording, said = made
    name = recording.body_names(body)
    for quantity, which in (("position", 0), ("quaternion", 1), ("velocity", 2), ("angular_velocity", 3)):
        expected = np.stack([moment[which][body] for moment in said])
        np.testing.assert_allclose(recording.array(f"{name}.{quantity}"), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(recording.array(f"{name}.{quantity}.y"), expected[:, 1], rtol=0, atol=1e-12)
    speeds = np.linalg.norm([moment[2][body] for moment in said], axis=1)
    np.testing.assert_allclose(recording.array(f"{name}.speed"), speeds, atol=1e-12)


def test_energies_have_their_parts_and_total(made):
    recording, said = made
    expected = [(e.kinetic, e.potential, e.elastic, e.contact, e.total) for *_, e in said]
    np.testing.assert_allclose(recording.array("energy"), expected, rtol=1e-14)
    np.testing.assert_allclose(recording.array("energy.total"), [row[-1] for row in expected], rtol=1e-14)
    assert not recording.array("residual").any()


def test_joint_coordinates_go_by_the_names_of_the_catalogue(made):
    recording, _ = made
    frames = len(recording)
    # Free flight says 10 j + slot for every coordinate.
    np.testing.assert_array_equal(recording.array("slider"), np.tile([2.0, 5.0], (frames, 1)))
    np.testing.assert_array_equal(recording.array("slider.travel"), np.full(frames, 2.0))
    np.testing.assert_array_equal(recording.array("balls[1].swing_y"), np.full(frames, 24.0))
    np.testing.assert_array_equal(recording.array("balls[1].twist"), np.full(frames, 25.0))


def test_joints_and_bodies_also_go_by_index(made):
    recording, _ = made
    np.testing.assert_array_equal(recording.array("joint 2.twist"), recording.array("balls[1].twist"))
    np.testing.assert_array_equal(recording.array("body 3.speed"), recording.array("pins[1].speed"))


def test_an_angle_goes_on_where_the_wrapped_coordinate_jumps(tmp_path):
    scene = lw.Scene(gravity=(0, 0, 0))
    wheel = scene.add_body(lw.Cylinder(0.5, 0.1), angular_velocity=(0, 0, 2 * np.pi))
    scene.add_joint(lw.Hinge((0, 0, 1)), scene.ground, wheel, name="axle")
    sim = lw.Simulation(scene, lw.MABD(), dt=1e-2, state_dir=None)
    with sim.record(tmp_path / "run.lwr", every=5):
        sim.step(200)
    recording = lw.Recording(tmp_path / "run.lwr")
    assert np.ptp(recording.coordinates_of(0)) < 2 * np.pi
    np.testing.assert_allclose(recording.array("axle.angle"), 2 * np.pi * recording.times, rtol=0.01)


def test_every_listed_name_can_be_read(made):
    recording, _ = made
    for name, _ in recording.columns.listing():
        plain = name.replace("pins[0..1]", "pins[1]").replace("balls[0..1]", "balls[1]")
        whole, brace, parts = plain.partition(".{")
        for part in parts.rstrip("}").split(",") if brace else [None]:
            assert recording.array(f"{whole}.{part}" if part else whole).shape == (len(recording),)
    names = [name for name, _ in recording.columns.listing()]
    assert "balls[0..1].twist" in names
    assert "pins[0..1].position.{x,y,z}" in names
    assert not [name for name in names if name.startswith("weld")]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("enrgy", "did you mean 'energy'"),
        ("energy.heat", "did you mean 'energy"),
        ("slidr.travel", "did you mean 'slider.travel'"),
        ("slider.angel", "joint 'slider' has slider.travel, slider.angle"),
        ("weld", "joint 'weld' has no free coordinates"),
        ("brick", "body 'brick' has brick.position"),
        ("v1.2.mass", "body 'v1.2' has v1.2.position"),
        ("brick.position.w", "body 'brick' has"),
        ("pins[7].speed", "did you mean 'pins"),
        ("", "by its name"),
        (3, "by its name"),
    ],
)
def test_an_unknown_name_is_refused_with_what_is_near(made, name, message):
    with pytest.raises(lw.LinkworkError) as caught:
        made[0].array(name)
    assert message in str(caught.value)


def test_a_recording_without_velocities_says_so(tmp_path):
    recording, _ = recorded(tmp_path / "run.lwr", velocities=False)
    assert not [name for name, unit in recording.columns.listing() if unit in ("m/s", "rad/s")]
    assert recording.array("brick.position.z").shape == (21,)
    with pytest.raises(lw.LinkworkError, match="recorded without velocities"):
        recording.array("brick.speed")
