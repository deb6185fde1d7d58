"""Forests of ball joints, eight bodies at a time: trees of plain balls, or of balls with springs and fixed joints.

The nodes of a tree are its bodies, each with the joint to its parent. Nodes of one height, of several trees or of several
branches of one tree, stand in the lanes of a batch and do everything in step: predict, linearise, eliminate upwards from the
leaves, substitute downwards from the roots.

A joint's unknown is the wrench w it takes from its two bodies, force and torque, as a multiplier of the relative motion of
its two points. Upwards, a node hands its parent the motion of its joint's point: -(u' + S w), with the compliance S of all
that hangs on it. With one child i on point a and its own joint on point b, a body's free motion y = H^-1 g and its
compliances F give, in the body's frame,

    (S_i + F_aa + C) w_i = gap_i + y_a + F_ab w_b     so  w_i = z + W w_b,
    S = F_bb - F_ba W,   y_b <- y_b - F_ba z,

where C is the joint's own compliance: none along a plain ball, that of its springs in rotation. A body with more children
adds their stiffness E^T (S_i + C)^-1 E to its own Hessian instead, so that the cost stays linear in their number.
"""

from functools import cache

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import TRUST, Scheme, step_beta
from linkwork.mabd.forest_bodies import inertia_at, predict_nodes
from linkwork.mabd.forest_climb import climbing
from linkwork.mabd.forest_data import Forest
from linkwork.mabd.forest_descent import descending
from linkwork.mabd.forest_fetch import fetching
from linkwork.mabd.forest_search import searching_lines
from linkwork.mabd.forest_springs import shift_turns, unshift_turns
from linkwork.mabd.lanes import LANE_OPTIONS, lane
from linkwork.mabd.trees import ON_ANCHOR


@cache
def forest_engine(rows: int) -> wp.Kernel:
    """The step kernel for forests of plain balls (3 rows a joint) or of elastic balls and fixed joints (6)."""
    TURNS = rows == 6
    up = climbing(rows)
    linearise, close, climb_path, climb_branching = up.linearise, up.close, up.climb_path, up.climb_branching
    descend = descending(rows).descend
    line = searching_lines(rows)
    search, restart, settle = line.search, line.restart, line.settle
    ahead = fetching(rows)
    fetch_poses, fetch_equations = ahead.fetch_poses, ahead.fetch_equations
    fetch_springs, fetch_children, fetch_solution = ahead.fetch_springs, ahead.fetch_children, ahead.fetch_solution

    @wp.func
    def newton(
        s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, strained: bool, again: bool
    ) -> wp.vec3d:
        """One Newton step of a group; returns the largest change of any entry of A, delta^T H delta and the violation."""
        f = forest[0]
        work = group * f.scratch_stride
        start = f.first_batch[group]
        stop = f.first_batch[group + 1]
        for batch in range(start, stop):
            c = f.table[batch] * f.width
            following = wp.min(batch + 1, stop - 1)
            fetch_poses(forest, following, again)
            inertia = inertia_at(f, c, step_beta(s, first))
            if not again:
                predict_nodes(forest, s, batch, inertia, first)
                if wp.static(TURNS):
                    shift_turns(forest, batch)
            fetch_equations(forest, following)
            linearise(s, forest, batch, inertia, strained)
            fetch_springs(forest, following)
            fetch_children(forest, following)
            if f.rounds[batch] <= 1:
                climb_path(s, forest, batch, group, c, inertia, first, strained)
            else:
                climb_branching(s, forest, batch, group, c, inertia, first, strained)
            if f.hangs[batch] == ON_ANCHOR:
                close(s, forest, batch, first)
        change = real(0.0)
        decrease = real(0.0)
        worst = real(0.0)
        for back in range(stop - start):
            batch = stop - 1 - back
            fetch_solution(forest, wp.max(batch - 1, start), strained)
            fetch_equations(forest, wp.max(batch - 1, start))
            r = descend(s, forest, batch, start, work, f.table[batch] * f.width, first, strained, again)
            if change == change and not (r[0] <= change):  # keeps a NaN
                change = r[0]
            decrease += r[1]
            worst = wp.max(worst, r[2])
        return wp.vec3d(change, decrease, worst)

    @wp.func
    def iterate(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool) -> int:
        """Bring a group to the end of the step; returns the iterations used."""
        f = forest[0]
        used = int(0)
        change = real(0.0)
        before = real(0.0)
        searching = bool(False)
        f.searched[group] = 0
        measured = bool(False)
        done = bool(False)
        while not done:
            before = change
            measured = bool(True)
            result = newton(s, forest, group, first, used > 0 or s.published == 1, used > 0)
            change = result[0]
            used += 1
            if used == 1:
                if change > TRUST and s.iterations > 1 and change < real(1.0e3):
                    # far off: go on from the better of this pose and the old one
                    searching = bool(True)
                    f.searched[group] = 1
                    measured = bool(False)
                    if f.carried == 0:
                        restart(s, forest, group, first)
            else:
                if change > TRUST or change > real(0.3) * before:
                    searching = bool(True)
                if searching and change > s.update_tolerance and change < real(1.0e3):
                    measured = bool(False)
                    f.searched[group] = 1
                    change *= search(s, forest, group, first, result[1], real(0.0))
            gap = real(0.0)
            done = bool(used >= s.iterations or not (change < real(1.0e3)) or change <= s.update_tolerance)
            if wp.static(TURNS):
                if done and change < real(1.0e3):
                    gap = result[2]
                    if not measured:
                        gap = settle(forest, group)
                    if gap > f.joint_tolerance and used < s.iterations:
                        done = bool(False)
        if not (change < real(1.0e3)):
            f.failed[0] = 1 + group
        return used

    @wp.kernel(module="unique", module_options=LANE_OPTIONS, enable_backward=False)
    def step_forest(forest: wp.array(dtype=Forest), s: Scheme):
        f = forest[0]
        group = wp.tid()
        if f.failed[0] == 0:
            first = bool(f.fresh[group] == 1)
            start = f.first_batch[group]
            stop = f.first_batch[group + 1]
            used = int(0)
            going = bool(True)
            while going:
                used += iterate(s, forest, group, first)
                going = bool(s.euler == 0 and not first and f.searched[group] == 1)
                if going:
                    # a blow, behind which BDF2's history is worth nothing: once more, with implicit Euler
                    first = bool(True)
                    for i in range(start * 12, stop * 12):
                        f.Q[i] = f.Q_past[i]
                        f.V[i] = f.V_past[i]
                    for i in range(start * 3, stop * 3):
                        f.k[i] = lane()
                    if wp.static(TURNS):
                        for batch in range(start, stop):
                            unshift_turns(forest, batch)
            f.iterations[group] = used
            f.steps[group] += 1
            f.fresh[group] = f.searched[group]

    return step_forest
