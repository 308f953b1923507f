"""SmoothedTreeClassifier: a tree grown by Bayesian quality, and the average over all its prunings (Buntine)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import everytree._core as _core
from everytree.common.arguments import generator, number, refused, whole
from everytree.errors import QueryError
from everytree.estimators.grown_base import GrownTreeClassifier, _one_of
from everytree.estimators.registry import method
from everytree.files.column_trees import FORMAT
from everytree.files.registry import saved_as
from everytree.trees.option_tree import OptionTree
from everytree.weights.dirichlet import Dirichlet
from everytree.weights.priors import Prior

__all__ = ["SmoothedTreeClassifier"]


@method("smoothed", "a grown tree, averaged over its prunings (Buntine)", place=4)
@saved_as(FORMAT)
class SmoothedTreeClassifier(GrownTreeClassifier):
    """A tree in the time of a greedy learner, with class probabilities smoothed over all its prunings.

    A node is split by the column with the largest posterior quality, averaged over its cuts, as long as that beats the
    leaf by ``stop_factor``. Then every subtree may be cut off: each node is a leaf with a probability that its examples
    and the prior give, and a prediction mixes the class probabilities along the path of a row by these.

    Parameters
    ----------
    lookahead : plies to look ahead; 2 finds tests that are useful only together
    beam : with ``lookahead`` above 1, columns looked at below the first ply; None for all
    prior : "leaf_penalty", "uniform", "size", "shapes", "coding", or a prior object
    alpha, beta : of prior="size"
    dirichlet : a number, one per class, "1/C", "decay" or a ``DepthDecay``; "fit" chooses one number by the evidence
    prune : "smooth" averages over all prunings, "map" takes the most probable one, "none" the tree as grown
    stop_factor : a node is split only if the best column has more than this factor of the leaf's probability
    max_depth, min_leaf : no deeper, and at least two branches of a test hold so many examples
    criterion : "quality"; or "bayes" (Cano et al.) or "gain_ratio" to choose the column by, without looking ahead
    nominal_tests : "multiway" (a branch for every value) or "binary" (this value or not)
    n_trees : more than one are grown at random, tests drawn by their quality, and averaged with equal weights
    subsample : a column is decided as soon as it leads by this Bayes factor on a growing sample of a node's examples;
        100 is a common choice, None looks at all examples
    restructure : in ``partial_fit`` a node keeps its test until another one leads by this Bayes factor
    random_state : seed of ``n_trees`` and ``subsample``
    missing : "category" (a branch of its own), "error" or "impute" (training mean or mode)
    nominal : names (or indices) of numeric columns whose numbers are codes
    time_limit, memory_limit : seconds and bytes of learning; ``LimitReached`` is raised beyond

    Attributes
    ----------
    tree_ : the ``OptionTree`` (``print(model.tree_)``); a ``TreeMean`` of several
    n_nodes_, n_leaves_, n_options_, depth_ : its size; the options of an ordinary tree are its splits
    log_evidence_ : log s of the root: of the tree and all its prunings together
    dirichlet_, prior_ : the values in force
    subsample_ : with ``subsample``, cells (examples × columns) looked at, all there were, and the share saved
    classes_, n_features_in_, feature_names_in_, target_name_ : as in every classifier here

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
        stop_factor: float = 0.01,
        max_depth: int | None = None,
        min_leaf: int = 1,
        criterion: str = "quality",
        nominal_tests: str = "multiway",
        n_trees: int = 1,
        subsample: float | None = None,
        restructure: float = 10.0,
        random_state: int | np.random.Generator | None = None,
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
        self.stop_factor = stop_factor
        self.max_depth = max_depth
        self.min_leaf = min_leaf
        self.criterion = criterion
        self.nominal_tests = nominal_tests
        self.n_trees = n_trees
        self.subsample = subsample
        self.restructure = restructure
        self.random_state = random_state
        self.missing = missing
        self.nominal = nominal
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    def _n_trees(self) -> int:
        return whole("n_trees", self.n_trees, 1)

    def _fold_kind(self) -> str:
        return _one_of("prune", self.prune, ("smooth", "map", "none"))

    def _settings(self) -> _core.GrowSettings:
        settings = super()._settings()
        self._fold_kind()
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

    def _set_tree(self, trees: list[OptionTree], report: dict[str, float]) -> None:
        super()._set_tree(trees, report)
        self.subsample_ = None
        if self.subsample is not None:
            seen, cells = report["cells_seen"], report["cells_all"]
            self.subsample_ = {"seen": seen, "all": cells, "saved": 1 - seen / cells if cells else 0.0}

    def describe_tree(self) -> None:
        super().describe_tree()
        self.subsample_ = None

    def _follows(self) -> bool:
        """Trees grown by quality, on all examples and without chance; others are grown again."""
        return self._n_trees() == 1 and self.subsample is None and self.criterion == "quality"
