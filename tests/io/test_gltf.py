"""glTF files, read by hand and by trimesh: every number lies where its accessor says, every body where it was."""

from __future__ import annotations

import json

import numpy as np
import pytest
import trimesh
from io_recorded import recorded
from scipy.spatial.transform import Rotation

import linkwork as lw
from linkwork.io import gltf

DTYPES = {5126: "<f4", 5125: "<u4"}
WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gltf")
    recording, said = recorded(folder / "run.lwr", every=1)
    recording.to_gltf(folder / "run.glb", fps=1000)
    return recording, said, folder / "run.glb"


def read_glb(path):
    """The document of a .glb file and the values of its accessors, after checking all lengths."""
    content = path.read_bytes()
    assert content[:4] == b"glTF"
    version, total, length = np.frombuffer(content[4:16], "<u4").tolist()
    assert (version, total, length % 4, content[16:20]) == (2, len(content), 0, b"JSON")
    document = json.loads(content[20 : 20 + length])
    rest = content[20 + length :]
    assert (int.from_bytes(rest[:4], "little"), rest[4:8]) == (len(rest) - 8, b"BIN\0")
    binary = rest[8:]
    assert document["buffers"][0]["byteLength"] <= len(binary)
    arrays = []
    for accessor in document["accessors"]:
        view = document["bufferViews"][accessor["bufferView"]]
        assert view["byteOffset"] % 4 == 0
        assert view["byteOffset"] + view["byteLength"] <= document["buffers"][0]["byteLength"]
        raw = binary[view["byteOffset"] : view["byteOffset"] + view["byteLength"]]
        values = np.frombuffer(raw, DTYPES[accessor["componentType"]]).reshape(-1, WIDTHS[accessor["type"]])
        assert len(values) == accessor["count"]
        if "min" in accessor:
            np.testing.assert_array_equal(np.float32(accessor["min"]), values.min(axis=0))
            np.testing.assert_array_equal(np.float32(accessor["max"]), values.max(axis=0))
        arrays.append(values)
    return document, arrays


def test_every_accessor_lies_in_the_file_and_is_used_rightly(made):
    document, arrays = read_glb(made[2])
    for mesh in document["meshes"]:
        (primitive,) = mesh["primitives"]
        corners, faces = arrays[primitive["attributes"]["POSITION"]], arrays[primitive["indices"]]
        assert "min" in document["accessors"][primitive["attributes"]["POSITION"]]
        assert faces.max() < len(corners)
        assert 0 <= primitive["material"] < len(document["materials"])
    (animation,) = document["animations"]
    for sampler in animation["samplers"]:
        clock = arrays[sampler["input"]]
        assert "max" in document["accessors"][sampler["input"]]
        assert (np.diff(clock[:, 0]) > 0).all()
        assert len(arrays[sampler["output"]]) == len(clock)


def test_the_animation_moves_every_body_as_recorded(made):
    recording, said, path = made
    document, arrays = read_glb(path)
    (animation,) = document["animations"]
    moved = set()
    for channel in animation["channels"]:
        name = document["nodes"][channel["target"]["node"]]["name"]
        body = next(k for k in range(recording.bodies) if recording.body_names(k) == name)
        values = arrays[animation["samplers"][channel["sampler"]]["output"]]
        moved.add(body)
        if channel["target"]["path"] == "rotation":
            assert (np.einsum("fi,fi->f", values[1:], values[:-1]) > 0).all()
            np.testing.assert_allclose(np.linalg.norm(values, axis=1), 1.0, atol=1e-6)
            if body != 1:  # drawn in its principal frame
                turned = Rotation.from_quat([moment[1][body] for moment in said])
                gap = (Rotation.from_quat(values) * turned.inv()).magnitude()
                assert gap.max() < 1e-6
        elif body != 1:
            np.testing.assert_allclose(values, [moment[0][body] for moment in said], atol=1e-5)
    assert moved == {0, 1, 2, 3}


def test_other_software_sees_the_scene_upright_and_in_place(made):
    _, said, path = made
    scene = trimesh.load(path)
    positions = said[0][0]
    for name, body in (("brick", 0), ("pins[1]", 3), ("body 4", 4)):
        matrix = scene.graph.get(name)[0]
        x, y, z = positions[body]
        np.testing.assert_allclose(matrix[:3, 3], (x, z, -y), atol=1e-6)
    assert "floor" not in scene.graph.nodes
    corners = trimesh.transform_points(scene.geometry[scene.graph["brick"][1]].vertices, scene.graph.get("brick")[0])
    np.testing.assert_allclose(np.ptp(corners, axis=0), (1, 3, 2), atol=1e-5)
    assert scene.geometry[scene.graph["brick"][1]].volume == pytest.approx(6.0)


def test_key_frames_are_thinned_to_the_rate_asked_for(made, tmp_path):
    made[0].to_gltf(tmp_path / "a.glb", fps=10)
    document, arrays = read_glb(tmp_path / "a.glb")
    clock = arrays[document["animations"][0]["samplers"][0]["input"]][:, 0]
    np.testing.assert_allclose(clock, [0.0, 0.1, 0.2, 0.3, 0.4], atol=1e-7)


def test_one_frame_is_a_still(tmp_path):
    recording, _ = recorded(tmp_path / "run.lwr", steps=0)
    recording.to_gltf(tmp_path / "a.glb")
    assert "animations" not in read_glb(tmp_path / "a.glb")[0]


def test_what_cannot_be_written_is_refused(made, tmp_path, monkeypatch):
    recording, *_ = made
    with pytest.raises(lw.LinkworkError, match="No such file"):
        recording.to_gltf(tmp_path / "nowhere" / "a.glb")
    for fps in (0, -1, float("nan"), "often", True):
        with pytest.raises(lw.LinkworkError, match="fps must be"):
            recording.to_gltf(tmp_path / "a.glb", fps=fps)
    monkeypatch.setattr(gltf, "MOST_BODIES", 4)
    with pytest.raises(lw.LinkworkError, match="one node per body and 5 are more"):
        recording.to_gltf(tmp_path / "a.glb")
