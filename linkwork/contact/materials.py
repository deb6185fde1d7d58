"""What two materials make of a contact between them."""

import warp as wp

from linkwork.contact.geom import real


@wp.func
def pair_friction(a: real, b: real) -> real:
    """Geometric mean: equal materials keep their value, and what is frictionless slides on everything."""
    return wp.sqrt(a * b)


@wp.func
def pair_restitution(a: real, b: real) -> real:
    """The larger one: a ball bounces on ground that was given none. Rolling and torsional friction go the same way."""
    return wp.max(a, b)
