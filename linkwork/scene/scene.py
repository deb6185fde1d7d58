"""The scene: what the user says about bodies, joints and forces, checked as it is said."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from linkwork.errors import SceneError
from linkwork.scene import bodies as body_columns
from linkwork.scene import joining
from linkwork.scene.contact_rules import ContactBook
from linkwork.scene.handles import Bodies, Body, Indices, Joint, Joints, Names
from linkwork.scene.inputs import Array, Label, RotationLike, vectors
from linkwork.scene.joints import JointKind
from linkwork.scene.laws import LAW_COLUMNS
from linkwork.scene.materials import Material
from linkwork.scene.shapes import Shape
from linkwork.scene.table import Table
from linkwork.scene.trajectory import Trajectory

if TYPE_CHECKING:
    from linkwork.model.model import Model

__all__ = ["Scene"]

BodyLike = Body | Bodies | int | Sequence[Body] | Sequence[int] | Indices
DEFAULT_MATERIAL = Material()


class Scene:
    """Bodies, joints and forces; SI units, right-handed world with z up.

    Args:
        gravity: (3,) m/s^2.
        contact: False lets all bodies pass through each other.
        overlaps: what becomes of bodies that overlap in the start pose, which a warning lists: "pass" lets them pass through
            each other until they have come apart, "resolve" pushes them apart gently, "refuse" raises SceneError.

    Raises:
        SceneError: gravity is not three finite numbers.

    Examples:
        >>> scene = Scene()
        >>> link = scene.add_body(Box(0.1, 0.02, 0.02), position=(0.05, 0, 0))
        >>> hinge = scene.add_joint(Hinge((0, 1, 0)), scene.ground, link, at=(0, 0, 0))
    """

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81), *, contact: bool = True, overlaps: str = "pass") -> None:
        self.gravity = gravity
        self.contact_book = ContactBook(contact, overlaps)
        self.body_names = Names("body")
        self.joint_names = Names("joint")
        self.trajectories: dict[int, Trajectory] = {}
        self.body_table = Table(
            motion=(np.int8, ()),
            mass_kind=(np.int32, ()),
            position=(np.float64, (3,)),
            rotation=(np.float64, (3, 3)),
            velocity=(np.float64, (3,)),
            angular_velocity=(np.float64, (3,)),
        )
        self.mass_table = Table(
            mass=(np.float64, ()),
            volume=(np.float64, ()),
            com=(np.float64, (3,)),
            moments=(np.float64, (3,)),
            axes=(np.float64, (3, 3)),
            size=(np.float64, ()),
            lame_mu=(np.float64, ()),
            lame_lambda=(np.float64, ()),
            friction=(np.float64, ()),
            restitution=(np.float64, ()),
            rolling_friction=(np.float64, ()),
            torsional_friction=(np.float64, ()),
        )
        self.joint_table = Table(
            kind=(np.int8, ()),
            base=(np.int32, ()),
            follower=(np.int32, ()),
            point_base=(np.float64, (3,)),
            point_follower=(np.float64, (3,)),
            frame=(np.float64, (3, 3)),
            length=(np.float64, ()),
            distance_locked=(np.bool_, ()),
        )
        self.law_table = Table(
            joint=(np.int32, ()),
            slot=(np.int8, ()),
            **{name: ({"drive": np.int8, "cone": np.bool_}.get(name, np.float64), ()) for name in LAW_COLUMNS},
        )
        self.force_table = Table(
            body=(np.int32, ()), point=(np.float64, (3,)), force=(np.float64, (3,)), torque=(np.float64, (3,))
        )
        self._drawn: list[tuple[Shape, Indices]] = []
        self._mass_kinds: dict[Any, int] = {}
        self._joint_kinds: list[tuple[int, JointKind]] = []

    @property
    def gravity(self) -> Array:
        """Gravity (3,), m/s^2; may be set to three other finite numbers."""
        return self._gravity

    @gravity.setter
    def gravity(self, gravity: ArrayLike) -> None:
        self._gravity: Array = np.array(vectors(gravity, "gravity", Label("Scene"))[0])
        self._gravity.flags.writeable = False

    @property
    def ground(self) -> Body:
        """The fixed world; its body frame is the world frame, its index -1."""
        return Body(self, -1)

    @property
    def bodies(self) -> Bodies:
        """All bodies."""
        return Bodies(self, np.arange(len(self.body_table)))

    @property
    def joints(self) -> Joints:
        """All joints."""
        return Joints(self, np.arange(len(self.joint_table)))

    def __repr__(self) -> str:
        return f"<Scene of {len(self.body_table)} bodies and {len(self.joint_table)} joints>"

    def add_body(
        self,
        shape: Shape | None = None,
        *,
        position: ArrayLike | None = None,
        rotation: RotationLike | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        density: float = 1000.0,
        material: Material = DEFAULT_MATERIAL,
        mass: float | None = None,
        inertia: ArrayLike | None = None,
        com: ArrayLike | None = None,
        fixed: bool = False,
        trajectory: Callable[[float], Any] | None = None,
        group: str | None = None,
        name: str | None = None,
    ) -> Body:
        """Add one body, given by a shape and a density, or by mass and inertia.

        Args:
            shape: in the body's frame. With ``inertia`` it only serves for looks and contact.
            position: (3,) of the body's origin, m; None is the world's origin, or where the trajectory starts.
            rotation: 3x3 matrix, scipy Rotation or quaternion x, y, z, w; None does not turn the body.
            velocity: (3,) of the centre of mass, m/s.
            angular_velocity: (3,) rad/s, in the world.
            density: kg/m^3.
            material: elasticity and friction.
            mass: kg. With a shape and no inertia the density follows from it; alone it is a ball of that density.
            inertia: about the centre of mass in the body's axes, kg m^2: three principal moments or a 3x3 tensor.
            com: (3,) centre of mass in the body's frame, m, when mass is given without a shape or with inertia.
            fixed: the body never moves.
            trajectory: function t -> (position, rotation) that the body follows whatever acts on it.
            group: name of a contact group, for ``ignore_contact``.
            name: for messages and results.

        Raises:
            SceneError: numbers that are not finite, of the wrong shape or that no body can have.
        """
        label = Label("body", _checked_name(name, "body"), len(self.body_table))
        motion = None if trajectory is None else Trajectory(trajectory, label)
        index = body_columns.add(
            self,
            shape,
            label,
            position=position,
            rotation=rotation,
            velocity=velocity,
            angular_velocity=angular_velocity,
            density=density,
            material=material,
            mass=mass,
            inertia=inertia,
            com=com,
            fixed=fixed,
            trajectory=motion,
            group=group,
        )
        return Body(self, index)

    def add_bodies(
        self,
        shape: Shape | Sequence[Shape] | None,
        positions: ArrayLike,
        rotations: RotationLike | None = None,
        velocities: ArrayLike | None = None,
        angular_velocities: ArrayLike | None = None,
        *,
        density: ArrayLike = 1000.0,
        material: Material = DEFAULT_MATERIAL,
        fixed: bool = False,
        mass: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        com: ArrayLike | None = None,
        group: str | None = None,
        name: str | None = None,
    ) -> Bodies:
        """Add n bodies at once; a million take about a second.

        Args:
            shape: one shape for all, one with array dimensions such as ``Box(x, y, z)`` with x of shape (n,), or a
                list of n shapes (read one by one: for small sets).
            positions: (n, 3) body origins, m.
            rotations: one rotation for all or n of them, as in ``add_body``.
            velocities: (3,) or (n, 3) of the centres of mass, m/s.
            angular_velocities: (3,) or (n, 3) rad/s, in the world.
            density: kg/m^3; a number or (n,).
            material: elasticity and friction of all.
            fixed: none of them ever moves.
            mass: kg; a number or (n,).
            inertia: (3,), (n, 3), (3, 3) or (n, 3, 3) kg m^2; with three bodies, (3, 3) is one tensor for all.
            com: (3,) or (n, 3) m.
            group: name of their contact group, for ``ignore_contact``.
            name: of the set; members are called ``name[i]``.

        Raises:
            SceneError: as ``add_body``, naming the first bad member.
        """
        checked = _checked_name(name, "body set")
        count = body_columns.count_of(positions, checked)
        label = Label("body", checked, len(self.body_table), count)
        start = body_columns.add(
            self,
            shape,
            label,
            position=positions,
            rotation=rotations,
            velocity=velocities,
            angular_velocity=angular_velocities,
            density=density,
            material=material,
            mass=mass,
            inertia=inertia,
            com=com,
            fixed=fixed,
            group=group,
        )
        return Bodies(self, np.arange(start, start + count), checked)

    def add_joint(
        self,
        kind: JointKind,
        base: BodyLike,
        follower: BodyLike,
        *,
        at: ArrayLike | None = None,
        limits: Any = None,
        spring: Any = None,
        damping: Any = None,
        friction: Any = None,
        drive: Any = None,
        name: str | None = None,
    ) -> Joint:
        """Join two bodies; the laws act on the joint's free coordinates, which are zero in the start pose.

        With one free coordinate each law is one value. With several, it is one value for all of them, or a sequence
        with one entry (or None) for each, in the order of the catalogue; limits are always such a sequence then.

        Args:
            kind: the joint, for example ``Hinge(axis=(0, 0, 1))``.
            base: first body, or ``scene.ground``.
            follower: second body.
            at: world point (3,) in the start pose, m; None is the follower's origin. For Distance: the base's point
                (the follower's is its centre of mass), or both points (2, 3); None is both centres of mass.
            limits: (lower, upper), rad or m.
            spring: ``Spring`` or a stiffness, N m/rad or N/m.
            damping: N m s/rad or N s/m.
            friction: bound of the dry friction, N m or N.
            drive: ``PD``, ``Position``, ``Force`` or ``Velocity``.
            name: for messages and results.

        Raises:
            SceneError: bodies that cannot be joined, bad axes, or laws the joint cannot have.
        """
        label = Label("joint", _checked_name(name, "joint"), len(self.joint_table))
        laws = {"limits": limits, "spring": spring, "damping": damping, "friction": friction, "drive": drive}
        return Joint(self, joining.add(self, kind, base, follower, at, label, laws))

    def add_joints(
        self,
        kind: JointKind,
        bases: BodyLike,
        followers: BodyLike,
        *,
        at: ArrayLike | None = None,
        limits: Any = None,
        spring: Any = None,
        damping: Any = None,
        friction: Any = None,
        drive: Any = None,
        name: str | None = None,
    ) -> Joints:
        """Join n pairs of bodies at once; a single body (or ``scene.ground``) is joined to each of the others.

        Bodies may also be given as index arrays, -1 for the ground. Every number of the kind and of the laws may be
        an array (n,), every axis (n, 3), every pair of limits (n, 2).

        Args:
            kind: the kind of all joints.
            bases: first bodies, or ``scene.ground``.
            followers: second bodies, as many as bases unless one of the two is a single body.
            at: (3,) or (n, 3) m, as in ``add_joint``. For Distance: (n, 3), or (n, 2, 3).
            limits: as in ``add_joint``.
            spring: as in ``add_joint``.
            damping: as in ``add_joint``.
            friction: as in ``add_joint``.
            drive: as in ``add_joint``.
            name: of the set; members are called ``name[i]``.

        Raises:
            SceneError: as ``add_joint``, naming the first bad member.
        """
        checked = _checked_name(name, "joint set")
        count = joining.count_of(self, bases, followers, checked)
        label = Label("joint", checked, len(self.joint_table), count)
        laws = {"limits": limits, "spring": spring, "damping": damping, "friction": friction, "drive": drive}
        start = joining.add(self, kind, bases, followers, at, label, laws)
        return Joints(self, np.arange(start, start + count), checked)

    def add_force(
        self,
        bodies: BodyLike,
        force: ArrayLike | None = None,
        torque: ArrayLike | None = None,
        at: ArrayLike | None = None,
    ) -> None:
        """Add a constant force and torque in the world frame, on top of those already there.

        Args:
            bodies: one body or many.
            force: (3,) or (n, 3) N.
            torque: (3,) or (n, 3) N m.
            at: world point (3,) or (n, 3) in the start pose, m, fixed to the body; None is the centre of mass.

        Raises:
            SceneError: the ground is among the bodies, or numbers are not finite or of the wrong shape.
        """
        joining.add_force(self, bodies, force, torque, at)

    def ignore_contact(self, a: BodyLike | str, b: BodyLike | str | None = None) -> None:
        """Let a and b pass through each other: bodies, or groups named in ``add_body(..., group=...)``.

        Without it, shapes of different mechanisms touch each other and whatever is fixed or follows a trajectory; bodies
        that a joint joins never do, and other bodies of one mechanism only after ``self_contact``.

        Args:
            a: bodies or the name of a group.
            b: likewise; None is everything.

        Raises:
            SceneError: bodies or groups that do not exist, or more pairs of single bodies than can be listed.

        Examples:
            >>> scene = Scene()
            >>> door, frame = scene.add_body(Box(1, 0.1, 2)), scene.add_body(Box(2, 0.2, 3), fixed=True)
            >>> rollers = scene.add_bodies(Sphere(0.01), [(0.1, 0, 0), (0.2, 0, 0)], group="rollers")
            >>> scene.ignore_contact(door, frame)
            >>> scene.ignore_contact("rollers", "rollers")
        """
        self.contact_book.ignore(self, a, b)

    def self_contact(self, bodies: BodyLike | str | None = None, *, on: bool = True) -> None:
        """Let bodies touch others of the same mechanism, except those a joint joins them with.

        Args:
            bodies: of which any two may touch, or the name of a group; None is all there are and will be.
            on: False takes it back for these bodies.

        Raises:
            SceneError: bodies or groups that do not exist.
        """
        self.contact_book.allow_self(self, bodies, on)

    def build(self) -> Model:
        """Freeze the scene into a model.

        Raises:
            SceneError: the scene has no moving body.
        """
        from linkwork.model.build import build_model

        return build_model(self)

    def shapes(self) -> tuple[tuple[Shape, Indices], ...]:
        """Shapes and the indices of their bodies, one entry for each shape (array shapes: for each call)."""
        merged: dict[int, tuple[Shape, list[Indices]]] = {}
        for entry, (shape, indices) in enumerate(self._drawn):
            key = id(shape) if shape.count is None else -1 - entry
            merged.setdefault(key, (shape, []))[1].append(indices)
        return tuple((shape, np.concatenate(parts)) for shape, parts in merged.values())

    def joint_kind(self, index: int) -> JointKind:
        """The kind a joint was added with."""
        return joining.kind_of(self._joint_kinds, index)


def _checked_name(name: str | None, what: str) -> str | None:
    if name is not None and not isinstance(name, str):
        raise SceneError(f"{what}: name must be a string, got {type(name).__name__}")
    return name
