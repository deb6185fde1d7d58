"""Paints shaded pictures of meshes without a screen: covers samples with triangles, then lights them."""

from linkwork.view.painting.canvas import Canvas, paint

__all__ = ["Canvas", "paint"]
