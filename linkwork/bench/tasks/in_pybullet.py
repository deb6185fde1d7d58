"""The same chain in PyBullet: one multibody of spherical joints, in reduced coordinates."""

from __future__ import annotations

import numpy as np
import pybullet
from numpy.typing import NDArray

from linkwork.bench.tasks.timing import DENSITY, DT, GRAVITY, LINKS, PITCH, THICK, Chain, play_chain

__all__ = ["chain"]

# PyBullet sends the state of a body in a buffer of 128 coordinates; of a longer chain of spherical joints, it gets
# the first links wrong that it reports. Only later links are looked at; the motion itself is not affected.
SEEN = list(range(40, LINKS))

MASS = DENSITY * PITCH * THICK * THICK
INERTIA = np.array([MASS * THICK**2 / 6.0, *[MASS * (PITCH**2 + THICK**2) / 12.0] * 2])


def chain() -> dict[str, float | str]:
    """The chain of 100 links."""
    pybullet.connect(pybullet.DIRECT)
    return play_chain(_make, repeats=3)


def _make() -> Chain:
    pybullet.resetSimulation()
    pybullet.setGravity(0, 0, -GRAVITY)
    pybullet.setTimeStep(DT)
    level, middle = [[0, 0, 0, 1]] * LINKS, [[0.5 * PITCH, 0, 0]] * LINKS
    body = pybullet.createMultiBody(
        baseMass=0,
        linkMasses=[MASS] * LINKS,
        linkCollisionShapeIndices=[-1] * LINKS,
        linkVisualShapeIndices=[-1] * LINKS,
        linkPositions=[[PITCH if k else 0, 0, 0] for k in range(LINKS)],
        linkOrientations=level,
        linkInertialFramePositions=middle,
        linkInertialFrameOrientations=level,
        linkParentIndices=list(range(LINKS)),
        linkJointTypes=[pybullet.JOINT_SPHERICAL] * LINKS,
        linkJointAxis=[[0, 0, 1]] * LINKS,
    )
    for k in range(LINKS):
        pybullet.changeDynamics(
            body, k, linearDamping=0, angularDamping=0, jointDamping=0, localInertiaDiagonal=INERTIA.tolist()
        )
        # a joint is born with a motor that brakes it
        pybullet.setJointMotorControlMultiDof(
            body, k, pybullet.POSITION_CONTROL, [0, 0, 0, 1], positionGain=0, velocityGain=0, force=[0, 0, 0]
        )

    def advance(count: int) -> None:
        for _ in range(count):
            pybullet.stepSimulation()

    def states() -> tuple[NDArray[np.float64], ...]:
        found = pybullet.getLinkStates(body, SEEN, computeLinkVelocity=1, computeForwardKinematics=1)
        at, turn, speed, rate = (np.array([state[part] for state in found]) for part in (0, 1, 6, 7))
        frames = np.array([pybullet.getMatrixFromQuaternion(each) for each in turn]).reshape(-1, 3, 3)
        return at, frames, speed, rate

    def joints() -> NDArray[np.float64]:
        at, frames, _, _ = states()
        along = 0.5 * PITCH * frames[:, :, 0]
        return np.stack([(at + along)[:-1], (at - along)[1:]], axis=1)

    def free_end() -> NDArray[np.float64]:
        at, frames, _, _ = states()
        return np.asarray(at[-1] + 0.5 * PITCH * frames[-1, :, 0])

    def kinetic() -> float:
        _, frames, speed, rate = states()
        own = np.einsum("nji,nj->ni", frames, rate)
        return float(0.5 * MASS * (speed**2).sum() + 0.5 * (INERTIA * own**2).sum())

    return Chain(advance, joints, free_end, kinetic, complaint=lambda: "")
