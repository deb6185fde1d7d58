"""The gallery: one short file per scene, found by its name.

A scene is a module `linkwork/gallery/NAME.py` (the command calls it NAME with "-" for "_") with

    TITLE = "one line that says what it shows"
    METHOD = "MABD"                 the class of linkwork to run it with, with its default settings
    SIZE = "60 links"               how large it is with its default parameters
    SECONDS = 5.0                   simulated time shown
    DT = 1e-2                       time step, s
    SHOWN_AT = 1.5                  optional: time of its picture in docs/gallery, s; half of SECONDS otherwise
    SEEN_FROM = (0.45, -1.0, 0.35)  optional: where the eye is in it, as a direction from the bodies

    def scene(links: int = 60) -> lw.Scene:
        every parameter has a default (a number, a bool or a text); the first one is the size

    def prepare(sim: lw.Simulation) -> object:      optional: registers callbacks (wind, changing targets, a watch);
        what it returns is handed to `number`

    def number(sim: lw.Simulation, watched: object) -> tuple[str, float]:
        one physical number after SECONDS, with its name and unit, which the scene's test compares with the truth
"""

from __future__ import annotations

from linkwork.gallery.registry import GalleryScene, find, load_file, names, reason_of

__all__ = ["GalleryScene", "find", "load_file", "names", "reason_of"]
