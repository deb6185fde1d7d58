"""Moving bodies on the device, and what every path does with one of them: predict, gradient, potential."""

import warp as wp

from linkwork.mabd.affine import (
    FOUR_THIRDS,
    THIRD,
    TWO_THIRDS,
    BodyType,
    axial,
    compose,
    cross_matrix,
    geometric_stiffness,
    linear_part,
    mat33,
    mat34,
    polar_rotation,
    real,
    rotation_exp,
    scale_columns,
    stress,
    translation_part,
    vec3,
)

TRUST = wp.constant(wp.float64(0.1))  # rad and strain: updates below this that contract need no line search


@wp.struct
class Bodies:
    """Moving bodies in solver order; arrays over bodies unless said otherwise."""

    kind: wp.array(dtype=wp.int32)  # row of types
    types: wp.array(dtype=BodyType)
    Q: wp.array(dtype=mat34)  # iterate
    V: wp.array(dtype=mat34)  # rate
    Q_past: wp.array(dtype=mat34)
    V_past: wp.array(dtype=mat34)
    Q_free: wp.array(dtype=mat34)  # q~, where inertia alone would take the body
    R: wp.array(dtype=mat33)
    P: wp.array(dtype=mat33)  # pair inverses
    k: wp.array(dtype=vec3)  # within a step: geometric stiffness, J; between steps: the last turn, rad
    g: wp.array(dtype=mat34)  # gradient of the incremental potential
    loaded: wp.int32  # 1 if the two arrays below hold forces
    force: wp.array(dtype=mat34)  # generalised force fixed in the world
    torque: wp.array(dtype=vec3)  # world, N m
    stiffened: wp.int32  # 1 if the two arrays below say which bodies contacts hold
    slot: wp.array(dtype=wp.int32)  # place of a body's Hessian in the next, or -1
    hessian: wp.array(dtype=wp.float64)  # see stiffened.py


@wp.struct
class Scheme:
    h: real  # s
    start_types: wp.int32  # a BDF2 run starts with one Euler step, whose types lie this many rows further on
    published: wp.int32  # 1: one iteration from q^n with the constant Hessian of paper 000
    euler: wp.int32  # 1: implicit Euler, 0: BDF2
    gravity: vec3
    update_tolerance: real
    iterations: wp.int32  # at most


@wp.func
def step_beta(s: Scheme, first: bool) -> real:
    if s.euler == 1 or first:
        return s.h
    return s.h * TWO_THIRDS


@wp.func
def finish(b: Bodies, s: Scheme, i: int, first: bool):
    """The new rate from the new pose; within a step V held the weighted past."""
    b.V[i] = (b.Q[i] - b.V[i]) * (real(1.0) / step_beta(s, first))
    if first:
        b.kind[i] = b.kind[i] - s.start_types


@wp.func
def without_turn(S: mat33, turn: vec3) -> mat33:
    """Stretch less what the last update's turn made of it.

    It moved A along a straight line, to R (I + [turn]x): a strain of turn^2 / 2, which is no load and will not stay.
    """
    half = real(0.5)
    bulge = half * wp.dot(turn, turn)
    return S + wp.outer(turn, turn) * half - mat33(bulge, 0.0, 0.0, 0.0, bulge, 0.0, 0.0, 0.0, bulge)


@wp.func
def predict(b: Bodies, s: Scheme, i: int, first: bool):
    """Store the past, form q~ and advance the pose as a rigid body with the speed extrapolated to the middle of the step."""
    Q = b.Q[i]
    V = b.V[i]
    A = linear_part(Q)
    body = b.types[b.kind[i]]
    R = polar_rotation(A)
    if s.published == 1:
        b.Q_free[i] = Q + V * body.beta
        b.V[i] = Q
        b.Q_past[i] = Q
        b.V_past[i] = V
        b.R[i] = R
        return
    b.k[i] = geometric_stiffness(stress(body.mu, body.lam, without_turn(wp.transpose(R) * A, b.k[i])))
    w = axial(linear_part(V) * wp.transpose(R))
    v = translation_part(V)
    if s.euler == 1 or first:
        b.Q_free[i] = Q + V * body.beta
        b.V[i] = Q
    else:
        Qp = b.Q_past[i]
        Vp = b.V_past[i]
        Q_bar = Q * FOUR_THIRDS - Qp * THIRD
        b.Q_free[i] = Q_bar + (V * FOUR_THIRDS - Vp * THIRD) * body.beta
        b.V[i] = Q_bar
        w_past = axial(linear_part(Vp) * wp.transpose(linear_part(Qp)))
        w = w * real(1.5) - w_past * real(0.5)
        v = v * real(1.5) - translation_part(Vp) * real(0.5)
    b.Q_past[i] = Q
    b.V_past[i] = V
    R = rotation_exp(w * s.h) * R
    b.R[i] = R
    b.Q[i] = compose(R, translation_part(Q) + v * s.h)


@wp.func
def gradient(b: Bodies, s: Scheme, i: int, body: BodyType, R: mat33, strained: bool) -> mat34:
    """Gradient of the incremental potential, columns of A turned into the body's frame, translation in the world's."""
    D = b.Q[i] - b.Q_free[i]
    G = wp.transpose(R) * scale_columns(linear_part(D), body.second_moments * body.inverse_beta2)
    g = translation_part(D) * (body.mass * body.inverse_beta2) - s.gravity * body.mass
    if strained:
        G += stress(body.mu, body.lam, wp.transpose(R) * linear_part(b.Q[i]))
    if b.loaded == 1:
        F = b.force[i]
        G -= wp.transpose(R) * linear_part(F) + cross_matrix(wp.transpose(R) * b.torque[i]) * real(0.5)
        g -= translation_part(F)
    return compose(G, g)
