"""Cost matrices, and the class of least expected cost.

    says(p) = argmin_k Σ_c p_c · cost[c][k]        of several the more probable one, then the one of lower index

p are class probabilities, and cost[c][k] is the cost of predicting k when c is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused
from everytree.errors import QueryError

__all__ = ["LARGEST_COST", "checked_cost_matrix", "least_cost"]

LARGEST_COST = 1e12  # sums of costs up to this over 2^29 examples stay exact enough
TIE = 1e-12  # expected costs that differ by less than this share of the largest cost are the same


def checked_cost_matrix(cost_matrix: Any, n_classes: int) -> npt.NDArray[np.float64]:
    """Return the matrix as an array: one row for each true class, one column for each predicted one.

    >>> checked_cost_matrix([[0, 1], [5, 0]], 2).tolist()
    [[0.0, 1.0], [5.0, 0.0]]
    """
    try:
        values = np.asarray(cost_matrix, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array(np.nan)
    if values.shape != (n_classes, n_classes) or not (np.abs(values) < LARGEST_COST).all():
        raise refused(
            QueryError,
            "cost_matrix",
            cost_matrix,
            f"{n_classes} × {n_classes} numbers below {LARGEST_COST:g}",
        )
    return values


def least_cost(proba: npt.NDArray[np.float64], costs: npt.NDArray[np.float64] | None) -> npt.NDArray[np.intp]:
    """Return for each row of probabilities the index of the class to predict; None: the most probable one.

    >>> p = np.array([[0.7, 0.3], [0.9, 0.1]])
    >>> least_cost(p, None).tolist(), least_cost(p, np.array([[0, 1], [5, 0]])).tolist()
    ([0, 0], [1, 0])
    """
    choice = proba
    if costs is not None:
        expected = proba @ costs
        slack = TIE * np.abs(costs).max(initial=0.0)
        choice = np.where(expected <= expected.min(axis=1, keepdims=True) + slack, proba, -1.0)
    found: npt.NDArray[np.intp] = choice.argmax(axis=1)
    return found
