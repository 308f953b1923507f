"""How good answers and probabilities are on rows that were held out: the figures that everybody asks for.

    accuracy    the share of right answers                    log-loss, Brier    of the probabilities (``scores``)
    AUC         P(a row of the class is ranked above one of another class), ties count half; with more than two classes
                the mean over the classes, each against the rest

For one class that matters, with TP, FP, FN and TN counted over rows that are said to be of it from a threshold on:

    precision  TP / (TP + FP)      recall  TP / (TP + FN)      F1  2 TP / (2 TP + FP + FN)
    cost       miss · FN + alarm · FP
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.metrics.scores import brier, log_loss

__all__ = [
    "Confusion",
    "Figures",
    "area_under_curve",
    "best_threshold",
    "confusion_at",
    "figures_of",
    "standard_error",
    "threshold_for_recall",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Figures:
    """Accuracy, log-loss, Brier score and AUC of one way to answer; NaN where a figure makes no sense.

    Parameters
    ----------
    name : str
        Who answered.
    accuracy : float
        The share of right answers.
    log_loss : float
        The mean log-loss of the probabilities.
    brier : float
        Their mean Brier score.
    auc : float
        The area under the curve; with more than two classes, the mean over the classes.
    accuracy_error, log_loss_error : float
        The standard errors of accuracy and log-loss over the examples.
    """

    name: str
    accuracy: float
    log_loss: float
    brier: float
    auc: float
    accuracy_error: float = math.nan
    log_loss_error: float = math.nan

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values; what makes no sense is None.

        Returns
        -------
        dict
            The figures by name.
        """
        return {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in asdict(self).items()
        }


def area_under_curve(score: npt.ArrayLike, hit: npt.ArrayLike, weights: npt.ArrayLike | None = None) -> float:
    """Return the probability that a row of a class has a higher score than a row of another; ties count half.

    Parameters
    ----------
    score : array of float, shape (n_rows,)
        The scores.
    hit : array of bool, shape (n_rows,)
        Which rows are of the class.
    weights : array, shape (n_rows,), optional
        How many rows each counts as.

    Returns
    -------
    float
        A number from 0 to 1; NaN where all rows are of the class, or none.

    Examples
    --------
    >>> area_under_curve([0.1, 0.4, 0.4, 0.8], [False, False, True, True])
    0.875
    """
    values, codes = np.unique(np.asarray(score, dtype=float), return_inverse=True)
    is_hit = np.asarray(hit, dtype=bool)
    share = np.ones(len(codes)) if weights is None else np.asarray(weights, dtype=float)
    yes = np.bincount(codes[is_hit], share[is_hit], minlength=len(values))
    no = np.bincount(codes[~is_hit], share[~is_hit], minlength=len(values))
    pairs = yes.sum() * no.sum()
    if pairs == 0:
        return math.nan
    below = np.cumsum(no) - no
    return float((yes * (below + no / 2)).sum() / pairs)


def figures_of(
    name: str,
    said: npt.NDArray[np.intp],
    proba: Floats,
    codes: npt.NDArray[np.intp],
    weights: npt.ArrayLike | None = None,
) -> Figures:
    """Judge answers and probabilities of rows whose class is known.

    Parameters
    ----------
    name : str
        Who answered.
    said : array of int, shape (n_rows,)
        The class that was answered, as a column of ``proba``.
    proba : array of float, shape (n_rows, n_classes)
        The probabilities.
    codes : array of int, shape (n_rows,)
        The true class.
    weights : array, shape (n_rows,), optional
        How many rows each counts as.

    Returns
    -------
    Figures
        The figures.

    Examples
    --------
    >>> figures_of("me", np.array([0, 1]), np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([0, 1])).accuracy
    1.0
    """
    share = None if weights is None else np.asarray(weights, dtype=float)
    n_classes = proba.shape[1]
    asked = [1] if n_classes == 2 else range(n_classes)  # the areas of two classes are equal
    area = _mean([area_under_curve(proba[:, c], codes == c, share) for c in asked])
    right, losses = (said == codes).astype(float), log_loss(proba, codes)
    return Figures(
        name,
        float(np.average(right, weights=share)),
        float(np.average(losses, weights=share)),
        float(np.average(brier(proba, codes), weights=share)),
        area,
        standard_error(right, share),
        standard_error(losses, share),
    )


def standard_error(values: Floats, weights: Floats | None = None) -> float:
    """Return the standard error of the mean of values, each of which so many examples have; NaN for one example.

    Parameters
    ----------
    values : array of float, shape (n_rows,)
        The values.
    weights : array, shape (n_rows,), optional
        How many examples have each.

    Returns
    -------
    float
        The standard error.

    Examples
    --------
    >>> standard_error(np.array([0.0, 1.0]), np.array([2.0, 2.0])) == standard_error(np.array([0.0, 0.0, 1.0, 1.0]))
    True
    """
    n = len(values) if weights is None else float(weights.sum())
    if n <= 1:
        return math.nan
    spread = float(np.average((values - np.average(values, weights=weights)) ** 2, weights=weights))
    return math.sqrt(spread / (n - 1))


