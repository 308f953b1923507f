"""Where chains begin: the single leaf, a given tree, or the best tree by a search that ends in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from everytree.bayes.most_probable import most_probable
from everytree.common.arguments import refused
from everytree.common.told import tell
from everytree.engine.engine import Engine
from everytree.errors import DataError, QueryError
from everytree.mcmc.target import RISKS, PosteriorTarget, RiskTarget
from everytree.query.best import best_trees
from everytree.query.query import query_of
from everytree.trees.tree import Tree

__all__ = ["start_keys"]

WORDS = ("leaf", "map", "optimal")
SECONDS = 10.0  # for the search of a start if there is no time limit; else half of the limit is used


def start_keys(
    start: Any, space: Engine, target: PosteriorTarget | RiskTarget, n_chains: int
) -> list[tuple[int, ...]]:
    """Return the key of the tree at which each chain begins."""
    if isinstance(start, str):
        if start not in WORDS:
            raise _unknown(start)
        return [_searched(start, space, target) if start != "leaf" else (-1,)] * n_chains
    if isinstance(start, Tree):
        return [_checked(start, space)] * n_chains
    if not isinstance(start, Sequence) or not all(isinstance(tree, Tree) for tree in start):
        raise _unknown(start)
    if len(start) != n_chains:
        raise QueryError(f"start has {len(start)} trees; expected one for each of {n_chains} chains")
    return [_checked(tree, space) for tree in start]


def _unknown(start: Any) -> QueryError:
    words = ", ".join(map(repr, WORDS))
    return refused(QueryError, "start", start, f"{words}, a Tree over the same tests, or one for each chain")


def _checked(tree: Tree, space: Engine) -> tuple[int, ...]:
    """Return the key of a given tree; the core refuses it later if it is not in the space."""
    if tree.n_tests != space.n_tests:
        raise DataError(
            f"the start is a tree over {tree.n_tests} tests, and there are {space.n_tests} here; give a tree fitted "
            "with the same columns and bins"
        )
    for i, (given, here) in enumerate(zip(tree.test_names or (), space.test_names or (), strict=False)):
        if given != here:
            raise DataError(
                f"test {i} of the start is {given!r}, and {here!r} here; fit it with the same columns and bins"
            )
    return tree.key


def _searched(word: str, space: Engine, target: PosteriorTarget | RiskTarget) -> tuple[int, ...]:
    """Find the best tree in the time there is: by the posterior, by the penalised risk, or by the errors."""
    if word == "map" and isinstance(target, RiskTarget):
        raise QueryError("start='map' with target='risk', which has no prior; expected start='optimal'")
    limits = space.limits
    seconds = SECONDS if limits.time_limit is None else limits.time_limit / 2
    space.limits = replace(limits, time_limit=seconds)
    try:
        if word == "map" and isinstance(target, PosteriorTarget):
            tree = most_probable(space, target.prior, target.dirichlet, target.power)
        elif isinstance(target, RiskTarget):
            penalty = target.leaf_penalty * space.table.examples / target.scale
            tree = best_trees(space, query_of(RISKS[target.phi], leaf_penalty=penalty))[0]
        else:
            tree = best_trees(space, query_of(("error", "size")))[0]
    finally:
        space.limits = limits
    if not tree.info["optimal"]:
        tell(
            f"the search for the start was ended after {seconds:g} s: chains begin at the best tree found, which need "
            "not be the same on another machine",
            ConvergenceWarning,
        )
    key: tuple[int, ...] = tree.key
    return key
