"""Reading a state: joint coordinates, violations and energies of all joints and bodies."""

import warp as wp

from linkwork.mabd.affine import (
    axial,
    elastic_energy,
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
    worst = real(0.0)
    for slot in range(6):
        m = measure(o.kind[j], slot, B, F, d)
        if (o.locked[j] >> slot) & 1 == 1:
            c = m.value
            if o.kind[j] == DISTANCE:
                c -= o.length[j]
            if not (wp.abs(c) <= worst):
                worst = wp.abs(c)
            coordinate[j, slot] = real(0.0)
        else:
            coordinate[j, slot] = m.value
            rate[j, slot] = wp.dot(m.n, slip) + wp.dot(m.follower, spin_follower) + wp.dot(m.base, spin_base)
    violation[j] = worst


@wp.kernel(enable_backward=False)
def observe_bodies(b: Bodies, gravity: vec3, moving: int, out: wp.array(dtype=wp.float64)):
    """Kinetic, potential and elastic energy of all moving bodies, J."""
    kinetic = real(0.0)
    potential = real(0.0)
    elastic = real(0.0)
    for i in range(moving):
        body = b.types[b.kind[i]]
        Q = b.Q[i]
        V = b.V[i]
        W = linear_part(V)
        v = translation_part(V)
        A = linear_part(Q)
        kinetic += real(0.5) * (wp.ddot(W, scale_columns(W, body.second_moments)) + body.mass * wp.dot(v, v))
        potential -= body.mass * wp.dot(gravity, translation_part(Q))
        elastic += elastic_energy(body.mu, body.lam, wp.transpose(polar_rotation(A)) * A)
    out[0] = kinetic
    out[1] = potential
    out[2] = elastic
