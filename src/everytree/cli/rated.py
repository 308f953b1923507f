"""What a tree with a rate is worth on held-out rows, beside always the largest class and logistic regression.

Logistic regression is told twice: as it decides, and from the probability on that has the rate which was asked for.
That threshold is chosen on the rows that judge it, which flatters the baseline a little, and not the tree.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from everytree.cli.data import Examples
from everytree.cli.show import console
from everytree.data.frames import read_frame
from everytree.errors import EverytreeError
from everytree.estimators.honest import logistic_regression
from everytree.metrics.judged import Confusion, confusion_at
from everytree.query.rates import Rate

__all__ = ["Rated", "rate_baselines", "show_rated"]

MOST = 2000  # thresholds that are tried


class Rated(NamedTuple):
    """Who answers, and how often the class is found, missed and said in vain."""

    name: str
    found: Confusion

    def to_dict(self) -> dict[str, Any]:
        """Return it for programs."""
        return {"name": self.name} | self.found.to_dict()


def rate_baselines(examples: Examples, rate: Rate, label: Any, folds: int) -> list[Rated]:
    """Judge the baselines by the rate of a class; logistic regression only where the rows are enough for it."""
    classes, codes = np.unique(examples.y, return_inverse=True)
    totals = np.bincount(codes, examples.weights)
    largest, real = classes[int(np.argmax(totals))], examples.y == label
    told = [Rated(f"always {largest}", confusion_at(np.full(len(real), largest == label), real))]
    share = None if examples.weights is None else examples.weights.astype(float)
    try:
        rows, proba = logistic_regression(read_frame(examples.features), codes, share, len(classes), 0, folds)
    except (EverytreeError, ValueError):
        return told
    code, hit = int(np.flatnonzero(classes == label)[0]), real[rows]
    told.append(Rated("logistic regression", confusion_at(proba.argmax(axis=1) == code, hit)))
    asked = _at_rate(proba[:, code], hit, rate)
    if asked is not None:
        told.append(Rated(f"logistic regression, said from P = {asked.threshold:.3f} on", asked))
    return told


def _at_rate(score: Any, hit: Any, rate: Rate) -> Confusion | None:
    """Return what a threshold has that meets the rate: of F1 the best, else the fewest errors; None if none does."""
    met, thresholds = [], np.unique(score)
    for threshold in thresholds[:: 1 + len(thresholds) // MOST].tolist():
        each = confusion_at(score >= threshold, hit, threshold)
        if rate.least is None or getattr(each, rate.kind) >= rate.least:
            met.append(each)
    if rate.least is None:
        return max(met, key=lambda each: each.f1, default=None)
    return min(met, key=lambda each: each.misses + each.alarms, default=None)


def show_rated(label: Any, told: list[Rated]) -> None:
    """Print the class on held-out rows: found, missed and said in vain."""
    screen = console()
    wide = max(len(each.name) for each in told) + 1
    heads = f"{'found':>7}{'missed':>8}{'in vain':>9}{'precision':>11}{'recall':>8}{'F1':>8}"
    screen.print(f"{f'{label} on held-out rows':<{wide}}{heads}")
    for name, found in told:
        rates = [found.precision, found.recall, found.f1]
        cells = ["–" if rate != rate else f"{rate:.1%}" for rate in rates[:2]]
        score = "–" if rates[2] != rates[2] else f"{rates[2]:.3f}"
        counts = f"{found.hits:>7}{found.misses:>8}{found.alarms:>9}"
        screen.print(f"{name:<{wide}}{counts}{cells[0]:>11}{cells[1]:>8}{score:>8}")
