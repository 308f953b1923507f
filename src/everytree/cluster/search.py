"""The best tree in parts: splits of the upper levels, in rounds that share the best tree so far and all bounds.

The driver looks at the root: a first tree, and its splits in the order in which a search in one process tries them.
Each round hands out the next splits that the bounds known so far do not rule out. When none is left, the least cost is
proved (and the fewest leaves at that cost, where the query asks for size). A last search in the driver, which has
learned all bounds of the workers and looks only at what may be as good as the optimum, finds the tree that one process
would have found: also of several best trees, the same one.
"""

from __future__ import annotations

import copy
import math
import time
import uuid
from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import everytree._core as _core
from everytree.cluster.splits import ANY, Branches, Item, State, Steps
from everytree.common.arguments import whole
from everytree.common.limits import Limits
from everytree.common.workers import PARTS_PER_JOB, distribute, held, n_workers, release
from everytree.engine.engine import Engine
from everytree.errors import LimitReached, QueryError
from everytree.query.best import trees_of
from everytree.query.plan import Inside, Plan, Session, choose, cost_of, plan_of
from everytree.query.query import Query, query_of
from everytree.query.run import Outcome, new_search, outcome_of
from everytree.query.solve import search_by

if TYPE_CHECKING:
    from everytree.trees.tree import Tree
    from everytree.weights.costs import Cost

__all__ = ["best"]

MANY = 2**31  # leaves: any number
FEW = 8  # splits of the root per worker; with less, the splits below them are handed out


def best(
    space: Engine,
    minimize: Query | Sequence[str] | str = ("error", "size"),
    *,
    levels: int | None = None,
    n_jobs: int | None = None,
    **query: Any,
) -> Tree:
    """``space.best(minimize, ...)`` with the splits of the upper levels handed out to the workers of joblib's backend.

    It takes the queries that ``space.best`` answers by its search: one cost (error, expected_error, gini, entropy or
    cost), then perhaps size; with a bound on that cost, a price of leaves, class weights, constraints on leaves,
    forbidden tests, and any depth. The tree is the same, also where several are equally good. ``levels`` is 1 or 2:
    splits of the root, or those below them; by default 2 where the root has less than eight splits per worker.

    Limits of the space hold: ``time_limit`` for the whole, ``memory_limit`` for each worker. At a limit the answer is
    the best tree so far, and ``tree.info`` says what is proved.

    >>> from everytree import TreeSpace
    >>> space = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)
    >>> best(space) == space.best()
    True
    """
    asked = query_of(minimize, **query)
    plan = plan_of(asked, space)
    if choose(plan) != "search":
        raise QueryError(
            f"{asked!r} is not answered in parts; a cluster answers queries for one cost, then perhaps size, with no "
            "other bound than one on that cost without leaf_penalty, and no required tests; use space.best"
        )
    if levels is not None:
        whole("levels", levels, 1)
    with space.question("finding the best tree on a cluster") as control:
        session = Session(space, control)
        inside = session.inside(plan)

        def run(session: Session, plan: Plan, inside: Inside, cost: Cost) -> Outcome:
            return _Driver(session, plan, inside, cost, levels, n_jobs).run()

        found = [] if inside is None else search_by(run, session, plan, inside)
        return trees_of(session, asked, plan, found, False, {})[0]


class Job(NamedTuple):
    """Some splits of one state that a worker searches, with what is known of all its splits."""

    steps: Steps
    known: Branches
    tests: list[int]
    cut: float
    leaves: int


class Done(NamedTuple):
    """The result of a job, and the name and size of the search that did it, which count the states."""

    branches: Branches
    upper: float
    key: list[int]
    stopped: str
    worker: str
    n_states: int
    n_bytes: int


class Question:
    """A question as a worker holds it, with the searches that the worker keeps from round to round."""

    def __init__(self, space: Engine, plan: Plan) -> None:
        self.space, self.plan = space, plan
        self._idle: list[tuple[str, _core.Search]] = []  # one per thread of this process
        self._running: list[_core.Control] = []
        self._began: dict[int, float] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Question, (self.space, self.plan)

    def answer(self, number: int, seconds: float | None, jobs: Sequence[Job]) -> list[Done]:
        """Do the jobs of round ``number``, for which ``seconds`` are left; clocks of machines are not compared."""
        now = time.monotonic()
        if seconds is not None:
            seconds = max(1e-3, seconds - (now - self._began.setdefault(number, now)))
        control = Limits(seconds, self.space.limits.memory_limit).control()
        for running in (self._running, self.space.running):
            running.append(control)
        try:
            name, search = self._idle.pop()
        except IndexError:
            cost = cost_of(self.plan, self.plan.costs[0], self.space, self.plan.penalty)
            name, search = uuid.uuid4().hex, new_search(self.space, cost, 1)
        try:
            return [self._do(name, search, job, control) for job in jobs]
        finally:
            self._idle.append((name, search))
            for running in (self._running, self.space.running):
                running.remove(control)

    def stop(self) -> None:
        """Stop what runs in this process."""
        for control in list(self._running):
            control.stop()

    def _do(self, name: str, search: _core.Search, job: Job, control: _core.Control) -> Done:
        depth = -1 if self.space.max_depth is None else self.space.max_depth
        try:
            part = search.work(list(job.steps), depth, job.known, job.tests, job.cut, job.leaves, control)
        except LimitReached as limit:  # before it knew anything
            return Done(job.known[:0], math.inf, [], limit.reason, name, 0, 0)
        return Done(
            part.branches, part.upper, list(part.key), part.stopped, name, part.n_states, part.n_bytes
        )


