"""The polypeptide: dihedrals by the textbook's formula from places of atoms, and the files it reads and refuses."""

from itertools import pairwise

import numpy as np
import pytest
from gallery.truth import run

import linkwork as lw
from linkwork.gallery import find
from linkwork.gallery._backbone import conformations, generate, write_pdb
from linkwork.gallery._pdb import read_chain
from linkwork.gallery._reach import HingeChain
from linkwork.gallery.protein import SHIPPED


def dihedral(a, b, c, d):
    """Angle between the planes a b c and b c d about b-c, rad, by projection across b-c."""
    along = (c - b) / np.linalg.norm(c - b)
    first, second = ((v - (v @ along) * along) for v in (a - b, d - c))
    return np.arctan2(np.cross(along, first) @ second, first @ second)


def difference(a, b):
    return (np.asarray(a) - b + np.pi) % (2 * np.pi) - np.pi


def atoms_of(residues):
    return [{name: atom.place for name, atom in residue.atoms.items()} for residue in residues]


def phi_psi(atoms):
    phi = [dihedral(a["C"], b["N"], b["CA"], b["C"]) for a, b in pairwise(atoms)]
    psi = [dihedral(a["N"], a["CA"], a["C"], b["N"]) for a, b in pairwise(atoms)]
    return np.array(phi), np.array(psi)


def atoms_now(sim, residues):
    """Atoms carried along by the units they belong to, from the poses of the simulation alone."""
    n = len(residues)
    start, now = lw.Simulation(sim._scene, dt=1e-2, state_dir=None), sim

    def carried(place, body):
        local = start.rotations[body].T @ (place - start.positions[body])
        return now.positions[body] + now.rotations[body] @ local

    moved = []
    for k, atoms in enumerate(atoms_of(residues)):
        units = {"N": n + k - 1 if k else 0, "C": n + k if k + 1 < n else k, "CA": k}
        moved.append({name: carried(atoms[name], body) for name, body in units.items()})
    return moved


@pytest.fixture(scope="module")
def ended():
    """The shipped backbone after its motion."""
    return run("protein")


def test_marked_alpha_carbons_arrive_where_they_were_seen(ended):
    farthest, sim = ended
    last = read_chain(SHIPPED)[-1]
    # the first residue lies where it was, so that one turn takes the last model onto the chain
    first = np.array([atom.place for name, atom in read_chain(SHIPPED)[0][0].atoms.items() if name in ("N", "CA", "C")])
    there = np.array([atom.place for name, atom in last[0].atoms.items() if name in ("N", "CA", "C")])
    u, _, vt = np.linalg.svd((there - there.mean(0)).T @ (first - first.mean(0)))
    turn = (u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt).T
    marked = [*range(4, 96, 4), 95]
    goals = (np.array([last[k].atoms["CA"].place for k in marked]) - there[1]) @ turn.T + first[1]
    apart = np.linalg.norm(sim.positions[marked] - goals, axis=1)
    assert apart.max() < 1e-4
    assert farthest < 1e-6


def test_bonds_stay_closed_and_planes_rigid_all_the_way():
    known = find("protein")
    sim = lw.Simulation(known.build(), known.method(), dt=known.dt, state_dir=None)
    known.prepare(sim)
    worst = strain = 0.0
    for _ in range(sim.steps_for(known.seconds)):
        sim.step()
        worst = max(worst, sim.residual)
        strain = max(strain, float(np.abs(np.linalg.svd(sim.poses[:, :, :3], compute_uv=False) - 1.0).max()))
    assert worst < 1e-8
    assert strain < 1e-4


def test_joint_coordinates_are_the_changes_of_phi_and_psi(ended):
    _, sim = ended
    residues = read_chain(SHIPPED)[0]
    before, after = phi_psi(atoms_of(residues)), phi_psi(atoms_now(sim, residues))
    angles = np.concatenate([sim.joint_coordinates[k] for k in range(sim.model.joints)])
    names = [sim.model.joint_names(k) for k in range(sim.model.joints)]
    turned_psi = [angle for angle, name in zip(angles, names, strict=True) if name.startswith("psi")]
    turned_phi = [angle for angle, name in zip(angles, names, strict=True) if name.startswith("phi")]
    assert np.abs(difference(after[0] - before[0], turned_phi)).max() < 1e-6
    assert np.abs(difference(after[1] - before[1], turned_psi)).max() < 1e-6
    assert np.abs(angles).max() > 1.0


def test_generated_backbone_has_the_dihedrals_it_was_asked_for():
    for model, wanted in zip(generate(40), conformations(40), strict=True):
        phi, psi = phi_psi(atoms_of(model))
        assert np.abs(difference(phi, wanted[1:, 0])).max() < 1e-6
        assert np.abs(difference(psi, wanted[:-1, 1])).max() < 1e-6


def test_generated_backbone_is_of_left_handed_amino_acids_and_its_atoms_keep_apart():
    folded = generate(96)[0]
    for residue in atoms_of(folded):
        if "CB" in residue:
            N, C, CB = (residue[name] - residue["CA"] for name in ("N", "C", "CB"))
            assert np.cross(N, C) @ CB > 0.0
    places = np.array([atom.place for residue in folded for atom in residue.atoms.values()])
    owner = np.array([k for k, residue in enumerate(folded) for _ in residue.atoms])
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    assert apart[np.abs(owner[:, None] - owner) > 2].min() > 0.26


