"""One Newton step of MABD, assembled densely with NumPy from a Model and the formulas of the method.

Nothing here reads the engine's kernels: bodies have 12 coordinates each, the Hessian comes from the quadratic forms of mass
and elasticity, the joint rows from the relative rotation and the joint's points, their gradients by complex steps.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from linkwork.scene.joints import CATALOGUE, JointId

WORLD_TRANSLATION = {JointId.FIXED, JointId.BALL, JointId.HINGE, JointId.UNIVERSAL}
NO_TURN = {JointId.FIXED, JointId.PRISMATIC, JointId.CARTESIAN, JointId.RECTANGULAR}
SWINGING = {JointId.BALL, JointId.SLOT, JointId.FREE}
PD, POSITION, VELOCITY = 1, 2, 4
AT_LOWER, FIRST_STEP, AT_UPPER = (
    1,
    2,
    7,
)  # pieces of a law: steps and corners in turn, from the lower limit to the upper


def cross_matrix(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def rotation_exp(w):
    angle = np.linalg.norm(w)
    W = cross_matrix(w)
    if angle < 1e-4:
        return np.eye(3) + W * (1 - angle**2 / 6) + W @ W * (0.5 - angle**2 / 24)
    return np.eye(3) + W * np.sin(angle) / angle + W @ W * 2 * (np.sin(angle / 2) / angle) ** 2


def polar(A):
    """Rotation nearest to A; also for a complex step about a matrix near a rotation."""
    if np.isrealobj(A):
        U, _, Vt = np.linalg.svd(A)
        return U @ Vt
    R = A
    for _ in range(8):
        R = 1.5 * R - 0.5 * R @ R.T @ R
    return R


def axial(Z):
    return 0.5 * np.array([Z[2, 1] - Z[1, 2], Z[0, 2] - Z[2, 0], Z[1, 0] - Z[0, 1]])


def arctan2(s, c):
    angle = np.arctan2(s.real, c.real)
    if np.iscomplexobj(s) or np.iscomplexobj(c):
        angle = angle + 1j * (c.real * s.imag - s.real * c.imag) / (s.real**2 + c.real**2)
    return angle


def coordinates(kind, M, d, B):
    """All six coordinates from M = B^T F (joint axes of base and follower) and the offset d of the joint's points."""
    kind = JointId(kind)
    c = np.zeros(6, dtype=np.result_type(M, d))
    if kind is JointId.DISTANCE:
        c[0] = np.sqrt(d @ d)
        return c
    c[:3] = d if kind in WORLD_TRANSLATION else B.T @ d
    if kind in NO_TURN:
        c[3:] = axial(M)
    elif kind is JointId.UNIVERSAL:
        # M = Rx(a) Ry(b): the second column is (0, cos a, sin a), the first row (cos b, 0, sin b)
        c[3:] = arctan2(M[2, 1], M[1, 1]), arctan2(M[0, 2], M[0, 0]), -M[0, 1]
    else:
        c[5] = arctan2(M[1, 0] - M[0, 1], M[0, 0] + M[1, 1])
        x, y, z = M[:, 2]
        if kind in SWINGING:
            rho = np.sqrt(x * x + y * y)
            a = arctan2(rho, z) / rho if abs(rho) > 1e-4 else 1.0 + (x * x + y * y) / 6.0
            c[3:5] = -a * y, a * x
        else:
            c[3:5] = -y, x
    return c


def stress(mu, lam, S):
    return 2 * mu * (0.5 * (S + S.T) - np.eye(3)) + lam * np.trace(S - np.eye(3)) * np.eye(3)


def elastic_hessian(mu, lam):
    """(9, 9) over the entries of S, row by row: the derivative of the stress."""
    H = np.zeros((9, 9))
    for m in range(9):
        dS = np.zeros(9)
        dS[m] = 1.0
        dS = dS.reshape(3, 3)
        H[:, m] = (mu * (dS + dS.T) + lam * np.trace(dS) * np.eye(3)).ravel()
    return H


def turning_hessian(k):
    """(9, 9) of sum k_i theta_i^2 / 2, theta the axial vector of dS."""
    T = np.zeros((3, 9))
    for m in range(9):
        dS = np.zeros(9)
        dS[m] = 1.0
        T[:, m] = axial(dS.reshape(3, 3))
    return T.T @ np.diag(k) @ T


def majorant(P):
    K = np.trace(P) * np.eye(3) - P
    off = np.abs(K).sum(axis=1) - np.abs(np.diag(K))
    return np.maximum(0.0, np.diag(K) + off)


