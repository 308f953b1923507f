"""What a fitted average can be asked, in rows and names of the original columns; the answers are the posterior's own.

how sure?    predict_interval, moments, sampling_error
why?         explain, top_trees
smaller?     compress
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.data.binarizer import Binarizer
from everytree.errors import DataError, QueryError

if TYPE_CHECKING:
    from everytree.bayes.explain import Explanation
    from everytree.bayes.top_trees import TopTrees
    from everytree.estimators.compressed import CompressedClassifier

__all__ = ["BayesQuestions"]


class BayesQuestions:
    """Questions to ``posterior_``; beside ``TreeClassifierBase``, which turns rows into tests."""

    posterior_: Any
    binarizer_: Binarizer
    n_features_in_: int

    def explain(self, x: Any, top: int = 10) -> Explanation:
        """Why one row is predicted so: the rules of most weight that cover it, in the names of the columns."""
        rows = self._tests(_as_table(x))
        if len(rows) != 1:
            raise DataError(f"x has {len(rows)} rows; expected one, such as X[:1] or X.iloc[[3]]")
        found: Explanation = self._ask("explain")(rows, top)
        return found

    def top_trees(self, k: int = 10) -> TopTrees:
        """The k most probable trees, with their probabilities and the share of the posterior that they cover."""
        found: TopTrees = self._ask("top_trees")(k)
        return found

    def compress(self, epsilon: float = 0.01) -> CompressedClassifier:
        """A classifier of few rules, none of whose probabilities is further than ``epsilon`` from the average."""
        from everytree.estimators.compressed import CompressedClassifier

        return CompressedClassifier._of(self, self._ask("compress")(epsilon), epsilon)

    def _tests(self, X: Any) -> npt.NDArray[np.uint8]:
        check_is_fitted(self)
        rows: npt.NDArray[np.uint8] = self._encode(X)  # type: ignore[attr-defined]
        return rows

    def _ask(self, what: str) -> Any:
        check_is_fitted(self)
        found = getattr(self.posterior_, what, None)
        if found is None:
            raise QueryError(f'{what} needs one prior, and "average" has many; use "fit"')
        return found


def _as_table(x: Any) -> Any:
    """A single row as a table of one row; a table as it is."""
    if hasattr(x, "columns") or np.ndim(x) != 1:
        return x
    return (
        x.to_frame().T if hasattr(x, "to_frame") and hasattr(x, "index") else [x]
    )  # a row of pandas keeps its names
