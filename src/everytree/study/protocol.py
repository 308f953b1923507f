"""How classifiers are compared: folds, measures of their probabilities, and a paired test.

For one row with the probabilities p and the class y, C classes, natural logarithms:

    log-loss      −ln max(p_y, clip)
    Brier         Σ_c (p_c − [c = y])², between 0 and 2
    reliability   rows by the probability of their most probable class, in bins of equal width; in bin b are n_b rows,
                  conf_b is the mean of that probability and acc_b the share of rows of that class
    ECE           Σ_b n_b/n · |acc_b − conf_b|, the expected calibration error

The corrected paired t-test (Nadeau and Bengio, 2003) of the differences d_1 … d_k between two classifiers, one for
each fold. Training parts overlap, so the differences are not independent, and the plain test sees winners everywhere;
n_test/n_train makes up for it:

    t = mean(d) / sqrt((1/k + n_test/n_train) · var(d)),    k − 1 degrees of freedom, two-tailed
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import whole
from everytree.errors import DataError, QueryError

__all__ = [
    "CLIP",
    "Fold",
    "PairedTest",
    "Reliability",
    "aligned",
    "brier",
    "corrected_t_test",
    "log_loss",
    "stratified_folds",
    "verdict",
]

CLIP = 1e-6  # a probability of zero for what then happens costs ln 10^6 = 13.8, not everything
Floats = npt.NDArray[np.float64]


# --- folds


class Fold(NamedTuple):
    """One part of a cross-validation: which rows to learn from, and which to judge by."""

    repeat: int
    fold: int
    train: npt.NDArray[np.intp]
    test: npt.NDArray[np.intp]


def stratified_folds(y: npt.ArrayLike, k: int = 10, repeats: int = 1, seed: int = 0) -> list[Fold]:
    """``k`` shuffled folds with the classes in proportion, ``repeats`` times; repeat r is shuffled with seed + r.

    A class with fewer than ``k`` examples is spread over as many folds as it has examples.

    >>> [len(fold.test) for fold in stratified_folds([0, 1] * 10, k=4)]
    [5, 5, 5, 5]
    """
    from sklearn.model_selection import StratifiedKFold

    labels = np.asarray(y)
    if labels.ndim != 1 or labels.size == 0:
        raise DataError(f"y has shape {labels.shape}; expected one label per row")
    largest = int(np.unique(labels, return_counts=True)[1].max())
    if not 2 <= whole("k", k, 2) <= largest:
        raise QueryError(
            f"k={k!r} folds; expected 2 to {largest}, the number of examples of the largest class"
        )
    folds = []
    for repeat in range(whole("repeats", repeats, 1)):
        splitter = StratifiedKFold(k, shuffle=True, random_state=seed + repeat)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = list(splitter.split(labels, labels))
        folds += [Fold(repeat, i, train, test) for i, (train, test) in enumerate(parts)]
    return folds


# --- measures


def aligned(proba: npt.ArrayLike, known: Sequence[Any], classes: Sequence[Any]) -> Floats:
    """Columns of ``proba`` (for the classes ``known`` in training) put in the order of all ``classes``; 0 elsewhere.

    >>> aligned([[0.2, 0.8]], ["b", "a"], ["a", "b", "c"]).tolist()
    [[0.8, 0.2, 0.0]]
    """
    given = np.asarray(proba, dtype=np.float64)
    if given.ndim != 2 or given.shape[1] != len(known):
        raise DataError(
            f"proba has shape {given.shape}; expected one column for each of {len(known)} classes"
        )
    place = {label: column for column, label in enumerate(classes)}
    strange = [label for label in known if label not in place]
    if strange:
        raise DataError(f"class {strange[0]!r} is not among the classes {list(classes)}")
    full = np.zeros((len(given), len(place)))
    full[:, [place[label] for label in known]] = given
    return full


def log_loss(proba: npt.ArrayLike, y: npt.ArrayLike, clip: float = CLIP) -> Floats:
    """The log-loss of each row; ``y`` are columns of ``proba``. Probabilities below ``clip`` count as ``clip``.

    >>> log_loss([[0.5, 0.5], [1.0, 0.0]], [0, 1]).round(3).tolist()
    [0.693, 13.816]
    """
    given, codes = _checked(proba, y)
    if not 0 < clip < 1:
        raise QueryError(f"clip={clip!r}; expected a probability above 0, such as {CLIP}")
    losses: Floats = -np.log(np.maximum(given[np.arange(len(codes)), codes], clip))
    return np.maximum(losses, 0.0)  # a probability of 1 + 1e-16 is one


def brier(proba: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """The Brier score of each row, summed over the classes; ``y`` are columns of ``proba``.

    >>> brier([[0.5, 0.5], [1.0, 0.0]], [0, 1]).tolist()
    [0.5, 2.0]
    """
    given, codes = _checked(proba, y)
    hit = np.zeros_like(given)
    hit[np.arange(len(codes)), codes] = 1.0
    scores: Floats = ((given - hit) ** 2).sum(axis=1)
    return scores


@dataclass(frozen=True)
class Reliability:
    """Rows, summed confidence and hits in each bin; they add up over folds, which an ECE does not.

    >>> one = Reliability.of([[0.9, 0.1], [0.7, 0.3]], [0, 1], bins=10)
    >>> one.rows, one.hits, round(one.ece, 3)
    ((0, 0, 0, 0, 0, 0, 0, 1, 0, 1), (0, 0, 0, 0, 0, 0, 0, 0, 0, 1), 0.4)
    >>> (one + one).ece == one.ece
    True
    """

    rows: tuple[int, ...]
    confidence: tuple[float, ...]
    hits: tuple[int, ...]

    @classmethod
    def of(cls, proba: npt.ArrayLike, y: npt.ArrayLike, bins: int = 10) -> Reliability:
        """The rows of one table of probabilities; ``y`` are columns of it. A border belongs to the bin above it."""
        bins = whole("bins", bins, 1)
        given, codes = _checked(proba, y)
        choice = np.argmax(given, axis=1)
        confidence = given[np.arange(len(codes)), choice]
        # Rounded, because a sum of many trees that should be 0.7 may be 0.7 − 1e-16.
        place = np.clip(np.floor(np.round(confidence * bins, 9)).astype(np.intp), 0, bins - 1)
        return cls(
            tuple(np.bincount(place, minlength=bins).tolist()),
            tuple(np.bincount(place, confidence, minlength=bins).tolist()),
            tuple(np.bincount(place[choice == codes], minlength=bins).tolist()),
        )

    def __add__(self, other: Reliability) -> Reliability:
        if len(self.rows) != len(other.rows):
            raise QueryError(
                f"{len(self.rows)} bins and {len(other.rows)} bins do not add up; use the same number"
            )
        return Reliability(
            tuple(a + b for a, b in zip(self.rows, other.rows, strict=True)),
            tuple(a + b for a, b in zip(self.confidence, other.confidence, strict=True)),
            tuple(a + b for a, b in zip(self.hits, other.hits, strict=True)),
        )

    @property
    def ece(self) -> float:
        """The expected calibration error; NaN without rows."""
        total = sum(self.rows)
        gaps = (abs(hits - sure) for hits, sure in zip(self.hits, self.confidence, strict=True))
        return math.fsum(gaps) / total if total else math.nan


def _checked(proba: npt.ArrayLike, y: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.intp]]:
    given, labels = np.asarray(proba, dtype=np.float64), np.asarray(y)
    if given.ndim != 2 or labels.shape != given.shape[:1]:
        raise DataError(
            f"proba has shape {given.shape} and y {labels.shape}; expected one row and one label each"
        )
    if labels.size and labels.dtype.kind not in "iu":
        raise DataError(f"y holds {labels.dtype} values; expected class indices, the columns of proba")
    if labels.size and not (labels.min() >= 0 and labels.max() < given.shape[1]):
        raise DataError(
            f"y holds class {labels.max()}; expected 0 to {given.shape[1] - 1}, the columns of proba"
        )
    if not ((given >= 0) & (given <= 1 + 1e-9)).all() or not (np.abs(given.sum(axis=1) - 1) < 1e-6).all():
        raise DataError(
            "proba holds rows that are no probabilities; expected numbers from 0 to 1 that sum to 1"
        )
    return given, labels.astype(np.intp)


# --- the paired test


class PairedTest(NamedTuple):
    """Mean difference, the t statistic, its degrees of freedom, and the two-tailed p-value."""

    mean: float
    t: float
    df: int
    p: float


def corrected_t_test(differences: npt.ArrayLike, n_train: float, n_test: float) -> PairedTest:
    """The corrected paired t-test of ``differences``, one for each fold; ``n_train``, ``n_test``: rows in a fold.

    Differences that are all equal have no variance: p is 1 if they are 0, and 0 otherwise.

    >>> result = corrected_t_test([1.0, 2.0, 3.0], n_train=6, n_test=1)
    >>> round(result.t, 3), result.df, round(result.p, 4)
    (2.828, 2, 0.1056)
    """
    d = np.asarray(differences, dtype=np.float64)
    if d.ndim != 1 or d.size < 2:
        raise DataError(f"differences have shape {d.shape}; expected two or more, one for each fold")
    if not np.isfinite(d).all():
        raise DataError("differences hold a value that is not finite; leave out folds without a result")
    if n_train <= 0 or n_test <= 0:
        raise QueryError(f"n_train={n_train!r}, n_test={n_test!r}; expected numbers of rows above 0")
    from scipy import stats

    mean, df = float(d.mean()), d.size - 1
    if np.ptp(d) == 0:
        return PairedTest(mean, 0.0 if mean == 0 else math.copysign(math.inf, mean), df, float(mean == 0))
    t = mean / math.sqrt((1 / d.size + n_test / n_train) * float(d.var(ddof=1)))
    return PairedTest(mean, t, df, float(2 * stats.t.sf(abs(t), df)))


def verdict(
    ours: npt.ArrayLike, theirs: npt.ArrayLike, n_train: float, n_test: float, level: float = 0.05
) -> Literal["win", "tie", "loss"]:
    """What the test at ``level`` says of losses by fold: "win" if ours are smaller, "loss" if larger, else "tie".

    >>> verdict([0.1, 0.2, 0.1], [0.5, 0.6, 0.6], n_train=90, n_test=10)
    'win'
    """
    a, b = np.asarray(ours, dtype=np.float64), np.asarray(theirs, dtype=np.float64)
    if a.shape != b.shape:
        raise DataError(f"{a.shape} and {b.shape} losses; expected one pair for each fold")
    result = corrected_t_test(a - b, n_train, n_test)
    if result.p >= level:
        return "tie"
    return "win" if result.mean < 0 else "loss"
