"""The joint graph: which bodies hang together, in which order to visit them, and what kind of graph each component is.

Only moving bodies count: the ground, fixed and kinematic bodies do not couple the joints that touch them.
"""

from dataclasses import dataclass

import numpy as np
import warp as wp
from numpy.typing import NDArray

__all__ = ["JointGraph"]

Int = NDArray[np.int32]


@wp.kernel(enable_backward=False)
def breadth_first(
    first: wp.array(dtype=wp.int32),
    neighbour: wp.array(dtype=wp.int32),
    roots: wp.array(dtype=wp.int32),
    place: wp.array(dtype=wp.int32),
    order: wp.array(dtype=wp.int32),
    component: wp.array(dtype=wp.int32),
):
    """Visit every body; place must hold -1. Components come out contiguous in order."""
    tail = int(0)
    found = int(0)
    for r in range(roots.shape[0]):
        root = roots[r]
        if place[root] < 0:
            head = tail
            order[tail] = root
            place[root] = tail
            component[root] = found
            tail += 1
            while head < tail:
                body = order[head]
                head += 1
                for e in range(first[body], first[body + 1]):
                    other = neighbour[e]
                    if place[other] < 0:
                        place[other] = tail
                        order[tail] = other
                        component[other] = found
                        tail += 1
            found += 1


@dataclass(frozen=True)
class JointGraph:
    """Components of moving bodies, in breadth-first order from an end of each.

    Attributes:
        order: moving bodies, component by component; a chain runs from one end to the other.
        place: (n,) position of a body in order, -1 for bodies that do not move.
        body_start: (c + 1,) first position of each component in order.
        joint_component: (j,) component of a joint.
        cycles: (c,) joints between moving bodies beyond those of a spanning tree.
        chain: (c,) True where every body has at most two neighbours and there is no cycle.
    """

    order: Int
    place: Int
    body_start: Int
    joint_component: Int
    cycles: Int
    chain: NDArray[np.bool_]

    @staticmethod
    def build(motion: NDArray[np.int8], base: Int, follower: Int) -> "JointGraph":
        n = len(motion)
        moving = np.flatnonzero(motion == 0).astype(np.int32)
        moves = np.append(motion == 0, False)  # the ground, -1, is the last entry
        inner = moves[base] & moves[follower]
        a, b = base[inner], follower[inner]
        ends = np.concatenate([a, b])
        others = np.concatenate([b, a])
        degree = np.bincount(ends, minlength=n)
        first = np.zeros(n + 1, np.int32)
        np.cumsum(degree, out=first[1:])
        neighbour = others[np.argsort(ends, kind="stable")].astype(np.int32)
        tips = moving[degree[moving] <= 1]
        roots = np.concatenate([tips, moving[degree[moving] > 1]])
        place = np.full(n, -1, np.int32)
        order = np.zeros(len(moving), np.int32)
        component = np.full(n, -1, np.int32)
        wp.launch(breadth_first, dim=1, inputs=[first, neighbour, roots, place, order, component], device="cpu")
        counts = np.bincount(component[moving]) if len(moving) else np.zeros(0, np.int64)
        body_start = np.zeros(len(counts) + 1, np.int32)
        np.cumsum(counts, out=body_start[1:])
        lead = np.where(moves[follower], follower, base)
        joint_component = component[lead].astype(np.int32) if len(base) else np.zeros(0, np.int32)
        edges = np.bincount(joint_component[inner], minlength=len(counts))
        widest = np.zeros(len(counts), np.int64)
        np.maximum.at(widest, component[moving], degree[moving])
        cycles = (edges - (counts - 1)).astype(np.int32)
        return JointGraph(order, place, body_start, joint_component, cycles, (cycles == 0) & (widest <= 2))
