"""Angles that count full turns where no law keeps track of them."""

from __future__ import annotations

import numpy as np
import warp as wp

from linkwork.mabd.affine import mat33
from linkwork.mabd.arrays import Array, Int, int_array, real_array, zeros
from linkwork.mabd.bodies import Bodies
from linkwork.mabd.coordinates import unwrap
from linkwork.mabd.joints import measure_rotation
from linkwork.mabd.layout import LawTable
from linkwork.model.model import Model
from linkwork.scene.joints import CATALOGUE


@wp.struct
class Angles:
    """One entry per angle; bodies as solver rows."""

    kind: wp.array(dtype=wp.int32)
    slot: wp.array(dtype=wp.int32)
    base: wp.array(dtype=wp.int32)
    follower: wp.array(dtype=wp.int32)
    frame_base: wp.array(dtype=mat33)
    frame_follower: wp.array(dtype=mat33)
    value: wp.array(dtype=wp.float64)  # rad, unwrapped


@wp.kernel(enable_backward=False)
def count_turns(R: wp.array(dtype=mat33), angles: Angles):
    """Take each angle to the one nearest to that of the step before, of all that differ by full turns."""
    i = wp.tid()
    B = R[angles.base[i]] * angles.frame_base[i]
    F = R[angles.follower[i]] * angles.frame_follower[i]
    angles.value[i] = unwrap(measure_rotation(angles.kind[i], angles.slot[i], B, F).value, angles.value[i])


class Turns:
    """The unbounded angles of a model that have no law.

    Their joints are of kinds that only the component engine takes, so the rotations in Bodies are those of the step.

    Attributes:
        joint, slot: of each.
    """

    def __init__(self, model: Model, table: LawTable, row: Int, bodies: Bodies) -> None:
        unbounded = np.zeros((len(CATALOGUE), 6), bool)
        for kind in CATALOGUE:
            unbounded[kind.id, list(kind.angles)] = True
        counted = unbounded[model.joint_kind]
        counted[table.joint, table.slot] = False
        self.joint, self.slot = np.nonzero(counted)
        self._bodies = bodies
        a = Angles()
        a.kind, a.slot = int_array(model.joint_kind[self.joint]), int_array(self.slot)
        a.base, a.follower = (int_array(row[end[self.joint]]) for end in (model.joint_base, model.joint_follower))
        a.frame_base, a.frame_follower = (
            real_array(frame[self.joint], mat33) for frame in (model.frame_base, model.frame_follower)
        )
        a.value = zeros(len(self.joint))
        self._angles = a

    def launch(self) -> None:
        """Follow the angles through one step that has just been taken."""
        if len(self.joint):
            wp.launch(count_turns, dim=len(self.joint), inputs=[self._bodies.R, self._angles], device="cpu")

    @property
    def counted(self) -> wp.array:
        """Angles after the last step, rad."""
        return self._angles.value

    @property
    def values(self) -> Array:
        """The same, as NumPy's."""
        values: Array = self._angles.value.numpy()
        return values

    def arrays(self) -> dict[str, wp.array]:
        """What the next step depends on."""
        return {"turning": self._angles.value}
