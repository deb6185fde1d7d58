"""Bad input is refused by name, with the reason."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import linkwork as lw

BOX = lw.Box(0.1, 0.1, 0.1)
NAN, INF = float("nan"), float("inf")
FOUR = np.zeros((4, 3))


def one_nan() -> np.ndarray:
    positions = FOUR.copy()
    positions[2, 1] = NAN
    return positions


@pytest.fixture
def s() -> SimpleNamespace:
    """A scene with bodies a and b, three links, a fixed wall and a driven crank; and another scene."""
    scene = lw.Scene()
    made = SimpleNamespace(
        scene=scene,
        a=scene.add_body(BOX, name="a"),
        b=scene.add_body(BOX, position=(1, 0, 0), name="b"),
        links=scene.add_bodies(BOX, FOUR[:3], name="links"),
        wall=scene.add_body(BOX, fixed=True, name="wall"),
        crank=scene.add_body(BOX, trajectory=lambda t: ((t, 0, 0), None), name="crank"),
        other=lw.Scene(),
    )
    made.body = lambda shape=BOX, **given: scene.add_body(shape, name="cup", **given)
    made.bodies = lambda shape=BOX, positions=FOUR, **given: scene.add_bodies(shape, positions, name="cups", **given)
    made.joint = lambda kind, **given: scene.add_joint(kind, made.a, made.b, name="knee", **given)
    made.joints = lambda kind, **given: scene.add_joints(kind, scene.ground, made.links, name="knees", **given)
    return made


CUP = r'body "cup" \(index 7\): .*'
CUPS = r'body set "cups": .*'
BODIES: dict[str, tuple[Callable[[Any], object], str]] = {
    "position nan": (lambda s: s.body(position=(0, NAN, 0)), CUP + "position must be finite"),
    "position infinite": (lambda s: s.body(position=(0, INF, 0)), CUP + "position must be finite"),
    "position too short": (lambda s: s.body(position=(0, 0)), CUP + r"position must have shape \(3,\), got \(2,\)"),
    "position a row": (lambda s: s.body(position=[[0, 0, 0]]), CUP + "position must have shape"),
    "position ragged": (lambda s: s.body(position=[0, [1, 2], 3]), CUP + "position must be numbers"),
    "position text": (lambda s: s.body(position="origin"), CUP + "position must be numbers.*got a str"),
    "position complex": (lambda s: s.body(position=(0, 1j, 0)), CUP + "position must be numbers"),
    "position with None": (lambda s: s.body(position=(0, None, 0)), CUP + "position must be numbers"),
    "velocity nan": (lambda s: s.body(velocity=(NAN, 0, 0)), CUP + "velocity must be finite"),
    "velocity a number": (lambda s: s.body(velocity=3.0), CUP + r"velocity must have shape \(3,\)"),
    "angular velocity infinite": (lambda s: s.body(angular_velocity=(0, 0, -INF)), CUP + "angular_velocity must be"),
    "density zero": (lambda s: s.body(density=0.0), CUP + "density must be above zero, got 0"),
    "density negative": (lambda s: s.body(density=-2.0), CUP + "density must be above zero, got -2"),
    "density nan": (lambda s: s.body(density=NAN), CUP + "density must be finite"),
    "density None": (lambda s: s.body(density=None), CUP + "density must be numbers.*got None"),
    "mass zero": (lambda s: s.body(mass=0.0), CUP + "mass must be above zero"),
    "mass negative": (lambda s: s.body(None, mass=-1.0, inertia=[1, 1, 1]), CUP + "mass must be above zero"),
    "mass infinite": (lambda s: s.body(None, mass=INF, inertia=[1, 1, 1]), CUP + "mass must be finite"),
    "no mass at all": (lambda s: s.body(None), CUP + "has neither a shape nor a mass"),
    "inertia without mass": (lambda s: s.body(inertia=[1, 1, 1]), CUP + "inertia given without mass"),
    "inertia over the triangle": (
        lambda s: s.body(None, mass=1.0, inertia=[1, 1, 2.01]),
        CUP + "no body has the principal moments of inertia 1, 1, 2.01.*must not exceed",
    ),
    "inertia tensor over the triangle": (
        lambda s: s.body(None, mass=1.0, inertia=[[1, 0.9, 0], [0.9, 1, 0], [0, 0, 0.5]]),
        CUP + "no body has the principal moments",
    ),
    "inertia negative": (lambda s: s.body(None, mass=1.0, inertia=[-1, 1, 1]), CUP + "no body has"),
    "inertia all negative": (lambda s: s.body(None, mass=1.0, inertia=[-1, -1, -1]), CUP + "no body has"),
    "inertia zero": (lambda s: s.body(None, mass=1.0, inertia=[0, 0, 0]), CUP + "inertia of a point"),
    "inertia of a segment": (lambda s: s.body(None, mass=1.0, inertia=[1, 1, 0]), CUP + "segment.*give it thickness"),
    "inertia not symmetric": (
        lambda s: s.body(None, mass=1.0, inertia=[[1, 0.1, 0], [0, 1, 0], [0, 0, 1]]),
        CUP + "inertia is not symmetric",
    ),
    "inertia nan": (lambda s: s.body(None, mass=1.0, inertia=[1, 1, NAN]), CUP + "inertia must be finite"),
    "inertia of wrong shape": (
        lambda s: s.body(None, mass=1.0, inertia=[1, 1]),
        CUP + r"inertia must have shape \(3,\)",
    ),
    "inertia a number": (lambda s: s.body(None, mass=1.0, inertia=1.0), CUP + "inertia must have shape"),
    "com beside a shape": (lambda s: s.body(com=(0, 0, 1)), CUP + "com needs mass and inertia"),
    "com nan": (lambda s: s.body(None, mass=1.0, inertia=[1, 1, 1], com=(NAN, 0, 0)), CUP + "com must be finite"),
    "rotation a number": (lambda s: s.body(rotation=0.3), CUP + "rotation must have shape"),
    "rotation not orthonormal": (lambda s: s.body(rotation=2 * np.eye(3)), CUP + "rotation is not a rotation matrix"),
    "rotation a mirror": (lambda s: s.body(rotation=-np.eye(3)), CUP + "rotation mirrors space"),
    "rotation nan": (lambda s: s.body(rotation=np.full((3, 3), NAN)), CUP + "rotation must be finite"),
    "quaternion zero": (lambda s: s.body(rotation=(0, 0, 0, 0)), CUP + "quaternion.*length 0"),
    "quaternion long": (lambda s: s.body(rotation=(1, 1, 0, 0)), CUP + "quaternion.*unit length"),
    "shape a class": (lambda s: s.body(lw.Box), CUP + "shape must be a shape.*got the class Box"),
    "shape a number": (lambda s: s.body(3.0), CUP + "shape must be a shape.*got a float"),
    "shapes for one body": (lambda s: s.body([BOX, BOX]), CUP + "Compound"),
    "array shape for one body": (lambda s: s.body(lw.Sphere([1.0, 2.0])), CUP + "the shape has dimensions for 2"),
    "plane that moves": (lambda s: s.body(lw.Plane()), CUP + "a plane has no mass.*fixed=True"),
    "plane with mass": (lambda s: s.body(lw.Plane(), mass=1.0, inertia=[1, 1, 1]), CUP + "a plane has no mass"),
    "shape too small": (lambda s: s.body(lw.Sphere(1e-120)), CUP + "too large or too small"),
    "shape too large": (lambda s: s.body(lw.Sphere(1e120)), CUP + "too large or too small"),
    "shape a thread": (lambda s: s.body(lw.Box(1, 1e-9, 1e-9)), CUP + "thread.*give it thickness"),
    "material a name": (lambda s: s.body(material="steel"), CUP + "material must be a Material"),
    "fixed and fast": (lambda s: s.body(fixed=True, velocity=(1, 0, 0)), CUP + "a fixed body cannot have a velocity"),
    "fixed a word": (lambda s: s.body(fixed="no"), CUP + "fixed must be True or False"),
    "fixed on a trajectory": (
        lambda s: s.body(fixed=True, trajectory=lambda t: ((0, 0, 0), None)),
        CUP + "fixed=True and a trajectory",
    ),
    "trajectory no function": (lambda s: s.body(trajectory=(1, 2)), CUP + "trajectory must be a function"),
    "trajectory of a point": (lambda s: s.body(trajectory=lambda t: np.zeros(3)), CUP + "trajectory must return"),
    "trajectory nan": (
        lambda s: s.body(trajectory=lambda t: ((NAN, 0, 0), None)),
        CUP + "trajectory position at t = 0 s must be finite",
    ),
    "trajectory with bad rotation": (
        lambda s: s.body(trajectory=lambda t: ((0, 0, 0), np.zeros((3, 3)))),
        CUP + "trajectory rotation at t = 0 s is not a rotation",
    ),
    "name a number": (lambda s: s.scene.add_body(BOX, name=3), "name must be a string"),
    "positions nan": (
        lambda s: s.bodies(positions=one_nan()),
        r'body "cups\[2\]" \(index 9\): positions must be finite',
    ),
    "positions of one body": (lambda s: s.bodies(positions=(0, 0, 0)), CUPS + r"positions must have shape \(n, 3\)"),
    "positions transposed": (lambda s: s.bodies(positions=FOUR.T), CUPS + r"positions.*\(3, 4\)"),
    "positions ragged": (lambda s: s.bodies(positions=[[0, 0, 0], [0, 0]]), CUPS + "positions"),
    "positions text": (lambda s: s.bodies(positions="here"), CUPS + "positions"),
    "rotations too few": (
        lambda s: s.bodies(rotations=np.tile(np.eye(3), (3, 1, 1))),
        CUPS + "rotation must have shape",
    ),
    "velocities too few": (lambda s: s.bodies(velocities=FOUR[:3]), CUPS + "velocity must have shape"),
    "one density bad": (lambda s: s.bodies(density=[1, 1, 1, -1]), r'"cups\[3\]" \(index 10\): density must be above'),
    "densities too few": (lambda s: s.bodies(density=[1, 1, 1]), CUPS + "density must have shape"),
    "one mass bad": (lambda s: s.bodies(mass=[1, 0, 1, 1]), r'"cups\[1\]" \(index 8\): mass must be above'),
    "one inertia bad": (
        lambda s: s.bodies(None, mass=1.0, inertia=[[1, 1, 1], [1, 1, 1], [1, 1, 9], [1, 1, 1]]),
        r'"cups\[2\]" \(index 9\): no body has',
    ),
    "shared inertia bad": (lambda s: s.bodies(None, mass=1.0, inertia=[1, 1, 9]), CUPS + "no body has"),
    "inertias too few": (lambda s: s.bodies(None, mass=1.0, inertia=np.ones((5, 3))), CUPS + "inertia must have shape"),
    "array shape of other length": (lambda s: s.bodies(lw.Box([1, 2], 1, 1)), CUPS + "dimensions for 2 bodies, not 4"),
    "one of a list of shapes bad": (lambda s: s.bodies([BOX, BOX, 3, BOX]), r'"cups\[2\]" \(index 9\): shape must be'),
    "list of shapes too short": (lambda s: s.bodies([BOX]), CUPS + "a list of shapes needs one for each"),
    "density beyond all numbers": (lambda s: s.body(density=1e300), CUP + "out of the range of what can be computed"),
    "density next to nothing": (lambda s: s.body(density=1e-300), CUP + "out of the range of what can be computed"),
    "mass and inertia beyond all numbers": (
        lambda s: s.body(None, mass=1e300, inertia=[1e300] * 3),
        CUP + "out of the range of what can be computed",
    ),
    "inertia next to nothing": (
        lambda s: s.body(None, mass=1.0, inertia=[1e-200] * 3),
        CUP + "out of the range of what can be computed",
    ),
    "one of many densities beyond all numbers": (
        lambda s: s.bodies(density=[1, 1, 1e300, 1]),
        r'"cups\[2\]" \(index 9\): a mass of 1e\+297 kg',
    ),
    "trajectory that fails": (
        lambda s: s.body(trajectory=lambda t: 1 / 0),
        CUP + "trajectory failed at t = 0 s: ZeroDivisionError",
    ),
    "fixed set with a speed": (lambda s: s.bodies(fixed=True, velocities=(1, 0, 0)), CUPS + "a fixed body"),
}


@pytest.mark.parametrize(("act", "message"), BODIES.values(), ids=BODIES.keys())
def test_bad_bodies_are_refused(s: SimpleNamespace, act: Callable[[Any], object], message: str) -> None:
    with pytest.raises(lw.SceneError, match=message):
        act(s)
    assert len(s.scene.bodies) == 7


KNEE = r'joint "knee" \(index 0\): .*'
HINGE = lw.Hinge((0, 0, 1))
UNIVERSAL = lw.Universal((1, 0, 0), (0, 1, 0))
JOINTS: dict[str, tuple[Callable[[Any], object], str]] = {
    "axis zero": (lambda s: s.joint(lw.Hinge((0, 0, 0))), KNEE + "axis is zero"),
    "axis nan": (lambda s: s.joint(lw.Prismatic((0, NAN, 0))), KNEE + "axis must be finite"),
    "axis short": (lambda s: s.joint(lw.Cylindrical((0, 1))), KNEE + r"axis must have shape \(3,\)"),
    "axis a letter": (lambda s: s.joint(lw.Slot("z")), KNEE + "axis must be numbers"),
    "normal zero": (lambda s: s.joint(lw.Planar((0, 0, 0))), KNEE + "normal is zero"),
    "ball axis zero": (lambda s: s.joint(lw.Ball(axis=(0, 0, 0))), KNEE + "axis is zero"),
    "second axis zero": (lambda s: s.joint(lw.Universal((1, 0, 0), (0, 0, 0))), KNEE + "axis2 is zero"),
    "universal parallel": (
        lambda s: s.joint(lw.Universal((1, 0, 0), (-2, 0, 0))),
        KNEE + "axis and axis2 are parallel",
    ),
    "universal oblique": (lambda s: s.joint(lw.Universal((1, 0, 0), (1, 1, 0))), KNEE + "enclose 45 degrees"),
    "rectangular parallel": (lambda s: s.joint(lw.Rectangular((0, 1, 0), (0, 1, 0))), KNEE + "are parallel"),
    "rectangular oblique": (lambda s: s.joint(lw.Rectangular((0, 1, 0), (0, 1, 1))), KNEE + "enclose 45 degrees"),
    "pin along the slot": (lambda s: s.joint(lw.PinInSlot((0, 1, 0), (0, 1, 0))), KNEE + "pin and slot are parallel"),
    "pin oblique": (lambda s: s.joint(lw.PinInSlot((0, 1, 0), (0, 1, 2))), KNEE + "pin and slot enclose"),
    "cartesian frame skew": (lambda s: s.joint(lw.Cartesian(np.ones((3, 3)))), KNEE + "frame is not a rotation"),
    "kind a class": (lambda s: s.joint(lw.Hinge), KNEE + r"pass an instance of the joint kind: Hinge\(\.\.\.\)"),
    "kind a word": (lambda s: s.joint("hinge"), KNEE + "kind must be a joint"),
    "at nan": (lambda s: s.joint(HINGE, at=(NAN, 0, 0)), KNEE + "at must be finite"),
    "at short": (lambda s: s.joint(HINGE, at=(0, 0)), KNEE + "at must have shape"),
    "a pair of points for a hinge": (lambda s: s.joint(HINGE, at=FOUR[:2]), KNEE + "at must have shape"),
    "body with itself": (
        lambda s: s.scene.add_joint(HINGE, s.a, s.a),
        r'joint 0: joins body "a" \(index 0\) with itself',
    ),
    "ground with itself": (lambda s: s.scene.add_joint(HINGE, s.scene.ground, s.scene.ground), "ground with itself"),
    "body of another scene": (
        lambda s: s.scene.add_joint(HINGE, s.a, s.other.add_body(BOX, name="stranger")),
        "follower: .*stranger.* belongs to another scene",
    ),
    "ground of another scene": (lambda s: s.scene.add_joint(HINGE, s.other.ground, s.a), "base: .*another scene"),
    "bodies of another scene": (
        lambda s: s.scene.add_joints(HINGE, s.a, s.other.add_bodies(BOX, FOUR)),
        "followers: .*another scene",
    ),
    "unknown index": (lambda s: s.scene.add_joint(HINGE, 0, 7), "follower: there is no body 7; indices go from 0 to 6"),
    "index below the ground": (lambda s: s.scene.add_joint(HINGE, -2, 0), "base: there is no body -2"),
    "unknown index in an array": (lambda s: s.scene.add_joints(HINGE, 0, [1, 99]), "followers: there is no body 99"),
    "base None": (lambda s: s.scene.add_joint(HINGE, None, s.a), "base must be a body"),
    "base a name": (lambda s: s.scene.add_joint(HINGE, "a", s.b), "base must be a body"),
    "base a float": (lambda s: s.scene.add_joint(HINGE, 0.0, s.b), "base must be a body"),
    "many bodies for one joint": (lambda s: s.scene.add_joint(HINGE, s.links, s.b), "base must be one body"),
    "wall to ground": (lambda s: s.scene.add_joint(HINGE, s.scene.ground, s.wall), 'neither ground nor body "wall"'),
    "wall to crank": (lambda s: s.scene.add_joint(HINGE, s.crank, s.wall), 'neither body "crank" .* can move'),
    "limits turned round": (
        lambda s: s.joint(HINGE, limits=(1, -1)),
        KNEE + r"limits \(1, -1\) are in the wrong order",
    ),
    "limits above the start": (lambda s: s.joint(HINGE, limits=(0.1, 1)), KNEE + "exclude the start pose"),
    "limits below the start": (lambda s: s.joint(HINGE, limits=(-1, -0.1)), KNEE + "exclude the start pose"),
    "limits nan": (lambda s: s.joint(HINGE, limits=(NAN, 1)), KNEE + "lower end of limits must be a number"),
    "limits infinite the wrong way": (lambda s: s.joint(HINGE, limits=(INF, INF)), KNEE + "wrong order"),
    "limits one number": (lambda s: s.joint(HINGE, limits=1.0), KNEE + r"limits must have shape \(2,\)"),
    "limits three numbers": (lambda s: s.joint(HINGE, limits=(-1, 0, 1)), KNEE + r"limits must have shape \(2,\)"),
    "one pair for two coordinates": (lambda s: s.joint(UNIVERSAL, limits=(-1, 1)), KNEE + "a sequence of 2 pairs"),
    "pairs too many": (lambda s: s.joint(UNIVERSAL, limits=[(-1, 1)] * 3), KNEE + "a sequence of 2 pairs"),
    "second pair bad": (lambda s: s.joint(UNIVERSAL, limits=[None, (1, 2)]), KNEE + "exclude the start"),
    "spring negative": (lambda s: s.joint(HINGE, spring=-1.0), KNEE + "spring stiffness must be zero or more"),
    "spring infinite": (lambda s: s.joint(HINGE, spring=INF), KNEE + "spring stiffness must be finite"),
    "spring rest nan": (lambda s: s.joint(HINGE, spring=lw.Spring(1.0, NAN)), KNEE + "spring rest must be finite"),
    "spring a drive": (lambda s: s.joint(HINGE, spring=lw.PD(1.0)), KNEE + "spring must be a Spring"),
    "spring text": (lambda s: s.joint(HINGE, spring="stiff"), KNEE + "spring stiffness must be numbers"),
    "damping negative": (lambda s: s.joint(HINGE, damping=-1.0), KNEE + "damping must be zero or more"),
    "damping nan": (lambda s: s.joint(HINGE, damping=NAN), KNEE + "damping must be finite"),
    "damping for three of two": (
        lambda s: s.joint(UNIVERSAL, damping=[1, 2, 3]),
        KNEE + "damping has 3 entries.*2 free",
    ),
    "friction negative": (lambda s: s.joint(HINGE, friction=-0.1), KNEE + "friction must be zero or more"),
    "friction infinite": (lambda s: s.joint(HINGE, friction=INF), KNEE + "friction must be finite"),
    "drive a number": (lambda s: s.joint(HINGE, drive=3.0), KNEE + "drive must be PD, Position, Force or Velocity"),
    "drive a spring": (lambda s: s.joint(HINGE, drive=lw.Spring(1.0)), KNEE + "drive must be PD"),
    "drives for three of two": (lambda s: s.joint(UNIVERSAL, drive=[lw.PD(1.0)] * 3), KNEE + "drive has 3 entries"),
    "drive stiffness negative": (lambda s: s.joint(HINGE, drive=lw.PD(-1.0)), KNEE + "drive stiffness must be zero"),
    "drive damping negative": (lambda s: s.joint(HINGE, drive=lw.PD(1.0, -1.0)), KNEE + "drive damping must be zero"),
    "drive target nan": (lambda s: s.joint(HINGE, drive=lw.PD(1.0, target=NAN)), KNEE + "drive target must be finite"),
    "drive speed nan": (lambda s: s.joint(HINGE, drive=lw.Velocity(NAN)), KNEE + "drive target must be finite"),
    "drive force nan": (lambda s: s.joint(HINGE, drive=lw.Force(NAN)), KNEE + "drive value must be finite"),
    "drive bound negative": (lambda s: s.joint(HINGE, drive=lw.PD(1.0, max_force=-1)), KNEE + "max_force must be zero"),
    "drive bound nan": (
        lambda s: s.joint(HINGE, drive=lw.Velocity(1, max_force=NAN)),
        KNEE + "max_force must be a num",
    ),
    "position beyond the limits": (
        lambda s: s.joint(HINGE, limits=(-1, 1), drive=lw.Position(1.5)),
        KNEE + "the prescribed angle 1.5 lies outside its limits",
    ),
    "law on a weld": (lambda s: s.joint(lw.Fixed(), spring=1.0), KNEE + "spring given, but a Fixed joint has no free"),
    "law on a rod": (lambda s: s.joint(lw.Distance(), damping=1.0), KNEE + "damping given, but a Distance joint"),
    "rod of other length": (
        lambda s: s.joint(lw.Distance(length=1.1)),
        KNEE + "length is 1.1, but its points are 1 apart",
    ),
    "rod of no length": (lambda s: s.joint(lw.Distance(length=0.0)), KNEE + "length must be above zero"),
    "rod between equal points": (lambda s: s.joint(lw.Distance(), at=FOUR[:2]), KNEE + "its two points coincide"),
    "rod with length and limits": (lambda s: lw.Distance(1.0, limits=(0, 1)), "length and limits exclude each other"),
    "rod with length and limits=": (lambda s: s.joint(lw.Distance(1.0), limits=(0, 1)), KNEE + "length and limits"),
    "rope with two limits": (lambda s: s.joint(lw.Distance(limits=(0, 2)), limits=(0, 2)), KNEE + "limits given twice"),
    "rope too short": (lambda s: s.joint(lw.Distance(limits=(0, 0.5))), KNEE + "the coordinate is 1"),
    "swing limit zero": (lambda s: s.joint(lw.Ball(swing_limit=0.0)), KNEE + r"swing_limit must lie in \(0, pi\]"),
    "swing limit too wide": (lambda s: s.joint(lw.Ball(swing_limit=4.0)), KNEE + "swing_limit must lie"),
    "swing limit twice": (
        lambda s: s.joint(lw.Ball(swing_limit=1), limits=[(-1, 1), None, None]),
        KNEE + "given twice",
    ),
    "twist limits turned round": (
        lambda s: s.joint(lw.Ball(twist_limits=(1, -1))),
        KNEE + "twist_limits .* wrong order",
    ),
    "twist limits beside the start": (lambda s: s.joint(lw.Ball(twist_limits=(1, 2))), KNEE + "exclude the start"),
    "bending stiffness negative": (
        lambda s: s.joint(lw.Ball(bending_stiffness=-1)),
        KNEE + "bending_stiffness must be",
    ),
    "bending stiffness twice": (lambda s: s.joint(lw.Ball(bending_stiffness=1), spring=1.0), KNEE + "given twice"),
    "twisting damping nan": (
        lambda s: s.joint(lw.Ball(twisting_damping=NAN)),
        KNEE + "twisting_damping must be finite",
    ),
    "one axis of many zero": (
        lambda s: s.joints(lw.Hinge([[0, 0, 1], [0, 0, 0], [1, 0, 0]])),
        r'joint "knees\[1\]" \(index 1\): axis is zero',
    ),
    "one of many limits bad": (
        lambda s: s.joints(HINGE, limits=[[-1, 1], [-1, 1], [1, -1]]),
        r'"knees\[2\]" \(index 2\): .*wrong order',
    ),
    "one of many points nan": (
        lambda s: s.joints(HINGE, at=one_nan()[1:]),
        r'"knees\[1\]" \(index 1\): at must be finite',
    ),
    "points too few": (lambda s: s.joints(HINGE, at=FOUR[:2]), 'joint set "knees": at must have shape'),
    "dampings too few": (lambda s: s.joints(HINGE, damping=[1, 2]), 'joint set "knees": damping must have shape'),
    "per joint or per coordinate": (
        lambda s: s.joints(lw.Ball(), damping=np.ones(3)),
        "could be per joint or per coordinate",
    ),
    "sets of different size": (lambda s: s.scene.add_joints(HINGE, s.links[1:], s.links), "2 bases but 3 followers"),
    "one of many with itself": (
        lambda s: s.scene.add_joints(HINGE, [0, 2], [1, 2], name="set"),
        r'"set\[1\]" \(index 1\): joins body "links\[0\]" \(index 2\) with itself',
    ),
    "joint name a number": (lambda s: s.scene.add_joint(HINGE, s.a, s.b, name=3), "name must be a string"),
}


@pytest.mark.parametrize(("act", "message"), JOINTS.values(), ids=JOINTS.keys())
def test_bad_joints_are_refused(s: SimpleNamespace, act: Callable[[Any], object], message: str) -> None:
    with pytest.raises(lw.SceneError, match=message):
        act(s)
    assert len(s.scene.joints) == 0


OTHERS: dict[str, tuple[Callable[[Any], object], str]] = {
    "gravity a number": (lambda s: lw.Scene(gravity=-9.81), r"Scene: gravity must have shape \(3,\)"),
    "gravity nan": (lambda s: lw.Scene(gravity=(0, 0, NAN)), "Scene: gravity must be finite"),
    "force on the ground": (lambda s: s.scene.add_force(s.scene.ground, (0, 0, 1)), "a force on the ground"),
    "force nan": (lambda s: s.scene.add_force(s.a, (0, NAN, 1)), "force must be finite"),
    "one of many forces nan": (lambda s: s.scene.add_force(s.links, one_nan()[1:]), r"entry 1\): force must be finite"),
    "force a number": (lambda s: s.scene.add_force(s.a, 3.0), "force must have shape"),
    "torque infinite": (lambda s: s.scene.add_force(s.a, torque=(0, 0, INF)), "torque must be finite"),
    "neither force nor torque": (lambda s: s.scene.add_force(s.a), "give a force, a torque or both"),
    "torque at a point": (lambda s: s.scene.add_force(s.a, torque=(0, 0, 1), at=(0, 0, 0)), "at needs a force"),
    "point nan": (lambda s: s.scene.add_force(s.a, (0, 0, 1), at=(0, 0, NAN)), "at must be finite"),
    "force on a stranger": (lambda s: s.scene.add_force(s.other.add_body(BOX), (0, 0, 1)), "another scene"),
    "force on an unknown body": (lambda s: s.scene.add_force(9, (0, 0, 1)), "there is no body 9"),
    "box flat": (lambda s: lw.Box(1, 0, 1), "Box: y must be above zero, got 0"),
    "box inside out": (lambda s: lw.Box(1, 1, -1), "Box: z must be above zero"),
    "box nan": (lambda s: lw.Box(NAN, 1, 1), "Box: x must be finite"),
    "one of many boxes flat": (lambda s: lw.Box([1, 1, 0], 1, 1), r"Box \(entry 2\): x must be above zero"),
    "boxes of different number": (lambda s: lw.Box([1, 1], [1, 1, 1], 1), "arrays of one length"),
    "boxes in a matrix": (lambda s: lw.Box(np.ones((2, 2)), 1, 1), "arrays of one length"),
    "sphere infinite": (lambda s: lw.Sphere(INF), "Sphere: radius must be finite"),
    "sphere of a word": (lambda s: lw.Sphere("big"), "Sphere: radius must be numbers"),
    "capsule of negative length": (lambda s: lw.Capsule(1, -1), "Capsule: length must be zero or more"),
    "cylinder of no length": (lambda s: lw.Cylinder(1, 0), "Cylinder: length must be above zero"),
    "plane without direction": (lambda s: lw.Plane((0, 0, 0)), "Plane: normal is zero"),
    "plane offset nan": (lambda s: lw.Plane((0, 0, 1), NAN), "Plane: offset must be finite"),
    "plane as a mass": (lambda s: lw.Plane().moments(), "no volume and no mass"),
    "gravity set to nan": (lambda s: setattr(s.scene, "gravity", (0, 0, NAN)), "Scene: gravity must be finite"),
    "gravity set to a word": (lambda s: setattr(s.scene, "gravity", "down"), "Scene: gravity must be numbers"),
    "mesh file None": (lambda s: lw.Mesh.load(None), "path must be the name of a mesh file"),
    "mesh file a number": (lambda s: lw.Mesh.load(3), "path must be the name of a mesh file"),
    "member of an empty set": (lambda s: s.scene.joints[0], "there is no joint 0; the set is empty"),
    "young zero": (lambda s: lw.Material(young=0.0), "Material: young must be above zero"),
    "young nan": (lambda s: lw.Material(young=NAN), "Material: young must be finite"),
    "poisson of rubber": (lambda s: lw.Material(poisson=0.5), "poisson must lie between -1 and 0.4999"),
    "poisson below": (lambda s: lw.Material(poisson=-1.0), "poisson must lie"),
    "poisson nan": (lambda s: lw.Material(poisson=NAN), "poisson must be finite"),
    "friction negative": (lambda s: lw.Material(friction=-0.1), "Material: friction must be zero or more"),
    "restitution above one": (lambda s: lw.Material(restitution=1.1), "restitution must lie between 0 and 1"),
}


@pytest.mark.parametrize(("act", "message"), OTHERS.values(), ids=OTHERS.keys())
def test_bad_shapes_materials_and_forces_are_refused(
    s: SimpleNamespace, act: Callable[[Any], object], message: str
) -> None:
    with pytest.raises(lw.SceneError, match=message):
        act(s)
    assert len(s.scene.force_table) == 0
