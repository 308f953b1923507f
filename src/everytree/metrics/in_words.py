"""What figures on held-out rows mean, in a sentence: beside always the largest class, and logistic regression.

    gain = accuracy − accuracy of always the largest class

A gain below half a per cent, or below two standard errors where these are known, is hardly one: "barely better". A
model may then still rank rows, which its AUC says.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["BARELY", "RANKS", "Verdict", "gain_error", "verdict_of"]

BARELY = 0.005  # a gain in accuracy that is hardly one
RANKS = 0.6  # an AUC that is worth a threshold
CLOSE = 0.01  # of the log-loss of the largest class: probabilities that are this near are as good


class Verdict(NamedTuple):
    """A sentence or two; whether the answers are hardly better than the largest class; whether the rows are ranked."""

    words: str
    poor: bool
    ranks: bool


def gain_error(
    said: npt.NDArray[np.intp],
    true: npt.NDArray[np.intp],
    largest: int,
    weights: npt.NDArray[np.float64] | None = None,
) -> float:
    """Return the standard error of the gain in accuracy over always the largest class.

    >>> gain_error(np.array([0, 1, 1, 0]), np.array([0, 1, 0, 0]), 0)
    0.408248290463863
    """
    gains = (said == true).astype(float) - (true == largest)
    mean = float(np.average(gains, weights=weights))
    n = len(true) if weights is None else float(weights.sum())
    spread = float(np.average((gains - mean) ** 2, weights=weights))
    return math.sqrt(spread / max(1.0, n - 1))


def verdict_of(
    mine: Mapping[str, Any], base: Mapping[str, Any], line: Mapping[str, Any] | None, error: float = 0.0
) -> Verdict:
    """Say what the figures of a model mean beside those of the largest class and of logistic regression.

    >>> mine = {"accuracy": 0.802, "log_loss": 0.4, "auc": 0.7}
    >>> base = {"name": "always No", "accuracy": 0.8, "log_loss": 0.5, "auc": 0.5}
    >>> verdict_of(mine, base, None).words
    'Barely better than always No: 80.2% right, always No 80.0%. But it ranks: AUC 0.700.'
    """
    gain = mine["accuracy"] - base["accuracy"]
    poor = gain < max(BARELY, 2 * error)
    ranks = poor and mine["auc"] is not None and mine["auc"] >= RANKS
    how = "No better" if gain <= 0 else "Barely better" if poor else "Better"
    words = f"{how} than {base['name']}: {mine['accuracy']:.1%} right, {base['name']} {base['accuracy']:.1%}."
    if ranks:
        words += f" But it ranks: AUC {mine['auc']:.3f}."
    if line is None:
        return Verdict(words, poor, ranks)
    gap, close = mine["log_loss"] - line["log_loss"], CLOSE * max(base["log_loss"], 1e-9)
    losses = sorted((mine["log_loss"], line["log_loss"]))
    two = f"{losses[0]:.3f} against {losses[1]:.3f}"
    if gap > close:
        words += f" Logistic regression has the better probabilities (log-loss {two})."
    elif gap < -close:
        words += f" Its probabilities are better than those of logistic regression (log-loss {two})."
    else:
        words += f" Its probabilities are as good as those of logistic regression (log-loss {mine['log_loss']:.3f})."
    return Verdict(words, poor, ranks)
