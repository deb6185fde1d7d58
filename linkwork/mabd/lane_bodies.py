"""Bodies kept in lanes, and what every path does with a batch of eight: predict, linearise, move, potential.

The formulas are those of bodies.py. A slot may stand empty: it holds the copy of a body that rests without weight or
loads, stays where it is and adds nothing to a sum.
"""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, mat34, real, vec3
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply_flipped,
    axial_part,
    columns_scaled,
    crosser,
    diagonal,
    dyad,
    elastic_energies,
    excess,
    flipped,
    geometric_stiffnesses,
    inner,
    lane,
    mat_at,
    mat_minus,
    mat_plus,
    mat_scaled,
    matrix,
    minus,
    pair_inverse_lanes,
    plus,
    polar_rotations,
    product,
    put_mat,
    put_vec,
    rotations,
    scaled,
    solve_columns,
    stresses,
    stretched,
    times,
    total,
    twofold,
    unit,
    vec_at,
    vector,
)
from linkwork.mabd.lanes import largest as largest_of

# columns of the table of constants, in units of a potential times beta^2 / beta^2
MOMENTS = wp.constant(0)  # over beta^2
MASS = wp.constant(3)  # over beta^2
MU = wp.constant(4)
LAM = wp.constant(5)
STRETCH = wp.constant(6)
COMPLIANCE = wp.constant(12)  # beta^2 / mass
WEIGHED = wp.constant(13)  # kg, 0 in an empty slot
BODY_COLUMNS = 14


@wp.struct
class LaneBodies:
    """Entries of Q, V and the like stand column by column of the batch: A row by row, then t."""

    row: wp.array(dtype=wp.int32)  # per slot: row of Bodies
    counted: wp.array(dtype=wp.int32)  # per slot: 0 where it is empty
    table: wp.array(dtype=wp.int32)  # per batch: row of constants
    constants: wp.array(dtype=lane)
    width: wp.int32  # columns of constants
    start_table: wp.int32  # a BDF2 run starts with one Euler step, whose constants lie this many rows further on
    Q: wp.array(dtype=lane)  # 12 a batch
    V: wp.array(dtype=lane)
    Q_past: wp.array(dtype=lane)
    V_past: wp.array(dtype=lane)
    Q_free: wp.array(dtype=lane)
    Q_base: wp.array(dtype=lane)  # where the line search started
    R: wp.array(dtype=lane)  # 9 a batch
    P: wp.array(dtype=lane)
    k: wp.array(dtype=lane)  # between steps: the last turn, rad; after predict: geometric stiffness, J
    g: wp.array(dtype=lane)  # 12 a batch: columns of A in the body's frame, translation in the world's
    load: wp.array(dtype=lane)  # 15 a batch: generalised force, torque


@wp.struct
class Linear:
    """A batch linearised: rotations, pair inverses and the gradient."""

    R: Mat
    P: Mat
    G: Mat
    g: Vec


@wp.func
def constants_at(bodies: wp.array(dtype=LaneBodies), batch: int, first: bool) -> int:
    b = bodies[0]
    row = b.table[batch]
    if first:
        row += b.start_table
    return row * b.width


@wp.func
def stretch_at(bodies: wp.array(dtype=LaneBodies), c: int) -> Mat:
    b = bodies[0]
    a = c + STRETCH
    return matrix(
        b.constants[a], b.constants[a + 3], b.constants[a + 4],
        b.constants[a + 3], b.constants[a + 1], b.constants[a + 5],
        b.constants[a + 4], b.constants[a + 5], b.constants[a + 2],
    )  # fmt: skip


@wp.func
def gather_loads(
    bodies: wp.array(dtype=LaneBodies), force: wp.array(dtype=mat34), torque: wp.array(dtype=vec3), batch: int
):
    b = bodies[0]
    for e in range(15):
        x = lane()
        for k in range(LANES):
            slot = batch * LANES + k
            if b.counted[slot] == 1:
                i = b.row[slot]
                if e < 9:
                    x[k] = force[i][e / 3, e - 3 * (e / 3)]
                elif e < 12:
                    x[k] = force[i][e - 9, 3]
                else:
                    x[k] = torque[i][e - 12]
        b.load[batch * 15 + e] = x


