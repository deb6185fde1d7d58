"""The bodies of a batch: predict, and their constants."""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.branching import Inertia
from linkwork.mabd.forest_data import LAM, LOADS, MASS, MU, Forest
from linkwork.mabd.lane_bodies import Pose, pose, pose_blend
from linkwork.mabd.lanes import (
    Mat,
    apply_flipped,
    axial_part,
    columns_scaled,
    crosser,
    flipped,
    geometric_stiffnesses,
    lane,
    lane_at,
    mat_at,
    mat_minus,
    mat_plus,
    mat_scaled,
    minus,
    plus,
    polar_rotations,
    product,
    put_mat,
    put_vec,
    rotations,
    scaled,
    stresses,
    stretched,
    unit,
    vec_at,
    vector,
    without_turns,
)


@wp.func
def inertia_at(f: Forest, c: int, beta: real) -> Inertia:
    r = Inertia()
    scale = real(1.0) / (beta * beta)
    r.moments = scaled(vec_at(f.constants, c), scale)
    r.mass = lane_at(f.constants, c + MASS) * scale
    r.mu = lane_at(f.constants, c + MU)
    r.lam = lane_at(f.constants, c + LAM)
    return r


@wp.func
def strain_of(S: Mat) -> Mat:
    return mat_minus(S, unit())


@wp.func
def pose_at(a: wp.array(dtype=lane), i: int) -> Pose:
    return pose(mat_at(a, i), vec_at(a, i + 9))


@wp.func
def put_pose(a: wp.array(dtype=lane), i: int, p: Pose):
    put_mat(a, i, p.A)
    put_vec(a, i + 9, p.t)


@wp.func
def predict_nodes(forest: wp.array(dtype=Forest), s: Scheme, batch: int, own: Inertia, first: bool):
    """Store the past, form q~ and advance the poses as rigid bodies."""
    f = forest[0]
    q = batch * 12
    Q = pose_at(f.Q, q)
    V = pose_at(f.V, q)
    if s.published == 1:
        put_pose(f.Q_free, q, pose_blend(Q, real(1.0), V, step_beta(s, first)))
        put_pose(f.V, q, Q)
        return
    beta = step_beta(s, first)
    R = polar_rotations(Q.A)
    strain = without_turns(strain_of(product(flipped(R), Q.A)), vec_at(f.k, batch * 3))
    put_vec(f.k, batch * 3, geometric_stiffnesses(stresses(own.mu, own.lam, strain)))
    w = axial_part(product(V.A, flipped(R)))
    speed = V.t
    if s.euler == 1 or first:
        put_pose(f.Q_free, q, pose_blend(Q, real(1.0), V, beta))
        put_pose(f.V, q, Q)
    else:
        Q_past = pose_at(f.Q_past, q)
        V_past = pose_at(f.V_past, q)
        bar = pose_blend(Q, FOUR_THIRDS, Q_past, -THIRD)
        put_pose(f.Q_free, q, pose_blend(bar, real(1.0), pose_blend(V, FOUR_THIRDS, V_past, -THIRD), beta))
        put_pose(f.V, q, bar)
        w_past = axial_part(product(V_past.A, flipped(Q_past.A)))
        w = minus(scaled(w, real(1.5)), scaled(w_past, real(0.5)))
        speed = minus(scaled(V.t, real(1.5)), scaled(V_past.t, real(0.5)))
    put_pose(f.Q_past, q, Q)
    put_pose(f.V_past, q, V)
    put_pose(f.Q, q, pose(product(rotations(scaled(w, s.h)), R), plus(Q.t, scaled(speed, s.h))))


@wp.func
def gradient(
    s: Scheme, forest: wp.array(dtype=Forest), batch: int, own: Inertia, R: Mat, first: bool, strained: bool
) -> Pose:
    """Of the incremental potential: the columns of A in the body's frame, translation in the world's."""
    f = forest[0]
    q = batch * 12
    A = mat_at(f.Q, q)
    r = Pose()
    r.A = product(flipped(R), columns_scaled(mat_minus(A, mat_at(f.Q_free, q)), own.moments))
    if strained:
        r.A = mat_plus(r.A, stresses(own.mu, own.lam, strain_of(product(flipped(R), A))))
    beta = step_beta(s, first)
    pull = own.mass * (beta * beta)
    r.t = stretched(minus(vec_at(f.Q, q + 9), vec_at(f.Q_free, q + 9)), own.mass)
    r.t = minus(r.t, vector(pull * s.gravity[0], pull * s.gravity[1], pull * s.gravity[2]))
    if f.b.loaded == 1:
        loads = batch * LOADS
        r.t = minus(r.t, vec_at(f.loads, loads))
        torque = apply_flipped(R, vec_at(f.loads, loads + 3))
        r.A = mat_minus(r.A, mat_scaled(crosser(torque), real(0.5)))
        if f.levers[0] == 1:
            r.A = mat_minus(r.A, product(flipped(R), mat_at(f.loads, loads + 6)))
    return r


@wp.func
def rotation_at(forest: wp.array(dtype=Forest), batch: int, strained: bool) -> Mat:
    """Of a batch that has been linearised."""
    f = forest[0]
    if strained:
        return mat_at(f.R, batch * 9)
    return mat_at(f.Q, batch * 12)
