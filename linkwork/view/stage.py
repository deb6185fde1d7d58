"""A page with bodies and joints on it: what the live view and the replay of a recording have in common."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import webbrowser
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError
from linkwork.view.figures import FIXED, MOVING, PoseTable
from linkwork.view.framing import Framing, frame_bodies, with_room
from linkwork.view.markers import COLOR, JointMarkers
from linkwork.view.meshes import PICKED, MeshGroup, set_stage
from linkwork.view.motion import Motion

__all__ = ["Stage", "announce", "close_server", "open_server"]

Floats = NDArray[np.float64]

MOST_MESHES = 20_000
MOST_POINTS = 50_000


def open_server(host: str, port: int, label: str) -> Any:
    """A page server of viser, which announces itself on no stream.

    Raises:
        LinkworkError: the port cannot be used.
    """
    import viser

    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise LinkworkError(f"port must be a number from 0 (any free one) to 65535, got {port!r}")
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    except (OSError, RuntimeError) as error:
        raise LinkworkError(f"the page cannot be served at {host}:{port}: {error}") from error
    server.gui.configure_theme(show_logo=False, show_share_button=False, control_width="large")
    server.gui.main_panel.dock_right()
    return server


def close_server(server: Any) -> None:
    """Take a page down, without a word."""
    with contextlib.redirect_stdout(io.StringIO()):
        server.stop()


def announce(server: Any, host: str) -> str:
    """Say where the page is, open it where there is a screen, and return its address."""
    shown = "localhost" if host in ("127.0.0.1", "0.0.0.0", "localhost") else host
    address = f"http://{shown}:{server.get_port()}"
    print(f"linkwork: open {address} in a browser; Ctrl-C ends", file=sys.stderr, flush=True)
    if sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)
    return address


class Stage:
    """Draws a motion on a page: meshes, or points where there are too many bodies for meshes.

    Args:
        server: a page server of viser.
        motion: what to draw.
        frames: the frames that the camera must see.
        roomy: leave room for what is not known yet, for a motion of which only the beginning is known.

    Attributes:
        framing: camera and floor at the beginning.
        note: what is not shown as it is; empty when everything is.
    """

    def __init__(self, server: Any, motion: Motion, frames: list[int], *, roomy: bool = False) -> None:
        self.server = server
        self.motion = motion
        framing = frame_bodies(motion, frames)
        self.framing: Framing = with_room(framing, motion) if roomy else framing
        self.note = ""
        self._groups: list[MeshGroup] = []
        self._points: Any = None
        self._arrows: dict[str, Any] = {}
        server.scene.set_up_direction("+z")
        set_stage(server, self.framing)
        first = PoseTable(motion, frames[0])
        self._markers = JointMarkers(motion)
        if motion.bodies <= MOST_MESHES:
            self._groups = [MeshGroup(server.scene, row, look, motion, 1) for row, look in enumerate(motion.looks)]
            for group in self._groups:
                group.add(first)
            if self._markers.wanted:
                self._markers.add(server.scene, first.affine)
        else:
            self._add_points(first.affine)

    def _add_points(self, poses: Floats) -> None:
        self._every = -(-self.motion.bodies // MOST_POINTS)
        shown = len(poses[:: self._every])
        which = "every body" if self._every == 1 else f"one body of {self._every}"
        self.note = f"{self.motion.bodies:,} bodies: {which} is shown, as a point ({shown:,} points)."
        colors = np.tile(MOVING[0], (shown, 1))
        colors[self.motion.motion[:: self._every] == 1] = FIXED
        self._points = self.server.scene.add_point_cloud(
            "/points",
            self._seen(poses),
            colors,
            point_size=self.framing.distance / 400.0,
            point_shape="circle",
            precision="float32",
            position=self.framing.centre,
        )

    def _seen(self, poses: Floats) -> NDArray[np.float32]:
        return (poses[:: self._every, :, 3] - self.framing.centre).astype(np.float32)

    def show(self, frame: int) -> Floats:
        """Move everything to a frame; returns its poses (n, 3, 4)."""
        if self._points is not None:
            poses = self.motion.poses(frame)
            self._points.points = self._seen(poses)
            return poses
        table = PoseTable(self.motion, frame)
        with self.server.atomic():
            for group in self._groups:
                group.move(table)
            if self._markers.wanted:
                self._markers.move(table.affine)
        return table.affine

    def joint_points(self, poses: Floats) -> Floats:
        """World points (j, 3) of the joints, m."""
        return self._markers.centres(poses)

    # Picking

    def listen(
        self,
        body: Callable[[int], None],
        joint: Callable[[int], None],
        pull: Callable[[int, str, Floats, Floats], None] | None = None,
    ) -> None:
        """Call back when a body or a joint is clicked, and while a moving body is dragged.

        A pull gets the body, "start", "update" or "end", and the world points where it is held and pulled to.
        """
        for group in self._groups:
            group.listen(body, pull)
        if self._markers.wanted:

            async def clicked(event: Any) -> None:
                if event.instance_index is not None:
                    joint(int(event.instance_index))

            self._markers.handle.on_click(clicked)

    def mark(self, body: int | None, joint: int | None) -> None:
        """Colour the picked body and joint, and take the colour off the others."""
        for group in self._groups:
            group.mark(body)
        if self._markers.wanted:
            colors = np.tile(np.array(COLOR, dtype=np.uint8), (self.motion.joints, 1))
            if joint is not None:
                colors[joint] = PICKED
            self._markers.handle.batched_colors = colors

    def arrows(self, name: str, starts: Floats, vectors: Floats, color: tuple[int, int, int]) -> None:
        """Draw arrows (k, 3) from points (k, 3), m, in place of earlier ones of the same name; none when k is zero."""
        old = self._arrows.pop(name, None)
        if len(starts) == 0:
            if old is not None:
                old.remove()
            return
        points = np.stack([starts, starts + vectors], axis=1).astype(np.float32)
        if old is not None and old.points.shape == points.shape:
            old.points = points
            self._arrows[name] = old
            return
        size = 0.006 * self.framing.distance
        self._arrows[name] = self.server.scene.add_arrows(
            f"/arrows/{name}", points, color, shaft_radius=0.4 * size, head_radius=size, head_length=2.5 * size
        )

    def follow(self, shift: Floats) -> None:
        """Move every camera with what it looks at, by (3,) m."""
        for client in self.server.get_clients().values():
            if client.camera.update_timestamp:
                client.camera.position = client.camera.position + shift
