"""Bayes optimal classification: the average over every tree, and the most probable single tree."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.table import Table
from everytree.estimators.base import TreeClassifierBase
from everytree.posterior import Posterior
from everytree.priors import Prior, SizePrior, as_prior
from everytree.space import TreeSpace
from everytree.tree import Tree
from everytree.weights import DepthDecay, Dirichlet

__all__ = ["BayesOptimalClassifier", "MAPTreeClassifier"]


class _BayesBase(TreeClassifierBase):
    """Parameters and the posterior, shared by the average and the single tree."""

    def __init__(
        self,
        max_depth: int | None = 4,
        min_leaf: int = 2,
        *,
        prior: Prior | str = "size",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = 1.0,
        bins: int | str | dict[Any, Any] = 4,
        missing: str = "error",
        n_jobs: int | None = 1,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.dirichlet = dirichlet
        self.bins = bins
        self.missing = missing
        self.n_jobs = n_jobs
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _posterior(self, table: Table) -> Posterior:
        space = TreeSpace.from_table(
            table,
            self.max_depth,
            self.min_leaf,
            self.n_jobs,
            attributes=self.binarizer_.attributes_,
            time_limit=self.time_limit,
            memory_limit=self.memory_limit,
        )
        prior = SizePrior(self.alpha, self.beta) if self.prior == "size" else as_prior(self.prior)
        dirichlet = (
            DepthDecay() if isinstance(self.dirichlet, str) and self.dirichlet == "decay" else self.dirichlet
        )
        return space.posterior(prior, dirichlet)


class BayesOptimalClassifier(_BayesBase):
    """Class probabilities averaged over every tree of the space, each weighted by its posterior probability.

    Parameters
    ----------
    max_depth, min_leaf : the space; ``max_depth=None`` for no limit
    prior : "size", "uniform", "leaf_penalty", "shapes", "coding", or a prior object
    alpha, beta : of the size prior: a node at depth d splits with probability α(1 + d)^−β
    dirichlet : a number, one per class, "1/C", "decay" or a ``DepthDecay``
    bins, missing : how columns become tests, see ``Binarizer``
    n_jobs, time_limit, memory_limit : threads, seconds, bytes

    Attributes
    ----------
    posterior_ : the posterior over every tree
    log_evidence_ : its log evidence

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesOptimalClassifier(max_depth=3).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2).tolist()
    [[0.95, 0.02, 0.02]]
    """

    posterior_: Posterior

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        self.posterior_ = self._posterior(table)
        self.log_evidence_ = self.posterior_.log_evidence

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.posterior_.predict_proba(X01)


class MAPTreeClassifier(_BayesBase):
    """The single most probable tree of the space. Parameters as in ``BayesOptimalClassifier``.

    Attributes
    ----------
    tree_ : the tree
    log_joint_ : its log prior + log marginal likelihood
    upper_bound_, optimal_ : no tree of the space has a larger log joint than ``upper_bound_``

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> MAPTreeClassifier(max_depth=3).fit(X, y).tree_.n_leaves
    6
    """

    tree_: Tree

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        posterior = self._posterior(table)
        self.tree_ = posterior.map_tree()
        self.log_joint_ = posterior.log_joint(self.tree_)
        self.log_evidence_ = posterior.log_evidence
        self.optimal_, self.upper_bound_ = True, self.log_joint_

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)