def hessian(mass, J, mu, lam, beta, R, k):
    """(12, 12) over Q = [A | t] row by row, in extended precision: stiffness and spin inertia lie ten decades apart."""
    R = R.astype(np.longdouble)
    for _ in range(2):
        R = 1.5 * R - 0.5 * R @ R.T @ R
    E = (elastic_hessian(mu, lam) + turning_hessian(k)).astype(np.longdouble)
    turn = np.kron(R, np.eye(3, dtype=np.longdouble))  # dA = R dS, entries row by row
    H = np.zeros((3, 4, 3, 4), np.longdouble)
    H[:, :3, :, :3] = (turn @ E @ turn.T).reshape(3, 3, 3, 3)
    for i in range(3):
        H[i, :3, i, :3] += np.diag(J) / beta**2
        H[i, 3, i, 3] += mass / beta**2
    return H.reshape(12, 12)


def inverse(H):
    """Inverse of an ill-conditioned symmetric matrix, right to double precision."""
    X = np.linalg.inv(H.astype(float)).astype(np.longdouble)
    for _ in range(4):
        X = X + X @ (np.eye(len(H), dtype=np.longdouble) - H @ X)
    return X


@dataclass
class Memory:
    """What a step starts from: poses and rates (n, 3, 4) now and one step earlier."""

    Q: np.ndarray
    V: np.ndarray
    Q_past: np.ndarray | None = None
    V_past: np.ndarray | None = None
    linearised: np.ndarray | None = None  # poses (n, 3, 4) that the last step's only Newton iteration started from


@dataclass
class Solution:
    start: np.ndarray  # (n, 3, 4) where the step was linearised
    motion: np.ndarray  # (n, 3, 4)
    multipliers: np.ndarray  # (j, 6)
    rows: list  # (joint, slot) of the rows that were solved for
    redundant: int
    violation: float  # of the linearised hard rows; above zero if they contradict each other


def start_memory(model):
    """Poses and rates of a model before its first step."""
    Q = np.concatenate([model.rotation, model.translation[:, :, None]], axis=2)
    spin = np.array([cross_matrix(w) @ R for w, R in zip(model.angular_velocity, model.rotation, strict=True)])
    V = np.concatenate([spin.reshape(-1, 3, 3), model.velocity[:, :, None]], axis=2)
    V[model.motion != 0] = 0.0
    return Memory(Q, V)


def joint_pose(model, j, Q):
    """B (3, 3), M and d of a joint for poses Q (n, 3, 4)."""
    axes, points = [], []
    for body, frame, point in (
        (model.joint_base[j], model.frame_base[j], model.point_base[j]),
        (model.joint_follower[j], model.frame_follower[j], model.point_follower[j]),
    ):
        A, t = (Q[body][:, :3], Q[body][:, 3]) if body >= 0 else (np.eye(3), np.zeros(3))
        axes.append((polar(A) if body >= 0 else A) @ frame)
        points.append(A @ point + t)
    return axes[0], axes[0].T @ axes[1], points[1] - points[0]


def joint_coordinates(model, j, Q):
    B, M, d = joint_pose(model, j, Q)
    return coordinates(model.joint_kind[j], M, d, B)


def joint_gradient(model, j, Q):
    """{body: (6, 12)} by complex steps."""
    result = {}
    for body in {int(model.joint_base[j]), int(model.joint_follower[j])} - {-1}:
        if model.motion[body] != 0:
            continue
        G = np.zeros((6, 12))
        for m in range(12):
            Z = Q.astype(complex)
            Z[body].reshape(-1)[m] += 1e-30j
            G[:, m] = joint_coordinates(model, j, Z).imag / 1e-30
        result[body] = G
    return result


def locked_slots(model, j):
    kind = JointId(model.joint_kind[j])
    if kind is JointId.DISTANCE and not model.distance_locked[j]:
        return ()
    return CATALOGUE[kind].locked


def smooth_line(model, i, c, c_bar, beta):
    """(a, kappa) of spring, damper, constant force and PD drive of law i: the force is a - kappa c."""
    rate = 1.0 / beta
    kappa = model.stiffness[i] + model.damping[i] * rate
    a = model.stiffness[i] * model.rest[i] + model.damping[i] * rate * c_bar + model.force[i]
    if model.drive[i] == PD:
        kp, kd = model.drive_stiffness[i], model.drive_damping[i]
        drive_a, drive_kappa = kp * model.target[i] + kd * (model.target_velocity[i] + rate * c_bar), kp + kd * rate
        force = drive_a - drive_kappa * c
        if abs(force) <= model.max_force[i]:
            a, kappa = a + drive_a, kappa + drive_kappa
        else:
            a += np.sign(force) * model.max_force[i]
    return a, kappa


