"""Contact against closed forms and conservation laws."""

import warnings

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

G = 9.81


def floor(scene, friction=0.5, restitution=0.0, normal=(0, 0, 1)):
    material = lw.Material(friction=friction, restitution=restitution)
    return scene.add_body(lw.Plane(normal=normal), fixed=True, material=material, name="floor")


def boxes(count, density=1000.0, top_density=None):
    scene = lw.Scene()
    floor(scene)
    stack = [
        scene.add_body(lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05 + 0.1 * k), density=density) for k in range(count)
    ]
    if top_density is not None:
        place = (0, 0, 0.05 + 0.1 * count)
        stack.append(scene.add_body(lw.Box(0.1, 0.1, 0.1), position=place, density=top_density))
    return scene, stack


def test_a_stack_of_ten_boxes_stands_for_twenty_seconds():
    scene, _ = boxes(10)
    sim = lw.Simulation(scene, dt=1e-2)
    start = sim.positions
    sim.run(20.0, progress=False)
    moved = np.abs(sim.positions - start)
    assert moved.max() < 1e-3
    assert sim.contacts.gaps.min() > -1e-3
    assert np.abs(sim.velocities).max() < 1e-3


@pytest.mark.parametrize("light", [1, 5])
def test_a_heavy_box_stays_on_boxes_a_thousand_times_lighter(light):
    scene, _ = boxes(light, top_density=1e6)
    sim = lw.Simulation(scene, dt=1e-2)
    start = sim.positions
    sim.run(10.0, progress=False)
    assert np.abs(sim.positions - start).max() < 1e-3


def slide(friction, seconds, dt=1e-2):
    """Travel down a slope of 26.565 degrees, m."""
    angle = np.deg2rad(26.565)
    turn = Rotation.from_euler("y", angle)
    scene = lw.Scene()
    floor(scene, friction, normal=turn.apply([0, 0, 1]))
    box = scene.add_body(
        lw.Box(0.1, 0.1, 0.1), position=turn.apply([0, 0, 0.05]), rotation=turn, material=lw.Material(friction=friction)
    )
    sim = lw.Simulation(scene, dt=dt)
    start = sim.positions[box.index]
    sim.run(seconds, progress=False)
    return float((sim.positions[box.index] - start) @ turn.apply([1, 0, 0])), angle


def test_a_box_sticks_to_a_slope_at_the_critical_friction():
    travel, _ = slide(0.5, 10.0)
    assert abs(travel) < 1e-3


@pytest.mark.parametrize(("friction", "tolerance"), [(0.49, 0.05), (0.3, 0.01)])
def test_a_box_slides_down_a_slope_as_coulomb_says(friction, tolerance):
    travel, angle = slide(friction, 2.0)
    expected = 0.5 * G * (np.sin(angle) - friction * np.cos(angle)) * 2.0**2
    assert travel == pytest.approx(expected, rel=tolerance)


def test_a_dropped_box_stays_down():
    scene = lw.Scene()
    floor(scene)
    box = scene.add_body(lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.55))
    sim = lw.Simulation(scene, dt=1e-2)
    height = []
    for _ in range(100):
        sim.step()
        height.append(sim.positions[box.index, 2])
    landed = int(np.argmin(height[:50]))
    assert max(height[landed:]) < 0.05 + 1e-5
    assert sim.contacts.gaps.min() > -1e-4


@pytest.mark.parametrize("shape", [lw.Box(0.1, 0.06, 0.04), lw.Capsule(0.03, 0.1), lw.Cylinder(0.05, 0.04)])
def test_a_tumbling_body_never_gains_energy(shape):
    scene = lw.Scene()
    floor(scene)
    turn = Rotation.from_rotvec([0.5, 0.3, 0.2])
    scene.add_body(shape, position=(0, 0, 0.35), rotation=turn, velocity=(0.5, 0, 0), angular_velocity=(1, 2, 3))
    sim = lw.Simulation(scene, dt=1e-2)
    energy = []
    for _ in range(200):
        sim.step()
        energy.append(sim.energy.total)
    assert np.diff(energy).max() < 1e-4 * energy[0]
    assert energy[-1] < 0.5 * energy[0]


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("shape", [lw.Sphere(0.05), lw.Box(0.1, 0.1, 0.1)])
def test_rebound_heights_follow_restitution(shape, restitution):
    scene = lw.Scene()
    floor(scene, restitution=restitution)
    drop = 1.0
    ball = scene.add_body(shape, position=(0, 0, 0.05 + drop))
    sim = lw.Simulation(scene, dt=1e-2)
    height = []
    for _ in range(150):
        sim.step()
        height.append(sim.positions[ball.index, 2] - 0.05)
    landed = int(np.argmin(height[:70]))
    # the highest point lies between steps
    rise = max(height[landed:])
    assert rise == pytest.approx(restitution**2 * drop, abs=0.03 * restitution**2 * drop + 1e-5)


