"""Swings of a ball that a cone bounds: while it stops them, their two rows turn into one along the swing and one across."""

import warp as wp

from linkwork.mabd.affine import real
from linkwork.mabd.bodies import Scheme, step_beta
from linkwork.mabd.components import Joints
from linkwork.mabd.coordinates import past_average
from linkwork.mabd.laws import AT_UPPER, NONE, POSITION, SLACK, Laws, Line, choose_piece, line_force


@wp.func
def on_cone(J: Joints, laws: Laws, row0: int, r: int) -> bool:
    """Whether a row is the second of a swing that rests on its cone."""
    result = bool(False)
    if r > row0:
        before = J.law[r - 1]
        if before >= 0:
            result = bool(laws.cone[before] == 1 and laws.piece[before] == AT_UPPER)
    return result


@wp.func
def choose_on_cone(s: Scheme, laws: Laws, i: int, x: real, y: real, along: real, first: bool) -> real:
    """Pick the piece of the first swing's law, its cone's included; returns 1 if it changed.

    The cone stops the swing (x, y); `along` is its multiplier if it did so before.
    """
    rate = real(1.0) / step_beta(s, first)
    old = laws.piece[i]
    size = wp.sqrt(x * x + y * y)
    piece = int(old)
    if old == AT_UPPER:
        a = line_force(laws, i, x, past_average(s, laws, i, first), rate)
        b = line_force(laws, i + 1, y, past_average(s, laws, i + 1, first), rate)
        given = ((a.a - a.kappa * x) * x + (b.a - b.kappa * y) * y) / wp.max(size, real(1.0e-9))
        if -along - given > SLACK * (wp.abs(along) + wp.abs(given)):
            piece = int(NONE)
    elif size > laws.upper[i] + SLACK and laws.drive[i] != POSITION and laws.drive[i + 1] != POSITION:
        piece = int(AT_UPPER)
    else:
        piece = choose_piece(laws, i, x, past_average(s, laws, i, first), rate, along)
    laws.piece[i] = piece
    if piece != old:
        return real(1.0)
    return real(0.0)


@wp.func
def across_cone(s: Scheme, laws: Laws, i: int, cos: real, sin: real, x: real, y: real, first: bool) -> Line:
    """Springs, dampers and drives of the swings (x, y) across the direction (cos, sin) in which the cone holds them."""
    rate = real(1.0) / step_beta(s, first)
    a = line_force(laws, i - 1, x, past_average(s, laws, i - 1, first), rate)
    b = line_force(laws, i, y, past_average(s, laws, i, first), rate)
    line = Line()
    line.kappa = sin * sin * a.kappa + cos * cos * b.kappa
    line.a = cos * (b.a - b.kappa * y) - sin * (a.a - a.kappa * x)
    return line
