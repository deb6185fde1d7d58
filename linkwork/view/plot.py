"""Pictures of quantities over time: one panel per unit, drawn without a screen."""

from __future__ import annotations

import html
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwork.errors import LinkworkError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from linkwork.record.columns import Column
    from linkwork.record.reader import Recording

__all__ = ["ENDINGS", "plot_columns", "write_plot"]

ENDINGS = (".png", ".svg", ".pdf", ".html")
# Okabe and Ito's colours, which people with any colour vision can tell apart, dark ones first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
STYLES = ("-", "--", ":", "-.")
MOST_LINES = 200
MOST_IN_LEGEND = 14
FIRST_COORDINATES = 6


def plot_columns(recording: Recording, names: Sequence[str], *, title: str | None = None) -> Figure:
    """Draw columns of a recording over time, stacked by unit.

    Args:
        recording: what to read.
        names: of the columns; energy, residual and the first joint coordinates when empty.
        title: of the picture; the name of the file when None.

    Raises:
        LinkworkError: there is no such name, nothing to draw, or too much for one picture.
    """
    if len(recording) == 0:
        raise LinkworkError(f"{recording.path}: the recording has no whole frame, so there is nothing to plot")
    if not names:
        names = [*recording.columns.whole_scene(), *recording.columns.joint_coordinates()[:FIRST_COORDINATES]]
    columns = _without_idle_energies(recording.columns.find(names), names)
    if len(columns) > MOST_LINES:
        raise LinkworkError(f"{len(columns)} lines are too many for one picture; name fewer than {MOST_LINES}")
    panels: dict[str, list[Column]] = {}
    for column in columns:
        panels.setdefault(column.unit, []).append(column)

    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 0.9 + 2.3 * len(panels)), dpi=120, layout="constrained")
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (unit, members) in zip(axes, panels.items(), strict=True):
        _draw(axis, recording.times, unit, members)
    axes[-1].set_xlabel("time, s")
    figure.align_ylabels(axes)
    figure.suptitle(recording.path.name if title is None else title, fontsize=11)
    return figure


def _without_idle_energies(columns: list[Column], names: Sequence[str]) -> list[Column]:
    """Drop parts of "energy" that are zero throughout, unless they were asked for by name."""
    return [c for c in columns if c.quantity != "energy" or c.name in names or c.values.any()]


def _draw(axis: Any, times: Any, unit: str, columns: list[Column]) -> None:
    marker = "o" if len(times) == 1 else None
    for k, column in enumerate(columns):
        style = STYLES[k // len(COLORS) % len(STYLES)]
        axis.plot(times, column.values, style, color=COLORS[k % len(COLORS)], lw=1.4, marker=marker, label=column.name)
    quantities = " / ".join(dict.fromkeys(column.quantity for column in columns))
    axis.set_ylabel(quantities if unit == "1" else f"{quantities}, {unit}")
    axis.grid(True, color="0.88", linewidth=0.7)
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.0 if len(times) > 1 else 0.05)
    values = np.concatenate([column.values for column in columns])
    if all(column.quantity == "joint violation" for column in columns) and _spans_decades(values):
        axis.set_yscale("log")
    elif np.ptp(values) < 1e-9 * np.abs(values).max(initial=0.0):
        # What is constant up to rounding is a flat line, not a picture of the rounding.
        middle = float(values[0])
        axis.set_ylim(middle - 0.5 * abs(middle), middle + 0.5 * abs(middle))
    else:
        axis.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useOffset=False)
    if len(columns) > 1 or columns[0].name != columns[0].quantity:
        lines = axis.get_lines()
        left_out = len(lines) - MOST_IN_LEGEND
        shown = lines if left_out <= 0 else lines[:MOST_IN_LEGEND]
        note = f"and {left_out} more" if left_out > 0 else None
        axis.legend(handles=shown, title=note, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=8)


def _spans_decades(values: Any) -> bool:
    return bool((values > 0.0).all() and values.max() > 30.0 * values.min())


def write_plot(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a picture; .html is a page that needs nothing from outside.

    Raises:
        LinkworkError: the file's ending is none of .png, .svg, .pdf and .html, or it cannot be written.
    """
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in ENDINGS:
        raise LinkworkError(f"{os.fspath(path)!r}: a plot is written as one of {', '.join(ENDINGS)}")
    try:
        if ending == ".html":
            target.write_text(_page(figure, target.stem), encoding="utf-8")
        else:
            figure.savefig(target)
    except OSError as error:
        raise LinkworkError(f"{os.fspath(path)!r} cannot be written: {error.strerror}") from error


def _page(figure: Figure, title: str) -> str:
    drawing = io.StringIO()
    figure.savefig(drawing, format="svg")
    svg = drawing.getvalue()
    svg = svg[svg.index("<svg") :]
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<style>body{margin:2em;background:#fff}svg{max-width:100%;height:auto}</style></head>"
        f"<body>{svg}</body></html>\n"
    )
