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
from linkwork.mabd.bodies import TRUST, Bodies, Scheme, step_beta
from linkwork.mabd.lane_bodies import (
    Constants,
    LaneBodies,
    Linear,
    Pose,
    Progress,
    batch_potential,
    constants_of,
    fetch_batch,
    gather_loads,
    linearise_batch,
    linearise_published,
    move_batch,
    pose_blend,
    pose_minus,
    predict_batch,
)
from linkwork.mabd.lane_symmetric import (
    Sym,
    axis_compliances,
    full,
    sym_along,
    sym_inverses,
    sym_minus_product,
    sym_plus,
    sym_where,
)
from linkwork.mabd.lanes import (
    Mat,
    Vec,
    apply,
    apply_flipped,
    diagonal,
    flipped,
    lane,
    largest,
    mat_lane,
    mat_plus,
    mat_scaled,
    minus,
    plus,
    product,
    stretched,
    times,
    vector,
)
from linkwork.mabd.seams import Seams, join_segments

# those of lanes.py with everything inlined: a call would copy its arguments, up to a kilobyte each
CHAIN_OPTIONS = {
    "cpu_compiler_flags": "-march=native -ffp-contract=fast -mprefer-vector-width=512 "
    "-mllvm=-unroll-full-max-count=1 -mllvm=-inline-threshold=200000"
}


@wp.struct
class Front:
    """A segment up to some link, seen from its left joint and from that link's right point; entries as in seams.py."""

    A: Sym
    a: Vec
    C: Mat
    S: Sym
    u: Vec


@wp.struct
class Solved:
    """A batch of joints inside segments: lambda = z - W lambda_next - Y lambda_s."""

    z: Vec
    W: Mat
    Y: Mat


@wp.struct
class Chains:
    """Arrays over chains or over batches of links."""

    first_batch: wp.array(dtype=wp.int32)  # chains + 1
    late: wp.array(dtype=lane)  # per chain: 1 where a segment begins with an empty slot
    front: wp.array(dtype=Front)  # per chain: its segments
    solved: wp.array(dtype=Solved)  # the links' left joints, by place
    multiplier: wp.array(dtype=Vec)  # per batch, of the left joints, N: minus the force of the base on the follower
    ends: wp.array(dtype=Vec)  # two a chain: multipliers at the segments' left and right ends, N
    iterations: wp.array(dtype=wp.int32)
    steps: wp.array(dtype=wp.int32)  # taken, per chain
    fresh: wp.array(dtype=wp.int32)  # per chain: 1 without a history, the coming step is implicit Euler's
    searched: wp.array(dtype=wp.int32)  # per chain: 1 if the last step needed the line search
    failed: wp.array(dtype=wp.int32)  # one entry: 1 + the chain that diverged


@wp.struct
class Link:
    """Joint points without joint forces, and the compliances there."""

    left: Vec
    right: Vec
    left_compliance: Sym
    right_compliance: Sym
    coupling: Mat


@wp.func
def link_of(Q: Pose, c: Constants, x: Linear) -> Link:
    T = c.stretch
    G = x.g.A
    # only the x column of H^-1 g moves the joint points
    y = vector(
        times(T.xx, G.xx) + times(T.xy, G.yy) + times(T.xz, G.zz),
        times(x.P.yx, G.yx) + times(x.P.zz, G.xy),
        times(x.P.zx, G.zx) + times(x.P.yy, G.xz),
    )
    axis = minus(vector(Q.A.xx, Q.A.yx, Q.A.zx), apply(x.R, y))
    center = minus(Q.t, stretched(x.g.t, c.compliance))
    M = axis_compliances(x.R, T.xx, x.P.yx, x.P.zx)
    link = Link()
    link.left = plus(center, stretched(axis, c.left))
    link.right = plus(center, stretched(axis, c.right))
    link.left_compliance = sym_along(c.compliance, times(c.left, c.left), M)
    link.right_compliance = sym_along(c.compliance, times(c.right, c.right), M)
    link.coupling = full(sym_along(-c.compliance, -times(c.left, c.right), M))
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
def solve_joint(f: Front, link: Link) -> Solved:
    """The joint between a front and the next link."""
    D = full(sym_inverses(sym_plus(f.S, link.left_compliance)))
    j = Solved()
    j.z = apply(D, minus(link.left, f.u))
    j.W = product(D, link.coupling)
    j.Y = product(D, flipped(f.C))
    return j


