"""The equations of eight joints at a time: three rows of motion, and three of turn where there are springs."""

import warp as wp

from linkwork.mabd.forest_data import SOLVER, SPIN_SOLVER
from linkwork.mabd.lanes import (
    Mat,
    Vec,
    apply,
    apply_flipped,
    definite_inverse,
    flipped,
    lane,
    mat_at,
    mat_minus,
    minus,
    product,
    put_mat,
    put_symmetric,
    symmetric_at,
)


@wp.struct
class System:
    """Compliance of a joint's point, push and turn, and its motion (v, t)."""

    vv: Mat
    vt: Mat
    tt: Mat
    v: Vec
    t: Vec


@wp.struct
class Solver:
    """Inverse of [A, B; B^T, C] by blocks: A^-1, X = A^-1 B and (C - B^T X)^-1."""

    A: Mat
    X: Mat
    C: Mat


@wp.func
def solver_of(A: Mat, B: Mat, C: Mat) -> Solver:
    r = Solver()
    r.A = definite_inverse(A)
    r.X = product(r.A, B)
    r.C = definite_inverse(mat_minus(C, product(flipped(B), r.X)))
    return r


@wp.func
def solve_turn(x: Solver, v: Vec, t: Vec) -> Vec:
    return apply(x.C, minus(t, apply_flipped(x.X, v)))


@wp.func
def solve_push(x: Solver, v: Vec, turn: Vec) -> Vec:
    """The other half of the solution, when its turn is known."""
    return minus(apply(x.A, v), apply(x.X, turn))


@wp.func
def mat_solve_turn(x: Solver, v: Mat, t: Mat) -> Mat:
    return product(x.C, mat_minus(t, product(flipped(x.X), v)))


@wp.func
def mat_solve_push(x: Solver, v: Mat, turn: Mat) -> Mat:
    return mat_minus(product(x.A, v), product(x.X, turn))


@wp.func
def put_solver(a: wp.array(dtype=lane), i: int, x: Solver):
    put_symmetric(a, i + SOLVER, x.A)
    put_mat(a, i + SPIN_SOLVER, x.X)
    put_symmetric(a, i + SPIN_SOLVER + 9, x.C)


@wp.func
def solver_at(a: wp.array(dtype=lane), i: int) -> Solver:
    x = Solver()
    x.A = symmetric_at(a, i + SOLVER)
    x.X = mat_at(a, i + SPIN_SOLVER)
    x.C = symmetric_at(a, i + SPIN_SOLVER + 9)
    return x
