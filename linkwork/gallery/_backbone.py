"""Polypeptide backbones built from dihedral angles with standard bond lengths and angles, and written as PDB files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from linkwork.gallery._pdb import MASSES, Atom, Residue

__all__ = ["STRAND", "conformations", "dihedrals", "generate", "write_pdb"]

Floats = NDArray[np.float64]

# bond lengths in nm and angles in degrees, as averaged over small peptides
N_CA, CA_C, C_N, C_O, CA_CB = 0.1458, 0.1525, 0.1329, 0.1231, 0.1530
N_CA_C, CA_C_N, C_N_CA, CA_C_O, N_CA_CB = 111.2, 116.2, 121.7, 120.8, 110.5
CHIRAL = -122.6  # degrees from C to CB around N-CA, of L amino acids
HELIX, STRAND = (-57.0, -47.0), (-120.0, 130.0)
TURN = ((80.0, 30.0), (-90.0, 130.0), (-75.0, 0.0), (-60.0, 130.0))
OPEN_TURN = ((120.0, 80.0), (-150.0, 160.0), (-110.0, 70.0), (-110.0, 150.0))
# helix, turn, strand, turn, and again
PATTERN = ("helix",) * 16 + ("turn",) * 4 + ("strand",) * 8 + ("turn",) * 4


def conformations(residues: int) -> list[Floats]:
    """Angles (residues, 2) phi and psi in rad: folded, with its turns opened, and with every second helix unwound."""
    folded, opened, unwound = np.zeros((3, residues, 2))
    for k in range(residues):
        part = PATTERN[k % len(PATTERN)]
        turn = (k % 16) % 4
        folded[k] = {"helix": HELIX, "strand": STRAND, "turn": TURN[turn]}[part]
        opened[k] = OPEN_TURN[turn] if part == "turn" else folded[k]
        odd = (k // len(PATTERN)) % 2 == 1
        unwound[k] = STRAND if part == "helix" and odd else opened[k]
    return [np.radians(angles) for angles in (folded, opened, unwound)]


def generate(residues: int) -> list[list[Residue]]:
    """The generated chain in its three conformations; turns are of glycine, the rest of alanine."""
    kinds = ["GLY" if PATTERN[k % len(PATTERN)] == "turn" else "ALA" for k in range(residues)]
    return [_build(angles, kinds) for angles in conformations(residues)]


def dihedrals(backbone: Floats) -> Floats:
    """Angles (n, 2) phi and psi in rad of N, CA, C at (n, 3, 3); the first phi and the last psi are 0."""
    atoms = backbone.reshape(-1, 3)
    bonds = np.diff(atoms, axis=0)
    normals = np.cross(bonds[:-1], bonds[1:])
    sines = np.einsum("ni,ni->n", np.cross(normals[:-1], normals[1:]), bonds[1:-1])
    lengths = np.linalg.norm(bonds[1:-1], axis=1)
    turned = np.arctan2(sines / lengths, np.einsum("ni,ni->n", normals[:-1], normals[1:]))
    # in the order psi, omega, phi, psi, ...
    angles = np.zeros((len(backbone), 2))
    angles[:-1, 1], angles[1:, 0] = turned[0::3], turned[2::3]
    return angles


def _next(a: Floats, b: Floats, c: Floats, length: float, angle: float, dihedral: float) -> Floats:
    """The atom bonded to c, at `angle` degrees to the bond b-c and `dihedral` rad around it, counted from a."""
    along = c - b
    along = along / np.sqrt(along @ along)
    normal = _cross(b - a, along)
    normal = normal / np.sqrt(normal @ normal)
    bend = np.radians(angle)
    out = -np.cos(bend) * along + np.sin(bend) * (np.cos(dihedral) * _cross(normal, along) + np.sin(dihedral) * normal)
    return np.asarray(c + length * out)


def _cross(a: Floats, b: Floats) -> Floats:
    """Of two single vectors, faster than numpy's of many."""
    (x, y, z), (u, v, w) = a.tolist(), b.tolist()
    return np.array([y * w - z * v, z * u - x * w, x * v - y * u])


def _build(angles: Floats, kinds: list[str]) -> list[Residue]:
    """Residues with N, CA, C, O and CB, from N at the origin on; peptide bonds are trans."""
    bend = np.radians(N_CA_C)
    N, CA = np.zeros(3), np.array([N_CA, 0.0, 0.0])
    C = CA + CA_C * np.array([-np.cos(bend), np.sin(bend), 0.0])
    chain = []
    for k, ((_, psi), kind) in enumerate(zip(angles.tolist(), kinds, strict=True)):
        atoms = {"N": N, "CA": CA, "C": C, "O": _next(N, CA, C, C_O, CA_C_O, psi + np.pi)}
        if kind != "GLY":
            atoms["CB"] = _next(C, N, CA, CA_CB, N_CA_CB, np.radians(CHIRAL))
        chain.append(Residue(kind, str(k + 1), {name: Atom(MASSES[name[0]], place) for name, place in atoms.items()}))
        if k + 1 < len(angles):
            next_N = _next(N, CA, C, C_N, CA_C_N, psi)
            next_CA = _next(CA, C, next_N, N_CA, C_N_CA, np.pi)
            C = _next(C, next_N, next_CA, CA_C, N_CA_C, float(angles[k + 1, 0]))
            N, CA = next_N, next_CA
    return chain


def write_pdb(models: list[list[Residue]], path: Path, title: str) -> None:
    """Write models of one chain A as a PDB file; places are rounded to 1e-4 nm, as the format has it."""
    lines = [f"TITLE     {title}"]
    for number, model in enumerate(models, 1):
        lines.append(f"MODEL     {number:4d}")
        serial = 0
        for residue in model:
            for name, atom in residue.atoms.items():
                serial += 1
                x, y, z = (10.0 * atom.place).tolist()
                lines.append(
                    f"ATOM  {serial:5d}  {name:<3} {residue.kind:>3} A{int(residue.number):4d}    "
                    f"{x:8.3f}{y:8.3f}{z:8.3f}{1:6.2f}{0:6.2f}          {name[0]:>2}"
                )
        last = model[-1]
        lines += [f"TER   {serial + 1:5d}      {last.kind:>3} A{int(last.number):4d}", "ENDMDL"]
    path.write_text("\n".join([*lines, "END", ""]), encoding="ascii")
