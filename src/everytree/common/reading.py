"""The clock of reading: columns are read, cut and counted under the time limit of whoever asked for it.

    with reading(limit):    # in a classifier or a space
        …
        look()              # wherever the work has steps: a column, a test

A search that may answer at any time needs the table for any answer. So reading may take a little more than the limit,
and what others take of the processor does not count; what takes far longer ends with ``LimitReached``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from everytree.errors import Argument, LimitReached, Wording

__all__ = ["grace", "look", "looked", "reading"]

Item = TypeVar("Item")

GRACE = 0.02  # seconds over the limit, or this share of it

# When reading ends by the clock on the wall, which is quicker to ask and never behind, and by that of the thread.
_END: ContextVar[tuple[float, float]] = ContextVar("_END", default=(math.inf, math.inf))


def grace(limit: float) -> float:
    """Return the seconds that reading may take under a time limit.

    >>> grace(100.0), grace(0.001)
    (102.0, 0.021)
    """
    return limit + max(GRACE, GRACE * limit)


@contextmanager
def reading(limit: float | None, began: float | None = None) -> Iterator[None]:
    """Read inside, for at most so many seconds since ``began`` on the clock of this thread, or since now.

    A limit that is none is refused elsewhere, where it is used.
    """
    if limit is None or isinstance(limit, bool) or not isinstance(limit, int | float) or not limit >= 0:
        yield
        return
    own = time.thread_time()
    left = grace(limit) - (0.0 if began is None else own - began)
    end = (time.monotonic() + left, own + left)
    before = _END.set(min(_END.get(), end, key=lambda each: each[1]))
    try:
        yield
    finally:
        _END.reset(before)


def look() -> None:
    """Raise ``LimitReached`` if the time of the reading that is going on is over; it takes 0.2 µs."""
    wall, own = _END.get()
    if time.monotonic() > wall and time.thread_time() > own:
        raise LimitReached(
            Wording(
                "time limit reached while the columns were read; raise ",
                Argument("time_limit"),
                ", or give fewer rows, columns or bins",
            ),
            "time",
        )


def looked(items: Iterable[Item]) -> Iterator[Item]:
    """Yield the items, and look at the clock before each.

    >>> list(looked("ab"))
    ['a', 'b']
    """
    for item in items:
        look()
        yield item
