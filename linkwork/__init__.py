"""linkwork: multibody dynamics from one link to a million, with joints that do not drift."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from linkwork.errors import LinkworkError, SceneError, SceneWarning, SimulationError
from linkwork.model.model import Model
from linkwork.scene import (
    PD,
    Ball,
    Bodies,
    Body,
    Box,
    Capsule,
    Cartesian,
    Compound,
    ConvexHull,
    Cylinder,
    Cylindrical,
    Distance,
    Fixed,
    Force,
    Free,
    Heightfield,
    Hinge,
    Joint,
    Joints,
    Material,
    Mesh,
    PinInSlot,
    Planar,
    Plane,
    Position,
    Prismatic,
    Rectangular,
    Scene,
    Slot,
    Sphere,
    Spring,
    Universal,
    Velocity,
)

if TYPE_CHECKING:
    from linkwork import view as view
    from linkwork.mabd import MABD
    from linkwork.record import Recording
    from linkwork.simulation import Energy, Simulation

# what carries the kernels, the viewer or the file formats is imported when it is first asked for
_ON_DEMAND = {
    "MABD": "linkwork.mabd",
    "Energy": "linkwork.simulation",
    "Recording": "linkwork.record",
    "Simulation": "linkwork.simulation",
}

__all__ = [
    "MABD",
    "PD",
    "Ball",
    "Bodies",
    "Body",
    "Box",
    "Capsule",
    "Cartesian",
    "Compound",
    "ConvexHull",
    "Cylinder",
    "Cylindrical",
    "Distance",
    "Energy",
    "Fixed",
    "Force",
    "Free",
    "Heightfield",
    "Hinge",
    "Joint",
    "Joints",
    "LinkworkError",
    "Material",
    "Mesh",
    "Model",
    "PinInSlot",
    "Planar",
    "Plane",
    "Position",
    "Prismatic",
    "Recording",
    "Rectangular",
    "Scene",
    "SceneError",
    "SceneWarning",
    "Simulation",
    "SimulationError",
    "Slot",
    "Sphere",
    "Spring",
    "Universal",
    "Velocity",
]


def __getattr__(name: str) -> Any:
    if name == "view":  # a package: lw.view.still
        return import_module("linkwork.view")
    if name in _ON_DEMAND:
        return getattr(import_module(_ON_DEMAND[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, "view"])
