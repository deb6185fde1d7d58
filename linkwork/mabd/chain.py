"""Chains of ball joints whose joint points lie on the x axis of each link, cut into eight segments that lanes do in step.

Every link has at most a left and a right joint, at X = (left, 0, 0) and (right, 0, 0). With u = X~ - (H^-1 g) X~ the joint
points after a step without joint forces, the multipliers solve a block tridiagonal system of 3x3 blocks (paper 000, Eqs. 37
to 41), and each body moves by -H^-1 (g + lambda_left (x) X_left - lambda_right (x) X_right). Because both points lie on one
principal axis, every block is tau I + x_a x_b M with one symmetric M = R diag(T00, P10, P20) R^T per link.

Lane k holds the links of the k-th segment, one a batch. Block Thomas from its left to its right end would know the joint
before its first link only when the segment to the left is done; so that joint stays an unknown, lambda_s, along the sweep:

    lambda_j = z - W lambda_(j+1) - Y lambda_s

and the few joints between segments are solved for in the end (seams.py). Segments differ by one link at most; the shorter
ones begin with an empty slot.
"""

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Bodies, Scheme, step_beta
from linkwork.mabd.lane_bodies import (
    BODY_COLUMNS,
    COMPLIANCE,
    LaneBodies,
    Linear,
    batch_potential,
    constants_at,
    gather_loads,
    linearise_batch,
    linearise_published,
    move_batch,
    predict_batch,
    stretch_at,
)
from linkwork.mabd.lane_symmetric import (
    Sym,
    axis_compliances,
    full,
    put_sym,
    sym_along,
    sym_inverses,
    sym_minus_product,
    sym_plus,
    sym_where,
)
from linkwork.mabd.lanes import (
    LANE_OPTIONS,
    Mat,
    Vec,
    apply,
    apply_flipped,
    diagonal,
    flipped,
    lane,
    largest,
    mat_at,
    mat_lane,
    mat_minus,
    mat_plus,
    minus,
    plus,
    product,
    put_mat,
    put_vec,
    stretched,
    times,
    vec_at,
    vector,
)
from linkwork.mabd.seams import (
    COUPLING,
    LEFT_COMPLIANCE,
    LEFT_POINT,
    RIGHT_COMPLIANCE,
    RIGHT_POINT,
    SEGMENT_ENTRIES,
    Seams,
    join_segments,
)

TRUST = wp.constant(wp.float64(0.1))  # updates below this that contract need no line search

# columns of the table of constants behind those of the bodies: joint points on the link's x axis, m
LEFT = wp.constant(BODY_COLUMNS)
RIGHT = wp.constant(BODY_COLUMNS + 1)
LINK_COLUMNS = BODY_COLUMNS + 2
# entries of a joint inside a segment
POINT_SOLVED = wp.constant(0)
NEXT_SOLVED = wp.constant(3)
SEAM_SOLVED = wp.constant(12)
SOLVED_ENTRIES = wp.constant(21)


@wp.struct
class Chains:
    """Arrays over chains or over batches of links."""

    first_batch: wp.array(dtype=wp.int32)  # chains + 1
    late: wp.array(dtype=lane)  # per chain: 1 where a segment begins with an empty slot
    solved: wp.array(dtype=lane)  # SOLVED_ENTRIES a batch: z, W and Y of the links' left joints
    multiplier: wp.array(dtype=lane)  # 3 a batch, of the links' left joints, N: minus the force of the base on the follower
    segment: wp.array(dtype=lane)  # the memory of the same arrays of Seams
    seam_multiplier: wp.array(dtype=lane)
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)  # taken, per chain
    failed: wp.array(dtype=wp.int32)  # one entry: 1 + the chain that diverged


@wp.struct
class Link:
    """Joint points without joint forces, and the compliances there."""

    left: Vec
    right: Vec
    left_compliance: Sym
    right_compliance: Sym
    coupling: Mat


@wp.struct
class Front:
    """A segment up to some link, seen from its left joint and from that link's right point; entries as in seams.py."""

    A: Sym
    a: Vec
    C: Mat
    S: Sym
    u: Vec


@wp.func
def link_of(bodies: wp.array(dtype=LaneBodies), batch: int, c: int, x: Linear) -> Link:
    b = bodies[0]
    T = stretch_at(bodies, c)
    tau = b.constants[c + COMPLIANCE]
    left = b.constants[c + LEFT]
    right = b.constants[c + RIGHT]
    # only the x column of H^-1 g moves the joint points
    y = vector(
        times(T.xx, x.G.xx) + times(T.xy, x.G.yy) + times(T.xz, x.G.zz),
        times(x.P.yx, x.G.yx) + times(x.P.zz, x.G.xy),
        times(x.P.zx, x.G.zx) + times(x.P.yy, x.G.xz),
    )
    q = batch * 12
    axis = minus(vector(b.Q[q], b.Q[q + 3], b.Q[q + 6]), apply(x.R, y))
    center = minus(vec_at(b.Q, q + 9), stretched(x.g, tau))
    M = axis_compliances(x.R, T.xx, x.P.yx, x.P.zx)
    link = Link()
    link.left = plus(center, stretched(axis, left))
    link.right = plus(center, stretched(axis, right))
    link.left_compliance = sym_along(tau, times(left, left), M)
    link.right_compliance = sym_along(tau, times(right, right), M)
    link.coupling = full(sym_along(-tau, -times(left, right), M))
    return link


