"""CompressedClassifier: the average over every tree as a short list of rules, with a bound on every probability.

It takes the same columns as the classifier it was made from, holds no training data, predicts in a small part of the
time, and can be written to a file, to text, and in other languages.
"""

from __future__ import annotations

import os
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.compress import CompressedRules
from everytree.common.arguments import refused
from everytree.data.binarizer import Binarizer
from everytree.data.example_weights import ExampleWeights
from everytree.data.recipes.wanted import as_read
from everytree.data.table import Table
from everytree.errors import QueryError
from everytree.estimators.base import TreeClassifierBase
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.protocol import Fact, Picture
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.files.registry import saved_as
from everytree.files.rules_file import FORMAT, save_rules

__all__ = ["CompressedClassifier"]


@saved_as(FORMAT)
class CompressedClassifier(Exports, TreeClassifierBase):
    """Rules that add up to probabilities within ``bound_`` of those of a ``BayesOptimalClassifier``.

    ``BayesOptimalClassifier.compress`` makes one; ``fit`` does both steps, for a cross-validation.

    Parameters
    ----------
    estimator : BayesOptimalClassifier, optional
        The classifier whose average is compressed; None for one with its defaults.
    epsilon : float
        No probability may be further than this from the average, whatever the row.

    Attributes
    ----------
    rules_ : CompressedRules
        The rules over 0/1 tests.
    bound_ : float
        No probability is further than this from the average over every tree.
    n_rules_ : int
        The number of rules.
    average_ : dict or None
        The prior, the Dirichlet parameters, ``max_depth`` and ``min_leaf`` of that average, and ``cuts`` where its
        nodes chose their own; None in a model of an older file.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = BayesOptimalClassifier(max_depth=2).fit(X, y)
    >>> small = model.compress(0.02)
    >>> off = abs(small.predict_proba(X) - model.predict_proba(X)).max()
    >>> small.bound_ <= 0.02, bool(off <= small.bound_)
    (True, True)
    """

    PAPER = "boc"

    rules_: CompressedRules
    bound_: float
    n_rules_: int
    average_: dict[str, Any] | None

    def _class_weight(self) -> Any:
        return None if self.estimator is None else self.estimator.class_weight

    def __init__(self, estimator: BayesOptimalClassifier | None = None, epsilon: float = 0.01) -> None:
        self.estimator = estimator
        self.epsilon = epsilon

    @classmethod
    def _of(cls, model: Any, rules: CompressedRules, epsilon: float) -> CompressedClassifier:
        """Return the rules of a fitted classifier, with its way from columns to tests."""
        made = cls(clone(model), epsilon)
        for name in (
            "classes_",
            "binarizer_",
            "n_features_in_",
            "feature_names_in_",
            "recipes_",
            "fingerprint_",
            "target_name_",
        ):
            if hasattr(model, name):
                setattr(made, name, getattr(model, name))
        made.average_ = _averaged(model)
        return made.set_rules(rules)

    def set_rules(self, rules: CompressedRules) -> Self:
        """Predict with these rules: after compressing an average, and after reading them from a file.

        Parameters
        ----------
        rules : CompressedRules
            The rules, over the tests of ``binarizer_``.

        Returns
        -------
        CompressedClassifier
            This classifier.
        """
        self.rules_, self.bound_, self.n_rules_ = rules, rules.bound, rules.n_rules
        if rules.binarizer is not None:  # nodes chose their own cuts, and the rules ask some of these
            self.binarizer_ = rules.binarizer
        return self

    def _average(self) -> BayesOptimalClassifier:
        if self.estimator is not None and not isinstance(self.estimator, BayesOptimalClassifier):
            raise refused(QueryError, "estimator", self.estimator, "a BayesOptimalClassifier, or None")
        return BayesOptimalClassifier() if self.estimator is None else self.estimator

    def new_binarizer(self) -> Binarizer:
        return self._average().new_binarizer()

    @property
    def missing(self) -> str:
        """What a missing value means: the parameter ``missing`` of the estimator."""
        return self._average().missing

    @property
    def cost_matrix(self) -> Any:
        """The costs by which ``predict`` decides: the parameter ``cost_matrix`` of the estimator."""
        return self._average().cost_matrix

    def _learned_from(self, table: Table) -> None:
        self.fingerprint_ = table.fingerprint()  # It is computed now, because no examples are kept.

    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: ExampleWeights | None,
    ) -> None:
        average = clone(self._average())
        average.binarizer_ = self.binarizer_
        average._fit_table(table, X01, y_codes, sample_weight)
        self.average_ = _averaged(average)
        self.set_rules(average._ask("compress")(self.epsilon))

    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        return self.rules_.predict_proba(X01)

    def facts(self) -> list[Fact]:
        within = "no probability is further from the average than"
        own = [Fact("bound", self.bound_, None, within), Fact("n_rules", self.n_rules_, None, "rules")]
        return [*own, *super().facts()]

    def headline(self, on: str) -> str:
        return f"{self.n_rules_} rules that stay within {self.bound_:.3g} of the average over every tree."

    def display(self) -> Picture:
        return "rules"

    def as_text(self) -> str:
        return self.to_text()

    def space_over(self, table: Table) -> None:
        return None  # The space is that of the average, which is not kept.

    # --- export ---

    def to_text(self, top: int | None = None) -> str:
        """Return the rules as lines of text, those that change the probabilities most first.

        Parameters
        ----------
        top : int, optional
            Show only so many rules; None shows all.

        Returns
        -------
        str
            One rule per line.
        """
        check_is_fitted(self)
        return self.rules_.to_text(top)

    def portable(self) -> Form:
        check_is_fitted(self)
        if self.cost_matrix is not None:
            raise QueryError(
                "the rules give probabilities, and cost_matrix decides by them; write rules_.over(binarizer_), and "
                "weigh the probabilities with the costs where they are used"
            )
        return as_read(self.rules_.over(self.binarizer_).form, getattr(self, "recipes_", ()))

    def save(self, path: str | os.PathLike[str], target: str | None = None) -> None:
        """Write the rules, their bound and the way from columns to tests to a JSON file that ``load_model`` reads.

        Parameters
        ----------
        path : str or os.PathLike
            Where the file goes.
        target : str, optional
            The name of the label's column in the data; by default the name that ``y`` had in training.
        """
        save_rules(self, path, target)


def _averaged(model: BayesOptimalClassifier) -> dict[str, Any]:
    """Return what the average was taken over, and how its trees weigh."""
    space, weights = model.posterior_.space, model.class_weight
    return {
        "prior": model.prior_,
        "dirichlet": model.dirichlet_,
        "max_depth": space.max_depth,
        "min_leaf": space.min_leaf,
        **({} if model.posterior_.power == 1 else {"power": model.posterior_.power}),
        **({"bins": model.bins} if space.table.columns is None else {"cuts": "local"}),
        **({} if weights is None else {"class_weight": weights}),
    }