@wp.func
def predict_batch(bodies: wp.array(dtype=LaneBodies), s: Scheme, batch: int, first: bool):
    """Store the past, form q~ and advance the pose as a rigid body with the speed extrapolated to the middle of the step."""
    b = bodies[0]
    q = batch * 12
    A = mat_at(b.Q, q)
    t = vec_at(b.Q, q + 9)
    W = mat_at(b.V, q)
    v = vec_at(b.V, q + 9)
    beta = step_beta(s, first)
    half = real(0.5)
    c = constants_at(bodies, batch, first)
    R = polar_rotations(A)
    # the last update turned the body along a straight line, A = R (I + [turn]x): a strain of turn^2 / 2 that carries no load
    turn = vec_at(b.k, batch * 3)
    one = lane(real(1.0))
    bulge = one + inner(turn, turn) * half
    strain = mat_minus(mat_plus(product(flipped(R), A), mat_scaled(dyad(turn, turn), half)), diagonal(bulge))
    put_vec(b.k, batch * 3, geometric_stiffnesses(stresses(b.constants[c + MU], b.constants[c + LAM], strain)))
    w = axial_part(product(W, flipped(R)))
    ahead = v
    if s.euler == 1 or first:
        put_mat(b.Q_free, q, mat_plus(A, mat_scaled(W, beta)))
        put_vec(b.Q_free, q + 9, plus(t, scaled(v, beta)))
        put_mat(b.V, q, A)
        put_vec(b.V, q + 9, t)
    else:
        Ap = mat_at(b.Q_past, q)
        tp = vec_at(b.Q_past, q + 9)
        Wp = mat_at(b.V_past, q)
        vp = vec_at(b.V_past, q + 9)
        A_bar = mat_minus(mat_scaled(A, FOUR_THIRDS), mat_scaled(Ap, THIRD))
        t_bar = minus(scaled(t, FOUR_THIRDS), scaled(tp, THIRD))
        rate = mat_minus(mat_scaled(W, FOUR_THIRDS), mat_scaled(Wp, THIRD))
        put_mat(b.Q_free, q, mat_plus(A_bar, mat_scaled(rate, beta)))
        put_vec(b.Q_free, q + 9, plus(t_bar, scaled(minus(scaled(v, FOUR_THIRDS), scaled(vp, THIRD)), beta)))
        put_mat(b.V, q, A_bar)
        put_vec(b.V, q + 9, t_bar)
        w_past = axial_part(product(Wp, flipped(Ap)))
        w = minus(scaled(w, real(1.5)), scaled(w_past, half))
        ahead = minus(scaled(v, real(1.5)), scaled(vp, half))
    put_mat(b.Q_past, q, A)
    put_vec(b.Q_past, q + 9, t)
    put_mat(b.V_past, q, W)
    put_vec(b.V_past, q + 9, v)
    R = product(rotations(scaled(w, s.h)), R)
    put_mat(b.R, batch * 9, R)
    put_mat(b.Q, q, R)
    put_vec(b.Q, q + 9, plus(t, scaled(ahead, s.h)))


@wp.func
def less_loads(bodies: wp.array(dtype=LaneBodies), batch: int, x: Linear) -> Linear:
    b = bodies[0]
    force = mat_at(b.load, batch * 15)
    torque = apply_flipped(x.R, vec_at(b.load, batch * 15 + 12))
    y = x
    y.G = mat_minus(x.G, mat_plus(product(flipped(x.R), force), mat_scaled(crosser(torque), real(0.5))))
    y.g = minus(x.g, vec_at(b.load, batch * 15 + 9))
    return y


@wp.func
def keep_linear(bodies: wp.array(dtype=LaneBodies), batch: int, x: Linear):
    b = bodies[0]
    put_mat(b.P, batch * 9, x.P)
    put_mat(b.g, batch * 12, x.G)
    put_vec(b.g, batch * 12 + 9, x.g)


