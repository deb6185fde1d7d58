"""Numbers as they stand in tables."""

from __future__ import annotations

from linkwork.bench.cases import Value

__all__ = ["number"]


def number(value: Value) -> str:
    """Three digits, as short as they go: 1,234, 12.3, 0.0123, 1.2e-09."""
    if value is None:
        return ""
    if isinstance(value, str | bool):
        return str(value)
    size = abs(value)
    if size != 0.0 and (size < 1e-3 or size >= 1e7):
        return f"{value:.1e}"
    if size >= 100.0 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"