@wp.func
def advance_front(f: Front, link: Link, j: Solved) -> Front:
    """Eliminate that joint."""
    n = Front()
    n.A = sym_minus_product(f.A, f.C, j.Y)
    n.a = minus(f.a, apply(f.C, j.z))
    n.C = product(mat_scaled(f.C, real(-1.0)), j.W)
    n.S = sym_minus_product(link.right_compliance, link.coupling, j.W)
    n.u = plus(link.right, apply(link.coupling, j.z))
    return n


@wp.func
def vec_where(a: Vec, b: Vec, take_b: lane) -> Vec:
    return plus(stretched(a, lane(real(1.0)) - take_b), stretched(b, take_b))


@wp.func
def mat_where(a: Mat, b: Mat, take_b: lane) -> Mat:
    return mat_plus(mat_lane(a, lane(real(1.0)) - take_b), mat_lane(b, take_b))


@wp.func
def begin_late(f: Front, link: Link, late: lane) -> Front:
    """Let the segments behind an empty slot begin with this link."""
    n = Front()
    n.A = sym_where(f.A, link.left_compliance, late)
    n.a = vec_where(f.a, link.left, late)
    n.C = mat_where(f.C, link.coupling, late)
    n.S = sym_where(f.S, link.right_compliance, late)
    n.u = vec_where(f.u, link.right, late)
    return n


@wp.func
def begins_late(j: Solved, late: lane) -> Solved:
    """Where segments begin with this link, its left joint is the segment's: lambda = lambda_s."""
    n = Solved()
    n.z = vec_where(j.z, Vec(), late)
    n.W = mat_where(j.W, Mat(), late)
    n.Y = mat_where(j.Y, diagonal(lane(real(-1.0))), late)
    return n


@wp.func
def sweep(c: Chains, b: LaneBodies, s: Scheme, chain: int, first: bool, again: bool, loaded: bool):
    """Linearise all links and eliminate the joints inside the segments."""
    start = c.first_batch[chain]
    late = c.late[chain]
    some_late = largest(late) > real(0.0)
    f = Front()
    last = c.first_batch[chain + 1] - 1
    for batch in range(start, last + 1):
        fetch_batch(b, wp.min(batch + 1, last), not again and s.published == 0)
        row = constants_of(b, batch, first)
        x = Linear()
        if s.published == 1:
            x = linearise_published(b, s, batch, batch - start, row, loaded)
        else:
            if not again:
                predict_batch(b, s, batch, batch - start, first)
            x = linearise_batch(b, s, batch, batch - start, row, again, loaded)
        link = link_of(b.Q[batch], row, x)
        if batch == start:
            f = front_of(link)
        else:
            joint = solve_joint(f, link)
            f = advance_front(f, link, joint)
            if some_late and batch == start + 1:
                joint = begins_late(joint, late)
                f = begin_late(f, link, late)
            c.solved[batch - start] = joint
    c.front[chain] = f


@wp.func
def substitute(c: Chains, b: LaneBodies, s: Scheme, chain: int, first: bool, again: bool) -> Progress:
    """The other way: multipliers inside the segments, and the motion of all links."""
    start = c.first_batch[chain]
    stop = c.first_batch[chain + 1]
    seam = c.ends[2 * chain]
    right = c.ends[2 * chain + 1]
    result = Progress()
    for back in range(stop - start):
        batch = stop - 1 - back
        fetch_batch(b, wp.max(batch - 1, start), False)
        left = seam
        if batch > start:
            joint = c.solved[batch - start]
            left = minus(joint.z, plus(apply(joint.W, right), apply(joint.Y, seam)))
        c.multiplier[batch] = left
        row = constants_of(b, batch, first)
        R = b.R[batch - start]
        pull = apply_flipped(R, minus(stretched(left, row.left), stretched(right, row.right)))
        x_column = Mat()
        x_column.xx = pull.x
        x_column.yx = pull.y
        x_column.zx = pull.z
        own = move_batch(b, s, batch, batch - start, row, R, first, again, x_column, minus(left, right))
        if result.change == result.change and not (own.change <= result.change):  # keeps a NaN
            result.change = own.change
        result.slope += own.slope
        right = left
    return result


@wp.func
def potential(
    b: LaneBodies, s: Scheme, start: int, stop: int, first: bool, loaded: bool, poses: wp.array(dtype=Pose), at: int
) -> real:
    """Of all links, at poses that begin at some place of their array."""
    energy = real(0.0)
    for batch in range(start, stop):
        energy += batch_potential(b, s, batch, batch - start, first, loaded, poses[at + batch - start])
    return energy


