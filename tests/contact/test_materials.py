"""What two materials make of a contact."""

from __future__ import annotations

import numpy as np
import warp as wp

from linkwork.contact.materials import pair_friction, pair_restitution


@wp.kernel(enable_backward=False)
def combine(a: wp.float64, b: wp.float64, out: wp.array(dtype=wp.float64)):
    out[0] = pair_friction(a, b)
    out[1] = pair_restitution(a, b)


def test_friction_is_the_geometric_mean_and_restitution_the_larger() -> None:
    out = wp.zeros(2, dtype=wp.float64, device="cpu")
    for a, b, friction, restitution in ((0.5, 0.5, 0.5, 0.5), (0.0, 0.9, 0.0, 0.9), (0.2, 0.8, 0.4, 0.8)):
        wp.launch(combine, dim=1, inputs=[a, b, out], device="cpu")
        np.testing.assert_allclose(out.numpy(), (friction, restitution), atol=1e-15)
