"""Reading a state: joint coordinates, violations and energies of all joints and bodies."""

import warp as wp

from linkwork.mabd.affine import (
    BodyType,
    axial,
    elastic_energy,
    gram_excess,
    linear_part,
    mat33,
    mat34,
    point_at,
    polar_rotation,
    real,
    scale_columns,
    translation_part,
    vec3,
)
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.joints import DISTANCE, measure


@wp.struct
class Observed:
    """Every joint of the model, in the user's order; bodies as solver rows."""

    kind: wp.array(dtype=wp.int32)
    base: wp.array(dtype=wp.int32)
    follower: wp.array(dtype=wp.int32)
    point_base: wp.array(dtype=vec3)
    point_follower: wp.array(dtype=vec3)
    frame_base: wp.array(dtype=mat33)
    frame_follower: wp.array(dtype=mat33)
    length: wp.array(dtype=wp.float64)
    locked: wp.array(dtype=wp.int32)  # bit per slot


@wp.func
def locked_violation(kind: int, locked: int, length: real, B: mat33, F: mat33, d: vec3) -> real:
    """Largest violation of the locked slots of a joint with frames B, F and points d apart."""
    worst = real(0.0)
    for slot in range(6):
        if (locked >> slot) & 1 == 1:
            c = measure(kind, slot, B, F, d).value
            if kind == DISTANCE:
                c -= length
            if not (wp.abs(c) <= worst):
                worst = wp.abs(c)
    return worst


@wp.kernel(enable_backward=False)
def observe_joints(
    Q: wp.array(dtype=mat34),
    V: wp.array(dtype=mat34),
    o: Observed,
    coordinate: wp.array2d(dtype=wp.float64),
    rate: wp.array2d(dtype=wp.float64),
    violation: wp.array(dtype=wp.float64),
):
    """Coordinates of all free slots, wrapped to (-pi, pi], their rates, and the largest violation of the locked slots."""
    j = wp.tid()
    QB = Q[o.base[j]]
    QF = Q[o.follower[j]]
    VB = V[o.base[j]]
    VF = V[o.follower[j]]
    RB = polar_rotation(linear_part(QB))
    RF = polar_rotation(linear_part(QF))
    B = RB * o.frame_base[j]
    F = RF * o.frame_follower[j]
    spin_base = axial(linear_part(VB) * wp.transpose(RB))
    spin_follower = axial(linear_part(VF) * wp.transpose(RF))
    slip = point_at(VF, o.point_follower[j]) - point_at(VB, o.point_base[j])
    d = point_at(QF, o.point_follower[j]) - point_at(QB, o.point_base[j])
    for slot in range(6):
        if (o.locked[j] >> slot) & 1 == 0:
            m = measure(o.kind[j], slot, B, F, d)
            coordinate[j, slot] = m.value
            rate[j, slot] = wp.dot(m.n, slip) + wp.dot(m.follower, spin_follower) + wp.dot(m.base, spin_base)
    violation[j] = locked_violation(o.kind[j], o.locked[j], o.length[j], B, F, d)


@wp.func
def strain_of(A: mat33) -> mat33:
    """R^T A - I, of a small strain by its series in E = A^T A - I: sqrt(I + E) - I = E / 2 - E^2 / 8 + E^3 / 16 - ..."""
    E = gram_excess(A)
    if wp.ddot(E, E) < real(1.0e-8):
        return E * real(0.5) - E * E * real(0.125)  # leaves |E|^3 / 16 < 1e-13
    return wp.transpose(polar_rotation(A)) * A - wp.identity(n=3, dtype=real)


@wp.func
def body_energies(body: BodyType, Q: mat34, V: mat34, gravity: vec3) -> vec3:
    """Kinetic, potential and elastic energy of a body, J."""
    W = linear_part(V)
    v = translation_part(V)
    kinetic = real(0.5) * (wp.ddot(W, scale_columns(W, body.second_moments)) + body.mass * wp.dot(v, v))
    potential = -body.mass * wp.dot(gravity, translation_part(Q))
    return vec3(kinetic, potential, elastic_energy(body.mu, body.lam, strain_of(linear_part(Q))))


@wp.kernel(enable_backward=False)
def observe_bodies(b: Bodies, gravity: vec3, moving: int, out: wp.array(dtype=wp.float64)):
    """Kinetic, potential and elastic energy of all moving bodies, J."""
    energy = vec3()
    for i in range(moving):
        energy += body_energies(b.types[b.kind[i]], b.Q[i], b.V[i], gravity)
    for k in range(3):
        out[k] = energy[k]