def _answer(
    token: str, question: Question, number: int, seconds: float | None, jobs: list[Job]
) -> list[Done]:
    mine: Question = held(token, question)
    return mine.answer(number, seconds, jobs)


class _Driver:
    def __init__(
        self, session: Session, plan: Plan, inside: Inside, cost: Cost, levels: int | None, n_jobs: int | None
    ) -> None:
        self.control, self.cost, self.n_jobs = session.control, cost, n_jobs
        self.space = inside.space
        self.smallest = "size" in plan.rank
        self.depth = -1 if self.space.max_depth is None else self.space.max_depth
        self.limit = session.space.limits.time_limit
        self.progress = session.space.limits.progress
        self.began = time.monotonic()
        self.workers = n_workers(n_jobs)
        self.levels = levels
        self.searches: dict[str, tuple[int, int]] = {}  # states and bytes of each search of the workers
        sent = copy.copy(self.space)  # without graphs
        sent.running = session.space.running  # ``stop`` stops parts in this process too
        self.question, self.token = Question(sent, plan), uuid.uuid4().hex

    def run(self) -> Outcome:
        """Return the answer, as a search in one process gives it."""
        try:
            root = self._root()
        except LimitReached:  # before the first look was over: let a search in one process say what it knows
            return outcome_of(self._search().run(self.depth, self.smallest, self.control))
        try:
            stopped = self._rounds(root)
        except BaseException:
            self.question.stop()  # threads of this process do not end by themselves
            raise
        finally:
            release(self.token)
        return self._outcome(root, stopped) if stopped else self._last(root)

    def _search(self) -> _core.Search:
        return new_search(self.space, self.cost, 1)

    def _root(self) -> State:
        root = State(self._search(), self.control, (), self.depth, self.levels or 1)
        # Three levels leave nothing to hand out below the first.
        if self.levels is None and self.depth != 3 and len(root.branches) < FEW * self.workers:
            root.levels = 2
        return root

    def _rounds(self, root: State) -> str:
        """Hand out work until none is left or a limit is reached, and return which limit that was."""
        number, size = 0, self.workers
        while True:
            # At first a better tree is likely, and what is merely as good can wait.
            leaves = (root.leaves + 1 if root.key else MANY) if self.smallest and number > 0 else 0
            try:
                items = list(islice(root.wanted(ANY, leaves), size))
                self._tell(root)
            except LimitReached as limit:
                return limit.reason
            if not items and (leaves or not self.smallest):
                return ""
            number += 1
            stopped = self._round(root, number, items)
            if stopped:
                return stopped
            size *= 2

    def _round(self, root: State, number: int, items: list[Item]) -> str:
        n = min(len(items), PARTS_PER_JOB * self.workers)
        jobs = [_jobs(items[k::n]) for k in range(n)]
        seconds = None if self.limit is None else self.limit - (time.monotonic() - self.began)
        tasks = [(self.token, self.question, number, seconds, some) for some in jobs]
        stopped = ""
        for some, dones in zip(jobs, distribute(_answer, tasks, n_jobs=self.n_jobs), strict=True):
            for job, done in zip(some, dones, strict=True):
                cut = -math.inf if done.stopped else job.cut
                root.at(job.steps).take(done.branches, done.upper, done.key, cut, job.leaves)
                size = (done.n_states, done.n_bytes)
                self.searches[done.worker] = max(self.searches.get(done.worker, size), size)
                stopped = stopped or done.stopped
        root.refresh()
        return stopped

    def _tell(self, root: State) -> None:
        self.control.check()
        if self.progress is not None and root.key:
            told = f"best {self.cost.told(root.upper):.6g}, at least {self.cost.told(root.lower):.6g}"
            n = len(root.branches)
            seconds = time.monotonic() - self.began
            self.progress(f"searching on a cluster ({told})", n - root.open, max(n, 1), seconds)

    def _last(self, root: State) -> Outcome:
        """Find the tree of one process, by a search that goes past everything that the workers ruled out."""
        if not root.key:
            return self._outcome(root, "")
        search = self._search()
        try:
            for state in root.below_here():
                if len(state.learned):
                    search.learn(list(state.steps), self.depth, state.learned, self.control)
            leaves = root.leaves if self.smallest else None
            found = search.run(self.depth, self.smallest, self.control, root.upper, leaves)
        except LimitReached:
            return self._outcome(root, "")
        self.searches["last"] = (found.n_states, found.n_bytes)
        if not found.stopped:  # else the proof still holds, of a tree that may be another of the best
            root.upper, root.key = found.cost, list(found.key)
        return self._outcome(root, "")

    def _outcome(self, root: State, stopped: str) -> Outcome:
        n_states, n_bytes = (sum(size[k] for size in self.searches.values()) for k in (0, 1))
        cost, key = root.upper if root.key else math.inf, root.key
        if stopped and stopped != "stopped":  # no worse than the greedy tree, as a search in one process
            greedy = self._search().greedy(self.depth, self.control)
            if greedy.cost < cost:
                cost, key = greedy.cost, list(greedy.key)
        lower = min(cost, root.lower) if stopped else cost
        return Outcome(cost, lower, not stopped, stopped, key, n_states, n_bytes)


def _jobs(items: list[Item]) -> list[Job]:
    """Group the splits of one task, those of one state together."""
    by_state: dict[Steps, list[Item]] = {}
    for item in items:
        by_state.setdefault(item.state.steps, []).append(item)
    return [
        Job(
            steps,
            some[0].state.learned,
            [int(item.state.branches[item.row, 0]) for item in some],
            min(item.cut for item in some),
            some[0].leaves,
        )
        for steps, some in by_state.items()
    ]
