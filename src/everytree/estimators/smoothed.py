"""SmoothedTreeClassifier: a tree grown by Bayesian quality, and the average over all its prunings (Buntine)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import generator, number, refused, whole
from everytree.data.columns import set_classes
from everytree.data.example_weights import ExampleWeights
from everytree.errors import QueryError
from everytree.estimators.grown_base import GrownTreeClassifier, _one_of
from everytree.estimators.grown_pruning import Examples, examples_of, price_chosen
from everytree.estimators.grown_rows import Growth
from everytree.estimators.registry import method
from everytree.files.column_trees import FORMAT
from everytree.files.registry import saved_as
from everytree.trees.option_tree import OptionTree
from everytree.trees.pruned_options import negligible_leaves, pessimistic_leaves, shape_of
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import PRIORS, Prior
from everytree.weights.tables import Weights

__all__ = ["SmoothedTreeClassifier"]

# What ``prune`` may be, and the fold of the tree before any pruning by errors.
NEVER = 1e300  # a factor over the leaf that no split has
FOLDS = {"smooth": "smooth", "map": "map", "none": "none", "cost_complexity": "none", "pessimistic": "none"}


@method("smoothed", "a grown tree, averaged over its prunings (Buntine)", place=4)
@saved_as(FORMAT)
class SmoothedTreeClassifier(GrownTreeClassifier):
    """A tree in the time of a greedy learner, with class probabilities smoothed over all its prunings.

    A node is split by the column with the largest posterior quality, averaged over its cuts, as long as that beats the
    leaf by ``stop_factor``. Then every subtree may be cut off: each node is a leaf with a probability that its examples
    and the prior give, and a prediction mixes the class probabilities along the path of a row by these. The default
    prior is Buntine's type II.

    Parameters
    ----------
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
    prune : {"smooth", "map", "none", "cost_complexity", "pessimistic"}
        Average over all prunings, take the most probable one, or keep the tree as it was grown; or prune it by its
        errors, as CART does with cross-validation, or as the earlier C4 does (Quinlan 1987).
    prune_prior : str, Prior or None
        The prior by which the grown tree is pruned or averaged, so that several of them judge the same tree; None for
        the one it grew by.
    negligible : float
        Of ``prune="smooth"``: nodes that are there and split with at most this probability, such as 0.001, are made
        leaves, so that no class probability of any row changes by more than that; 0 keeps all nodes.
    folds : int
        Of ``prune="cost_complexity"``: the number of folds; with fewer examples, one for each.
    se : {0, 1}
        Of ``prune="cost_complexity"``: the price of a leaf is the largest of least cross-validated error (0), or the
        largest within one standard error of that (1).
    stop_factor : float
        A node is split only if the best column has more than this factor of the leaf's probability.
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    min_branch : int
        At least two branches of every split hold so many training examples, a row of weight w counted w times. With
        two branches this is the fewest examples in a leaf; a split with more branches may have smaller ones.
    criterion : {"quality", "bayes", "gain_ratio"}
        How a column is chosen: by posterior quality; or by the score of Cano et al. or the gain ratio, without looking
        ahead.
    nominal_tests : {"multiway", "binary"}
        A branch for every value of a nominal column, or tests that ask for one value.
    n_trees : int
        More than one tree are grown at random, tests drawn by their quality, and averaged with equal weights.
    subsample : float or None
        A column is decided as soon as it leads by this Bayes factor on a growing sample of a node's examples;
        100 is a common choice, None looks at all examples.
    restructure : float
        In ``partial_fit`` a node keeps its test until another one leads by this Bayes factor.
    random_state : int, Generator or None
        The seed of ``n_trees``, ``subsample`` and of the folds of ``prune="cost_complexity"``; None for new random
        numbers each time.
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
    tree_ : OptionTree or TreeMean
        The tree (``print(model.tree_)``), or the mean of several.
    n_nodes_ : int
        The number of nodes.
    n_options_ : int
        The number of options; those of an ordinary tree are its splits.
    n_leaves_ : int
        The number of nodes without a split.
    depth_ : int
        The number of tests on the longest path.
    log_evidence_ : float
        The log of the sum over the tree and all its prunings; of the tree alone unless ``prune="smooth"``.
    prior_ : Prior
        The prior that the model was computed with; with ``prune_prior`` it is that.
    dirichlet_ : float, tuple or DepthDecay
        The Dirichlet parameters that the model was computed with.
    subsample_ : dict or None
        With ``subsample``, the cells (examples × columns) that were looked at, all there were, and the share saved.
    pruning_ : list of dict, or None
        With ``prune="cost_complexity"``, for each tree the prices of a leaf that were tried (``alphas``), their shares
        of errors in the cross-validation (``cv_errors``) with standard errors (``cv_se``), the price chosen
        (``alpha``), and ``n_folds``; None for a model from a file.
    dropped_ : int or None
        With ``negligible``, the number of nodes that were dropped.
    dropped_bound_ : float or None
        With ``negligible``, the most by which dropping them changes any class probability; for several trees, that of
        their mean.
    restructured_ : dict or None
        After a later batch of ``partial_fit``, how many nodes kept their tests (``kept``), how many of those without
        a look at other columns, because no examples of the batch could have changed the choice (``unlooked``), and
        how many subtrees were grown anew (``regrown``).
    exponent_ : float
        With ``calibrate="cv"`` only, the exponent: above 1 it makes probabilities bolder, below 1 more modest.
    cv_log_loss_ : float
        The cross-validated log-loss of the raw probabilities, with ``cv_log_loss_error_``; None if a limit ended it.
    calibrated_cv_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    cv_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit``, the raw probabilities of each row by the model without its fold; not in files.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The exact probability that a pruning of the tree uses each column.
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
    >>> model = SmoothedTreeClassifier(max_depth=2).fit(X, y)
    >>> print(model.to_text(max_depth=1))
    0  p = 0.333  (0 50, 1 50, 2 50)  leaf <0.001
    ├─ petal width (cm) <= 0.8: 0  p = 0.987  (0 50, 1 0, 2 0)
    └─ petal width (cm) > 0.8: 1  p = 0.498  (0 0, 1 50, 2 50)  leaf <0.001  etc.
    """

    subsample_: dict[str, float] | None
    LATER_CLAIMS = ("dropped_", "dropped_bound_")

    pruning_: list[dict[str, Any]] | None
    dropped_: int | None
    dropped_bound_: float | None
    restructured_: dict[str, int] | None

    def __init__(
        self,
        lookahead: int = 1,
        beam: int | None = None,
        *,
        prior: Prior | str = "leaf_penalty",
        alpha: float = 0.8,
        beta: float = 0.8,
        dirichlet: Dirichlet = "1/C",
        prune: str = "smooth",
        prune_prior: Prior | str | None = None,
        negligible: float = 0.0,
        folds: int = 10,
        se: int = 0,
        stop_factor: float = 0.01,
        max_depth: int | None = None,
        min_branch: int = 1,
        criterion: str = "quality",
        nominal_tests: str = "multiway",
        n_trees: int = 1,
        subsample: float | None = None,
        restructure: float = 10.0,
        random_state: int | np.random.Generator | None = None,
        calibrate: str | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        missing: str = "category",
        nominal: Sequence[str | int] | None = None,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.lookahead = lookahead
        self.beam = beam
        self.prior = prior
        self.alpha = alpha
        self.beta = beta
        self.dirichlet = dirichlet
        self.prune = prune
        self.prune_prior = prune_prior
        self.negligible = negligible
        self.folds = folds
        self.se = se
        self.stop_factor = stop_factor
        self.max_depth = max_depth
        self.min_branch = min_branch
        self.criterion = criterion
        self.nominal_tests = nominal_tests
        self.n_trees = n_trees
        self.subsample = subsample
        self.restructure = restructure
        self.random_state = random_state
        self.calibrate = calibrate
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.missing = missing
        self.nominal = nominal
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _n_trees(self) -> int:
        return whole("n_trees", self.n_trees, 1)

    def _fold_kind(self) -> str:
        return FOLDS[_one_of("prune", self.prune, tuple(FOLDS))]

    def _negligible(self) -> float:
        most = number("negligible", self.negligible, 0, 1, example=0.001, closed=True)
        if most and self.prune != "smooth":
            raise refused(
                QueryError, "negligible", self.negligible,
                says=f" with prune={self.prune!r}; expected prune='smooth', or 0",
            )  # fmt: skip
        return most

    def _settings(self) -> _core.GrowSettings:
        settings = super()._settings()
        self._fold_kind()
        self._negligible()
        whole("folds", self.folds, 2)
        if whole("se", self.se, 0) > 1:
            raise refused(QueryError, "se", self.se, "0 or 1 standard errors")
        if self.prune_prior is not None:
            word = self.prune_prior if isinstance(self.prune_prior, str) else None
            if not isinstance(self.prune_prior, Prior) and word not in PRIORS:
                words = ", ".join(map(repr, PRIORS))
                raise refused(
                    QueryError,
                    "prune_prior",
                    self.prune_prior,
                    f"one of {words}, a prior, or None for that of growing",
                )
            if not self._follows():
                raise refused(
                    QueryError,
                    "prune_prior",
                    self.prune_prior,
                    says=" goes with n_trees=1, criterion='quality' and without subsample only",
                )
        number("restructure", self.restructure, 1, np.inf, example=10, closed=True)
        settings.random = self._n_trees() > 1
        if settings.random and self.criterion == "gain_ratio":
            raise refused(
                QueryError,
                "n_trees",
                self.n_trees,
                says=" with criterion='gain_ratio': a gain ratio is no probability to draw by",
            )
        if self.subsample is not None:
            settings.subsample_lead = number("subsample", self.subsample, 1, np.inf, example=100, closed=True)
            if settings.random or settings.lookahead > 1 or self.criterion != "quality":
                raise refused(
                    QueryError,
                    "subsample",
                    self.subsample,
                    says=" goes with n_trees=1, lookahead=1 and criterion='quality' only",
                )
        settings.seed = int(generator(self.random_state).integers(2**63))
        return settings

    def _folded(self, *parts: Any) -> OptionTree:
        tree = super()._folded(*parts)
        return tree.most_probable() if self.prune == "map" else tree

    def _weighed(
        self,
        data: _core.Columns,
        grown: list[_core.OptionGraph],
        settings: _core.GrowSettings,
        weights: Weights,
        control: _core.Control,
    ) -> tuple[list[_core.OptionGraph], Weights]:
        if self.prune_prior is None:
            return grown, weights
        # A tree that is restructured with an infinite lead keeps every test, and weighs it by the prior of now; no leaf
        # grows on where a split would have to be so much better.
        deepest = max(graph.deepest for graph in grown)
        other = replace(weights, tables=self._prior(self.prune_prior).tables(deepest + 1))
        before, settings.stop_factor = settings.stop_factor, NEVER
        found = [
            _core.restructure(data, graph, math.inf, settings, other.prior, other.dirichlet, control)[0]
            for graph in grown
        ]
        settings.stop_factor = before
        return found, other

    def _pruned(self, trees: list[OptionTree], report: dict[str, Any], growth: Growth) -> list[OptionTree]:
        if self.prune == "pessimistic":
            return [tree.pruned(pessimistic_leaves(shape_of(tree))) for tree in trees]
        if self._negligible():
            found = [negligible_leaves(tree, self.negligible) for tree in trees]
            smaller = [tree.pruned(leaf, heavy=True) for tree, (leaf, _) in zip(trees, found, strict=True)]
            before, now = (sum(tree.n_nodes for tree in some) for some in (trees, smaller))
            report["dropped"] = before - now, sum(bound for _, bound in found) / len(found)
            return smaller
        if self.prune != "cost_complexity":
            return trees
        columns, control = growth.reader.columns, growth.control
        examples = examples_of(growth.rows.arrays, columns, growth.codes, growth.rows.weights)
        rule = cast(Literal["0-SE", "1-SE"], f"{self.se}-SE")
        rng = np.random.default_rng(growth.settings.seed)
        chosen = []
        for k, tree in enumerate(trees):
            growth.settings.number = k

            def grow(some: Examples) -> OptionTree:
                data = growth.reader.columns_of(some.arrays(columns), some.codes.size)
                weighing = ExampleWeights(some.counted, some.per_example)
                set_classes(data, some.codes, len(growth.classes), weighing)
                weights = growth.weights
                graph, _ = _core.grow_options(
                    data, growth.settings, weights.prior, weights.dirichlet, control
                )
                return self._folded(graph, growth.reader, growth.classes, weights, control)

            chosen.append(price_chosen(tree, examples, grow, self.folds, rule, rng))
        report["pruning"] = [told for _, told in chosen]
        return [tree for tree, _ in chosen]

    def _set_tree(self, trees: list[OptionTree], report: dict[str, Any]) -> None:
        super()._set_tree(trees, report)
        self.pruning_ = report.get("pruning")
        self.dropped_, self.dropped_bound_ = report.get("dropped", (None, None))
        if report["n_kept"] + report["n_regrown"]:
            self.restructured_ = {name: int(report[f"n_{name}"]) for name in ("kept", "unlooked", "regrown")}
        if self.subsample is not None:
            seen, cells = report["cells_seen"], report["cells_all"]
            self.subsample_ = {"seen": seen, "all": cells, "saved": 1 - seen / cells if cells else 0.0}

    def describe_tree(self) -> None:
        super().describe_tree()
        self.subsample_ = self.pruning_ = self.restructured_ = None
        self.dropped_ = self.dropped_bound_ = None  # a file tells them
        self.prior_ = self._prior(self.prune_prior)

    def _follows(self) -> bool:
        """Return True for trees grown by quality, on all examples and without chance; others are grown again."""
        return self._n_trees() == 1 and self.subsample is None and self.criterion == "quality"
