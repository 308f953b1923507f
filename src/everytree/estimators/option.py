"""OptionTreeClassifier: the average over the many trees of an option tree (Buntine)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

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
    weighted by their posterior probabilities.

    Parameters
    ----------
    option_factor : keep columns with at least this factor of the best one's quality
    max_options : at most so many at a node; None for no limit
    max_nodes : nodes in all, those that most examples most probably reach first; None for no limit
    lookahead, beam : plies to look ahead, and columns looked at below the first ply; None for all
    prior : "leaf_penalty", "uniform", "size", "shapes", "coding", or a prior object
    alpha, beta : of prior="size"
    dirichlet : a number, one per class, "1/C", "decay" or a ``DepthDecay``; "fit" chooses one number by the evidence
    cuts : "average" lets the best cut of a column stand for all its cuts, "each" makes every cut an option of its own
    option_weight : drop options with less than this share of their node afterwards; 0 keeps all
    stop_factor : a node is split only if the best column has more than this factor of the leaf's probability
    max_depth, min_leaf : no deeper, and at least two branches of a test hold so many examples
    split_pure : also split nodes whose examples are of one class. With this, option_factor=0, stop_factor=0,
        cuts="each" and no other limit than a depth, the average is the exact one over every tree
    criterion : "quality", or "bayes" (Cano et al.) to choose columns by, without looking ahead
    nominal_tests : "multiway" (a branch for every value) or "binary" (this value or not)
    missing : "category" (a branch of its own), "error" or "impute" (training mean or mode)
    nominal : names (or indices) of numeric columns whose numbers are codes
    time_limit, memory_limit : seconds and bytes of learning; ``LimitReached`` is raised beyond

    Attributes
    ----------
    tree_ : the ``OptionTree``: ``print(model.tree_)``, ``tree_.draw(10)``, ``tree_.most_probable()``
    n_nodes_, n_options_, n_leaves_, depth_ : its size
    log_evidence_ : log s of the root: of all its trees together
    budget_reached_ : whether ``max_nodes`` left nodes without options that would have had some
    n_merged_ : children that were states already there
    dirichlet_, prior_ : the values in force
    classes_, n_features_in_, feature_names_in_, target_name_ : as in every classifier here

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
        stop_factor: float = 0.75,
        max_depth: int | None = None,
        min_leaf: int = 1,
        split_pure: bool = False,
        criterion: str = "quality",
        nominal_tests: str = "multiway",
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
        self.min_leaf = min_leaf
        self.split_pure = split_pure
        self.criterion = criterion
        self.nominal_tests = nominal_tests
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

    def _set_tree(self, trees: list[OptionTree], report: dict[str, float]) -> None:
        super()._set_tree(trees, report)
        self.budget_reached_, self.n_merged_ = bool(report["budget_reached"]), int(report["n_merged"])

    def describe_tree(self) -> None:
        super().describe_tree()
        self.budget_reached_ = self.n_merged_ = None
