"""The criteria by which trees are ranked and bounded, and the constraints on leaves: the words of a query.

    error, expected_error, cost, gini, entropy      Σ over leaves of the function of that name in ``leaves``
    penalised_error                             Σ over leaves of (error + penalty) = error + penalty · leaves
    leaves                                      Σ over leaves of 1
    size                                            1 + size(zero) + size(one)
    depth                                           1 + max(depth(zero), depth(one))

A value is an int or a Fraction: floating-point leaf values are added exactly, so the order of addition never
decides a comparison.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from everytree.reference.chi2 import chi2, chi2_p_value
from everytree.reference.leaves import cost, entropy, error, expected_error, gini
from everytree.reference.table import Counts, Table
from everytree.reference.trees import Tree, nodes_of

__all__ = [
    "BOUNDS",
    "CRITERIA",
    "ERRORS",
    "LEAF_CONSTRAINTS",
    "Query",
    "Value",
    "join",
    "leaf_allowed",
    "leaf_value",
]
__all__ += ["value_of"]

Value: TypeAlias = int | Fraction

ERRORS = ("error", "expected_error", "penalised_error", "cost", "gini", "entropy")
CRITERIA = (*ERRORS, "size", "leaves", "depth")
# Constraint of a query -> the criterion it bounds from above.
BOUNDS = {"max_size": "size", "max_leaves": "leaves", "max_depth": "depth", "max_error": "error"}
LEAF_CONSTRAINTS = ("min_support", "min_margin", "min_chi2", "max_p_value")


@dataclass(frozen=True)
class Query:
    """What tree is wanted: a lexicographic ranking, bounds on the tree, and constraints on every leaf.

    ``rank`` lists criteria, the most important first. It holds an error; where size, leaves or depth stands
    before the first error, the query must bound the error, or one of size, leaves and depth ("the smallest
    tree with at most 3 errors").

    ``min_margin``: the largest class leads every other class by this many examples.
    ``min_chi2``, ``max_p_value``: the leaf differs from the rest of the data by this much (see ``chi2``).

    >>> Query(rank=("size", "error"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: the ranking ('size', 'error') puts size before the error; give max_error, ...
    """

    rank: tuple[str, ...] = ("error", "size")
    max_size: int | None = None
    max_leaves: int | None = None
    max_depth: int | None = None
    max_error: int | None = None
    min_support: int | None = None
    min_margin: int | None = None
    min_chi2: float | None = None
    max_p_value: float | None = None
    penalty: float = 0.0
    cost_matrix: Sequence[Sequence[float]] | None = None
    cf: float = 0.25

    def __post_init__(self) -> None:
        if isinstance(self.rank, str):
            raise ValueError(f"rank={self.rank!r}; give a tuple of criteria such as ('error', 'size')")
        for name in self.rank:
            if name not in CRITERIA:
                raise ValueError(f"unknown criterion {name!r}; choose from {', '.join(CRITERIA)}")
        if len(set(self.rank)) != len(self.rank):
            raise ValueError(f"the ranking {self.rank} names a criterion twice; name each once")
        if not set(self.rank) & set(ERRORS):
            raise ValueError(f"the ranking {self.rank} holds no error; add one of {', '.join(ERRORS)}")
        if "cost" in self.rank and self.cost_matrix is None:
            raise ValueError("ranking by cost needs a cost_matrix with one row per true class")
        if self.rank[0] not in ERRORS and all(getattr(self, bound) is None for bound in BOUNDS):
            raise ValueError(
                f"the ranking {self.rank} puts {self.rank[0]} before the error; "
                "give max_error, max_size, max_leaves or max_depth"
            )

    def constraints(self) -> dict[str, float]:
        """Return the bounds and leaf constraints that are set."""
        names = (*BOUNDS, *LEAF_CONSTRAINTS)
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}


def leaf_value(criterion: str, counts: Counts, query: Query) -> Value:
    """Return the value of a criterion for a single leaf with these class counts.

    >>> leaf_value("penalised_error", (3, 1), Query(penalty=0.5))
    Fraction(3, 2)
    """
    if criterion == "error":
        return error(counts)
    if criterion == "expected_error":
        return Fraction(expected_error(counts, query.cf))
    if criterion == "penalised_error":
        return error(counts) + Fraction(query.penalty)
    if criterion == "cost" and query.cost_matrix is not None:
        return Fraction(cost(counts, query.cost_matrix))
    if criterion == "gini":
        return Fraction(gini(counts))
    if criterion == "entropy":
        return Fraction(entropy(counts))
    return {"size": 1, "leaves": 1, "depth": 0}[criterion]


def join(criterion: str, zero: Value, one: Value) -> Value:
    """Return the value of a split from the values of its two subtrees."""
    if criterion == "depth":
        return 1 + max(zero, one)
    return zero + one + (1 if criterion == "size" else 0)


def value_of(criterion: str, tree: Tree, table: Table, query: Query) -> Value:
    """Return the value of a criterion for a whole tree, from its nodes one by one."""
    nodes = list(nodes_of(tree, table))
    leaves = [node for node in nodes if node.test is None]
    if criterion == "size":
        return len(nodes)
    if criterion == "depth":
        return max(leaf.depth for leaf in leaves)
    return sum((leaf_value(criterion, table.class_counts(leaf.cover), query) for leaf in leaves), 0)


def leaf_allowed(counts: Counts, table: Table, query: Query) -> bool:
    """Return whether a node with these class counts may be a leaf under the query's leaf constraints."""
    if query.min_support is not None and sum(counts) < query.min_support:
        return False
    if query.min_margin is not None:
        first, second = [*sorted(counts, reverse=True), 0][:2]
        if first - second < query.min_margin:
            return False
    total = table.class_counts(table.everything)
    if query.min_chi2 is not None and chi2(counts, total) < query.min_chi2:
        return False
    return query.max_p_value is None or chi2_p_value(counts, total) <= query.max_p_value
