"""The class that each leaf of a query's answer predicts: the one that costs least.

    says(n) = argmin_k Σ_c n_c · cost[c][k]          of several the more probable one, then the one of lower index

n are the class counts of the leaf and the costs those that the query counted, so that its objective is the cost of the
predictions on the training examples. Where every error counts one, says(n) is the largest class.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.trees.tree import Tree
from everytree.weights.costs import Cost

__all__ = ["answered", "cheapest", "in_examples", "with_dirichlet"]

SLACK = 1e-12  # relative, of sums of parts of examples


def with_dirichlet(tree: Tree, rows: list[list[float]]) -> Tree:
    """Return the tree with class probabilities (n_c + a_c) / (n + Σa), for parameters by depth and class.

    Its nodes say the most probable class, as those of trees in a posterior do.
    """
    return tree.replace(proba=_smoothed(tree, rows), says=None)


def _smoothed(tree: Tree, rows: list[list[float]]) -> npt.NDArray[np.float64]:
    counts = tree.counts + np.array([rows[min(d, len(rows) - 1)] for d in tree.node_depths])
    proba: npt.NDArray[np.float64] = counts / counts.sum(axis=1, keepdims=True)
    return proba


def in_examples(tree: Tree, per_example: int) -> Tree:
    """Return the tree with numbers of examples in place of counts, of which ``per_example`` make one."""
    return tree if per_example == 1 else tree.replace(counts=tree.counts / per_example)


def answered(tree: Tree, cost: Cost | None = None, dirichlet: list[list[float]] | None = None) -> Tree:
    """Return the tree as the answer to a query by this cost (None: every error counts one).

    ``dirichlet`` are parameters by depth and class, for its probabilities; they decide only between classes that cost
    the same.
    """
    proba = tree.proba if dirichlet is None else _smoothed(tree, dirichlet)
    return tree.replace(
        proba=proba, says=cheapest(tree.counts, proba, None if cost is None else cost.answers)
    )


def cheapest(
    counts: npt.NDArray[Any], proba: npt.NDArray[np.float64], costs: Any = None
) -> npt.NDArray[np.intp]:
    """Return the class of least cost at each node; ``costs[c][k]`` are fractions, so that the comparison is exact.

    >>> from fractions import Fraction
    >>> counts = np.array([[3, 1], [2, 2]])
    >>> cheapest(counts, counts / 4).tolist()
    [0, 0]
    >>> cheapest(counts, counts / 4, [[Fraction(0), Fraction(1, 10)], [Fraction(3, 10), Fraction(0)]]).tolist()
    [0, 1]
    """
    if costs is None:
        prices: npt.NDArray[Any] = -counts
    else:
        common = math.lcm(*(price.denominator for row in costs for price in row))
        whole = np.array([[int(price * common) for price in row] for row in costs], dtype=object)
        prices = counts.astype(object) @ whole  # integers of any size
    least = prices == prices.min(axis=1, keepdims=True)
    if costs is not None and counts.dtype.kind == "f":
        room = SLACK * np.abs(counts.astype(object) @ np.abs(whole)).max(axis=1, keepdims=True)
        least = prices <= prices.min(axis=1, keepdims=True) + room
    found: npt.NDArray[np.intp] = np.where(least, proba, -1.0).argmax(axis=1)
    return found
