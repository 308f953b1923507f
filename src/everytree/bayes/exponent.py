"""The exponent that makes probabilities bolder or more modest: p^γ / Σ p^γ, with γ chosen by left-out examples.

    γ = 1   as they are          γ > 1   nearer to 0 and 1          γ = 0   all classes alike

The mean log-loss of held-out examples is convex in γ (a log-sum-exp of linear functions, less a linear one), so its
slope changes sign once, and bisection finds the place.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["MOST", "ChosenExponent", "best_exponent", "chosen_exponent", "log_loss_at", "tempered"]

Reals = npt.NDArray[np.float64]
MOST = 10.0  # where every left-out example is right the loss falls for ever: no probability is made bolder than this
STEPS = 100


def tempered(proba: Reals, exponent: float) -> Reals:
    """Return p^exponent, scaled to sum to one in each row; the exponent 1 changes nothing.

    >>> tempered(np.array([[0.8, 0.2]]), 2.0).round(3).tolist()
    [[0.941, 0.059]]
    """
    if exponent == 1:
        return proba
    with np.errstate(divide="ignore"):
        logs = np.log(proba)
    powers = np.exp(exponent * (logs - logs.max(axis=1, keepdims=True))) if exponent else np.ones_like(proba)
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def log_loss_at(exponent: float, proba: Reals, codes: npt.NDArray[np.intp], weights: npt.ArrayLike) -> float:
    """Return the weighted mean of −log of the true class's probability under this exponent."""
    logs = exponent * np.log(proba)
    most = logs.max(axis=1)
    total = most + np.log(np.exp(logs - most[:, None]).sum(axis=1))
    return float(np.average(total - logs[np.arange(len(codes)), codes], weights=np.asarray(weights)))


def best_exponent(proba: Reals, codes: npt.NDArray[np.intp], weights: npt.ArrayLike) -> float:
    """Return the exponent, from 0 to ``MOST``, with the least log-loss of these probabilities of known classes.

    >>> p = np.array([[0.6, 0.4]] * 9 + [[0.4, 0.6]])
    >>> round(best_exponent(p, np.zeros(10, dtype=np.intp), np.ones(10)), 3)
    5.419
    """
    logs = np.log(proba)
    own = logs[np.arange(len(codes)), codes]
    share = np.asarray(weights, dtype=np.float64)

    def slope(exponent: float) -> float:
        return float(share @ ((tempered(proba, exponent) * logs).sum(axis=1) - own))

    lowest, highest = slope(0.0), slope(MOST)
    if lowest == highest == 0:
        return 1.0  # all say the same, whatever the exponent
    if lowest >= 0:
        return 0.0
    if highest <= 0:
        return MOST
    low, high = 0.0, MOST
    for _ in range(STEPS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if slope(middle) > 0 else (middle, high)
    return (low + high) / 2


class ChosenExponent(NamedTuple):
    """An exponent, the log-loss before it with its standard error, and the log-loss with it."""

    exponent: float
    log_loss: float
    log_loss_error: float
    calibrated_log_loss: float


def chosen_exponent(
    proba: Reals, codes: npt.NDArray[np.intp], weights: npt.NDArray[np.float64], least: float = 0.0
) -> ChosenExponent:
    """Choose the exponent, from ``least`` on, by what was said of examples that had no part in it.

    ``weights`` are in examples.

    >>> p = np.array([[0.6, 0.4]] * 9 + [[0.4, 0.6]])
    >>> [round(x, 3) for x in chosen_exponent(p, np.zeros(10, dtype=np.intp), np.ones(10))]
    [5.419, 0.551, 0.041, 0.325]
    """
    losses = -np.log(proba[np.arange(len(codes)), codes])
    mean, n = float(np.average(losses, weights=weights)), float(weights.sum())
    error = math.sqrt(float(weights @ (losses - mean) ** 2) / (n - 1) / n) if n > 1 else math.nan
    exponent = max(least, best_exponent(proba, codes, weights))
    return ChosenExponent(exponent, mean, error, log_loss_at(exponent, proba, codes, weights))
