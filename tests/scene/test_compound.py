"""Compounds: the parallel-axis theorem."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import linkwork as lw


def test_two_half_boxes_make_the_whole_box() -> None:
    halves = lw.Compound([(lw.Box(0.5, 0.2, 0.3), (0.25, 0, 0)), (lw.Box(0.5, 0.2, 0.3), (-0.25, 0, 0))])
    for mine, expected in zip(halves.moments(), lw.Box(1.0, 0.2, 0.3).moments(), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-16)
    assert halves.extent == pytest.approx(1.0)


def test_turned_parts_equal_their_meshes() -> None:
    turn = Rotation.from_euler("xyz", [0.3, -0.8, 0.2])
    box = lw.Box(0.3, 0.1, 0.2)
    vertices, faces = box.surface()
    placed = lw.Mesh(vertices @ turn.as_matrix().T + [0.1, 0.2, 0.3], faces)
    for mine, expected in zip(
        lw.Compound([(box, (0.1, 0.2, 0.3), turn), lw.Box(0.2, 0.2, 0.2)]).moments(),
        lw.Compound([placed, lw.Box(0.2, 0.2, 0.2)]).moments(),
        strict=True,
    ):
        np.testing.assert_allclose(mine, expected, atol=1e-15)


def test_compounds_nest() -> None:
    ball = lw.Sphere(0.1)
    inner = lw.Compound([(ball, (0.2, 0, 0)), (ball, (-0.2, 0, 0))])
    nested = lw.Compound([(inner, (0, 0, 1.0), (0, 0, np.sqrt(0.5), np.sqrt(0.5))), (ball, (0, 0, -1.0))])
    flat = lw.Compound([(ball, (0, 0.2, 1.0)), (ball, (0, -0.2, 1.0)), (ball, (0, 0, -1.0))])
    for mine, expected in zip(nested.moments(), flat.moments(), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-15)
    np.testing.assert_allclose(nested.extent, 2.2)


def test_the_surface_holds_all_parts() -> None:
    compound = lw.Compound([lw.Box(1, 1, 1), (lw.Sphere(0.2), (0, 0, 2.0))])
    vertices, faces = compound.surface()
    assert faces.max() == len(vertices) - 1
    np.testing.assert_allclose(vertices[:, 2].max(), 2.2)
    assert float(lw.Mesh(vertices, faces).moments()[0]) == pytest.approx(float(compound.moments()[0]), rel=0.01)


BAD = {
    "no parts": ([], "at least one"),
    "no list": (lw.Sphere(1.0), "at least one"),
    "a number": ([1.0], "part 0"),
    "a plane": ([lw.Sphere(1.0), lw.Plane()], "part 1: a plane"),
    "array dimensions": ([lw.Sphere([1.0, 2.0])], "part 0.*arrays"),
    "short position": ([(lw.Sphere(1.0), (0, 0))], "part 0: position"),
    "nan position": ([(lw.Sphere(1.0), (0, 0, np.nan))], "part 0: position must be finite"),
    "bad rotation": ([(lw.Sphere(1.0), (0, 0, 0), np.ones((3, 3)))], "part 0: rotation"),
    "four items": ([(lw.Sphere(1.0), (0, 0, 0), None, 3)], "part 0"),
}


@pytest.mark.parametrize(("parts", "reason"), BAD.values(), ids=BAD.keys())
def test_bad_parts_are_refused_by_their_number(parts: object, reason: str) -> None:
    with pytest.raises(lw.SceneError, match=reason):
        lw.Compound(parts)
