"""Newton on the processor: solvers XPBD, Featherstone, MuJoCo and Kamino, on one model."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import newton
import numpy as np
import warp as wp

from linkwork.bench.peers.frames import matrices
from linkwork.bench.peers.mechanism import GRAVITY, Array, Indices, Mechanism, spanning_tree
from linkwork.bench.peers.playing import CannotModelError, Motion

__all__ = ["build"]

UNTURNED = wp.quat(0.0, 0.0, 0.0, 1.0)


def build(
    mechanism: Mechanism,
    dt: float,
    *,
    solver: str,
    substeps: int = 1,
    options: Mapping[str, Any] | None = None,
) -> Motion:
    """`options` are those of the solver; Kamino's are fields of its configuration."""
    wp.config.quiet = True
    # it walks along articulations by recursion
    sys.setrecursionlimit(10_000 + 10 * mechanism.bodies)
    tree = spanning_tree(mechanism)
    if solver == "Featherstone" and len(tree.closing):
        raise CannotModelError("its Featherstone solver takes trees only, and this has loops")
    with wp.ScopedDevice("cpu"):
        builder = newton.ModelBuilder(up_axis=newton.Axis.Z, gravity=(0.0, 0.0, -GRAVITY))
        if solver == "Kamino":
            newton.solvers.SolverKamino.register_custom_attributes(builder)
        # by default every joint has some inertia of its own
        builder.default_joint_cfg.armature = 0.0
        index = _fill(builder, mechanism)
        model = builder.finalize(device="cpu")
        made = _solver(model, solver, dict(options or {}))
        now, then, control = model.state(), model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, now)
    step = dt / substeps

    def advance(count: int) -> None:
        nonlocal now, then
        with wp.ScopedDevice("cpu"):
            for _ in range(count * substeps):
                now.clear_forces()
                made.step(now, then, control, None, step)
                now, then = then, now

    def state() -> tuple[Array, Array, Array, Array]:
        pose, rate = now.body_q.numpy()[index].astype(float), now.body_qd.numpy()[index].astype(float)
        return pose[:, :3], matrices(pose[:, 3:], scalar_first=False), rate[:, :3], rate[:, 3:]

    return Motion(advance, state)


def _fill(builder: newton.ModelBuilder, mechanism: Mechanism) -> Indices:
    """Bodies, tree joints as one articulation, and the closing joints outside of it; the bodies' indices."""
    tree = spanning_tree(mechanism)
    index = np.full(mechanism.bodies + 1, -1)
    on_base, on_follower = mechanism.arms()
    rates = mechanism.joint_rates(tree)

    def join(j: int, parent: int, child: int, forward: bool = True) -> int:
        ends = (on_base[j], on_follower[j]) if forward else (on_follower[j], on_base[j])
        frames = {name: wp.transform(p=wp.vec3(*end), q=UNTURNED) for name, end in zip(
            ("parent_xform", "child_xform"), ends, strict=True
        )}  # fmt: skip
        if mechanism.hinge[j]:
            return int(builder.add_joint_revolute(parent, child, axis=wp.vec3(*mechanism.axis[j]), **frames))
        return int(builder.add_joint_ball(parent, child, **frames))

    joints: list[int] = []
    speeds: list[float] = []
    for i in tree.order:
        j, parent = tree.joint[i], tree.parent[i]
        index[i] = builder.add_link(
            xform=wp.transform(p=wp.vec3(*mechanism.position[i]), q=UNTURNED),
            mass=float(mechanism.mass[i]),
            inertia=wp.mat33(*mechanism.inertia[i].ravel()),
        )
        joints.append(join(j, int(index[parent]), int(index[i]), bool(mechanism.follower[j] == i)))
        speeds += [float(rates[i] @ mechanism.axis[j])] if mechanism.hinge[j] else rates[i].tolist()
    builder.add_articulation(joints)
    for j in tree.closing:
        join(j, int(index[mechanism.base[j]]), int(index[mechanism.follower[j]]))
    builder.joint_qd[: len(speeds)] = speeds
    return index[:-1]


def _solver(model: newton.Model, name: str, options: dict[str, Any]) -> Any:
    if name == "Kamino":
        kind = newton.solvers.SolverKamino
        parts = {key: value for key, value in options.items() if not isinstance(value, dict)}
        config = kind.Config(**parts)
        for part, values in options.items():
            if isinstance(values, dict):
                for key, value in values.items():
                    setattr(getattr(config, part), key, value)
        return kind(model, config=config)
    return getattr(newton.solvers, f"Solver{name}")(model, **options)
