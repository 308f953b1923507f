"""The base of every classifier: everything between a user's data and a table of 0/1 tests, and back.

``ClassifierBase`` reads and checks columns, labels and weights, and knows scikit-learn's conventions; a learner that
takes columns as they are stands on it. ``TreeClassifierBase`` adds the tests:

    fit       X, y, sample_weight  →  Binarizer  →  0/1 tests  →  Table  →  ``_fit_table``
    predict   X  →  the same tests  →  ``_predict_proba_tests``  →  probabilities  →  labels

A new classifier on tests is an ``__init__`` with its parameters and the two methods named on the right.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable
from contextlib import nullcontext
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from everytree.data.binarizer import (
    Binarizer,
    attribute_names,
    encodings_of,
    plain_binarizer,
    reach_of_frame,
    rules_of,
    transform_frame,
)
from everytree.data.encoding import Encoding
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.data.labels import read_labels
from everytree.data.local_columns import Reach
from everytree.data.plain_texts import warn_of_texts
from everytree.data.table import Table
from everytree.errors import DataError
from everytree.estimators.card import estimator_html
from everytree.estimators.class_weights import Weighed, class_weighted_table
from everytree.estimators.column_kinds import Expected, encoded_kinds
from everytree.estimators.decisions import DecidesByCost
from everytree.estimators.importances import shares_of_tests
from everytree.estimators.one_fit import OneFit, one_at_a_time
from everytree.estimators.parameter_names import ParameterNames
from everytree.estimators.protocol import FittedModel, Picture
from everytree.estimators.row_paths import ReachedLeaf, leaves_of_tests
from everytree.files.model_file import save_model
from everytree.space.frame_space import frame_table, tests_table
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["ClassifierBase", "TreeClassifierBase"]

# An estimator offers these parameters of the Binarizer by having a parameter of the same name.
ENCODING = ("bins", "missing", "unknown", "nominal", "max_categories", "cuts")


class ClassifierBase(OneFit, Weighed, ParameterNames, DecidesByCost, FittedModel, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]  # fmt: skip
    """The base of every classifier: any kind of column and any kind of label.

    One class in the training data is fine: every prediction is that class.

    A weight counts examples: 3 is the same as giving the row three times, 0 as leaving it out; fractions go on between.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted, of the type of ``y``.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where ``X`` has names.
    target_name_ : str or None
        The name of ``y``, if it had one.
    weight_rounding_ : float
        The largest difference between a weight as given and as counted, as a share of the average weight; 0 if exact.
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    target_name_: str | None

    @abstractmethod
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        """Learn from rows and their labels.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            The training rows: a DataFrame, an array or a list of rows, with columns of numbers, text or truth values.
        y : array-like of shape (n_rows,)
            The label of each row.
        sample_weight : array-like of shape (n_rows,), optional
            How much each row counts: 3 as much as three such rows, 0.5 half as much, 0 as if it were not there.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        DataError
            If rows, labels or weights cannot be read.
        QueryError
            If a parameter has a value that it cannot have.
        """

    @abstractmethod
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

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the label of least expected cost for each row; without ``cost_matrix``, the most probable one.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label of each row.
        """
        check_is_fitted(self)
        labels: npt.NDArray[Any] = self.classes_[self.decide(self.predict_proba(X))]
        return labels

    def answers(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        """Return ``predict`` and ``predict_proba`` of the same rows, which are read once.

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
        proba = self.predict_proba(X)
        labels: npt.NDArray[Any] = self.classes_[self.decide(proba)]
        return labels, proba

    def predict_log_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the natural logarithm of ``predict_proba``; −inf where that is zero.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The logarithms, with the classes in the order of ``classes_``.
        """
        check_is_fitted(self)
        with np.errstate(divide="ignore"):
            log_proba: npt.NDArray[np.float64] = np.log(self.predict_proba(X))
        return log_proba

    def _read(
        self, X: Any, y: Any, sample_weight: npt.ArrayLike | None, *, reset: bool, batch: bool = False
    ) -> tuple[Frame, npt.NDArray[Any], ExampleWeights | None]:
        """Return columns, labels and weights, checked, without the rows of weight zero.

        ``batch`` tells that more rows may come, with other classes.
        """
        frame = read_frame(X, None if reset else self)
        check_columns(self, frame, reset=reset)
        warn_of_texts(X, frame)
        if y is None:
            raise DataError(
                f"{type(self).__name__} requires y to be passed, but the target y is None; give one label "
                "per row"
            )
        labels = read_labels(y, frame.n_rows)
        frame, labels, weights = self._with_weights(frame, labels, sample_weight, batch)
        name = getattr(y, "name", None)
        self.target_name_ = name if isinstance(name, str) else None
        return frame, labels, weights

    def _html_repr(self) -> str:
        """Return what a notebook shows: scikit-learn's box, and below it the tree or the posterior."""
        from sklearn.utils import estimator_html_repr

        return f"{estimator_html_repr(self)}{estimator_html(self)}"

    def _repr_html_inner(self) -> str:
        return self._html_repr()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        tags.input_tags.allow_nan = getattr(self, "missing", "error") != "error"
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


