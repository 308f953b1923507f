"""The most probable tree, as a scikit-learn classifier: found by a search that needs no depth limit."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import argument, refused
from everytree.common.limits import in_bytes
from everytree.common.told import tell
from everytree.data.asked import ColumnQuestions
from everytree.data.example_weights import ExampleWeights
from everytree.data.recipes.wanted import as_read
from everytree.data.table import Table
from everytree.errors import QueryError, Wording
from everytree.estimators.bayes_base import BayesBase
from everytree.estimators.protocol import depth_words
from everytree.estimators.registry import method
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.files.model_file import FORMAT
from everytree.files.registry import saved_as
from everytree.space.tree_space import TreeSpace
from everytree.trees.portable import form_of_tree
from everytree.trees.tree import Tree

__all__ = ["MAPTreeClassifier"]


@method("map", "the most probable tree, proved", place=3)
@saved_as(FORMAT)
class MAPTreeClassifier(Exports, BayesBase):
    """The single most probable tree of the space.

    That no tree is more probable is proved, also with ``max_depth=None``; if a limit ends the search first, the model
    has the best tree so far, ``upper_bound_`` says how far from the best it may be, and scikit-learn's
    ``ConvergenceWarning`` is given. With "fit" the prior is chosen by the evidence of all trees, which on most data
    needs a depth limit.

    Parameters
    ----------
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_leaf : int
        The fewest training examples in a leaf, a row of weight w counted w times. scikit-learn's name for it,
        ``min_samples_leaf``, is understood too.
    prior : str or Prior
        The prior over trees: "size", "uniform", "leaf_penalty", "balanced", "shapes", "coding", or a prior object.
        "fit" chooses alpha and beta of the size prior by the evidence, "fit_leaf_penalty" omega of the leaf penalty.
        A prior by name is attribute-fair with cuts="local": every column weighs the same, however many cuts it has.
    alpha : float
        Of ``prior="size"``, where a node with d tests above it is split with probability alpha · (1 + d)^−beta.
    beta : float
        Of ``prior="size"``, see ``alpha``.
    dirichlet : float, sequence, str or DepthDecay
        The parameters of the Dirichlet prior on the class probabilities of a leaf: a number, one per class, "1/C",
        "base" or a ``BaseRate``, "decay" or a ``DepthDecay``. "fit" (one number), "fit_per_class" and "fit_decay"
        choose them by the evidence.
    bins : int, str or dict
        How numeric columns become tests: k bins of equal frequency give k − 1 cuts; "all" gives a cut between any two
        neighbouring values; "mdl" and "boosted" let the classes choose; a dict gives one of these, or a list of cuts,
        by column. See ``Binarizer``.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    cuts : {"global", "local"}
        Whether the cuts of numeric columns are chosen once, from all rows, or by every node from its own rows.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples.
    n_jobs : int or None
        The number of threads; −1 for every core. The result is the same for any number.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. See above.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    tree_ : Tree
        The tree.
    log_joint_ : float
        Its log prior plus its log marginal likelihood.
    upper_bound_ : float
        No tree of the space has a larger log joint than this.
    optimal_ : bool
        Whether it is proved that no tree is more probable.
    stop_reason_ : str
        Why the search ended: "proved", "time limit", "memory limit" or "stopped".
    n_states_ : int
        The number of states that the search stored.
    prior_ : Prior
        The prior that the model was computed with.
    dirichlet_ : float, tuple or DepthDecay
        The Dirichlet parameters that the model was computed with.
    evidence_fit_ : EvidenceFit or None
        What "fit" tried.
    log_evidence_ : float or None
        With "fit", the log of the sum over all trees, of which this one is the largest term.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total decrease of Gini's impurity on the training examples; all 0 for one leaf.
    binarizer_ : Binarizer
        What turns columns into tests; ``binarizer_.tests_`` says what each test means.
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where ``X`` has names.
    target_name_ : str or None
        The name of ``y``, if it had one.

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
        sample_weight: ExampleWeights | None,
    ) -> None:
        hyper = self._hyper(table)
        if hyper.verb == "loo":
            raise QueryError(
                '"loo" judges the average over every tree by left-out examples, not a single tree; use '
                'BayesOptimalClassifier, or "fit" by the evidence'
            )
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
            tell(self._unproved(space), ConvergenceWarning)

    def _unproved(self, space: TreeSpace) -> str:
        limit = {
            "time limit": f"time limit of {self.time_limit} s",
            "memory limit": f"memory limit of {in_bytes(space.limits.most_bytes)}",
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

    def portable(self) -> Form:
        check_is_fitted(self)
        form = form_of_tree(self.tree_, ColumnQuestions(self.binarizer_), classes=self.classes_.tolist())
        return as_read(form, getattr(self, "recipes_", ()))
