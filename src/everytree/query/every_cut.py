"""The best tree over every cut-point of the columns, without a test made before it is asked.

The core adds whole numbers, so costs are scaled until they are: with s the least number that makes all costs and the
price of a leaf whole, and K more than the leaves of any tree,

    value = K · s · (cost + price · leaves) + leaves      smaller trees first among those of least cost
    value = s · (cost + price · leaves)                   where the size plays no part

Not every query can be asked: costs must be those of a matrix (errors are), and the tree may be bounded by its depth and
by the examples of a leaf only. ``question_of`` says None for all others; they have the general road.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.query.query import Query
from everytree.weights.costs import ClassCounts, make_cost, written

__all__ = ["Question", "Solved", "in_whole_numbers", "question_of", "solved"]

MOST = 2**56  # what all examples may cost, in the units of the core
DEEPEST = 24  # beyond that the general road is no worse
REPEATED = 2**22  # rows that are repeated as often as their weights say, rather than weighed


@dataclass(frozen=True)
class Question:
    """A query in the core's whole numbers.

    Attributes
    ----------
    costs : ndarray of shape (n_classes, n_classes)
        What answers cost, the cheapest of each class nothing.
    price : int
        What a leaf costs.
    scale : int
        How many units are one of the query.
    by_size : int
        How much the first criterion counts more than the leaves; 1 where they play no part.
    least : tuple of float
        The cheapest answer for an example of each class, in units of the query.
    base : Fraction
        What these cost for all examples.
    """

    costs: npt.NDArray[np.int64]
    price: int
    scale: int
    by_size: int
    least: tuple[float, ...]
    base: Fraction

    @property
    def plain(self) -> bool:
        """Whether every error costs one."""
        n = len(self.costs)
        return self.base == 0 and bool((self.costs == self.scale * self.by_size * (1 - np.eye(n))).all())

    def in_query_units(self) -> npt.NDArray[np.float64]:
        """Return what answers cost in units of the query, as floats."""
        return np.asarray(self.least)[:, None] + self.costs / (self.scale * self.by_size)

    def objective(self, value: int) -> float | int:
        """Return a value of the core in units of the query."""
        exact = Fraction(value // self.by_size, self.scale) + self.base
        return int(exact) if exact.denominator == 1 and self.scale == 1 else float(exact)


@dataclass(frozen=True)
class Solved:
    """A tree by the columns and ranks of its tests in preorder, and how sure it is the best."""

    columns: Sequence[int]
    ranks: Sequence[int]
    objective: float | int
    lower: float | int
    stopped: str
    n_states: int
    n_bytes: int


def question_of(query: Query, counts: ClassCounts, depth: int | None) -> Question | None:
    """Return the query in whole numbers, or None if it can not be asked of every cut-point.

    Parameters
    ----------
    query : Query
        The query; ``forbid`` plays no part here.
    counts : ClassCounts
        The examples of each class.
    depth : int or None
        The most tests on any path.

    Returns
    -------
    Question or None
        What to ask the core.
    """
    bounds = (
        query.max_size,
        query.max_leaves,
        query.max_error,
        query.min_accuracy,
        query.leaf,
        query.require,
    )
    if any(bound is not None for bound in bounds):
        return None
    costs = (query.cost_matrix, query.class_weight)
    return in_whole_numbers(query.ranking, counts, depth, costs, query.leaf_penalty)


def in_whole_numbers(
    ranking: Sequence[str],
    counts: ClassCounts,
    depth: int | None,
    given: tuple[Any, Any],
    leaf_penalty: float,
) -> Question | None:
    """Return what trees cost in whole numbers, or None if the core does not add that up.

    Parameters
    ----------
    ranking : sequence of str
        The criteria, the first one first.
    counts : ClassCounts
        The examples of each class.
    depth : int or None
        The most tests on any path.
    given : tuple
        The cost matrix and the weights of the classes, or None each.
    leaf_penalty : float
        The price of a leaf.

    Returns
    -------
    Question or None
        What to ask the core.
    """
    name, *rest = ranking
    if depth is None or depth > DEEPEST or rest not in ([], ["size"]):
        return None
    cost = make_cost(name, counts, cost_matrix=given[0], class_weight=given[1])
    n = counts.n_classes
    price = written(leaf_penalty)
    if cost.answers is not None:
        least, entries = _over_least(cost.answers)
        scale = math.lcm(price.denominator, *(entry.denominator for row in entries for entry in row))
        costs = np.array([[int(entry * scale) for entry in row] for row in entries], dtype=object)
    elif name in ("error", "errors"):
        # Whole numbers from the start: one by one the 160,000 entries of 400 classes took 0.1 s.
        least, scale = [0] * n, price.denominator
        costs = scale * (1 - np.eye(n, dtype=np.int64)).astype(object)
    else:
        return None
    total = int(np.sum(counts.class_totals))
    by_size = 1 + min(2**depth, total) if rest else 1
    dearest = costs.max(initial=0)
    if by_size * total * (dearest + scale * (price + 1)) > MOST or price < 0:
        return None
    base = Fraction(sum(low * int(count) for low, count in zip(least, counts.class_totals, strict=True)))
    whole = (by_size * costs).astype(np.int64).reshape(n, n)
    return Question(
        whole, int(price * scale) * by_size + len(rest), scale, by_size, tuple(map(float, least)), base
    )


def _over_least(
    answers: Sequence[Sequence[Fraction | int]],
) -> tuple[list[Fraction | int], list[list[Fraction | int]]]:
    """Return the cheapest answer for each class, and what the others cost more."""
    least = [min(row) for row in answers]
    return least, [[entry - low for entry in row] for row, low in zip(answers, least, strict=True)]


def solved(
    question: Question,
    columns: Sequence[npt.NDArray[np.uint32]],
    classes: npt.NDArray[np.intp],
    weights: npt.NDArray[np.int64] | None,
    depth: int,
    min_leaf: int,
    n_threads: int,
    control: Any,
) -> Solved:
    """Find the best tree with tests ``rank <= r`` on these columns.

    Parameters
    ----------
    question : Question
        What trees cost.
    columns : sequence of ndarray of int
        The rank of each row, column by column.
    classes : ndarray of int
        The class of each row.
    weights : ndarray of int or None
        The weight of each row, above zero; None where all are 1.
    depth : int
        The most tests on any path.
    min_leaf : int
        The fewest examples in a leaf.
    n_threads : int
        How many threads search; the answer is the same for any number.
    control : _core.Control
        Limits and progress.

    Returns
    -------
    Solved
        The tree and its certificate.
    """
    ranks = [np.ascontiguousarray(column, dtype=np.uint32) for column in columns]
    labels = classes.astype(np.uint16)
    if weights is not None and int(weights.sum()) <= max(2 * classes.size, REPEATED):
        ranks, labels, weights = (
            [np.repeat(each, weights) for each in ranks],
            np.repeat(labels, weights),
            None,
        )
    counted = np.ones(labels.size, dtype=np.int32) if weights is None else weights.astype(np.int32)
    found = _core.best_ordered(
        ranks, labels, counted, question.costs, question.price, min_leaf, depth, n_threads, control
    )
    return Solved(
        found.columns,
        found.ranks,
        question.objective(found.cost),
        question.objective(found.lower),
        "" if found.proved else found.stopped,
        found.n_solved,
        found.n_bytes,
    )
