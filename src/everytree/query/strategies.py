"""The ways of DL8 to build the itemset lattice, beside the engine (Nijssen & Fromont 2007, section 5).

    simple    one step: paths are counted while the tree is built, results kept by itemset
    frequent  all frequent itemsets by Apriori first, then DL8 on their trie
    apriori   Apriori level by level, with relevancy inside: only itemsets that a tree may contain
    eclat     Eclat depth first on sets of rows, with relevancy inside
    closed    one step, results kept by the closure of the itemset
    auto      the engine of everytree

All of them find a tree of the same least (cost, size). They differ in what they store and in how long they take,
which ``compare_strategies`` lists: the numbers behind Figure 7 of the paper.
"""

from __future__ import annotations

from typing import Any

import everytree._core as _core
from everytree.common.arguments import refused
from everytree.engine.engine import Engine
from everytree.errors import QueryError

__all__ = ["STRATEGIES", "check_strategy", "mine"]

STRATEGIES = ("auto", "simple", "frequent", "apriori", "eclat", "closed")


def check_strategy(strategy: str) -> str:
    """Return ``strategy`` if it is one, else refuse it.

    >>> check_strategy("eclat")
    'eclat'
    """
    if strategy not in STRATEGIES:
        raise refused(QueryError, "strategy", strategy, f"one of {', '.join(STRATEGIES)}")
    return strategy


def mine(
    space: Engine, cost: _core.LeafCost, strategy: str, control: _core.Control
) -> tuple[float, list[int], dict[str, Any]]:
    """Find the tree of least (cost, size) of a space: its cost, its key, and what the strategy did.

    The key is empty where the cost forbids every tree.
    """
    depth = -1 if space.max_depth is None else space.max_depth
    value, key, report = _core.mine(space.core_table(), strategy, cost, depth, space.min_leaf, control)
    info: dict[str, Any] = {"strategy": strategy, **report}
    if strategy != "closed":  # there the states are closures, not itemsets
        info["relevant"] = info["states"]
    return value, key, info