def test_a_sliding_ball_begins_to_roll_at_five_sevenths_of_its_speed():
    scene = lw.Scene()
    floor(scene, friction=0.3)
    ball = scene.add_body(lw.Sphere(0.1), position=(0, 0, 0.1), velocity=(2, 0, 0), material=lw.Material(friction=0.3))
    sim = lw.Simulation(scene, dt=5e-3)
    sim.run(0.6, progress=False)
    speed, spin = sim.velocities[ball.index, 0], sim.angular_velocities[ball.index, 1]
    assert speed == pytest.approx(5.0 / 7.0 * 2.0, rel=0.01)
    assert spin * 0.1 == pytest.approx(speed, rel=3e-3)


def test_a_ball_with_backspin_begins_to_roll_at_the_speed_its_angular_momentum_leaves():
    scene = lw.Scene()
    floor(scene, friction=0.3)
    material = lw.Material(friction=0.3)
    ball = scene.add_body(
        lw.Sphere(0.1), position=(0, 0, 0.1), velocity=(2, 0, 0), angular_velocity=(0, -10, 0), material=material
    )
    sim = lw.Simulation(scene, dt=2e-3)
    sim.run(1.5, progress=False)
    assert sim.velocities[ball.index, 0] == pytest.approx((5.0 * 2.0 - 2.0 * 0.1 * 10.0) / 7.0, rel=0.01)


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_free_collision_keeps_momentum(restitution):
    scene = lw.Scene(gravity=(0, 0, 0))
    material = lw.Material(restitution=restitution)
    turn = Rotation.from_rotvec([0.5, 0.3, 0.2])
    scene.add_body(
        lw.Box(0.1, 0.1, 0.1), position=(0.01, 0.02, 0.3), rotation=turn, velocity=(0.3, 0, -2),
        angular_velocity=(1, 2, 3), material=material,
    )  # fmt: skip
    scene.add_body(lw.Box(0.3, 0.3, 0.1), velocity=(0, 0, 0.5), density=2000.0, material=material)
    sim = lw.Simulation(scene, dt=1e-2)
    mass = sim.model.mass
    before = mass @ sim.velocities
    sim.run(1.0, progress=False)
    after = mass @ sim.velocities
    assert np.abs(after - before).max() < 1e-9 * np.abs(mass[:, None] * sim.velocities).sum()


def test_two_equal_balls_exchange_their_speeds():
    scene = lw.Scene(gravity=(0, 0, 0))
    material = lw.Material(restitution=1.0, friction=0.0)
    for x, v in ((-0.3, 2.0), (0.0, 0.0)):
        scene.add_body(lw.Sphere(0.05), position=(x, 0, 0), velocity=(v, 0, 0), material=material)
    sim = lw.Simulation(scene, dt=1e-2)
    sim.run(0.5, progress=False)
    assert sim.velocities[:, 0] == pytest.approx([0.0, 2.0], abs=0.02)


def test_contact_forces_carry_the_weight():
    scene, stack = boxes(3)
    sim = lw.Simulation(scene, dt=1e-2)
    sim.run(1.0, progress=False)
    contacts = sim.contacts
    assert contacts.force_on(0)[2] == pytest.approx(-3.0 * G, rel=1e-3)
    assert contacts.force_on(stack[0]) == pytest.approx([0, 0, G], abs=1e-2)
    between = contacts.of(stack[1], stack[2])
    assert np.abs(between.points[:, 2] - 0.2).max() < 1e-3
    assert between.force_on(stack[2])[2] == pytest.approx(G, rel=1e-3)


def test_a_state_in_contact_continues_bit_for_bit():
    scene, _ = boxes(4)
    scene.add_body(lw.Sphere(0.05), position=(0.02, 0.01, 0.6), velocity=(0, 0, -3))
    sim = lw.Simulation(scene, dt=1e-2)
    sim.step(12)
    kept = sim.state()
    sim.step(30)
    first = sim.poses
    sim.restore(kept)
    sim.step(30)
    assert np.array_equal(sim.poses, first)


def test_a_moving_belt_carries_a_box_by_friction():
    scene = lw.Scene()
    speed = 0.3
    belt = scene.add_body(
        lw.Box(10, 1, 0.1), trajectory=lambda t: ((speed * t, 0, -0.05), None), material=lw.Material(friction=0.5)
    )
    box = scene.add_body(lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05))
    sim = lw.Simulation(scene, dt=1e-2)
    sim.run(1.0, progress=False)
    assert belt.index == 0
    slipping = speed / (0.5 * G)
    assert sim.velocities[box.index, 0] == pytest.approx(speed, rel=1e-3)
    assert sim.positions[box.index, 0] == pytest.approx(speed * (1.0 - 0.5 * slipping), rel=0.02)


def test_a_fast_ball_does_not_pass_a_thin_plate():
    scene = lw.Scene(gravity=(0, 0, 0))
    scene.add_body(lw.Box(1, 1, 0.01), fixed=True)
    ball = scene.add_body(lw.Sphere(0.02), position=(0, 0, 2), velocity=(0, 0, -100))
    sim = lw.Simulation(scene, dt=1e-2)
    sim.run(0.2, progress=False)
    assert sim.positions[ball.index, 2] > 0.0


