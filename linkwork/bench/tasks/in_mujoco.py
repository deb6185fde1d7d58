"""The same mechanisms in MuJoCo, built from text with inertias and no shapes, so that nothing can collide."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from linkwork.bench.tasks.timing import DENSITY, DT, LINKS, PITCH, THICK, Chain, median_seconds, play_chain
from linkwork.gallery import find

__all__ = ["arm", "chain", "free_body"]

MASS = DENSITY * PITCH * THICK * THICK
SPIN, TURN = MASS * THICK**2 / 6.0, MASS * (PITCH**2 + THICK**2) / 12.0
BOX = f'mass="{MASS}" diaginertia="{SPIN} {TURN} {TURN}"'


def chain(
    kind: str,
    *,
    integrator: str = "implicitfast",
    substeps: int = 1,
    solref: str = "0.02 1",
    solimp: str = "0.9 0.95 0.001",
) -> dict[str, float | str]:
    """The chain of 100 links: "tree" nests bodies on ball joints, "connect" ties free bodies with equalities."""
    bodies, ties = "", ""
    if kind == "tree":
        for k in range(LINKS):
            bodies += f'<body pos="{PITCH if k else 0} 0 0"><joint type="ball"/>'
            bodies += f'<inertial pos="{0.5 * PITCH} 0 0" {BOX}/>'
        bodies += "</body>" * LINKS
    else:
        # a free body's frame is at its centre of mass, where MuJoCo treats it fastest
        for k in range(LINKS):
            bodies += f'<body name="{k}" pos="{(k + 0.5) * PITCH} 0 0"><freejoint/><inertial pos="0 0 0" {BOX}/></body>'
            before = f'body2="{k - 1}"' if k else ""
            anchor = f'anchor="{-0.5 * PITCH} 0 0" solref="{solref}" solimp="{solimp}"'
            ties += f'<connect body1="{k}" {before} {anchor}/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT / substeps}" integrator="{integrator}" solver="Newton" jacobian="sparse">'
        '<flag contact="disable" autoreset="disable"/></option>'
        f"<worldbody>{bodies}</worldbody><equality>{ties}</equality></mujoco>"
    )

    def make() -> Chain:
        data = mujoco.MjData(model)

        def ends() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
            mujoco.mj_kinematics(model, data)
            along = 0.5 * PITCH * data.ximat[1:].reshape(-1, 3, 3)[:, :, 0]
            return data.xipos[1:] - along, data.xipos[1:] + along

        def joints() -> NDArray[np.float64]:
            starts, stops = ends()
            return np.stack([np.concatenate([np.zeros((1, 3)), stops[:-1]]), starts], axis=1)

        def kinetic() -> float:
            mujoco.mj_energyVel(model, data)
            return float(data.energy[1])

        def complaint() -> str:
            warned = [int(warning.number) for warning in data.warning]
            return "MuJoCo warns of NaN, Inf or huge values" if any(warned) else ""

        return Chain(
            advance=lambda count: mujoco.mj_step(model, data, nstep=count * substeps),
            joints=joints,
            free_end=lambda: ends()[1][-1],
            kinetic=kinetic,
            complaint=complaint,
        )

    return play_chain(make)


def arm(batch: int = 100) -> dict[str, float]:
    """The arm with the same masses, inertias and gains: hinges with position actuators, held upright."""
    known = find("arm")
    scene = known.build().build()
    bodies, actuators, depth, parent_at = "", "", 0, np.zeros(3)
    for j in range(scene.joints):
        body = int(scene.joint_follower[j])
        at = scene.translation[body] + scene.rotation[body] @ scene.point_follower[j]
        axis = scene.rotation[body] @ scene.frame_follower[j][:, 2]
        com = scene.translation[body] - at
        moments = scene.second_moments[body].sum() - scene.second_moments[body]
        quaternion = Rotation.from_matrix(scene.rotation[body]).as_quat(scalar_first=True)
        bodies += f'<body pos="{_text(at - parent_at)}"><joint name="{j}" type="hinge" axis="{_text(axis)}"/>'
        bodies += f'<inertial pos="{_text(com)}" quat="{_text(quaternion)}" mass="{scene.mass[body]}" '
        bodies += f'diaginertia="{_text(moments)}"/>'
        gain, rate = scene.drive_stiffness[j], scene.drive_damping[j]
        actuators += f'<position joint="{j}" kp="{gain}" kv="{rate}"/>'
        parent_at, depth = at, depth + 1
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{known.dt}" integrator="implicitfast"><flag contact="disable"/></option>'
        f"<worldbody>{bodies}{'</body>' * depth}</worldbody><actuator>{actuators}</actuator></mujoco>"
    )
    data = mujoco.MjData(model)
    seconds = median_seconds(lambda: mujoco.mj_step(model, data, nstep=batch), repeats=100, warm_up=5)
    return {"us_per_step": 1e6 * seconds / batch}


def free_body(steps: int = 10_000) -> dict[str, float]:
    """One body that flies and spins."""
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT}" integrator="implicitfast"><flag contact="disable"/></option><worldbody>'
        '<body><freejoint/><inertial pos="0 0 0" mass="6" diaginertia="0.025 0.05 0.065"/></body>'
        "</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qvel[:] = 1, 0, 5, 1, 2, 3
    return {"ms": 1e3 * median_seconds(lambda: mujoco.mj_step(model, data, nstep=steps), repeats=5)}


def _text(values: NDArray[np.float64]) -> str:
    return " ".join(f"{value:.12g}" for value in values)
