"""The questions that clients ask in the explorer; a client is a tab of a browser or a program.

    a new question of a client     stops the question that this client asked before, and no other
    one client too many            the one that has been silent longest is forgotten, idle ones first
    the end                        every question is stopped, and its thread is waited for

Questions of different clients are answered side by side, each in a thread of its own; those of one client one after
the other.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from everytree.errors import DataError, EverytreeError, QueryError
from everytree.report.asked import Asked
from everytree.space.tree_space import TreeSpace

__all__ = ["MOST_CLIENTS", "Job", "Jobs"]

MOST_CLIENTS = 8
LOOK = 0.05  # seconds between two calls to stop what has not stopped yet


@dataclass(eq=False)
class Job:
    """A question that is being answered: what is known so far, and whether more will come."""

    id: int
    asked: Asked
    begun: float = field(default_factory=time.monotonic)
    status: str = "searching …"
    error: str | None = None
    part: dict[str, Any] = field(default_factory=dict)
    first: threading.Event = field(default_factory=threading.Event)  # set when there is something to show
    finished: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False
    space: TreeSpace | None = None
    thread: threading.Thread | None = None

    def cancel(self) -> None:
        """Stop the question; what was found stays."""
        self.cancelled = True
        space = self.space
        if space is not None:
            space.stop()

    def tell(self, **parts: Any) -> None:
        """Add parts to the answer, all at once, so that nobody sees a tree with the claims of another."""
        self.part = {**self.part, **parts}

    def told(self) -> dict[str, Any]:
        """Return the answer so far, as the page reads it."""
        done = self.finished.is_set()  # read first, because a finished answer does not change any more
        return {
            "id": self.id,
            "done": done,
            "status": self.status,
            "seconds": time.monotonic() - self.begun,
            "part": self.part,
            **({} if self.error is None else {"error": self.error}),
        }


class Jobs:
    """The latest question of every client, and the threads that answer them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._of: OrderedDict[str, Job] = OrderedDict()  # by client, the longest silent first
        self._alive: list[Job] = []  # including those that were stopped and have not ended yet
        self._closed = False

    def begin(self, client: str, asked: Asked, work: Callable[[Job], None]) -> Job:
        """Answer a question by ``work`` in a thread of its own, once this client's question before it has ended."""
        with self._lock:
            if self._closed:
                raise QueryError("the explorer is ending; start it again")
            before = self._of.pop(client, None)
            if before is not None:
                before.cancel()
            elif len(self._of) >= MOST_CLIENTS:
                self._forget_one()
            self._number += 1
            job = Job(self._number, asked)
            job.thread = threading.Thread(target=_run, args=(job, work, before), daemon=True)
            self._of[client] = job
            self._alive = [each for each in self._alive if not each.finished.is_set()] + [job]
            job.thread.start()
        return job

    def _forget_one(self) -> None:
        idle = [client for client, job in self._of.items() if job.finished.is_set()]
        self._of.pop(idle[0] if idle else next(iter(self._of))).cancel()

    def of(self, client: str, number: Any) -> Job:
        """Return the question of a client that has this number."""
        with self._lock:
            job = self._of.get(client)
            if job is None or type(number) is not int or number != job.id:
                raise DataError("this question is no longer being answered; ask it again")
            self._of.move_to_end(client)
            return job

    def cancel(self, client: str) -> None:
        """Stop the question of a client, if it has one."""
        with self._lock:
            job = self._of.get(client)
        if job is not None:
            job.cancel()

    def cancel_all(self) -> None:
        """Stop every question."""
        with self._lock:
            alive = list(self._alive)
        for job in alive:
            job.cancel()

    @property
    def running(self) -> int:
        """The number of questions that are being answered."""
        with self._lock:
            return sum(not job.finished.is_set() for job in self._alive)

    def close(self, seconds: float) -> bool:
        """Stop every question, wait for the threads at most so many seconds, and return whether all have ended.

        No new question begins afterwards.
        """
        with self._lock:
            self._closed = True
            alive = list(self._alive)
        until = time.monotonic() + seconds
        for job in alive:
            # A call of the core that begins just after a call to stop misses it, so that call is repeated.
            while job.thread is not None and job.thread.is_alive() and time.monotonic() < until:
                self.cancel_all()
                job.thread.join(LOOK)
        return not any(job.thread is not None and job.thread.is_alive() for job in alive)


def _run(job: Job, work: Callable[[Job], None], before: Job | None) -> None:
    if before is not None:
        before.finished.wait()  # it has been stopped and ends soon
    try:
        if job.cancelled:
            job.status = "Stopped."
        else:
            work(job)
    except EverytreeError as error:
        job.error = str(error)
    except Exception as error:
        job.error = f"{type(error).__name__}: {error}"
        raise
    finally:
        job.space = None
        job.finished.set()
        job.first.set()
