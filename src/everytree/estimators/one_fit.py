"""One fit at a time of an object, with one clock from reading to the last question; and what a copy of it holds.

begins    who fits it, in the object's own attributes: whoever finds another thread there is refused
ends      it is gone, however the fit ends; where that is an error, a limit or Ctrl-C, the object is what it was before
copy      the attributes of one moment, without fitter and clock: other threads may ask, and learn, meanwhile
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar, cast

from everytree.common.reading import reading
from everytree.errors import QueryError

__all__ = ["OneFit", "one_at_a_time", "put_back"]

Learns = TypeVar("Learns", bound=Callable[..., Any])

# A question is given at least this long, also where making the tests took all the time.
LEAST_SECONDS = 1e-6

# What an object holds only while it is fitted.
OF_ONE_FIT = ("_fitter", "_began", "_own")


def one_at_a_time(fit: Learns) -> Learns:
    """Make a method that learns refuse to begin while another thread learns with the same object.

    What two threads learn would be mixed otherwise, and so would what was learned before with half of what a method
    that ends in an error has learned. Such a method may call another one of the same object.
    """

    @wraps(fit)
    def alone(self: Any, *args: Any, **kwargs: Any) -> Any:
        me = (os.getpid(), threading.get_ident())
        held = vars(self)
        fitter = held.setdefault("_fitter", me)  # one step, also for threads
        # A fork copied the object while a thread fitted it, and threads are not copied.
        if fitter[0] != me[0]:
            for name in OF_ONE_FIT:
                held.pop(name, None)
            held["_fitter"] = fitter = me
        if fitter != me:
            raise QueryError(
                "this object is being fitted by another thread; wait for that fit, or give each thread an object "
                "of its own (sklearn.base.clone makes one)"
            )
        before = dict(held)
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            if fitter is me:
                put_back(held, before)
            raise
        finally:
            if fitter is me:  # the outermost
                held.pop("_fitter", None)

    return cast(Learns, alone)


def put_back(held: dict[str, Any], before: dict[str, Any]) -> None:
    """Make attributes again what they were; those in both are never gone, as other threads look at them."""
    for name in held.keys() - before.keys():
        del held[name]
    held.update(before)


class OneFit:
    """What a classifier knows of the fit that is running."""

    _began: float | None = None  # when it began, by the monotonic clock
    _own: float | None = None  # the same by the clock of its thread

    @contextmanager
    def _one_clock(self) -> Iterator[None]:
        """Run a fit inside: ``time_limit`` counts from here on, for all of it."""
        if self._began is not None:
            raise QueryError(
                "this object is being fitted, and what it calls meanwhile (progress, say) fits it again; give that a "
                "copy (sklearn.base.clone makes one)"
            )
        self._began, self._own = time.monotonic(), time.thread_time()
        try:
            yield
        finally:
            del self._began, self._own
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
        for name in OF_ONE_FIT:
            state.pop(name, None)
        return state
