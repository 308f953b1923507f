"""Which of two classifiers is significantly better on the same folds, by the corrected paired t-test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from everytree.metrics import verdict
from everytree.study.jobs import Row

__all__ = ["LARGER", "contest", "tally"]

Verdict = Literal["win", "tie", "loss"]
LARGER = ("accuracy", "auc")  # measures that are better when larger


def contest(ours: Sequence[Row], theirs: Sequence[Row], what: str, level: float) -> Verdict | None:
    """Compare two classifiers on one data set.

    Accuracies and areas are better when larger, everything else when smaller. A test part that is larger than the
    training part counts as equal to it.

    Parameters
    ----------
    ours : sequence of dict
        The rows of one classifier: ``trial``, ``n_train``, ``n_test`` and the measure.
    theirs : sequence of dict
        The rows of the other.
    what : str
        The measure, such as "accuracy" or "log_loss".
    level : float
        The significance level, such as 0.05.

    Returns
    -------
    str or None
        "win", "tie" or "loss" of the first; None with fewer than two folds in common.

    Examples
    --------
    >>> a = [{"trial": k, "n_train": 90, "n_test": 10, "accuracy": 0.9 + 0.01 * k} for k in range(3)]
    >>> b = [row | {"accuracy": 0.5} for row in a]
    >>> contest(a, b, "accuracy", 0.05), contest(b, a, "accuracy", 0.05), contest(a, a, "accuracy", 0.05)
    ('win', 'loss', 'tie')
    """
    a, b = ({row["trial"]: row for row in rows if row.get(what) is not None} for rows in (ours, theirs))
    trials = [trial for trial in a if trial in b]
    if len(trials) < 2:
        return None
    sign = -1.0 if what in LARGER else 1.0
    n_train, n_test = (sum(a[trial][key] for trial in trials) / len(trials) for key in ("n_train", "n_test"))
    return verdict(
        [sign * a[trial][what] for trial in trials],
        [sign * b[trial][what] for trial in trials],
        n_train,
        min(n_test, n_train),
        level,
    )


def tally(verdicts: Sequence[Verdict | None]) -> str:
    """Count wins, ties and losses.

    Parameters
    ----------
    verdicts : sequence of str or None
        Verdicts of ``contest``; None does not count.

    Returns
    -------
    str
        The counts as wins/ties/losses.

    Examples
    --------
    >>> tally(["win", "tie", "tie", None])
    '1/2/0'
    """
    return "/".join(str(verdicts.count(each)) for each in ("win", "tie", "loss"))
