"""Honest figures: what a classifier would do on rows it has not seen, beside the two baselines everybody has in mind.

    the model       exact leave-one-out where the fit knows it (``loo_proba_``), else a stratified cross-validation
    always …        the largest class, with the shares of the classes as probabilities
    logistic        regression of scikit-learn, on scaled numbers and one column for each text, on the same folds; its
                    penalty is the best of three on a quarter of each training part

``honest_figures`` gives them as plain values for the command line; pages are judged by the same ``held_out`` and
``baselines``, and ``metrics.in_words`` says in a sentence what they mean.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from everytree.common.allocator import give_back
from everytree.common.arguments import refused
from everytree.data.column import Column
from everytree.data.frames import Frame, read_frame
from everytree.errors import EverytreeError, QueryError
from everytree.estimators.screening import chosen_by_labels
from everytree.metrics.folds import stratified_folds
from everytree.metrics.in_words import gain_error, verdict_of
from everytree.metrics.judged import (
    Figures,
    best_threshold,
    confusion_at,
    figures_of,
    threshold_for_recall,
)
from everytree.metrics.scores import aligned

__all__ = ["HeldOut", "baselines", "held_out", "honest_figures", "logistic_regression"]

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]
Folds = list[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]]
Scaled = Callable[[npt.NDArray[np.intp]], Floats]
Counted = Callable[[Iterable[Any], int], Iterable[Any]]

FOLDS = 5
MOST_ROWS = 20_000  # rows that logistic regression is cross-validated on
PENALTIES = (1.0, 0.1, 0.01)  # the smaller, the stronger; the first is scikit-learn's own
FEW_JUDGED = 20  # rows by which no penalty is chosen
LARGE = 2**20  # bytes of numbers whose copies are given back to the system after each part
MOST_TEXTS = 30  # texts of a column that have a column of their own there


class HeldOut(NamedTuple):
    """What was said of rows that were held out: their places, the answers, the probabilities, and how it was done."""

    rows: npt.NDArray[np.intp]
    said: Codes
    proba: Floats
    how: str


def honest_figures(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    positive: Any = None,
    costs: tuple[float, float] | None = None,
    folds: int = FOLDS,
    seed: int = 0,
    seconds: float | None = None,
    counted: Counted | None = None,
) -> dict[str, Any]:
    """Judge a fitted classifier by rows it has not seen, beside always the largest class and logistic regression.

    Parameters
    ----------
    model : classifier
        A fitted classifier of everytree.
    X : array-like
        The rows it was fitted on.
    y : array-like
        Their labels.
    sample_weight : array-like, optional
        Their weights.
    positive : label, optional
        A class that matters: its confusion matrix, precision, recall and thresholds are told too.
    costs : pair of float, optional
        The cost of missing the positive class, and of a false alarm; they choose a threshold.
    folds : int, default 5
        The parts of a cross-validation.
    seed : int, default 0
        How rows are shuffled into parts.
    seconds : float, optional
        About how long it may take: of a cross-validation only as many parts are done.
    counted : callable, optional
        Called with the parts and their number, to show how far it is.

    Returns
    -------
    dict
        ``how`` the model was judged, on how many ``rows``; ``figures``, a list of the model and the baselines with
        accuracy, log-loss, Brier score and AUC; ``words`` that say what they mean; and ``positive``, or None.

    Examples
    --------
    >>> import everytree as et
    >>> X, y = [[i] for i in range(40)], ["no"] * 20 + ["yes"] * 20
    >>> model = et.OptimalTreeClassifier(max_depth=1).fit(X, y)
    >>> told = honest_figures(model, X, y)
    >>> told["how"], [each["name"] for each in told["figures"]]
    ('5-fold cross-validation', ['this model', 'always no', 'logistic regression'])
    """
    frame = read_frame(X, model)
    labels = model.classes_.tolist()
    place = {label: code for code, label in enumerate(labels)}
    codes = np.array([place[label] for label in np.asarray(y).tolist()], dtype=np.intp)
    weights = None if sample_weight is None else np.asarray(sample_weight, dtype=float)
    if positive is not None and positive not in place and str(positive) in {str(label) for label in labels}:
        positive = next(label for label in labels if str(label) == str(positive))
    if positive is not None and positive not in place:
        raise refused(QueryError, "positive", positive, f"one of the classes {', '.join(map(str, labels))}")
    if len(labels) < 2:
        return {
            "how": None,
            "rows": 0,
            "figures": [],
            "ranks": False,
            "words": f"All rows are {labels[0]}: there is nothing to tell apart, and no figure says anything",
            "positive": None,
        }
    said = held_out(model, frame, codes, weights, folds, seed, seconds, counted) if _enough(codes) else None
    if said is None:
        return {"how": None, "rows": 0, "figures": [], "ranks": False, "words": "", "positive": None}
    true, share = codes[said.rows], None if weights is None else weights[said.rows]
    largest = int(np.argmax(np.bincount(codes, weights, minlength=len(labels))))
    mine = figures_of("this model", said.said, said.proba, true, share)
    if said.proba.nbytes > LARGE:
        give_back()  # what sorting them took
    base, other = baselines(frame, codes, weights, labels, seed, folds)
    figures = [each.to_dict() for each in (mine, base, other)]
    error = gain_error(said.said, true, largest, share)
    verdict = verdict_of(figures[0], figures[1], figures[2], error)
    told = None
    if positive is not None:
        told = _about_positive(said, true, place[positive], positive, costs)
    return {
        "how": said.how,
        "rows": len(true),
        "figures": figures,
        "ranks": len(labels) == 2 and verdict.ranks,
        "words": verdict.words,
        "positive": told,
    }


# --- what is said of rows that are held out


def _enough(codes: Codes) -> bool:
    """Return whether some rows can be held out."""
    return len(codes) >= 4 and int(np.bincount(codes).max()) >= 2


def held_out(
    model: Any,
    frame: Frame,
    codes: Codes,
    weights: Floats | None,
    folds: int = FOLDS,
    seed: int = 0,
    seconds: float | None = None,
    counted: Counted | None = None,
) -> HeldOut | None:
    """Return what a classifier says of rows that are held out; None where nothing can be, or not in ``seconds``.

    Parameters
    ----------
    model : classifier
        A fitted classifier.
    frame : Frame
        The rows it was fitted on.
    codes : array of int
        The place of each label in ``classes_``.
    weights : array, optional
        The weights of the rows.
    folds, seed, seconds, counted
        As in ``honest_figures``.

    Returns
    -------
    HeldOut or None
        The answers.
    """
    left_out = getattr(model, "loo_proba_", None)
    mixed = type(model).__name__ == "EveryTreeClassifier"  # that of other averages is before their exponent
    # Where columns were chosen by the labels of all rows, leaving one out is too late: of 300 columns, all but two
    # noise, and 100 rows it made 0.90 right, and 0.79 on new rows.
    if mixed and left_out is not None and len(left_out) == len(codes) and not chosen_by_labels(model.notes_):
        known = np.flatnonzero(~np.isnan(left_out).any(axis=1))
        proba = np.asarray(left_out if known.size == len(codes) else left_out[known])
        return HeldOut(known, model.decide(proba), proba, "exact leave-one-out")
    most = int(np.bincount(codes).max())
    if not _enough(codes):
        return None
    k = min(folds, most)
    parts = stratified_folds(codes, k, 1, seed)
    answers: list[tuple[npt.NDArray[np.intp], Codes, Floats]] = []
    begun = time.monotonic()
    for part in parts if counted is None else counted(parts, len(parts)):
        one = _fold(model, frame, codes, weights, part.train, part.test, seconds)
        if one is not None:
            answers.append((part.test, *one))
        spent = time.monotonic() - begun
        if seconds is not None and spent * (len(answers) + 1) / max(1, len(answers)) > seconds:
            break
    if not answers:
        return None
    done = (
        f"{len(answers)} of {k} parts of a cross-validation"
        if len(answers) < k
        else f"{k}-fold cross-validation"
    )
    rows, said, proba = (np.concatenate(each) for each in zip(*answers, strict=True))
    return HeldOut(rows, said, proba, done)


def _fold(
    model: Any,
    frame: Frame,
    codes: Codes,
    weights: Floats | None,
    train: Any,
    test: Any,
    seconds: float | None,
) -> tuple[Codes, Floats] | None:
    labels = model.classes_
    fresh = clone(model)
    unlimited = fresh.get_params(deep=False).get("time_limit", 0) is None
    if unlimited and seconds is not None:
        fresh.set_params(time_limit=seconds)
    extra = () if weights is None else (weights[train],)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fresh.fit(frame.take(train), labels[codes[train]], *extra)
            if (
                unlimited
                and {fact.name: fact.value for fact in fresh.facts()}.get("stop_reason") == "time limit"
            ):
                return None  # It is not what the model is: that had all the time it wanted.
            said, proba = fresh.answers(frame.take(test))
    except EverytreeError:
        return None  # A part may have no tree that meets the constraints; the others tell.
    place = {label: code for code, label in enumerate(labels.tolist())}
    answers = np.array([place[label] for label in said.tolist()], dtype=np.intp)
    return answers, aligned(proba, fresh.classes_.tolist(), labels.tolist())


# --- what everybody compares with


def baselines(
    frame: Frame,
    codes: Codes,
    weights: Floats | None,
    labels: Sequence[Any],
    seed: int = 0,
    folds: int = FOLDS,
) -> tuple[Figures, Figures]:
    """Judge the two ways to answer that everybody has in mind: always the largest class, and logistic regression.

    Parameters
    ----------
    frame : Frame
        The rows.
    codes : array of int
        Their classes.
    weights : array, optional
        Their weights.
    labels : sequence
        The labels of the classes.
    seed : int, default 0
        How rows are shuffled into parts.
    folds : int, default 5
        The parts of the cross-validation of the logistic regression.

    Returns
    -------
    tuple of (Figures, Figures)
        Of the largest class, with the shares of the classes as probabilities; of logistic regression.
    """
    totals = np.bincount(codes, weights, minlength=len(labels))
    largest = int(np.argmax(totals))
    rows, line = logistic_regression(frame, codes, weights, len(labels), seed, folds)
    give_back()
    # It says the same of all rows of a class, so that one of each, with their weight, is judged.
    seen = np.flatnonzero(totals)
    always = np.tile(totals / totals.sum(), (len(seen), 1))
    share = None if weights is None else weights[rows]
    return (
        figures_of(f"always {labels[largest]}", np.full(len(seen), largest), always, seen, totals[seen]),
        figures_of("logistic regression", line.argmax(axis=1), line, codes[rows], share),
    )


def logistic_regression(
    frame: Frame, codes: Codes, weights: Floats | None, n_classes: int, seed: int = 0, folds: int = FOLDS
) -> tuple[npt.NDArray[np.intp], Floats]:
    """Cross-validate scikit-learn's logistic regression; each training part chooses its penalty by a quarter of itself.

    With the usual penalty of 1, and texts scaled like numbers, a survey of 50 questions (1,500 rows, 451 columns) had a
    log-loss of 4.90, worse than always the largest class: a comparison that flatters us. So it has 0.75.

    Parameters
    ----------
    frame : Frame
        The rows.
    codes : array of int
        Their classes.
    weights : array, optional
        Their weights.
    n_classes : int
        The number of classes.
    seed : int, default 0
        How rows are shuffled into parts; of very many rows only some are used.
    folds : int, default 5
        The parts.

    Returns
    -------
    rows : array of int
        The rows that were judged.
    proba : array of float, shape (n_rows, n_classes)
        The probabilities of each.
    """
    from sklearn.linear_model import LogisticRegression
    from threadpoolctl import threadpool_limits

    rows = np.arange(len(codes))
    if len(rows) > MOST_ROWS:
        rows = np.sort(np.random.default_rng(seed).permutation(len(rows))[:MOST_ROWS])
    y = codes[rows]
    X, texts = _design([column.take(rows) for column in frame.columns])
    share = None if weights is None else weights[rows]
    proba = np.zeros((len(rows), n_classes))
    k = min(folds, int(np.bincount(y).max()))
    for part in stratified_folds(y, max(2, k), 1, seed):
        seen = np.unique(y[part.train])
        if len(seen) == 1:
            proba[part.test, seen[0]] = 1.0
            continue
        # Never all of these numbers once more: with columns of texts there are many.
        seen_rows = X[part.train]
        mean, spread = seen_rows.mean(axis=0), seen_rows.std(axis=0)
        spread[(spread == 0) | texts] = 1.0
        del seen_rows
        if X.nbytes > LARGE:
            give_back()

        def scaled(some: npt.NDArray[np.intp], mean: Floats = mean, spread: Floats = spread) -> Floats:
            numbers: Floats = X[some]
            numbers -= mean
            numbers /= spread
            return numbers

        def fitted(train: npt.NDArray[np.intp], penalty: float, scaled: Scaled = scaled) -> Any:
            given = None if share is None else share[train]
            # Threads that wait for each other are slower than one; what has not quite converged is still a comparison.
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                return LogisticRegression(C=penalty, max_iter=200).fit(scaled(train), y[train], given)

        model = fitted(part.train, _penalty(part.train, y, scaled, fitted, seed))
        proba[np.ix_(part.test, model.classes_)] = model.predict_proba(scaled(part.test))
        if X.nbytes > LARGE:
            give_back()
    return rows, proba


def _penalty(
    train: npt.NDArray[np.intp],
    y: Codes,
    scaled: Scaled,
    fitted: Callable[[npt.NDArray[np.intp], float], Any],
    seed: int,
) -> float:
    """Return the penalty with the least log-loss on a quarter of the training rows, if that is not too few."""
    order = np.random.default_rng(seed).permutation(train)
    judged, rest = order[: len(order) // 4], order[len(order) // 4 :]
    if len(judged) < FEW_JUDGED or len(np.unique(y[rest])) < len(np.unique(y[train])):
        return PENALTIES[0]

    def loss(penalty: float) -> float:
        model = fitted(rest, penalty)
        said = model.predict_proba(scaled(judged))
        right = said[np.arange(len(judged)), np.searchsorted(model.classes_, y[judged])]
        return float(-np.log(np.maximum(right, 1e-15)).mean())

    return min(PENALTIES, key=loss)


def _design(columns: list[Column]) -> tuple[Floats, npt.NDArray[np.bool_]]:
    """Return numbers for a linear model, and which of its columns are 0 or 1.

    A missing number is the mean and says so, each frequent text has a column. Columns of 0 and 1 are not scaled: that
    would let a rare text off the penalty.
    """
    made: list[npt.NDArray[Any]] = []
    texts: list[bool] = []
    for column in columns:
        gone = column.missing
        if column.is_empty:
            continue
        if column.kind == "nominal":
            rows = np.bincount(column.present(), minlength=len(column.labels))
            for code in np.argsort(-rows, kind="stable")[:MOST_TEXTS].tolist():
                made.append(column.data == code)
                texts.append(True)
        else:
            values = column.data.astype(float)
            known = values[~gone & np.isfinite(values)]
            values[gone] = known.mean() if known.size else 0.0
            made.append(np.clip(values, known.min(), known.max()) if known.size else np.zeros(len(values)))
            texts.append(column.kind == "boolean")
        if gone.any():
            made.append(gone)
            texts.append(True)
    if not made:
        return np.zeros((len(columns[0]), 1)), np.ones(1, dtype=np.bool_)
    return np.column_stack(made).astype(float, copy=False), np.array(texts, dtype=np.bool_)


# --- one class that matters


def _about_positive(
    said: HeldOut, true: Codes, code: int, label: Any, costs: tuple[float, float] | None
) -> dict[str, Any]:
    """Return confusion, precision and recall of one class: as the model decides, and at thresholds."""
    score, hit = said.proba[:, code], true == code
    told: dict[str, Any] = {
        "class": label,
        "decided": confusion_at(said.said == code, hit).to_dict(),
        "recall_90": threshold_for_recall(score, hit, 0.9).to_dict() if hit.any() else None,
        "costs": None,
    }
    if costs is not None:
        miss, alarm = costs
        if not (miss > 0 and alarm > 0 and math.isfinite(miss + alarm)):
            raise refused(QueryError, "costs", costs, "two numbers above 0: of a miss and of a false alarm")
        meant = alarm / (miss + alarm)
        at = confusion_at(score >= meant, hit, meant)
        best = best_threshold(score, hit, miss, alarm)
        told["costs"] = {
            "miss": miss, "alarm": alarm,
            "threshold": at.to_dict() | {"cost": at.cost(miss, alarm)},
            "least": best.to_dict() | {"cost": best.cost(miss, alarm)},
            "never": float(miss * hit.sum()), "always": float(alarm * (~hit).sum()),
        }  # fmt: skip
    return told
