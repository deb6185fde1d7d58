"""Every path of the dual solve gives the motion and the multipliers of a dense solve of the same Newton step."""

import dataclasses

import numpy as np
import pytest
from oracles.dense_kkt import Memory, advanced, joint_wrenches, solve_step, start_memory
from oracles.random_systems import FORESTS, TOPOLOGIES, random_pieces, random_system

import linkwork as lw
from linkwork.gallery import find

DT = 1e-2
SEEDS = 30
TOLERANCE = 1e-9
# the engine's rotation of a strained body is right to 4e-11, which shows against motions of 1e-2
STRAINED_TOLERANCE = 5e-8
# One solve and no more: whatever it leaves is small enough.
ONE_SOLVE = {"iterations": 1, "update_tolerance": 1e9, "joint_tolerance": 1e9}
CLOSED = {"joint_tolerance": 1e-14}  # graphs refine their solve until gaps are below a tenth of it


def kinematic_poses(model, time):
    poses = {}
    for body, trajectory in model.trajectories.items():
        origin, rotation = trajectory(time)
        pose = np.empty((3, 4))
        pose[:, :3] = rotation @ model.principal[body]
        pose[:, 3] = origin + rotation @ model.com[body]
        poses[body] = pose
    return poses


def advance(stepper, model):
    """One step; returns the poses that kinematic bodies were given."""
    poses = kinematic_poses(model, (stepper.steps_taken + 1) * stepper.dt)
    if poses:
        stepper.set_kinematic(np.array(list(poses), np.int32), np.array(list(poses.values())))
    stepper.step(1)
    return poses


def set_pieces(stepper, pieces):
    state = stepper.state()
    state["law_piece"][stepper.law_table.row] = pieces
    stepper.restore(state)


def scale_of(values):
    return np.abs(values).max(initial=1e-300)


def compare(stepper, model, solution):
    """Relative errors of motion and multipliers, or of wrenches where those are solved for."""
    moving = model.motion == 0
    motion = (stepper.affine() - solution.start)[moving]
    error = scale_of(motion - solution.motion[moving]) / scale_of(solution.motion)
    found, expected = stepper.multipliers(), solution.multipliers
    wrenches = np.isnan(found)
    if wrenches.any():
        found = np.where(wrenches, np.concatenate(stepper.joint_wrenches(), axis=1), found)
        expected = np.where(wrenches, joint_wrenches(model, solution), expected)
    return error, scale_of(found - expected) / max(scale_of(expected), 1e-9)


def first_step(topology, seed, fast_paths):
    """Errors of the first step of a random system, and its dense solution."""
    for calm in (False, True):
        model = random_system(topology, seed, calm=calm).build()
        pieces = random_pieces(model, np.random.default_rng(seed))
        memory, poses = start_memory(model), kinematic_poses(model, DT)
        solution = solve_step(model, DT, memory, pieces=pieces, kinematic=poses)
        # rows that contradict each other have no solution to compare with
        if not solution.redundant or solution.violation < 1e-11:
            break
    stepper = lw.MABD(fast_paths=fast_paths, **ONE_SOLVE).build(model, DT)
    assert bool(stepper.forests) == (fast_paths and topology in FORESTS)
    set_pieces(stepper, pieces)
    advance(stepper, model)
    return *compare(stepper, model, solution), solution


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize(
    ("topology", "fast_paths"),
    # ball chains and forests have paths of their own
    [(name, True) for name in TOPOLOGIES] + [(name, False) for name in ("ball chain", "mixture", *FORESTS)],
)
def test_the_first_step_of_a_random_system_is_that_of_a_dense_solve(topology, fast_paths, seed):
    motion, multipliers, solution = first_step(topology, seed, fast_paths)
    assert motion < TOLERANCE
    # least-norm multipliers: what the regularisation leaves of the null space is not determined to the last digits
    assert multipliers < (TOLERANCE if not solution.redundant else 1e-6)


def endless(model):
    """Without limits: a body that has just met one starts from a history of its own."""
    count = len(model.law_joint)
    return dataclasses.replace(
        model, lower=np.full(count, -np.inf), upper=np.full(count, np.inf), cone=np.zeros(count, bool)
    )


def later_step(model, seed, integrator, **changes):
    """Errors of the third step of a model, whose bodies are strained and turn."""
    stepper = lw.MABD(integrator=integrator, **(ONE_SOLVE | changes)).build(model, DT)
    poses, rates = [stepper.affine()], [stepper.rates()]
    for _ in range(2):
        advance(stepper, model)
        poses.append(stepper.affine())
        rates.append(stepper.rates())
    pieces = random_pieces(model, np.random.default_rng(seed))
    set_pieces(stepper, pieces)
    euler = integrator == "euler"
    before = Memory(poses[1], rates[1], poses[0], rates[0])
    linearised = np.array([advanced(before, i, DT, not euler) for i in range(model.bodies)]).reshape(-1, 3, 4)
    memory = Memory(poses[2], rates[2], poses[1], rates[1], linearised)
    solution = solve_step(model, DT, memory, euler=euler, pieces=pieces, kinematic=kinematic_poses(model, 3 * DT))
    advance(stepper, model)
    return compare(stepper, model, solution)


@pytest.mark.parametrize("integrator", ["euler", "bdf2"])
@pytest.mark.parametrize("seed", range(SEEDS // 3))
@pytest.mark.parametrize("topology", ["ball chain", "chain", "tree", *FORESTS])
def test_a_later_step_from_strained_bodies_is_that_of_a_dense_solve(topology, seed, integrator):
    """The bodies carry stress, which gives them geometric stiffness, and BDF2 has its history."""
    motion, multipliers = later_step(endless(random_system(topology, seed).build()), seed, integrator)
    assert motion < STRAINED_TOLERANCE
    assert multipliers < STRAINED_TOLERANCE


def thrown_net():
    """A net whose bodies fly and spin, large enough for a factor in panels."""
    model = find("net").build(size=8).build()
    rng = np.random.default_rng(8)
    return dataclasses.replace(
        model, velocity=rng.normal(size=(model.bodies, 3)), angular_velocity=rng.normal(size=(model.bodies, 3))
    )


def test_the_first_step_of_a_net_is_that_of_a_dense_solve():
    model = thrown_net()
    stepper = lw.MABD(**(ONE_SOLVE | CLOSED)).build(model, DT)
    assert stepper.groups[0].components.filled.numpy().all()
    solution = solve_step(model, DT, start_memory(model))
    advance(stepper, model)
    motion, multipliers = compare(stepper, model, solution)
    assert motion < TOLERANCE
    assert multipliers < TOLERANCE


def test_a_later_step_of_a_net_is_that_of_a_dense_solve():
    motion, multipliers = later_step(thrown_net(), 0, "bdf2", **CLOSED)
    assert motion < STRAINED_TOLERANCE
    assert multipliers < STRAINED_TOLERANCE


@pytest.mark.parametrize("seed", range(5))
def test_closed_hinge_loops_report_their_redundant_rows(seed):
    """Every window of a plane mechanism with parallel hinges has two rows that only repeat others."""
    model = random_system("hinge loop", seed, calm=True).build()
    solution = solve_step(model, DT, start_memory(model))
    stepper = lw.MABD().build(model, DT)
    stepper.step(1)
    assert solution.redundant > 0
    assert stepper.redundant_rows() == solution.redundant
