"""The ways of DL8 to build the itemset lattice, beside the engine (Nijssen & Fromont 2007, section 5).

    simple    one step: paths are counted while the tree is built, results kept by itemset
    frequent  all frequent itemsets by Apriori first, then DL8 on their trie
    apriori   Apriori level by level, with relevancy inside: only itemsets that a tree may contain
    eclat     Eclat depth first on sets of rows, with relevancy inside
    closed    one step, results kept by the closure of the itemset
    eclat_frequent   all frequent itemsets by Eclat first, then DL8 on their trie
    closed_frequent  all closed frequent itemsets first, then DL8 with the class counts found
    auto      the engine of everytree

All of them give the same answers to a query. They differ in what they store and in how long they take,
which ``compare_strategies`` lists: the numbers behind Figure 7 of the paper. Where depth ranks first, ``apriori`` stops
at the first level that holds an answer. All but ``auto`` also take a constraint of the caller's own (paths.py).
"""

from __future__ import annotations

from typing import Any

import everytree._core as _core
from everytree.common.arguments import refused
from everytree.engine.engine import Engine
from everytree.errors import QueryError
from everytree.query.paths import Paths

__all__ = ["STRATEGIES", "CoreQuery", "check_strategy", "mine"]

STRATEGIES = (
    "auto",
    "simple",
    "frequent",
    "apriori",
    "eclat",
    "closed",
    "eclat_frequent",
    "closed_frequent",
)

# Costs, the order of criteria, bounds on criteria, bits of required items for every test, and how many trees.
CoreQuery = tuple[list[_core.LeafCost], list[int], list[tuple[int, float]], list[int], int]


def check_strategy(strategy: str) -> str:
    """Return ``strategy`` if it is one, else refuse it.

    >>> check_strategy("eclat")
    'eclat'
    """
    if strategy not in STRATEGIES:
        raise refused(QueryError, "strategy", strategy, f"one of {', '.join(STRATEGIES)}")
    return strategy


def mine(
    space: Engine, query: CoreQuery, strategy: str, control: _core.Control, paths: Paths | None = None
) -> tuple[list[tuple[list[float], list[int]]], dict[str, Any]]:
    """Answer a query by a strategy: the values and keys of the trees, best first, and what the strategy did.

    ``paths`` is a constraint on the class counts of every path; one that is seen not to be anti-monotone is refused.
    """
    if paths is not None and not paths(space.table.class_totals):
        paths.check()
        return [], {"strategy": strategy}
    depth = -1 if space.max_depth is None else space.max_depth
    trees, report = _core.mine(
        space.table_of_search(), strategy, query, depth, space.min_count, control, paths
    )
    if paths is not None:
        paths.check()
    info: dict[str, Any] = {"strategy": strategy, **report}
    if not strategy.startswith("closed"):  # there the states are closures, not itemsets
        info["relevant"] = info["states"]
    return trees, info
