"""What a free coordinate obeys: spring, damper, drive, dry friction, limits, as one monotone force law per row.

Away from its corners a law is a line F(c) = a - kappa c, a dual row with compliance 1 / kappa; at a corner (a limit, a
coordinate held by friction or by a speed motor) it is a hard row whose multiplier is free until it leaves its bound.
Each Newton iteration picks the piece from the coordinate and the last multiplier (a primal-dual active set).
"""

import warp as wp

from linkwork.mabd.affine import real

PASSIVE = wp.constant(0)
PD = wp.constant(1)
POSITION = wp.constant(2)
FORCE = wp.constant(3)
VELOCITY = wp.constant(4)

# pieces of a law
LINE = wp.constant(0)
HELD = wp.constant(1)
SLIDING_UP = wp.constant(2)  # coordinate falls, friction pushes up
SLIDING_DOWN = wp.constant(3)
AT_LOWER = wp.constant(4)
AT_UPPER = wp.constant(5)


@wp.struct
class Laws:
    """Arrays over the rows that have a law."""

    lower: wp.array(dtype=wp.float64)
    upper: wp.array(dtype=wp.float64)
    stiffness: wp.array(dtype=wp.float64)
    rest: wp.array(dtype=wp.float64)
    damping: wp.array(dtype=wp.float64)
    friction: wp.array(dtype=wp.float64)
    force: wp.array(dtype=wp.float64)
    drive: wp.array(dtype=wp.int32)
    drive_stiffness: wp.array(dtype=wp.float64)
    drive_damping: wp.array(dtype=wp.float64)
    target: wp.array(dtype=wp.float64)
    target_velocity: wp.array(dtype=wp.float64)
    max_force: wp.array(dtype=wp.float64)
    cone: wp.array(dtype=wp.int32)
    value: wp.array(dtype=wp.float64)  # coordinate at the iterate, unwrapped
    past: wp.array(dtype=wp.float64)  # c^n
    older: wp.array(dtype=wp.float64)  # c^(n-1)
    piece: wp.array(dtype=wp.int32)


@wp.struct
class Line:
    """Force a - kappa c; held: the coordinate is pinned to hold and its multiplier free."""

    a: real
    kappa: real
    hold: real
    held: wp.int32


@wp.func
def line_force(laws: Laws, i: int, c: real, c_bar: real, rate: real) -> Line:
    """The smooth part: spring, damper, constant force, PD drive (clamped at its largest force). rate = 1 / beta."""
    line = Line()
    drag = laws.damping[i] * rate
    line.kappa = laws.stiffness[i] + drag
    line.a = laws.stiffness[i] * laws.rest[i] + drag * c_bar + laws.force[i]
    if laws.drive[i] == PD:
        kp = laws.drive_stiffness[i]
        kd = laws.drive_damping[i]
        kappa = kp + kd * rate
        a = kp * laws.target[i] + kd * (laws.target_velocity[i] + rate * c_bar)
        force = a - kappa * c
        limit = laws.max_force[i]
        if wp.abs(force) <= limit:
            line.kappa += kappa
            line.a += a
        else:
            line.a += wp.sign(force) * limit
    return line


@wp.func_native(snippet="__builtin_prefetch(&a.data[i]);")
def fetch_number(a: wp.array(dtype=wp.float64), i: int):
    """Start to bring a number into the cache that is needed soon."""
    ...


@wp.func
def fetch_line(laws: Laws, i: int):
    """What `line_force` reads."""
    fetch_number(laws.stiffness, i)
    fetch_number(laws.rest, i)
    fetch_number(laws.damping, i)
    fetch_number(laws.force, i)
    fetch_number(laws.past, i)
    fetch_number(laws.older, i)


@wp.func
def held_bound(laws: Laws, i: int) -> real:
    bound = laws.friction[i]
    if laws.drive[i] == VELOCITY:
        bound = laws.max_force[i]
    return bound


@wp.func
def held_point(laws: Laws, i: int, c_bar: real, rate: real) -> real:
    point = c_bar
    if laws.drive[i] == VELOCITY:
        point += laws.target_velocity[i] / rate
    return point


@wp.func
def choose_piece(laws: Laws, i: int, c: real, c_bar: real, rate: real, multiplier: real) -> int:
    """The piece of the law that holds at coordinate c if the row's multiplier was the given one."""
    old = laws.piece[i]
    line = line_force(laws, i, c, c_bar, rate)
    rest_force = -multiplier - (line.a - line.kappa * c)  # what limits and friction gave
    if c > laws.upper[i] or (old == AT_UPPER and rest_force <= real(0.0)):
        return AT_UPPER
    if c < laws.lower[i] or (old == AT_LOWER and rest_force >= real(0.0)):
        return AT_LOWER
    bound = held_bound(laws, i)
    if bound > real(0.0):
        point = held_point(laws, i, c_bar, rate)
        if old == SLIDING_UP and c < point:
            return SLIDING_UP
        if old == SLIDING_DOWN and c > point:
            return SLIDING_DOWN
        if old == HELD:
            if rest_force > bound:
                return SLIDING_UP
            if rest_force < -bound:
                return SLIDING_DOWN
        return HELD
    return LINE


@wp.func
def evaluate(laws: Laws, i: int, c: real, c_bar: real, rate: real) -> Line:
    """The line, or the held coordinate, of the law's present piece."""
    line = line_force(laws, i, c, c_bar, rate)
    piece = laws.piece[i]
    if laws.drive[i] == POSITION:
        line.held = 1
        line.hold = laws.target[i]
    elif piece == AT_UPPER:
        line.held = 1
        line.hold = laws.upper[i]
    elif piece == AT_LOWER:
        line.held = 1
        line.hold = laws.lower[i]
    elif piece == HELD:
        line.held = 1
        line.hold = held_point(laws, i, c_bar, rate)
    elif piece == SLIDING_UP:
        line.a += held_bound(laws, i)
    elif piece == SLIDING_DOWN:
        line.a -= held_bound(laws, i)
    return line


@wp.func
def law_potential(laws: Laws, i: int, c: real, c_bar: real, rate: real) -> real:
    """Incremental potential of a law at c, J: the integral of -F, friction and clamped drives included, limits left out."""
    drag = laws.damping[i] * rate
    x = c - laws.rest[i]
    y = c - c_bar
    energy = real(0.5) * (laws.stiffness[i] * x * x + drag * y * y) - laws.force[i] * c
    if laws.drive[i] == PD:
        kp = laws.drive_stiffness[i]
        kd = laws.drive_damping[i]
        kappa = kp + kd * rate
        a = kp * laws.target[i] + kd * (laws.target_velocity[i] + rate * c_bar)
        force = a - kappa * c
        limit = laws.max_force[i]
        if wp.abs(force) <= limit:
            if kappa > real(0.0):
                energy += real(0.5) * force * force / kappa
        else:
            energy += wp.abs(force) * limit / kappa - real(0.5) * limit * limit / kappa
    bound = held_bound(laws, i)
    if bound > real(0.0) and bound < real(1.0e300):
        energy += bound * wp.abs(c - held_point(laws, i, c_bar, rate))
    return energy
