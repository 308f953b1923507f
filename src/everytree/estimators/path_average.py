"""A tree grown by a Bayesian score, with probabilities averaged along the path (Cano, Masegosa & Moral).

fit       columns → categories (bins, values) → grow in the core → one probability vector per node
predict   columns → the same categories → the node where each row ends → its vector
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

import everytree._core as _core
from everytree.common.arguments import number, refused
from everytree.common.limits import Limits
from everytree.common.reading import reading
from everytree.data.categories import DEFAULT_BINS, Categories, Categorizer
from everytree.data.columns import set_classes
from everytree.data.recipes.wanted import as_read
from everytree.errors import QueryError
from everytree.estimators.column_base import ColumnTreeClassifier
from everytree.estimators.column_kinds import Expected, kind_of
from everytree.estimators.cross_calibration import CrossCalibrated
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.protocol import Picture
from everytree.estimators.registry import method
from everytree.estimators.row_paths import ReachedLeaf, leaf_of_path
from everytree.export.form import Form
from everytree.export.methods import Exports
from everytree.files.column_trees import FORMAT, categories_from_json, categories_to_json
from everytree.files.registry import saved_as
from everytree.trees.added import added_words
from everytree.trees.path_tree import PathTree, laplace, path_means, prior_parameters
from everytree.trees.portable import form_of_path

__all__ = ["PathAverageTreeClassifier"]

LARGEST_S, LEAST_S = 1e9, 1e-9  # Beyond these, sums of logarithms lose the counts.


@method("path", "a multiway tree, averaged along the path (Cano)", place=6)
@saved_as(FORMAT)
class PathAverageTreeClassifier(Exports, CrossCalibrated, ColumnTreeClassifier):
    """A multiway tree in the time of a greedy learner, with class probabilities averaged over the path to the leaf.

    A node is split by the attribute under which the classes are most probable, as long as that is more probable than no
    split; there is no pruning. Every value of the attribute (every bin of a numeric one) has a branch, and an attribute
    is used once on a path. A prediction is the mean over the nodes of the path, each weighted by the Bayes factors of
    the splits above it. A row whose value was not there in training ends at the node that asks for it.

    Parameters
    ----------
    s : float or "classes"
        The size S of the prior, as many examples spread over the classes: any positive number, or "classes" for one per
        class. It is the S of Cano et al.: ``s=1`` is what ``dirichlet="1/C"`` is in other classifiers.
    averaging : bool
        Whether to average along the path; False uses the leaf alone.
    nonuniform : bool or "parent"
        Whether to spread S by the classes that a node has: those without an example there share the part of one. It
        changes something for three classes and more. The scores of a node take the vector of its own counts, its
        probabilities that of its parent's. "parent" scores a node as a leaf with the parent's vector too, as earlier
        versions did: trees are then more than twice as large.
    leaf : {"dirichlet", "laplace"}
        What a leaf answers: (n_c + a_c) / (n + S), or, with ``averaging=False``, (n_c + 1) / (n + C) whatever S is,
        with an empty leaf answered by the nearest node above it that is not.
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
    bins : int, str or dict
        How numeric columns are cut: k bins of equal frequency, with k − 1 cuts between them; "all" for one bin per
        value; "mdl" to cut where the classes change (Fayyad & Irani); or a dict from column to one of these or to a
        list of cuts, with 5 bins, the default of the paper, for the other columns.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    nominal : sequence of str or int, optional
        Numeric columns, by name or position, whose numbers are codes without an order.
    max_categories : int
        Refuse a nominal column with more different values than this.
    time_limit : float or None
        The most seconds for all of ``fit``; None for no limit. ``LimitReached`` is raised beyond it.
    memory_limit : int or None
        The most bytes for what ``fit`` stores; None for the library's own limit.

    Attributes
    ----------
    tree_ : PathTree
        The tree (``print(model.tree_)``); counts, Bayes factors and probabilities of its nodes are arrays.
    n_nodes_ : int
        The number of nodes, branches without examples included.
    n_leaves_ : int
        The number of leaves, branches without examples included.
    depth_ : int
        The number of tests on the longest path.
    categories_ : list of Categories
        For each column, what its codes mean.
    s_ : float
        The size S as a number.
    exponent_ : float
        With ``calibrate="cv"`` only, the exponent: above 1 it makes probabilities bolder, below 1 more modest.
    cv_log_loss_ : float
        The cross-validated log-loss of the raw probabilities, with ``cv_log_loss_error_``; None if a limit ended it.
    calibrated_cv_log_loss_ : float
        The same log-loss with the exponent, which was chosen to make it least.
    cv_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit``, the raw probabilities of each row by the model without its fold; not in files.
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
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = PathAverageTreeClassifier().fit(X, y)
    >>> model.n_leaves_, model.predict_proba(X[:1]).round(3).tolist()
    (17, [[0.973, 0.013, 0.013]])
    """

    TREE = PathTree
    CLAIMS = ("n_nodes_", "n_leaves_", "depth_", "s_")

    tree_: PathTree
    n_nodes_: int
    n_leaves_: int
    depth_: int
    s_: float
    categories_: list[Categories]

    def __init__(
        self,
        s: float | str = 1,
        averaging: bool = True,
        nonuniform: bool | str = False,
        *,
        leaf: str = "dirichlet",
        calibrate: str | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        bins: int | str | Mapping[Any, Any] = DEFAULT_BINS,
        missing: str = "category",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        time_limit: float | None = None,
        memory_limit: int | None = None,
    ) -> None:
        self.s = s
        self.averaging = averaging
        self.nonuniform = nonuniform
        self.leaf = leaf
        self.calibrate = calibrate
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.bins = bins
        self.missing = missing
        self.nominal = nominal
        self.max_categories = max_categories
        self.time_limit = time_limit
        self.memory_limit = memory_limit

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        with self._rows_at_hand():
            self._check_calibrate()
            self._fit_rows(X, y, sample_weight)
            self._choose_by_folds(X, y, sample_weight)
        return self

    def _fit_rows(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None) -> None:
        control = Limits(self.time_limit, self.memory_limit).control()
        spread = self._spread()
        with reading(self.time_limit, self.memory_limit):
            frame, labels, weights = self._read(X, y, sample_weight, reset=True)
        self._check_room(frame, control)
        self.classes_, classes = self._classes(labels)
        self.checked_costs()
        self.s_ = self._size(len(self.classes_))
        self._categorizer = self._make_categorizer()
        with reading(self.time_limit, self.memory_limit):
            self._categorizer.fit(frame, classes, len(self.classes_), weights)
            self.categories_ = self._categorizer.categories_
            control.check()
            codes = self._categorizer.transform(frame)
        columns = _core.Columns(frame.n_rows)
        for j, categories in enumerate(self.categories_):
            columns.add_nominal(codes[:, j], categories.n_values)
        set_classes(columns, classes, len(self.classes_), weights)
        grown, log_leaf, log_b = _core.grow_path_average(columns, self.s_, spread, control)
        self._set_tree(grown, log_leaf, log_b)

    def _set_tree(
        self, grown: Any, log_leaf: npt.NDArray[np.float64], log_b: npt.NDArray[np.float64]
    ) -> None:
        n_classes = len(self.classes_)
        counts = grown.counts.reshape(-1, n_classes)
        if not (counts % 1).any():  # no weight has a fraction, or all fractions add up
            counts = counts.astype(np.int64)
        bare = PathTree(
            grown.attribute, grown.first_child, grown.n_children, counts, log_leaf, log_b,
            np.zeros((0, n_classes)), tuple(self.categories_), tuple(self.classes_.tolist()),
        )  # fmt: skip
        levels = list(bare.levels())
        if self.leaf == "laplace":
            mean = laplace(counts, bare.parents())
        else:
            a = prior_parameters(counts, bare.parents(), self.s_, bool(self.nonuniform))
            theta = (counts + a) / (counts.sum(axis=1) + self.s_)[:, None]
            mean = path_means(theta, log_b, levels) if self.averaging else theta
        mean /= mean.sum(axis=1, keepdims=True)
        self.tree_ = replace(bare, probabilities=mean)
        self.describe_tree()

    def describe_tree(self) -> None:
        tree = self.tree_
        self.n_nodes_, self.n_leaves_, self.depth_ = tree.n_nodes, tree.n_leaves, tree.depth
        self.s_ = self._size(len(self.classes_))

    def _spread(self) -> Any:
        """Return the core's word for ``nonuniform``, after checking what is scored and what a leaf answers."""
        if not isinstance(self.averaging, bool | np.bool_):
            raise refused(QueryError, "averaging", self.averaging, "True or False")
        if not isinstance(self.nonuniform, bool | np.bool_) and not (
            isinstance(self.nonuniform, str) and self.nonuniform == "parent"
        ):
            raise refused(QueryError, "nonuniform", self.nonuniform, "True, False or 'parent'")
        if not isinstance(self.leaf, str) or self.leaf not in ("dirichlet", "laplace"):
            raise refused(QueryError, "leaf", self.leaf, "'dirichlet' or 'laplace'")
        if self.leaf == "laplace" and self.averaging:
            raise refused(
                QueryError, "leaf", self.leaf, "'dirichlet' where averaging is True: an average has no leaf"
            )
        if isinstance(self.nonuniform, str):
            return _core.Spread.parent
        return _core.Spread.own if self.nonuniform else _core.Spread.uniform

    def _size(self, n_classes: int) -> float:
        if isinstance(self.s, str):
            if self.s != "classes":
                raise refused(QueryError, "s", self.s, "a positive number such as 1 or 2, or 'classes'")
            return float(n_classes)
        return number("s", self.s, LEAST_S, LARGEST_S, example=1)

    def apply(self, X: Any) -> npt.NDArray[np.intp]:
        """Return the node where each row ends.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The number of the node of ``tree_``.
        """
        codes = self._encode_codes(X)
        return self.tree_.apply(codes)

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, with the classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        return self._calibrated(self._raw_proba(X))

    def _raw_proba(self, X: Any) -> npt.NDArray[np.float64]:
        proba: npt.NDArray[np.float64] = self.tree_.probabilities[self.apply(X)]
        return proba

    def shown_tree(self) -> PathTree:
        """Return the tree as it is shown and exported: the probabilities of its nodes with the exponent.

        Returns
        -------
        PathTree
            The tree; ``tree_`` itself without ``calibrate``.
        """
        check_is_fitted(self)
        return replace(self.tree_, probabilities=self._calibrated(self.tree_.probabilities))

    def headline(self, on: str) -> str:
        return super().headline(on) + self._exponent_words()

    def portable(self) -> Form:
        return as_read(form_of_path(self.shown_tree(), self.decide), getattr(self, "recipes_", ()))

    def added(self) -> str | None:
        if self.averaging:
            return "averaged along the path"
        if self.nonuniform and self.leaf == "dirichlet":
            return f"{self.s_:g} examples in all, spread by the classes of the node above"
        n_classes = len(self.classes_)
        return added_words([[1.0 if self.leaf == "laplace" else self.s_ / n_classes] * n_classes])

    def display(self) -> Picture:
        return "path"

    def _kinds(self) -> list[Expected]:
        return ["numeric" if each.values is None else kind_of(each.values) for each in self.categories_]

    def known_values(self) -> dict[str, list[Any]]:
        return {each.name: list(each.values) for each in self.categories_ if each.values is not None}

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        return [leaf_of_path(self.tree_, int(self.apply(x)[0]))]

    def _encode_codes(self, X: Any) -> npt.NDArray[np.int32]:
        """Return new rows as codes, after checking their columns against those of training."""
        frame = self._frame(X)
        return self._categorizer.transform(frame)

    def columns_to_json(self) -> list[dict[str, Any]]:
        return categories_to_json(self.categories_)

    def columns_from_json(self, data: Any) -> Sequence[Any]:
        self._categorizer = self._make_categorizer()
        self.categories_ = self._categorizer.restore(categories_from_json(data)).categories_
        return self.categories_

    def _make_categorizer(self) -> Categorizer:
        return Categorizer(self.bins, self.missing, self.nominal, self.max_categories)
