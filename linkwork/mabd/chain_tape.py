"""A frame of the chains, straight from their lanes."""

import warp as wp

from linkwork.mabd.affine import real, vec3
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.chain import CHAIN_OPTIONS, Chains
from linkwork.mabd.lane_bodies import LaneBodies, constants_of, fetch_batch
from linkwork.mabd.lanes import (
    LANES,
    Mat,
    Vec,
    columns_scaled,
    elastic_energies,
    excess,
    flipped,
    inner,
    lane,
    largest,
    mat_minus,
    mat_scaled,
    minus,
    plus,
    polar_rotations,
    product,
    stretched,
    times,
    total,
    twofold,
    unit,
    vector,
)
from linkwork.mabd.reel import Reel
from linkwork.mabd.seams import Seams


@wp.struct
class Slots:
    """Where the links in the lanes belong in a frame."""

    body: wp.array(dtype=wp.int32)  # of the model, -1 where a slot is empty
    turn: wp.array(dtype=wp.int32)  # how far the columns are rotated from the model's
    Q: wp.array(dtype=wp.float64)  # the memory of the lanes
    V: wp.array(dtype=wp.float64)


@wp.func
def strains(A: Mat) -> Mat:
    """strain_of in observe.py, in every lane."""
    E = excess(A)
    if largest(twofold(E, E)) < real(1.0e-8):
        return mat_minus(mat_scaled(E, real(0.5)), mat_scaled(product(E, E), real(0.125)))
    return mat_minus(product(flipped(polar_rotations(A)), A), unit())


# Of one lane, twelve lanes apart, into rows of four: in C, as the compiler would not unroll loops that are not its own.
TO_ROWS = """
const double *from = &lanes.data[at];
const int x = turn, y = turn == 2 ? 0 : turn + 1, z = turn == 0 ? 2 : turn - 1;
#pragma clang loop unroll(full)
for (int r = 0; r < 3; ++r) {
    frame.data[to + 4 * r + x] = from[8 * (3 * r)];
    frame.data[to + 4 * r + y] = from[8 * (3 * r + 1)];
    frame.data[to + 4 * r + z] = from[8 * (3 * r + 2)];
    frame.data[to + 4 * r + 3] = from[8 * (9 + r)];
}
"""


@wp.func_native(snippet=TO_ROWS)
def put_singles(
    lanes: wp.array(dtype=wp.float64), at: int, turn: int, frame: wp.array(dtype=wp.float32), to: int
): ...  # fmt: skip


@wp.func_native(snippet=TO_ROWS)
def put_numbers(
    lanes: wp.array(dtype=wp.float64), at: int, turn: int, frame: wp.array(dtype=wp.float64), to: int
): ...  # fmt: skip


@wp.func
def put_batch(slots: Slots, reel: Reel, batch: int):
    """Poses and rates of eight links, in the model's axes."""
    first = reel.taken[0] * reel.pose_size + reel.poses
    for k in range(LANES):
        body = slots.body[batch * LANES + k]
        if body >= 0:
            turn = slots.turn[batch * LANES + k]
            at = batch * 12 * LANES + k
            to = first + 12 * body
            if reel.precise == 1:
                put_numbers(slots.Q, at, turn, reel.numbers, to)
                if reel.rates > 0:
                    put_numbers(slots.V, at, turn, reel.numbers, to + reel.rates)
            else:
                put_singles(slots.Q, at, turn, reel.singles, to)
                if reel.rates > 0:
                    put_singles(slots.V, at, turn, reel.singles, to + reel.rates)


@wp.func
def apart(a: Vec, b: Vec) -> lane:
    """Largest entry of the distance, the residual of a ball."""
    d = minus(a, b)
    return wp.max(wp.max(wp.abs(d.x), wp.abs(d.y)), wp.abs(d.z))


@wp.func
def largest_of(d: vec3) -> real:
    return wp.max(wp.max(wp.abs(d[0]), wp.abs(d[1])), wp.abs(d[2]))


@wp.func
def point_in(v: Vec, k: int) -> vec3:
    return vec3(v.x[k], v.y[k], v.z[k])


@wp.kernel(module="unique", module_options=CHAIN_OPTIONS, enable_backward=False)
def take_chains(
    c: Chains, b: LaneBodies, m: Seams, s: Scheme, slots: Slots, reel: Reel, result: wp.array(dtype=wp.float64)
):  # fmt: skip
    """Poses and rates into the frame; kinetic, potential and elastic energy and the residual of each chain, (chains, 4)."""
    chain = wp.tid()
    start = c.first_batch[chain]
    stop = c.first_batch[chain + 1]
    late = c.late[chain]
    beta = step_beta(s, False)
    kinetic = lane()
    potential = lane()
    elastic = lane()
    worst = lane()
    begin = Vec()
    end = Vec()
    for batch in range(start, stop):
        fetch_batch(b, wp.min(batch + 1, stop - 1), False)
        row = constants_of(b, batch, False)
        Q = b.Q[batch]
        V = b.V[batch]
        # J and mass of the constants are over beta^2
        kinetic += (twofold(V.A, columns_scaled(V.A, row.J)) + times(row.mass, inner(V.t, V.t))) * (
            real(0.5) * beta * beta
        )
        potential -= times(row.weighed, Q.t.x * s.gravity[0] + Q.t.y * s.gravity[1] + Q.t.z * s.gravity[2])
        elastic += elastic_energies(row.mu, row.lam, strains(Q.A))
        axis = vector(Q.A.xx, Q.A.yx, Q.A.zx)
        left = plus(Q.t, stretched(axis, row.left))
        if batch == start:
            begin = left
        else:
            gap = apart(left, end)
            if batch == start + 1:
                for k in range(LANES):
                    if late[k] > real(0.0):
                        begin.x[k] = left.x[k]
                        begin.y[k] = left.y[k]
                        begin.z[k] = left.z[k]
                        gap[k] = real(0.0)
            worst = wp.max(worst, gap)
        end = plus(Q.t, stretched(axis, row.right))
        put_batch(slots, reel, batch)
    residual = largest(worst)
    last = m.segments[chain] - 1
    for k in range(last):
        residual = wp.max(residual, largest_of(point_in(begin, k + 1) - point_in(end, k)))
    if m.left_end[chain] == 1:
        residual = wp.max(residual, largest_of(point_in(begin, 0) - m.left_anchor[chain]))
    if m.right_end[chain] == 1:
        residual = wp.max(residual, largest_of(point_in(end, last) - m.right_anchor[chain]))
    result[4 * chain] = total(kinetic)
    result[4 * chain + 1] = total(potential)
    result[4 * chain + 2] = total(elastic)
    result[4 * chain + 3] = residual
