"""A mechanism in numbers, before any engine has seen it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["GRAVITY", "Array", "Indices", "Mechanism", "Tree", "box_inertia", "spanning_tree"]

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

GRAVITY = 9.81  # m/s^2, along -z


@dataclass(frozen=True)
class Mechanism:
    """Rigid bodies and the joints between them; SI units.

    Every body has its frame at its centre of mass, with the world's axes at the start: no body is turned.

    Attributes:
        mass: (n,) kg.
        inertia: (n, 3, 3) about the centre of mass, kg m^2.
        position: (n, 3) of the centre of mass, m.
        velocity, angular_velocity: (n, 3) m/s and rad/s.
        hinge: (j,) True for a hinge, False for a ball joint.
        base, follower: (j,) bodies; -1 is the ground.
        point, axis: (j, 3) where the joint is, m, and the hinge's direction, both in the world at the start; of a
            ball joint, the direction about which it turns above all, for engines that describe it with angles.
        size: length of a typical body, m; a joint that opens so far has come apart.
    """

    mass: Array
    inertia: Array
    position: Array
    velocity: Array
    angular_velocity: Array
    hinge: NDArray[np.bool_]
    base: Indices
    follower: Indices
    point: Array
    axis: Array
    size: float

    @property
    def bodies(self) -> int:
        """Number of bodies."""
        return len(self.mass)

    @property
    def joints(self) -> int:
        """Number of joints."""
        return len(self.base)

    def arms(self) -> tuple[Array, Array]:
        """The joints' points in the frames of base and follower, each (j, 3) m; of the ground, in the world."""
        origin = np.concatenate([self.position, np.zeros((1, 3))])  # index -1 is the last
        return self.point - origin[self.base], self.point - origin[self.follower]

    def joint_rates(self, tree: Tree) -> Array:
        """(n, 3) rad/s: how fast each body turns relative to its parent in the tree, at the start."""
        spin = np.concatenate([self.angular_velocity, np.zeros((1, 3))])
        return np.asarray(self.angular_velocity - spin[tree.parent])

    def gap(self, position: Array, rotation: Array) -> float:
        """Largest distance between a joint's two points, m, when the bodies are at (n, 3) and turned by (n, 3, 3)."""
        on_base, on_follower = self.arms()
        place = np.concatenate([position, np.zeros((1, 3))])
        turn = np.concatenate([rotation, np.eye(3)[None]])
        first = place[self.base] + np.einsum("nij,nj->ni", turn[self.base], on_base)
        second = place[self.follower] + np.einsum("nij,nj->ni", turn[self.follower], on_follower)
        return float(np.linalg.norm(first - second, axis=1).max())

    def energies(self, position: Array, rotation: Array, velocity: Array, spin: Array) -> tuple[float, float]:
        """Kinetic and potential energy, J; the latter is zero at the start."""
        own = np.einsum("nji,nj->ni", rotation, spin)
        kinetic = 0.5 * (self.mass @ (velocity**2).sum(axis=1) + np.einsum("ni,nij,nj", own, self.inertia, own))
        return float(kinetic), float(GRAVITY * self.mass @ (position[:, 2] - self.position[:, 2]))


@dataclass(frozen=True)
class Tree:
    """A spanning tree that hangs from the ground.

    Attributes:
        order: (n,) bodies, each after its parent.
        parent: (n,) body, -1 for the ground.
        joint: (n,) the joint that carries each body.
        closing: joints that are not in the tree.
    """

    order: Indices
    parent: Indices
    joint: Indices
    closing: Indices


def spanning_tree(mechanism: Mechanism) -> Tree:
    """Breadth first from the ground, so that branches stay short.

    Raises:
        ValueError: a body hangs on nothing.
    """
    bodies, joints = mechanism.bodies, np.arange(mechanism.joints)
    # what is already a tree in order is taken as it is: a million bodies need no search
    if (
        len(joints) == bodies
        and bool((mechanism.base < mechanism.follower).all())
        and len(np.unique(mechanism.follower)) == bodies
    ):
        joint = np.argsort(mechanism.follower)
        return Tree(np.arange(bodies), mechanism.base[joint], joint, np.empty(0, np.int64))
    at: list[list[tuple[int, int]]] = [[] for _ in range(bodies + 1)]
    for j, (base, follower) in enumerate(zip(mechanism.base.tolist(), mechanism.follower.tolist(), strict=True)):
        at[base].append((j, follower))
        at[follower].append((j, base))
    parent, joint = np.full(bodies, -2), np.full(bodies, -1)
    order: list[int] = []
    waiting = deque([-1])
    while waiting:
        body = waiting.popleft()
        for j, other in at[body]:
            if other >= 0 and parent[other] == -2:
                parent[other], joint[other] = body, j
                order.append(other)
                waiting.append(other)
    if len(order) < bodies:
        raise ValueError(f"{bodies - len(order)} bodies hang on nothing")
    return Tree(np.array(order), parent, joint, np.setdiff1d(joints, joint))


def box_inertia(mass: Array, x: Array | float, y: Array | float, z: Array | float) -> Array:
    """Moments (n, 3, 3) of boxes with these full lengths, kg m^2."""
    squares = np.stack(np.broadcast_arrays(np.square(x), np.square(y), np.square(z), mass)[:3], axis=-1)
    moments = np.asarray(mass)[:, None] / 12.0 * (squares.sum(axis=1, keepdims=True) - squares)
    return np.asarray(moments[:, :, None] * np.eye(3))
