"""Trees as mechanisms: shoots of links grow on each other, and elastic ball joints hold them up against gravity."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

import linkwork as lw
from linkwork.scene.frames import frame_from_z

__all__ = ["Blow", "Tree", "sideways", "unit"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
DENSITY = 800.0
SETTLING = 0.03  # s: damping of a joint over its stiffness
DRAG, AIR = 1.1, 1.2


def unit(vectors: ArrayLike) -> Floats:
    """Vectors (..., 3) made one long."""
    array = np.asarray(vectors, dtype=np.float64)
    return np.asarray(array / np.linalg.norm(array, axis=-1, keepdims=True))


def sideways(along: Floats, turn: ArrayLike, opening: ArrayLike) -> Floats:
    """Directions (n, 3) at an angle `opening` to `along`, `turn` around it, rad."""
    frames = frame_from_z(along)
    turn, opening = np.asarray(turn)[..., None], np.asarray(opening)[..., None]
    out = np.cos(turn) * frames[:, :, 0] + np.sin(turn) * frames[:, :, 1]
    return np.asarray(np.cos(opening) * along + np.sin(opening) * out)


@dataclass
class Tree:
    """A skeleton that grows shoot by shoot; every link comes after the one it grows on.

    Attributes:
        seed: of the small irregularities.
        modulus: of the wood against bending, N/m^2.
        parent, start, end, radius: of each layer of links that grew at once; m.
        flat: of each layer, whether its links are flat and leafy.
    """

    seed: int = 0
    modulus: float = 9e9
    parent: list[Ints] = field(default_factory=list)
    start: list[Floats] = field(default_factory=list)
    end: list[Floats] = field(default_factory=list)
    radius: list[Floats] = field(default_factory=list)
    flat: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    @property
    def count(self) -> int:
        """Links so far."""
        return sum(len(layer) for layer in self.parent)

    def scatter(self, shape: int | tuple[int, ...], spread: float = 1.0) -> Floats:
        """Irregularities from -spread to spread."""
        return self._random.uniform(-spread, spread, shape)

    def grow(
        self,
        hosts: Ints,
        towards: Floats,
        links: int,
        length: ArrayLike,
        radius: tuple[ArrayLike, ArrayLike],
        *,
        pull: ArrayLike = (0.0, 0.0, 0.0),
        wobble: float = 0.05,
        flat: bool = False,
    ) -> Ints:
        """Grow one shoot of `links` links on the end of each host (-1: the ground at the origin).

        Each link turns from the direction of the one before by `pull`, (3,) or one of shape (links, 3), and at random
        by `wobble`. The radius tapers from the first to the second value. Returns the links, (links, shoots).
        """
        shoots = len(hosts)
        direction = unit(towards)
        ends = np.concatenate([np.zeros((1, 3)), *self.end])
        point = ends[hosts + 1]
        step = np.broadcast_to(np.asarray(length, dtype=np.float64) / links, (shoots,))[:, None]
        pulls = np.broadcast_to(np.asarray(pull, dtype=np.float64), (links, 3))
        grown = []
        parent = np.asarray(hosts, dtype=np.int64)
        for j in range(links):
            direction = unit(direction + pulls[j] + self.scatter((shoots, 3), wobble))
            share = j / max(links - 1, 1)
            thick = (1.0 - share) * np.asarray(radius[0]) + share * np.asarray(radius[1])
            self.parent.append(parent)
            self.start.append(point)
            point = point + step * direction
            self.end.append(point)
            self.radius.append(np.array(np.broadcast_to(thick, (shoots,)), dtype=np.float64))
            self.flat.append(flat)
            parent = self.count - shoots + np.arange(shoots)
            grown.append(parent)
        return np.array(grown)

    def heights(self, links: Ints) -> Floats:
        """Heights of the ends of links, m."""
        return np.asarray(np.concatenate(self.end)[links, 2])

    def directions(self, links: Ints) -> Floats:
        """Directions (n, 3) of links."""
        return unit((np.concatenate(self.end) - np.concatenate(self.start))[links])

    def plant(self, links: int, gravity: float = 9.81) -> lw.Scene:
        """A scene of the first `links` links, rooted in the ground, in balance as it stands.

        A joint bends and twists like the wood between the middles of its links, E I / L; the springs are bent just so
        far that they carry what hangs on them.
        """
        start, end = np.concatenate(self.start)[:links], np.concatenate(self.end)[:links]
        parent, radius = np.concatenate(self.parent)[:links], np.concatenate(self.radius)[:links]
        middle, along = 0.5 * (start + end), unit(end - start)
        length = np.linalg.norm(end - start, axis=1)
        frames = frame_from_z(along)
        scene = lw.Scene(gravity=(0, 0, -gravity))
        layers = np.array([len(layer) for layer in self.parent])
        last = np.minimum(np.cumsum(layers), links)
        mass = np.zeros(links)
        first = 0
        # neighbouring layers of one kind make one set of bodies
        for stop, flat, next_flat in zip(last, self.flat, [*self.flat[1:], None], strict=True):
            if stop == first or (flat == next_flat and stop < links):
                continue
            chosen = slice(first, stop)
            r, h = radius[chosen], length[chosen]
            shape = lw.Box(10.0 * r, 2.0 * r, h) if flat else lw.Cylinder(r, h)
            scene.add_bodies(shape, middle[chosen], frames[chosen], density=DENSITY, name="leaves" if flat else "wood")
            mass[chosen] = DENSITY * np.asarray(shape.moments()[0])
            first = stop

        moment = _torques(start, middle, mass, parent, np.concatenate([[0], last]), gravity)
        bending = self.modulus * 0.25 * np.pi * radius**4 / length
        twisting = bending * 2.0 / 2.6
        joined = parent >= 0
        roots = scene.bodies[~joined]
        scene.add_joints(lw.Fixed(), scene.ground, roots, at=start[~joined], name="roots")
        stiffness = np.stack([bending, bending, twisting], axis=1)[joined]
        rest = -np.einsum("nij,ni->nj", frames[joined], moment[joined]) / stiffness
        scene.add_joints(
            lw.Ball(axis=along[joined]),
            scene.bodies[parent[joined]],
            scene.bodies[joined],
            at=start[joined],
            spring=[lw.Spring(stiffness[:, k], rest[:, k]) for k in range(3)],
            damping=[SETTLING * stiffness[:, k] for k in range(3)],
            name="joints",
        )
        return scene


def _torques(start: Floats, middle: Floats, mass: Floats, parent: Ints, layers: Ints, gravity: float) -> Floats:
    """Moment of the weight of all that grows on each link, with its own, about its start; N m."""
    carried, weighted = mass.copy(), mass[:, None] * middle
    for first, last in zip(layers[-2:0:-1], layers[:1:-1], strict=True):
        np.add.at(carried, parent[first:last], carried[first:last])
        np.add.at(weighted, parent[first:last], weighted[first:last])
    arm = weighted - carried[:, None] * start
    return np.stack([-gravity * arm[:, 1], gravity * arm[:, 0], 0.0 * carried], axis=1)


class Blow:
    """A gusty wind along x that drags on all links, and the upward impulse of the roots, N s."""

    def __init__(self, sim: lw.Simulation, speed: float) -> None:
        model = sim.model
        size = np.sort(np.sqrt(12.0 * model.second_moments / model.mass[:, None]), axis=1)
        self.drag = 0.5 * AIR * DRAG * size[:, 2] * size[:, 1]
        self.speed = speed
        self.links = np.arange(model.bodies)
        self.impulse = 0.0
        self.roots = np.flatnonzero(model.joint_base < 0)
        sim.on_step(self)

    def __call__(self, sim: lw.Simulation) -> None:
        """Push every link by 1/2 rho C A |u| u, u the wind against the link; gusts travel with the wind."""
        if sim.steps:
            self.impulse += sim.dt * float(sim.joint_forces[self.roots, 2].sum())
        x, y, z = sim.positions.T
        gust = 1.0 + 0.5 * np.sin(1.7 * sim.time - 0.35 * x) + 0.3 * np.sin(4.1 * sim.time - 0.9 * x + 0.5 * y)
        u = -sim.velocities
        u[:, 0] += self.speed * gust * min(1.0, sim.time) * (0.4 + 0.1 * z)
        u[:, 1] += 0.25 * self.speed * np.sin(2.3 * sim.time - 0.6 * x) * min(1.0, sim.time)
        sim.apply_force(self.links, (self.drag * np.sqrt(np.einsum("ij,ij->i", u, u)))[:, None] * u)

    def lift(self, sim: lw.Simulation) -> tuple[str, float]:
        """Mean upward force of the roots; the wind is level, so they carry the weight."""
        return "mean upward force of the roots, N", self.impulse / (sim.time - sim.dt)
