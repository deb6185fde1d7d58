"""What is said of bodies that overlap at the start."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

from linkwork.errors import SceneError, SceneWarning

if TYPE_CHECKING:
    from linkwork.contact.finder import StartOverlap
    from linkwork.model.model import Model

__all__ = ["report_overlaps"]

NAMED = 5
OUTCOME = {
    "pass": "they pass through each other until they have come apart",
    "resolve": "they are pushed apart gently",
}


def report_overlaps(model: Model, overlaps: list[StartOverlap]) -> None:
    """Warn of overlapping bodies with their depths, deepest first.

    Raises:
        SceneError: there are some, and the scene refuses them.
    """
    if not overlaps:
        return
    pairs = [f"{model.body_names(o.a)} and {model.body_names(o.b)} by {o.depth:.3g} m" for o in overlaps[:NAMED]]
    if len(overlaps) > NAMED:
        pairs.append(f"and {len(overlaps) - NAMED} pairs more")
    found = f"{len(overlaps)} pair{'s' if len(overlaps) > 1 else ''} of bodies overlap at the start: {'; '.join(pairs)}"
    rule = model.contact_rules.overlaps
    if rule == "refuse":
        raise SceneError(f"{found}; move them apart, or let them pass with scene.ignore_contact")
    other = "resolve" if rule == "pass" else "pass"
    warnings.warn(
        f"{found}; {OUTCOME[rule]}. Scene(overlaps={other!r}) does otherwise, scene.ignore_contact silences it",
        SceneWarning,
        stacklevel=2,
    )
