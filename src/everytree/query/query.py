"""Queries: which tree is best, under which constraints (Nijssen & Fromont 2007).

    best(query) = the least tree by the ranking, among the trees that meet every bound and whose leaves are all allowed

A ranking is a tuple of criteria, compared in that order: costs of leaves (error, expected_error, gini, entropy, cost),
size and depth. ``plan`` says how a query is answered, ``why`` why it cannot be.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy.typing as npt

from everytree.common.arguments import number, refused, whole
from everytree.common.values import written
from everytree.errors import QueryError
from everytree.weights.constraints import ComposedConstraint, leaf_constraints, listed_constraints
from everytree.weights.cost_matrix import LARGEST_COST
from everytree.weights.cost_words import COSTS
from everytree.weights.costs import frozen_matrix

__all__ = ["Query", "query_of"]

SHAPES = ("size", "depth")  # criteria beside the costs of leaves


@written
@dataclass(frozen=True, repr=False)
class Query:
    """A description of the wanted tree: a ranking, bounds on the tree, constraints on its leaves and on its tests.

    Parameters
    ----------
    minimize : str or sequence of str, default=("error", "size")
        The criteria, most important first: at least one cost (error, expected_error, gini, entropy, cost), and size or
        depth. Where size or depth comes first, the query must bound the error or the size.
    max_size : int or None, default=None
        The most nodes (inner nodes and leaves) of a tree.
    max_leaves : int or None, default=None
        The most leaves of a tree.
    max_depth : int or None, default=None
        The most tests on any path.
    max_error : float, mapping or None, default=None
        The largest value of the first cost in ``minimize``, or a dict of such bounds by the name of the cost.
    min_accuracy : float or None, default=None
        The smallest share of training examples in the largest class of their leaf, between 0 and 1: those that the
        tree gets right, unless costs or weights make a leaf predict another class.
    leaf : int, Support, Margin, ChiSquare, list of these or None, default=None
        What every leaf must satisfy; a number is the fewest examples in it.
    require : str, int, sequence of these or None, default=None
        Columns, or names of tests or attributes, that the tree must use; an attribute stands for any of its tests.
    forbid : str, int, sequence of these or None, default=None
        Columns, or names of tests or attributes, that the tree must not use; an attribute stands for all of its tests.
    cost_matrix : array-like or None, default=None
        For the cost "cost": entry (c, k) is the cost of predicting class k when class c is true.
    class_weight : dict, sequence, "balanced" or None, default=None
        What an error on each class counts in "error": a dict by label, or a list in the order of the classes.
    confidence : float, default=0.25
        The confidence level of "expected_error", as in C4.5; smaller values are more pessimistic.
    leaf_penalty : float, default=0.0
        A price for each leaf, added to the first cost in ``minimize``.

    Raises
    ------
    QueryError
        If a value makes no sense, or the query would only ever answer with the single leaf.

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
        bounds = (
            self.max_error if self.error_bounds else None,
            self.min_accuracy,
            self.max_size,
            self.max_leaves,
            self.max_depth,
        )
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
        """The bounds on costs, by the name of the cost."""
        if self.max_error is None:
            return {}
        return dict(self.max_error) if isinstance(self.max_error, Mapping) else {self.cost: self.max_error}

    def _meaning(self) -> tuple[Any, ...]:
        """What is asked, whatever the spelling: "age" and ["age"], 5 and Support(5), 7.0 and {"error": 7.0}."""
        given = listed_constraints(self.leaf)
        composed = [each for each in given if isinstance(each, ComposedConstraint)]
        plain = leaf_constraints([each for each in given if not isinstance(each, ComposedConstraint)])
        return (
            self.ranking,
            (self.max_size, self.max_leaves, self.max_depth),
            None if self.min_accuracy is None else float(self.min_accuracy),
            tuple(sorted((name, float(bound)) for name, bound in self.error_bounds.items())),
            (plain, tuple(sorted(map(repr, composed)))),
            (_names(self.require), _names(self.forbid)),
            (repr(self.cost_matrix), repr(self.class_weight)),
            (float(self.confidence), float(self.leaf_penalty)),
        )

    def __eq__(self, other: object) -> bool:
        """Say whether two queries ask for the same, whatever their spelling."""
        return self._meaning() == other._meaning() if isinstance(other, Query) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._meaning())

    def __repr__(self) -> str:
        shown = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if field.name == "minimize" or getattr(self, field.name) != field.default
        ]
        return f"Query({', '.join(shown)})"


def _names(given: Any) -> tuple[Any, ...]:
    if given is None:
        return ()
    return tuple(given) if isinstance(given, Iterable) and not isinstance(given, str) else (given,)


def query_of(minimize: Query | Sequence[str] | str, **keywords: Any) -> Query:
    """Return the query itself, or make one of a ranking and keywords; a query with keywords is refused."""
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
