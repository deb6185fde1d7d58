"""What a free coordinate obeys: spring, damper, drive, dry friction, limits, as one monotone force law per row.

The law is a line F(c) = a - kappa c, a dual row with compliance 1 / kappa, plus a falling staircase: the force jumps at the
lower limit, where friction holds the coordinate, where a speed motor does, and at the upper limit. On a step of the stairs
the jump is a constant force; at a corner the row is hard and its multiplier free between the two steps' forces. Each Newton
iteration picks the piece from the coordinate and the last multiplier (a primal-dual active set).

Pieces are numbered from left to right: 1 at the lower limit, 2 the first step, then a corner and a step in turn, and
AT_UPPER; 0 is none yet.
"""

import warp as wp

from linkwork.mabd.affine import real

PASSIVE = wp.constant(0)
PD = wp.constant(1)
POSITION = wp.constant(2)
FORCE = wp.constant(3)
VELOCITY = wp.constant(4)

NONE = wp.constant(0)
AT_LOWER = wp.constant(1)
FIRST_STEP = wp.constant(2)
AT_UPPER = wp.constant(7)
ENDLESS = wp.constant(wp.float64(1.0e300))  # N or N m
SLACK = wp.constant(wp.float64(1.0e-10))  # m or rad, and part of a force: what a corner is left for at least


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


@wp.struct
class Stairs:
    """Inner corners of the staircase, ascending: where they are and half their jumps."""

    count: wp.int32
    first: real
    second: real
    first_jump: real
    second_jump: real


@wp.func
def stairs_of(laws: Laws, i: int, c_bar: real, rate: real) -> Stairs:
    """Friction holds the coordinate at rest, a speed motor at its pace; rate = 1 / beta."""
    st = Stairs()
    friction = laws.friction[i]
    if friction > real(0.0):
        st.count = 1
        st.first = c_bar
        st.first_jump = friction
    if laws.drive[i] == VELOCITY and laws.max_force[i] > real(0.0):
        paced = c_bar + laws.target_velocity[i] / rate
        if st.count == 0:
            st.first = paced
            st.first_jump = laws.max_force[i]
        elif paced < c_bar:
            st.second = st.first
            st.second_jump = friction
            st.first = paced
            st.first_jump = laws.max_force[i]
        else:
            st.second = paced
            st.second_jump = laws.max_force[i]
        st.count += 1
    st.first = wp.clamp(st.first, laws.lower[i], laws.upper[i])
    st.second = wp.clamp(st.second, laws.lower[i], laws.upper[i])
    return st


@wp.func
def step_level(st: Stairs, step: int) -> real:
    """Force on a step, numbered from 0."""
    level = st.first_jump + st.second_jump
    if step > 0:
        level = st.second_jump - st.first_jump
    if step > 1:
        level = -st.first_jump - st.second_jump
    return level


@wp.func
def corner_point(st: Stairs, corner: int) -> real:
    """Place of an inner corner, numbered from 1."""
    if corner == 1:
        return st.first
    return st.second


@wp.func
def from_limit(step: int, corners: int) -> int:
    """The piece behind a limit that lets go: the nearest corner where there is one (corners: 1 to the left, -1 to the right,
    0 none), whose multiplier then says where to go on."""
    return FIRST_STEP + 2 * step - corners


@wp.func
def choose_piece(laws: Laws, i: int, c: real, c_bar: real, rate: real, multiplier: real) -> int:
    """The piece of the law that holds at coordinate c if the row's multiplier was the given one."""
    old = laws.piece[i]
    st = stairs_of(laws, i, c_bar, rate)
    line = line_force(laws, i, c, c_bar, rate)
    force = -multiplier - (line.a - line.kappa * c)  # what the staircase gave
    last = st.count
    slack = SLACK * (wp.abs(multiplier) + wp.abs(line.a))
    lower = laws.lower[i]
    upper = laws.upper[i]
    if old == AT_UPPER:
        # corners that lie beyond are held by the limit as well
        step = int(last)
        while step > 0 and corner_point(st, step) >= upper:
            step -= 1
        if force > step_level(st, step) + slack:
            return from_limit(step, wp.min(step, 1))
        return old
    if old == AT_LOWER:
        step = int(0)
        while step < last and corner_point(st, step + 1) <= lower:
            step += 1
        if force < step_level(st, step) - slack:
            return from_limit(step, -wp.min(last - step, 1))
        return old
    if c > upper + SLACK:
        return AT_UPPER
    if c < lower - SLACK:
        return AT_LOWER
    if old == NONE or old > FIRST_STEP + 2 * last:
        # the corner with the larger jump, where there is one
        if last == 0:
            return FIRST_STEP
        if last == 2 and st.second_jump > st.first_jump:
            return FIRST_STEP + 3
        return FIRST_STEP + 1
    step = (old - FIRST_STEP) / 2
    if old - FIRST_STEP - 2 * step == 1:
        left = step_level(st, step)
        right = step_level(st, step + 1)
        # the force of a strong motor would throw the bodies far away: pass over its step to the next corner
        strong = real(4.0) * wp.abs(force)
        if force > left + slack and left < ENDLESS:
            if step > 0 and left < -strong:
                return old - 2
            return old - 1
        if force < right - slack and right > -ENDLESS:
            if step + 1 < last and right > strong:
                return old + 2
            return old + 1
        return old
    if step > 0 and c < corner_point(st, step) - SLACK:
        return old - 1
    if step < last and c > corner_point(st, step + 1) + SLACK:
        return old + 1
    return old


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
    else:
        st = stairs_of(laws, i, c_bar, rate)
        if piece == NONE or piece > FIRST_STEP + 2 * st.count:
            # not chosen yet
            piece = wp.min(FIRST_STEP + 1, FIRST_STEP + st.count)
        step = (piece - FIRST_STEP) / 2
        level = step_level(st, step)
        if piece - FIRST_STEP - 2 * step == 1 or level > ENDLESS:
            line.held = 1
            line.hold = corner_point(st, step + 1)
        elif level < -ENDLESS:
            line.held = 1
            line.hold = corner_point(st, step)
        else:
            line.a += level
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
    st = stairs_of(laws, i, c_bar, rate)
    if st.first_jump < real(1.0e300):
        energy += st.first_jump * wp.abs(c - st.first)
    if st.second_jump < real(1.0e300):
        energy += st.second_jump * wp.abs(c - st.second)
    return energy
