"""What is picked on the page: its name, pose and velocity in words, the forces of its joints as arrows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.scene.joints import JointId
from linkwork.view.stage import Stage
from linkwork.view.transport import Orders

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["Inspector"]

Floats = NDArray[np.float64]

FORCE = (200, 50, 60)
MOST_LISTED = 8
MOST_ARROWS = 2000


class Inspector:
    """Follows clicks on bodies and joints, and the two fields in which their numbers can be typed.

    Attributes:
        body, joint: what is picked, None for nothing.
        on_joint: told the name and the number of coordinates of a joint that was picked.
    """

    def __init__(self, gui: Any, simulation: Simulation, stage: Stage, orders: Orders) -> None:
        self._simulation = simulation
        self._stage = stage
        self._orders = orders
        self.body: int | None = None
        self.joint: int | None = None
        self.on_joint: Callable[[str, int], None] = lambda name, count: None
        model = simulation.model
        self._longest = 0.25 * stage.framing.distance
        with gui.add_folder("Picked"):
            self._text = gui.add_markdown("Click a body or a joint; drag a body to pull it.")
            self._body_field = gui.add_number("body", -1, min=-1, max=model.bodies - 1, step=1, hint="-1: none")
            self._joint_field = gui.add_number("joint", -1, min=-1, max=model.joints - 1, step=1, hint="-1: none")
            self._all = gui.add_checkbox(
                "all joint forces", False, hint=f"An arrow at each joint, at most {MOST_ARROWS:,}"
            )
        self._body_field.on_update(lambda event: self._typed(event, self._pick_body))
        self._joint_field.on_update(lambda event: self._typed(event, self._pick_joint))

    def _typed(self, event: Any, pick: Callable[[int | None], None]) -> None:
        # a field that was written by the page itself has no client
        if event.client is not None:
            row = int(event.target.value)
            self._orders.give(lambda: pick(None if row < 0 else row))

    def picked_body(self, body: int) -> None:
        """A body was clicked: asks the stepping thread to pick it."""
        self._orders.give(lambda: self._pick_body(body))

    def picked_joint(self, joint: int) -> None:
        """A joint was clicked."""
        self._orders.give(lambda: self._pick_joint(joint))

    def _pick_body(self, body: int | None) -> None:
        self.body = body
        self._body_field.value = -1 if body is None else body
        self._picked()

    def _pick_joint(self, joint: int | None) -> None:
        self.joint = joint
        self._joint_field.value = -1 if joint is None else joint
        if joint is None:
            self.on_joint("", 0)
        else:
            self.on_joint(self._joint_name(joint), len(self._simulation.joint_coordinates[joint]))
        self._picked()

    def _picked(self) -> None:
        self._stage.mark(self.body, self.joint)
        self.write()

    def _joint_name(self, joint: int) -> str:
        return self._simulation.model.joint_names(joint)

    def _joints(self) -> NDArray[np.intp]:
        """Joints whose forces are shown: the picked one, and those of the picked body."""
        model = self._simulation.model
        if self._all.value:
            return np.arange(0, model.joints, max(1, -(-model.joints // MOST_ARROWS)))
        wanted = np.zeros(model.joints, dtype=bool)
        if self.joint is not None:
            wanted[self.joint] = True
        if self.body is not None:
            wanted |= (model.joint_base == self.body) | (model.joint_follower == self.body)
        return np.flatnonzero(wanted)

    def show_arrows(self, poses: Floats) -> None:
        """Arrows of what the base exerts on the follower; on the picked body, of what is exerted on it."""
        rows = self._joints()
        if len(rows) == 0:
            self._stage.arrows("forces", np.zeros((0, 3)), np.zeros((0, 3)), FORCE)
            return
        forces = self._simulation.joint_forces[rows]
        if self.body is not None and not self._all.value:
            forces = np.where((self._simulation.model.joint_base[rows] == self.body)[:, None], -forces, forces)
        largest = float(np.linalg.norm(forces, axis=1).max())
        scale = self._longest / largest if largest > 0.0 else 0.0
        self._stage.arrows("forces", self._stage.joint_points(poses)[rows], scale * forces, FORCE)

    def write(self) -> None:
        """Bring the words up to date."""
        lines = []
        simulation, model = self._simulation, self._simulation.model
        if self.body is not None:
            body = self.body
            lines += [
                f"**body {body}: {model.body_names(body)}** ({model.mass[body]:.4g} kg)",
                f"position {_vector(simulation.positions[body])} m",
                f"quaternion x, y, z, w {_vector(simulation.quaternions[body])}",
                f"velocity {_vector(simulation.velocities[body])} m/s",
                f"angular velocity {_vector(simulation.angular_velocities[body])} rad/s",
            ]
            ours = np.flatnonzero((model.joint_base == body) | (model.joint_follower == body))
            forces = np.linalg.norm(simulation.joint_forces[ours], axis=1)
            for joint, force in list(zip(ours.tolist(), forces.tolist(), strict=True))[:MOST_LISTED]:
                lines.append(f"joint {joint} {self._joint_name(joint)}: {force:.4g} N")
            if len(ours) > MOST_LISTED:
                lines.append(f"and {len(ours) - MOST_LISTED} joints more")
        if self.joint is not None:
            joint = self.joint
            force, torque = simulation.joint_forces[joint], simulation.joint_torques[joint]
            lines += [
                f"**joint {joint}: {self._joint_name(joint)}** ({JointId(int(model.joint_kind[joint])).name.lower()})",
                f"coordinates {_vector(simulation.joint_coordinates[joint])} m, rad",
                f"rates {_vector(simulation.joint_rates[joint])} m/s, rad/s",
                f"force {_vector(force)} N, {np.linalg.norm(force):.4g} N in all",
                f"torque {_vector(torque)} N m, {np.linalg.norm(torque):.4g} N m in all",
            ]
        self._text.content = "  \n".join(lines) or "Click a body or a joint; drag a body to pull it."


def _vector(values: Floats) -> str:
    # beside numbers of any size, rounding errors are noise
    noise = 1e-12 * float(np.abs(values).max(initial=0.0))
    return "(" + ", ".join(f"{value if abs(value) > noise else 0.0:.4g}" for value in values) + ")"
