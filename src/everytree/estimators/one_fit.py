"""One fit at a time of an object, with one clock from reading to the last question; and what a copy of it holds.

begins    the time, in the object's own attributes: whoever finds it there from another fit is refused
ends      it is gone, however the fit ends
copy      the attributes of one moment, without the clock: other threads may ask, and learn, meanwhile
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from typing import Any

from everytree.common.reading import reading
from everytree.errors import QueryError

__all__ = ["OneFit"]

# A question is given at least this long, also where making the tests took all the time.
LEAST_SECONDS = 1e-6


class OneFit:
    """What a classifier knows of the fit that is running."""

    _began: float | None = None  # when it began, by the monotonic clock
    _own: float | None = None  # the same by the clock of its thread

    @contextmanager
    def _one_clock(self) -> Iterator[None]:
        """Run a fit inside: ``time_limit`` counts from here on, for all of it."""
        began = time.monotonic()
        try:
            if self.__dict__.setdefault("_began", began) is not began:  # one step, also for threads
                raise QueryError(
                    "this object is being fitted by another thread; wait for that fit, or give each thread an object "
                    "of its own (sklearn.base.clone makes one)"
                )
            self._own = time.thread_time()
            yield
        finally:
            if self.__dict__.get("_began") is began:
                self.__dict__.pop("_own", None)
                del self._began
        # Each later question has all of the time limit again.
        for name in ("posterior_", "draws_", "space_"):
            found = getattr(self, name, None)
            space = getattr(found, "space", found)
            if space is not None:
                space.limits = replace(space.limits, time_limit=getattr(self, "time_limit", None))

    def _time_left(self) -> Any:
        """Return what is left of ``time_limit`` in the fit that is running, at least an instant; else all of it."""
        # Not every classifier has this parameter.
        limit, began = getattr(self, "time_limit", None), self._began
        if (
            began is None
            or isinstance(limit, bool)
            or not isinstance(limit, int | float)
            or not 0 < limit <= 1e308
        ):
            return limit  # A value that is no limit is refused where it is used.
        return max(LEAST_SECONDS, limit - (time.monotonic() - began))

    def _reading(self) -> AbstractContextManager[None]:
        """Read columns inside, under the clock of the fit that is running."""
        return reading(getattr(self, "time_limit", None), getattr(self, "memory_limit", None), self._own)

    def __getstate__(self) -> dict[str, Any]:
        living: Any = super().__getstate__()
        state: dict[str, Any] = dict(living)  # one step: a pickle takes many
        state.pop("_began", None)
        state.pop("_own", None)
        return state
