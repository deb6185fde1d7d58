"""Coordinates that have a law: full turns, the weighted past, the size of a swing."""

import warp as wp

from linkwork.mabd.affine import FOUR_THIRDS, THIRD, real
from linkwork.mabd.bodies import Scheme
from linkwork.mabd.laws import Laws

PI = wp.constant(wp.float64(3.141592653589793))


@wp.func
def past_average(s: Scheme, laws: Laws, i: int, first: bool) -> real:
    """Weighted past of a coordinate: its rate is (c - average) / beta."""
    if s.euler == 1 or first:
        return laws.past[i]
    return laws.past[i] * FOUR_THIRDS - laws.older[i] * THIRD


@wp.func
def swing_size(value: wp.array(dtype=wp.float64), law: int) -> real:
    """Of the swing whose first row is the given law."""
    return wp.sqrt(value[law] * value[law] + value[law + 1] * value[law + 1])


@wp.func
def unwrap(value: real, reference: real) -> real:
    return value + real(2.0) * PI * wp.round((reference - value) / (real(2.0) * PI))
