"""The near-best trees (the Rashomon set): every tree whose cost is within a slack of the least.

    cost(T) = Σ_leaves leaf(cover, depth) + Σ_splits split(cover, depth, test)
    near_best = { T : cost(T) ≤ (1 + epsilon) · least + slack },   ordered by (cost, key)

With error + λ · leaves as the cost this is the usual Rashomon set; with −log joint and slack = log K it holds
every tree whose posterior probability is at least 1/K of the best one's. Costs are exact (Fractions), so a
tree on the boundary is in the set whatever the order of addition. None is a cost of plus infinity: no such
tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, Protocol

from everytree.reference.bayes import Bayes
from everytree.reference.criteria import Query, leaf_value
from everytree.reference.space import Space
from everytree.reference.table import Cover, Table
from everytree.reference.trees import Tree, key, nodes_of

__all__ = ["Cost", "CriterionCost", "JointCost", "NearBest", "cost_of", "near_best", "near_best_by_listing"]


class Cost(Protocol):
    """A cost that adds up over the nodes of a tree."""

    def leaf(self, cover: Cover, depth: int) -> Fraction | None:
        """Return the cost of a leaf."""

    def split(self, cover: Cover, depth: int, test: int) -> Fraction | None:
        """Return the cost of a split on a feasible test, its children not included."""


class CriterionCost:
    """A leaf-additive criterion of a query ("error", "penalised_error", "cost", …) as a cost."""

    def __init__(self, table: Table, criterion: str = "error", query: Query | None = None) -> None:
        if criterion in ("size", "depth"):
            raise ValueError(
                f"criterion={criterion!r} does not add up over leaves; choose an error, or 'leaves'"
            )
        self.table = table
        self.criterion = criterion
        self.query = Query() if query is None else query

    def leaf(self, cover: Cover, depth: int) -> Fraction:
        """Return the criterion of the leaf."""
        return Fraction(leaf_value(self.criterion, self.table.class_counts(cover), self.query))

    def split(self, cover: Cover, depth: int, test: int) -> Fraction:
        """Splits are free."""
        return Fraction(0)


class JointCost:
    """−log joint of a Bayesian model as a cost."""

    def __init__(self, model: Bayes) -> None:
        self.model = model

    def leaf(self, cover: Cover, depth: int) -> Fraction | None:
        """Return −log Vleaf."""
        return _negative(self.model.log_leaf(cover, depth))

    def split(self, cover: Cover, depth: int, test: int) -> Fraction | None:
        """Return −log Vint."""
        return _negative(self.model.log_split(cover, depth, test))


class NearBest(NamedTuple):
    """A tree of the set and its cost."""

    cost: float
    tree: Tree


def cost_of(tree: Tree, table: Table, cost: Cost) -> Fraction | None:
    """Return the cost of one tree, node by node."""
    total = Fraction(0)
    for node in nodes_of(tree, table):
        if node.test is None:
            part = cost.leaf(node.cover, node.depth)
        else:
            part = cost.split(node.cover, node.depth, node.test)
        if part is None:
            return None
        total += part
    return total


def near_best_by_listing(
    space: Space, cost: Cost, slack: float = 0.0, epsilon: float = 0.0, at_most: int = 200_000
) -> list[NearBest]:
    """Return the set by looking at every tree of the space."""
    _check(slack, epsilon)
    priced = []
    for tree in space.enumerate_trees(at_most):
        price = cost_of(tree, space.table, cost)
        if price is not None:
            priced.append((price, key(tree), tree))
    limit = _limit(min(price for price, _, _ in priced), slack, epsilon)
    return [
        NearBest(float(price), tree)
        for price, _, tree in sorted(priced, key=lambda p: p[:2])
        if price <= limit
    ]


def near_best(
    space: Space, cost: Cost, slack: float = 0.0, epsilon: float = 0.0, at_most: int = 200_000
) -> list[NearBest]:
    """Return the set by recursion: only options whose least completion fits in what is left of the budget.

    Refuses a set of more than ``at_most`` trees.

    >>> from everytree.reference import Table
    >>> xor = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])
    >>> [(found.cost, found.tree) for found in near_best(Space(xor), CriterionCost(xor))]
    [(0.0, (0, (1, None, None), (1, None, None))), (0.0, (1, (0, None, None), (0, None, None)))]
    >>> len(near_best(Space(xor), CriterionCost(xor), slack=1))
    6
    """
    _check(slack, epsilon)
    table = space.table
    known: dict[tuple[Cover, int], Fraction | None] = {}

    def least(cover: Cover, depth: int) -> Fraction | None:
        state = (cover, depth)
        if state not in known:
            found = [cost.leaf(cover, depth)]
            for test in space.feasible(cover, depth):
                zero, one = table.children(cover, test)
                found.append(
                    _sum(cost.split(cover, depth, test), least(zero, depth + 1), least(one, depth + 1))
                )
            known[state] = min((each for each in found if each is not None), default=None)
        return known[state]

    def within(cover: Cover, depth: int, budget: Fraction) -> Iterator[tuple[Fraction, Tree]]:
        leaf = cost.leaf(cover, depth)
        if leaf is not None and leaf <= budget:
            yield leaf, None
        for test in space.feasible(cover, depth):
            zero, one = table.children(cover, test)
            split, least_one = cost.split(cover, depth, test), least(one, depth + 1)
            if split is None or least_one is None or least(zero, depth + 1) is None:
                continue
            for price_zero, tree_zero in within(zero, depth + 1, budget - split - least_one):
                for price_one, tree_one in within(one, depth + 1, budget - split - price_zero):
                    yield split + price_zero + price_one, (test, tree_zero, tree_one)

    optimum = least(space.root, 0)
    if optimum is None:
        raise ValueError(
            "every tree of the space has infinite cost; use a cost that allows at least one tree"
        )
    found: list[tuple[Fraction, tuple[int, ...], Tree]] = []
    for price, tree in within(space.root, 0, _limit(optimum, slack, epsilon)):
        if len(found) == at_most:
            raise ValueError(
                f"more than at_most={at_most} trees are near the best; lower slack or raise at_most"
            )
        found.append((price, key(tree), tree))
    return [NearBest(float(price), tree) for price, _, tree in sorted(found, key=lambda p: p[:2])]


def _check(slack: float, epsilon: float) -> None:
    for name, value in (("slack", slack), ("epsilon", epsilon)):
        if not 0 <= value < math.inf:
            raise ValueError(f"{name}={value!r}; it must be finite and at least 0")


def _limit(least: Fraction, slack: float, epsilon: float) -> Fraction:
    if epsilon and least < 0:
        raise ValueError(
            f"epsilon={epsilon!r} with a least cost of {float(least)}, which is below 0; use slack"
        )
    return least + Fraction(epsilon) * least + Fraction(slack)


def _negative(log_weight: float) -> Fraction | None:
    return None if log_weight == -math.inf else -Fraction(log_weight)


def _sum(*parts: Fraction | None) -> Fraction | None:
    return None if None in parts else sum((part for part in parts if part is not None), Fraction(0))
