"""C45TreeClassifier: Quinlan's C4.5, release 8, on whole columns.

    gain ratio among tests of at least average gain; one branch per nominal value, cuts on numbers; a missing value
    goes down every branch in fractions; splits undone by training errors, then by estimated errors

docs/c45.md says what each parameter does and where Weka's J48 differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import everytree._core as _core
from everytree.common.arguments import number, refused, truth, whole
from everytree.common.limits import Limits
from everytree.common.reading import reading
from everytree.data.columns import ColumnReader
from everytree.errors import QueryError
from everytree.estimators.column_base import ColumnTreeClassifier
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.parameter_names import MIN_BRANCH
from everytree.estimators.registry import method
from everytree.files.column_trees import FORMAT
from everytree.files.registry import saved_as
from everytree.trees.added import added_words
from everytree.trees.multiway import MultiwayTree

__all__ = ["C45TreeClassifier"]

TIE = 1e-6  # Probabilities closer than this are a tie, as in J48; the first class then wins.


@method("c45", "a tree grown and pruned by C4.5", place=8)
@saved_as(FORMAT)
class C45TreeClassifier(ColumnTreeClassifier):
    """A decision tree by C4.5, release 8.

    The defaults are those of C4.5 and of Weka's J48. Missing values need no parameter: as in C4.5, a row without a
    value goes down every branch in fractions.

    Parameters
    ----------
    min_branch : int
        At least two branches of every split hold so many training examples, a row of weight w counted w times. With
        two branches this is the fewest examples in a leaf; a split with more branches may have smaller ones. J48
        calls it -M.
    confidence : float
        The confidence of the estimated errors, above 0 and at most 0.5; smaller prunes more. J48 calls it -C.
    prune : bool
        Whether to remove subtrees whose estimated errors are not less than a leaf's.
    subtree_raising : bool
        Whether to put the largest branch of a node in its place, where its estimated errors are less.
    collapse : bool
        Whether to remove subtrees that lower no training error, before pruning.
    binary_splits : bool
        Whether nominal tests ask for one value instead of having one branch per value.
    laplace : bool
        Whether a leaf with n_c of n examples in class c gives the probability (n_c + 1) / (n + C), for C classes,
        instead of n_c / n.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples.
    nominal : sequence of str or int, optional
        Numeric columns, by name or position, whose numbers are codes without an order.
    resolution : float
        A cut lies between values that differ by more than this.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. ``LimitReached`` is raised beyond it.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    tree_ : MultiwayTree
        The tree; ``tree_.to_text()`` shows it.
    n_leaves_ : int
        The number of leaves, those without training examples included.
    size_ : int
        The number of nodes.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The share of each column in the total decrease of Gini's impurity on the training examples; all 0 for one leaf.
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
    >>> rows = [["sunny", 85], ["sunny", 70], ["rain", 96], ["rain", 80], ["sunny", 72], ["sunny", 90]]
    >>> tree = C45TreeClassifier().fit(rows, ["no", "yes", "yes", "yes", "yes", "no"])
    >>> print(tree.to_text())
    x0 = rain: yes (2)
    x0 = sunny
    |   x1 <= 72: yes (2)
    |   x1 > 72: no (2)
    """

    TREE = MultiwayTree
    CLAIMS = ("n_leaves_", "size_")
    PAPER = "c45"
    MEANINGS = MIN_BRANCH

    tree_: MultiwayTree
    n_leaves_: int
    size_: int

    def __init__(
        self,
        min_branch: int = 2,
        confidence: float = 0.25,
        prune: bool = True,
        subtree_raising: bool = True,
        collapse: bool = True,
        binary_splits: bool = False,
        laplace: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        nominal: Sequence[str | int] | None = None,
        resolution: float = 1e-5,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.min_branch = min_branch
        self.confidence = confidence
        self.prune = prune
        self.subtree_raising = subtree_raising
        self.collapse = collapse
        self.binary_splits = binary_splits
        self.laplace = laplace
        self.class_weight = class_weight
        self.nominal = nominal
        self.resolution = resolution
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        min_branch = whole("min_branch", self.min_branch, 1)
        confidence = number("confidence", self.confidence, 0, 1, example=0.25)
        if confidence > 0.5:
            raise refused(QueryError, "confidence", self.confidence, "at most 0.5, such as 0.25")
        resolution = number("resolution", self.resolution, 0, np.inf, example=1e-5, closed=True)
        truth("laplace", self.laplace)  # the one that predictions are read with
        switches = {
            name: bool(getattr(self, name))
            for name in ("binary_splits", "collapse", "prune", "subtree_raising")
        }
        control = Limits(self.time_limit, self.memory_limit).control()
        with reading(self.time_limit, self.memory_limit):
            frame, labels, weights = self._read(X, y, sample_weight, reset=True)
        self._check_room(frame, control)
        self.classes_, codes = self._classes(labels)
        self._reader = ColumnReader.fit(frame, self.nominal)
        control.check()
        data = self._reader.training(frame, codes, len(self.classes_), weights)
        grown = _core.grow_c45(
            data,
            min_branch,
            confidence,
            NormalDist().inv_cdf(1 - confidence),
            resolution,
            control=control,
            **switches,
        )
        self.tree_ = MultiwayTree.from_core(grown, self._reader.columns, self.classes_.tolist())
        self.describe_tree()
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the class frequencies in the leaf of each row, smoothed with ``laplace``.

        Where a value is missing, this is the average over the branches, by their training examples. A branch without
        training examples, or a nominal value without a branch, has the frequencies of the node before it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, with the classes in the order of ``classes_``.
        """
        return self._proba(X, bool(self.laplace))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most frequent label in the leaf of each row; of several, the first in ``classes_``.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label of each row.
        """
        return self._most_frequent(self._proba(X, False))

    def answers(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return ``predict`` and ``predict_proba`` of the same rows; with ``laplace`` these are two different sums.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            What ``predict`` says of each row.
        proba : ndarray of shape (n_rows, n_classes)
            What ``predict_proba`` says of each row.
        """
        proba = self._proba(X, False)
        labels = self._most_frequent(proba)
        return labels, self.predict_proba(X) if self.laplace else proba

    def _most_frequent(self, proba: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        labels: npt.NDArray[Any] = self.classes_[
            np.argmax(proba > proba.max(axis=1, keepdims=True) - TIE, axis=1)
        ]
        return labels

    def to_text(self) -> str:
        """Return the tree as text.

        Returns
        -------
        str
            For each leaf its class and (examples) or (examples/errors); fractions have two digits.
        """
        check_is_fitted(self)
        return self.tree_.to_text(self.tree_.errors_text)

    def as_text(self) -> str:
        return self.to_text()

    def added(self) -> str | None:
        return added_words([[1.0] * len(self.classes_)]) if self.laplace else None

    def page_options(self) -> dict[str, Any]:
        return {"laplace": bool(self.laplace), "spread": True}

    def describe_tree(self) -> None:
        """Set the fitted attributes that follow from ``tree_``: after growing it, and after reading it from a file."""
        self.n_leaves_, self.size_ = self.tree_.n_leaves, self.tree_.n_nodes

    def _proba(self, X: Any, laplace: bool) -> npt.NDArray[np.float64]:
        frame = self._frame(X)
        data = self._reader.read(frame)
        return _core.predict_c45(self.tree_.to_core(), data, laplace, Limits().control())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags
