"""Bring batches of a forest into the cache ahead of their turn.

A forest is larger than the caches. What a batch needs is asked for in parts, between the parts of the work on the batch
before it: all at once it would be waited for.
"""

from functools import cache
from types import SimpleNamespace

import warp as wp

from linkwork.mabd.forest_data import LINE, LOADS, TURN, Forest, places
from linkwork.mabd.lanes import fetch_ahead


@cache
def fetching(rows: int) -> SimpleNamespace:
    """For forests whose joints have 3 or 6 rows."""
    TURNS = rows == 6
    own = places(rows)
    SOLVED = wp.constant(own.solved)
    WRENCH = wp.constant(own.wrench)
    BRANCH = wp.constant(own.branch)

    @wp.func
    def fetch_poses(forest: wp.array(dtype=Forest), batch: int, again: bool):
        f = forest[0]
        fetch_ahead(f.Q, batch * 12, 12)
        fetch_ahead(f.k, batch * 3, 3)
        if not again:
            fetch_ahead(f.V, batch * 12, 12)
            fetch_ahead(f.Q_past, batch * 12, 12)
            fetch_ahead(f.V_past, batch * 12, 12)

    @wp.func
    def fetch_equations(forest: wp.array(dtype=Forest), batch: int):
        f = forest[0]
        fetch_ahead(f.Q_free, batch * 12, 12)
        fetch_ahead(f.constants, f.table[batch] * f.width, f.width)
        if f.b.loaded == 1:
            fetch_ahead(f.loads, batch * LOADS, 6)
        if wp.static(TURNS):
            fetch_ahead(f.turns, batch * TURN, TURN)

    @wp.func
    def fetch_children(forest: wp.array(dtype=Forest), batch: int):
        f = forest[0]
        rounds = f.rounds[batch]
        first = f.first_round[batch]
        for round in range(first, first + rounds):
            fetch_ahead(f.joint_constants, f.joint_table[round] * f.joint_width, f.joint_width)
        fetch_ahead(f.solved, first * SOLVED, rounds * SOLVED)
        if rounds > 1:
            fetch_ahead(f.branches, f.branching[batch] * BRANCH, BRANCH)

    @wp.func
    def fetch_springs(forest: wp.array(dtype=Forest), batch: int):
        f = forest[0]
        if wp.static(TURNS):
            fetch_ahead(f.lines, batch * LINE, LINE)

    @wp.func
    def fetch_solution(forest: wp.array(dtype=Forest), batch: int, strained: bool):
        f = forest[0]
        fetch_ahead(f.wrench, batch * WRENCH, WRENCH)
        fetch_ahead(f.Q, batch * 12, 12)
        fetch_ahead(f.V, batch * 12, 12)
        fetch_ahead(f.k, batch * 3, 3)
        if strained:
            fetch_ahead(f.R, batch * 9, 9)

    return SimpleNamespace(
        fetch_poses=fetch_poses, fetch_equations=fetch_equations, fetch_springs=fetch_springs,
        fetch_children=fetch_children, fetch_solution=fetch_solution,
    )  # fmt: skip
