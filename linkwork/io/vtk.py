"""VTK's XML files: one PolyData file per frame and a collection that gives each its time; ParaView opens them.

Arrays are appended to the XML as raw bytes, each after its length, which is the fastest form to write and to read.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.io.moving_meshes import Placed, drawn_looks

if TYPE_CHECKING:
    from linkwork.record.looks import Look
    from linkwork.record.reader import Recording

__all__ = ["write_vtk"]

TYPES = {"f4": "Float32", "i8": "Int64", "i4": "Int32"}
ORDER = "LittleEndian" if sys.byteorder == "little" else "BigEndian"


def write_vtk(recording: Recording, path: str | os.PathLike[str], *, every: int = 1) -> Path:
    """Write the meshes of every frame in world coordinates, m, with the body of each point; returns the .pvd.

    Args:
        recording: what to write.
        path: a folder, which gets recording.pvd, or the .pvd file itself; the frames go into a folder beside it.
        every: frames from one file to the next.

    Raises:
        LinkworkError: the recording is empty, nothing in it has a shape, or a file cannot be written.
    """
    if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
        raise LinkworkError(f"every must be a whole number of frames of one or more, got {every!r}")
    target = Path(path)
    index = target if target.suffix.lower() == ".pvd" else target / "recording.pvd"
    folder = index.with_suffix("")
    looks = drawn_looks(recording)
    fixed = _Topology(looks)
    lines = []
    times = recording.times
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, frame in enumerate(range(0, len(recording), int(every))):
            file = folder / f"frame_{number:06d}.vtp"
            with file.open("wb") as stream:
                _write_frame(stream, fixed, recording, frame)
            name = quoteattr(f"{folder.name}/{file.name}")
            lines.append(f'    <DataSet timestep="{float(times[frame])!r}" group="" part="0" file={name}/>\n')
        collection = f"  <Collection>\n{''.join(lines)}  </Collection>\n"
        index.write_text(_enclosed("Collection", collection), encoding="utf-8")
    except OSError as error:
        raise LinkworkError(f"{os.fspath(path)!r} cannot be written: {error.strerror}") from error
    return index


class _Topology:
    """What stays the same from frame to frame: scaled corners, faces, and the body of every corner."""

    def __init__(self, looks: list[Look]) -> None:
        self.looks = looks
        self.corners = [look.scales[:, None].astype(np.float64) * look.vertices[None] for look in looks]
        faces, bodies, start = [], [], 0
        for look in looks:
            count = len(look.vertices)
            shift = start + count * np.arange(len(look.bodies))
            faces.append((look.faces[None].astype(np.int64) + shift[:, None, None]).reshape(-1, 3))
            bodies.append(np.repeat(look.bodies, count))
            start += count * len(look.bodies)
        self.points = start
        self.faces = np.concatenate(faces)
        self.bodies = np.concatenate(bodies).astype(np.int32)
        self.offsets = 3 * np.arange(1, len(self.faces) + 1, dtype=np.int64)

    def placed(self, placed: Placed) -> NDArray[np.float32]:
        """World positions (points, 3) of all corners."""
        parts = []
        for look, corners in zip(self.looks, self.corners, strict=True):
            positions, rotations = placed.of(look)
            world = corners @ rotations.transpose(0, 2, 1) + positions[:, None]
            parts.append(world.reshape(-1, 3).astype(np.float32))
        return np.concatenate(parts)


def _write_frame(stream: IO[bytes], fixed: _Topology, recording: Recording, frame: int) -> None:
    appended: list[NDArray[Any]] = []
    position = 0

    def array(name: str, values: NDArray[Any], components: int = 1) -> str:
        nonlocal position
        kind = TYPES[values.dtype.str[1:]]
        shape = f' NumberOfComponents="{components}"' if components > 1 else ""
        entry = f'<DataArray type="{kind}" Name="{name}"{shape} format="appended" offset="{position}"/>'
        appended.append(np.ascontiguousarray(values))
        position += 8 + appended[-1].nbytes
        return entry

    data = [array("body", fixed.bodies)]
    if recording.has_velocities:
        velocities = np.array(recording.frames["rates"][frame][:, :, 3], dtype=np.float32)
        data.append(array("velocity", velocities[fixed.bodies], 3))
    corners = array("Points", fixed.placed(Placed(recording, frame)), 3)
    polys = array("connectivity", fixed.faces.reshape(-1)) + array("offsets", fixed.offsets)
    head = _enclosed(
        "PolyData",
        f'  <PolyData>\n    <Piece NumberOfPoints="{fixed.points}" NumberOfPolys="{len(fixed.faces)}">\n'
        f"      <PointData>{''.join(data)}</PointData>\n"
        f"      <Points>{corners}</Points>\n"
        f"      <Polys>{polys}</Polys>\n"
        "    </Piece>\n  </PolyData>\n",
    )
    head = head.removesuffix("</VTKFile>\n") + '  <AppendedData encoding="raw">\n_'
    stream.write(head.encode())
    for values in appended:
        stream.write(np.uint64(values.nbytes).tobytes())
        stream.write(values.tobytes())
    stream.write(b"\n  </AppendedData>\n</VTKFile>\n")


def _enclosed(kind: str, content: str) -> str:
    return (
        f'<?xml version="1.0"?>\n<VTKFile type="{kind}" version="1.0" byte_order="{ORDER}" header_type="UInt64">\n'
        f"{content}</VTKFile>\n"
    )
