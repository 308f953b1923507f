"""How good a model is on examples that it has not seen, beside what everybody compares with.

    this tree             cross-validated: five searches, each without a fifth of the examples
    the average           exactly what it says of every example that is left out
    largest class         and logistic regression: as ``estimators.honest`` judges them, for commands too

A figure is accuracy, log-loss, Brier score and the area under the ROC curve (of several classes, the mean over them).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.frames import Frame
from everytree.data.table import Table
from everytree.errors import EverytreeError
from everytree.estimators.honest import FOLDS, baselines
from everytree.metrics.in_words import verdict_of
from everytree.metrics.judged import figures_of

__all__ = ["coded_folds", "figure", "page_baselines", "try_baselines", "verdict"]

Reals = npt.NDArray[np.float64]
Codes = npt.NDArray[np.intp]


def figure(
    name: str,
    proba: Reals,
    codes: Codes,
    weights: npt.ArrayLike | None = None,
    *,
    said: Codes | None = None,
) -> dict[str, Any]:
    """Return one line of figures; ``weights`` says how many examples each row stands for, ``said`` what is decided.

    >>> figure("coin", np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([0, 1]))["auc"]
    0.5
    """
    answers = proba.argmax(axis=1) if said is None else said
    return figures_of(name, answers, proba, codes, weights).to_dict()


def verdict(lines: Sequence[dict[str, Any]], error: float = 0.0) -> dict[str, Any]:
    """Say in words what the first line is worth beside the largest class and logistic regression, as commands do.

    ``error`` is the standard error of its gain in accuracy, where that is known.

    >>> one = {"name": "tree", "accuracy": 0.802, "log_loss": 0.4, "auc": 0.5}
    >>> verdict([one, {"name": "always No", "accuracy": 0.8, "log_loss": 0.5, "auc": 0.5, "base": True}])
    {'verdict': 'Barely better than always No: 80.2% right, always No 80.0%.', 'poor': True}
    """
    place = next((k for k, line in enumerate(lines) if line.get("base")), 0)
    if not place:
        return {"verdict": "", "poor": False}
    logistic = lines[place + 1] if place + 1 < len(lines) else None
    found = verdict_of(lines[0], lines[place], logistic, error)
    return {"verdict": found.words, "poor": found.poor}


# --- on rows of a table


def coded_folds(table: Table, seed: int = 0) -> list[npt.NDArray[np.int64]]:
    """Share out the examples of a table: for each fold the class counts that it judges by, about the same of each."""
    rng = np.random.default_rng(seed)
    folds = [np.zeros_like(table.class_counts) for _ in range(FOLDS)]
    first = 0
    for c in range(table.n_classes):
        examples = rng.permutation(np.repeat(np.arange(table.n_rows), table.class_counts[:, c]))
        for k in range(FOLDS):
            np.add.at(folds[k][:, c], examples[(k - first) % FOLDS :: FOLDS], 1)
        first += len(examples)  # so that folds have about the same size, also of many small classes
    return folds


def held_out_table(
    table: Table, learn: Callable[[Table], Callable[[npt.NDArray[Any]], Reals] | None]
) -> tuple[Reals, Codes, npt.NDArray[np.int64]] | None:
    """Judge by each fold what ``learn`` makes of the others: probabilities, classes and the number of examples."""
    found: list[tuple[Reals, Codes, npt.NDArray[np.int64]]] = []
    for judged in coded_folds(table):
        counts = table.class_counts - judged
        rows = np.flatnonzero(counts.sum(axis=1))
        if not judged.any() or rows.size == 0:
            continue
        part = Table.trusted(
            table.rows[rows], counts[rows], table.test_names, table.classes, columns=table.columns,
            per_example=table.per_example,
        )  # fmt: skip
        predict = learn(part)
        if predict is None:
            return None
        where, classes = np.nonzero(judged)
        places, inverse = np.unique(where, return_inverse=True)
        found.append((predict(table.rows[places])[inverse], classes, judged[where, classes]))
    if not found:
        return None
    proba, codes, weights = (np.concatenate([each[k] for each in found]) for k in range(3))
    return proba, codes, weights


# --- what everybody compares with


def page_baselines(frame: Frame, codes: Codes, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the figures of always the largest class, and of a logistic regression, as the command line has them."""
    always, line = baselines(frame, codes, None, classes)
    return [always.to_dict() | {"base": True}, line.to_dict()]


def try_baselines(frame: Frame, codes: Codes, classes: Sequence[str]) -> list[dict[str, Any]]:
    """Return the baselines, or none where the data are too few for them."""
    try:
        return page_baselines(frame, codes, classes)
    except (EverytreeError, ValueError):
        return []
