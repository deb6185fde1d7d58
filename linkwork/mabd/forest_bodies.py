"""The bodies of a batch: predict, and their constants."""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.branching import Inertia
from linkwork.mabd.forest_data import LAM, LOADS, MASS, MU, Forest
from linkwork.mabd.lanes import (
    Mat,
    Vec,
    apply_flipped,
    axial_part,
    columns_scaled,
    crosser,
    flipped,
    geometric_stiffnesses,
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
def predict_batch(forest: wp.array(dtype=Forest), s: Scheme, batch: int, c: int, first: bool):
    """Store the past, form q~ and advance the poses as rigid bodies, as `predict` of bodies.py does."""
    f = forest[0]
    q = batch * 12
    A = mat_at(f.Q, q)
    t = vec_at(f.Q, q + 9)
    W = mat_at(f.V, q)
    v = vec_at(f.V, q + 9)
    beta = step_beta(s, first)
    if s.published == 1:
        put_mat(f.Q_free, q, mat_plus(A, mat_scaled(W, beta)))
        put_vec(f.Q_free, q + 9, plus(t, scaled(v, beta)))
        put_mat(f.V, q, A)
        put_vec(f.V, q + 9, t)
        return
    R = polar_rotations(A)
    half = real(0.5)
    strain = without_turns(strain_of(product(flipped(R), A)), vec_at(f.k, batch * 3))
    put_vec(
        f.k,
        batch * 3,
        geometric_stiffnesses(stresses(lane_at(f.constants, c + MU), lane_at(f.constants, c + LAM), strain)),
    )
    w = axial_part(product(W, flipped(R)))
    ahead = v
    if s.euler == 1 or first:
        put_mat(f.Q_free, q, mat_plus(A, mat_scaled(W, beta)))
        put_vec(f.Q_free, q + 9, plus(t, scaled(v, beta)))
        put_mat(f.V, q, A)
        put_vec(f.V, q + 9, t)
    else:
        Ap = mat_at(f.Q_past, q)
        tp = vec_at(f.Q_past, q + 9)
        Wp = mat_at(f.V_past, q)
        vp = vec_at(f.V_past, q + 9)
        A_bar = mat_minus(mat_scaled(A, FOUR_THIRDS), mat_scaled(Ap, THIRD))
        t_bar = minus(scaled(t, FOUR_THIRDS), scaled(tp, THIRD))
        rate = mat_minus(mat_scaled(W, FOUR_THIRDS), mat_scaled(Wp, THIRD))
        put_mat(f.Q_free, q, mat_plus(A_bar, mat_scaled(rate, beta)))
        put_vec(f.Q_free, q + 9, plus(t_bar, scaled(minus(scaled(v, FOUR_THIRDS), scaled(vp, THIRD)), beta)))
        put_mat(f.V, q, A_bar)
        put_vec(f.V, q + 9, t_bar)
        w_past = axial_part(product(Wp, flipped(Ap)))
        w = minus(scaled(w, real(1.5)), scaled(w_past, half))
        ahead = minus(scaled(v, real(1.5)), scaled(vp, half))
    put_mat(f.Q_past, q, A)
    put_vec(f.Q_past, q + 9, t)
    put_mat(f.V_past, q, W)
    put_vec(f.V_past, q + 9, v)
    put_mat(f.Q, q, product(rotations(scaled(w, s.h)), R))
    put_vec(f.Q, q + 9, plus(t, scaled(ahead, s.h)))


@wp.struct
class Gradient:
    """Of the incremental potential: the columns of A in the body's frame, translation in the world's."""

    A: Mat
    t: Vec


@wp.func
def gradient(
    s: Scheme, forest: wp.array(dtype=Forest), batch: int, own: Inertia, R: Mat, first: bool, strained: bool
) -> Gradient:
    f = forest[0]
    q = batch * 12
    A = mat_at(f.Q, q)
    r = Gradient()
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
