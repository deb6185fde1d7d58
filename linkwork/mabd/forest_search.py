"""The merit of a forest, and the line search on it."""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.forest_bodies import inertia_at, strain_of
from linkwork.mabd.forest_data import FACE, LOADS, Forest, places
from linkwork.mabd.forest_descent import descending
from linkwork.mabd.forest_springs import own_turns, potential_of
from linkwork.mabd.lanes import (
    LANES,
    columns_scaled,
    crosser,
    elastic_energies,
    flipped,
    inner,
    lane,
    mat_at,
    mat_minus,
    minus,
    polar_rotations,
    product,
    put_mat,
    times,
    total,
    twofold,
    vec_at,
)
from linkwork.mabd.trees import FREE_ROOT


@cache
def searching_lines(rows: int) -> SimpleNamespace:
    """For forests whose joints have 3 or 6 rows."""
    TURNS = rows == 6
    own = places(rows)
    RECORD = wp.constant(own.record)

    down = descending(rows)
    lower, measure_joints = down.lower, down.measure_joints

    @wp.func
    def joint_potential(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, weight: real) -> real:
        """Of all springs at the present rotations, and weight times the violation of fixed joints."""
        f = forest[0]
        result = real(0.0)
        start = f.first_batch[group]
        stop = f.first_batch[group + 1]
        for back in range(stop - start):
            batch = stop - 1 - back
            R = mat_at(f.R, batch * 9)
            if f.hangs[batch] != FREE_ROOT:
                value = own_turns(forest, batch, f.table[batch] * f.width, f.place[batch] * RECORD + FACE, R)
                result += potential_of(s, forest, batch, value, first, weight)
            lower(forest, batch, R)
        return result

    @wp.func
    def merit(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, weight: real) -> real:
        """Incremental potential at the present pose, plus weight times the violation of fixed joints."""
        f = forest[0]
        energy = lane()
        beta = step_beta(s, first)
        for batch in range(f.first_batch[group], f.first_batch[group + 1]):
            q = batch * 12
            c = f.table[batch] * f.width
            A = mat_at(f.Q, q)
            x = vec_at(f.Q, q + 9)
            R = polar_rotations(A)
            put_mat(f.R, batch * 9, R)
            inertia = inertia_at(f, c, beta)
            mass = inertia.mass
            DA = mat_minus(A, mat_at(f.Q_free, q))
            d = minus(x, vec_at(f.Q_free, q + 9))
            own = (twofold(DA, columns_scaled(DA, inertia.moments)) + times(mass, inner(d, d))) * real(0.5)
            strain = strain_of(product(flipped(R), A))
            own += elastic_energies(inertia.mu, inertia.lam, strain)
            moved = minus(x, vec_at(f.Q_past, q + 9))
            drop = moved.x * s.gravity[0] + moved.y * s.gravity[1] + moved.z * s.gravity[2]
            own -= times(mass, drop) * (beta * beta)
            if f.b.loaded == 1:
                loads = batch * LOADS
                turned = mat_minus(A, mat_at(f.Q_past, q))
                torque = crosser(vec_at(f.loads, loads + 3))
                own -= inner(vec_at(f.loads, loads), moved)
                own -= twofold(product(torque, R), turned) * real(0.5)
                if f.levers[0] == 1:
                    own -= twofold(mat_at(f.loads, loads + 6), turned)
            for k in range(LANES):
                if f.counted[batch * LANES + k] == 0:
                    own[k] = real(0.0)
            energy += own
        result = total(energy)
        if wp.static(TURNS):
            result += joint_potential(s, forest, group, first, weight)
        return result

    @wp.func
    def swap_poses(forest: wp.array(dtype=Forest), group: int, past: bool):
        """Exchange the poses with those kept in Q_base; with past, keep the old poses there first."""
        f = forest[0]
        for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
            if past:
                f.Q_base[i] = f.Q_past[i]
            else:
                Q = f.Q_base[i]
                f.Q_base[i] = f.Q[i]
                f.Q[i] = Q

    @wp.func
    def search(
        s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool, decrease: real, weight: real,
    ) -> real:  # fmt: skip
        """Shorten the step from Q_base until the merit falls enough; returns the step length."""
        f = forest[0]
        swap_poses(forest, group, False)
        least = merit(s, forest, group, first, weight)
        swap_poses(forest, group, False)
        rate = real(1.0) / step_beta(s, first)
        step = real(1.0)
        halvings = int(0)
        falling = bool(False)
        while not falling and halvings < 10:
            here = merit(s, forest, group, first, weight)
            if here <= least - real(1.0e-4) * step * decrease:
                falling = bool(True)
            else:
                halvings += 1
                step *= real(0.5)
                for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
                    Q = (f.Q[i] + f.Q_base[i]) * real(0.5)
                    f.V[i] = f.V[i] + (Q - f.Q[i]) * rate
                    f.Q[i] = Q
        return step

    @wp.func
    def restart(s: Scheme, forest: wp.array(dtype=Forest), group: int, first: bool):
        """Go on from the pose at the start of the step if its potential is below the present one's."""
        f = forest[0]
        swap_poses(forest, group, True)
        here = merit(s, forest, group, first, real(0.0))
        swap_poses(forest, group, False)
        there = merit(s, forest, group, first, real(0.0))
        rate = real(1.0) / step_beta(s, first)
        if there < here:
            for i in range(f.first_batch[group] * 12, f.first_batch[group + 1] * 12):
                f.V[i] = f.V[i] + (f.Q[i] - f.Q_base[i]) * rate
        else:
            swap_poses(forest, group, False)

    @wp.func
    def settle(forest: wp.array(dtype=Forest), group: int) -> real:
        """Turns of the joints at the present pose; returns the largest violation of a fixed joint."""
        f = forest[0]
        worst = real(0.0)
        start = f.first_batch[group]
        stop = f.first_batch[group + 1]
        for back in range(stop - start):
            batch = stop - 1 - back
            R = polar_rotations(mat_at(f.Q, batch * 12))
            worst = wp.max(worst, measure_joints(forest, batch, f.table[batch] * f.width, R))
        return worst

    return SimpleNamespace(search=search, restart=restart, settle=settle)
