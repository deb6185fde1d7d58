"""A method for tests: rigid bodies that fly freely, joints are ignored. Small enough to be checked by eye."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.errors import StepFailure
from linkwork.simulation.poses import polar_rotations


@dataclass(frozen=True)
class FreeFlight:
    """Symplectic Euler; at the step `fails_at` it raises, leaving garbage behind when `untidy`, or finite `garbage`.

    When `silent` it does not raise.
    """

    fails_at: int = 0
    untidy: bool = False
    silent: bool = False
    garbage: bool = False

    def build(self, model, dt):
        return FreeFlightStepper(self, model, dt)


class FreeFlightStepper:
    def __init__(self, settings, model, dt):
        self.settings, self.model, self.dt = settings, model, dt
        self.steps_taken = 0
        self.calls = []
        n = model.bodies
        self.A, self.t = np.array(model.rotation), np.array(model.translation)
        self.v, self.w = np.array(model.velocity), np.array(model.angular_velocity)
        self.moving = np.array(model.motion) == 0
        self.laws = {
            name: np.array(getattr(model, name), float)
            for name in ("target", "target_velocity", "force", "drive_stiffness", "drive_damping", "max_force")
        }
        self.forces, self.torques, self.moments = np.zeros((n, 3)), np.zeros((n, 3)), None
        self.kinematic = None

    def step(self, count):
        self.calls.append(count)
        for _ in range(count):
            if self.steps_taken + 1 == self.settings.fails_at:
                if self.settings.untidy or self.settings.silent:
                    self.v[0] = np.nan
                    self.t[0] = np.inf
                    self.steps_taken += 1
                if self.settings.garbage:
                    self.t[0] = 1e294
                if not self.settings.silent:
                    raise StepFailure(self.settings.fails_at, [0], "velocity")
            self._one()

    def _one(self):
        m = self.moving
        self.v[m] += self.dt * (self.model.gravity + self.forces[m] / self.model.mass[m, None])
        if self.moments is not None or self.torques.any():
            torque = self.torques.copy()
            if self.moments is not None:
                outer = self.moments @ self.A.transpose(0, 2, 1)
                torque += np.stack(
                    [
                        outer[:, 2, 1] - outer[:, 1, 2],
                        outer[:, 0, 2] - outer[:, 2, 0],
                        outer[:, 1, 0] - outer[:, 0, 1],
                    ],
                    axis=1,
                )
            J = self.model.second_moments
            inertia = J.sum(axis=1, keepdims=True) - J
            body = np.einsum("nji,nj->ni", self.A, torque) / inertia
            self.w[m] += self.dt * np.einsum("nij,nj->ni", self.A, body)[m]
        self.t[m] += self.dt * self.v[m]
        spin = np.zeros_like(self.A)
        spin[:, [2, 0, 1], [1, 2, 0]], spin[:, [1, 2, 0], [2, 0, 1]] = self.w, -self.w
        self.A[m] = polar_rotations(self.A + self.dt * spin @ self.A)[m]
        if self.kinematic is not None:
            bodies, poses = self.kinematic
            self.v[bodies] = (poses[:, :, 3] - self.t[bodies]) / self.dt
            self.A[bodies], self.t[bodies] = poses[:, :, :3], poses[:, :, 3]
        self.steps_taken += 1

    def affine(self):
        return np.concatenate([self.A, self.t[:, :, None]], axis=2)

    def rates(self):
        spin = np.zeros_like(self.A)
        spin[:, [2, 0, 1], [1, 2, 0]], spin[:, [1, 2, 0], [2, 0, 1]] = self.w, -self.w
        return np.concatenate([spin @ self.A, self.v[:, :, None]], axis=2)

    def centres(self):
        return self.t.copy()

    def velocities(self):
        return self.v.copy()

    def joint_wrenches(self):
        j = self.model.joints
        return np.zeros((j, 3)), np.zeros((j, 3))

    def coordinates(self):
        return np.arange(6.0) + 10.0 * np.arange(self.model.joints)[:, None]

    def coordinate_rates(self):
        return -self.coordinates()

    def residual(self):
        return 0.0

    def energies(self):
        kinetic = 0.5 * (self.model.mass * (self.v**2).sum(axis=1))[self.moving].sum()
        potential = -(self.model.mass * (self.t @ self.model.gravity))[self.moving].sum()
        return kinetic, potential, 0.0, 0.0

    def last_iterations(self):
        return 1.0, 1.0

    def redundant_rows(self):
        return 0

    def state(self):
        arrays = {name: getattr(self, name).copy() for name in ("A", "t", "v", "w")}
        return arrays | {"steps": np.array(self.steps_taken)}

    def restore(self, state):
        for name in ("A", "t", "v", "w"):
            setattr(self, name, np.array(state[name]))
        self.steps_taken = int(state["steps"])

    def set_forces(self, forces, torques, point_forces=None):
        self.forces, self.torques = forces.copy(), torques.copy()
        self.moments = None if point_forces is None else point_forces.copy()

    def set_law(self, field, rows, values):
        self.laws[field][rows] = values

    def set_kinematic(self, bodies, affine):
        self.kinematic = bodies, affine
