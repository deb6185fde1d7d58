"""Makes the pictures of the pages anew: `python docs/pictures.py`.

The tutorial's plot is drawn by running its examples; the live page is looked at in a headless Chromium.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
os.environ["MPLBACKEND"] = "agg"

import numpy as np  # noqa: E402
from browser import CHROMIUM, chromium, served  # noqa: E402
from page_examples import examples_of  # noqa: E402
from PIL import Image  # noqa: E402

import linkwork as lw  # noqa: E402
from linkwork.gallery import find  # noqa: E402

FADES_IN = 10.0  # s, with software rendering
SHOWN_AT = 7.0  # s


def tutorial(folder: Path) -> None:
    """Run the tutorial and keep its plot."""
    os.chdir(folder)
    for example in examples_of(HERE / "tutorial.md"):
        example.run(folder)
    os.chdir(HERE)
    for picture in folder.glob("*.png"):
        shutil.copy(picture, HERE / "pictures" / picture.name)


def live_page(folder: Path) -> None:
    """The hoist on its page, paused, with its anchor picked."""
    scene = find("pulley-chain")
    sim = lw.Simulation(scene.build(), scene.method(), dt=scene.dt, state_dir=None)
    scene.prepare(sim)
    view = sim.view(port=0, playing=False, wait=False)
    while sim.time < SHOWN_AT:
        sim.step(5)
        view.refresh()
    view._inspector.picked_body(next(k for k in range(sim.model.bodies) if sim.model.body_names(k) == "anchor"))
    with served(view), chromium(folder, width=1280, height=960) as page:
        page.open(view.address)
        page.wait_for(lambda: "anchor" in page.text(), what="the anchor's numbers")
        # the notice that rendering is slow here
        page.evaluate("document.querySelectorAll('.mantine-Notification-closeButton').forEach(b => b.click())")
        time.sleep(FADES_IN)
        picture = Image.fromarray(page.pixels().astype(np.uint8))
    picture.quantize(192, Image.Quantize.MAXCOVERAGE).save(HERE / "pictures" / "live-page.png", optimize=True)


def main() -> None:
    """All pictures; that of the live page only where there is a Chromium."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        tutorial(Path(folder))
        if CHROMIUM is not None:
            live_page(Path(folder))


if __name__ == "__main__":
    main()