def test_shipped_file_is_what_the_generator_writes(tmp_path):
    again = tmp_path / "again.pdb"
    write_pdb(generate(96), again, "BACKBONE BUILT FROM STANDARD BOND LENGTHS AND ANGLES")
    assert again.read_bytes() == SHIPPED.read_bytes()


def test_units_weigh_what_their_atoms_weigh():
    model = find("protein").build().build()
    chain = read_chain(SHIPPED)[0]
    fixed = sum(atom.mass for name, atom in chain[0].atoms.items() if name in ("N", "CA", "CB"))
    total = sum(atom.mass for residue in chain for atom in residue.atoms.values())
    assert model.mass[model.motion == 0].sum() == pytest.approx(total - fixed, rel=1e-12)


def test_inverse_kinematics_finds_its_way_along_a_chain_of_many_windows():
    random = np.random.default_rng(4)
    axes = random.normal(size=(400, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    points = np.outer(np.arange(400), [0.1, 0.0, 0.0])
    chain = HingeChain(axes, points, np.ones(400, dtype=bool))
    carriers = np.arange(9, 400, 10)
    starts = points[carriers] + [0.1, 0, 0]
    goals = chain.places(random.uniform(-0.3, 0.3, 400), carriers, starts)
    found = chain.reach(np.zeros(400), carriers, starts, goals)
    assert np.abs(chain.places(found, carriers, starts) - goals).max() < 1e-6


def pdb_lines(residues=12, kinds=None):
    """One generated model as the lines of a file, without MODEL records."""
    lines = []
    for k, atoms in enumerate(atoms_of(generate(residues)[0])):
        kind = (kinds or {}).get(k, "ALA")
        for name, place in atoms.items():
            x, y, z = 10 * place
            lines.append(
                f"ATOM  {len(lines) + 1:5d}  {name:<3} {kind:>3} A{k + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}"
                f"  1.00  0.00          {name[0]:>2}"
            )
    return lines


def written(tmp_path, lines):
    path = tmp_path / "chain.pdb"
    path.write_text("\n".join([*lines, "TER", "END", ""]))
    return str(path)


def test_file_with_one_model_is_opened_half_way_to_a_strand(tmp_path):
    farthest, sim = run("protein", pdb=written(tmp_path, pdb_lines(24)))
    assert farthest < 1e-6
    assert sim.model.joints == 46


def test_ring_of_a_proline_holds_its_phi(tmp_path):
    farthest, sim = run("protein", pdb=written(tmp_path, pdb_lines(24, {9: "PRO"})))
    assert (sim.model.joint_kind == 0).sum() == 1
    assert len(sim.joint_coordinates.flat) == 45
    assert farthest < 1e-6


def test_alternate_locations_waters_and_other_chains_are_left_out(tmp_path):
    lines = pdb_lines(12)
    minor = [line[:16] + "B" + line[17:30] + "  99.000" + line[38:54] + "  0.30" + line[60:] for line in lines[5:10]]
    major = [line[:16] + "A" + line[17:54] + "  0.70" + line[60:] for line in lines[5:10]]
    water = "HETATM  900  O   HOH A 901      99.000  99.000  99.000  1.00  0.00           O"
    other = [line[:21] + "B" + line[22:] for line in pdb_lines(5)]
    chain = read_chain_of(tmp_path, [*lines[:5], *minor, *major, *lines[10:], water, *other])
    assert len(chain) == 12
    np.testing.assert_allclose(chain[1].atoms["CA"].place, read_chain_of(tmp_path, lines)[1].atoms["CA"].place)


def read_chain_of(tmp_path, lines):
    from pathlib import Path

    return read_chain(Path(written(tmp_path, lines)))[0]


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda lines: [line for line in lines if line[22:26] != "   5"], "breaks between ALA 4 and ALA 6"),
        (lambda lines: [line for line in lines if line[12:26] != " CA  ALA A   5"], "ALA 5 lacks the backbone atom CA"),
        (lambda lines: [line[:30] + "     abc" + line[38:] for line in lines], "columns 31 to 38 are not a number"),
        (lambda lines: [line[:76] + "XX" for line in lines], "element 'XX'"),
        (lambda lines: ["data_1ABC"], "mmCIF"),
        (lambda lines: ["REMARK nothing here"], "no ATOM lines"),
        (
            lambda lines: ["MODEL 1", *lines, "ENDMDL", "MODEL 2", *lines[:30], "ENDMDL"],
            "model 2 has other residues than model 1",
        ),
    ],
)
def test_file_that_is_no_whole_backbone_is_refused_with_the_reason(tmp_path, damage, said):
    with pytest.raises(lw.SceneError, match=said):
        find("protein").build(pdb=written(tmp_path, damage(pdb_lines())))


def test_file_or_chain_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(lw.SceneError, match="cannot read"):
        find("protein").build(pdb=str(tmp_path / "none.pdb"))
    with pytest.raises(lw.SceneError, match="no chain 'Q' of amino acids; its chains are 'A'"):
        find("protein").build(pdb=written(tmp_path, pdb_lines()), chain="Q")


@pytest.mark.slow
def test_chain_of_14000_links_stays_in_one_piece():
    _, sim = run("protein", residues=7000, seconds=0.3)
    assert sim.model.joints == 13_998
    assert sim.residual < 1e-7
