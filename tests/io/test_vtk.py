"""VTK files, taken apart byte by byte: corners are where the simulation put the bodies."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from io_recorded import recorded
from scipy.spatial.transform import Rotation

import linkwork as lw

DTYPES = {"Float32": "<f4", "Int64": "<i8", "Int32": "<i4"}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("vtk")
    recording, said = recorded(folder / "run.lwr")
    return recording, said, recording.to_vtk(folder / "out.vtk", every=4)


def read_vtp(path):
    """Arrays of a .vtp file by name, and its numbers of points and polygons."""
    content = path.read_bytes()
    head, _, tail = content.partition(b'<AppendedData encoding="raw">\n_')
    root = ET.fromstring(head + b"</VTKFile>")
    assert root.attrib["header_type"] == "UInt64"
    arrays, end = {}, 0
    for entry in root.iter("DataArray"):
        offset = int(entry.attrib["offset"])
        length = int.from_bytes(tail[offset : offset + 8], "little")
        values = np.frombuffer(tail[offset + 8 : offset + 8 + length], DTYPES[entry.attrib["type"]])
        arrays[entry.attrib["Name"]] = values.reshape(-1, int(entry.attrib.get("NumberOfComponents", 1)))
        end = offset + 8 + length
    assert tail[end:] == b"\n  </AppendedData>\n</VTKFile>\n"
    piece = root.find("PolyData/Piece").attrib
    return arrays, int(piece["NumberOfPoints"]), int(piece["NumberOfPolys"])


def test_the_collection_names_every_file_with_its_time(made):
    recording, _, index = made
    sets = ET.parse(index).getroot().findall("Collection/DataSet")
    assert [float(entry.attrib["timestep"]) for entry in sets] == recording.times[::4].tolist()
    assert all((index.parent / entry.attrib["file"]).is_file() for entry in sets)


def test_corners_are_where_the_bodies_are(made):
    _, said, index = made
    arrays, points, polygons = read_vtp(index.parent / "recording" / "frame_000003.vtp")
    positions, turns, velocities, *_ = said[12]
    assert arrays["Points"].shape == (points, 3)
    assert arrays["offsets"].ravel().tolist() == list(range(3, 3 * polygons + 1, 3))
    assert 0 <= arrays["connectivity"].min() <= arrays["connectivity"].max() == points - 1
    bodies = arrays["body"].ravel()
    assert sorted(set(bodies.tolist())) == [0, 1, 2, 3, 4]
    signs = np.stack(np.meshgrid([-1, 1], [-1, 1], [-1, 1]), axis=-1).reshape(-1, 3)
    corners = Rotation.from_quat(turns[0]).apply(signs * (0.5, 1.0, 1.5)) + positions[0]
    written = arrays["Points"][bodies == 0]
    gaps = np.linalg.norm(corners[:, None] - written[None], axis=2)
    assert gaps.min(axis=1).max() < 1e-5
    assert gaps.min(axis=0).max() < 1e-5
    np.testing.assert_allclose(arrays["velocity"][bodies == 0], np.tile(velocities[0], (len(written), 1)), rtol=1e-6)
    radius = np.linalg.norm((arrays["Points"][bodies == 3] - positions[3])[:, :2], axis=1).max()
    assert radius == pytest.approx(0.2, rel=1e-5)


def test_faces_look_outwards(made):
    _, _, index = made
    arrays, *_ = read_vtp(index.parent / "recording" / "frame_000000.vtp")
    faces = arrays["connectivity"].reshape(-1, 3)
    brick = faces[arrays["body"].ravel()[faces[:, 0]] == 0]
    a, b, c = (arrays["Points"][brick[:, k]].astype(float) for k in range(3))
    # The divergence theorem: six times the volume of a box of 1 m by 2 m by 3 m.
    assert np.einsum("fi,fi->f", a, np.cross(b, c)).sum() / 6.0 == pytest.approx(6.0, rel=1e-6)


def test_a_pvd_file_can_be_named_itself(made, tmp_path):
    recording, *_ = made
    index = recording.to_vtk(tmp_path / "swing.pvd", every=20)
    assert index == tmp_path / "swing.pvd"
    assert sorted(path.name for path in (tmp_path / "swing").iterdir()) == ["frame_000000.vtp", "frame_000001.vtp"]


def test_what_cannot_be_written_is_refused(made, tmp_path):
    recording, *_ = made
    (tmp_path / "taken").write_text("a file")
    with pytest.raises(lw.LinkworkError, match="cannot be written"):
        recording.to_vtk(tmp_path / "taken")
    for every in (0, 1.5, True):
        with pytest.raises(lw.LinkworkError, match="every must be"):
            recording.to_vtk(tmp_path / "out", every=every)
    recording, _ = recorded(tmp_path / "bare.lwr", steps=0)
    recording.looks = [look for look in recording.looks if look.endless]
    with pytest.raises(lw.LinkworkError, match="no body in the recording has a shape"):
        recording.to_vtk(tmp_path / "out")
