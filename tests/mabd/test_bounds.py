"""No kernel reads or writes beyond its arrays: short runs with warp's checked arrays, in an interpreter of their own."""

import subprocess
import sys

import pytest

PROGRAM = """
import warp as wp
wp.config.mode = "debug"
import linkwork as lw
from linkwork.gallery import find
for name, parameters in {scenes!r}:
    known = find(name)
    sim = lw.Simulation(known.build(**parameters), known.method(), known.dt, state_dir=None)
    known.prepare(sim)
    sim.step(4)
    sim.joint_forces, sim.joint_torques, sim.energy, sim.residual
    sim.restore(sim.state())
    print("whole:", name)
"""
GROUPS = {
    "graphs": [("net", {"size": 14}), ("four-bar", {}), ("heavy-chain", {"joint": "hinge"})],
    "chains": [("chain", {"links": 21}), ("chain", {"links": 70, "count": 3}), ("heavy-chain", {})],
    "trees": [("willow", {"links": 900}), ("pear", {"links": 700}), ("chain", {"links": 3, "count": 20})],
    "machines": [("arm", {}), ("pulley-chain", {}), ("t-handle", {}), ("heavy-top", {})],
}


@pytest.mark.slow
@pytest.mark.parametrize("group", GROUPS)
def test_kernels_stay_within_their_arrays(group):
    program = PROGRAM.format(scenes=GROUPS[group])
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-500:] + done.stderr[-1500:]
    assert done.stdout.count("whole:") == len(GROUPS[group])
