"""What a measurement was made with: the machine and the versions."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, distributions, version
from pathlib import Path

from linkwork.bench.cases import Peer

__all__ = [
    "DRAKE",
    "EXUDYN",
    "MUJOCO",
    "NEWTON",
    "PEERS",
    "PINOCCHIO",
    "PYBULLET",
    "available_memory",
    "interpreter",
    "machine",
]

MUJOCO = Peer("MuJoCo", "mujoco", "mujoco")
PINOCCHIO = Peer("Pinocchio", "pinocchio", "pin")
PYBULLET = Peer("PyBullet", "pybullet", "pybullet")
NEWTON = Peer("Newton", "newton", "newton", environment="newton")
DRAKE = Peer("Drake", "pydrake", "drake", environment="drake")
EXUDYN = Peer("EXUDYN", "exudyn", "exudyn", environment="exudyn")
PEERS = (MUJOCO, PINOCCHIO, PYBULLET, NEWTON, DRAKE, EXUDYN)
# what a peer's own environment has besides the peer, where it matters
BROUGHT = {"newton": {"MuJoCo": "mujoco", "Warp": "warp-lang"}}


def machine() -> dict[str, str]:
    """Processor, memory and versions, ready to show."""
    versions = {"linkwork": "linkwork", "Warp": "warp-lang", "NumPy": "numpy"}
    versions |= {peer.name: peer.distribution for peer in PEERS if not peer.environment}
    apart = {peer.name: _version_apart(peer) for peer in PEERS if peer.environment}
    return (
        {
            "processor": _processor(),
            "cores": str(os.cpu_count()),
            "free memory": f"{available_memory() / 1e9:.0f} GB",
            "load": _load(),
            "system": f"{platform.system()} {platform.machine()}",
            "Python": platform.python_version(),
        }
        | {name: _version(distribution) for name, distribution in versions.items()}
        | apart
    )


def interpreter(peer: Peer | None) -> str | None:
    """The Python that has the peer; None where it has an environment of its own that is not there.

    Such environments are in the folder `.venv-peers` beside our own, or in the one that LINKWORK_PEERS names.
    """
    if peer is None or not peer.environment:
        return sys.executable
    python = _environments() / peer.environment / "bin" / "python"
    return str(python) if python.exists() else None


def _environments() -> Path:
    named = os.environ.get("LINKWORK_PEERS")
    return Path(named) if named else Path(sys.prefix).parent / ".venv-peers"


def available_memory() -> float:
    """Memory that a new process could take, bytes; 4e9 where the system does not say."""
    for line in _lines("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024.0 * float(line.split()[1])
    return 4e9


def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def _version_apart(peer: Peer) -> str:
    """Version of a peer in its own environment, and of what it brought."""
    folders = [str(path) for path in (_environments() / peer.environment).glob("lib/python*/site-packages")]
    found = {each.name.lower(): each.version for each in distributions(path=folders)}
    if peer.distribution not in found:
        return "not installed"
    brought = BROUGHT.get(peer.environment, {})
    with_it = ", ".join(f"{name} {found[key]}" for name, key in brought.items() if key in found)
    return found[peer.distribution] + (f" (with {with_it})" if with_it else "")


def _load() -> str:
    """What else the machine is doing: processes that want a core, on average over the last minute."""
    return f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"


def _processor() -> str:
    for line in _lines("/proc/cpuinfo"):
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
