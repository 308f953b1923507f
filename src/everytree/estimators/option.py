"""OptionTreeClassifier: the average over the many trees of an option tree (Buntine)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import number, refused, whole
from everytree.errors import QueryError
from everytree.estimators.grown_base import GrownTreeClassifier, _one_of
from everytree.estimators.registry import method
from everytree.files.column_trees import FORMAT
from everytree.files.registry import saved_as
from everytree.trees.option_tree import OptionTree
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["OptionTreeClassifier"]


@method("option", "option trees, averaged (Buntine)", place=5)
@saved_as(FORMAT)
class OptionTreeClassifier(GrownTreeClassifier):
    """Class probabilities averaged over every tree of an option tree: several good tests at each node, not one.

    A node keeps the columns whose posterior quality is within ``option_factor`` of the best, and each is grown on;
    equal states are one node. The average is over all trees that choose, from the root down, "leaf" or one option,
    weighted by their posterior probabilities. The default prior is
    Buntine's type II.

    Parameters
    ----------
    option_factor : float
        Keep columns with at least this factor of the best one's quality.
    max_options : int or None
        The most options at a node; None for no limit.
    max_nodes : int or None
        The most nodes in all, those that most examples most probably reach first; None for no limit.
    lookahead : int
        The number of plies to look ahead; 2 finds tests that are useful only together.
    beam : int or None
        With ``lookahead`` above 1, the columns that are looked at below the first ply; None for all.
    prior : str or Prior
        The prior over trees: "size", "uniform", "leaf_penalty", "shapes", "coding", or a prior object.
    alpha : float
        Of ``prior="size"``, where a node with d tests above it is split with probability alpha · (1 + d)^−beta.
    beta : float
        Of ``prior="size"``, see ``alpha``.
    dirichlet : float, sequence, str or DepthDecay
        The parameters of the Dirichlet prior on the class probabilities of a leaf: a number, one per class, "1/C",
        "base" or a ``BaseRate``, "decay" or a ``DepthDecay``. "fit" chooses one number by the evidence.
    cuts : {"average", "each"}
        Whether the best cut of a column stands for all its cuts, or every cut is an option of its own.
    option_weight : float
        Drop options with less than this share of their node afterwards; 0 keeps all.
    stop_factor : float
        A node is split only if the best column has more than this factor of the leaf's probability.
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_branch : int
        At least two branches of every split hold so many training examples, a row of weight w counted w times. With
        two branches this is the fewest examples in a leaf; a split with more branches may have smaller ones.
    split_pure : bool
        Whether to split nodes whose examples are of one class too. With this, ``option_factor=0``, ``stop_factor=0``,
        ``cuts="each"`` and no other limit than a depth, the average is the exact one over every tree.
    criterion : {"quality", "bayes"}
        How columns are chosen: by posterior quality, or by the score of Cano et al., without looking ahead.
    nominal_tests : {"multiway", "binary"}
        A branch for every value of a nominal column, or tests that ask for one value.
    calibrate : {None, "cv"}
        "cv" chooses one exponent for all probabilities by a cross-validation of five folds inside ``fit``:
        ``predict_proba`` is then p^exponent, scaled to sum to one, and ``raw_proba`` is p.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        Entry (c, k) is the cost of predicting k when c is true: ``predict`` answers the class of least expected cost.
        None for the most probable one. It changes no probability, and may be set after ``fit``.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples, not as a
        cost of errors, which ``cost_matrix`` is.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    nominal : sequence of str or int, optional
        Numeric columns, by name or position, whose numbers are codes without an order.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. ``LimitReached`` is raised beyond it.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    tree_ : OptionTree
        The option tree: ``print(model.tree_)``, ``tree_.draw(10)``, ``tree_.most_probable()``.
    n_nodes_ : int
        The number of nodes.
    n_options_ : int
        The number of options.
    n_leaves_ : int
        The number of nodes without a split.
    depth_ : int
        The number of tests on the longest path.
    log_evidence_ : float
        The log of the sum over all its trees.
    budget_reached_ : bool or None
        Whether ``max_nodes`` left nodes without options that would have had some.
    n_merged_ : int or None
        The number of children that were states already there.
    prior_ : Prior
        The prior that the model was computed with.
    dirichlet_ : float, tuple or DepthDecay
        The Dirichlet parameters that the model was computed with.
    exponent_ : float
        With ``calibrate="cv"`` only, the exponent: above 1 it makes probabilities bolder, below 1 more modest.
    cv_log_loss_ : float
        The cross-validated log-loss of the raw probabilities, with ``cv_log_loss_error_``; None if a limit ended it.
    calibrated_cv_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    cv_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit``, the raw probabilities of each row by the model without its fold; not in files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The exact probability that a tree of the option tree uses each column.
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
    >>> model = OptionTreeClassifier().fit(X, y)
    >>> print(model.to_text(max_depth=1))
    0  p = 0.333  (0 50, 1 50, 2 50)  leaf <0.001
    ├─ option 0.664: petal width (cm)
    │  ├─ petal width (cm) <= 0.8: 0  p = 0.987  (0 50, 1 0, 2 0)
    │  └─ petal width (cm) > 0.8: [2] 1  p = 0.498  (0 0, 1 50, 2 50)  leaf <0.001  etc.
    └─ option 0.336: petal length (cm)
       ├─ petal length (cm) <= 2.45: 0  p = 0.987  (0 50, 1 0, 2 0)
       └─ petal length (cm) > 2.45: [2] 1  p = 0.498  (0 0, 1 50, 2 50)  leaf <0.001  as above
    """

    budget_reached_: bool | None
    n_merged_: int | None

    def __init__(
        self,
        option_factor: float = 0.005,
        max_options: int | None = 4,
        max_nodes: int | None = 200_000,
        *,
        lookahead: int = 1,
        beam: int | None = None,
        prior: Prior | str = "leaf_penalty",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = "1/C",
        cuts: str = "average",
        option_weight: float = 0.0,
        stop_factor: float = 0.1,
        max_depth: int | None = None,
        min_branch: int = 1,
        split_pure: bool = False,
        criterion: str = "quality",
        nominal_tests: str = "multiway",
        calibrate: str | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        missing: str = "category",
        nominal: Sequence[str | int] | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.option_factor = option_factor
        self.max_options = max_options
        self.max_nodes = max_nodes
        self.lookahead = lookahead
        self.beam = beam
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.dirichlet = dirichlet
        self.cuts = cuts
        self.option_weight = option_weight
        self.stop_factor = stop_factor
        self.max_depth = max_depth
        self.min_branch = min_branch
        self.split_pure = split_pure
        self.criterion = criterion
        self.nominal_tests = nominal_tests
        self.calibrate = calibrate
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.missing = missing
        self.nominal = nominal
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _settings(self) -> _core.GrowSettings:
        settings = super()._settings()
        if self.criterion == "gain_ratio":
            raise QueryError(
                "criterion='gain_ratio' says nothing of how far one test is behind another; use 'quality' or 'bayes'"
            )
        factor = number("option_factor", self.option_factor, 0, np.inf, example=0.005, closed=True)
        if factor > 1:
            raise refused(QueryError, "option_factor", self.option_factor, "at most 1, such as 0.005")
        settings.option_factor = factor
        settings.max_options = 0 if self.max_options is None else whole("max_options", self.max_options, 1)
        settings.max_nodes = 0 if self.max_nodes is None else whole("max_nodes", self.max_nodes, 1)
        settings.each_cut = _one_of("cuts", self.cuts, ("average", "each")) == "each"
        if not isinstance(self.split_pure, bool | np.bool_):
            raise refused(QueryError, "split_pure", self.split_pure, "True or False")
        settings.split_pure = bool(self.split_pure)
        number("option_weight", self.option_weight, 0, 1, example=0.01, closed=True)
        return settings

    def _folded(self, *parts: Any) -> OptionTree:
        tree = super()._folded(*parts)
        return tree.without_light_options(float(self.option_weight)) if self.option_weight else tree

    def _set_tree(self, trees: list[OptionTree], report: dict[str, Any]) -> None:
        super()._set_tree(trees, report)
        self.budget_reached_, self.n_merged_ = bool(report["budget_reached"]), int(report["n_merged"])

    def describe_tree(self) -> None:
        super().describe_tree()
        self.budget_reached_ = self.n_merged_ = None
