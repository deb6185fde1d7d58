"""What a measurement was made with: the machine and the versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from linkwork.bench.cases import Peer

__all__ = ["MUJOCO", "PEERS", "PINOCCHIO", "PYBULLET", "available_memory", "machine"]

MUJOCO = Peer("MuJoCo", "mujoco", "mujoco")
PINOCCHIO = Peer("Pinocchio", "pinocchio", "pin")
PYBULLET = Peer("PyBullet", "pybullet", "pybullet")
PEERS = (MUJOCO, PINOCCHIO, PYBULLET)


def machine() -> dict[str, str]:
    """Processor, memory and versions, ready to show."""
    versions = {"linkwork": "linkwork", "Warp": "warp-lang", "NumPy": "numpy"}
    versions |= {peer.name: peer.distribution for peer in PEERS}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "free memory": f"{available_memory() / 1e9:.0f} GB",
        "load": _load(),
        "system": f"{platform.system()} {platform.machine()}",
        "Python": platform.python_version(),
    } | {name: _version(distribution) for name, distribution in versions.items()}


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
