"""What a fitted average can be asked, in rows and names of the original columns; the answers are the posterior's own.

Of a model with ``calibrate`` all but compress answer of the raw probabilities, before the exponent.

how sure?    predict_interval, moments, sampling_error
why?         explain, top_trees, attribute_inclusion
smaller?     compress
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.explain import Explanation
from everytree.bayes.top_trees import TopTrees
from everytree.bayes.uncertainty import Moments
from everytree.data.binarizer import Binarizer
from everytree.errors import DataError, QueryError
from everytree.files.registry import classifier_named
from everytree.files.rules_file import ESTIMATOR, FORMAT

__all__ = ["BayesQuestions"]

Reals = npt.NDArray[np.float64]


class BayesQuestions:
    """Questions to ``posterior_``, beside ``TreeClassifierBase``, which turns rows into tests."""

    posterior_: Any
    binarizer_: Binarizer
    n_features_in_: int

    def predict_interval(
        self,
        X: Any,
        level: float = 0.9,
        *,
        n_draws: int = 1000,
        random_state: int | np.random.Generator | None = None,
    ) -> tuple[Reals, Reals]:
        """Return an interval for each class probability that holds it with probability ``level``.

        The trees are drawn exactly from the posterior; the uncertainty within their leaves is not sampled but
        computed. See ``Posterior.interval``. The probabilities are those of the average, ``raw_proba``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.
        level : float
            The probability that the interval holds, between 0 and 1.
        n_draws : int
            How many trees are drawn.
        random_state : int, Generator or None
            The seed of the draws.

        Returns
        -------
        lower : ndarray of shape (n_rows, n_classes)
            The lower ends.
        upper : ndarray of shape (n_rows, n_classes)
            The upper ends.
        """
        lower, upper = self._ask("interval")(self._tests(X), level, n_draws, random_state)
        return lower, upper

    def moments(self, X: Any) -> Moments:
        """Return mean and variance of each class probability, between the trees and within their leaves.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        Moments
            The mean, and both parts of the variance.
        """
        found: Moments = self._ask("moments")(self._tests(X))
        return found

    def sampling_error(self, X: Any) -> Reals:
        """Return the standard error of ``predict_proba`` by sampling.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Zero for the exact average, an estimate for ``method="collapsed"``.
        """
        rows = self._tests(X)
        if hasattr(self.posterior_, "error"):
            return np.asarray(self.posterior_.error(rows))
        return np.zeros((len(rows), len(self.posterior_.space.classes)))

    def explain(self, x: Any, top: int = 10) -> Explanation:
        """Explain the prediction of one row: the rules of most weight that cover it, in the names of the columns.

        The probability is that of the average, ``raw_proba``; the text ends with what the exponent makes of it.

        Parameters
        ----------
        x : array-like
            The row: a table of one row, or the values of one row.
        top : int
            How many rules to show.

        Returns
        -------
        Explanation
            The rules with their weights; it prints as text.

        Raises
        ------
        DataError
            If ``x`` is not one row.
        QueryError
            If the model holds no exact posterior of one prior.
        """
        rows = self._tests(_as_table(x))
        if len(rows) != 1:
            raise DataError(f"x has {len(rows)} rows; expected one, such as X[:1] or X.iloc[[3]]")
        found: Explanation = self._ask("explain")(rows, top)
        return replace(found, exponent=vars(self).get("exponent_", 1.0))

    def top_trees(self, k: int = 10) -> TopTrees:
        """Return the most probable trees, with their probabilities and the share of the posterior that they cover.

        Parameters
        ----------
        k : int
            How many trees.

        Returns
        -------
        TopTrees
            The trees, the most probable first.
        """
        found: TopTrees = self._ask("top_trees")(k)
        return found

    def attribute_inclusion(self) -> dict[str, float]:
        """Return for every column the probability that the tree uses it.

        Returns
        -------
        dict of str to float
            The probability by the name of the column, in the order of the columns.
        """
        found = self._ask("attribute_inclusion")()
        names = getattr(self, "feature_names_in_", [f"x{j}" for j in range(self.n_features_in_)])
        return {str(name): found.get(str(name), 0.0) for name in names}

    def compress(self, epsilon: float = 0.01) -> Any:
        """Return a short list of rules with almost the same probabilities.

        Parameters
        ----------
        epsilon : float
            No probability may be further off than this, whatever the row.

        Returns
        -------
        CompressedClassifier
            The rules; its ``bound_`` says how far they are off at most.
        """
        if getattr(self, "exponent_", 1.0) != 1:
            raise QueryError(
                "compress keeps the probabilities of the average, and this model has an exponent besides "
                f"(exponent_={self.exponent_:.3g}); fit with calibrate=None, or ask posterior_.compress"  # type: ignore[attr-defined]
            )
        made = classifier_named(ESTIMATOR, FORMAT)
        return made._of(self, self._ask("compress")(epsilon), epsilon)

    def _tests(self, X: Any) -> npt.NDArray[np.uint8]:
        check_is_fitted(self)
        rows: npt.NDArray[np.uint8] = self.to_tests(X)  # type: ignore[attr-defined]
        return rows

    def _ask(self, what: str) -> Any:
        check_is_fitted(self)
        found = getattr(self.posterior_, what, None)
        if found is None:
            kind = type(self.posterior_).__name__
            how = '"average" has many priors'
            if kind == "CollapsedPosterior":
                how = 'method="collapsed" only samples trees'
            raise QueryError(
                f'{what} needs the exact posterior of one prior, and {how}; use method="exact" and "fit"'
            )
        return found


def _as_table(x: Any) -> Any:
    """Return a single row as a table of one row, and a table as it is."""
    if hasattr(x, "columns") or np.ndim(x) != 1:
        return x
    # A row of pandas keeps the names of its columns.
    return x.to_frame().T if hasattr(x, "to_frame") and hasattr(x, "index") else [x]
