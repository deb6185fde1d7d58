"""The mechanisms that all engines are given."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwork.bench.peers.mechanism import Array, Indices, Mechanism, box_inertia

__all__ = ["SCENES", "arm", "chain", "four_bar", "heavy_chain", "net", "tree"]

PITCH, THICK, DENSITY = 0.1, 0.02, 1000.0
Y = np.array([0.0, 1.0, 0.0])


def chain(links: int) -> Mechanism:
    """Links of 0.1 m on ball joints, hung up at one end and released level."""
    at = PITCH * np.arange(links)[:, None] * [1.0, 0.0, 0.0]
    mass = np.full(links, DENSITY * PITCH * THICK * THICK)
    inertia = box_inertia(mass, PITCH, THICK, THICK)
    return _balls(mass, inertia, at + np.array([0.5 * PITCH, 0, 0]), np.arange(links) - 1, np.arange(links), at, PITCH)


def heavy_chain(links: int, end_mass: float) -> Mechanism:
    """The chain with a ball of `end_mass` link masses at its end."""
    light = chain(links)
    weight = end_mass * light.mass[0]
    radius = np.cbrt(weight / (7800.0 * 4.0 / 3.0 * np.pi))
    end = np.array([PITCH * links, 0.0, 0.0])
    return _balls(
        np.append(light.mass, weight),
        np.concatenate([light.inertia, 0.4 * weight * radius**2 * np.eye(3)[None]]),
        np.concatenate([light.position, [end + np.array([radius, 0, 0])]]),
        np.arange(links + 1) - 1,
        np.arange(links + 1),
        np.concatenate([light.point, [end]]),
        PITCH,
    )


def net(size: int) -> Mechanism:
    """Knots of a `size` × `size` net and the links between them, level; the knots of one edge hang on pins."""
    knot, thin = 0.015, 0.012
    row, column = np.divmod(np.arange(size * size), size)
    places = PITCH * np.stack([column, -row, 0 * row], axis=1)
    along_x, along_y = np.flatnonzero(column < size - 1), np.flatnonzero(row < size - 1)
    first, second = np.concatenate([along_x, along_y]), np.concatenate([along_x + 1, along_y + size])
    along = (places[second] - places[first]) / PITCH
    length, links = PITCH - 2 * knot, len(first)
    knots = np.full(size * size, 2000.0 * 4.0 / 3.0 * np.pi * knot**3)
    bars = np.full(links, DENSITY * length * thin * thin)
    across = np.abs(along[:, 1]) > 0.5
    link, pins = size * size + np.arange(links), np.flatnonzero(row == 0)
    return _balls(
        np.concatenate([knots, bars]),
        np.concatenate(
            [
                0.4 * knots[:, None, None] * knot**2 * np.eye(3),
                box_inertia(bars, np.where(across, thin, length), np.where(across, length, thin), thin),
            ]
        ),
        np.concatenate([places, 0.5 * (places[first] + places[second])]),
        np.concatenate([np.full(len(pins), -1), first, link]),
        np.concatenate([pins, link, second]),
        np.concatenate([places[pins], places[first] + knot * along, places[second] - knot * along]),
        PITCH,
        np.array([1.0, 0.0, 0.0]),
    )


def tree(links: int) -> Mechanism:
    """Every bough carries two, thinner and turned about it; from an upright trunk, on ball joints, let go."""
    start, along, length, thick = np.zeros((links, 3)), np.zeros((links, 3)), np.zeros(links), np.zeros(links)
    parent = (np.arange(links) - 1) // 2
    parent[0] = -1
    along[0], length[0], thick[0] = (0.0, 0.0, 1.0), 1.0, 0.1
    turn = 2.4 * np.arange(links)
    for level in range(1, int(np.log2(links)) + 1):
        here = np.arange(2**level - 1, min(2 ** (level + 1) - 1, links))
        stem = parent[here]
        start[here] = start[stem] + length[stem, None] * along[stem]
        side = np.cross(along[stem], [0.6, 0.0, 0.8])
        side /= np.linalg.norm(side, axis=1, keepdims=True)
        up = np.cross(side, along[stem])
        out = np.cos(turn[here])[:, None] * side + np.sin(turn[here])[:, None] * up
        along[here] = 0.85 * along[stem] + 0.526782687642637 * out
        along[here] /= np.linalg.norm(along[here], axis=1, keepdims=True)
        length[here], thick[here] = 0.85 * length[stem], 0.8 * thick[stem]
    mass = 600.0 * length * thick**2
    outer = along[:, :, None] * along[:, None, :]
    inertia = (
        mass[:, None, None]
        / 12.0
        * ((length**2 + thick**2)[:, None, None] * (np.eye(3) - outer) + 2.0 * (thick**2)[:, None, None] * outer)
    )
    middle = start + 0.5 * length[:, None] * along
    return _balls(mass, inertia, middle, parent, np.arange(links), start, float(np.median(length)))


def four_bar(windows: int) -> Mechanism:
    """Windows of rods side by side (IFToMM A02): one degree of freedom, hinges across, tips started at 1 m/s."""
    x = np.arange(windows + 1.0)
    zero = 0 * x
    uprights, levels = np.arange(windows + 1), windows + 1 + np.arange(windows)
    count = 2 * windows + 1
    thin = 1e-4  # kg m^2 about a rod's own axis, as the rods of the problem have none
    moments = np.where(np.arange(count)[:, None] <= windows, [1 / 12, 1 / 12, thin], [thin, 1 / 12, 1 / 12])
    feet, heads = np.stack([x, zero, zero], axis=1), np.stack([x, zero, zero + 1.0], axis=1)
    spin = np.zeros((count, 3))
    spin[: windows + 1, 1] = 1.0
    joints = count + windows
    return Mechanism(
        mass=np.ones(count),
        inertia=moments[:, :, None] * np.eye(3),
        position=np.concatenate([feet + np.array([0, 0, 0.5]), heads[:-1] + np.array([0.5, 0, 0])]),
        velocity=np.where(np.arange(count)[:, None] <= windows, [0.5, 0, 0], [1.0, 0, 0]),
        angular_velocity=spin,
        hinge=np.ones(joints, np.bool_),
        base=np.concatenate([np.full(windows + 1, -1), uprights[:-1], uprights[1:]]),
        follower=np.concatenate([uprights, levels, levels]),
        point=np.concatenate([feet, heads[:-1], heads[1:]]),
        axis=np.tile(Y, (joints, 1)),
        size=1.0,
    )


def arm() -> Mechanism:
    """Seven hinges in a row, motors off, let go while it reaches out level along x."""
    lengths = np.array([0.2, 0.2, 0.2, 0.2, 0.2, 0.09, 0.05])
    thick = np.array([0.13, 0.124, 0.112, 0.108, 0.092, 0.084, 0.068])
    starts = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    mass = 850.0 * lengths * thick**2
    axes = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, -1, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0]], float)
    hinges = len(lengths)
    return Mechanism(
        mass=mass,
        inertia=box_inertia(mass, lengths, thick, thick),
        position=(starts + 0.5 * lengths)[:, None] * [1.0, 0.0, 0.0] + [0, 0, 1.0],
        velocity=np.zeros((hinges, 3)),
        angular_velocity=np.zeros((hinges, 3)),
        hinge=np.ones(hinges, np.bool_),
        base=np.arange(hinges) - 1,
        follower=np.arange(hinges),
        point=starts[:, None] * [1.0, 0.0, 0.0] + [0, 0, 1.0],
        axis=axes,
        size=0.2,
    )


def _balls(
    mass: Array,
    inertia: Array,
    position: Array,
    base: Indices,
    follower: Indices,
    point: Array,
    size: float,
    swing: Array = Y,
) -> Mechanism:
    """A mechanism of ball joints at rest that turn about `swing` above all."""
    return Mechanism(
        mass=mass,
        inertia=inertia,
        position=position,
        velocity=np.zeros_like(position),
        angular_velocity=np.zeros_like(position),
        hinge=np.zeros(len(base), np.bool_),
        base=np.asarray(base, np.int64),
        follower=np.asarray(follower, np.int64),
        point=point,
        axis=np.tile(swing, (len(base), 1)),
        size=size,
    )


SCENES: dict[str, Callable[..., Mechanism]] = {
    "arm": arm,
    "chain": chain,
    "four-bar": four_bar,
    "heavy-chain": heavy_chain,
    "net": net,
    "tree": tree,
}