@wp.func
def front_of(link: Link) -> Front:
    f = Front()
    f.A = link.left_compliance
    f.a = link.left
    f.C = link.coupling
    f.S = link.right_compliance
    f.u = link.right
    return f


@wp.func
def advance_front(solved: wp.array(dtype=lane), at: int, f: Front, link: Link) -> Front:
    """Eliminate the joint between a front and the next link."""
    D = full(sym_inverses(sym_plus(f.S, link.left_compliance)))
    z = apply(D, minus(link.left, f.u))
    W = product(D, link.coupling)
    Y = product(D, flipped(f.C))
    put_vec(solved, at + POINT_SOLVED, z)
    put_mat(solved, at + NEXT_SOLVED, W)
    put_mat(solved, at + SEAM_SOLVED, Y)
    n = Front()
    n.A = sym_minus_product(f.A, f.C, Y)
    n.a = minus(f.a, apply(f.C, z))
    n.C = mat_minus(Mat(), product(f.C, W))
    n.S = sym_minus_product(link.right_compliance, link.coupling, W)
    n.u = plus(link.right, apply(link.coupling, z))
    return n


@wp.func
def vec_where(a: Vec, b: Vec, take_b: lane) -> Vec:
    return plus(stretched(a, lane(real(1.0)) - take_b), stretched(b, take_b))


@wp.func
def mat_where(a: Mat, b: Mat, take_b: lane) -> Mat:
    return mat_plus(mat_lane(a, lane(real(1.0)) - take_b), mat_lane(b, take_b))


@wp.func
def begin_late(solved: wp.array(dtype=lane), at: int, f: Front, link: Link, late: lane) -> Front:
    """Let the segments behind an empty slot begin with this link: its left joint is the segment's."""
    minus_one = lane(real(-1.0))
    put_vec(solved, at + POINT_SOLVED, vec_where(vec_at(solved, at + POINT_SOLVED), Vec(), late))
    put_mat(solved, at + NEXT_SOLVED, mat_where(mat_at(solved, at + NEXT_SOLVED), Mat(), late))
    put_mat(solved, at + SEAM_SOLVED, mat_where(mat_at(solved, at + SEAM_SOLVED), diagonal(minus_one), late))
    n = Front()
    n.A = sym_where(f.A, link.left_compliance, late)
    n.a = vec_where(f.a, link.left, late)
    n.C = mat_where(f.C, link.coupling, late)
    n.S = sym_where(f.S, link.right_compliance, late)
    n.u = vec_where(f.u, link.right, late)
    return n


@wp.func
def solve_chain(
    chains: wp.array(dtype=Chains), bodies: wp.array(dtype=LaneBodies), seams: Seams, s: Scheme, chain: int, first: bool,
    again: bool, loaded: bool,
) -> wp.vec2d:  # fmt: skip
    """One Newton step for a chain; returns the largest change of any entry of A and the slope of the potential."""
    c = chains[0]
    start = c.first_batch[chain]
    stop = c.first_batch[chain + 1]
    late = c.late[chain]
    some_late = largest(late) > real(0.0)
    f = Front()
    for batch in range(start, stop):
        x = Linear()
        if s.published == 1:
            x = linearise_published(bodies, s, batch, loaded)
        else:
            if not again:
                predict_batch(bodies, s, batch, first)
            x = linearise_batch(bodies, s, batch, first, again, loaded)
        link = link_of(bodies, batch, constants_at(bodies, batch, first), x)
        if batch == start:
            f = front_of(link)
        else:
            at = batch * SOLVED_ENTRIES
            f = advance_front(c.solved, at, f, link)
            if some_late and batch == start + 1:
                f = begin_late(c.solved, at, f, link, late)
    at = chain * SEGMENT_ENTRIES
    put_sym(c.segment, at + LEFT_COMPLIANCE, f.A)
    put_vec(c.segment, at + LEFT_POINT, f.a)
    put_mat(c.segment, at + COUPLING, f.C)
    put_sym(c.segment, at + RIGHT_COMPLIANCE, f.S)
    put_vec(c.segment, at + RIGHT_POINT, f.u)
    join_segments(seams, chain)
    seam = vec_at(c.seam_multiplier, chain * 6)
    right = vec_at(c.seam_multiplier, chain * 6 + 3)
    change = real(0.0)
    slope = real(0.0)
    for back in range(stop - start):
        batch = stop - 1 - back
        left = seam
        if batch > start:
            at = batch * SOLVED_ENTRIES
            held = plus(
                apply(mat_at(c.solved, at + NEXT_SOLVED), right), apply(mat_at(c.solved, at + SEAM_SOLVED), seam)
            )
            left = minus(vec_at(c.solved, at + POINT_SOLVED), held)
        put_vec(c.multiplier, batch * 3, left)
        b = bodies[0]
        row = constants_at(bodies, batch, first)
        arms = minus(stretched(left, b.constants[row + LEFT]), stretched(right, b.constants[row + RIGHT]))
        pull = apply_flipped(mat_at(b.R, batch * 9), arms)
        x_column = Mat()
        x_column.xx = pull.x
        x_column.yx = pull.y
        x_column.zx = pull.z
        result = move_batch(bodies, s, batch, first, again, x_column, minus(left, right))
        if change == change and not (result[0] <= change):  # keeps a NaN
            change = result[0]
        slope += result[1]
        right = left
    return wp.vec2d(change, slope)


