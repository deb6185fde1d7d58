"""A page that plays a recording."""

from __future__ import annotations

import math
import os
import time
from typing import Any, Self

import numpy as np

from linkwork.errors import LinkworkError
from linkwork.record.reader import Recording
from linkwork.view.plots import Plots
from linkwork.view.stage import Stage, announce, close_server, open_server
from linkwork.view.transport import Orders, Transport

__all__ = ["Replay"]

FRAMES_PER_SECOND = 30.0
FRAMED = 24


class Replay:
    """A page with a recording, a time slider and plots.

    Args:
        recording: a recording, or the file of one.
        host: where to listen; the default is this machine only.
        port: 0 takes any free one.

    Attributes:
        address: of the page.

    Raises:
        LinkworkError: the recording is empty, or the port cannot be used.
    """

    def __init__(
        self, recording: Recording | str | os.PathLike[str], *, host: str = "127.0.0.1", port: int = 8080
    ) -> None:
        self._recording = recording if isinstance(recording, Recording) else Recording(recording)
        if len(self._recording) == 0:
            raise LinkworkError(
                f"{self._recording.path}: the recording has no whole frame, so there is nothing to show"
            )
        self._times = self._recording.times
        self._frame = 0
        self._shown = -1
        self._time = float(self._times[0])
        self._picked: int | None = None
        self._orders = Orders()
        self._server = open_server(host, port, f"linkwork: {self._recording.path.name}")
        frames = np.unique(np.linspace(0, len(self._times) - 1, FRAMED).round().astype(int)).tolist()
        self._stage = Stage(self._server, self._recording, frames)
        gui = self._server.gui
        self._status = gui.add_markdown("")
        self._transport = Transport(
            gui, self._orders, step=self._step_once, reset=self._rewind, playing=True, endless=False
        )
        last = max(float(self._times[-1]), self._time + 1e-9)
        step = max((last - self._time) / max(len(self._times) - 1, 1), 1e-9)
        self._slider = gui.add_slider("time / s", self._time, last, step, self._time)
        self._slider.on_update(self._slid)
        self._text = gui.add_markdown("Click a body or a joint.")
        self._plots = Plots(gui)
        energies = self._recording.energies
        self._plots.energy.fill(self._times.tolist(), np.column_stack([energies[:, :2], energies.sum(axis=1)]))
        self._plots.residual.fill(self._times.tolist(), self._recording.residuals[:, None])
        self._stage.listen(self._click_body, self._click_joint)
        self.address = announce(self._server, host)

    def _slid(self, event: Any) -> None:
        # the page moves the slider itself while it plays; only a person's hand has a client
        if event.client is not None:
            value = float(event.target.value)

            def order() -> None:
                self._transport.play(False)
                self._time = value

            self._orders.give(order)

    def _step_once(self) -> None:
        self._transport.play(False)
        self._time = float(self._times[min(self._frame + 1, len(self._times) - 1)])

    def _rewind(self) -> None:
        self._time = float(self._times[0])

    def _click_body(self, body: int) -> None:
        def order() -> None:
            self._picked = body
            self._stage.mark(body, None)
            self._describe()

        self._orders.give(order)

    def _click_joint(self, joint: int) -> None:
        def order() -> None:
            values = self._recording.coordinates_of(joint)
            name = self._recording.joint_names(joint)
            self._stage.mark(self._picked, joint)
            self._plots.pick(name, values.shape[1])
            if self._plots.coordinates is not None:
                self._plots.coordinates.fill(self._times.tolist(), values)

        self._orders.give(order)

    def _describe(self) -> None:
        if self._picked is not None:
            place = self._recording.body_frames.origins(self._recording.poses(self._frame))[self._picked]
            where = ", ".join(f"{value:.4g}" for value in place)
            self._text.content = f"**body {self._picked}: {self._recording.body_names(self._picked)}** at ({where}) m"

    def run(self, seconds: float = math.inf) -> None:
        """Serve the page from this thread for some wall time, s; Ctrl-C ends it. At its end the motion begins anew."""
        end = time.perf_counter() + seconds
        last = time.perf_counter()
        try:
            while (now := time.perf_counter()) < end:
                self._orders.carry_out()
                if self._transport.playing:
                    self._time += (now - last) * self._transport.speed
                    if self._time > self._times[-1]:
                        self._time = float(self._times[0])
                last = now
                self._show()
                time.sleep(max(0.0, now + 1.0 / FRAMES_PER_SECOND - time.perf_counter()))
        except KeyboardInterrupt:
            return

    def _show(self) -> None:
        self._frame = int(np.abs(self._times - self._time).argmin())
        if self._frame == self._shown:
            return
        self._shown = self._frame
        self._stage.show(self._frame)
        self._describe()
        now = float(self._times[self._frame])
        if self._transport.playing:
            self._slider.value = now
        residual = float(self._recording.frames["residual"][self._frame])
        lines = [f"**t = {now:.3f} s** · residual {residual:.1e} m or rad", self._stage.note]
        self._status.content = "  \n".join(line for line in lines if line)

    def close(self) -> None:
        """Take the page down."""
        close_server(self._server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
