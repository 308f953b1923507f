"""Nodes that a reader has chosen, what they cost, and what a node could ask instead.

    price     objective of the best tree with the reader's nodes − objective of the best tree of the question

The price is exact where both are proved. Where nodes choose their own cuts a reader may also cut where no node of the
question would, so a price may be below zero.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from everytree.errors import EverytreeError, QueryError
from everytree.query.fixed_tests import NodeTest, Place, node_tests
from everytree.query.query import Query
from everytree.report.asked import Asked
from everytree.report.plain import cost_words
from everytree.report.words import told
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["fixed_of", "listed_tests", "price_words", "prices"]

MOST_CUTS = 30  # of one column that a reader can choose from


def fixed_of(asked: Asked, kept: Sequence[int] | None) -> dict[str, int | None]:
    """Return the reader's nodes with the numbers that their tests have in the space of the question."""
    if kept is None:
        return {path: test for path, test, _ in asked.edits}
    number = {test: k for k, test in enumerate(kept)}
    if any(test is not None and test not in number for _, test, _ in asked.edits):
        raise QueryError(
            "a node that you chose asks a column that the tree must not use; undo it, or allow the column"
        )
    return {path: None if test is None else number[test] for path, test, _ in asked.edits}


def price_words(objective: str, found: Tree, best: tuple[float, bool], n: int) -> str:
    """Say what the reader's choices cost beside the best tree, whose objective and proof are given."""
    least, proved = best
    more = float(found.info["objective"]) - least
    choices = "Your choice costs" if n == 1 else f"Your {n} choices cost"
    what = cost_words(objective)
    sure = proved and found.info.get("optimal", True)
    if abs(more) < 1e-9:
        price = "nothing"
    elif objective == "error":
        price = f"{told(abs(more))} {'more' if more > 0 else 'fewer'} training error{'' if abs(more) == 1 else 's'}"
    else:
        price = f"{told(abs(more))} {'more' if more > 0 else 'less'} {what}"
    both = f"{told(float(found.info['objective']))} instead of {told(least)}"
    return f"{choices} {price}{'' if sure else ', as far as is known'}: {both}."


def listed_tests(space: TreeSpace, place: Place, left: int | None, least: int) -> list[NodeTest]:
    """List what a node could ask, those that part the classes best first, and of a column not too many cuts."""
    if left == 0:
        return []
    found = node_tests(space, place, left, least)
    attribute = space.attribute_names or []
    groups: dict[Any, list[NodeTest]] = {}
    for each in found:
        groups.setdefault(attribute[each.test] if attribute else each.test, []).append(each)
    kept: list[list[NodeTest]] = []
    for group in groups.values():
        best = min(group, key=_impurity)
        step = -(-len(group) // MOST_CUTS)
        kept.append([best, *(each for k, each in enumerate(group) if k % step == 0 and each is not best)])
    return [each for group in sorted(kept, key=lambda group: _impurity(group[0])) for each in group]


def _impurity(test: NodeTest) -> float:
    """Gini's impurity after a test, times examples."""
    return sum(sum(side) - sum(n * n for n in side) / sum(side) for side in (test.yes, test.no))


def prices(
    space: TreeSpace,
    query: Query,
    fixed: dict[str, int | None],
    path: str,
    tests: Sequence[int],
    seconds: float,
) -> dict[int, float | None]:
    """Return the objective of the best tree with each test at a node, as many as there is time for.

    None stands for a test with which no tree satisfies the query. ``fixed`` has the nodes above, and no node below.
    """
    found: dict[int, float | None] = {}
    until = time.monotonic() + seconds
    for test in tests:
        left = until - time.monotonic()
        if left <= 0:
            break
        try:
            with space.within(left):
                tree = space.best_with(fixed | {path: test}, query)
        except QueryError:
            found[test] = None
            continue
        except EverytreeError:
            break
        if tree.info.get("optimal", True):
            found[test] = float(tree.info["objective"])
    return found
