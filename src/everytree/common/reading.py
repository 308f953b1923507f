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
from typing import Any, TypeGuard, TypeVar

from everytree.errors import Argument, LimitReached, Wording

__all__ = ["check_memory", "grace", "look", "looked", "reading"]

Item = TypeVar("Item")

SMALL = 2**24  # bytes that no limit refuses: Python itself takes several times as many
GRACE = 0.02  # seconds over the limit, or this share of it

# When reading ends by the clock on the wall, which is quicker to ask and never behind, and by that of the thread.
_END: ContextVar[tuple[float, float]] = ContextVar("_END", default=(math.inf, math.inf))


_MOST: ContextVar[float] = ContextVar("_MOST", default=math.inf)  # bytes


def grace(limit: float) -> float:
    """Return the seconds that reading may take under a time limit.

    >>> grace(100.0), grace(0.001)
    (102.0, 0.021)
    """
    return limit + max(GRACE, GRACE * limit)


@contextmanager
def reading(limit: float | None, memory: float | None = None, began: float | None = None) -> Iterator[None]:
    """Read inside, for at most so many seconds since ``began`` on the clock of this thread, or since now.

    ``memory`` are the most bytes of what is made at once. A limit that is none is refused elsewhere, where it is used.
    """
    end, most = (math.inf, math.inf), math.inf
    if _is_limit(limit):
        own = time.thread_time()
        left = grace(limit) - (0.0 if began is None else own - began)
        end = (time.monotonic() + left, own + left)
    if _is_limit(memory):
        most = max(memory, SMALL)
    before = _END.set(min(_END.get(), end, key=lambda each: each[1])), _MOST.set(min(_MOST.get(), most))
    try:
        yield
    finally:
        _END.reset(before[0])
        _MOST.reset(before[1])


def _is_limit(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e308


def check_memory(n_bytes: float, what: str) -> None:
    """Raise ``LimitReached`` if so many bytes are beyond the memory of the reading that is going on."""
    if n_bytes > _MOST.get():
        raise LimitReached(
            Wording(
                f"memory limit reached while the columns were read: {what} take {n_bytes / 2**20:.1f} MiB; raise ",
                Argument("memory_limit"),
                ", or give fewer rows, columns or bins",
            ),
            "memory",
        )


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
