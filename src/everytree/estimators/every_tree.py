"""EveryTreeClassifier: the average over every tree of several spaces, with nothing to choose but the time for it.

fit       columns → codes → a ladder of spaces → an average each → what it says of left-out examples → weights, exponent
predict   columns → the same codes → each average → their mixture → exponent

See ``ladder`` for the spaces, ``bayes.stacking`` for the weights, ``every_summary`` for what it tells people.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.exponent import best_exponent, tempered
from everytree.bayes.stacking import mixture, stacking_weights
from everytree.common.arguments import refused, whole
from everytree.common.limits import Limits, threads
from everytree.data.binarizer import Binarizer, transform_frame
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.data.table import Table
from everytree.errors import QueryError
from everytree.estimators.base import ClassifierBase
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.column_kinds import Expected, encoded_kinds
from everytree.estimators.every_summary import NearestTree, nearest_tree, summary
from everytree.estimators.ladder import LADDER, Ladder, Rung, Size, climbed, fitted_rung, kept_columns
from everytree.estimators.protocol import Fact, Picture
from everytree.estimators.registry import method
from everytree.files.every_file import FORMAT, save_every
from everytree.files.registry import saved_as
from everytree.space.frame_space import frame_table

__all__ = ["EveryTreeClassifier"]

Reals = npt.NDArray[np.float64]

MOST_COLUMNS = 60  # Of more columns, those that tell least about the classes are left out.
MOST_CELLS = 300_000_000  # The bytes of a table of codes: of larger ones, columns are left out.
MOST_CODES = 256  # tests of a column, about; a nominal column with more values is left out
FEW_COLUMNS = 8
MIXED = 3  # The last so many spaces of the ladder are mixed: they are the richest, and each takes time to predict.
BATCH = 32_000_000  # So many reaches of new rows are in memory at a time.


@method("every", "every tree of several spaces, weighed by left-out examples: nothing to choose", place=2)
@saved_as(FORMAT)
class EveryTreeClassifier(ClassifierBase):
    """The average over every tree, in several spaces of trees, with nothing to choose but the time for it.

    Each space is all trees of some depth whose nodes choose their cuts from their own rows; the ladder of spaces goes
    from four bins at depth 2 to more depth and fewer bins, as far as ``time_limit`` allows. Every average has the
    power posterior with a power of ¼, a prior that is fair to columns, and leaves that lean to the base rates. What an
    average says of each training row when that row is left out is computed exactly; it decides the exponent of each
    average, how much each weighs in the mixture, and the exponent of the mixture. The three last spaces of the ladder
    that fitted the time are mixed; they weigh the same unless other weights are better by two standard errors.

    Data that are too large for a space do not raise: deep spaces, and if need be columns, are left out, and ``notes_``
    says which. What fits the time depends on the machine; with ``time_limit=None`` the whole ladder is taken.

    Parameters
    ----------
    time_limit : float or None
        About how many seconds ``fit`` may take; None for the whole ladder, however long it takes. Reading the columns
        and the first space are always finished.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        Entry (c, k) is the cost of predicting k when c is true: ``predict`` answers the class of least expected cost.
        None for the most probable one. It changes no probability, and may be set after ``fit``.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    n_jobs : int or None
        The number of threads; −1 for every core.

    Attributes
    ----------
    models_ : list of BayesOptimalClassifier
        The averages of the mixture, each with its own exponent, for all further questions (``explain``, ``top_trees``).
    weights_ : ndarray of shape (n_models,)
        How much each weighs.
    exponent_ : float
        The exponent of the mixture.
    loo_log_loss_ : float
        The leave-one-out log-loss of ``predict_proba``; weights and exponents were chosen to make it small.
    loo_log_loss_error_ : float
        Its standard error over the examples.
    loo_accuracy_ : float
        The share of left-out examples whose most probable class is the true one.
    loo_proba_ : ndarray of shape (n_rows, n_classes)
        After ``fit``, what ``predict_proba`` says of each training row when it is left out; not in files.
    baseline_log_loss_ : float
        The log-loss of always answering the shares of the classes.
    baseline_accuracy_ : float
        The share of the largest class.
    ladder_ : list of dict
        The spaces that were averaged: bins, depth, leave-one-out log-loss, weight and seconds.
    notes_ : list of str
        What was left out, in words; empty where nothing was.
    columns_used_ : ndarray of int
        The positions of the columns that the trees may use.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The probability that a tree of the mixture uses each column.
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
    >>> model = EveryTreeClassifier().fit(X, y)
    >>> model.predict_proba(X[:1]).round(1).tolist()
    [[1.0, 0.0, 0.0]]
    >>> model.loo_log_loss_ < 0.2 < model.baseline_log_loss_
    True
    """

    AVERAGES = True
    PAPER = "boc"

    models_: list[BayesOptimalClassifier]
    weights_: Reals
    exponent_: float
    loo_log_loss_: float
    loo_log_loss_error_: float
    loo_accuracy_: float
    loo_proba_: Reals
    baseline_log_loss_: float
    baseline_accuracy_: float
    ladder_: list[dict[str, Any]]
    notes_: list[str]
    columns_used_: npt.NDArray[np.intp]

    def __init__(
        self,
        time_limit: float | None = 5.0,
        *,
        cost_matrix: npt.ArrayLike | None = None,
        missing: str = "category",
        n_jobs: int | None = 1,
    ) -> None:
        self.time_limit = time_limit
        self.cost_matrix = cost_matrix
        self.missing = missing
        self.n_jobs = n_jobs

    # --- fit

    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        begun = time.monotonic()
        limits = Limits(self.time_limit)  # A value that is no limit is refused here.
        threads(self.n_jobs)
        deadline = None if limits.time_limit is None else begun + float(limits.time_limit)
        frame, labels, weights = self._read(X, y, sample_weight, reset=True)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.checked_costs()
        self.notes_ = []
        kept, table, ladder = self._climb(frame, codes, weights, deadline)
        self.columns_used_ = np.array(kept, dtype=np.intp)
        self.notes_ += ladder.notes
        entries = self._weigh(ladder.rungs)
        self._know_rows(frame, codes, entries, table, sample_weight)
        return self

    def _climb(
        self,
        frame: Frame,
        codes: npt.NDArray[np.intp],
        weights: npt.NDArray[np.int64] | None,
        deadline: float | None,
    ) -> tuple[list[int], Table, Ladder]:
        """Return the columns in use, their table, and the averages; fewer columns until the first space fits."""
        small = [j for j, column in enumerate(frame.columns) if _n_values(column) <= MOST_CODES]
        if len(small) < len(frame.columns):
            gone = len(frame.columns) - len(small)
            self.notes_.append(f"{gone} text columns with more than {MOST_CODES} values are left out")
        small = small or list(range(len(frame.columns)))
        most = max(1, min(MOST_COLUMNS, MOST_CELLS // (MOST_CODES * max(1, frame.n_rows))))
        while True:
            part = _columns_of(frame, small)
            kept = [small[j] for j in kept_columns(part, codes, weights, most)]
            binarizer = Binarizer(bins=4, missing=self.missing, cuts="local")
            part = _columns_of(frame, kept)
            table = frame_table(binarizer, part, codes, self.classes_.tolist(), weights)
            ladder = climbed(table, LADDER, self.n_jobs, self.missing, deadline)
            if ladder.rungs or len(kept) <= FEW_COLUMNS:
                break
            most = max(FEW_COLUMNS, len(kept) // 2)
        if not ladder.rungs:
            ladder.rungs.append(fitted_rung(table, Size(4, 1), self.n_jobs, self.missing, None))
            ladder.notes.append("not even depth 2 fitted the time: the trees have depth 1")
        if len(kept) < len(small):
            self.notes_.append(
                f"{len(kept)} of {len(small)} columns are used, those that tell most about the classes by themselves; "
                "they were chosen with the labels, so that the leave-one-out numbers are too good"
            )
        return kept, table, ladder

    def _weigh(self, rungs: list[Rung]) -> Reals:
        """Choose weights and exponent by left-out examples; return what is said of each entry of the table."""
        codes, counts = rungs[0].left.codes, rungs[0].left.counts
        own = np.arange(len(codes))
        said = [tempered(rung.left.proba, rung.model.exponent_) for rung in rungs]
        last = said[-MIXED:]
        weights = np.zeros(len(rungs))
        weights[-MIXED:] = stacking_weights(np.stack([each[own, codes] for each in last], axis=1), counts)
        self.ladder_ = [
            {
                "bins": rung.step.bins,
                "depth": rung.step.depth,
                "loo_log_loss": float(rung.model.calibrated_loo_log_loss_ or 0.0),
                "weight": float(weight),
                "seconds": rung.seconds,
            }
            for rung, weight in zip(rungs, weights, strict=True)
        ]
        used = [k for k, weight in enumerate(weights) if weight > 0]
        self.models_, self.weights_ = [rungs[k].model for k in used], weights[used]
        for model in self.models_:
            model.target_name_ = self.target_name_
        mixed = mixture([said[k] for k in used], self.weights_)
        self.exponent_ = best_exponent(mixed, codes, counts)
        mixed = tempered(mixed, self.exponent_)
        self._judge(mixed, codes, counts)
        return mixed

    def _judge(self, said: Reals, codes: npt.NDArray[np.intp], counts: npt.NDArray[np.int64]) -> None:
        """Set what left-out examples say of the model, and of answering the shares of the classes."""
        losses, n = -np.log(said[np.arange(len(codes)), codes]), int(counts.sum())
        mean = float(np.average(losses, weights=counts))
        spread = float(counts @ (losses - mean) ** 2)
        self.loo_log_loss_ = mean
        self.loo_log_loss_error_ = math.sqrt(spread / (n - 1) / n) if n > 1 else math.nan
        self.loo_accuracy_ = float(np.average(said.argmax(axis=1) == codes, weights=counts))
        shares = np.bincount(codes, counts, minlength=len(self.classes_)) / n
        self.baseline_log_loss_ = abs(float((shares[shares > 0] * np.log(shares[shares > 0])).sum()))
        self.baseline_accuracy_ = float(shares.max())

    def _know_rows(
        self, frame: Frame, codes: npt.NDArray[np.intp], entries: Reals, table: Table, sample_weight: Any
    ) -> None:
        """Set ``loo_proba_``: what is said of each row of ``X`` when it is left out."""
        rows, classes = np.nonzero(table.class_counts)
        place = {
            (table.rows[r].tobytes(), int(c)): k for k, (r, c) in enumerate(zip(rows, classes, strict=True))
        }
        part, said = (
            _columns_of(frame, self.columns_used_.tolist()),
            np.empty((frame.n_rows, entries.shape[1])),
        )
        assert table.binarizer is not None
        for some in _batches(frame.n_rows, table.n_tests):
            tests = np.ascontiguousarray(transform_frame(table.binarizer, part.take(some)), dtype=np.uint8)
            found = [place[row.tobytes(), int(c)] for row, c in zip(tests, codes[some], strict=True)]
            said[some] = entries[found]
        used = np.ones(frame.n_rows, dtype=bool) if sample_weight is None else np.asarray(sample_weight) > 0
        self.loo_proba_ = np.full((len(used), entries.shape[1]), np.nan)
        self.loo_proba_[used] = said

    # --- predict

    def raw_proba(self, X: Any) -> Reals:
        """Return the class probabilities of the mixture, before its exponent.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        check_is_fitted(self)
        frame = read_frame(X)
        check_columns(self, frame, reset=False)
        part = _columns_of(frame, self.columns_used_.tolist())
        proba = np.empty((frame.n_rows, len(self.classes_)))
        n_tests = len(self.models_[0].binarizer_.tests_)
        for some in _batches(frame.n_rows, n_tests):
            rows = self.models_[0].to_tests(part.take(some))  # All spaces have the same codes.
            each = [model._predict_proba_tests(rows) for model in self.models_]
            proba[some] = mixture(each, self.weights_)
        return proba

    def predict_proba(self, X: Any) -> Reals:
        return tempered(self.raw_proba(X), self.exponent_)

    # --- what it tells

    def nearest_tree(self, max_depth: int = 3, leaf_share: float = 0.005) -> NearestTree:
        """Find the one tree that decides most like the average, and what is lost by using it instead.

        The tree is the best of all, by an exact search: the fewest training examples on which it decides otherwise
        than the average does without them, with a price for each leaf. Its accuracy is cross-validated.

        Parameters
        ----------
        max_depth : int
            The most tests on a path, at most 4.
        leaf_share : float
            The price of a leaf, as a share of all examples.

        Returns
        -------
        NearestTree
            The tree, how often it agrees with the average, and both accuracies; it prints as text.

        Raises
        ------
        QueryError
            If a parameter has a value that it cannot have.
        """
        check_is_fitted(self)
        depth = whole("max_depth", max_depth, 0)
        if depth > 4:
            raise refused(QueryError, "max_depth", max_depth, "at most 4, for a tree that a person can read")
        if isinstance(leaf_share, bool) or not isinstance(leaf_share, int | float) or not 0 <= leaf_share < 1:
            raise refused(QueryError, "leaf_share", leaf_share, "a share of the examples, from 0 to below 1")
        return nearest_tree(self, depth, float(leaf_share))

    def summary(self, top: int = 5) -> str:
        """Tell in words how sure the model is, which columns matter, and which single tree comes nearest.

        Parameters
        ----------
        top : int
            How many columns are named.

        Returns
        -------
        str
            Some lines of text.
        """
        check_is_fitted(self)
        return summary(self, whole("top", top, 1))

    def attribute_inclusion(self) -> dict[str, float]:
        """Return for every column the probability that a tree of the mixture uses it.

        Returns
        -------
        dict of str to float
            The probability by the name of the column, in the order of the columns; 0 for columns left out.
        """
        check_is_fitted(self)
        found = np.zeros(self.n_features_in_)
        for model, weight in zip(self.models_, self.weights_.tolist(), strict=True):
            found[self.columns_used_] += weight * np.array(list(model.attribute_inclusion().values()))
        return dict(zip(self.column_names(), found.tolist(), strict=True))

    def _importances(self) -> Reals:
        return np.array(list(self.attribute_inclusion().values()), dtype=np.float64)

    def _kinds(self) -> list[Expected]:
        kinds: list[Expected] = ["any"] * self.n_features_in_
        known = encoded_kinds(self.models_[0].binarizer_.encodings_)
        for j, kind in zip(self.columns_used_.tolist(), known, strict=True):
            kinds[j] = kind
        return kinds

    def facts(self) -> list[Fact]:
        told = "leave-one-out log-loss of its probabilities"
        return [
            Fact("loo_log_loss", self.loo_log_loss_, "left-out log-loss", told),
            Fact("loo_accuracy", self.loo_accuracy_, "left-out accuracy", "leave-one-out accuracy"),
            Fact("baseline_log_loss", self.baseline_log_loss_, "log-loss of class shares", "log-loss of the shares"),
            Fact("exponent", self.exponent_, "exponent", "exponent of the mixture"),
        ]  # fmt: skip

    def headline(self, on: str) -> str:
        spaces = ", ".join(
            f"{each['bins']} bins at depth {each['depth']}" for each in self.ladder_ if each["weight"]
        )
        return f"The average over every tree of {len(self.models_)} spaces{on}: {spaces}."

    def display(self) -> Picture:
        return "text"

    def as_text(self) -> str:
        return self.summary()

    def mean_leaves(self) -> float:
        return float(
            sum(w * m.mean_leaves() for m, w in zip(self.models_, self.weights_.tolist(), strict=True))
        )

    def explain_row(self, x: Any, top: int = 10) -> Any:
        check_is_fitted(self)
        proba = self.predict_proba(x)
        heaviest = self.models_[int(np.argmax(self.weights_))]
        told = heaviest.explain_row(_columns_of(read_frame(x), self.columns_used_.tolist()), top)
        # The rules are those of the space of most weight; all else, other spaces and exponents too, is the rest.
        moved = np.array([rule.move for rule in told.rules]).reshape(-1, proba.shape[1]).sum(axis=0)
        rest = proba[0] - np.array(told.base) - moved
        return replace(told, proba=tuple(proba[0].tolist()), rest=tuple(rest.tolist()))

    # --- files

    def save(self, path: str | os.PathLike[str], target: str | None = None) -> None:
        """Write the fitted classifier to a JSON file that ``everytree.load_model`` and ``everytree verify`` read.

        The file holds the averages, each as a model file does. It replaces an older one in one step.

        Parameters
        ----------
        path : str or os.PathLike
            Where the file goes.
        target : str, optional
            The name of the label's column in the data; by default the name that ``y`` had in training.
        """
        save_every(self, path, target)


def _columns_of(frame: Frame, kept: list[int]) -> Frame:
    """Return some of the columns, under their own names."""
    if len(kept) == len(frame.columns):
        return frame
    columns = tuple(frame.columns[j] for j in kept)
    return Frame(columns, frame.n_rows, tuple(column.name for column in columns))


def _n_values(column: Any) -> int:
    """Return how many values a text column has; 1 for other columns, which any number may have."""
    return len(np.unique(column.present())) if column.kind == "nominal" and not column.is_empty else 1


def _batches(n_rows: int, n_tests: int) -> Iterator[npt.NDArray[np.intp]]:
    size = max(1, BATCH // max(1, n_tests))
    for start in range(0, n_rows, size):
        yield np.arange(start, min(n_rows, start + size))
