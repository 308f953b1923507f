"""A progress bar that appears after a second of work, and a Ctrl-C that keeps the best answer so far.

    first Ctrl-C     the question being answered stops; a search answers with the best it has found so far
    second Ctrl-C    the command ends at once, with exit code 130, whatever it does by then

If nothing is being answered (a file is being read), the first one ends the command.

``Spent`` measures what a command says about its time: how long it took in all, and for which parts.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from everytree.cli import ctrl_c
from everytree.cli.streams import remark
from everytree.common.allocator import give_back
from everytree.common.limits import watching

__all__ = ["Spent", "Work", "at_work", "counted", "waiting"]

PATIENCE = 1.0  # seconds before a bar is shown
KNOWN = 0.02  # share of the work that must be done before the rest is estimated
WORTH_TELLING = 0.005  # seconds; less would be printed as 0.00


class Spent:
    """Seconds since a command began, and what they went into, in order.

    ``lean`` is a command with a limit of memory: what one part took and dropped is given back before the next.

    >>> spent = Spent()
    >>> with spent.on("reading"):
    ...     pass
    >>> list(spent.parts), spent.total >= spent.parts["reading"]
    (['reading'], True)
    """

    def __init__(self, lean: bool = False) -> None:
        self._begun = time.perf_counter()
        self._lean = lean
        self.parts: dict[str, float] = {}

    @contextmanager
    def on(self, what: str) -> Iterator[None]:
        """Count the time of the block as this part of the command; a lean one gives back what it dropped."""
        begun = time.perf_counter()
        try:
            yield
            if self._lean:
                give_back()
        finally:
            self.parts[what] = self.parts.get(what, 0.0) + time.perf_counter() - begun

    @property
    def total(self) -> float:
        return time.perf_counter() - self._begun

    def __str__(self) -> str:
        parts = [f"{what} {seconds:.2f}" for what, seconds in self.parts.items() if seconds >= WORTH_TELLING]
        return f"{self.total:.2f} s" + (f" ({', '.join(parts)})" if parts else "")


class _Bar:
    """A bar on stderr, made when a stage has taken a second; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None
        self._stage = ""
        self._quiet = not sys.stderr.isatty()

    def __call__(self, stage: str, done: int, total: int | None, seconds: float) -> None:
        if self._quiet or seconds < PATIENCE:
            return
        if self._progress is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

            self._progress = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                TextColumn("{task.percentage:>3.0f}%"),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._progress.start()
            self._task = self._progress.add_task(stage, total=total)
        begun = stage.partition(" (")[0]  # the numbers that follow change
        if begun != self._stage:
            self._stage = begun
            self._progress.reset(self._task, total=total)
        self._progress.update(self._task, completed=done, total=total, description=stage)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


class Work:
    """A block of work: how long it may take, how far it is, and the bar that shows it."""

    def __init__(self, within: float | None = None) -> None:
        self.within = within  # seconds; the question is stopped once it is estimated to take more
        self.foretold = 0.0  # the seconds it was estimated to take, if it was stopped for that
        self.stopped = (
            ctrl_c.heard.is_set()
        )  # whether a first Ctrl-C stopped it, or what the command did before
        self.so_far = ""  # what the bar shows of the work before the question that is being answered
        self.bar = _Bar()
        self._begun = time.monotonic()

    @property
    def passed(self) -> float:
        return time.monotonic() - self._begun

    def tell(self, stage: str, done: int, total: int | None) -> None:
        """Move the bar; one without a total only shows that work goes on."""
        self.bar(f"{stage} ({self.so_far})" if self.so_far else stage, done, total, self.passed)

    def takes_too_long(self, done: int, total: int, seconds: float) -> bool:
        """Return whether a question that has done this much in so many seconds would end too late."""
        if self.within is None or self.foretold or self.passed < min(PATIENCE, self.within):
            return False
        rest = seconds * (total - done) / done if done > KNOWN * total else 0.0
        if self.passed + rest <= self.within:
            return False
        self.foretold = self.passed + rest
        return True


@contextmanager
def at_work(within: float | None = None) -> Iterator[Work]:
    """Show progress, and let the first Ctrl-C stop the question and the second one the command.

    A question is also stopped as soon as it is clear that the block would take more than ``within`` seconds.
    """
    work = Work(within)

    def heard(stage: str, done: int, total: int, seconds: float) -> None:
        work.tell(stage, done, total)
        if work.takes_too_long(done, total, seconds):
            watch.stop()

    with watching(heard) as watch:

        def interrupted(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the next one ends the command
            if ctrl_c.heard.is_set() or watch.stop() == 0:
                raise KeyboardInterrupt
            work.stopped = True
            ctrl_c.heard.set()
            work.bar.close()
            remark("stopping; once more to give up at once")

        # What a script starts with & ignores Ctrl-C, which is for others; None is a handler that Python does not know.
        ignored = signal.getsignal(signal.SIGINT) in (signal.SIG_IGN, None)
        main = threading.current_thread() is threading.main_thread() and not ignored
        before = signal.signal(signal.SIGINT, interrupted) if main else None
        try:
            yield work
        finally:
            work.bar.close()
            if main:
                signal.signal(signal.SIGINT, before)


def counted(items: Iterable[Any], total: int, stage: str) -> Iterator[Any]:
    """Yield the items as they come, with a bar that counts them; the first may take long."""
    bar, start = _Bar(), time.monotonic()
    first = threading.Timer(PATIENCE, bar, (stage, 0, total, PATIENCE))
    first.daemon = True
    first.start()
    try:
        for done, item in enumerate(items, 1):
            first.cancel()
            first.join()
            bar(stage, done, total, time.monotonic() - start)
            yield item
    finally:
        first.cancel()
        first.join()
        bar.close()


@contextmanager
def waiting(stage: str) -> Iterator[None]:
    """Show that work goes on, in a block that does not tell how far it is, once it has taken a second."""
    bar = _Bar()
    late = threading.Timer(PATIENCE, bar, (stage, 0, None, PATIENCE))
    late.daemon = True
    late.start()
    try:
        yield
    finally:
        late.cancel()
        late.join()
        bar.close()
