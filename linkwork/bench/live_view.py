"""What a live page costs: the same simulation with and without one, its page read by a client in another process."""

from __future__ import annotations

import subprocess
import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from linkwork.simulation.simulation import Simulation
    from linkwork.view.live import LiveView

__all__ = ["LiveCost", "live_view_cost"]

ROUNDS = 5

# a page without a screen: takes everything it is sent, and counts the bytes
CLIENT = """
import sys, viser
from websockets.sync.client import connect
with connect(sys.argv[1], subprotocols=[f"viser-v{viser.__version__}"], max_size=None) as socket:
    print("connected", flush=True)
    for message in socket:
        print(len(message), flush=True)
"""


@dataclass(frozen=True)
class LiveCost:
    """Steps per second of wall time, best of several rounds that take turns.

    Attributes:
        bodies: how many.
        plain: without a page.
        live: with a page that a client reads.
        received: bytes per second that reached the client.
    """

    bodies: int
    plain: float
    live: float
    received: float

    @property
    def loss(self) -> float:
        """Share of the speed that the page costs."""
        return 1.0 - self.live / self.plain


def live_view_cost(simulation: Simulation, seconds: float = 1.5) -> LiveCost:
    """Run a simulation as fast as it goes, in turns with and without a live page, `seconds` of wall time each."""
    with simulation.view(port=0, wait=False) as page:
        page.speed = float("inf")
        address = page.address.replace("http://localhost", "ws://127.0.0.1")
        with subprocess.Popen([sys.executable, "-c", CLIENT, address], stdout=subprocess.PIPE, text=True) as client:
            assert client.stdout is not None
            if not client.stdout.readline():
                raise RuntimeError("the client could not connect to the page")
            plain, live, wall = 0.0, 0.0, 0.0
            for _ in range(ROUNDS):
                plain = max(plain, _plain_rate(simulation, seconds))
                begin = time.perf_counter()
                live = max(live, _live_rate(simulation, page, seconds))
                wall += time.perf_counter() - begin
            client.terminate()
            received = sum(int(line) for line in client.stdout if line.strip().isdigit())
    return LiveCost(simulation.model.bodies, plain, live, received / wall)


def _plain_rate(simulation: Simulation, seconds: float) -> float:
    begin, first = time.perf_counter(), simulation.steps
    while time.perf_counter() < begin + seconds:
        simulation.step(20)
    return (simulation.steps - first) / (time.perf_counter() - begin)


def _live_rate(simulation: Simulation, page: LiveView, seconds: float) -> float:
    begin, first = time.perf_counter(), simulation.steps
    page.run(seconds)
    return (simulation.steps - first) / (time.perf_counter() - begin)
