"""Spent: the seconds that something took, where others may use the processor too."""

from __future__ import annotations

import time

__all__ = ["Spent"]


class Spent:
    """The seconds that were spent since it was made: of this thread, but no less than a quarter of those on the wall.

    By the wall clock, half of the averages were left out on a machine that others used too, and the model was worse.
    """

    def __init__(self) -> None:
        self._begun = time.thread_time(), time.monotonic()

    @property
    def seconds(self) -> float:
        return max(time.thread_time() - self._begun[0], (time.monotonic() - self._begun[1]) / 4)
