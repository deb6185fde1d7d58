"""What the user says: bodies with shapes and materials, joints with laws, forces."""

from linkwork.scene.compound import Compound
from linkwork.scene.drives import PD, Force, Position, Spring, Velocity
from linkwork.scene.handles import Bodies, Body, Joint, Joints
from linkwork.scene.heightfield import Heightfield
from linkwork.scene.hull import ConvexHull
from linkwork.scene.joints import (
    Ball,
    Cartesian,
    Cylindrical,
    Distance,
    Fixed,
    Free,
    Hinge,
    PinInSlot,
    Planar,
    Prismatic,
    Rectangular,
    Slot,
    Universal,
)
from linkwork.scene.materials import Material
from linkwork.scene.meshes import Mesh
from linkwork.scene.scene import Scene
from linkwork.scene.shapes import Box, Capsule, Cylinder, Plane, Sphere

__all__ = [
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
    "Fixed",
    "Force",
    "Free",
    "Heightfield",
    "Hinge",
    "Joint",
    "Joints",
    "Material",
    "Mesh",
    "PinInSlot",
    "Planar",
    "Plane",
    "Position",
    "Prismatic",
    "Rectangular",
    "Scene",
    "Slot",
    "Sphere",
    "Spring",
    "Universal",
    "Velocity",
]