def law_line(model, i, c, c_bar, beta, piece):
    """(held, a, kappa, hold) of law i on its present piece: the force is a - kappa c unless held."""
    a, kappa = smooth_line(model, i, c, c_bar, beta)
    corners = [(c_bar, model.friction[i])]
    if model.drive[i] == VELOCITY:
        corners.append((c_bar + beta * model.target_velocity[i], model.max_force[i]))
    if model.drive[i] == POSITION:
        return True, 0.0, 0.0, model.target[i]
    if piece == AT_LOWER:
        return True, 0.0, 0.0, model.lower[i]
    if piece == AT_UPPER:
        return True, 0.0, 0.0, model.upper[i]
    corners = sorted((corner for corner in corners if corner[1] > 0), key=lambda corner: corner[0])
    place = piece - FIRST_STEP
    if place % 2:
        return True, 0.0, 0.0, np.clip(corners[place // 2][0], model.lower[i], model.upper[i])
    jumps = [jump for _, jump in corners]
    return False, a + sum(jumps[place // 2 :]) - sum(jumps[: place // 2]), kappa, 0.0


def advanced(memory, i, h, extrapolate):
    """Rigidly advanced pose of body i; with a history the speed is extrapolated to the middle of the step."""
    A, t = memory.Q[i][:, :3], memory.Q[i][:, 3]
    R = polar(A)
    w, v = axial(memory.V[i][:, :3] @ R.T), memory.V[i][:, 3]
    if extrapolate:
        w = 1.5 * w - 0.5 * axial(memory.V_past[i][:, :3] @ memory.Q_past[i][:, :3].T)
        v = 1.5 * v - 0.5 * memory.V_past[i][:, 3]
    return np.concatenate([rotation_exp(w * h) @ R, (t + v * h)[:, None]], axis=1)


def loaded_stretch(memory, i):
    """S = R^T A of body i without the strain theta^2 / 2 that turning by theta along a straight line leaves behind."""
    A = memory.Q[i][:, :3]
    S = polar(A).T @ A
    if memory.linearised is not None:
        start = memory.linearised[i][:, :3]
        turn = axial(start.T @ (A - start))
        S = S - 0.5 * (turn @ turn * np.eye(3) - np.outer(turn, turn))
    return S


def solve_step(model, h, memory, *, euler=True, pieces=None, kinematic=None):
    """The first Newton step of a time step from `memory`.

    euler: implicit Euler (also the first step of BDF2); else BDF2. pieces: (d,) piece of each law. kinematic: {body: pose}.
    """
    n = model.bodies
    beta = h if euler else 2.0 * h / 3.0
    moving = [i for i in range(n) if model.motion[i] == 0]
    place = {body: 12 * k for k, body in enumerate(moving)}
    Q = memory.Q.copy()
    for body, pose in (kinematic or {}).items():
        Q[body] = pose
    H, g = [], []
    for i in moving:
        Q[i] = advanced(memory, i, h, not euler)
        volume = model.volume[i]
        mu, lam = model.lame_mu[i] * volume, model.lame_lambda[i] * volume
        k = majorant(stress(mu, lam, loaded_stretch(memory, i)))
        R = Q[i][:, :3]
        H.append(hessian(model.mass[i], model.second_moments[i], mu, lam, beta, R, k))
        if euler:
            free = memory.Q[i] + beta * memory.V[i]
        else:
            free = (4 * memory.Q[i] - memory.Q_past[i] + beta * (4 * memory.V[i] - memory.V_past[i])) / 3.0
        weights = np.append(model.second_moments[i], model.mass[i]) / beta**2
        force = np.zeros((3, 4))
        force[:, 3] = model.mass[i] * model.gravity
        for f in np.flatnonzero(model.force_body == i):
            force += np.outer(model.force_vector[f], np.append(model.force_point[f], 1.0))
            force[:, :3] += 0.5 * cross_matrix(model.force_torque[f]) @ R
        g.append(((Q[i] - free) * weights - force).ravel())
    g = np.concatenate(g) if g else np.zeros(0)
    H_inverse = [inverse(block) for block in H]
    multipliers = np.zeros((model.joints, 6))
    rows, gradients, rhs, sigma = [], [], [], []
    for joint, slot, gradient, c, softness, force in joint_rows(model, Q, memory, beta, euler, pieces, place):
        if force is None:
            rows.append((joint, slot))
            gradients.append(gradient)
            rhs.append(c)
            sigma.append(softness)
        else:
            g = g - gradient * force
            multipliers[joint, slot] = -force

    def respond(x):
        return np.concatenate([block @ x[12 * k : 12 * k + 12] for k, block in enumerate(H_inverse)])

    motion = -respond(g)
    redundant, violation = 0, 0.0
    if rows:
        G, rhs, sigma = np.array(gradients, np.longdouble), np.array(rhs), np.array(sigma)
        Y = np.stack([respond(row) for row in G], axis=1)
        x, redundant = least_norm(G @ Y + np.diag(sigma), rhs - Y.T @ g)
        motion = -respond(g + G.T @ x)
        violation = float(np.abs((G @ motion + rhs)[sigma == 0.0]).max(initial=0.0))
        for (joint, slot), value in zip(rows, x, strict=True):
            multipliers[joint, slot] = value
    full = np.zeros((n, 3, 4))
    for body, at in place.items():
        full[body] = motion[at : at + 12].reshape(3, 4)
    return Solution(Q, full, multipliers, rows, redundant, violation)


def joint_wrenches(model, solution):
    """(j, 6) force, and torque about the joint's point, of the base on the follower: the multipliers' pull on its pose."""
    wrenches = np.zeros((model.joints, 6))
    for j in range(model.joints):
        ends = (model.joint_follower[j], model.point_follower[j], -1.0), (model.joint_base[j], model.point_base[j], 1.0)
        gradients = joint_gradient(model, j, solution.start)
        body, point, side = next(end for end in ends if end[0] in gradients)
        pull = side * np.tensordot(solution.multipliers[j], gradients[body].reshape(6, 3, 4), axes=1)
        turning = pull[:, :3] - np.outer(pull[:, 3], point)
        wrenches[j] = *pull[:, 3], *(2.0 * axial(turning @ polar(solution.start[body][:, :3]).T))
    return wrenches


def joint_rows(model, Q, memory, beta, euler, pieces, place):
    """(joint, slot, gradient, c, softness, force) of every row: a hard or soft row has c + G dq = softness lambda, and
    force None; a row whose force is known has that force."""
    for j in range(model.joints):
        locked = locked_slots(model, j)
        laws = {int(model.law_slot[i]): i for i in np.flatnonzero(model.law_joint == j)}
        if not locked and not laws:
            continue
        now = joint_coordinates(model, j, Q)
        past = joint_coordinates(model, j, memory.Q)
        average = past if euler else (4 * past - joint_coordinates(model, j, memory.Q_past)) / 3.0
        gradient = np.zeros((6, 12 * len(place)))
        for body, block in joint_gradient(model, j, Q).items():
            gradient[:, place[body] : place[body] + 12] = block
        stopped = 3 in laws and bool(model.cone[laws[3]]) and pieces is not None and pieces[laws[3]] == AT_UPPER
        if stopped:
            # the first swing row turns to the swing, which the cone holds; across it the springs of both add up
            size = np.hypot(now[3], now[4])
            e = now[3:5] / size if size > 1e-9 else np.array([1.0, 0.0])
            lines = [
                smooth_line(model, laws[slot], now[slot], average[slot], beta) if slot in laws else (0.0, 0.0)
                for slot in (3, 4)
            ]
            forces = [line[0] - line[1] * now[3 + k] for k, line in enumerate(lines)]
            across = e[0] * forces[1] - e[1] * forces[0], e[1] ** 2 * lines[0][1] + e[0] ** 2 * lines[1][1]
            gradient[3:5] = np.array([[e[0], e[1]], [-e[1], e[0]]]) @ gradient[3:5]
            yield j, 3, gradient[3], size - model.upper[laws[3]], 0.0, None
            if across[1] > 1e-12:
                yield j, 4, gradient[4], -across[0] / across[1], 1.0 / across[1], None
            else:
                yield j, 4, gradient[4], 0.0, 0.0, across[0]
        for slot in range(6):
            c = now[slot]
            if stopped and slot in (3, 4):
                continue
            if slot in locked:
                if model.joint_kind[j] == JointId.DISTANCE:
                    c -= model.length[j]
                yield j, slot, gradient[slot], c, 0.0, None
            elif slot in laws:
                i = laws[slot]
                piece = FIRST_STEP if pieces is None else pieces[i]
                held, a, kappa, hold = law_line(model, i, c, average[slot], beta, piece)
                if held:
                    yield j, slot, gradient[slot], c - hold, 0.0, None
                elif kappa > 1e-12:
                    yield j, slot, gradient[slot], c - a / kappa, 1.0 / kappa, None
                else:
                    yield j, slot, gradient[slot], c, 0.0, a


def least_norm(D, b):
    """Solution of D x = b of least length, D positive semidefinite, and the dimension of its null space."""
    D = 0.5 * (D + D.T)
    scale = (1.0 / np.sqrt(np.diag(D))).astype(float)
    values, vectors = np.linalg.eigh((scale[:, None] * D * scale).astype(float))
    null = values < 1e-12
    keep = vectors[:, ~null]
    x = np.zeros(len(b), np.longdouble)
    for _ in range(4):
        r = (scale * (b - D @ x)).astype(float)
        x = x + scale * (keep @ ((keep.T @ r) / values[~null]))
    if not null.any():
        return x, 0
    basis = np.linalg.qr(scale[:, None] * vectors[:, null])[0]
    return x - basis @ (basis.T @ x), int(null.sum())
