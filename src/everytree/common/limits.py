"""Limits of long computations: time, memory, and a progress callback that rich can show."""

from __future__ import annotations

import math
import operator
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import everytree._core as _core
from everytree.common.allocator import give_back
from everytree.common.arguments import number, refused
from everytree.errors import QueryError

__all__ = ["Limits", "Progress", "Watch", "blocks", "in_bytes", "threads", "watching"]

# The arguments are the stage, how much is done, the total, and the seconds so far.
Progress = Callable[[str, int, int, float], None]


def physical_memory() -> int:
    """Return the bytes of memory of the machine or of its container; 8 GiB where nothing tells."""
    try:
        machine = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        machine = 8 * 2**30
    try:
        with open("/sys/fs/cgroup/memory.max", "rb") as told:  # every question asks; a Path takes longer
            container = int(told.read())
    except (OSError, ValueError):  # no cgroup, or "max"
        container = machine
    return min(machine, container)


def threads(n_jobs: int | None) -> int:
    """Return the number of threads for scikit-learn's n_jobs: None is 1, −1 is every core, −2 all but one.

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
    """The limits of one question, and who hears of its progress.

    Attributes
    ----------
    time_limit : float or None
        The most seconds; None for any number.
    memory_limit : int or None
        The most bytes; None for three quarters of the machine's memory.
    progress : callable or None
        A function of (stage, done, total, seconds) that is called from time to time.
    held : int
        Bytes that are in use already, which a limit that was given counts too.
    """

    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Progress | None = None
    held: int = 0

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
    def most_bytes(self) -> int:
        """The limit of memory, for messages."""
        return physical_memory() * 3 // 4 if self.memory_limit is None else min(int(self.memory_limit), 2**63)

    @property
    def memory(self) -> int:
        """The bytes that a question may take."""
        return self.most_bytes if self.memory_limit is None else max(0, self.most_bytes - self.held)

    def give_back(self) -> None:
        """Give freed memory back to the system, where memory is limited: what an earlier step left is in no account."""
        if self.memory_limit is not None:
            give_back()

    def control(self) -> _core.Control:
        """Return a fresh control object of the core; its clock starts now."""
        progress, watches = self.progress, tuple(_WATCHES)  # other threads add some and remove them
        if progress is None and watches:
            progress = watches[-1].progress
        control = _core.Control(self.time_limit, self.memory, progress)
        for watch in watches:
            watch._add(control)
        return control


def blocks(n_rows: int, row_bytes: int, control: _core.Control) -> Iterator[slice]:
    """Yield slices of about a megabyte of rows, and look at the limits before each: loops of numpy look at none.

    >>> list(blocks(5, 500_000, Limits().control()))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, 10**6 // max(1, row_bytes))
    for begin in range(0, n_rows, step):
        control.check()
        yield slice(begin, min(begin + step, n_rows))


class Watch:
    """An observer of every question that is asked until it is removed: it hears of progress, and can stop them."""

    def __init__(self, progress: Progress | None = None) -> None:
        self.progress = progress
        # Threads add to it while a signal's handler reads it: no lock, and nothing that takes more than one step.
        self._controls: set[weakref.ref[_core.Control]] = set()

    def _add(self, control: _core.Control) -> None:
        self._controls.add(weakref.ref(control, self._controls.discard))

    def stop(self) -> int:
        """Stop the questions that are being answered now, from any thread, and return how many there are.

        Questions that can answer with the best so far do so; the others end with ``LimitReached``. Later ones are not
        affected.
        """
        running = [control for each in tuple(self._controls) if (control := each()) is not None]
        for control in running:
            control.stop()
        return len(running)


_WATCHES: list[Watch] = []  # one list for the whole process, because a question may be answered in any thread


@contextmanager
def watching(progress: Progress | None = None) -> Iterator[Watch]:
    """Watch every question of this process until the block ends.

    ``progress`` is called for the questions that have no progress function of their own.

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
    """Write a number of bytes for people.

    >>> in_bytes(3 * 2**30), in_bytes(10**7), in_bytes(10**14)
    ('3.0 GiB', '9.5 MiB', '90.9 TiB')
    """
    if n >= 2**40:
        return f"{n / 2**40:.3g} TiB"
    return f"{n / 2**30:.1f} GiB" if n >= 2**30 else f"{n / 2**20:.1f} MiB"
