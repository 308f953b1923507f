"""While a command works: a progress bar after a second, and a Ctrl-C that keeps the best so far.

    first Ctrl-C     the question being answered stops; what has a best so far answers with it
    second Ctrl-C    the command ends at once, with exit code 130

If nothing is being answered (a file is being read), the first one ends the command.
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

__all__ = ["at_work", "counted"]

PATIENCE = 1.0  # seconds before a bar is shown


class _Bar:
    """A bar on stderr, made when a stage has taken a second; nothing where stderr is no terminal."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None
        self._stage = ""
        self._quiet = not sys.stderr.isatty()

    def __call__(self, stage: str, done: int, total: int, seconds: float) -> None:
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
        begun = stage.partition(" (")[0]  # what follows are numbers that change
        if begun != self._stage:
            self._stage = begun
            self._progress.reset(self._task, total=total)
        self._progress.update(self._task, completed=done, total=total, description=stage)

    def close(self) -> None:
        if self._progress is not None:
            self._progress.stop()
            self._progress = None


@contextmanager
def at_work() -> Iterator[None]:
    """Show progress, and let the first Ctrl-C stop the question and the second one the command."""
    from everytree.common.limits import watching

    bar = _Bar()
    with watching(bar) as watch:

        def interrupted(number: int, frame: FrameType | None) -> None:
            signal.signal(signal.SIGINT, signal.default_int_handler)  # the next one ends the command
            if watch.stop() == 0:
                raise KeyboardInterrupt
            bar.close()
            print("stopping; once more to give up at once", file=sys.stderr)

        main = threading.current_thread() is threading.main_thread()
        before = signal.signal(signal.SIGINT, interrupted) if main else None
        try:
            yield
        finally:
            bar.close()
            if main:
                signal.signal(signal.SIGINT, before)


def counted(items: Iterable[Any], total: int, stage: str) -> Iterator[Any]:
    """The items as they come, with a bar that counts them."""
    bar, start = _Bar(), time.monotonic()
    try:
        for done, item in enumerate(items, 1):
            bar(stage, done, total, time.monotonic() - start)
            yield item
    finally:
        bar.close()