class TreeClassifierBase(ClassifierBase):
    """A classifier on binary tests, for any kind of input and any kind of label.

    A subclass has an ``__init__`` that stores its parameters unchanged; those named like a parameter of
    ``Binarizer`` (``bins``, ``missing``, …) decide how columns become tests. It implements

    - ``_fit_table(table, X01, y_codes, sample_weight)``: learn, and set attributes that end in ``_``. ``X01``
    and ``y_codes`` are the rows behind the table (those of weight zero are gone); ``sample_weight`` is an
    ``ExampleWeights`` or None. ``binarizer_``, ``classes_`` and ``n_features_in_`` are set already.
    - ``_predict_proba_tests(X01)``: probabilities of shape (n_rows, n_classes), in the order of ``classes_``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels that occur, sorted, of the type of ``y``.
    binarizer_ : Binarizer
        What turns columns into tests; ``binarizer_.tests_`` says what each test means.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        The names of the columns, only where ``X`` has names.
    fingerprint_ : str
        The SHA-256 of the table of training examples, see ``Table.fingerprint``; computed when it is asked for.
    target_name_ : str or None
        The name of ``y``, if it had one.
    """

    binarizer_: Binarizer
    # The training examples are held until their fingerprint is known.
    _counted: Table | None = None
    _beside = 0  # bytes that are kept beside the table, for batches to come

    @cached_property
    def fingerprint_(self) -> str:
        """The SHA-256 of the table of training examples, computed when asked for so that no fit waits for it."""
        held, counted = self.__dict__, self._counted
        if counted is not None:
            # The fingerprint is set before the examples are dropped, because other threads may ask for it.
            held["fingerprint_"] = counted.fingerprint()
            held.pop("_counted", None)
        if "fingerprint_" not in held:
            raise AttributeError(f"{type(self).__name__} has no fingerprint_ before it is fitted")
        known: str = held["fingerprint_"]
        return known

    def _learned_from(self, table: Table) -> None:
        """Keep the training examples until their fingerprint is asked for; a fingerprint of earlier ones is gone."""
        self.__dict__.pop("fingerprint_", None)
        self._counted, self.per_example_ = table, table.per_example

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy or a pickle holds: the fingerprint, and not the examples it is of."""
        if self._counted is not None:
            _ = self.fingerprint_  # Asking for it drops the examples.
        state: dict[str, Any] = super().__getstate__()
        return state

    @abstractmethod
    def _fit_table(
        self,
        table: Table,
        X01: npt.NDArray[np.uint8],
        y_codes: npt.NDArray[np.intp],
        sample_weight: ExampleWeights | None,
    ) -> None:
        """Learn from the table (or from the rows behind it) and set fitted attributes."""

    @abstractmethod
    def _predict_proba_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.float64]:
        """Return class probabilities for rows of 0/1 tests, of shape (n_rows, n_classes)."""

    def kept_in_file(self) -> tuple[Table, dict[str, Any]] | None:
        """Give the table that a model file holds, where a tree does not say all.

        Returns
        -------
        tuple or None
            The table and further claims by name; None where the tree is enough.
        """
        posterior = getattr(self, "posterior_", None)
        return None if posterior is None else (posterior.space.table, {})

    def restore_from_file(self, table: Table, claims: dict[str, Any]) -> None:
        """Set the fitted attributes again, after reading a model file; by default, learn again from its table.

        Parameters
        ----------
        table : Table
            What ``kept_in_file`` gave.
        claims : dict
            The claims of the file, by name.
        """
        self._fit_table(table, table.rows, np.zeros(0, dtype=np.intp), None)

    def finish_loading(self) -> None:
        """Set what a model file does not hold, after its parameters, tree and claims were read."""

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        with self._one_clock():
            with self._reading():
                frame, labels, weights = self._read(X, y, sample_weight, reset=True)
                self.classes_, codes = np.unique(labels, return_inverse=True)
            self.checked_costs()
            self.binarizer_ = self.new_binarizer()
            if self.binarizer_.cuts == "local":
                with self._reading():
                    table = frame_table(self.binarizer_, frame, codes, self.classes_.tolist(), weights)
                self._learned_from(table)
                # Rows of 0 and 1 are made when they are first read: nobody reads them here, and they may be many.
                self._fit_table(
                    table, np.zeros((0, table.n_tests), np.uint8), np.zeros(0, dtype=np.intp), None
                )
                return self
            check_columns(self.binarizer_, frame, reset=True)
            self._fit_columns(frame, codes, weights)
        return self

    def _fit_columns(self, frame: Frame, codes: npt.NDArray[np.intp], weights: ExampleWeights | None) -> None:
        """Learn from columns whose tests are the same at every node; the Binarizer knows their names."""
        with self._reading():
            encodings = encodings_of(rules_of(self.binarizer_), frame, weights, codes)
        self._leave_out(frame, encodings, codes, weights)
        # Where tests were left out, it is because of the limits: making those that stay looks at no clock.
        few = getattr(self, "n_left_out_", 0) > 0
        labels, limit = self.classes_.tolist(), getattr(self, "memory_limit", None)
        with nullcontext() if few else self._reading():
            table, X01 = tests_table(self.binarizer_, frame, encodings, codes, labels, weights, limit)
        self._learned_from(table)
        self._fit_table(table, X01, codes, weights)

    @one_at_a_time
    def fit_table(self, table: Table) -> Self:
        """Learn from a table that was counted elsewhere: the same model as from its rows.

        The table says how its tests are made of columns, and the parameters of this classifier that would have decided
        it (``bins``, ``missing``, …) play no part. The columns of a table that does not say are its tests.

        Parameters
        ----------
        table : Table
            The examples, counted, for example by ``Table.from_frame``.

        Returns
        -------
        Self
            This classifier, fitted.

        Raises
        ------
        DataError
            If the table is empty or no Table.
        QueryError
            If a parameter has a value that it cannot have.
        """
        if not isinstance(table, Table):
            raise DataError(
                f"table is a {type(table).__name__}; expected a Table, for example of Table.from_frame(frame, target)"
            )
        if table.total == 0:
            raise DataError("the table holds 0 examples; at least one is needed")
        table = class_weighted_table(self._class_weight(), table)
        self.weight_rounding_ = 0.0
        self.binarizer_ = table.binarizer or plain_binarizer(table.rows, table.test_names)
        labels = np.asarray(range(table.n_classes) if table.classes is None else table.classes)
        self.classes_, seen, target = labels, table.class_totals > 0, table.target
        order = np.argsort(labels, kind="stable")
        # As in fit, the classes are those that occur, in order.
        if not seen.all() or (order != np.arange(labels.size)).any():
            keep = order[seen[order]]
            self.classes_ = labels[keep]
            table = Table.trusted(
                table.rows,
                table.class_counts[:, keep],
                table.test_names,
                self.classes_.tolist(),
                columns=table.columns,
                per_example=table.per_example,
            )
        self.checked_costs()
        names = self.binarizer_.get_feature_names_out().tolist()
        table = table.named(names, self.classes_.tolist()).encoded(self.binarizer_, target)
        self.n_features_in_ = self.binarizer_.n_features_in_
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        if hasattr(self.binarizer_, "feature_names_in_"):
            self.feature_names_in_: Any = self.binarizer_.feature_names_in_
        self.target_name_ = target
        with self._one_clock():
            self._learned_from(table)
            self._fit_table(table, table.rows, np.zeros(0, dtype=np.intp), None)
        return self

    def score_table(self, table: Table) -> float:
        """Return the accuracy on the examples of a table, whose tests must be those of the model.

        Parameters
        ----------
        table : Table
            The examples, counted, for example by ``Table.from_frame``.

        Returns
        -------
        float
            The share of the examples that the model gets right.

        Raises
        ------
        DataError
            If the tests of the table are not those of the model.
        """
        check_is_fitted(self)
        names = tuple(self.binarizer_.get_feature_names_out().tolist())
        if table.n_tests != len(names) or (table.test_names is not None and table.test_names != names):
            raise DataError(
                "the tests of the table are not those of the model; count it with like=table, the one it learned from"
            )
        labels = list(range(table.n_classes)) if table.classes is None else list(table.classes)
        place = {label: c for c, label in enumerate(labels)}
        columns = np.array([place.get(label, -1) for label in self.classes_.tolist()])
        rows: Any = table.rows if self.binarizer_.columns_ is None else Reach.of_rows(table.rows)
        says = columns[self._predict_codes_tests(rows)]
        right = table.class_counts[np.arange(table.n_rows), says][says >= 0].sum()
        return float(right / max(1, table.total))

    def save(self, path: str | os.PathLike[str], target: str | None = None) -> None:
        """Write the fitted classifier to a JSON file that ``everytree.load_model`` and ``everytree verify`` read.

        The file replaces an older one in one step; it is never half written.

        Parameters
        ----------
        path : str or os.PathLike
            Where the file goes.
        target : str, optional
            The name of the label's column in the data; by default the name that ``y`` had in training.
        """
        save_model(self, path, target)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return what the model says of each row: the most probable label, of several the first in ``classes_``.

        With ``cost_matrix`` it is the label of least expected cost. A single tree says what its leaves say.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows,)
            The label of each row.
        """
        check_is_fitted(self)
        labels: npt.NDArray[Any] = self.classes_[self._predict_codes_tests(self.to_tests(X))]
        return labels

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        check_is_fitted(self)
        return self._predict_proba_tests(self.to_tests(X))

    def answers(self, X: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.float64]]:
        check_is_fitted(self)
        codes, proba = self._answers_tests(self.to_tests(X))
        labels: npt.NDArray[Any] = self.classes_[codes]
        return labels, proba

    def _answers_tests(
        self, X01: npt.NDArray[np.uint8]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.float64]]:
        """Return class indices, which need not be the most probable ones, and probabilities for rows of 0/1 tests."""
        proba = self._predict_proba_tests(X01)
        return self.decide(proba), proba

    def _predict_codes_tests(self, X01: npt.NDArray[np.uint8]) -> npt.NDArray[np.intp]:
        """Return class indices for rows of 0/1 tests."""
        return self._answers_tests(X01)[0]

    # --- what it reports of itself

    def _kinds(self) -> list[Expected]:
        return encoded_kinds(self.binarizer_.encodings_)

    def known_values(self) -> dict[str, list[Any]]:
        named = zip(self.column_names(), self.binarizer_.encodings_, strict=True)
        return {name: list(each.codes) for name, each in named if each.codes is not None}

    def _reached(self, x: Any) -> Iterable[ReachedLeaf]:
        tree = self._known("tree_")
        return super()._reached(x) if tree is None else self._leaves_in([tree], x)

    def _importances(self) -> npt.NDArray[np.float64] | None:
        tree = self._known("tree_")
        return None if tree is None else shares_of_tests(tree, self._columns_of_tests(), self.n_features_in_)

    def _columns_of_tests(self) -> npt.NDArray[np.intp]:
        """Return for each test the position of its column."""
        return self.binarizer_.attributes_

    def _leaves_in(self, trees: Any, x: Any) -> list[ReachedLeaf]:
        """Return the leaves that a row reaches in trees of equal weight."""
        names = self.binarizer_.get_feature_names_out().tolist()
        return leaves_of_tests(trees, self.to_tests(x)[0], names)

    def display(self) -> Picture:
        return "tree" if isinstance(self._known("tree_"), Tree) else "text"

    def space_over(self, table: Table) -> TreeSpace | None:
        params = self.get_params(deep=False)
        if not {"max_depth", "min_leaf"} <= set(params):
            return None
        attributes = attribute_names(self.binarizer_)
        return TreeSpace.from_table(
            table, params["max_depth"], params["min_leaf"], params.get("n_jobs", 1), attributes=attributes
        )

    def _leave_out(
        self,
        frame: Frame,
        encodings: list[Encoding],
        codes: npt.NDArray[np.intp],
        weights: ExampleWeights | None,
    ) -> None:
        """Take tests out of the encodings where limits do not allow all; by default none."""

    def new_binarizer(self) -> Binarizer:
        """Return an unfitted Binarizer with those of its parameters that this estimator has too.

        Returns
        -------
        Binarizer
            What ``fit`` turns columns into tests with.
        """
        return Binarizer(**{name: getattr(self, name) for name in ENCODING if hasattr(self, name)})

    def to_tests(self, X: Any) -> npt.NDArray[Any]:
        """Turn new rows into the 0/1 tests of the model, after checking their columns against those of training.

        Where nodes choose their own cuts, the answer is how far each row reaches (see ``TreeSpace.rows_of``).

        Parameters
        ----------
        X : array, frame or Dataset
            Rows with the columns of training.

        Returns
        -------
        numpy.ndarray
            0 or 1, one row for each row of ``X``, one column for each of ``binarizer_.tests_``.
        """
        frame = read_frame(X, self)
        check_columns(self, frame, reset=False)
        if self.binarizer_.columns_ is not None:
            return reach_of_frame(self.binarizer_, frame)
        return transform_frame(self.binarizer_, frame)
