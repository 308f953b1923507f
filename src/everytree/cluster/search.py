"""The best tree in parts: the splits of the root, in rounds that share the least cost so far."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import numpy as np

from everytree.arguments import whole
from everytree.cluster.workers import distribute, held, n_workers
from everytree.data.table import Table
from everytree.errors import LimitReached, NoTreeError, QueryError

if TYPE_CHECKING:
    from everytree.space import TreeSpace
    from everytree.tree import Tree

__all__ = ["best"]

PARTS_PER_JOB = 4


def best(space: TreeSpace, *, per_round: int | None = None, n_jobs: int | None = None) -> Tree:
    """A tree of the least error, and of the least size among those, as ``space.best()`` finds; found in rounds.

    Where several are equally good, the one with the first root test; a search in one process may choose another.
    A round hands out the next ``per_round`` root tests with the least error so far, which bounds them. Tests that look
    best alone come first. Limits of the space hold for each part; one that is reached ends the whole with its message.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> best(space).error, best(space).size
    (0, 7)
    """
    if space.max_depth is None:
        raise QueryError("max_depth=None; the search on a cluster needs a depth limit")
    table = space.table
    leaf = table.class_totals
    answer: tuple[int, int, int, tuple[int, ...]] = (int(table.total - leaf.max()), 1, -1, (-1,))
    order = _by_stump(table, space.min_leaf) if space.max_depth > 0 else []
    size = PARTS_PER_JOB * n_workers(n_jobs) if per_round is None else whole("per_round", per_round, 1)
    token = uuid.uuid4().hex
    for start in range(0, len(order), size):
        tasks = [(token, space, test, answer[0]) for test in order[start : start + size]]
        found = [each for each in distribute(_best_below, tasks, n_jobs=n_jobs) if each is not None]
        answer = min([answer, *found])
        if answer[:2] == (0, 1):
            break
    error = answer[0]
    info = {"optimal": True, "objective": error, "lower_bound": error, "gap": 0.0, "stop_reason": "proved"}
    return space._tree(answer[3], info)


def _by_stump(table: Table, min_leaf: int) -> list[int]:
    """The tests with both sides large enough, those with the least error of one split first."""
    ones = table.rows.T.astype(np.int64) @ table.class_counts  # n_tests × n_classes
    zeros = table.class_totals - ones
    feasible = (ones.sum(axis=1) >= min_leaf) & (zeros.sum(axis=1) >= min_leaf)
    right = ones.max(axis=1) + zeros.max(axis=1)
    return [int(t) for t in np.argsort(-right, kind="stable") if feasible[t]]


def _best_below(
    token: str, space: TreeSpace, test: int, bound: int
) -> tuple[int, int, int, tuple[int, ...]] | None:
    """(error, size, test, key) of the best tree with this root test, or None if its error is above the bound."""
    from everytree.space import TreeSpace

    mine: TreeSpace = held(token, space)
    assert mine.max_depth is not None
    error, size, key = 0, 1, [test]
    for side in (0, 1):
        rows = mine.table.rows[:, test] == side
        part = TreeSpace.from_table(
            Table(mine.table.rows[rows], mine.table.class_counts[rows]),
            mine.max_depth - 1,
            mine.min_leaf,
            mine.n_jobs,
            time_limit=mine.limits.time_limit,
            memory_limit=mine.limits.memory_limit,
        )
        try:
            tree = part.best(max_error=bound - error)
        except NoTreeError:
            return None
        if not tree.info["optimal"]:
            raise LimitReached(f"a limit ended the part below test {test}; raise it", "time")
        error, size, key = error + int(tree.error), size + tree.size, [*key, *tree.key]
    return error, size, test, tuple(key)
