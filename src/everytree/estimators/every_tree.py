"""EveryTreeClassifier: averages over every tree of many spaces, pooled, with nothing to choose but the time for it.

fit       columns → codes → members: spaces over some of the columns → an average each → left-out examples → weights
                          → two forests of deep trees                 ↗
predict   columns → the same codes → each average and forest → shares of the classes, moved by the evidence of each

See ``members`` for the spaces, ``deep_trees`` for the forests, ``bayes.stacking`` and ``bayes.blending`` for the
weights, ``every_summary`` for what it tells people.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from everytree.bayes.blending import weigh
from everytree.bayes.deep_trees import CUTS, DeepTrees, can_grow, deep_trees
from everytree.bayes.stacking import losses_of, pooled
from everytree.common.account import Account
from everytree.common.arguments import whole
from everytree.common.limits import Limits, threads
from everytree.common.spent import Spent
from everytree.data.binarizer import Binarizer
from everytree.data.coded_rows import CodedRows
from everytree.errors import DataError, LimitReached, QueryError
from everytree.estimators.base import ClassifierBase
from everytree.estimators.bayes import BayesOptimalClassifier
from everytree.estimators.compressed_averages import CompressedAverages, compressed
from everytree.estimators.every_memory import (
    Weighing,
    coded_bytes,
    coding_bytes,
    model_bytes,
    own_bytes,
)
from everytree.estimators.every_questions import EveryQuestions
from everytree.estimators.evidence_parts import (
    columns_of,
    entry_numbers,
    evidence_from,
)
from everytree.estimators.members import (
    PRICE,
    Fitted,
    Member,
    fitted_member,
    in_time,
    member_model,
    members_of,
    seconds_of,
)
from everytree.estimators.one_fit import one_at_a_time
from everytree.estimators.parameter_names import Meaning
from everytree.estimators.registry import method
from everytree.estimators.screening import CHOSEN, averaged_columns, screened
from everytree.files.every_file import FORMAT, save_every
from everytree.files.registry import saved_as

__all__ = ["EveryTreeClassifier"]

Reals = npt.NDArray[np.float64]
Entries = tuple[npt.NDArray[np.intp], ...]  # rows of codes, and their classes

MOST_BYTES = 500_000_000  # of the tables of all members together
MOST_NUMBERS = 20_000_000  # that are said of left-out examples, by all members together
PREDICTED = 12_000.0  # The prices of the members that are kept: about so many states are reached by a row.
SHARE = 20  # No member takes more than this part of the time, as far as its price tells.
SECONDS = 4e-7  # for a row and a unit of price, to leave out an example
LONG = 2.0  # An average that seems to take so many times the seconds that are left is not begun.
KEPT_BACK = 0.2  # the part of the time that choosing the weights may take
FOLDS_SECONDS = 2.0  # but no more than this
AFTER = 1.5e-7  # seconds for a row or an entry, to write down what is said of it once the weights are chosen
AT_LEAST = 0.1  # and no less, as long as that leaves half of the time
GROWING = 0.3  # the part of the time that deep trees may take, both forests together
PREDICTIONS = 0.1  # the part of the memory that is left for later predictions
GROWING_BYTES = 0.5  # and of the memory that is left beside the first average
FEWER_EXAMPLES = "fit fewer examples, classes or columns"


@method("every", "every tree of many spaces, weighed by left-out examples: nothing to choose", place=2)
@saved_as(FORMAT)
class EveryTreeClassifier(EveryQuestions):
    """Averages over every tree, in many spaces of trees, pooled: nothing to choose but the time for it.

    A member is the exact average over all trees on some of the columns, whose nodes choose their cuts from their own
    rows: each column alone, all of them together to little depth, and random sets of columns, the fewer the deeper.
    Every average has the power posterior with a power of ¼, a prior that is fair to columns, and leaves that lean to
    the base rates. What it says of each training row when that row is left out is computed exactly. An average moves
    the shares of the classes by its evidence, log(p / share); how much of the evidence of each counts is what
    left-out examples decide.

    Beside the averages stand two forests of deep trees, grown at random, with all prunings of each tree averaged; every
    example is judged by trees that were grown without it. Averages are weighed alone, forests alone, and both together,
    and the three are blended, each as far as left-out examples speak for it.

    Data that are too large do not raise: members, depths, and if need be columns, are left out, and ``notes_`` says
    which. What fits the time depends on the machine; with ``time_limit=None`` the answer is the same everywhere.

    Parameters
    ----------
    time_limit : float or None
        About how many seconds ``fit`` may take; None for all members, however long they take. Reading the columns and
        the first member, of less depth where time is short, are always finished. Seconds that others use the processor
        do not count, up to three times as many. ``time_budget`` is understood, too.
    memory_limit : int or None
        The most bytes for all of it: examples, averages, deep trees, choosing the weights, and later predictions. Fewer
        and smaller averages and forests are taken where it is little, and ``notes_`` says so; ``LimitReached`` is
        raised where not even one average fits. None for the library's own limit.
    cost_matrix : array-like of shape (n_classes, n_classes), optional
        Entry (c, k) is the cost of predicting k when c is true: ``predict`` answers the class of least expected cost.
        None for the most probable one. It changes no probability, and may be set after ``fit``.
    class_weight : dict, "balanced" or None, default=None
        How much the examples of each class count, times ``sample_weight``: a dict from label to weight (1 where a label
        is left out), or "balanced" for the same total of every class. It counts as more or fewer examples, not as a
        cost of errors, which ``cost_matrix`` is.
    missing : {"error", "category", "impute"}
        What a missing value means: an error, a category of its own, or the training mean or mode of its column.
    random_state : int
        The seed of the random sets of columns and of the deep trees. What is drawn goes by the order of the columns, in
        deep trees by that of the classes, too; the order of the rows changes nothing.
    n_jobs : int or None
        The number of threads; −1 for every core.

    Attributes
    ----------
    models_ : list of BayesOptimalClassifier
        The averages that weigh something, for all further questions (``explain``, ``top_trees``); a column that one
        does not use has no tests in it.
    forests_ : list of DeepTrees
        The forests of deep trees that weigh something: ``cuts``, ``rounds``, and the trees as arrays.
    weights_ : ndarray of shape (n_models + n_forests,)
        How much of the evidence of each counts, the mean over the classes; they need not sum to one. First those of
        ``models_``, then those of ``forests_``.
    weights_by_class_ : ndarray of shape (n_models + n_forests, n_classes)
        How much of the evidence of each counts for each class.
    shares_ : ndarray of shape (n_classes,)
        The shares of the classes, which the evidence moves.
    loo_log_loss_ : float
        The leave-one-out log-loss of ``predict_proba``, under weights that were chosen without the example.
    pooled_log_loss_ : float
        The same under ``weights_``, which were chosen to make it small: a little too good.
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
    members_ : list of dict
        The averages of ``models_``: columns, bins, depth, weight, and the leave-one-out log-loss of each by itself.
    n_tried_ : int
        How many averages were taken before weights were chosen.
    notes_ : list of str
        What was left out, in words; empty where nothing was.
    columns_used_ : ndarray of int
        The positions of the columns that the trees may use.
    coded_ : CodedRows
        The training examples as codes of the columns in use, counted.
    decided_ : ndarray of int
        What is answered for each distinct row and class of ``coded_`` when one such example is left out.
    left_out_ : ndarray of shape (n_entries, n_classes)
        What is said of each entry, a row of ``coded_`` and a class of its examples, without one of them. A model from a
        file has none.
    feature_importances_ : ndarray of shape (n_features_in_,)
        The probability that a tree uses each column, as ``attribute_inclusion`` has it; deep trees, which use nearly
        all of them, do not count.
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
    # As much as fits the time is done, so that people also call it a budget.
    MEANINGS: ClassVar[Mapping[str, Meaning]] = {
        **ClassifierBase.MEANINGS,
        "time_budget": Meaning("time_limit"),
    }

    models_: list[BayesOptimalClassifier]
    forests_: list[DeepTrees]
    weights_: Reals
    weights_by_class_: Reals
    shares_: Reals
    loo_log_loss_: float
    loo_log_loss_error_: float
    loo_accuracy_: float
    pooled_log_loss_: float
    loo_proba_: Reals
    baseline_log_loss_: float
    baseline_accuracy_: float
    members_: list[dict[str, Any]]
    n_tried_: int
    notes_: list[str]
    columns_used_: npt.NDArray[np.intp]
    coded_: CodedRows
    decided_: npt.NDArray[np.intp]
    left_out_: Reals

    def __init__(
        self,
        time_limit: float | None = 5.0,
        *,
        memory_limit: int | None = None,
        cost_matrix: npt.ArrayLike | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        missing: str = "category",
        random_state: int = 0,
        n_jobs: int | None = 1,
    ) -> None:
        self.time_limit = time_limit
        self.memory_limit = memory_limit
        self.cost_matrix = cost_matrix
        self.class_weight = class_weight
        self.missing = missing
        self.random_state = random_state
        self.n_jobs = n_jobs

    # --- fit

    @one_at_a_time
    def fit(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> Self:
        spent = Spent()
        limits = self._limits()
        account = Account(self.memory_limit)
        account.hold(int(PREDICTIONS * account.limit))
        budget = deadline = None
        if limits.time_limit is not None:
            budget = float(limits.time_limit)
            back = min(max(KEPT_BACK * budget, min(AT_LEAST, budget / 2)), FOLDS_SECONDS)
            deadline = budget - back
        frame, labels, weights = self._read(X, y, sample_weight, reset=True)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.checked_costs()
        kept, self.notes_ = screened(frame, codes, weights)
        self.columns_used_ = np.array(kept, dtype=np.intp)
        binarizer = Binarizer(bins=4, missing=self.missing, cuts="local")
        account.need(
            coding_bytes(frame.n_rows, len(kept), len(self.classes_)), "coding the examples", FEWER_EXAMPLES
        )
        self.coded_, place = CodedRows.of_frame(
            binarizer, columns_of(frame, kept), codes, self.classes_.tolist(), weights
        )
        account.hold(coded_bytes(self.coded_) + place.nbytes)
        limits.give_back()  # what coding took and dropped, which nothing counts
        self.shares_ = self.coded_.shares()
        entries: Entries = np.nonzero(self.coded_.counts)
        weighing = Weighing(entries[0].size, len(self.classes_), len(self._used))
        account.need(
            weighing.n_bytes(1) + own_bytes(self.coded_, (), entries[0].size),
            f"one average over {entries[0].size} examples that differ and {len(self.classes_)} classes",
            FEWER_EXAMPLES,
        )
        forests = self._grown(deadline, spent, account, weighing)
        found = self._members(entries, deadline, spent, account, weighing)
        told = AFTER * (len(self._used) + entries[0].size)
        limits.give_back()
        left = None if budget is None else max(0.0, budget - spent.seconds - told)
        said = self._weigh(found, forests, entries, left, weighing.numbers(len(found), account.left))
        limits.give_back()
        self.left_out_, self.decided_ = said, said.argmax(axis=1)
        self._know_rows(said, place, codes, entries)
        self._share_memory()
        return self

    def _limits(self) -> Limits:
        """Return the limits; a parameter that is no limit, no number of threads or no seed is refused."""
        threads(self.n_jobs)
        whole("random_state", self.random_state, 0)
        return Limits(self.time_limit, self.memory_limit)

    def _grown(
        self, deadline: float | None, spent: Spent, account: Account, weighing: Weighing
    ) -> list[DeepTrees]:
        """Grow the forests, as far as their part of the time and of the memory goes."""
        if not can_grow(self.coded_) or len(self.classes_) < 2:
            return []
        found: list[DeepTrees] = []
        for k, cuts in enumerate(CUTS):
            left = (
                None if deadline is None else GROWING * max(0.0, deadline - spent.seconds) / (len(CUTS) - k)
            )
            if left is not None and left <= 0:
                break
            # An average beside it must fit, which is worth more; of the rest a part.
            one = own_bytes(self.coded_, (), weighing.entries)
            spare = account.left - weighing.n_bytes(2 + len(found)) - one
            room = max(0, int(GROWING_BYTES * spare / (len(CUTS) - k)))
            try:
                grown = deep_trees(
                    self.coded_, cuts, int(self.random_state), self.n_jobs, seconds=left, memory=room
                )
            except LimitReached as limit:
                what = "memory" if limit.reason == "memory" else "time"
                self.notes_.append(f"deep trees with {cuts} cuts do not fit the {what}")
                continue
            account.hold(grown.forest.nbytes + grown.said.nbytes)
            found.append(grown)
        weighing.n_forests = len(found)
        return found

    def _members(
        self,
        entries: Entries,
        deadline: float | None,
        spent: Spent,
        account: Account,
        weighing: Weighing,
    ) -> list[Fitted]:
        """Take the averages, until the time or the memory for them is spent; the first that fits is always taken."""
        found: list[Fitted] = []
        coded, late, large, n_bytes = self.coded_, 0, 0, 0
        most = PRICE
        if deadline is not None:
            left = max(0.0, deadline - spent.seconds)
            most = max(16.0, left / SHARE / (SECONDS * max(1, len(coded.codes))))
        encodings = coded.binarizer.encodings_
        numbers = max(1, entries[0].size * len(self.classes_))
        among = averaged_columns(coded)
        if len(among) < len(coded.columns.columns):
            self.notes_.append(
                f"averages use {len(among)} of {len(coded.columns.columns)} columns, those that tell most about the "
                f"classes by themselves; {CHOSEN}"
            )
        for member in members_of(encodings, int(self.random_state), most, among):
            left_over = None if deadline is None else deadline - spent.seconds
            bytes_too_many = n_bytes + coded.bytes_of(member.columns) > MOST_BYTES
            if found and (bytes_too_many or (len(found) + 1) * numbers > MOST_NUMBERS):
                large += 1
                continue
            if left_over is not None and not found:
                member = in_time(coded, member, left_over)  # it is always finished
            elif left_over is not None and (left_over <= 0 or seconds_of(coded, member) > LONG * left_over):
                late += 1
                continue
            own = own_bytes(coded, member.columns, entries[0].size)
            room = account.left - own - weighing.n_bytes(len(found) + 1)
            if room <= 0:
                large += 1
                continue
            try:
                made = fitted_member(
                    coded, member, entries, self.n_jobs, self.missing, left_over if found else None,
                    room + coded.bytes_of(member.columns) * 9 // 8 + coded.columns.nbytes_of(member.columns),
                )  # fmt: skip
            except LimitReached as limit:
                late, large = late + (limit.reason != "memory"), large + (limit.reason == "memory")
                continue
            found.append(made)
            account.hold(made.n_bytes)
            n_bytes += made.model.posterior_.space.table.rows.nbytes
        if not found:  # No column has two values, or none fits the memory: trees are single leaves.
            leaf = Member((), 2, 0)
            found.append(fitted_member(coded, leaf, entries, self.n_jobs, self.missing, None, account.left))
            account.hold(found[0].n_bytes)
        if late:
            self.notes_.append(f"{late} of {late + large + len(found)} averages do not fit the time")
        if large:
            self.notes_.append(f"{large} of {late + large + len(found)} averages do not fit the memory")
        return found

    def _weigh(
        self,
        found: list[Fitted],
        forests: list[DeepTrees],
        entries: Entries,
        seconds: float | None,
        numbers: int,
    ) -> Reals:
        """Choose weights by left-out examples, and keep the averages that have some; return what is said of them."""
        codes, counts = entries[1], self.coded_.examples(entries)
        log_shares, n = np.log(self.shares_), len(found)
        evidence = evidence_from(
            [*(each.said for each in found), *(each.said for each in forests)], log_shares
        )
        prices = np.array([each.price for each in found])
        chosen = weigh(evidence, n, log_shares, codes, counts, prices, PREDICTED, seconds, numbers)
        used = [found[k] for k in chosen.kept if k < n]
        self.n_tried_ = n
        self.models_ = [each.model for each in used]
        self.forests_ = [forests[k - n] for k in chosen.kept if k >= n]
        self._take_weights(chosen.weights)
        for model in self.models_:
            model.target_name_ = self.target_name_
        self.members_ = [
            {
                "columns": self._names_of(each.member.columns),
                "bins": each.member.bins,
                "depth": each.member.depth,
                "weight": float(weights.mean()),
                "weights": weights.tolist(),
                "loo_log_loss": float(np.average(losses_of(each.said, codes), weights=counts)),
            }
            for each, weights in zip(used, chosen.weights, strict=False)
        ]
        self._judge(chosen.proba, codes, counts)
        final = chosen.proba
        if chosen.by_folds:
            every = np.zeros((evidence.shape[2], len(self.classes_)))  # no copy of some of the evidence
            every[chosen.kept] = chosen.weights
            final = pooled(evidence, log_shares, every, counts.sum())
        self.pooled_log_loss_ = float(np.average(losses_of(final, codes), weights=counts))
        return chosen.proba

    def _take_weights(self, by_class: Reals) -> None:
        self.weights_by_class_, self.weights_ = by_class, by_class.mean(axis=1)

    def _judge(self, said: Reals, codes: npt.NDArray[np.intp], counts: npt.NDArray[Any]) -> None:
        """Set what left-out examples say of the model, and of answering the shares of the classes."""
        losses, n = losses_of(said, codes), counts.sum().item()
        mean = float(np.average(losses, weights=counts))
        spread = float(counts @ (losses - mean) ** 2)
        self.loo_log_loss_ = mean
        self.loo_log_loss_error_ = math.sqrt(spread / (n - 1) / n) if n > 1 else math.nan
        self.loo_accuracy_ = float(np.average(said.argmax(axis=1) == codes, weights=counts))
        shares = self.shares_
        self.baseline_log_loss_ = abs(float((shares * np.log(shares)).sum()))
        self.baseline_accuracy_ = float(shares.max())

    def _know_rows(
        self,
        said: Reals,
        place: npt.NDArray[np.intp],
        codes: npt.NDArray[np.intp],
        entries: Entries,
    ) -> None:
        """Set ``loo_proba_``: what is said of each row of ``X`` when it is left out."""
        numbers = entry_numbers(entries, place, codes, len(self.classes_))
        self.loo_proba_ = np.full((len(self._used), len(self.classes_)), np.nan)
        if self._used.all():
            np.take(said, numbers, axis=0, out=self.loo_proba_, mode="clip")  # straight to its place
        else:
            self.loo_proba_[self._used] = said[numbers]

    # --- predict

    def _share_memory(self) -> None:
        """Let each average have, in its later questions, what the others leave of a limit of memory."""
        held = self._held() if self.memory_limit is not None else 0
        for model in self.models_:
            space = model.posterior_.space
            left = None
            if self.memory_limit is not None:
                left = max(1, int(self.memory_limit) - held + model_bytes(model))
            space.limits = replace(space.limits, memory_limit=left)

    def compress(self, n_trees: int = 1000) -> CompressedAverages:
        """Draw trees from the averages, for predictions in milliseconds that are nearly the same.

        Parameters
        ----------
        n_trees : int
            How many trees are drawn from all averages together, at least five from each; the error falls with the
            square root of their number, and the time of a prediction grows with it.

        Returns
        -------
        CompressedAverages
            The trees; ``bound_`` says how far their probabilities were from those of this model on training rows.

        Raises
        ------
        QueryError
            If ``n_trees`` is no positive whole number.
        """
        check_is_fitted(self)
        return compressed(self, n_trees)

    # --- files

    def restore_from_file(
        self, coded: CodedRows, members: list[dict[str, Any]], forests: list[dict[str, Any]]
    ) -> None:
        """Take the averages of a file again, over the examples that it holds, and grow its deep trees again.

        Parameters
        ----------
        coded : CodedRows
            The training examples.
        members : list of dict
            The columns (as places among those in use), bins, depth, weight and left-out log-loss of each average.
        forests : list of dict
            The cuts, rounds, columns at a node and weights of each forest.
        """
        try:
            self._limits()
        except QueryError as error:
            raise DataError(f"params: {error}") from error
        self.coded_, self.shares_ = coded, coded.shares()
        spaces = [Member(tuple(each["columns"]), each["bins"], each["depth"]) for each in members]
        self.models_ = [member_model(coded, space, self.n_jobs, self.missing)[0] for space in spaces]
        self.forests_ = [
            deep_trees(
                coded, f["cuts"], int(self.random_state), self.n_jobs, f["rounds"], f["columns_at_node"]
            )
            for f in forests
        ]
        self._share_memory()
        self._take_weights(np.array([each["weights"] for each in (*members, *forests)], dtype=np.float64))
        for model in self.models_:
            model.target_name_ = self.target_name_
        self.members_ = [each | {"columns": self._names_of(each["columns"])} for each in members]

    def save(self, path: str | os.PathLike[str], target: str | None = None) -> None:
        """Write the fitted classifier to a JSON file that ``everytree.load_model`` and ``everytree verify`` read.

        The file holds the examples as codes, and what each average is taken over. It replaces an older one in one step.

        Parameters
        ----------
        path : str or os.PathLike
            Where the file goes.
        target : str, optional
            The name of the label's column in the data; by default the name that ``y`` had in training.
        """
        save_every(self, path, target)
