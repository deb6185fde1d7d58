"""Reads one polypeptide chain from a PDB file, with all its models, and refuses what is not one unbroken backbone."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import SceneError

__all__ = ["Atom", "Residue", "read_chain"]

Floats = NDArray[np.float64]
Model = list["Residue"]

BACKBONE = ("N", "CA", "C")
ANGSTROM = 0.1  # nm
LONGEST_BOND = 0.2  # nm from C to the next N; a peptide bond has 0.133
MASSES = {"H": 1.008, "D": 2.014, "C": 12.011, "N": 14.007, "O": 15.999, "P": 30.974, "S": 32.06, "SE": 78.971}  # u


@dataclass(frozen=True)
class Atom:
    """Mass in u and place (3,) in nm."""

    mass: float
    place: Floats


@dataclass(frozen=True)
class Residue:
    """One amino acid: its kind, such as "ALA", its number in the file, and its atoms by name."""

    kind: str
    number: str
    atoms: dict[str, Atom]

    @property
    def label(self) -> str:
        """As a person names it: "ALA 12"."""
        return f"{self.kind} {self.number}"


@dataclass
class _Lines:
    """The lines of one residue, before one of its alternate locations is chosen."""

    number: str
    lines: list[str] = field(default_factory=list)


def read_chain(path: Path, chain: str = "") -> list[Model]:
    """The residues of a chain (the file's first when not named) in every model of a file.

    Of alternate locations the one with the highest occupancy counts. Hetero residues count when they stand before the
    end of the chain and have a backbone, such as selenomethionine.

    Raises:
        SceneError: the file cannot be read, has no such chain, or its backbone is incomplete or broken.
    """
    try:
        text = path.read_text(encoding="latin-1")
    except OSError as error:
        raise SceneError(f"protein: cannot read {path}: {error.strerror}") from error
    if text.startswith("data_"):
        raise SceneError(f"protein: {path} is an mmCIF file; give the same entry in PDB format")
    models = _models(text, chain, path)
    for number, model in enumerate(models, 1):
        _check(model, f"{path}, model {number}" if len(models) > 1 else str(path))
        here, first = [each.label for each in model], [each.label for each in models[0]]
        if here != first:
            raise SceneError(f"protein: {path}: model {number} has other residues than model 1; keep models that agree")
    return models


def _models(text: str, chain: str, path: Path) -> list[Model]:
    """Residues of the wanted chain, model by model."""
    models: list[dict[str, _Lines]] = [{}]
    seen: dict[str, None] = {}
    ended = False
    for line in text.splitlines():
        record = line[:6].rstrip()
        if record == "MODEL" and models[-1]:
            models.append({})
        if record in ("MODEL", "ENDMDL"):
            ended = False
        if record not in ("ATOM", "HETATM", "TER"):
            continue
        here = line[21:22].strip()
        if record != "TER":
            seen.setdefault(here)
        if here != (chain or next(iter(seen), here)):
            continue
        ended = ended or record == "TER"
        if not ended:
            number = line[22:27].strip()
            models[-1].setdefault(number, _Lines(number)).lines.append(line)
    read = [[_residue(residue, path) for residue in model.values()] for model in models if model]
    kept = [[each for each in model if each is not None] for model in read]
    if not kept or not kept[0]:
        known = ", ".join(repr(name) for name in seen)
        what = f"no chain {chain!r} of amino acids; its chains are {known}" if seen else "no ATOM lines"
        raise SceneError(f"protein: {path} has {what}")
    return kept


def _residue(residue: _Lines, path: Path) -> Residue | None:
    """The atoms of one residue; None for a hetero group without a backbone."""
    shares: dict[str, float] = {}
    for line in residue.lines:
        shares[line[16]] = shares.get(line[16], 0.0) + _number(line, 54, 60, path, default=1.0)
    chosen = max((label for label in shares if label != " "), key=lambda label: shares[label], default=" ")
    lines = [line for line in residue.lines if line[16] in (" ", chosen)]
    atoms: dict[str, Atom] = {}
    for line in lines:
        place = ANGSTROM * np.array([_number(line, k, k + 8, path) for k in (30, 38, 46)])
        atoms.setdefault(line[12:16].strip(), Atom(_mass(line, path), place))
    if all(line.startswith("HETATM") for line in lines) and not set(BACKBONE) <= set(atoms):
        return None
    return Residue(lines[-1][17:20].strip(), residue.number, atoms)


def _number(line: str, first: int, last: int, path: Path, default: float | None = None) -> float:
    text = line[first:last].strip()
    if not text and default is not None:
        return default
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise SceneError(f"protein: {path}: columns {first + 1} to {last} are not a number: {line.rstrip()!r}")
    return value


def _mass(line: str, path: Path) -> float:
    """Mass of an atom by its element, which older files leave to the atom's name."""
    element = line[76:78].strip().upper() or line[12:14].strip(" 0123456789").upper()
    if element not in MASSES:
        element = element[:1] if element[:1] == "H" else element
    if element not in MASSES:
        raise SceneError(f"protein: {path}: element {element!r} is none of {', '.join(MASSES)}: {line.rstrip()!r}")
    return MASSES[element]


def _check(model: Model, where: str) -> None:
    """Every residue has its backbone atoms, and each follows on the one before."""
    for residue in model:
        missing = [name for name in BACKBONE if name not in residue.atoms]
        if missing:
            raise SceneError(
                f"protein: {where}: {residue.label} lacks the backbone atom {missing[0]}; complete or remove it"
            )
    for before, after in itertools.pairwise(model):
        gap = float(np.linalg.norm(after.atoms["N"].place - before.atoms["C"].place))
        if gap > LONGEST_BOND:
            raise SceneError(
                f"protein: {where}: the chain breaks between {before.label} and {after.label} (C and N are {gap:.2f} nm "
                "apart); give a file of one unbroken piece, or set residues= to stop before the break"
            )
