"""The keys of a page: play, pause, one step, back to the start, and how fast."""

from __future__ import annotations

import queue
from collections.abc import Callable
from typing import Any

__all__ = ["FASTEST", "SPEEDS", "Orders", "Transport"]

FASTEST = "as fast as it goes"
SPEEDS = ("0.01", "0.1", "0.25", "0.5", "1", "2", "5", "10", FASTEST)


class Orders:
    """What the page asks for, carried out by the thread that steps; never by a thread of the page."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()

    def give(self, order: Callable[[], None]) -> None:
        """Ask for something to be done."""
        self._waiting.put(order)

    def carry_out(self, seconds: float = 0.0) -> None:
        """Do everything that was asked for; when nothing was, wait up to `seconds` for the first order."""
        try:
            order = self._waiting.get(timeout=seconds) if seconds > 0.0 else self._waiting.get_nowait()
            while True:
                order()
                order = self._waiting.get_nowait()
        except queue.Empty:
            return


class Transport:
    """Buttons and their state.

    Attributes:
        playing: whether time goes on.
        speed: simulated seconds per second; infinite for as fast as it goes.
    """

    def __init__(
        self,
        gui: Any,
        orders: Orders,
        *,
        step: Callable[[], None],
        reset: Callable[[], None],
        playing: bool,
        endless: bool,
    ) -> None:
        self.playing = playing
        self.speed = 1.0
        self._play = gui.add_button("Pause" if playing else "Play", hint="Let time go on, or stop it")
        self._play.on_click(lambda _: orders.give(self.toggle))
        keys = gui.add_button_group("", ("Step", "Reset"), hint="One time step; back to the start")
        actions = {"Step": step, "Reset": reset}

        def pressed(event: Any) -> None:
            orders.give(actions[event.target.value])

        keys.on_click(pressed)
        options = SPEEDS if endless else SPEEDS[:-1]
        speeds = gui.add_dropdown("speed", options, initial_value="1", hint="Simulated seconds per second")

        def chosen(_: Any) -> None:
            value = float("inf") if speeds.value == FASTEST else float(speeds.value)
            orders.give(lambda: setattr(self, "speed", value))

        speeds.on_update(chosen)

    def toggle(self) -> None:
        """Pause when it plays, play when it is paused."""
        self.play(not self.playing)

    def play(self, wanted: bool) -> None:
        """Let time go on, or stop it."""
        self.playing = wanted
        self._play.label = "Pause" if wanted else "Play"