@wp.func
def linearise_batch(
    bodies: wp.array(dtype=LaneBodies), s: Scheme, batch: int, first: bool, strained: bool, loaded: bool
) -> Linear:
    """Linearise the incremental potential; an unstrained batch stands where predict_batch has put it."""
    b = bodies[0]
    q = batch * 12
    c = constants_at(bodies, batch, first)
    A = mat_at(b.Q, q)
    J = vec_at(b.constants, c + MOMENTS)
    mu = b.constants[c + MU]
    x = Linear()
    x.R = mat_at(b.R, batch * 9)
    k = vec_at(b.k, batch * 3)
    momentum = columns_scaled(mat_minus(A, mat_at(b.Q_free, q)), J)
    if strained:
        x.R = polar_rotations(A)
        put_mat(b.R, batch * 9, x.R)
        P = stresses(mu, b.constants[c + LAM], mat_minus(product(flipped(x.R), A), unit()))
        k = geometric_stiffnesses(P)
        x.G = mat_plus(product(flipped(x.R), momentum), P)
    else:
        x.G = product(flipped(x.R), momentum)
    x.P = pair_inverse_lanes(J, mu, k)
    weighed = b.constants[c + WEIGHED]
    x.g = minus(
        stretched(minus(vec_at(b.Q, q + 9), vec_at(b.Q_free, q + 9)), b.constants[c + MASS]),
        vector(weighed * s.gravity[0], weighed * s.gravity[1], weighed * s.gravity[2]),
    )
    if loaded:
        x = less_loads(bodies, batch, x)
    keep_linear(bodies, batch, x)
    return x


@wp.func
def linearise_published(bodies: wp.array(dtype=LaneBodies), s: Scheme, batch: int, loaded: bool) -> Linear:
    """Linearise as the paper does: at q^n, where q - q~ = -h v, with the constant Hessian."""
    b = bodies[0]
    q = batch * 12
    c = constants_at(bodies, batch, False)
    A = mat_at(b.Q, q)
    J = vec_at(b.constants, c + MOMENTS)
    mu = b.constants[c + MU]
    half = real(0.5)
    x = Linear()
    E = excess(A)
    x.R = mat_minus(A, mat_scaled(product(A, E), half))
    strain = mat_minus(mat_scaled(E, half), mat_scaled(product(E, E), real(0.125)))
    if largest_of(twofold(E, E)) > real(1.0e-6):
        x.R = polar_rotations(A)
        strain = mat_minus(product(flipped(x.R), A), unit())
    put_mat(b.R, batch * 9, x.R)
    x.P = pair_inverse_lanes(J, mu, Vec())
    momentum = mat_scaled(columns_scaled(mat_at(b.V, q), J), -s.h)
    x.G = mat_plus(product(flipped(x.R), momentum), stresses(mu, b.constants[c + LAM], strain))
    weighed = b.constants[c + WEIGHED]
    x.g = minus(
        scaled(stretched(vec_at(b.V, q + 9), b.constants[c + MASS]), -s.h),
        vector(weighed * s.gravity[0], weighed * s.gravity[1], weighed * s.gravity[2]),
    )
    if loaded:
        x = less_loads(bodies, batch, x)
    keep_linear(bodies, batch, x)
    return x


@wp.func
def largest_entry(a: Mat) -> lane:
    return wp.max(
        wp.max(wp.max(wp.abs(a.xx), wp.abs(a.yx)), wp.max(wp.abs(a.zx), wp.abs(a.xy))),
        wp.max(wp.max(wp.abs(a.yy), wp.max(wp.abs(a.zy), wp.abs(a.xz))), wp.max(wp.abs(a.yz), wp.abs(a.zz))),
    )


