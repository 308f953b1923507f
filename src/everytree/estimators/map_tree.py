"""The most probable tree, as a scikit-learn classifier."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from everytree.data.table import Table
from everytree.errors import QueryError
from everytree.estimators.bayes_base import BayesBase
from everytree.tree import Tree

__all__ = ["MAPTreeClassifier"]


class MAPTreeClassifier(BayesBase):
    """The single most probable tree of the space. Parameters as in ``BayesOptimalClassifier``, without "average".

    Attributes
    ----------
    tree_ : the tree
    log_joint_ : its log prior + log marginal likelihood
    upper_bound_, optimal_ : no tree of the space has a larger log joint than ``upper_bound_``
    prior_, dirichlet_ : the values in force
    evidence_fit_ : what "fit" tried, or None
    log_evidence_ : log of the sum over all trees, of which this one is the largest term

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
        hyper = self._hyper(table.n_classes)
        if hyper.verb == "average":
            raise QueryError(
                f'prior={self.prior!r}, dirichlet={self.dirichlet!r}: one tree needs one prior; expected "fit" instead '
                'of "average", or a BayesOptimalClassifier'
            )
        space = self._space(table)
        fit = hyper.choose(space) if hyper.verb else None
        posterior = space.posterior(hyper.prior, hyper.dirichlet) if fit is None else fit.posterior
        self.tree_ = posterior.map_tree()
        self.log_joint_ = posterior.log_joint(self.tree_)
        self.log_evidence_ = posterior.log_evidence
        self.optimal_, self.upper_bound_ = True, self.log_joint_
        self.prior_, self.dirichlet_ = posterior.prior, posterior.dirichlet
        self.evidence_fit_ = fit

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)
