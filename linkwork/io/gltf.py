"""Binary glTF 2.0: one node per body, meshes shared by all bodies that look alike, and one animation.

glTF has y up and linkwork z, so all bodies hang below one node that turns the scene. Meshes carry no normals: viewers
shade them flat, as the standard asks of them.
"""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.io.moving_meshes import Placed, drawn_looks
from linkwork.simulation.poses import quaternions

if TYPE_CHECKING:
    from linkwork.record.looks import Look
    from linkwork.record.reader import Recording

__all__ = ["write_gltf"]

MOST_BODIES = 20_000
FLOAT, UNSIGNED = 5126, 5125
VERTICES, INDICES = 34962, 34963
# By kind of motion: moving, fixed, kinematic; linear red, green, blue.
COLORS = ((0.06, 0.22, 0.58), (0.21, 0.22, 0.25), (0.83, 0.26, 0.03))
NAMES = ("moving", "fixed", "kinematic")
Z_UP_TO_Y_UP = [-math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5)]


def write_gltf(recording: Recording, path: str | os.PathLike[str], *, fps: float = 30.0) -> None:
    """Write a .glb file.

    Args:
        recording: what to write.
        path: the file; an old one is replaced.
        fps: key frames per simulated second at most; players interpolate between them.

    Raises:
        LinkworkError: the recording is empty or has too many bodies, or the file cannot be written.
    """
    if isinstance(fps, bool) or not isinstance(fps, int | float | np.number) or not 0.0 < fps < math.inf:
        raise LinkworkError(f"fps must be a positive number of key frames per simulated second, got {fps!r}")
    looks = drawn_looks(recording)
    bodies = sum(len(look.bodies) for look in looks)
    if bodies > MOST_BODIES:
        raise LinkworkError(
            f"{recording.path}: glTF keeps one node per body and {bodies:,} are more than viewers open (the limit is "
            f"{MOST_BODIES:,}); write VTK instead: recording.to_vtk(folder)"
        )
    frames = _key_frames(recording, float(fps))
    document = _Document()
    document.add_bodies(recording, looks, frames)
    try:
        with open(path, "wb") as file:
            file.write(document.content())
    except OSError as error:
        raise LinkworkError(f"{os.fspath(path)!r} cannot be written: {error.strerror}") from error


def _key_frames(recording: Recording, fps: float) -> NDArray[np.intp]:
    """Frames about 1 / fps apart, the first and the last among them."""
    times = recording.times
    count = 1 + math.floor((times[-1] - times[0]) * fps + 0.5)
    chosen = np.linspace(0, len(times) - 1, max(2, min(count, len(times)))).round().astype(np.intp)
    return np.unique(chosen)