def test_overlaps_at_the_start_are_reported_with_their_depths():
    def overlapping(**settings):
        scene = lw.Scene(**settings)
        floor(scene)
        scene.add_body(lw.Sphere(0.1), position=(0, 0, 0.08), name="ball")
        return scene

    with pytest.warns(lw.SceneWarning, match=r"ball and floor by 0.02 m|floor and ball by 0.02 m"):
        lw.Simulation(overlapping())
    with pytest.raises(lw.SceneError, match="overlap at the start"):
        lw.Simulation(overlapping(overlaps="refuse"))
    with pytest.warns(lw.SceneWarning, match="pushed apart gently"):
        sim = lw.Simulation(overlapping(overlaps="resolve"))
    fastest = 0.0
    for _ in range(100):
        sim.step()
        fastest = max(fastest, sim.velocities[1, 2])
    assert fastest < 1.0
    assert sim.positions[1, 2] == pytest.approx(0.1, abs=1e-3)


def test_a_scene_without_overlaps_says_nothing():
    scene, _ = boxes(2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lw.Simulation(scene)


def test_a_jointed_mechanism_comes_to_rest_on_the_floor_with_its_joints_closed():
    scene = lw.Scene()
    floor(scene)
    links = scene.add_bodies(lw.Box(0.1, 0.02, 0.02), [(0.1 * k, 0, 0.3) for k in range(8)])
    at = [(0.05 + 0.1 * k, 0, 0.3) for k in range(7)]
    scene.add_joints(lw.Hinge(axis=(0, 1, 0)), links[:-1], links[1:], at=at)
    sim = lw.Simulation(scene, dt=1e-2)
    worst = 0.0
    for _ in range(300):
        sim.step()
        worst = max(worst, sim.residual)
    assert worst < 1e-7
    assert np.abs(sim.velocities).max() < 1e-3
    assert sim.positions[1:, 2] == pytest.approx(0.01, abs=1e-4)
    assert sim.contacts.force_on(0)[2] == pytest.approx(-8 * 0.04 * G, rel=1e-3)


def test_rolling_friction_slows_a_ball_as_its_moment_says():
    scene = lw.Scene()
    floor(scene)
    radius, arm, speed = 0.1, 0.002, 1.0
    ball = scene.add_body(
        lw.Sphere(radius), position=(0, 0, radius), velocity=(speed, 0, 0), angular_velocity=(0, speed / radius, 0),
        material=lw.Material(rolling_friction=arm),
    )  # fmt: skip
    sim = lw.Simulation(scene, dt=2e-3)
    sim.run(1.0, progress=False)
    slowing = arm * G / (1.4 * radius)
    assert sim.velocities[ball.index, 0] == pytest.approx(speed - slowing * 1.0, rel=0.01)


def test_torsional_friction_stops_a_spinning_ball_and_holds_it():
    scene = lw.Scene()
    floor(scene)
    radius, arm, spin = 0.1, 0.001, 4.0
    ball = scene.add_body(
        lw.Sphere(radius),
        position=(0, 0, radius),
        angular_velocity=(0, 0, spin),
        material=lw.Material(torsional_friction=arm),
    )
    sim = lw.Simulation(scene, dt=2e-3)
    slowing = arm * G / (0.4 * radius**2)
    sim.run(0.5, progress=False)
    assert sim.angular_velocities[ball.index, 2] == pytest.approx(spin - slowing * 0.5, rel=0.01)
    sim.run(2.0, progress=False)
    assert abs(sim.angular_velocities[ball.index, 2]) < 5e-3


def test_a_saved_simulation_in_contact_continues_bit_for_bit(tmp_path):
    scene, _ = boxes(4)
    sim = lw.Simulation(scene, dt=1e-2)
    sim.step(20)
    sim.save(tmp_path / "stack.lw")
    loaded = lw.Simulation.load(tmp_path / "stack.lw")
    assert loaded.energy == sim.energy
    sim.step(40)
    loaded.step(40)
    assert np.array_equal(loaded.poses, sim.poses)


def test_a_recording_keeps_the_energy_of_contacts(tmp_path):
    scene, _ = boxes(3)
    sim = lw.Simulation(scene, dt=1e-2)
    with sim.record(tmp_path / "stack.lwr"):
        sim.run(0.5, progress=False)
    recording = lw.Recording(tmp_path / "stack.lwr")
    assert recording.energies[-1] == pytest.approx([*vars(sim.energy).values()], rel=1e-9)


def test_a_body_thrown_away_in_contact_is_named():
    scene = lw.Scene()
    floor(scene)
    box = scene.add_body(lw.Box(0.1, 0.1, 0.1), position=(0, 0, 0.05), name="alpha")
    scene.add_body(lw.Sphere(0.1), position=(1, 0, 0.1))
    sim = lw.Simulation(scene, state_dir=None)
    sim.step(5)
    sim.apply_force(box, (1e30, 0, 0))
    with pytest.raises(lw.SimulationError, match="alpha"):
        sim.step(5)
    assert np.isfinite(sim.positions).all()
