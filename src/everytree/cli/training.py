"""Count the errors on the training rows where that is quick; else leave them out and say how to get them.

One tree answers every row at once. An average over very many trees may take longer to answer the training rows than it
took to learn from them, and the number is worth little: it is no estimate of anything new.

    --training-errors       count them, however long it takes
    --no-training-errors    do not
    neither                 count them if it takes no longer than the command took so far, or than ``QUICK``

The model is written before. So Ctrl-C, or a limit of the model, costs the number and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from everytree.cli.watch import at_work
from everytree.errors import LimitReached

__all__ = ["TrainingErrors", "count_errors"]

QUICK = 5.0  # seconds


class TrainingErrors(NamedTuple):
    """The number of training errors; or None, and why they were not counted."""

    errors: int | None
    why: str = ""


def count_errors(count: Callable[[], float], wanted: bool | None, so_far: float) -> TrainingErrors:
    """Return the answer of ``count``, unless it is not wanted, takes too long, or is interrupted.

    >>> count_errors(lambda: 3.0, None, 0.0)
    TrainingErrors(errors=3, why='')
    >>> count_errors(lambda: 3.0, False, 0.0).errors
    """
    if wanted is False:
        return TrainingErrors(None, "not asked for")
    with at_work(None if wanted else max(QUICK, so_far)) as work:
        try:
            return TrainingErrors(round(count()))
        except LimitReached as limit:
            if work.foretold:
                long = f"it would take about {work.foretold:.0f} s; --training-errors counts them"
                return TrainingErrors(None, long)
            limits = {"time": "it takes longer than the --time-limit", "stopped": "stopped"}
            return TrainingErrors(None, limits.get(limit.reason, str(limit)))
        except KeyboardInterrupt:
            if work.stopped:  # a second Ctrl-C ends the command
                raise
            return TrainingErrors(None, "stopped")