class _Document:
    """A glTF document that grows: its JSON part and the bytes behind it."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._length = 0
        self._json: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": "linkwork"},
            "scene": 0,
            "scenes": [{"nodes": [0]}],
            "nodes": [{"name": "linkwork", "rotation": Z_UP_TO_Y_UP, "children": []}],
            "meshes": [],
            "materials": [
                {
                    "name": name,
                    "pbrMetallicRoughness": {
                        "baseColorFactor": [*color, 1.0],
                        "metallicFactor": 0.0,
                        "roughnessFactor": 0.7,
                    },
                }
                for name, color in zip(NAMES, COLORS, strict=True)
            ],
            "accessors": [],
            "bufferViews": [],
        }

    def add_bodies(self, recording: Recording, looks: list[Look], frames: NDArray[np.intp]) -> None:
        """Add meshes, nodes and, when there is more than one frame, the animation."""
        samplers: list[dict[str, Any]] = []
        channels: list[dict[str, Any]] = []
        keyed = len(frames) > 1
        positions, turns = _tracks(recording, looks, frames)
        times = recording.times[frames]
        clock = self._accessor((times - times[0]).astype(np.float32), "SCALAR", bounds=True) if keyed else -1
        start = 0
        for look in looks:
            meshes = self._meshes(look, set(recording.motion[look.bodies].tolist()))
            for k, body in enumerate(look.bodies.tolist()):
                place, turn = positions[:, start + k], turns[:, start + k]
                motion = int(recording.motion[body])
                node = self._node(recording.body_names(body), meshes[motion], place[0], turn[0], look.scales[k])
                if keyed and motion != 1:
                    for track, target, kind in ((place, "translation", "VEC3"), (turn, "rotation", "VEC4")):
                        output = self._accessor(track, kind)
                        channels.append({"sampler": len(samplers), "target": {"node": node, "path": target}})
                        samplers.append({"input": clock, "output": output, "interpolation": "LINEAR"})
            start += len(look.bodies)
        if channels:
            self._json["animations"] = [{"name": "recording", "samplers": samplers, "channels": channels}]

    def _meshes(self, look: Look, motions: set[int]) -> dict[int, int]:
        """Meshes of a look by kind of motion; they differ in colour and share their arrays."""
        corners = self._accessor(look.vertices.astype(np.float32), "VEC3", bounds=True, target=VERTICES)
        faces = self._accessor(look.faces.astype(np.uint32).reshape(-1), "SCALAR", target=INDICES)
        made = {}
        for motion in sorted(motions):
            primitive = {"attributes": {"POSITION": corners}, "indices": faces, "material": motion}
            made[motion] = len(self._json["meshes"])
            self._json["meshes"].append({"primitives": [primitive]})
        return made

    def _node(self, name: str, mesh: int, place: Any, turn: Any, scale: Any) -> int:
        node = len(self._json["nodes"])
        self._json["nodes"].append(
            {
                "name": name,
                "mesh": mesh,
                "translation": place.tolist(),
                "rotation": turn.tolist(),
                "scale": scale.tolist(),
            }
        )
        self._json["nodes"][0]["children"].append(node)
        return node

    def _accessor(self, values: NDArray[Any], kind: str, *, bounds: bool = False, target: int | None = None) -> int:
        content = np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()
        view: dict[str, Any] = {"buffer": 0, "byteOffset": self._length, "byteLength": len(content)}
        if target is not None:
            view["target"] = target
        self._json["bufferViews"].append(view)
        self._chunks.append(content)
        self._length += len(content)
        accessor: dict[str, Any] = {
            "bufferView": len(self._json["bufferViews"]) - 1,
            "componentType": UNSIGNED if values.dtype.kind == "u" else FLOAT,
            "count": len(values),
            "type": kind,
        }
        if bounds:
            accessor["min"] = np.atleast_1d(values.min(axis=0)).tolist()
            accessor["max"] = np.atleast_1d(values.max(axis=0)).tolist()
        self._json["accessors"].append(accessor)
        return len(self._json["accessors"]) - 1

    def content(self) -> bytes:
        """The file: a header, the JSON chunk padded with blanks and the binary chunk padded with zeros."""
        self._json["buffers"] = [{"byteLength": self._length}]
        text = json.dumps(self._json, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        binary = b"".join(self._chunks)
        binary += b"\0" * (-len(binary) % 4)
        total = 12 + 8 + len(text) + 8 + len(binary)
        parts = [b"glTF", _u32(2), _u32(total), _u32(len(text)), b"JSON", text, _u32(len(binary)), b"BIN\0", binary]
        return b"".join(parts)


def _tracks(
    recording: Recording, looks: list[Look], frames: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Positions (frames, bodies, 3) and quaternions x, y, z, w (frames, bodies, 4) in the order of the looks."""
    bodies = sum(len(look.bodies) for look in looks)
    positions = np.empty((len(frames), bodies, 3), np.float32)
    turns = np.empty((len(frames), bodies, 4), np.float32)
    for row, frame in enumerate(frames.tolist()):
        placed = [Placed(recording, frame).of(look) for look in looks]
        positions[row] = np.concatenate([place for place, _ in placed])
        turns[row] = quaternions(np.concatenate([turn for _, turn in placed]))
    # Of q and -q, which turn alike, the one nearer to the frame before: interpolation takes the short way.
    flips = np.cumprod(np.where(np.einsum("fbi,fbi->fb", turns[1:], turns[:-1]) < 0.0, -1.0, 1.0), axis=0)
    turns[1:] *= flips[:, :, None].astype(np.float32)
    return positions, turns


def _u32(value: int) -> bytes:
    return value.to_bytes(4, "little")