def _mean(values: list[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return math.fsum(known) / len(known) if known else math.nan


@dataclass(frozen=True)
class Confusion:
    """How often one class is found, missed and said in vain, from a threshold of its probability on.

    Parameters
    ----------
    threshold : float or None
        The least probability from which the class is said; None where a model decides by itself.
    hits, alarms, misses, rest : int
        True positives, false positives, false negatives, true negatives.
    """

    threshold: float | None
    hits: int
    alarms: int
    misses: int
    rest: int

    @property
    def precision(self) -> float:
        """The share of those said to be of the class that are; NaN where none is said to be."""
        said = self.hits + self.alarms
        return self.hits / said if said else math.nan

    @property
    def recall(self) -> float:
        """The share of the class that is found."""
        real = self.hits + self.misses
        return self.hits / real if real else math.nan

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        sides = 2 * self.hits + self.alarms + self.misses
        return 2 * self.hits / sides if sides else math.nan

    def cost(self, miss: float, alarm: float) -> float:
        """Return what misses and false alarms cost.

        Parameters
        ----------
        miss : float
            The cost of a miss.
        alarm : float
            The cost of a false alarm.

        Returns
        -------
        float
            The sum over all rows.
        """
        return miss * self.misses + alarm * self.alarms

    def to_dict(self) -> dict[str, Any]:
        """Return counts and rates as plain values.

        Returns
        -------
        dict
            The values by name; None where a rate makes no sense.
        """
        rates = {name: getattr(self, name) for name in ("precision", "recall", "f1")}
        return asdict(self) | {name: None if math.isnan(rate) else rate for name, rate in rates.items()}


def confusion_at(said: npt.ArrayLike, hit: npt.ArrayLike, threshold: float | None = None) -> Confusion:
    """Count how often a class is said, and rightly.

    Parameters
    ----------
    said : array of bool, shape (n_rows,)
        Which rows are said to be of the class.
    hit : array of bool, shape (n_rows,)
        Which rows are.
    threshold : float, optional
        The threshold that decided.

    Returns
    -------
    Confusion
        The counts.

    Examples
    --------
    >>> found = confusion_at([True, True, False], [True, False, True])
    >>> found.hits, found.alarms, found.misses, found.recall
    (1, 1, 1, 0.5)
    """
    yes, real = np.asarray(said, dtype=bool), np.asarray(hit, dtype=bool)
    return Confusion(
        threshold, int((yes & real).sum()), int((yes & ~real).sum()), int((~yes & real).sum()),
        int((~yes & ~real).sum()),
    )  # fmt: skip


def best_threshold(score: Floats, hit: npt.NDArray[np.bool_], miss: float, alarm: float) -> Confusion:
    """Find the threshold of least cost on these rows; of several the largest.

    Parameters
    ----------
    score : array of float, shape (n_rows,)
        The probability of the class.
    hit : array of bool, shape (n_rows,)
        Which rows are of it.
    miss, alarm : float
        The costs of a miss and of a false alarm.

    Returns
    -------
    Confusion
        The counts from this threshold on.

    Examples
    --------
    >>> best_threshold(np.array([0.9, 0.6, 0.2]), np.array([True, False, True]), 1.0, 1.0).threshold
    0.9
    """
    return min(_thresholds(score, hit), key=lambda each: (each.cost(miss, alarm), -(each.threshold or 0)))


def threshold_for_recall(score: Floats, hit: npt.NDArray[np.bool_], recall: float) -> Confusion:
    """Find the largest threshold from which a share of the class is found.

    Parameters
    ----------
    score : array of float, shape (n_rows,)
        The probability of the class.
    hit : array of bool, shape (n_rows,)
        Which rows are of it.
    recall : float
        The share.

    Returns
    -------
    Confusion
        The counts from this threshold on.

    Examples
    --------
    >>> threshold_for_recall(np.array([0.9, 0.6, 0.2]), np.array([True, False, True]), 0.9).threshold
    0.2
    """
    enough = [each for each in _thresholds(score, hit) if each.recall >= recall]
    return max(enough, key=lambda each: each.threshold or 0)


def _thresholds(score: Floats, hit: npt.NDArray[np.bool_]) -> list[Confusion]:
    """Return the counts at every threshold that differs, the probability 1 (or more) first."""
    values, codes = np.unique(score, return_inverse=True)
    yes = np.bincount(codes[hit], minlength=len(values))[::-1].cumsum()
    no = np.bincount(codes[~hit], minlength=len(values))[::-1].cumsum()
    real, others = int(hit.sum()), int((~hit).sum())
    never = Confusion(float(np.nextafter(values[-1], 2)), 0, 0, real, others)
    return [
        never,
        *(
            Confusion(float(value), int(a), int(b), real - int(a), others - int(b))
            for value, a, b in zip(values[::-1].tolist(), yes.tolist(), no.tolist(), strict=True)
        ),
    ]
