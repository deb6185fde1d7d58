"""Rigid bodies with joints, integrated independently of the engine: maximal coordinates, quaternions, index 1.

Accelerations and multipliers come from [M G^T; G 0] [a; lambda] = [f; gamma] with the rows of the joint catalogue; their
derivatives along twists are taken by complex steps, gamma by a difference of those. scipy integrates.
"""

from __future__ import annotations

import numpy as np
from oracles.dense_kkt import PD, coordinates, cross_matrix, locked_slots
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

EPS = 1e-30
STEP = 2e-3  # of the five-point difference for gamma, times a second


def matrix(q):
    """Rotation of a quaternion x, y, z, w of unit length, by polynomials."""
    x, y, z, w = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def turn(w):
    """exp([w]) for real w times a complex-step part: exact for real w, first order in the imaginary part."""
    W = cross_matrix(w.real)
    angle = np.linalg.norm(w.real)
    a = np.sin(angle) / angle if angle > 1e-8 else 1.0
    b = 2 * (np.sin(angle / 2) / angle) ** 2 if angle > 1e-8 else 0.5
    return np.eye(3) + a * W + b * W @ W


class RigidBodies:
    """The moving bodies of a model as rigid bodies."""

    def __init__(self, model):
        self.model = model
        self.moving = np.flatnonzero(model.motion == 0)
        self.place = {int(body): k for k, body in enumerate(self.moving)}
        J = model.second_moments[self.moving]
        self.inertia = np.stack([J[:, 1] + J[:, 2], J[:, 0] + J[:, 2], J[:, 0] + J[:, 1]], axis=1)
        self.mass = model.mass[self.moving]
        self.locked, self.ruled = [], []
        for j in range(model.joints):
            slots = list(locked_slots(model, j))
            laws = np.flatnonzero(model.law_joint == j)
            self.locked.append(slots)
            self.ruled.append([(int(model.law_slot[i]), i) for i in laws])

    # -- state: t (3), q (4), v (3), w (3) of every moving body

    def start(self):
        model, m = self.model, self.moving
        q = Rotation.from_matrix(model.rotation[m]).as_quat()
        return np.concatenate([model.translation[m], q, model.velocity[m], model.angular_velocity[m]], axis=1).ravel()

    def split(self, y):
        y = y.reshape(-1, 13)
        q = y[:, 3:7] / np.linalg.norm(y[:, 3:7], axis=1, keepdims=True)
        return y[:, :3], q, y[:, 7:10], y[:, 10:13]

    def joint_values(self, j, R, t):
        """Six coordinates for rotations R and translations t of the moving bodies, real or complex."""
        model = self.model
        axes, points = [], []
        for body, frame, point in (
            (int(model.joint_base[j]), model.frame_base[j], model.point_base[j]),
            (int(model.joint_follower[j]), model.frame_follower[j], model.point_follower[j]),
        ):
            if body < 0:
                rotation, translation = np.eye(3), np.zeros(3)
            elif body in self.place:
                rotation, translation = R[self.place[body]], t[self.place[body]]
            else:
                rotation, translation = model.rotation[body], model.translation[body]
            axes.append(rotation @ frame)
            points.append(rotation @ point + translation)
        return coordinates(model.joint_kind[j], axes[0].T @ axes[1], points[1] - points[0], axes[0])

    def bodies_of(self, j):
        sides = (int(self.model.joint_base[j]), int(self.model.joint_follower[j]))
        return [self.place[body] for body in sides if body in self.place]

    def gradient(self, j, R, t):
        """(6, 6 n) per twist (v, w) of each body."""
        G = np.zeros((6, 6 * len(self.moving)))
        for k in self.bodies_of(j):
            for axis in range(3):
                moved = t.astype(complex)
                moved[k, axis] += 1j * EPS
                G[:, 6 * k + axis] = self.joint_values(j, R, moved).imag / EPS
                turned = R.astype(complex)
                turned[k] = turned[k] + 1j * EPS * cross_matrix(np.eye(3)[axis]) @ R[k]
                G[:, 6 * k + 3 + axis] = self.joint_values(j, turned, t).imag / EPS
        return G

    def curvature(self, j, R, t, v, w):
        """Second derivative of the coordinates along constant twists."""

        def rate(s):
            turned, moved = R.astype(complex), (t + s * v).astype(complex)
            for k in self.bodies_of(j):
                Rs = turn(s * w[k]) @ R[k]
                turned[k] = Rs + 1j * EPS * cross_matrix(w[k]) @ Rs
                moved[k] += 1j * EPS * v[k]
            return self.joint_values(j, turned, moved).imag / EPS

        return (rate(-2 * STEP) - 8 * rate(-STEP) + 8 * rate(STEP) - rate(2 * STEP)) / (12 * STEP)

    def law_force(self, i, c, rate):
        model = self.model
        force = model.force[i] - model.stiffness[i] * (c - model.rest[i]) - model.damping[i] * rate
        if model.drive[i] == PD:
            drive = model.drive_stiffness[i] * (model.target[i] - c)
            drive += model.drive_damping[i] * (model.target_velocity[i] - rate)
            force += np.clip(drive, -model.max_force[i], model.max_force[i])
        return force

    def system(self, y):
        """Mass matrix, constraint Jacobian, forces and gamma."""
        t, q, v, w = self.split(y)
        n = len(self.moving)
        R = np.array([matrix(x) for x in q])
        M, f = np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
        for k, body in enumerate(self.moving):
            world = R[k] @ np.diag(self.inertia[k]) @ R[k].T
            M[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = self.mass[k] * np.eye(3)
            M[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = world
            f[6 * k : 6 * k + 3] = self.mass[k] * self.model.gravity
            f[6 * k + 3 : 6 * k + 6] = -np.cross(w[k], world @ w[k])
            for i in np.flatnonzero(self.model.force_body == body):
                f[6 * k : 6 * k + 3] += self.model.force_vector[i]
                arm = R[k] @ self.model.force_point[i]
                f[6 * k + 3 : 6 * k + 6] += np.cross(arm, self.model.force_vector[i]) + self.model.force_torque[i]
        rows, gammas = [], []
        twist = np.concatenate([v, w], axis=1).ravel()
        for j in range(self.model.joints):
            G = self.gradient(j, R, t)
            if self.ruled[j]:
                c = self.joint_values(j, R, t)
                for slot, i in self.ruled[j]:
                    f += G[slot] * self.law_force(i, c[slot], G[slot] @ twist)
            if self.locked[j]:
                rows.append(G[self.locked[j]])
                gammas.append(-self.curvature(j, R, t, v, w)[self.locked[j]])
        G = np.concatenate(rows) if rows else np.zeros((0, 6 * n))
        return M, G, f, np.concatenate(gammas) if gammas else np.zeros(0)

    def rate(self, _time, y):
        _, q, v, w = self.split(y)
        M, G, f, gamma = self.system(y)
        rows = len(G)
        K = np.block([[M, G.T], [G, np.zeros((rows, rows))]])
        a = np.linalg.solve(K, np.concatenate([f, gamma]))[: len(f)].reshape(-1, 6)
        spin = np.concatenate([w, np.zeros((len(w), 1))], axis=1)
        q_rate = 0.5 * np.array([product(s, x) for s, x in zip(spin, q, strict=True)])
        return np.concatenate([v, q_rate, a[:, :3], a[:, 3:]], axis=1).ravel()

    def allowed_velocities(self):
        """The model's velocities with what the joints forbid taken out (as an impulse would)."""
        y = self.start()
        M, G, _, _ = self.system(y)
        _, _, v, w = self.split(y)
        twist = np.concatenate([v, w], axis=1).ravel()
        if len(G):
            MG = np.linalg.solve(M, G.T)
            twist = twist - MG @ np.linalg.solve(G @ MG, G @ twist)
        return twist.reshape(-1, 6)

    def run(self, times):
        """Centres of mass (s, n, 3) and rotations of the principal frames (s, n, 3, 3) at the times."""
        result = solve_ivp(
            self.rate, (0.0, times[-1]), self.start(), method="DOP853", t_eval=times, rtol=1e-10, atol=1e-11
        )
        states = [self.split(y) for y in result.y.T]
        return np.array([s[0] for s in states]), np.array([[matrix(q) for q in s[1]] for s in states])


def product(p, q):
    """Quaternion product, x, y, z, w."""
    return np.concatenate([p[3] * q[:3] + q[3] * p[:3] + np.cross(p[:3], q[:3]), [p[3] * q[3] - p[:3] @ q[:3]]])
