"""A polypeptide that unfolds: peptide planes on phi and psi hinges follow sparse markers (paper 000, Fig. 22).

Lengths are in nm and masses in u; the seconds are those of the animation, as nothing but the drives acts. Between two
alpha carbons lies one rigid peptide plane, so the bonds N-CA and CA-C are hinges, and what they turn by is the change
of the dihedrals phi and psi. The first residue stays where it is.

Every model of a PDB file is a moment at which a few alpha carbons, the marked ones, were seen. Inverse kinematics finds
angles for each moment, and drives take the chain from one to the next. A file with a single model is opened half way to
a straight strand. Nothing keeps parts of the chain from passing through each other.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.gallery._backbone import STRAND, dihedrals, generate
from linkwork.gallery._pdb import read_chain
from linkwork.gallery._peptide import add_backbone, hinges_of

TITLE = "A polypeptide on phi and psi hinges that unfolds as sparse markers say"
METHOD = "MABD"
SIZE = "96 residues, 190 hinges"
SECONDS = 5.0
DT = 1e-2
SHOWN_AT = 4.2
SEEN_FROM = (1.0, 0.3, 0.3)

SHIPPED = Path(lw.__file__).parent / "gallery" / "data" / "backbone.pdb"
MARKER = lw.Sphere(0.11)
REST = 1.0  # s at the end, after the last moment

Floats = NDArray[np.float64]


def scene(residues: int = 0, pdb: str = "", chain: str = "", every: int = 4) -> lw.Scene:
    """The first `residues` residues (0: all) of a chain ("": the first) of a PDB file, every `every`th one marked.

    Without a file it is the backbone that comes with the gallery, or a generated one of any number of residues.
    """
    if residues < 0 or residues == 1 or every < 1:
        raise lw.SceneError("protein: residues must be 0 or at least 2, and every at least 1")
    models = generate(residues) if residues and not pdb else read_chain(Path(pdb) if pdb else SHIPPED, chain)
    n = residues or len(models[0])
    if not 2 <= n <= len(models[0]):
        raise lw.SceneError(f"protein: {pdb} has {len(models[0])} residues, too few for residues={residues}")
    names = ("N", "CA", "C")
    seen = [np.array([[each.atoms[name].place for name in names] for each in model[:n]]) for model in models]
    scene = lw.Scene(gravity=(0, 0, 0), contact=False)
    add_backbone(scene, models[0][:n])
    marked = np.unique(np.append(np.arange(every, n, every), n - 1))
    sights = [_laid_on(seen[0], each)[marked] for each in seen[1:]] or [_half_open(scene, seen[0], marked)]
    for moment, places in enumerate(sights):
        for residue, place in zip(marked.tolist(), places, strict=True):
            scene.add_body(MARKER, position=place, fixed=True, name=f"alpha {residue} at moment {moment + 1}")
    return scene


def _laid_on(first: Floats, later: Floats) -> Floats:
    """Alpha carbons of a model, turned and moved so that its first residue lies on that of the first model."""
    turn, _ = Rotation.align_vectors(first[0] - first[0].mean(axis=0), later[0] - later[0].mean(axis=0))
    return np.asarray(turn.apply(later[:, 1] - later[0, 1]) + first[0, 1])


def _half_open(scene: lw.Scene, atoms: Floats, marked: NDArray[np.int64]) -> Floats:
    """Where marked alpha carbons are when all dihedrals are half way to a strand."""
    hinges, _ = hinges_of(scene.build())
    phi, psi = dihedrals(atoms).T
    way = np.stack([np.radians(STRAND[1]) - psi[:-1], np.radians(STRAND[0]) - phi[1:]], axis=1).ravel()
    angles = 0.5 * hinges.turns * ((way + np.pi) % (2.0 * np.pi) - np.pi)
    return hinges.places(angles, 2 * marked - 1, atoms[marked, 1])


def prepare(sim: lw.Simulation) -> tuple[NDArray[np.int64], Floats]:
    """Solve for the angles of every moment and steer the drives through them; the marked residues and last places."""
    hinges, order = hinges_of(sim.model)
    units = len(order) + 1
    labels = [sim.model.body_names(body).split() for body in range(units, sim.model.bodies)]
    moments = int(labels[-1][-1])
    marked = np.array([int(label[1]) for label in labels]).reshape(moments, -1)[0]
    places = sim.positions[units:].reshape(moments, -1, 3)
    stations = [np.zeros(len(order))]
    for goals in places:
        stations.append(hinges.reach(stations[-1], 2 * marked - 1, sim.positions[marked], goals))
    driven, leg = order[hinges.turns], (SECONDS - REST) / moments

    def steer(sim: lw.Simulation) -> None:
        now = (sim.time + sim.dt) / leg
        k = min(int(now), moments - 1)
        s = min(now - k, 1.0)
        way = (stations[k + 1] - stations[k])[hinges.turns]
        sim.set_target(driven, stations[k][hinges.turns] + s**3 * (10 - 15 * s + 6 * s * s) * way)
        sim.set_drive(driven, target_velocity=30 * s * s * (1 - s) ** 2 / leg * way)

    sim.on_step(steer)
    return marked, places[-1]


def number(sim: lw.Simulation, watched: tuple[NDArray[np.int64], Floats]) -> tuple[str, float]:
    """How far the farthest marked alpha carbon is from where it was seen last."""
    marked, places = watched
    return "farthest marker, nm", float(np.linalg.norm(sim.positions[marked] - places, axis=1).max())
