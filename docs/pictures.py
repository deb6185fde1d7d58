"""Makes the pictures of the pages anew by running the examples that draw them: `python docs/pictures.py`."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests"))
os.environ["MPLBACKEND"] = "agg"

from page_examples import examples_of  # noqa: E402


def main() -> None:
    """Run the tutorial and keep its plot."""
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for example in examples_of(HERE / "tutorial.md"):
            example.run(Path(folder))
        for picture in Path(folder).glob("*.png"):
            shutil.copy(picture, HERE / "pictures" / picture.name)
            print(HERE / "pictures" / picture.name)
        os.chdir(HERE)


if __name__ == "__main__":
    main()
