"""OptimalTreeClassifier: the provably best tree of a bounded space (DL8)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.table import Table
from everytree.estimators.base import TreeClassifierBase
from everytree.space import TreeSpace
from everytree.tree import Tree
from everytree.weights import Dirichlet, dirichlet_rows, with_dirichlet

__all__ = ["OptimalTreeClassifier"]


class OptimalTreeClassifier(TreeClassifierBase):
    """The best of all decision trees over the tests that ``Binarizer`` makes of the columns.

    The optimum is proven among trees with at most ``max_depth`` tests on a path and ``min_leaf`` examples in a leaf.
    Finer tests (``bins="all"``: every cut-point) give a better optimum and take longer. A limit that is reached raises
    ``LimitReached``.

    Parameters
    ----------
    max_depth : most tests on a path, or None for no limit
    min_leaf : fewest examples in a leaf
    objective : error, expected_error, gini, entropy or cost
    cost_matrix : for ``cost``: entry (c, k) is the cost of saying k when c is true; predictions follow it
    rank : criteria in order; None means (objective, "size")
    max_size : most nodes
    max_error : refuse trees of a larger objective
    leaf_penalty : price of a leaf, added to the objective
    dirichlet : added to the class counts of a leaf for its probabilities
    bins : thresholds per numeric column, see ``Binarizer``
    missing : "error", "category" or "impute", see ``Binarizer``
    n_jobs : threads
    time_limit, memory_limit : seconds and bytes

    Attributes
    ----------
    tree_ : the tree; ``tree_.error`` is its number of training errors
    objective_ : what was minimised
    optimal_, lower_bound_, gap_ : whether the tree is proven best, and the proof

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = OptimalTreeClassifier(max_depth=2, bins="all").fit(X, y)
    >>> model.tree_.error, model.optimal_
    (6, True)
    """

    tree_: Tree

    def __init__(
        self,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        *,
        objective: str = "error",
        rank: tuple[str, ...] | None = None,
        max_size: int | None = None,
        max_error: float | None = None,
        leaf_penalty: float = 0.0,
        cost_matrix: npt.ArrayLike | None = None,
        dirichlet: Dirichlet = 1.0,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "error",
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.objective = objective
        self.rank = rank
        self.max_size = max_size
        self.max_error = max_error
        self.leaf_penalty = leaf_penalty
        self.cost_matrix = cost_matrix
        self.dirichlet = dirichlet
        self.bins = bins
        self.missing = missing
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        space = TreeSpace.from_table(
            table,
            self.max_depth,
            self.min_leaf,
            self.n_jobs,
            time_limit=self.time_limit,
            memory_limit=self.memory_limit,
        )
        rank = (self.objective, "size") if self.rank is None else tuple(self.rank)
        tree = space.best(
            rank,
            max_size=self.max_size,
            max_error=self.max_error,
            leaf_penalty=self.leaf_penalty,
            cost_matrix=self.cost_matrix,
        )
        self.tree_ = with_dirichlet(tree, dirichlet_rows(self.dirichlet, table.n_classes, tree.depth))
        self.objective_ = float(tree.info["objective"])
        self.error_ = int(tree.error)
        # The fold visits every state, so the bound meets the tree.
        self.optimal_, self.lower_bound_, self.gap_ = True, self.objective_, 0.0
        self.n_states_ = space.n_states

    def _predict_codes_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
        if self.cost_matrix is None:
            return super()._predict_codes_tests(X01)
        codes: npt.NDArray[np.intp] = self.tree_.replace(classes=None).predict(X01, self.cost_matrix)
        return codes

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)
