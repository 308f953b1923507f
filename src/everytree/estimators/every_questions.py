"""What a fitted ``EveryTreeClassifier`` can be asked: its probabilities, how sure, why, which columns and tree.

Averages can be read; deep trees are one number in the evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.deep_trees import DeepTrees
from everytree.bayes.pooled_explanation import pooled_explanation
from everytree.bayes.stacking import pooled
from everytree.common.account import Account
from everytree.common.arguments import refused, whole
from everytree.common.limits import Limits, threads
from everytree.data.binarizer import reach_of_frame
from everytree.data.coded_rows import CodedRows
from everytree.data.frames import Frame, check_columns, read_frame
from everytree.errors import QueryError
from everytree.estimators.base import ClassifierBase
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.column_kinds import Expected, encoded_kinds
from everytree.estimators.every_memory import batch_row_bytes, coded_bytes, model_bytes
from everytree.estimators.every_summary import summary
from everytree.estimators.evidence_parts import (
    columns_of,
    columns_with_tests,
    evidence_from,
    reach_of_tests,
    row_batches,
)
from everytree.estimators.nearest_tree import NearestTree, nearest_tree
from everytree.estimators.protocol import Fact, Picture

__all__ = ["EveryQuestions"]

Reals = npt.NDArray[np.float64]


class EveryQuestions(ClassifierBase):
    """Questions to ``models_`` and ``forests_``, which ``EveryTreeClassifier`` learns."""

    models_: list[BayesOptimalClassifier]
    forests_: list[DeepTrees]
    weights_: Reals
    weights_by_class_: Reals
    shares_: Reals
    loo_log_loss_: float
    loo_log_loss_error_: float
    loo_accuracy_: float
    baseline_log_loss_: float
    members_: list[dict[str, Any]]
    columns_used_: npt.NDArray[np.intp]
    coded_: CodedRows

    # --- what all of them say of rows

    def _of_each(self, X: Any, shape: tuple[int, ...], make: Callable[[list[Reals]], Reals]) -> Reals:
        """Return what is made, in this shape for each row, of what each average says of rows."""
        check_is_fitted(self)
        frame = read_frame(X, self)
        check_columns(self, frame, reset=False)
        return self._of_frame(columns_of(frame, self.columns_used_.tolist()), shape, make)

    def _of_frame(self, part: Frame, shape: tuple[int, ...], make: Callable[[list[Reals]], Reals]) -> Reals:
        """Do the same for the columns in use; one array is filled, batch by batch."""
        found = np.empty((part.n_rows, *shape))
        for some, said in self._each_of(part, found.nbytes):
            found[some] = make(said)
        return found

    def _each_of(self, part: Frame, answers: int) -> Iterator[tuple[npt.NDArray[np.intp], list[Reals]]]:
        """Give batches of rows, and what each average says of them; the answers take so many bytes."""
        binarizer = self.coded_.binarizer
        tests = [self.coded_.tests_of(columns_with_tests(model)) for model in self.models_]
        account = Account(self.memory_limit)
        account.hold(self._held())
        each = len(self.models_) + len(self.forests_)
        account.need(answers, f"the probabilities of {part.n_rows} rows", "predict fewer rows at a time")
        per_row = batch_row_bytes(len(binarizer.tests_), each, len(self.classes_))
        for some in row_batches(part.n_rows, per_row, account.left - answers):
            reach = reach_of_frame(binarizer, part.take(some))  # All averages have the same codes.
            asked = zip(self.models_, tests, strict=True)
            said = [model._predict_proba_tests(reach_of_tests(reach, own)) for model, own in asked]
            control, n_threads = Limits().control(), threads(self.n_jobs)
            yield some, [*said, *(each.forest.mean(reach, n_threads, control) for each in self.forests_)]

    def _held(self) -> int:
        """Return the bytes that the model holds, which predictions come beside."""
        return (
            coded_bytes(self.coded_)
            + sum(model_bytes(model) for model in self.models_)
            + sum(each.forest.nbytes + each.said.nbytes for each in self.forests_)
        )

    def raw_proba(self, X: Any) -> Reals:
        """Return the mean of what averages and forests say, by their weights, without adding up their evidence.

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
        total = float(self.weights_.sum())
        shares = self.weights_ / total if total else np.full(self.weights_.size, 1 / self.weights_.size)
        return self._of_each(
            X, (len(self.classes_),), lambda said: np.tensordot(shares, np.stack(said), axes=1)
        )

    def predict_proba(self, X: Any) -> Reals:
        check_is_fitted(self)
        return self._of_each(X, (len(self.classes_),), self._pooled)

    def proba_of_frame(self, frame: Frame) -> Reals:
        """Predict class probabilities of the columns in use, read and checked already.

        Parameters
        ----------
        frame : Frame
            The columns.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            The probabilities, in the order of ``classes_``.
        """
        return self._of_frame(frame, (len(self.classes_),), self._pooled)

    def _pooled(self, said: list[Reals]) -> Reals:
        log_shares = np.log(self.shares_)
        evidence = evidence_from(said, log_shares)
        return pooled(evidence, log_shares, self.weights_by_class_, self.coded_.total)

    # --- what people ask

    def nearest_tree(self, max_depth: int = 3, leaf_share: float = 0.005) -> NearestTree:
        """Find the one tree that comes nearest to the average, and what is lost by using it instead.

        The tree is the best of all, by an exact search: the fewest training examples on which it decides otherwise
        than the average does without them, with a price for each leaf. Its accuracy is cross-validated. Where that is a
        single leaf, because the average says one class of almost every example, it is the tree whose probabilities come
        nearest instead, by the squares of the differences.

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
        account = Account(self.memory_limit)
        account.hold(self._held())
        return nearest_tree(self, depth, float(leaf_share), account)

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
        """Return for every column the probability that a tree of the averages uses it; deep trees do not count.

        An average counts as ``saved_by_models`` says.

        Returns
        -------
        dict of str to float
            The probability by the name of the column, in the order of the columns; 0 for columns left out.
        """
        check_is_fitted(self)
        weights = self.saved_by_models()
        found, total = np.zeros(self.n_features_in_), float(weights.sum()) or 1.0
        names = [self.column_names()[j] for j in self.columns_used_.tolist()]
        for model, weight in zip(self.models_, weights.tolist(), strict=True):
            used = model.attribute_inclusion()
            found[self.columns_used_] += weight / total * np.array([used.get(name, 0.0) for name in names])
        return dict(zip(self.column_names(), found.tolist(), strict=True))

    def weights_of_models(self) -> Reals:
        """Return how much of the evidence of each of ``models_`` counts, the mean over the classes.

        Returns
        -------
        ndarray of shape (n_models,)
            The first of ``weights_``.
        """
        return self.weights_[: len(self.models_)]

    def saved_by_models(self) -> Reals:
        """Return the weight of each of ``models_`` times what it saves of the left-out log-loss by itself.

        By the weight alone an average whose evidence is nearly nothing, which changes no answer, may come first. Where
        none saves anything these are the weights.

        Returns
        -------
        ndarray of shape (n_models,)
            None of them negative.
        """
        saved = np.array([self.baseline_log_loss_ - each["loo_log_loss"] for each in self.members_])
        weights = self.weights_of_models()
        found = weights * np.maximum(saved, 0.0)
        return found if found.any() else weights

    def _importances(self) -> Reals:
        return np.array(list(self.attribute_inclusion().values()), dtype=np.float64)

    def _kinds(self) -> list[Expected]:
        kinds: list[Expected] = ["any"] * self.n_features_in_
        known = encoded_kinds(self.coded_.binarizer.encodings_)
        for j, kind in zip(self.columns_used_.tolist(), known, strict=True):
            kinds[j] = kind
        return kinds

    def facts(self) -> list[Fact]:
        told = "leave-one-out log-loss of its probabilities"
        deep = Fact("n_deep_trees", self.n_deep_trees, "deep trees", "deep trees beside them")
        return [
            Fact("loo_log_loss", self.loo_log_loss_, "left-out log-loss", told),
            Fact("loo_log_loss_error", self.loo_log_loss_error_, "± standard error", "its standard error"),
            Fact("loo_accuracy", self.loo_accuracy_, "left-out accuracy", "leave-one-out accuracy"),
            Fact("baseline_log_loss", self.baseline_log_loss_, "log-loss of class shares", "log-loss of the shares"),
            Fact("n_averages", len(self.models_), "averages", "averages that weigh something"),
            *([deep] if self.forests_ else []),
        ]  # fmt: skip

    @property
    def n_deep_trees(self) -> int:
        """The number of deep trees that weigh something."""
        return sum(each.forest.n_trees for each in self.forests_)

    def headline(self, on: str) -> str:
        depths = [each["depth"] for each in self.members_]
        deep = (
            f"depth {min(depths)}" if min(depths) == max(depths) else f"depth {min(depths)} to {max(depths)}"
        )
        beside = f" and {self.n_deep_trees} deep trees" if self.forests_ else ""
        n = len(self.models_)
        averages = "The average over every tree" if n == 1 else f"{n} averages over every tree"
        added = "" if n == 1 and not beside else ", their evidence added up"
        return f"{averages}{on}, of {deep}{beside}{added}."

    def display(self) -> Picture:
        return "text"

    def as_text(self) -> str:
        return summary(self, 5, judged=False)  # Whoever shows it has the figures beside it.

    def _names_of(self, columns: Sequence[int]) -> list[str]:
        names = self.column_names()
        return [names[self.columns_used_[j]] for j in columns]

    def mean_leaves(self) -> float:
        leaves, weights = [model.mean_leaves() for model in self.models_], self.weights_of_models()
        return float(np.average(leaves, weights=weights if weights.any() else None))

    def explain_row(self, x: Any, top: int = 10) -> Any:
        # The rules are those of the average that moves the odds against the next class most; all else is the rest.
        check_is_fitted(self)
        log_shares = np.log(self.shares_)
        moved = self.evidence_of(x)
        proba = pooled(moved, log_shares, np.ones(moved.shape[2]), self.coded_.total)[0]
        second, first = np.argsort(proba, kind="stable")[[-2, -1]] if proba.size > 1 else (0, 0)
        strongest = int(np.argmax((moved[0, first] - moved[0, second])[: len(self.models_)]))
        told = self.models_[strongest].explain_row(
            columns_of(read_frame(x, self), self.columns_used_.tolist()), top
        )
        columns = [tuple(member["columns"]) for member in self.members_]
        columns += [(each.name,) for each in self.forests_]
        return pooled_explanation(told, proba, self.shares_, columns, moved[0].T, strongest)

    def evidence_of(self, X: Any) -> Reals:
        """Return by how much each average moves each row: weight · log(p / share), of what ``predict_proba`` adds up.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Rows with the columns of training: a DataFrame, an array or a list of rows.

        Returns
        -------
        ndarray of shape (n_rows, n_classes, n_models + n_forests)
            One number for each row, class and average, in the order of ``classes_`` and of ``models_``, then
            ``forests_``.
        """
        check_is_fitted(self)
        log_shares = np.log(self.shares_)

        def moved(said: list[Reals]) -> Reals:
            evidence = evidence_from(said, log_shares)
            evidence *= self.weights_by_class_.T
            return evidence

        found: Reals = self._of_each(X, (len(self.classes_), len(self.weights_)), moved)
        return found
