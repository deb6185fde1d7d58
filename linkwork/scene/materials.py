"""What bodies are made of."""

from __future__ import annotations

from dataclasses import dataclass

from linkwork.errors import SceneError
from linkwork.scene.inputs import Label, fraction, nonnegative, numbers, positive

__all__ = ["Material"]


@dataclass(frozen=True)
class Material:
    """An isotropic elastic material with dry friction.

    Attributes:
        young: Young's modulus, Pa. Choose it for the load: the strain under tension F on an area A is F / (young A).
        poisson: Poisson's ratio, between -1 and 0.4999.
        friction: Coulomb coefficient of contacts, zero or more. Two bodies have the geometric mean of theirs: equal
            materials keep their value, and what is frictionless slides on everything.
        restitution: share of the normal speed kept at an impact, 0 to 1. Two bodies have the larger of theirs, so that
            a ball bounces on ground that was given none.
        rolling_friction: arm of the moment against rolling, m: the moment is at most this times the normal force. Two
            bodies have the larger of theirs.
        torsional_friction: arm of the moment against spinning about the normal, m; likewise.

    Raises:
        SceneError: a number lies outside its range.
    """

    young: float = 1e9
    poisson: float = 0.3
    friction: float = 0.5
    restitution: float = 0.0
    rolling_friction: float = 0.0
    torsional_friction: float = 0.0

    def __post_init__(self) -> None:
        label = Label("Material")
        positive(self.young, "young", label)
        nonnegative(self.friction, "friction", label)
        fraction(self.restitution, "restitution", label)
        nonnegative(self.rolling_friction, "rolling_friction", label)
        nonnegative(self.torsional_friction, "torsional_friction", label)
        poisson = float(numbers(self.poisson, "poisson", (), label)[0])
        if not -1.0 < poisson < 0.4999:
            raise SceneError(
                f"Material: poisson must lie between -1 and 0.4999, got {poisson:g}; "
                "an incompressible material has no finite stiffness against a change of volume"
            )

    @property
    def lame(self) -> tuple[float, float]:
        """Lame parameters (mu, lambda), Pa."""
        mu = self.young / (2.0 * (1.0 + self.poisson))
        return mu, self.young * self.poisson / ((1.0 + self.poisson) * (1.0 - 2.0 * self.poisson))
