"""A chain on its own, cut into segments, moves as the component engine moves it, whatever its length and its ends."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw

DT = 1e-2
LENGTHS = (*range(1, 21), 63, 64, 65)
PITCH = 0.1


def carried(start):
    """A trajectory that begins at `start` at rest."""
    return lambda t: (
        start + np.array([0.0, 0.3 * np.sin(4.0 * t) ** 2, 0.1 * t * t]),
        Rotation.from_rotvec([0, 0, t * t]),
    )


def end_of(scene, kind, point):
    if kind == "ground":
        return scene.ground
    return scene.add_body(lw.Box(0.05, 0.05, 0.05), position=point, trajectory=carried(point))


def chain(links, left, right, *, loaded=False, seed=0, scene=None):
    """Links of different sizes in a zigzag, with ends that are free, on the ground, or carried along."""
    rng = np.random.default_rng(seed)
    scene = lw.Scene(contact=False) if scene is None else scene
    point = np.array([0.2, -0.1, 1.0])
    last = None if left == "free" else end_of(scene, left, point)
    for k in range(links):
        turn = Rotation.from_euler("zyx", rng.uniform(-0.5, 0.5, 3))
        link = scene.add_body(
            lw.Box(PITCH, *rng.uniform(0.02, 0.04, 2)), position=point + 0.5 * PITCH * turn.as_matrix()[:, 0], rotation=turn,
            density=rng.uniform(500, 3000), material=lw.Material(young=1e8),
        )  # fmt: skip
        if last is not None:
            scene.add_joint(lw.Ball(), *((last, link) if k % 3 else (link, last)), at=point)
        if loaded and k % 2:
            scene.add_force(link, force=rng.normal(size=3) * 0.2, torque=rng.normal(size=3) * 1e-3, at=point)
        point = point + PITCH * turn.as_matrix()[:, 0]
        last = link
    if right != "free":
        scene.add_joint(lw.Ball(), end_of(scene, right, point), last, at=point)
    return scene


def both(scene, method, count=1):
    make = lw.MABD.as_published() if method == "published" else lw.MABD(integrator=method)
    fast = lw.Simulation(scene, make, DT, state_dir=None)
    slow = lw.Simulation(scene, lw.MABD(**{**vars(make), "fast_paths": False}), DT, state_dir=None)
    assert fast._stepper.chains.count == count
    assert slow._stepper.chains.count == 0
    return fast, slow


def differences(fast, slow):
    force, expected = fast._stepper.multipliers(), slow._stepper.multipliers()
    scale = max(np.abs(expected).max(initial=0.0), 1e-3)
    motion = np.abs(fast._stepper.affine() - slow._stepper.affine()).max()
    return motion, np.abs(force - expected).max(initial=0.0) / scale


@pytest.mark.parametrize("right", ["free", "ground", "carried"])
@pytest.mark.parametrize("left", ["free", "ground", "carried"])
@pytest.mark.parametrize("links", LENGTHS)
def test_a_chain_moves_as_in_the_component_engine(links, left, right):
    fast, slow = both(chain(links, left, right, seed=links), "bdf2")
    for _ in range(3):
        fast.step()
        slow.step()
        assert fast.iterations == slow.iterations
        motion, force = differences(fast, slow)
        assert motion < 1e-9
        assert force < 1e-6  # stress is the difference of nearly equal numbers


@pytest.mark.parametrize("method", ["bdf2", "euler", "published"])
@pytest.mark.parametrize("links", [1, 2, 5, 8, 9, 13, 16, 20])
def test_a_loaded_chain_moves_as_in_the_component_engine(links, method):
    fast, slow = both(chain(links, "ground", "carried", loaded=True, seed=links), method)
    for _ in range(3):
        fast.step()
        slow.step()
    motion, _ = differences(fast, slow)
    assert motion < (1e-9 if method != "published" else 1e-6)


@pytest.mark.parametrize("links", [3, 9, 20])
def test_a_hard_start_takes_the_same_line_search(links):
    """Sagging links that snap taut are far from what is predicted."""
    scene = chain(links, "ground", "free", seed=links)
    scene.add_force(links - 1, force=(4e3, 0, 0))
    fast, slow = both(scene, "bdf2")
    most = 0
    for _ in range(10):
        fast.step()
        slow.step()
        most = max(most, fast.iterations[1])
        assert fast.iterations == slow.iterations
    motion, _ = differences(fast, slow)
    assert most > 3
    assert motion < 1e-6


def test_long_chains_side_by_side_move_as_in_the_component_engine():
    scene = lw.Scene(contact=False)
    for seed, links in enumerate((40, 70, 33)):
        chain(links, "ground", "free", loaded=True, seed=seed, scene=scene)
    fast, slow = both(scene, "bdf2", count=3)
    fast.step(3)
    slow.step(3)
    motion, _ = differences(fast, slow)
    assert motion < 1e-9


@pytest.mark.parametrize("links", [1, 9, 20])
def test_a_restored_chain_goes_on_to_the_last_bit(links):
    scene = chain(links, "carried", "free", loaded=True)
    one = lw.Simulation(scene, lw.MABD(), DT, state_dir=None)
    one.step(7)
    other = lw.Simulation(scene, lw.MABD(), DT, state_dir=None)
    other._stepper.restore(one._stepper.state())
    assert (other._stepper.affine() == one._stepper.affine()).all()
    one._stepper.step(5)
    other._stepper.step(5)
    assert (other._stepper.affine() == one._stepper.affine()).all()
    assert (other._stepper.rates() == one._stepper.rates()).all()


@pytest.mark.parametrize("links", [1, 10, 40])
def test_a_chain_hangs_on_a_root_that_rushes_about(links):
    scene = lw.Scene(contact=False)

    def path(t):
        return (0.3 * np.sin(12.0 * t), 0.0, 0.1 * np.sin(7.0 * t)), (0, 0, 0, 1)

    root = scene.add_body(lw.Box(0.1, 0.1, 0.1), trajectory=path)
    places = np.stack([0.1 * np.arange(links) + 0.05, np.zeros(links), np.zeros(links)], axis=1)
    bodies = scene.add_bodies(lw.Box(0.1, 0.02, 0.02), places)
    scene.add_joint(lw.Ball(), root, bodies[0], at=(0, 0, 0))
    if links > 1:
        scene.add_joints(lw.Ball(), bodies[:-1], bodies[1:], at=places[1:] - [0.05, 0, 0])
    sim = lw.Simulation(scene, dt=1e-2, state_dir=None)
    for _ in range(100):
        sim.step()
        assert sim.residual < 1e-10