@wp.func
def move_batch(
    bodies: wp.array(dtype=LaneBodies), s: Scheme, batch: int, first: bool, again: bool, pull: Mat, push: Vec
) -> wp.vec2d:
    """Move by -H^-1 (g + joint forces), pull on A in the body's frame and push on t; `again` from a pose kept for the line
    search. Returns the largest change of any entry of A and the slope of the potential."""
    b = bodies[0]
    q = batch * 12
    c = constants_at(bodies, batch, first)
    R = mat_at(b.R, batch * 9)
    G = mat_at(b.g, q)
    g = vec_at(b.g, q + 9)
    Y = solve_columns(stretch_at(bodies, c), mat_at(b.P, batch * 9), mat_plus(G, pull))
    y = stretched(plus(g, push), b.constants[c + COMPLIANCE])
    slope = total(twofold(G, Y) + inner(g, y))
    A = mat_at(b.Q, q)
    t = vec_at(b.Q, q + 9)
    beta = step_beta(s, first)
    rate = real(1.0) / beta
    moved = product(R, Y)
    if s.published == 1:
        put_mat(b.V, q, mat_scaled(moved, -rate))
        put_vec(b.V, q + 9, scaled(y, -rate))
    else:
        # within a step V held the weighted past, and from its first solution on the rate
        A_bar = mat_at(b.V, q)
        t_bar = vec_at(b.V, q + 9)
        if again:
            put_mat(b.Q_base, q, A)
            put_vec(b.Q_base, q + 9, t)
            A_bar = mat_minus(A, mat_scaled(A_bar, beta))
            t_bar = minus(t, scaled(t_bar, beta))
        put_mat(b.V, q, mat_scaled(mat_minus(mat_minus(A, moved), A_bar), rate))
        put_vec(b.V, q + 9, scaled(minus(minus(t, y), t_bar), rate))
        put_vec(b.k, batch * 3, axial_part(Y))
    put_mat(b.Q, q, mat_minus(A, moved))
    put_vec(b.Q, q + 9, minus(t, y))
    # the largest passes over a NaN, the sum does not
    return wp.vec2d(largest_of(largest_entry(Y)) + real(0.0) * slope, -slope)


@wp.func
def batch_potential(
    bodies: wp.array(dtype=LaneBodies), s: Scheme, batch: int, first: bool, loaded: bool, poses: wp.array(dtype=lane)
) -> real:
    """Incremental potential at some poses, J, weight and loads measured from the poses at the start of the step."""
    b = bodies[0]
    q = batch * 12
    c = constants_at(bodies, batch, first)
    A = mat_at(poses, q)
    t = vec_at(poses, q + 9)
    DA = mat_minus(A, mat_at(b.Q_free, q))
    d = minus(t, vec_at(b.Q_free, q + 9))
    J = vec_at(b.constants, c + MOMENTS)
    energy = (twofold(DA, columns_scaled(DA, J)) + times(b.constants[c + MASS], inner(d, d))) * real(0.5)
    strain = mat_minus(product(flipped(polar_rotations(A)), A), unit())
    energy += elastic_energies(b.constants[c + MU], b.constants[c + LAM], strain)
    moved = minus(t, vec_at(b.Q_past, q + 9))
    drop = moved.x * s.gravity[0] + moved.y * s.gravity[1] + moved.z * s.gravity[2]
    energy -= times(b.constants[c + WEIGHED], drop)
    if loaded:
        turned = mat_minus(A, mat_at(b.Q_past, q))
        energy -= twofold(mat_at(b.load, batch * 15), turned) + inner(vec_at(b.load, batch * 15 + 9), moved)
        torque = crosser(vec_at(b.load, batch * 15 + 12))
        energy -= twofold(product(torque, mat_at(b.R, batch * 9)), turned) * real(0.5)
    return total(energy)


@wp.kernel(enable_backward=False)
def publish_bodies(
    b: LaneBodies, Q: wp.array(dtype=mat34), V: wp.array(dtype=mat34),
    Q_flat: wp.array(dtype=wp.float64), V_flat: wp.array(dtype=wp.float64),
):  # fmt: skip
    """Poses and rates of the lanes into the rows of Bodies."""
    slot = wp.tid()
    if b.counted[slot] == 1:
        batch = slot / LANES
        at = batch * 12 * LANES + slot - batch * LANES
        q = mat34()
        v = mat34()
        for r in range(3):
            for k in range(3):
                q[r, k] = Q_flat[at + (3 * r + k) * LANES]
                v[r, k] = V_flat[at + (3 * r + k) * LANES]
            q[r, 3] = Q_flat[at + (9 + r) * LANES]
            v[r, 3] = V_flat[at + (9 + r) * LANES]
        Q[b.row[slot]] = q
        V[b.row[slot]] = v
