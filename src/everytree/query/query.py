"""Queries: which tree is best, under which constraints (Nijssen & Fromont 2007).

    best(query) = the least tree by the ranking, among the trees that meet every bound and whose leaves are all allowed

A ranking is a tuple of criteria, compared in that order: costs of leaves (error, expected_error, gini, entropy, cost),
size and depth. ``plan`` says how a query is answered, ``why`` why it cannot be.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy.typing as npt

from everytree.common.arguments import number, refused, whole
from everytree.common.values import written
from everytree.errors import QueryError
from everytree.weights.constraints import leaf_constraints
from everytree.weights.cost_words import COSTS
from everytree.weights.costs import frozen_matrix
from everytree.weights.dirichlet import LARGEST_COST

__all__ = ["Query", "query_of"]

SHAPES = ("size", "depth")  # criteria beside the costs of leaves


@written
@dataclass(frozen=True, repr=False)
class Query:
    """What tree is wanted: a ranking, bounds on the tree, constraints on its leaves and on its tests.

    Parameters
    ----------
    minimize : criteria, the most important first: at least one of error, expected_error, gini, entropy, cost; and
        size, depth. Where size or depth comes first, the query must bound the error or the size
    max_size, max_leaves, max_depth : most nodes, most leaves, most tests on a path
    max_error : most of the first cost in ``minimize``; or a dict with a bound for each cost that it names
    min_accuracy : least share of training examples in the largest class of their leaf: those that the tree gets right,
        unless costs or weights make a leaf say another class
    leaf : fewest examples in a leaf, or ``Support``, ``Margin``, ``ChiSquare``, or a list of these
    require : tests or attributes that the tree must use, by name or column
    forbid : tests or attributes that it must not use
    cost_matrix : for ``cost``: entry (c, k) is the cost of saying k when c is true
    class_weight : what an error on each class counts in ``error``: a dict by label, a list, or "balanced"
    confidence : of ``expected_error``
    leaf_penalty : a price per leaf, added to the first cost in ``minimize``

    Examples
    --------
    >>> Query(("size", "error"), min_accuracy=0.9)
    Query(minimize=('size', 'error'), min_accuracy=0.9)
    """

    minimize: Sequence[str] | str = ("error", "size")
    max_size: int | None = None
    max_leaves: int | None = None
    max_depth: int | None = None
    max_error: float | Mapping[str, float] | None = None
    min_accuracy: float | None = None
    leaf: Any = None
    require: Any = None
    forbid: Any = None
    cost_matrix: npt.ArrayLike | None = None
    class_weight: Any = None
    confidence: float = 0.25
    leaf_penalty: float = 0.0

    def __post_init__(self) -> None:
        if self.cost_matrix is not None:
            object.__setattr__(self, "cost_matrix", frozen_matrix(self.cost_matrix))
        self._check_ranking()
        for name, least in (("max_size", 1), ("max_leaves", 1), ("max_depth", 0)):
            if getattr(self, name) is not None:
                whole(name, getattr(self, name), least, none="no bound")
        for name, value in self.error_bounds.items():
            if name not in COSTS:
                raise QueryError(f"max_error bounds {name!r}; expected a cost among {', '.join(COSTS)}")
            number("max_error", value, -math.inf, math.inf, example=10)
        if self.min_accuracy is not None and self.min_accuracy != 1:
            number("min_accuracy", self.min_accuracy, 0, 1, example=0.9, closed=True)
        leaf_constraints(self.leaf)
        for name in ("require", "forbid"):
            if isinstance(getattr(self, name), Mapping | bool):
                raise refused(QueryError, name, getattr(self, name), "names or columns of tests, or a list")
        number("leaf_penalty", self.leaf_penalty, 0, LARGEST_COST, example=0.01, closed=True)
        number("confidence", self.confidence, 0, 1, example=0.25)
        bounds = (self.max_error, self.min_accuracy, self.max_size, self.max_leaves, self.max_depth)
        if self.ranking[0] not in COSTS and all(bound is None for bound in bounds):
            raise refused(
                QueryError,
                "minimize",
                self.minimize,
                says=f" without a bound is the single leaf; give max_error or min_accuracy (the "
                f"{'smallest' if self.ranking[0] == 'size' else 'shallowest'} tree at least that good), or rank by "
                f"{self.cost} first",
            )

    def _check_ranking(self) -> None:
        if not isinstance(self.minimize, str | Sequence):
            raise refused(QueryError, "minimize", self.minimize, "criteria such as ('error', 'size')")
        for name in self.ranking:
            if not isinstance(name, str) or (name not in COSTS and name not in SHAPES):
                known = ", ".join((*COSTS, *SHAPES))
                raise refused(
                    QueryError,
                    "minimize",
                    self.minimize,
                    says=f": {name!r} is unknown; expected criteria among {known}",
                )
        if len(set(self.ranking)) != len(self.ranking):
            raise refused(QueryError, "minimize", self.minimize, says=" names a criterion twice")
        if not any(name in COSTS for name in self.ranking):
            raise refused(
                QueryError,
                "minimize",
                self.minimize,
                f"at least one of {', '.join(COSTS)} beside size and depth",
            )

    @property
    def ranking(self) -> tuple[str, ...]:
        """The criteria as a tuple."""
        return (self.minimize,) if isinstance(self.minimize, str) else tuple(self.minimize)

    @property
    def cost(self) -> str:
        """The first criterion that is a cost of leaves."""
        return next(name for name in self.ranking if name in COSTS)

    @property
    def error_bounds(self) -> dict[str, float]:
        """The bounds on costs, by the cost."""
        if self.max_error is None:
            return {}
        return dict(self.max_error) if isinstance(self.max_error, Mapping) else {self.cost: self.max_error}

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name == "minimize" or getattr(self, field.name) != field.default
        ]
        return f"Query({', '.join(shown)})"


def query_of(minimize: Query | Sequence[str] | str, **keywords: Any) -> Query:
    """The query itself, or one made of a ranking and keywords; a query with keywords is refused."""
    if not isinstance(minimize, Query):
        return Query(minimize, **keywords)
    default = {field.name: field.default for field in fields(Query)}
    for name, value in keywords.items():
        # Arrays and the like are never a default; only plain numbers are compared.
        same = value is default[name] or (isinstance(value, int | float) and value == default[name])
        if not same:
            raise QueryError(
                f"give a Query or keywords, not both ({name}={value!r}); dataclasses.replace changes a Query"
            )
    return minimize
