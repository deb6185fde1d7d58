"""How long a user waits for the first result."""

from __future__ import annotations

from linkwork.bench.cases import Case, Column, Suite, Target

__all__ = ["START"]

IMPORT, RUN = "python -c 'import linkwork'", "python -m linkwork run pendulum"

START = Suite(
    "start",
    "From a shell to a result, in a fresh interpreter",
    (Column("seconds", "s"),),
    (
        Case(IMPORT, "linkwork.bench.tasks.shell:run", {"arguments": ["-c", "import linkwork"]}),
        Case(RUN, "linkwork.bench.tasks.shell:run", {"arguments": ["-m", "linkwork", "run", "pendulum", "--json"]}),
    ),
    (Target("seconds", (IMPORT,), 1.5), Target("seconds", (RUN,), 4.0)),
    ("After a first run, which compiles what is kept on disk.",),
)
