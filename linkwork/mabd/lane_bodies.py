"""Bodies kept in lanes, and what every path does with a batch of eight: predict, linearise, move, potential.

The formulas are those of bodies.py. A slot may stand empty: it holds the copy of a body that rests without weight or
loads, stays where it is and adds nothing to a sum.
"""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, mat34, real, vec3
from linkwork.mabd.bodies import TRUST, Scheme, step_beta
from linkwork.mabd.lane_symmetric import Sym, full
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    apply_flipped,
    axial_part,
    columns_scaled,
    crosser,
    elastic_energies,
    excess,
    flipped,
    geometric_stiffnesses,
    inner,
    lane,
    largest,
    mat_minus,
    mat_plus,
    mat_scaled,
    minus,
    pair_inverse_lanes,
    plus,
    polar_rotations,
    product,
    rotations,
    scaled,
    small_turns,
    solve_columns,
    stresses,
    stretched,
    times,
    total,
    twofold,
    unit,
    vector,
    without_turns,
)


@wp.struct
class Pose:
    """Of a batch of bodies: the affine matrices and where their centres are; or rates, or generalised forces."""

    A: Mat
    t: Vec


@wp.struct
class Load:
    F: Pose  # generalised force fixed in the world
    torque: Vec  # world, N m


@wp.struct
class Constants:
    """Of a batch of bodies."""

    J: Vec  # second moments over beta^2, J
    mass: lane  # over beta^2, N/m
    mu: lane  # J
    lam: lane  # J
    stretch: Sym  # inverse of the Hessian over (S00, S11, S22)
    compliance: lane  # beta^2 / mass
    weighed: lane  # kg, 0 in an empty slot
    left: lane  # of chains: joint points on the links' x axes, m
    right: lane


@wp.struct
class LaneBodies:
    """Arrays over batches, or over slots: the places of bodies in batches.

    What is only needed within a step is shared by chains, which run one after the other, so that it stays in the cache:
    it has the place of the batch in its chain.
    """

    row: wp.array(dtype=wp.int32)  # per slot: row of Bodies
    counted: wp.array(dtype=wp.int32)  # per slot: 0 where it is empty
    kind: wp.array(dtype=wp.int32)  # row of constants
    constants: wp.array(dtype=Constants)
    start_kinds: wp.int32  # a BDF2 run starts with one Euler step, whose constants lie this many rows further on
    Q: wp.array(dtype=Pose)
    V: wp.array(dtype=Pose)
    Q_past: wp.array(dtype=Pose)
    V_past: wp.array(dtype=Pose)
    k: wp.array(dtype=Vec)  # between steps: the last turn, rad; after predict: geometric stiffness, J
    Q_free: wp.array(dtype=Pose)  # this and the following by place
    Q_base: wp.array(dtype=Pose)  # where the line search started
    R: wp.array(dtype=Mat)
    P: wp.array(dtype=Mat)  # pair inverses
    g: wp.array(dtype=Pose)  # gradient: columns of A in the body's frame, translation in the world's
    load: wp.array(dtype=Load)
    load_entries: wp.array(dtype=lane)  # the same memory


@wp.struct
class Linear:
    """A batch linearised: rotations, pair inverses and the gradient."""

    R: Mat
    P: Mat
    g: Pose


@wp.func
def pose(A: Mat, t: Vec) -> Pose:
    p = Pose()
    p.A = A
    p.t = t
    return p


@wp.func
def pose_blend(a: Pose, x: real, b: Pose, y: real) -> Pose:
    """a x + b y."""
    return pose(
        mat_plus(mat_scaled(a.A, x), mat_scaled(b.A, y)), plus(scaled(a.t, x), scaled(b.t, y))
    )  # fmt: skip


@wp.func
def pose_minus(a: Pose, b: Pose) -> Pose:
    return pose(mat_minus(a.A, b.A), minus(a.t, b.t))


@wp.func
def pose_scaled(a: Pose, x: real) -> Pose:
    return pose(mat_scaled(a.A, x), scaled(a.t, x))


@wp.func
def constants_of(b: LaneBodies, batch: int, first: bool) -> Constants:
    kind = b.kind[batch]
    if first:
        kind += b.start_kinds
    return b.constants[kind]


@wp.func_native(snippet="for (int k = 0; k < 12; ++k) __builtin_prefetch((char *)&a.data[i] + 64 * k);")
def fetch_pose(a: wp.array(dtype=Pose), i: int):
    """Start to bring a batch into the cache that is needed soon."""
    ...


