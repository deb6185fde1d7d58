"""The package's surface: every public name is there, and importing it stays light."""

from __future__ import annotations

import subprocess
import sys

import pytest

import linkwork as lw


@pytest.mark.parametrize("name", lw.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(lw, name).__name__ == name


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nothing"):
        lw.nothing  # noqa: B018


def test_importing_does_not_load_kernels_viewer_or_file_formats() -> None:
    heavy = ("warp", "scipy", "trimesh", "viser", "rich", "typer", "matplotlib")
    program = f"import sys, linkwork; print([name for name in {heavy!r} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
