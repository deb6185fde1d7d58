"""Meshes: exact moments, and refusals with a reason."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import trimesh
from scipy.spatial.transform import Rotation

import linkwork as lw

TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
OUTWARD = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])


def box_mesh(low: tuple[float, float, float], high: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    vertices, faces = lw.Box(1.0, 1.0, 1.0).surface()
    return np.asarray(low) + (vertices + 0.5) * np.subtract(high, low), faces


def joined(*parts: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    starts = np.cumsum([0] + [len(vertices) for vertices, _ in parts[:-1]])
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([faces + start for (_, faces), start in zip(parts, starts, strict=True)]),
    )


def test_a_corner_tetrahedron_has_its_textbook_moments() -> None:
    volume, centroid, second = lw.Mesh(TETRAHEDRON, OUTWARD).moments()
    assert volume == pytest.approx(1.0 / 6.0)
    np.testing.assert_allclose(centroid, 0.25)
    about_corner = second + np.outer(centroid, centroid) / 6.0
    np.testing.assert_allclose(about_corner, np.where(np.eye(3, dtype=bool), 1.0 / 60.0, 1.0 / 120.0))


def test_a_turned_and_moved_box_mesh_is_the_box_again() -> None:
    turn = Rotation.from_euler("xyz", [0.3, 0.5, 0.7]).as_matrix()
    box = lw.Box(0.3, 0.1, 0.2)
    vertices, faces = box.surface()
    volume, centroid, second = lw.Mesh(vertices @ turn.T + [1.0, 2.0, 3.0], faces).moments()
    assert volume == pytest.approx(float(box.moments()[0]))
    np.testing.assert_allclose(centroid, [1.0, 2.0, 3.0])
    np.testing.assert_allclose(second, turn @ box.moments()[2] @ turn.T, atol=1e-15)


def test_a_cavity_with_faces_turned_inwards_is_taken_out() -> None:
    outer, inner = box_mesh((0, 0, 0), (2, 2, 2)), box_mesh((0.5, 0.5, 0.5), (1.0, 1.5, 1.5))
    hollow = lw.Mesh(*joined(outer, (inner[0], inner[1][:, ::-1])))
    whole, hole = lw.Mesh(*outer).moments(), lw.Mesh(*inner).moments()
    volume, centroid, _ = hollow.moments()
    assert volume == pytest.approx(8.0 - 0.5)
    np.testing.assert_allclose(centroid, (8.0 * whole[1] - 0.5 * hole[1]) / 7.5)


def test_moments_agree_with_trimesh_on_a_torus() -> None:
    torus = trimesh.creation.torus(major_radius=1.0, minor_radius=0.3)
    volume, centroid, second = lw.Mesh(torus.vertices, torus.faces).moments()
    assert volume == pytest.approx(torus.volume)
    np.testing.assert_allclose(centroid, torus.center_mass, atol=1e-12)
    inertia = np.trace(second) * np.eye(3) - second
    np.testing.assert_allclose(inertia, torus.moment_inertia, atol=1e-10)


def test_the_principal_frame_of_a_skew_mesh_carries_its_moments() -> None:
    scene = lw.Scene()
    mesh = lw.Mesh(TETRAHEDRON * [1.0, 2.0, 3.0], OUTWARD)
    scene.add_body(mesh, density=600.0)
    model = scene.build()
    axes, moments = model.principal[0], model.second_moments[0]
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, 600.0 * mesh.moments()[2], atol=1e-10)
    np.testing.assert_allclose(model.com[0], [0.25, 0.5, 0.75])
    assert model.mass[0] == pytest.approx(600.0)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply"])
def test_a_mesh_file_is_read_with_its_scale(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"box.{suffix}"
    trimesh.creation.box(extents=(100.0, 20.0, 50.0)).export(path)
    mesh = lw.Mesh.load(path, scale=1e-3)
    assert float(mesh.moments()[0]) == pytest.approx(0.1 * 0.02 * 0.05, rel=1e-6)
    assert float(mesh.extent) == pytest.approx(0.1, rel=1e-6)


BAD = {
    "open": (TETRAHEDRON, OUTWARD[:3], "open: 3 edges"),
    "inverted": (TETRAHEDRON, OUTWARD[:, ::-1], "inverted"),
    "one face turned": (TETRAHEDRON, np.vstack([OUTWARD[:3], OUTWARD[3:, ::-1]]), "not oriented alike"),
    "flat": (TETRAHEDRON * [1, 1, 0] + [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0.2, 0.3, 0]], OUTWARD, "no volume"),
    "doubled vertices": (TETRAHEDRON[OUTWARD.ravel()], np.arange(12).reshape(4, 3), "merge doubled vertices"),
    "face index too large": (TETRAHEDRON, np.vstack([OUTWARD[:3], [[0, 3, 4]]]), "outside 0 to 3"),
    "face index negative": (TETRAHEDRON, np.vstack([OUTWARD[:3], [[0, 3, -1]]]), "outside 0 to 3"),
    "vertex twice in a face": (TETRAHEDRON, np.vstack([OUTWARD, [[0, 0, 1]]]), "names a vertex twice"),
    "coinciding vertices": (TETRAHEDRON * [1, 1, 0], OUTWARD, "face 1 .* has no area"),
    "nan": (TETRAHEDRON * [1, np.nan, 1], OUTWARD, r"entry 0\).*finite"),
    "infinite": (np.full((4, 3), np.inf), OUTWARD, "finite"),
    "too few vertices": (TETRAHEDRON[:3], OUTWARD, "at least 4"),
    "vertices of wrong shape": (TETRAHEDRON[:, :2], OUTWARD, r"\(v, 3\)"),
    "faces of wrong shape": (TETRAHEDRON, OUTWARD[:, :2], r"\(f, 3\)"),
    "faces of floats": (TETRAHEDRON, OUTWARD * 1.0, "integers"),
    "no faces": (TETRAHEDRON, np.zeros((0, 3), dtype=int), r"\(f, 3\)"),
}


@pytest.mark.parametrize(("vertices", "faces", "reason"), BAD.values(), ids=BAD.keys())
def test_a_mesh_that_is_no_solid_is_refused_with_the_reason(
    vertices: np.ndarray, faces: np.ndarray, reason: str
) -> None:
    with pytest.raises(lw.SceneError, match=reason):
        lw.Mesh(vertices, faces)


def test_a_file_that_is_no_mesh_is_refused_by_its_name(tmp_path: Path) -> None:
    with pytest.raises(lw.SceneError, match=r"nowhere\.stl.*no such file"):
        lw.Mesh.load(tmp_path / "nowhere.stl")
    (tmp_path / "text.obj").write_text("hello\n")
    with pytest.raises(lw.SceneError, match=r"text\.obj"):
        lw.Mesh.load(tmp_path / "text.obj")
    trimesh.creation.box().export(tmp_path / "box.stl")
    with pytest.raises(lw.SceneError, match="scale"):
        lw.Mesh.load(tmp_path / "box.stl", scale=0.0)
