"""Queries: which tree is best, under which constraints.

A ranking is a tuple of criteria, compared in that order. One of them is a cost of leaves (error, expected_error,
gini, entropy, cost); size and depth may stand before or after it. Where the cost comes first the answer is one
lexicographic fold; otherwise it is read off the size–cost fronts, one for every depth limit if depth matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy.typing as npt

from everytree.arguments import number, whole
from everytree.errors import QueryError
from everytree.weights import COSTS, LARGEST_COST, leaf_cost

if TYPE_CHECKING:
    import everytree._core as _core
    from everytree.space import TreeSpace

__all__ = ["Query"]


@dataclass(frozen=True)
class Query:
    """A ranking with constraints. See ``TreeSpace.best``."""

    minimize: Sequence[str] | str = ("error", "size")
    max_size: int | None = None
    max_leaves: int | None = None
    max_depth: int | None = None
    max_error: float | None = None
    leaf: int | None = None
    cost_matrix: npt.ArrayLike | None = None
    confidence: float = 0.25
    leaf_penalty: float = 0.0

    def __post_init__(self) -> None:
        known = (*COSTS, "size", "depth")
        if not isinstance(self.minimize, str | Sequence):
            raise QueryError(f"minimize={self.minimize!r}; expected criteria such as ('error', 'size')")
        for name in self.ranking:
            if name not in known:
                raise QueryError(
                    f"minimize={self.minimize!r}: {name!r} is unknown; expected criteria among {', '.join(known)}"
                )
        if len(set(self.ranking)) != len(self.ranking):
            raise QueryError(f"minimize={self.minimize!r} names a criterion twice")
        if sum(name in COSTS for name in self.ranking) != 1:
            raise QueryError(
                f"minimize={self.minimize!r}; expected exactly one of {', '.join(COSTS)} beside size and depth"
            )
        for name, least in (("max_size", 1), ("max_leaves", 1), ("max_depth", 0), ("leaf", 1)):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), least, none="no bound")
        if self.max_error is not None:
            number("max_error", self.max_error, -math.inf, math.inf, example=10)
        number("leaf_penalty", self.leaf_penalty, 0, LARGEST_COST, example=0.01, closed=True)
        bounds = (self.max_error, self.max_size, self.max_leaves, self.max_depth)
        if self.ranking[0] != self.cost and all(bound is None for bound in bounds):
            raise QueryError(
                f"minimize={self.minimize!r} without a bound is the single leaf; give max_error (the smallest tree "
                f"at least that good), or rank by {self.cost} first"
            )

    @property
    def ranking(self) -> tuple[str, ...]:
        return (self.minimize,) if isinstance(self.minimize, str) else tuple(self.minimize)

    @property
    def cost(self) -> str:
        """The criterion that is a cost of leaves."""
        return next(name for name in self.ranking if name in COSTS)

    @property
    def most_leaves(self) -> int | None:
        """The tighter of max_size (nodes) and max_leaves."""
        bounds = [
            b
            for b in (self.max_leaves, None if self.max_size is None else (self.max_size + 1) // 2)
            if b is not None
        ]
        return min(bounds) if bounds else None

    def answer(self, space: TreeSpace, k: int, control: _core.Control) -> list[tuple[float, list[int]]]:
        """The k best trees as (cost + leaf penalties, key), best first."""
        inside = self.inside(space)
        if k > 1:
            return self._k_best(inside, k, control)
        bounded = self.most_leaves is not None or (self.max_error is not None and self.leaf_penalty)
        if self.ranking[0] == self.cost and "depth" not in self.ranking and not bounded:
            weight = self._weight(inside, self.leaf_penalty)
            score, key = inside._graph(control).best(weight, 1, control)[0]
            self._check_error(score)
            return [(score, key)]
        return [self._from_fronts(inside, control)]

    def inside(self, space: TreeSpace) -> TreeSpace:
        """The trees of the space that keep the query's bounds on depth and leaves."""
        depth = space.max_depth
        if self.max_depth is not None:
            depth = self.max_depth if depth is None else min(depth, self.max_depth)
        min_leaf = max(space.min_leaf, self.leaf or 1)
        if space.table.total < min_leaf:
            raise QueryError(
                f"no tree satisfies the query: leaf={self.leaf} is more than the {space.table.total} examples"
            )
        return space._subspace(depth, min_leaf)

    def _weight(self, space: TreeSpace, leaf_penalty: float) -> _core.LeafCost:
        return leaf_cost(
            self.cost, len(space.classes), self.cost_matrix, confidence=self.confidence, per_leaf=leaf_penalty
        )

    def _check_error(self, least: float) -> None:
        if self.max_error is not None and least > self.max_error:
            where = f" with at most {self.most_leaves} leaves" if self.most_leaves is not None else ""
            raise QueryError(f"no tree{where} reaches {self.cost} ≤ {self.max_error}; the least is {least:g}")

    def _k_best(self, space: TreeSpace, k: int, control: _core.Control) -> list[tuple[float, list[int]]]:
        if self.ranking[0] != self.cost or "depth" in self.ranking or self.most_leaves is not None:
            raise QueryError(
                "the k best trees are ranked by a cost, then by size, without a bound on the size; ask for k=1 "
                "or drop the bound"
            )
        if self.max_error is not None and self.leaf_penalty:
            raise QueryError("the k best trees take max_error or leaf_penalty, not both; drop one of them")
        found = space._graph(control).best(self._weight(space, self.leaf_penalty), k, control)
        self._check_error(found[0][0])
        return [(score, key) for score, key in found if self.max_error is None or score <= self.max_error]

    def _from_fronts(self, space: TreeSpace, control: _core.Control) -> tuple[float, list[int]]:
        deepest = space.max_depth
        if "depth" in self.ranking and deepest is None:
            raise QueryError("ranking by depth needs a bound: give max_depth")
        depths: Iterable[int | None] = [deepest]
        if "depth" in self.ranking and deepest is not None:
            depths = range(min(deepest, int(space._graph(control).deepest)) + 1)  # no tree is deeper
        best: tuple[tuple[float, ...], float, list[int]] | None = None
        least = float("inf")
        for depth in depths:
            inside = space._subspace(depth, space.min_leaf)
            for leaves, cost, key in inside._graph(control).front(self._weight(inside, 0.0), control):
                if self.most_leaves is not None and leaves > self.most_leaves:
                    continue
                least = min(least, cost)
                if self.max_error is not None and cost > self.max_error:
                    continue
                objective = cost + self.leaf_penalty * leaves
                value = {self.cost: objective, "size": float(leaves), "depth": float(depth or 0)}
                rank = tuple(value[name] for name in self.ranking)
                if best is None or rank < best[0]:
                    best = (rank, objective, key)
        if best is None:
            self._check_error(least)
            raise QueryError("no tree satisfies the query")
        return best[1], best[2]
