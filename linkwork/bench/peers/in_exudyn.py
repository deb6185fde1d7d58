"""EXUDYN: rigid bodies with redundant coordinates, joints as constraints, generalised-alpha integration."""

from __future__ import annotations

import exudyn
import numpy as np
from exudyn.rigidBodyUtilities import RigidBodyInertia

from linkwork.bench.peers.mechanism import GRAVITY, Array, Mechanism
from linkwork.bench.peers.playing import Motion

__all__ = ["build"]


def build(
    mechanism: Mechanism, dt: float, *, substeps: int = 1, spectral_radius: float = 0.8, redundant: bool = False
) -> Motion:
    """`redundant` takes the dense solver that copes with constraints that say the same twice."""
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    ground = system.CreateGround()
    bodies = [
        system.CreateRigidBody(
            inertia=RigidBodyInertia(mechanism.mass[i], mechanism.inertia[i]),
            referencePosition=mechanism.position[i].tolist(),
            initialVelocity=mechanism.velocity[i].tolist(),
            initialAngularVelocity=mechanism.angular_velocity[i].tolist(),
            gravity=[0, 0, -GRAVITY],
        )
        for i in range(mechanism.bodies)
    ]
    ends = [*bodies, ground]
    for j in range(mechanism.joints):
        pair = [ends[mechanism.base[j]], ends[mechanism.follower[j]]]
        if mechanism.hinge[j]:
            axis = mechanism.axis[j].tolist()
            system.CreateRevoluteJoint(bodyNumbers=pair, position=mechanism.point[j].tolist(), axis=axis, show=False)
        else:
            system.CreateSphericalJoint(bodyNumbers=pair, position=mechanism.point[j].tolist(), show=False)
    system.Assemble()
    settings = exudyn.SimulationSettings()
    time = settings.timeIntegration
    time.generalizedAlpha.spectralRadius = spectral_radius
    time.newton.useModifiedNewton = True
    time.verboseMode = 0
    settings.solutionSettings.writeSolutionToFile = False
    settings.displayComputationTime = False
    if redundant:
        settings.linearSolverType = exudyn.LinearSolverType.EigenDense
        settings.linearSolverSettings.ignoreSingularJacobian = True
    else:
        settings.linearSolverType = exudyn.LinearSolverType.EigenSparse
    solver = exudyn.MainSolverImplicitSecondOrder()
    done, trouble = 0, ""

    def advance(count: int) -> None:
        nonlocal done, trouble
        time.startTime, time.endTime = done * dt, (done + count) * dt
        time.numberOfSteps = count * substeps
        if done == 0:
            solver.InitializeSolver(system, settings)
        else:
            solver.InitializeSolverInitialConditions(system, settings)
        if not solver.SolveSteps(system, settings):
            trouble = "EXUDYN's Newton method did not converge"
        system.systemData.SetSystemState(
            system.systemData.GetSystemState(), configuration=exudyn.ConfigurationType.Initial
        )
        done += count

    def state() -> tuple[Array, Array, Array, Array]:
        which = exudyn.ConfigurationType.Current if done else exudyn.ConfigurationType.Initial
        wanted = exudyn.OutputVariableType
        place, turn, speed, spin = (
            np.array([system.GetObjectOutputBody(b, output, configuration=which) for b in bodies])
            for output in (wanted.Position, wanted.RotationMatrix, wanted.Velocity, wanted.AngularVelocity)
        )
        return place, turn.reshape(-1, 3, 3), speed, spin

    return Motion(advance, state, lambda: trouble)
