"""The most probable tree, as a scikit-learn classifier: found by a search that needs no depth limit."""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from everytree.common.arguments import argument, refused
from everytree.common.limits import in_bytes
from everytree.data.table import Table
from everytree.errors import QueryError, Wording
from everytree.estimators.bayes_base import BayesBase
from everytree.estimators.protocol import depth_words
from everytree.estimators.registry import method
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["MAPTreeClassifier"]


@method("map", "the most probable tree, proved", place=3)
@saved_as(FORMAT)
class MAPTreeClassifier(BayesBase):
    """The single most probable tree of the space. Parameters as in ``BayesOptimalClassifier``, without "average".

    That no tree is more probable is proved, also with ``max_depth=None``; if a limit ends the search first, the model
    has the best tree so far, ``upper_bound_`` says how far from the best it may be, and scikit-learn's
    ``ConvergenceWarning`` tells it. With "fit" the prior is chosen by the evidence of all trees, which takes a fold of
    them, and so a depth limit on most data.

    Attributes
    ----------
    tree_ : the tree
    log_joint_ : its log prior + log marginal likelihood
    upper_bound_, optimal_ : no tree of the space has a larger log joint than ``upper_bound_``; whether that is proved
        to be this tree's
    stop_reason_ : "proved", "time limit", "memory limit" or "stopped"
    n_states_ : states that the search stored
    prior_, dirichlet_ : the values in force
    evidence_fit_ : what "fit" tried, or None
    log_evidence_ : with "fit", log of the sum over all trees, of which this one is the largest term; else None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = MAPTreeClassifier(max_depth=None).fit(X, y)
    >>> model.tree_.n_leaves, model.optimal_
    (6, True)
    """

    PAPER = "boc"

    tree_: Tree
    stop_reason_: str

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: npt.NDArray[np.int64] | None,
    ) -> None:
        hyper = self._hyper(table.n_classes)
        if hyper.verb == "average":
            raise refused(
                QueryError,
                "prior",
                self.prior,
                says=Wording(
                    ", ",
                    argument("dirichlet", self.dirichlet),
                    ': one tree needs one prior; expected "fit" instead of "average", or a BayesOptimalClassifier',
                ),
            )
        space = self._space(table)
        self.evidence_fit_ = fit = hyper.choose(space) if hyper.verb else None
        self.prior_ = hyper.prior if fit is None else fit.prior
        self.dirichlet_ = hyper.dirichlet if fit is None else fit.dirichlet
        self.log_evidence_ = None if fit is None else fit.posterior.log_evidence
        self.tree_ = space.most_probable(self.prior_, self.dirichlet_)
        info = self.tree_.info
        self.log_joint_, self.upper_bound_ = float(info["log_joint"]), float(info["upper_bound"])
        self.optimal_, self.stop_reason_ = bool(info["optimal"]), str(info["stop_reason"])
        self.n_states_ = int(info.get("n_states", 0))
        if not self.optimal_:
            warnings.warn(self._unproved(space), ConvergenceWarning, stacklevel=4)

    def _unproved(self, space: TreeSpace) -> str:
        limit = {
            "time limit": f"time limit of {self.time_limit} s",
            "memory limit": f"memory limit of {in_bytes(space.limits.memory)}",
        }.get(self.stop_reason_, "stop")
        return (
            f"{limit} before the most probable tree was proved: this one has a log joint of {self.log_joint_:.4f}, and "
            f"none has more than {self.upper_bound_:.4f}; raise the limit, or use a smaller max_depth or a larger "
            "min_leaf"
        )

    def headline(self, on: str) -> str:
        best = "The most probable of all trees" if self.optimal_ else "The most probable tree so far"
        return f"{best} of {depth_words(self.max_depth)}: {self.tree_.n_leaves} leaves{on}."

    def about_tree(self) -> str:
        found = "the most probable of all trees, proved" if self.optimal_ else "the most probable tree found"
        return f"The tree of this model: {found}."

    def _predict_codes_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
        return self.tree_.says[self.tree_.apply(X01)].astype(np.intp)

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.tree_.predict_proba(X01)