@wp.func
def potential(
    bodies: wp.array(dtype=LaneBodies), s: Scheme, start: int, stop: int, first: bool, loaded: bool,
    poses: wp.array(dtype=lane),
) -> real:  # fmt: skip
    energy = real(0.0)
    for batch in range(start, stop):
        energy += batch_potential(bodies, s, batch, first, loaded, poses)
    return energy


@wp.func
def restart(bodies: wp.array(dtype=LaneBodies), s: Scheme, start: int, stop: int, first: bool, loaded: bool):
    """Go on from the pose at the start of the step if its potential is below the present one's."""
    b = bodies[0]
    here = potential(bodies, s, start, stop, first, loaded, b.Q)
    there = potential(bodies, s, start, stop, first, loaded, b.Q_past)
    rate = real(1.0) / step_beta(s, first)
    if there < here:
        for i in range(start * 12, stop * 12):
            b.V[i] = b.V[i] + (b.Q_past[i] - b.Q[i]) * rate
            b.Q[i] = b.Q_past[i]


@wp.func
def search(
    bodies: wp.array(dtype=LaneBodies), s: Scheme, start: int, stop: int, first: bool, loaded: bool, slope: real
) -> real:
    """Shorten the step from Q_base until the potential falls enough; returns the step length."""
    b = bodies[0]
    energy = potential(bodies, s, start, stop, first, loaded, b.Q_base)
    tried = potential(bodies, s, start, stop, first, loaded, b.Q)
    rate = real(1.0) / step_beta(s, first)
    step = real(1.0)
    halvings = int(0)
    while not (tried <= energy + real(1.0e-4) * step * slope) and halvings < 10:
        step *= real(0.5)
        halvings += 1
        for i in range(start * 12, stop * 12):
            Q = (b.Q[i] + b.Q_base[i]) * real(0.5)
            b.V[i] = b.V[i] + (Q - b.Q[i]) * rate
            b.Q[i] = Q
        tried = potential(bodies, s, start, stop, first, loaded, b.Q)
    return step


@wp.kernel(module="unique", module_options=LANE_OPTIONS, enable_backward=False)
def step_chains(
    chains: wp.array(dtype=Chains), bodies: wp.array(dtype=LaneBodies), seams: Seams, s: Scheme, rows: Bodies
):
    """Newton's method for each chain, with line search on the incremental potential where updates do not contract."""
    c = chains[0]
    chain = wp.tid()
    if c.failed[0] == 0:
        first = bool(c.steps[chain] == 0)
        start = c.first_batch[chain]
        stop = c.first_batch[chain + 1]
        loaded = bool(rows.loaded == 1)
        if loaded:
            for batch in range(start, stop):
                gather_loads(bodies, rows.force, rows.torque, batch)
        used = int(0)
        change = real(0.0)
        searching = bool(False)
        done = bool(False)
        while not done:
            before = change
            result = solve_chain(chains, bodies, seams, s, chain, first, used > 0, loaded)
            change = result[0]
            used += 1
            finite = bool(change < real(1.0e3))
            if s.published == 0 and finite:
                if used == 1:
                    if change > TRUST and s.iterations > 1:
                        # far off: go on from the better of this pose and the old one
                        searching = bool(True)
                        restart(bodies, s, start, stop, first, loaded)
                else:
                    if change > TRUST or change > real(0.3) * before:
                        searching = bool(True)
                    if searching and change > s.update_tolerance:
                        change *= search(bodies, s, start, stop, first, loaded, result[1])
            done = bool(
                s.published == 1 or used >= s.iterations or not finite or change <= s.update_tolerance
            )
        c.iterations[chain] = used
        c.steps[chain] += 1
        if not (change < real(1.0e3)):
            c.failed[0] = 1 + chain
