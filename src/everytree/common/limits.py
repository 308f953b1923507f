"""Limits of long computations: time, memory, and a progress callback that rich can show."""

from __future__ import annotations

import math
import operator
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import everytree._core as _core
from everytree.common.arguments import number, refused
from everytree.errors import QueryError

__all__ = ["Limits", "Progress", "Watch", "in_bytes", "threads", "watching"]

# stage, done, total, seconds
Progress = Callable[[str, int, int, float], None]


def physical_memory() -> int:
    """Bytes of memory this process may hope for: the machine's, or its container's; 8 GiB where nothing tells."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = 8 * 2**30
    try:
        container = int(Path("/sys/fs/cgroup/memory.max").read_text(encoding="ascii"))
    except (OSError, ValueError):  # no cgroup, or "max"
        container = machine
    return min(machine, container)


def threads(n_jobs: int | None) -> int:
    """Number of threads for scikit-learn's n_jobs: None is 1, −1 is every core, −2 all but one.

    >>> threads(None), threads(3)
    (1, 3)
    """
    if n_jobs is None:
        return 1
    try:
        n = 0 if isinstance(n_jobs, bool) else operator.index(n_jobs)
    except TypeError:
        n = 0
    if n == 0:
        raise refused(QueryError, "n_jobs", n_jobs, "a number of threads, or −1 for every core")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(n, 1024) if n > 0 else max(1, cores + 1 + n)


@dataclass(frozen=True)
class Limits:
    """What one question may use: seconds, bytes (None: three quarters of the machine's), and whom to tell."""

    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Progress | None = None

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            number("time_limit", self.time_limit, 0, math.inf, example=60)
        if self.memory_limit is not None:
            number("memory_limit", self.memory_limit, 0, math.inf, example=2**30)
        if self.progress is not None and not callable(self.progress):
            raise refused(
                QueryError, "progress", self.progress, "a function of (stage, done, total, seconds)"
            )

    @property
    def memory(self) -> int:
        return physical_memory() * 3 // 4 if self.memory_limit is None else min(int(self.memory_limit), 2**63)

    def control(self) -> _core.Control:
        """A fresh control object of the core; its clock starts now."""
        told = self.progress
        if told is None and _WATCHES:
            told = _WATCHES[-1].progress
        control = _core.Control(self.time_limit, self.memory, told)
        for watch in _WATCHES:
            watch._controls.add(control)
        return control


class Watch:
    """Sees every question that is asked while it is in force: hears of its progress, and can stop it."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress
        self._controls: weakref.WeakSet[_core.Control] = weakref.WeakSet()

    def stop(self) -> int:
        """Stop the questions being answered now, from any thread; how many there are.

        What can answer with the best so far does so; the rest ends with ``LimitReached``. Later questions run as ever.
        """
        running = list(self._controls)
        for control in running:
            control.stop()
        return len(running)


_WATCHES: list[Watch] = []  # of the whole process: a question may be answered in any thread


@contextmanager
def watching(progress: Progress | None = None) -> Iterator[Watch]:
    """Watch every question of this process until the block ends; ``progress`` hears those that have none of their own.

    >>> with watching() as watch:
    ...     watch.stop()  # nothing is running
    0
    """
    watch = Watch(progress)
    _WATCHES.append(watch)
    try:
        yield watch
    finally:
        _WATCHES.remove(watch)


def in_bytes(n: float) -> str:
    """A number of bytes for people.

    >>> in_bytes(3 * 2**30), in_bytes(10**7), in_bytes(10**14)
    ('3.0 GiB', '9.5 MiB', '90.9 TiB')
    """
    if n >= 2**40:
        return f"{n / 2**40:.3g} TiB"
    return f"{n / 2**30:.1f} GiB" if n >= 2**30 else f"{n / 2**20:.1f} MiB"
