"""The measurements themselves, on scenes of a few bodies; engines that are not installed are skipped."""

from __future__ import annotations

import numpy as np
import pytest
from gallery.truth import planar_chain

from linkwork.bench.tasks import timing
from linkwork.bench.tasks.timing import Chain, play_chain


def test_the_free_end_of_the_chain_is_where_lagrange_s_equations_put_it():
    inertia = (timing.PITCH**2 + timing.THICK**2) / 12.0
    angles = planar_chain(timing.LINKS, timing.PITCH, inertia, 1.0)
    end = timing.PITCH * np.array([np.cos(angles).sum(), 0.0, -np.sin(angles).sum()])
    np.testing.assert_allclose(end, timing.FREE_END, atol=1e-7)


def still(kinetic=lambda steps: 0.0, gap=lambda steps: 0.0, complaint=lambda steps: ""):
    taken = [0]

    def advance(count):
        taken[0] += count

    return Chain(
        advance=advance,
        joints=lambda: np.array([[[0, 0, 0], [0, 0, gap(taken[0])]]], dtype=float),
        free_end=lambda: timing.FREE_END + np.array([3e-3, 0, 4e-3]),
        kinetic=lambda: kinetic(taken[0]),
        complaint=lambda: complaint(taken[0]),
    )


def test_a_chain_that_holds_gives_gap_error_and_time():
    values = play_chain(lambda: still(gap=lambda steps: 1e-4 * steps))
    assert "failure" not in values
    assert values["gap"] == pytest.approx(1e-2)
    assert values["free_end_error"] == pytest.approx(5e-3)
    assert values["ms_per_step"] > 0.0


BREAKS = {
    "NaN": {"gap": lambda steps: np.nan if steps > 40 else 1e-3},
    "more kinetic energy than there is to fall": {"kinetic": lambda steps: 1e4 if steps > 40 else 1.0},
    "it says so": {"complaint": lambda steps: "it says so" if steps > 40 else ""},
}


@pytest.mark.parametrize("reason", BREAKS)
def test_a_chain_that_breaks_up_says_when_and_is_timed_up_to_then(reason):
    values = play_chain(lambda: still(**BREAKS[reason]))
    assert values["failure"] == f"unstable after 0.40 s: {reason}"
    assert values["gap"] < 1.0
    assert values["ms_per_step"] > 0.0
    assert "free_end_error" not in values


def test_steps_are_divided_by_bodies_and_iterations():
    from linkwork.bench.tasks.ours import steps

    values = steps("chain", {"links": 4, "count": 2}, published=True, blocks=2, calls=2, between=1)
    assert values["bodies"] == 8
    assert values["iterations"] == 1.0
    assert values["ns_per_link_step"] == pytest.approx(1e6 * values["ms_per_step"] / 8)
    assert values["residual"] < 1e-7
    assert 0.01 < values["memory"] < 4.0


def test_a_heavy_chain_brings_back_its_outcome():
    from linkwork.bench.tasks.ours import heavy_chain

    values = heavy_chain("ball", 10.0, False, 1e-2, seconds=0.2, links=4)
    assert values["outcome"] == "finished"
    assert values["residual"] < 1e-7
    assert values["rise"] < 1e-2


def test_mujoco_moves_the_same_arm_and_chain():
    pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    from linkwork.bench.tasks import in_mujoco

    assert in_mujoco.arm(batch=2)["us_per_step"] > 0.0
    fine = in_mujoco.chain("connect", substeps=5, solref="0.004 1", solimp="0.999 0.9999 0.001")
    assert fine["gap"] < 1e-3
    assert fine["free_end_error"] < 0.05


def test_pinocchio_has_the_same_arm():
    pytest.importorskip("pinocchio", reason="Pinocchio is not installed")
    from linkwork.bench.tasks import in_pinocchio

    assert in_pinocchio.arm()["us_per_step"] > 0.0


def test_pybullet_joints_have_no_gap_while_the_chain_holds():
    pybullet = pytest.importorskip("pybullet", reason="PyBullet is not installed")
    from linkwork.bench.tasks import in_pybullet

    pybullet.connect(pybullet.DIRECT)
    chain = in_pybullet._make()
    chain.advance(3)
    ends = chain.joints()
    pybullet.disconnect()
    assert np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).max() < 1e-9
