"""Recordings written for other tools: tables, VTK, glTF."""

from linkwork.io.gltf import write_gltf
from linkwork.io.table import write_csv
from linkwork.io.vtk import write_vtk

__all__ = ["write_csv", "write_gltf", "write_vtk"]
