"""The live page of a simulation."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from linkwork.errors import LinkworkError, SimulationError
from linkwork.view.inspector import Inspector
from linkwork.view.motion import Present
from linkwork.view.plots import Plots
from linkwork.view.pulling import Pull
from linkwork.view.stage import Stage, announce, close_server, open_server
from linkwork.view.transport import Orders, Transport

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation

__all__ = ["LiveView"]

Floats = NDArray[np.float64]

FRAMES_PER_SECOND = 30.0
PLOTS_PER_SECOND = 5.0
# showing may take this share of the time; a page of many bodies gets fewer frames instead of slowing the simulation
SHARE = 0.08
CHUNK_SECONDS = 0.015


class LiveView:
    """A page on which a simulation runs, served until it is closed; made by `Simulation.view`.

    Attributes:
        address: of the page.
    """

    def __init__(self, simulation: Simulation, *, host: str, port: int, title: str, playing: bool) -> None:
        self._simulation = simulation
        self._start = simulation.state()
        self._orders = Orders()
        self._pull: Pull | None = None
        self._server = open_server(host, port, title)
        self._stage = Stage(self._server, Present(simulation), [0], roomy=True)
        gui = self._server.gui
        self._status = gui.add_markdown("")
        self._transport = Transport(
            gui, self._orders, step=self._step_once, reset=self._reset, playing=playing, endless=True
        )
        self._follow = gui.add_checkbox("follow", False, hint="The camera goes with the picked body, or with all")
        self._inspector = Inspector(gui, simulation, self._stage, self._orders)
        self._plots = Plots(gui)
        self._inspector.on_joint = self._plots.pick
        self._stage.listen(self._inspector.picked_body, self._inspector.picked_joint, self._pulled)
        self._due = self._plots_due = 0.0
        self._followed: Floats | None = None
        self._behind = 0.0
        self._measured = (time.perf_counter(), simulation.time, simulation.steps)
        self._show(self._stage.show(0))
        self._plot()
        self.address = announce(self._server, host)

    # Orders of the page

    def _step_once(self) -> None:
        self._transport.play(False)
        self._advance(1)
        self.refresh()

    def _reset(self) -> None:
        self._simulation.restore(self._start)
        self._behind = 0.0
        self.refresh()

    def _pulled(self, body: int, phase: str, held: Floats, goal: Floats) -> None:
        def order() -> None:
            if phase == "end" or self._simulation.model.motion[body] != 0:
                self._pull = None
                self._stage.arrows("pull", np.zeros((0, 3)), np.zeros((0, 3)), (0, 0, 0))
            elif self._pull is None or self._pull.body != body:
                self._pull = Pull(self._simulation, body, held, goal)
            else:
                self._pull.goal = goal

        self._orders.give(order)

    # Running

    @property
    def speed(self) -> float:
        """Simulated seconds per second, infinite for as fast as it goes; the page can change it."""
        return self._transport.speed

    @speed.setter
    def speed(self, value: float) -> None:
        if not isinstance(value, int | float) or not value > 0.0:
            raise LinkworkError(f"speed must be a positive number of simulated seconds per second, got {value!r}")
        self._transport.speed = float(value)

    def run(self, seconds: float = math.inf) -> None:
        """Serve the page from this thread for some wall time, s; Ctrl-C ends it."""
        end = time.perf_counter() + seconds
        last = time.perf_counter()
        try:
            while (now := time.perf_counter()) < end:
                if self._transport.playing:
                    self._orders.carry_out()
                    self._go_on(now - last)
                    last = now
                    self.update()
                    continue
                self._orders.carry_out(seconds=min(0.02, end - now))
                self._behind, last = 0.0, time.perf_counter()
                self.update()
        except KeyboardInterrupt:
            return

    def _go_on(self, passed: float) -> None:
        """Take the steps that are due after `passed` seconds, as far as a short chunk goes."""
        dt, speed = self._simulation.dt, self._transport.speed
        # what could not be caught up with is let go, so that a slow scene does not race later
        self._behind = min(self._behind + passed * speed, max(0.1 * speed, dt))
        until = time.perf_counter() + CHUNK_SECONDS
        if math.isinf(speed):
            self._behind = math.inf
        count = 1
        while self._behind >= dt and time.perf_counter() < until and self._transport.playing:
            begin = time.perf_counter()
            taken = min(count, int(self._behind / dt)) if math.isfinite(self._behind) else count
            self._advance(taken)
            self._behind -= taken * dt
            each = (time.perf_counter() - begin) / taken
            count = max(1, min(4 * count, int((until - time.perf_counter()) / max(each, 1e-9))))
        if math.isinf(speed):
            self._behind = 0.0
        elif self._behind < dt:
            time.sleep(min(0.002, (dt - self._behind) / speed))

    def _advance(self, count: int) -> None:
        try:
            if self._pull is None:
                self._simulation.step(count)
                return
            for _ in range(count):
                self._pull.apply(self._simulation)
                self._simulation.step()
        except SimulationError as error:
            self._pull = None
            self._transport.play(False)
            for client in self._server.get_clients().values():
                client.add_notification("The step failed", str(error), color="red")

    # Showing

    def update(self) -> None:
        """Show the present state when the next frame is due; call it after `step` in a loop of your own."""
        now = time.perf_counter()
        if now < self._due:
            return
        self._show(self._stage.show(0))
        if now >= self._plots_due:
            self._plot()
            self._plots_due = now + 1.0 / PLOTS_PER_SECOND
        cost = time.perf_counter() - now
        self._due = now + max(1.0 / FRAMES_PER_SECOND, cost / SHARE)

    def refresh(self) -> None:
        """Show the present state at once."""
        self._due = self._plots_due = 0.0
        self.update()

    def _show(self, poses: Floats) -> None:
        self._inspector.show_arrows(poses)
        if self._pull is not None:
            held = self._pull.point(self._simulation)
            self._stage.arrows("pull", held[None], (self._pull.goal - held)[None], (235, 140, 50))
        body = self._inspector.body
        place = poses[:, :, 3].mean(axis=0) if body is None else poses[body, :, 3]
        if self._follow.value and self._followed is not None:
            self._stage.follow(place - self._followed)
        self._followed = place

    def _plot(self) -> None:
        simulation = self._simulation
        energy, residual = simulation.energy, simulation.residual
        self._plots.energy.add(simulation.time, (energy.kinetic, energy.potential, energy.total))
        self._plots.residual.add(simulation.time, (residual,))
        if self._plots.coordinates is not None and self._inspector.joint is not None:
            self._plots.coordinates.add(simulation.time, simulation.joint_coordinates[self._inspector.joint].tolist())
        self._plots.draw()
        self._inspector.write()
        now, (then, time_then, steps_then) = time.perf_counter(), self._measured
        pace = max(now - then, 1e-9)
        steps = simulation.steps - steps_then
        self._measured = (now, simulation.time, simulation.steps)
        rate = f"{(simulation.time - time_then) / pace:.3g} x real time, {steps / pace:,.0f} steps/s"
        lines = [f"**t = {simulation.time:.3f} s** · {rate if steps > 0 else 'paused'}"]
        lines += [f"residual {residual:.1e} m or rad · energy {energy.total:.6g} J", self._stage.note]
        self._status.content = "  \n".join(line for line in lines if line)

    def close(self) -> None:
        """Take the page down."""
        close_server(self._server)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
