"""CARTTreeClassifier: CART (Breiman, Friedman, Olshen & Stone), grown by scikit-learn and pruned by cross-validation.

    grow the full tree            binary tests: cuts of numbers, "value = k or not"
    T(α) for every price α        cost-complexity pruning, ``cost_complexity.py``
    α by cross-validation         the least error of ten folds, or the simplest tree within one standard error of it

docs/cart.md says what each parameter does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, Self, cast

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.common.arguments import generator, refused, truth, whole
from everytree.data.columns import ColumnReader
from everytree.data.recipes.wanted import as_read
from everytree.errors import DataError, QueryError
from everytree.estimators.cart_growth import Growth, asked_of
from everytree.estimators.column_base import ColumnTreeClassifier
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.registry import method
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.files.column_trees import FORMAT
from everytree.files.registry import saved_as
from everytree.trees.added import added_words
from everytree.trees.cost_complexity import (
    choose,
    collapse_points,
    errors_by_price,
    n_copies,
    prices,
    risks,
    stratified_counts,
)
from everytree.trees.flat import read_only
from everytree.trees.multiway import MultiwayTree
from everytree.trees.portable import form_of_multiway

__all__ = ["CARTTreeClassifier"]

CHOICES = {"rule": ("0-SE", "1-SE"), "criterion": ("gini", "entropy"), "risk": ("impurity", "error")}


@method("cart", "a tree grown by CART, pruned by cross-validation", place=9)
@saved_as(FORMAT)
class CARTTreeClassifier(Exports, ColumnTreeClassifier):
    """A decision tree by CART, grown by scikit-learn and pruned by cross-validation.

    No depth limit and ``min_leaf=1`` are the defaults of scikit-learn, the ten folds those of the book (Breiman,
    Friedman, Olshen & Stone). Missing values need no parameter: a split chooses the side of the rows that lack its
    value.

    Parameters
    ----------
    rule : {"0-SE", "1-SE"}
        The price of a leaf that is chosen: that of least cross-validated error, or the largest within one standard
        error of it.
    criterion : {"gini", "entropy"}
        The impurity by which tests are chosen.
    risk : {"impurity", "error"}
        What is weighed against the number of leaves: the impurity (as scikit-learn does) or the errors (as in the
        book).
    folds : int
        The number of folds of the cross-validation; with fewer examples, one for each.
    min_leaf : int
        The fewest training examples in a leaf, a row of weight w counted w times. scikit-learn's name for it,
        ``min_samples_leaf``, is understood too.
    max_depth : int or None
        The most tests on a path from the root to a leaf; None for no limit.
    laplace : bool
        Whether a leaf with n_c of n examples in class c gives the probability (n_c + 1) / (n + C), for C classes,
        instead of n_c / n.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples.
    nominal : sequence of str or int, optional
        Numeric columns, by name or position, whose numbers are codes without an order.
    max_categories : int
        Refuse a nominal column with more different values than this.
    random_state : int, Generator or None
        The seed of the folds, and of the choice among tests that are equally good; None for new random numbers each
        time.

    Attributes
    ----------
    tree_ : MultiwayTree
        The tree; ``tree_.to_text()`` shows it.
    n_leaves_ : int
        The number of leaves.
    size_ : int
        The number of nodes.
    alphas_ : ndarray of shape (n_prices,)
        The prices of a leaf that were tried, ascending; the last is +inf, the root alone.
    cv_errors_ : ndarray of shape (n_prices,)
        The share of errors in the cross-validation at each price; NaN for a single example.
    cv_se_ : ndarray of shape (n_prices,)
        The standard error of ``cv_errors_``.
    alpha_ : float
        The price that was chosen.
    n_folds_ : int
        The number of folds that were used.
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
    >>> rows = [[x, "ab"[x % 2]] for x in range(40)]
    >>> tree = CARTTreeClassifier().fit(rows, ["low" if x < 20 or x % 2 else "high" for x in range(40)])
    >>> print(tree.to_text())
    x1 = a
    |   x0 <= 19: low (10)
    |   x0 > 19: high (10)
    x1 != a: low (20)
    """

    TREE = MultiwayTree
    CLAIMS = ("n_leaves_", "size_", "n_folds_", "alpha_", "alphas_", "cv_errors_", "cv_se_")

    tree_: MultiwayTree
    n_leaves_: int
    size_: int
    n_folds_: int
    alpha_: float
    alphas_: npt.NDArray[np.float64]
    cv_errors_: npt.NDArray[np.float64]
    cv_se_: npt.NDArray[np.float64]

    def __init__(
        self,
        rule: str = "0-SE",
        criterion: str = "gini",
        risk: str = "impurity",
        *,
        folds: int = 10,
        min_leaf: int = 1,
        max_depth: int | None = None,
        laplace: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        random_state: int | None = 0,
    ) -> None:
        self.rule = rule
        self.criterion = criterion
        self.risk = risk
        self.folds = folds
        self.min_leaf = min_leaf
        self.max_depth = max_depth
        self.laplace = laplace
        self.class_weight = class_weight
        self.nominal = nominal
        self.max_categories = max_categories
        self.random_state = random_state

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        truth("laplace", self.laplace)
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                expected = " or ".join(map(repr, allowed))
                raise refused(QueryError, name, getattr(self, name), f"{expected}")
        folds, min_leaf = whole("folds", self.folds, 2), whole("min_leaf", self.min_leaf, 1)
        depth = None if self.max_depth is None else whole("max_depth", self.max_depth, 0, none="no limit")
        categories = whole("max_categories", self.max_categories, 1)
        rng = generator(self.random_state)

        frame, labels, weights = self._read(X, y, sample_weight, reset=True)
        self.classes_, codes = self._classes(labels)
        self._reader = ColumnReader.fit(frame, self.nominal)
        cells, codes, counted = distinct_rows(
            self._reader.cells(frame), codes, None if weights is None else weights.counts
        )
        parts = 1 if weights is None else weights.per_example
        asked = asked_of(cells, self._reader.columns, categories)
        classes, seed = tuple(self.classes_.tolist()), int(rng.integers(2**31))
        growth = Growth(self._reader.columns, classes, asked, self.criterion, parts * min_leaf, depth, seed)

        ranks = growth.ranked(cells)
        full, gamma = self._grown(growth, cells, ranks, codes, counted)
        self.alphas_ = prices(gamma)
        n, copies = int(counted.sum()), n_copies(counted, parts)
        self.n_folds_ = min(folds, copies) if copies > 1 else 0
        errors = np.zeros(self.alphas_.size, dtype=np.int64)
        if self.n_folds_:
            dealt = stratified_counts(codes, counted, self.n_folds_, rng, parts)
            for inside in dealt.T:
                errors += self._errors(growth, cells, ranks, codes, counted - inside, inside)
        chosen = choose(errors, n, cast(Literal["0-SE", "1-SE"], self.rule), parts)
        self.cv_errors_ = errors / n if self.n_folds_ else np.full(errors.size, np.nan)
        self.cv_se_ = np.sqrt(self.cv_errors_ * (1 - self.cv_errors_) / (n / parts))
        self.alpha_ = float(self.alphas_[chosen])
        tree = full.pruned(gamma <= self.alpha_)
        self.tree_ = tree if parts == 1 else replace(tree, counts=read_only(tree.counts / parts))
        self.describe_tree()
        return self

    def _grown(
        self, growth: Growth, cells: Any, ranks: Any, codes: Any, weights: Any
    ) -> tuple[MultiwayTree, npt.NDArray[np.float64]]:
        """Return a full tree, and for each node the price from which on it is a leaf, relative to all examples."""
        tree = growth.grow(cells, ranks, codes, weights)
        kind = self.criterion if self.risk == "impurity" else "error"
        risk = risks(tree.counts, cast(Literal["gini", "entropy", "error"], kind))
        return tree, collapse_points(tree, risk) / float(weights.sum())

    def _errors(self, growth: Growth, cells: Any, ranks: Any, codes: Any, train: Any, test: Any) -> Any:
        """Return the errors of the tree of one fold on its test examples, at every price."""
        used, asked = train > 0, test > 0
        tree, gamma = self._grown(growth, cells[used], ranks[used], codes[used], train[used])
        ends = np.zeros(tree.counts.shape, dtype=np.int64)
        np.add.at(ends, (tree.apply(cells[asked]), codes[asked]), test[asked])
        return errors_by_price(tree, gamma, ends, self.alphas_)

    def as_text(self) -> str:
        return self.to_text()

    def added(self) -> str | None:
        return added_words([[1.0] * len(self.classes_)]) if self.laplace else None

    def page_options(self) -> dict[str, Any]:
        return {"laplace": bool(self.laplace), "spread": False}

    def describe_tree(self) -> None:
        tree = self.tree_
        if (tree.n_children > 2).any() or not (tree.counts.sum(axis=1) > 0).all():
            raise DataError(
                "the tree has a node without examples or with more than two branches; CART makes none"
            )
        self.n_leaves_, self.size_ = tree.n_leaves, tree.n_nodes

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the class frequencies in the leaf of each row, smoothed with ``laplace``.

        Where a value is missing, a row takes the side that training chose for missing values; where none was missing,
        it stops at the node. A nominal value that was not seen in training is none of those that are asked for.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, with the classes in the order of ``classes_``.
        """
        leaves = self.apply(X)
        return self._shares(self.tree_.counts[leaves])

    def _shares(self, counts: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        more = counts + (1.0 if self.laplace else 0.0)
        proba: npt.NDArray[np.float64] = more / more.sum(axis=1, keepdims=True)
        return proba

    def portable(self) -> Form:
        check_is_fitted(self)
        form = form_of_multiway(self.tree_, self._shares(self.tree_.counts), self.decide)
        return as_read(form, getattr(self, "recipes_", ()))

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the node where each row ends.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The number of the node of ``tree_``: a leaf, or a node that asks for a value the row lacks.
        """
        frame = self._frame(X)
        return self.tree_.apply(self._reader.cells(frame))

    def to_text(self) -> str:
        """Return the tree as text.

        Returns
        -------
        str
            For each leaf its class and (examples) or (examples/errors).
        """
        check_is_fitted(self)
        return self.tree_.to_text(self.tree_.errors_text)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def distinct_rows(
    cells: npt.NDArray[np.float64], codes: npt.NDArray[np.intp], weights: npt.NDArray[np.int64] | None
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp], npt.NDArray[np.int64]]:
    """Return the different examples in a fixed order, with their numbers: all that is learnt depends on these alone.

    >>> cells = np.array([[2.0], [np.nan], [1.0], [2.0]])
    >>> [each.tolist() for each in distinct_rows(cells, np.array([0, 1, 1, 0]), None)]
    [[[1.0], [2.0], [nan]], [1, 0, 1], [1, 2, 1]]
    """
    # NaN is one value here, and the last.
    keys = [np.unique(column, return_inverse=True)[1] for column in cells.T]
    order = np.lexsort([codes, *keys[::-1]])
    table = np.column_stack([*keys, codes])[order]
    new = np.concatenate([[True], (table[1:] != table[:-1]).any(axis=1)])
    counts = np.ones(codes.size, dtype=np.int64) if weights is None else weights
    sums = np.add.reduceat(counts[order], np.flatnonzero(new))
    return cells[order][new], codes[order][new], sums
