"""OneClock: all of a fit, from reading the columns to its last question, shares one time limit."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from everytree.common.reading import reading

__all__ = ["OneClock"]

# A question is given at least this long, also where making the tests took all the time.
LEAST_SECONDS = 1e-6


class OneClock:
    """What a classifier with a ``time_limit`` inherits; without one no clock runs."""

    _began: float | None = None  # when the fit that is running began, by the monotonic clock
    _own: float | None = None  # the same by the clock of its thread

    @contextmanager
    def _one_clock(self) -> Iterator[None]:
        """Run a fit inside: ``time_limit`` counts from here on, for all of it."""
        self._began, self._own = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            del self._began, self._own
        # Each later question has all of the time limit again.
        for name in ("posterior_", "draws_", "space_"):
            held = getattr(self, name, None)
            space = getattr(held, "space", held)
            if space is not None:
                space.limits = replace(space.limits, time_limit=getattr(self, "time_limit", None))

    def _time_left(self) -> Any:
        """Return what is left of ``time_limit`` in the fit that is running, at least an instant; else all of it."""
        limit = getattr(self, "time_limit", None)  # Not every classifier has this parameter.
        if (
            self._began is None
            or isinstance(limit, bool)
            or not isinstance(limit, int | float)
            or not 0 < limit <= 1e308
        ):
            return limit  # A value that is no limit is refused where it is used.
        return max(LEAST_SECONDS, limit - (time.monotonic() - self._began))

    def _reading(self) -> AbstractContextManager[None]:
        """Read columns inside, under the clock of the fit that is running."""
        return reading(getattr(self, "time_limit", None), getattr(self, "memory_limit", None), self._own)
