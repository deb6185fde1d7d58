"""Settings of the co-rotated affine body method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from linkwork.mabd.stepper import Stepper
    from linkwork.model.model import Model

__all__ = ["MABD"]

MOST_ITERATIONS = 1_000_000


@dataclass(frozen=True)
class MABD:
    """Co-rotated affine bodies with exact joints (paper 000), made robust: the method for speed and scale.

    The default converges every component of the joint graph on its own: BDF2, first iterate at the advanced pose, geometric
    stiffness, line search on the incremental potential. `MABD.as_published()` is the paper's single iteration.

    Attributes:
        integrator: "bdf2" (second order) or "euler" (first order, dissipative).
        iterations: Newton iterations a step at most.
        update_tolerance: a step ends when no entry of a body's affine matrix changed by more (about radians and strain).
        joint_tolerance: and when no joint is violated by more, m and rad.
        published: one iteration from the old pose with a constant Hessian, as printed.
        fast_paths: use the specialised chain solver where it applies; both give the same answer.

    Example:
        sim = lw.Simulation(scene, lw.MABD(integrator="euler"), dt=1e-2)
    """

    integrator: str = "bdf2"
    iterations: int = 40
    update_tolerance: float = 1e-3
    joint_tolerance: float = 1e-8
    published: bool = False
    fast_paths: bool = True

    def __post_init__(self) -> None:
        from linkwork.errors import SceneError

        if self.integrator not in ("bdf2", "euler"):
            raise SceneError(f"MABD: integrator is {self.integrator!r}; choose 'bdf2' or 'euler'")
        if not isinstance(self.iterations, int | np.integer) or isinstance(self.iterations, bool):
            raise SceneError(f"MABD: iterations is {self.iterations!r}; give a whole number")
        if not 1 <= self.iterations <= MOST_ITERATIONS:
            raise SceneError(f"MABD: iterations is {self.iterations}; give a number from 1 to {MOST_ITERATIONS}")
        for name in ("update_tolerance", "joint_tolerance"):
            value = getattr(self, name)
            if not isinstance(value, int | float | np.number) or isinstance(value, bool) or not 0.0 < value < np.inf:
                raise SceneError(f"MABD: {name} is {value!r}; give a positive number")
        for name in ("published", "fast_paths"):
            if not isinstance(getattr(self, name), bool | np.bool_):
                raise SceneError(f"MABD: {name} is {getattr(self, name)!r}; give True or False")

    @staticmethod
    def as_published() -> MABD:
        """Return the scheme of paper 000: implicit Euler, one iteration from q^n, constant Hessian."""
        return MABD(integrator="euler", iterations=1, published=True)

    def build(self, model: Model, dt: float) -> Stepper:
        """Prepare a model for steps of dt seconds."""
        from linkwork.mabd.stepper import Stepper

        return Stepper(model, self, dt)
