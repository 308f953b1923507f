"""Limits of long computations: time, memory, and a progress callback that rich can show."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from everytree.errors import QueryError

if TYPE_CHECKING:
    from everytree import _core

__all__ = ["Limits", "Progress", "threads"]

# stage, done, total, seconds
Progress = Callable[[str, int, int, float], None]


def physical_memory() -> int:
    """Bytes of memory of this machine; 8 GiB where the system does not tell."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 2**30


def threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's n_jobs: None is 1, −1 is every core, −2 all but one.

    >>> threads(None), threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise QueryError(f"n_jobs={n_jobs!r}; expected a number of threads, or −1 for every core")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)


@dataclass(frozen=True)
class Limits:
    """What a computation may use: seconds, bytes (None: three quarters of the machine's), and whom to tell."""

    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None and not self.time_limit > 0:
            raise QueryError(f"time_limit={self.time_limit!r}; expected seconds above 0, or None")
        if self.memory_limit is not None and not self.memory_limit > 0:
            raise QueryError(f"memory_limit={self.memory_limit!r}; expected bytes above 0, or None")

    @property
    def memory(self) -> int:
        return int(self.memory_limit) if self.memory_limit is not None else physical_memory() * 3 // 4

    def control(self) -> _core.Control:
        """A fresh control object of the core."""
        from everytree import _core

        return _core.Control(self.time_limit, self.memory, self.progress)
