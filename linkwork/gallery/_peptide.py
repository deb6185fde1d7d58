"""A polypeptide as a mechanism: rigid peptide planes and alpha carbons on phi and psi hinges. Lengths in nm, masses in u."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import linkwork as lw
from linkwork.gallery._backbone import generate
from linkwork.gallery._pdb import Atom, Residue
from linkwork.gallery._reach import HingeChain
from linkwork.scene.frames import frame_from_z

__all__ = ["add_backbone", "hinges_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

ATOM_RADIUS = 0.06  # nm: atoms have size, so that a bare alpha carbon resists a spin
RIGIDITY = 2e8  # 1 / (nm^3 s^2): Young's modulus over the largest inertia that a drive turns
RESPONSE = 30.0  # rad/s at which a drive brings back all that its hinge carries
WITH_C, WITH_N = ("C", "O", "OXT"), ("N", "H", "HN", "D", "H1", "H2", "H3")


def add_backbone(scene: lw.Scene, chain: list[Residue]) -> None:
    """Add the units of a chain and their hinges; each hinge has a drive that holds it where it is.

    Bodies: alpha carbons with their side chains, 0 to n - 1, the first of them fixed; then the peptide planes between
    them. The frame of an alpha carbon begins at it, that of a plane at the alpha carbon before it. The ring of a
    proline holds its phi, so that its hinge is welded.
    """
    n = len(chain)
    backbone = np.array([[residue.atoms[name].place for name in ("N", "CA", "C")] for residue in chain])
    N, CA, C = backbone[:, 0], backbone[:, 1], backbone[:, 2]
    origins = np.concatenate([CA, CA[:-1]])
    frames = np.concatenate([_frames(C - CA, N - CA), _frames(CA[1:] - CA[:-1], C[:-1] - CA[:-1])])
    mass, centre, inertia = _masses(chain, 2 * n - 1)
    com = np.einsum("nji,nj->ni", frames, centre - origins)
    inertia = np.einsum("nji,njk,nkl->nil", frames, inertia, frames)
    carried = _inertia_beyond(backbone, mass, centre, inertia, frames)
    material = lw.Material(young=RIGIDITY * max(float(each.max()) for each in carried))
    alpha, plane = _drawings()
    scene.add_body(alpha, position=origins[0], rotation=frames[0], fixed=True, name="first alpha")
    for shape, which, name in ((alpha, slice(1, n), "alpha"), (plane, slice(n, None), "plane")):
        scene.add_bodies(
            shape,
            origins[which],
            frames[which],
            mass=mass[which],
            inertia=inertia[which],
            com=com[which],
            material=material,
            name=name,
        )
    alphas, planes = scene.bodies[:n], scene.bodies[n : 2 * n - 1]
    # hinges in a row give way one after the other: the more there are, the stiffer each
    stiffness = [2 * n * RESPONSE**2 * each for each in carried]
    ring = np.array([residue.kind == "PRO" for residue in chain[1:]])
    free = ~ring
    drive = lw.PD(stiffness[0], 2.0 / RESPONSE * stiffness[0])
    scene.add_joints(lw.Hinge((C - CA)[:-1]), alphas[:-1], planes, at=CA[:-1], drive=drive, name="psi")
    if free.any():
        drive = lw.PD(stiffness[1][free], 2.0 / RESPONSE * stiffness[1][free])
        axes = (CA - N)[1:][free]
        scene.add_joints(lw.Hinge(axes), planes[free], alphas[1:][free], at=CA[1:][free], drive=drive, name="phi")
    if ring.any():
        scene.add_joints(lw.Fixed(), planes[ring], alphas[1:][ring], at=CA[1:][ring], name="ring")


def hinges_of(model: lw.Model) -> tuple[HingeChain, Ints]:
    """The joints of a backbone in their order along the chain, psi, phi, psi, ..., for inverse kinematics."""
    count = len(model.joint_kind)
    n = count // 2 + 1
    follower = model.joint_follower
    place = np.where(follower < n, 2 * follower - 1, 2 * (follower - n))
    order = np.argsort(place)
    body = follower[order]
    axes = np.einsum("nij,nj->ni", model.rotation[body], model.frame_follower[order, :, 2])
    points = model.translation[body] + np.einsum("nij,nj->ni", model.rotation[body], model.point_follower[order])
    turns = np.isin(order, model.law_joint)
    return HingeChain(axes, points, turns), order


def _frames(x: Floats, y: Floats) -> Floats:
    """Right-handed frames (n, 3, 3) with x along the first vectors and the second ones in their x, y plane."""
    e = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = np.cross(e, y)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([e, np.cross(z, e), z], axis=2)


def _masses(chain: list[Residue], units: int) -> tuple[Floats, Floats, Floats]:
    """Mass, centre and inertia about the centre of every unit, world axes, from the atoms that belong to it."""
    n = len(chain)
    atoms: list[Atom] = []
    owners: list[int] = []
    for k, residue in enumerate(chain):
        for name, atom in residue.atoms.items():
            backward, forward = name in WITH_N and k > 0, name in WITH_C and k + 1 < n
            owners.append(n + k - 1 if backward else n + k if forward else k)
            atoms.append(atom)
    unit = np.array(owners)
    weight, place = np.array([atom.mass for atom in atoms]), np.array([atom.place for atom in atoms])
    mass, centre, inertia = np.zeros(units), np.zeros((units, 3)), np.zeros((units, 3, 3))
    np.add.at(mass, unit, weight)
    np.add.at(centre, unit, weight[:, None] * place)
    centre /= mass[:, None]
    arm = place - centre[unit]
    own = np.square(arm).sum(axis=1) + 0.4 * ATOM_RADIUS**2
    spread = own[:, None, None] * np.eye(3) - arm[:, :, None] * arm[:, None, :]
    np.add.at(inertia, unit, weight[:, None, None] * spread)
    return mass, centre, inertia


def _inertia_beyond(backbone: Floats, mass: Floats, centre: Floats, inertia: Floats, frames: Floats) -> list[Floats]:
    """Moments of inertia about the psi and phi axes of all that comes after them in the chain."""
    n = len(backbone)
    along = np.empty(2 * n - 2, dtype=np.intp)
    along[0::2], along[1::2] = np.arange(n, 2 * n - 1), np.arange(1, n)
    m, p = mass[along], centre[along]
    turned = np.einsum("nij,njk,nlk->nil", frames[along], inertia[along], frames[along])
    second = 0.5 * np.trace(turned, axis1=1, axis2=2)[:, None, None] * np.eye(3) - turned
    second += m[:, None, None] * p[:, :, None] * p[:, None, :]
    M, f, S = (np.cumsum(part[::-1], axis=0)[::-1] for part in (m, m[:, None] * p, second))
    beyond = []
    for first, (atom, ahead) in enumerate(((backbone[:-1, 1], backbone[:-1, 2]), (backbone[1:, 1], backbone[1:, 0]))):
        axis = (ahead - atom) / np.linalg.norm(ahead - atom, axis=1, keepdims=True)
        M_, f_, S_ = M[first::2], f[first::2], S[first::2]
        from_axis = f_[:, :, None] * atom[:, None, :]
        S_ = S_ - from_axis - from_axis.transpose(0, 2, 1) + M_[:, None, None] * atom[:, :, None] * atom[:, None, :]
        beyond.append(np.trace(S_, axis1=1, axis2=2) - np.einsum("ni,nij,nj->n", axis, S_, axis))
    return beyond


def _drawings() -> tuple[lw.Compound, lw.Compound]:
    """An alpha carbon and a peptide plane as they are drawn, with standard lengths and angles."""
    before, after = generate(2)[0]
    places = np.array([before.atoms["CA"].place, *(before.atoms[name].place for name in ("C", "O"))])
    places = np.concatenate([places, [after.atoms["N"].place, after.atoms["CA"].place]])
    frame = _frames(places[4:] - places[:1], places[1:2] - places[:1])[0]
    CA, C, oxygen, N, next_CA = (places - places[0]) @ frame
    bonds = [_bond(CA, C, 0.03), _bond(C, N, 0.03), _bond(N, next_CA, 0.03), _bond(C, oxygen, 0.025)]
    plate = lw.Box(0.27, 0.2, 0.012), 0.5 * (C + N)
    return lw.Compound([lw.Sphere(0.055)]), lw.Compound([*bonds, plate])


def _bond(a: Floats, b: Floats, radius: float) -> tuple[lw.Capsule, Floats, Floats]:
    along = (b - a) / np.linalg.norm(b - a)
    return lw.Capsule(radius, float(np.linalg.norm(b - a))), 0.5 * (a + b), frame_from_z(along[None])[0]
