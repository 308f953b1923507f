"""How good the probabilities of a classifier are, measured on rows whose class is known.

For one row with the probabilities p and the class y, C classes, natural logarithms:

    log-loss      −ln max(p_y, clip)
    Brier         Σ_c (p_c − [c = y])², between 0 and 2
    reliability   rows by the probability of their most probable class, in bins of equal width; in bin b are n_b rows,
                  conf_b is the mean of that probability and acc_b the share of rows of that class
    ECE           Σ_b n_b/n · |acc_b − conf_b|, the expected calibration error
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import refused, whole
from everytree.errors import DataError, QueryError

__all__ = ["CLIP", "Reliability", "aligned", "brier", "log_loss"]

CLIP = 1e-6  # with this, a probability of zero for what then happens costs ln 10^6 = 13.8, and not infinity
Floats = npt.NDArray[np.float64]


def aligned(proba: npt.ArrayLike, known: Sequence[Any], classes: Sequence[Any]) -> Floats:
    """Put the columns of predicted probabilities in the order of all classes.

    Parameters
    ----------
    proba : array of float, shape (n_rows, n_known)
        The probabilities of the classes that were known in training.
    known : sequence
        The label of each column of ``proba``.
    classes : sequence
        The labels of all classes, in the order that is wanted.

    Returns
    -------
    array of float, shape (n_rows, n_classes)
        The probability of every class, 0 for those that were not known.

    Examples
    --------
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
    """Compute the log-loss of each row, −ln of the probability of its class.

    Parameters
    ----------
    proba : array of float, shape (n_rows, n_classes)
        The predicted probabilities.
    y : array of int, shape (n_rows,)
        The class of each row, as a column of ``proba``.
    clip : float, default 1e-6
        The least probability that is counted; smaller ones count as this.

    Returns
    -------
    array of float, shape (n_rows,)
        The loss of each row, 0 or more.

    Examples
    --------
    >>> log_loss([[0.5, 0.5], [1.0, 0.0]], [0, 1]).round(3).tolist()
    [0.693, 13.816]
    """
    given, codes = _checked(proba, y)
    if not 0 < clip < 1:
        raise refused(QueryError, "clip", clip, f"a probability above 0, such as {CLIP}")
    losses: Floats = -np.log(np.maximum(given[np.arange(len(codes)), codes], clip))
    return np.maximum(losses, 0.0)  # a probability of 1 + 1e-16 is one


def brier(proba: npt.ArrayLike, y: npt.ArrayLike) -> Floats:
    """Compute the Brier score of each row: squared errors of the probabilities, summed over the classes.

    Parameters
    ----------
    proba : array of float, shape (n_rows, n_classes)
        The predicted probabilities.
    y : array of int, shape (n_rows,)
        The class of each row, as a column of ``proba``.

    Returns
    -------
    array of float, shape (n_rows,)
        The score of each row, from 0 (best) to 2.

    Examples
    --------
    >>> brier([[0.5, 0.5], [1.0, 0.0]], [0, 1]).tolist()
    [0.5, 2.0]
    """
    given, codes = _checked(proba, y)
    hit = np.zeros_like(given)
    hit[np.arange(len(codes)), codes] = 1.0
    # In place: of many rows and classes, each copy is as large as all that is known.
    np.subtract(given, hit, out=hit)
    np.square(hit, out=hit)
    scores: Floats = hit.sum(axis=1)
    return scores


@dataclass(frozen=True)
class Reliability:
    """How often a classifier is right, by how sure it is: sums over rows, which add up over folds as an ECE does not.

    Rows are put into bins of equal width by the probability of their most probable class.

    Parameters
    ----------
    rows : tuple of int
        The number of rows in each bin.
    confidence : tuple of float
        The sum of those probabilities in each bin.
    hits : tuple of int
        The number of rows in each bin whose class is the most probable one.

    Examples
    --------
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
        """Put the rows of one table of probabilities into bins.

        Parameters
        ----------
        proba : array of float, shape (n_rows, n_classes)
            The predicted probabilities.
        y : array of int, shape (n_rows,)
            The class of each row, as a column of ``proba``.
        bins : int, default 10
            The number of bins, which divide 0 to 1 equally; a border belongs to the bin above it.

        Returns
        -------
        Reliability
            The sums of each bin.
        """
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
