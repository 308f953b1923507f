"""Stacking: how much several averages weigh in a mixture, by what each says of examples that it did not see.

    w = argmax over the simplex of  Σ_i n_i log Σ_k w_k p_k(y_i)         p_k(y_i): the probability that average k gives
                                                                        the true class of example i, left out
The log score is concave in the weights, so the steps of EM climb to its only maximum. Few examples say little about
the weights: they stay equal unless the gain over equal ones is larger than twice its standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["mixture", "stacked", "stacking_weights"]

Reals = npt.NDArray[np.float64]
STEPS = 2000
SETTLED = 1e-10
ERRORS = 2.0  # so many standard errors make a gain count
NEGLIGIBLE = 1e-3  # parts below this weight are left out: each costs as much time as the others


def mixture(parts: Sequence[Reals], weights: Reals) -> Reals:
    """Return the weighted mean of the probabilities of several averages."""
    return np.asarray(sum(w * part for part, w in zip(parts, weights.tolist(), strict=True)))


def stacked(own: Reals, counts: npt.ArrayLike) -> Reals:
    """Return the weights of the highest log score; ``own`` holds the probabilities of the true class, a column each.

    >>> stacked(np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.5]]), [1, 1, 1]).round(2).tolist()
    [0.36, 0.64]
    """
    share = np.asarray(counts, dtype=np.float64)
    share = share / share.sum()
    weights = np.full(own.shape[1], 1 / own.shape[1])
    for _ in range(STEPS):
        each = own * weights
        new = share @ (each / each.sum(axis=1, keepdims=True))
        moved = float(np.abs(new - weights).max())
        weights = new / new.sum()
        if moved < SETTLED:
            break
    weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum())


def stacking_weights(own: Reals, counts: npt.ArrayLike) -> Reals:
    """Return the stacked weights where they gain more than two standard errors over equal ones, else those.

    >>> stacking_weights(np.array([[0.9, 0.5]] * 20), np.ones(20)).tolist()
    [1.0, 0.0]
    >>> stacking_weights(np.array([[0.9, 0.5], [0.8, 0.5], [0.1, 0.5]]), [1, 1, 1]).tolist()
    [0.5, 0.5]
    """
    equal, best = np.full(own.shape[1], 1 / own.shape[1]), stacked(own, counts)
    number = np.asarray(counts, dtype=np.float64)
    gains = np.log(own @ best) - np.log(own @ equal)
    mean = float(np.average(gains, weights=number))
    error = math.sqrt(float(np.average((gains - mean) ** 2, weights=number)) / float(number.sum()))
    return best if mean > ERRORS * error else equal