@wp.func
def restart(b: LaneBodies, s: Scheme, start: int, stop: int, first: bool, loaded: bool):
    """Go on from the pose at the start of the step if its potential is below the present one's."""
    here = potential(b, s, start, stop, first, loaded, b.Q, start)
    there = potential(b, s, start, stop, first, loaded, b.Q_past, start)
    rate = real(1.0) / step_beta(s, first)
    if there < here:
        for i in range(start, stop):
            Q = b.Q_past[i]
            b.V[i] = pose_blend(b.V[i], real(1.0), pose_minus(Q, b.Q[i]), rate)
            b.Q[i] = Q


@wp.func
def search(b: LaneBodies, s: Scheme, start: int, stop: int, first: bool, loaded: bool, slope: real) -> real:
    """Shorten the step from Q_base until the potential falls enough; returns the step length."""
    energy = potential(b, s, start, stop, first, loaded, b.Q_base, 0)
    tried = potential(b, s, start, stop, first, loaded, b.Q, start)
    rate = real(1.0) / step_beta(s, first)
    step = real(1.0)
    halvings = int(0)
    while not (tried <= energy + real(1.0e-4) * step * slope) and halvings < 10:
        step *= real(0.5)
        halvings += 1
        for i in range(start, stop):
            Q = pose_blend(b.Q[i], real(0.5), b.Q_base[i - start], real(0.5))
            b.V[i] = pose_blend(b.V[i], real(1.0), pose_minus(Q, b.Q[i]), rate)
            b.Q[i] = Q
        tried = potential(b, s, start, stop, first, loaded, b.Q, start)
    return step


@wp.func
def iterate(c: Chains, b: LaneBodies, seams: Seams, s: Scheme, chain: int, first: bool, loaded: bool) -> int:
    """Bring a chain to the end of the step; returns the iterations used."""
    start = c.first_batch[chain]
    stop = c.first_batch[chain + 1]
    used = int(0)
    change = real(0.0)
    searching = bool(False)
    c.searched[chain] = 0
    done = bool(False)
    while not done:
        before = change
        sweep(c, b, s, chain, first, used > 0, loaded)
        join_segments(seams, chain)
        result = substitute(c, b, s, chain, first, used > 0)
        change = result.change
        used += 1
        finite = bool(change < real(1.0e3))
        if s.published == 0 and finite:
            if used == 1:
                if change > TRUST and s.iterations > 1:
                    # far off: go on from the better of this pose and the old one
                    searching = bool(True)
                    c.searched[chain] = 1
                    restart(b, s, start, stop, first, loaded)
            else:
                if change > TRUST or change > real(0.3) * before:
                    searching = bool(True)
                if searching and change > s.update_tolerance:
                    c.searched[chain] = 1
                    change *= search(b, s, start, stop, first, loaded, result.slope)
        done = bool(s.published == 1 or used >= s.iterations or not finite or change <= s.update_tolerance)
    if not (change < real(1.0e3)):
        c.failed[0] = 1 + chain
    return used


@wp.kernel(module="unique", module_options=CHAIN_OPTIONS, enable_backward=False)
def step_chains(c: Chains, b: LaneBodies, seams: Seams, s: Scheme, rows: Bodies):
    """Newton's method for each chain, with line search on the incremental potential where updates do not contract."""
    chain = wp.tid()
    if c.failed[0] == 0:
        first = bool(c.fresh[chain] == 1)
        start = c.first_batch[chain]
        stop = c.first_batch[chain + 1]
        loaded = bool(rows.loaded == 1)
        if loaded:
            for batch in range(start, stop):
                gather_loads(b, rows.force, rows.torque, batch, batch - start)
        used = int(0)
        going = bool(True)
        while going:
            used += iterate(c, b, seams, s, chain, first, loaded)
            going = bool(s.euler == 0 and not first and c.searched[chain] == 1)
            if going:
                # a blow, behind which BDF2's history is worth nothing: once more, with implicit Euler
                first = bool(True)
                for batch in range(start, stop):
                    b.Q[batch] = b.Q_past[batch]
                    b.V[batch] = b.V_past[batch]
                    b.k[batch] = Vec()
        c.iterations[chain] = used
        c.steps[chain] += 1
        c.fresh[chain] = c.searched[chain]
