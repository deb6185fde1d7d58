"""Which bodies can touch anything at all, and the filter for pairs of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp
from numpy.typing import NDArray

from linkwork.contact.geoms import Filter
from linkwork.errors import SceneError
from linkwork.model.graph import JointGraph
from linkwork.model.model import Model

__all__ = ["body_components", "can_any_touch", "pair_filter", "refuse_pairs_of_meshes"]

Int = NDArray[np.int32]
Mask = NDArray[np.bool_]


def body_components(graph: JointGraph) -> Int:
    """Component of the joint graph of each body, -1 for bodies that do not move freely."""
    component = np.full(len(graph.place), -1, np.int32)
    component[graph.order] = np.repeat(np.arange(len(graph.cycles), dtype=np.int32), np.diff(graph.body_start))
    return component


def can_any_touch(model: Model, graph: JointGraph) -> bool:
    """Whether the rules leave any two shaped bodies that may touch; at once for a single mechanism without colliders."""
    rules = model.contact_rules
    if not rules.on or not model.shapes or not len(graph.order):
        return False
    moves_all = len(graph.order) == model.bodies
    if moves_all and len(graph.cycles) == 1 and not _any(rules.self_contact):
        return False
    shaped = np.zeros(model.bodies, bool)
    for _, bodies in model.shapes:
        shaped[bodies] = True
    if _any(rules.silent):
        shaped &= ~rules.silent
    return _groups_touch(model, shaped, body_components(graph))


def _any(mask: Mask) -> bool:
    """Whether a mask holds True; a broadcast one is read once."""
    return bool(mask[0]) if mask.strides == (0,) and len(mask) else bool(mask.any())


def _groups_touch(model: Model, shaped: Mask, component: Int) -> bool:
    """Whether two groups (or one with itself) hold bodies of different components and do not pass through each other."""
    rules = model.contact_rules
    groups = len(rules.apart)
    bodies = np.flatnonzero(shaped)
    group, own = rules.group[bodies], component[bodies]
    moving, still = np.zeros(groups, bool), np.zeros(groups, bool)
    moving[group[own >= 0]] = True
    still[group[own < 0]] = True
    least, most = np.full(groups, len(component)), np.full(groups, -1)
    np.minimum.at(least, group[own >= 0], own[own >= 0])
    np.maximum.at(most, group[own >= 0], own[own >= 0])
    both_move = moving[:, None] & moving
    apart_components = np.minimum.outer(least, least) != np.maximum.outer(most, most)
    if _any(rules.self_contact):
        apart_components[:] = True
    touch = (moving[:, None] & still) | (still[:, None] & moving) | (both_move & apart_components)
    return bool((touch & ~rules.apart).any())


def pair_filter(model: Model, component: Int, device: str) -> Filter:
    """The filter of a model's pairs of bodies."""
    rules = model.contact_rules
    n = model.bodies
    own = _any(rules.self_contact)
    groups = len(rules.apart)
    made = Filter()
    made.bodies = n
    made.groups = groups
    made.group = _int_array(rules.group if groups > 1 else [], device)
    made.apart = _int_array(rules.apart.ravel(), device)
    made.self_contact = _int_array(rules.self_contact if own else [], device)
    base, follower = model.joint_base, model.joint_follower
    named = (base >= 0) & (follower >= 0)
    base, follower = base[named], follower[named]
    # within a component only those joints matter whose bodies would touch without them
    matters = (component[base] < 0) | (component[follower] < 0)
    if own:
        matters |= rules.self_contact[base] & rules.self_contact[follower]
    pairs = np.concatenate([np.stack([base[matters], follower[matters]], axis=1), rules.ignored]).astype(np.int64)
    made.ignored = wp.array(np.unique(pairs.min(axis=1) * n + pairs.max(axis=1)), dtype=wp.int64, device=device)
    return made


def _int_array(values: Any, device: str) -> wp.array:
    return wp.array(np.ascontiguousarray(values, dtype=np.int32), dtype=wp.int32, device=device)


def refuse_pairs_of_meshes(model: Model, component: Int, filter: Filter, bodies: Int) -> None:
    """Bodies with meshes must not be able to touch each other: only convex shapes are tested against triangles.

    Raises:
        SceneError: two of them may.
    """
    rules = model.contact_rules
    keys = filter.ignored.numpy()
    for place, body in enumerate(bodies[:-1]):
        others = bodies[place + 1 :]
        own = component[others] == component[body]
        together = own & (component[body] >= 0) & rules.self_contact[others] & rules.self_contact[body]
        pairs = np.minimum(body, others).astype(np.int64) * model.bodies + np.maximum(body, others)
        touch = (~own | together) & ~rules.apart[rules.group[body], rules.group[others]] & ~np.isin(pairs, keys)
        if touch.any():
            other = int(others[np.argmax(touch)])
            names = sorted((int(body), other))
            one, two = (model.body_names.label(index) for index in names)
            raise SceneError(
                f"{one} and {two}: both are meshes or heightfields, which do not touch each other; "
                "make one a ConvexHull or a Compound of convex shapes, or let them pass with ignore_contact"
            )