@wp.func
def fetch_batch(b: LaneBodies, batch: int, history: bool):
    fetch_pose(b.Q, batch)
    fetch_pose(b.V, batch)
    if history:
        fetch_pose(b.Q_past, batch)
        fetch_pose(b.V_past, batch)


@wp.func
def gather_loads(
    b: LaneBodies, force: wp.array(dtype=mat34), torque: wp.array(dtype=vec3), batch: int, place: int
):  # fmt: skip
    """From the rows of Bodies."""
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
        b.load_entries[place * 15 + e] = x


@wp.func
def predict_batch(b: LaneBodies, s: Scheme, batch: int, place: int, first: bool):
    """Store the past, form q~ and advance the pose as a rigid body with the speed extrapolated to the middle of the step."""
    Q = b.Q[batch]
    V = b.V[batch]
    beta = step_beta(s, first)
    half = real(0.5)
    c = constants_of(b, batch, first)
    R = polar_rotations(Q.A)
    strain = without_turns(mat_minus(product(flipped(R), Q.A), unit()), b.k[batch])
    b.k[batch] = geometric_stiffnesses(stresses(c.mu, c.lam, strain))
    w = axial_part(product(V.A, flipped(R)))
    ahead = V.t
    if s.euler == 1 or first:
        b.Q_free[place] = pose_blend(Q, real(1.0), V, beta)
        b.V[batch] = Q
    else:
        Qp = b.Q_past[batch]
        Vp = b.V_past[batch]
        bar = pose_blend(Q, FOUR_THIRDS, Qp, -THIRD)
        b.Q_free[place] = pose_blend(bar, real(1.0), pose_blend(V, FOUR_THIRDS, Vp, -THIRD), beta)
        b.V[batch] = bar
        w_past = axial_part(product(Vp.A, flipped(Qp.A)))
        w = minus(scaled(w, real(1.5)), scaled(w_past, half))
        ahead = minus(scaled(V.t, real(1.5)), scaled(Vp.t, half))
    b.Q_past[batch] = Q
    b.V_past[batch] = V
    R = product(rotations(scaled(w, s.h)), R)
    b.R[place] = R
    b.Q[batch] = pose(R, plus(Q.t, scaled(ahead, s.h)))


@wp.func
def weights(s: Scheme, c: Constants) -> Vec:
    return vector(c.weighed * s.gravity[0], c.weighed * s.gravity[1], c.weighed * s.gravity[2])


@wp.func
def turned_loads(b: LaneBodies, place: int, R: Mat) -> Pose:
    """Generalised forces, the columns of A in the body's frame."""
    load = b.load[place]
    torque = apply_flipped(R, load.torque)
    return pose(mat_plus(product(flipped(R), load.F.A), mat_scaled(crosser(torque), real(0.5))), load.F.t)


@wp.func
def linearise_batch(
    b: LaneBodies, s: Scheme, batch: int, place: int, c: Constants, strained: bool, loaded: bool
) -> Linear:
    """Linearise the incremental potential; an unstrained batch stands where predict_batch has put it."""
    Q = b.Q[batch]
    D = pose_minus(Q, b.Q_free[place])
    momentum = columns_scaled(D.A, c.J)
    x = Linear()
    if strained:
        x.R = polar_rotations(Q.A)
        b.R[place] = x.R
        strain = mat_minus(product(flipped(x.R), Q.A), unit())
        P = stresses(c.mu, c.lam, strain)
        load = stresses(c.mu, c.lam, without_turns(strain, small_turns(b.k[batch], TRUST)))
        x.P = pair_inverse_lanes(c.J, c.mu, geometric_stiffnesses(load))
        x.g.A = mat_plus(product(flipped(x.R), momentum), P)
    else:
        x.R = b.R[place]
        x.P = pair_inverse_lanes(c.J, c.mu, b.k[batch])
        x.g.A = product(flipped(x.R), momentum)
    x.g.t = minus(stretched(D.t, c.mass), weights(s, c))
    if loaded:
        x.g = pose_minus(x.g, turned_loads(b, place, x.R))
    b.P[place] = x.P
    b.g[place] = x.g
    return x


@wp.func
def linearise_published(b: LaneBodies, s: Scheme, batch: int, place: int, c: Constants, loaded: bool) -> Linear:
    """Linearise as the paper does: at q^n, where q - q~ = -h v, with the constant Hessian."""
    A = b.Q[batch].A
    V = b.V[batch]
    half = real(0.5)
    x = Linear()
    E = excess(A)
    x.R = mat_minus(A, mat_scaled(product(A, E), half))
    strain = mat_minus(mat_scaled(E, half), mat_scaled(product(E, E), real(0.125)))
    if largest(twofold(E, E)) > real(1.0e-6):
        x.R = polar_rotations(A)
        strain = mat_minus(product(flipped(x.R), A), unit())
    x.P = pair_inverse_lanes(c.J, c.mu, Vec())
    momentum = mat_scaled(columns_scaled(V.A, c.J), -s.h)
    x.g.A = mat_plus(product(flipped(x.R), momentum), stresses(c.mu, c.lam, strain))
    x.g.t = minus(scaled(stretched(V.t, c.mass), -s.h), weights(s, c))
    if loaded:
        x.g = pose_minus(x.g, turned_loads(b, place, x.R))
    b.R[place] = x.R
    b.P[place] = x.P
    b.g[place] = x.g
    return x


@wp.func
def largest_entry(a: Mat) -> lane:
    return wp.max(
        wp.max(wp.max(wp.abs(a.xx), wp.abs(a.yx)), wp.max(wp.abs(a.zx), wp.abs(a.xy))),
        wp.max(wp.max(wp.abs(a.yy), wp.max(wp.abs(a.zy), wp.abs(a.xz))), wp.max(wp.abs(a.yz), wp.abs(a.zz))),
    )


@wp.struct
class Progress:
    """Largest change of any entry of A, and the slope of the potential."""

    change: real
    slope: real


@wp.func
def move_batch(
    b: LaneBodies,
    s: Scheme,
    batch: int,
    place: int,
    c: Constants,
    R: Mat,
    first: bool,
    again: bool,
    pull: Mat,
    push: Vec,
) -> Progress:
    """Move by -H^-1 (g + joint forces), pull on A in the body's frame and push on t; `again` from a pose kept for the line
    search."""
    g = b.g[place]
    T = c.stretch
    Y = solve_columns(full(T), b.P[place], mat_plus(g.A, pull))
    y = stretched(plus(g.t, push), c.compliance)
    slope = total(twofold(g.A, Y) + inner(g.t, y))
    beta = step_beta(s, first)
    rate = real(1.0) / beta
    moved = pose(product(R, Y), y)
    before = b.Q[batch]
    after = pose_minus(before, moved)
    b.Q[batch] = after
    if s.published == 1:
        b.V[batch] = pose_scaled(moved, -rate)
    else:
        # within a step V held the weighted past, and from its first solution on the rate
        bar = b.V[batch]
        if again:
            b.Q_base[place] = before
            bar = pose_blend(before, real(1.0), bar, -beta)
        b.V[batch] = pose_scaled(pose_minus(after, bar), rate)
        b.k[batch] = axial_part(Y)
    p = Progress()
    # the largest passes over a NaN, the sum does not
    p.change = largest(largest_entry(Y)) + real(0.0) * slope
    p.slope = -slope
    return p


@wp.func
def batch_potential(b: LaneBodies, s: Scheme, batch: int, place: int, first: bool, loaded: bool, Q: Pose) -> real:
    """Incremental potential at poses Q, J, weight and loads measured from the poses at the start of the step."""
    c = constants_of(b, batch, first)
    D = pose_minus(Q, b.Q_free[place])
    energy = (twofold(D.A, columns_scaled(D.A, c.J)) + times(c.mass, inner(D.t, D.t))) * real(0.5)
    strain = mat_minus(product(flipped(polar_rotations(Q.A)), Q.A), unit())
    energy += elastic_energies(c.mu, c.lam, strain)
    moved = pose_minus(Q, b.Q_past[batch])
    energy -= inner(weights(s, c), moved.t)
    if loaded:
        load = b.load[place]
        energy -= twofold(load.F.A, moved.A) + inner(load.F.t, moved.t)
        energy -= twofold(product(crosser(load.torque), b.R[place]), moved.A) * real(0.5)
    return total(energy)


@wp.kernel(enable_backward=False)
def publish_bodies(
    row: wp.array(dtype=wp.int32), counted: wp.array(dtype=wp.int32),
    Q_flat: wp.array(dtype=wp.float64), V_flat: wp.array(dtype=wp.float64),
    Q: wp.array(dtype=mat34), V: wp.array(dtype=mat34),
):  # fmt: skip
    """Poses and rates of the lanes into the rows of Bodies."""
    slot = wp.tid()
    if counted[slot] == 1:
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
        Q[row[slot]] = q
        V[row[slot]] = v
