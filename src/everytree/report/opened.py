"""One data set with one target, open in the explorer: its tests, the spaces asked so far, and their answers.

The table of tests is made once. A space (max_depth, min_leaf, columns left out) is kept after a question, with what it
has computed, so that a change of a constraint is answered from what is there. One question at a time uses a space: the
same question asked beside it gets a space of its own. An answer comes in parts:

    the best tree       searched in slices of time; each one sends the best tree so far and the bound
    the front           the best tree of every size
    the posterior       what the trees use, the most probable ones, the rules for one row
    held out            how good the tree and the average are on examples that they have not seen

A reader may choose what some nodes ask: then the tree is the best one with these nodes, and all else stays.

Claims ("proved best", the objective, the bound) are sent together with the tree that they are about. Where every node
chooses its own cuts, so are the tests that the trees and rules of the answer ask.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from everytree.common.limits import Limits
from everytree.data.frames import read_frame
from everytree.data.readers.dataset import Dataset, unknown_column
from everytree.data.recipes.target import LIKELY
from everytree.data.table import Table
from everytree.errors import DataError, LimitReached, QueryError
from everytree.estimators.optimal import OptimalTreeClassifier
from everytree.query.query import Query
from everytree.report import sections
from everytree.report.asked import Asked
from everytree.report.edits import fixed_of, price_words
from everytree.report.held_out import try_baselines, verdict
from everytree.report.jobs import Job
from everytree.report.left_out import left_out_average, left_out_front, left_out_tree
from everytree.report.node import Nodes
from everytree.report.page_tests import PageTests
from everytree.report.plain import cost_words, prior_words
from everytree.report.trees import page_tree
from everytree.report.words import shown, told
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree

__all__ = ["DIRICHLET", "USUAL_DEPTH", "Opened", "guess_target"]

KEPT_SPACES = 8
KEPT_ANSWERS = 32
MOST_CLASSES = 100
MOST_ROWS = 60  # that a reader can pick from
FIRST_SLICE, SLICE = 0.1, 0.3  # seconds of search between two looks at the best so far
FIRST_EDIT = 1.0  # seconds for a tree with nodes of the reader; then it is searched again, four times as long
LEFT_OUT = (
    "The tree is judged by trees searched again without a fifth of the examples, on that fifth; the average by what "
    "it says of each example without it, exactly; logistic regression by cross-validation."
)
DIRICHLET = 1.0
USUAL_DEPTH = 4
# rows × tests²: with more, this depth takes longer than a blink
MOST_PAIRS = {4: 10_000_000, 3: 120_000_000}
# Seconds for the proof of the best tree, and for each other part: a reader is never left to wait without end.
SEARCH_SECONDS, PART_SECONDS = 15.0, 8.0
PARTS = {
    "front": "the best tree of every size",
    "posterior": "the average over every tree",
    "held_out": "a figure for examples left out",
}
EPSILON = 0.02  # the largest error of the sum of rules that predicts a row

Kept = list[int] | None  # the tests of a space; None for all of them
Key = tuple[int, int, frozenset[str]]


def guess_target(data: Dataset) -> str:
    """Choose the column to predict: the one that the file names, one with a name that ``fit`` takes, or the last."""
    if data.target is not None:
        return data.target
    telling = [name for name in data.names if name.strip().lower() in LIKELY]
    return telling[-1] if telling else data.names[-1]


class Opened:
    """A data set with a target; ``number`` distinguishes it from those that were open before."""

    def __init__(
        self,
        data: Dataset,
        file: str,
        target: str | None,
        n_jobs: int | None,
        number: int,
        encoding: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        name = guess_target(data) if target is None else target
        if name not in data.names:
            raise unknown_column(name, data.names, "target column", "target")
        labelled = data.drop_missing(name)
        if labelled.n_rows == 0:
            raise DataError(f"the column {shown(name)!r} holds no value; choose another target")
        features, y = labelled.split(name)
        if len(np.unique(y)) > MOST_CLASSES:
            raise DataError(
                f"the column {shown(name)!r} holds {len(np.unique(y))} different values; a class to predict has at "
                f"most {MOST_CLASSES}. Choose another target"
            )
        frame = read_frame(features)
        missing = any(column.mask is not None for column in frame.columns)
        how = {"missing": "category" if missing else "error", **encoding}
        model = OptimalTreeClassifier(max_depth=0, **how).fit(frame, y)
        self.data, self.file, self.target, self.number = data, file, name, number
        self.model, self.table = model, model.space_.table
        self.page_tests = PageTests(model)
        self.columns = tuple(str(each) for each in model.feature_names_in_)
        places = np.linspace(0, frame.n_rows - 1, min(MOST_ROWS, frame.n_rows)).round()
        self.places = np.unique(places).astype(np.intp)  # where the rows to pick stand in the data
        self.rows = frame.take(self.places)
        self.frame, self.codes = frame, np.searchsorted(model.classes_, y).astype(np.intp)
        self.labels = self.codes[self.places]
        self._tests = model.to_tests(self.rows)
        self._n_jobs = n_jobs
        self._lock = threading.Lock()
        self._answers: OrderedDict[Asked, tuple[str, dict[str, Any]]] = OrderedDict()
        self._averages: OrderedDict[Any, tuple[dict[str, Any], list[list[str]]]] = OrderedDict()
        self._least: OrderedDict[Asked, tuple[float, bool]] = (
            OrderedDict()
        )  # the best objective, and if it is proved
        self._left_out: OrderedDict[Any, Any] = OrderedDict()
        self._baselines: list[dict[str, Any]] | None = None
        self._nodes: Nodes | None = None
        self._spaces: OrderedDict[Key, tuple[TreeSpace, Kept]] = (
            OrderedDict()
        )  # spaces that no question uses now

    @property
    def usual(self) -> Asked:
        """The question to begin with: the depth, from 2 to 4, that is answered at once; a leaf has a few examples."""
        pairs = self.table.n_rows * len(self.model.binarizer_.tests_) ** 2
        depth = next((depth for depth, most in MOST_PAIRS.items() if pairs <= most), 2)
        return Asked(depth, min_leaf=max(1, min(5, self.table.total // 20)))

    def answer(self, job: Job, memory: int) -> None:
        """Answer a question, part by part, with at most ``memory`` bytes."""
        asked = job.asked
        with self._lock:
            known = self._answers.get(asked)
            if known is not None:
                self._answers.move_to_end(asked)
        if known is not None:
            job.status, job.part = known
            return
        with self._space(asked) as (space, kept):
            job.space = space
            self._ask(job, space, kept, memory)

    def _ask(self, job: Job, space: TreeSpace, kept: Kept, memory: int) -> None:
        asked = job.asked
        notes: list[str] = []
        reached = asked.max_depth  # by the average
        tree = self._edited(job, space, kept, memory) if asked.edits else self._best(job, space, kept, memory)
        if tree is None:
            return
        self._tell(job, **self._tree_part(asked, tree, kept), facts=self._facts(space))
        job.first.set()
        proved = "Proved best."
        if not tree.info.get("optimal", True):
            least = tree.info["lower_bound"]
            known = f"none has less than {told(least)}" if least else "a better one is not ruled out"
            proved = f"The best found in {SEARCH_SECONDS:.0f} s, not proved: {known}."
        if asked.edits:
            proved = f"Proved best with your {_choices(asked)}." if proved == "Proved best." else proved
            proved += f" {self._price(asked, tree)}"
        with self._lock:
            before = self._answers.get(asked.plain)
        if asked.edits and before is not None:  # the reader's nodes change neither
            notes += before[1]["notes"]
            self._tell(job, front=before[1]["front"], posterior=before[1]["posterior"])
            job.tell(facts=before[1]["facts"])
        else:
            reached = self._others(job, space, kept, memory, proved, notes)
        job.status = f"{proved} Now how good it is on examples it has not seen …"
        space.limits = Limits(PART_SECONDS, memory, _teller(job, "examples left out"))
        self._part(job, "held_out", notes, lambda: self._held_out(job, space, kept, reached))
        if job.part.get("front") and "held" not in job.part["front"] and not job.cancelled:
            self._part(job, "front", notes, lambda: self._judged_front(job, space))
        space.limits = Limits()
        if job.cancelled:
            missing = [name for name in PARTS if job.part.get(name) is None]
            notes += [f"Stopped before there was {PARTS[name]}." for name in missing]
        parts = {name: job.part.get(name) for name in PARTS}
        self._tell(job, notes=notes, **parts)
        job.status = f"Stopped. {proved}" if job.cancelled else proved
        if not job.cancelled and tree.info.get("optimal", True):  # asked again, a search goes on
            with self._lock:
                _keep(self._answers, asked, (proved, job.part), KEPT_ANSWERS)

    def _others(
        self, job: Job, space: TreeSpace, kept: Kept, memory: int, proved: str, notes: list[str]
    ) -> int:
        """Answer what does not depend on the reader's nodes, the front and the posterior; return the depth of that."""
        asked = job.asked
        rows = [[DIRICHLET] * len(space.classes)]
        options: dict[str, Any] = {"max_size": asked.max_size, "require": list(asked.require) or None}

        def front(space: TreeSpace, kept: Kept, asked: Asked) -> Any:
            return sections.front(space, rows, asked.objective, self.page_tests.among(kept), **options)

        def average(space: TreeSpace, kept: Kept, asked: Asked) -> Any:
            return self._posterior(job, space, kept, asked, notes)

        reached = asked.max_depth
        for name, make in (("front", front), ("posterior", average)):
            job.status = f"{proved} Now {PARTS[name]} …"
            reached = self._in_time(job, name, make, (space, kept), memory, notes)
        return reached

    def _in_time(
        self, job: Job, name: str, make: Any, mine: tuple[TreeSpace, Kept], memory: int, notes: list[str]
    ) -> int:
        """Make a part within its seconds; where they are too few, that of less deep trees. Say so, return the depth."""
        more = ""
        for depth in range(job.asked.max_depth, -1, -1):
            asked = replace(job.asked.plain, max_depth=depth)
            with nullcontext(mine) if depth == job.asked.max_depth else self._space(asked) as (space, kept):
                before, job.space = job.space, space
                space.limits = Limits(PART_SECONDS, memory, _teller(job, PARTS[name]))
                try:
                    self._part(job, name, notes, lambda: make(space, kept, asked), again=depth > 1)  # noqa: B023
                except LimitReached as error:
                    more = (
                        f"longer than {PART_SECONDS:.0f} s" if error.reason == "time" else "too much memory"
                    )
                    continue
                finally:
                    job.space = before
            if depth < job.asked.max_depth and job.part.get(name) is not None:
                words = PARTS[name].replace("tree", f"tree of depth {depth} at most", 1)
                notes.append(f"This is {words}; that of depth {job.asked.max_depth} takes {more}.")
            return depth
        return 0

    def _tell(self, job: Job, **parts: Any) -> None:
        """Add parts to an answer, with the tests that all its parts ask, where these are not in the page already."""
        if self.page_tests.columns is not None:
            parts["tests"] = self.page_tests.asked_in(job.part | parts)
        job.tell(**parts)

    @contextmanager
    def _space(self, asked: Asked) -> Iterator[tuple[TreeSpace, Kept]]:
        """Lend the space of a question to it alone; a space kept from an earlier question is used again."""
        key = (asked.max_depth, asked.min_leaf, frozenset(asked.forbid))
        with self._lock:
            found = self._spaces.pop(key, None)
        if found is None:
            found = self._new_space(asked)
        try:
            yield found
        finally:
            with self._lock:
                _keep(self._spaces, key, found, KEPT_SPACES)

    def _new_space(self, asked: Asked) -> tuple[TreeSpace, Kept]:
        tests = self.model.binarizer_.tests_
        kept = [k for k, test in enumerate(tests) if str(test.attribute) not in asked.forbid]
        table = self.table
        if len(kept) < len(tests):
            names = [(table.test_names or ())[k] for k in kept]
            columns = None if table.columns is None else table.columns.only(kept)
            table = Table.trusted(
                table.rows[:, kept], table.class_counts, names, table.classes, distinct=False, columns=columns,
                per_example=table.per_example,
            )  # fmt: skip
        space = TreeSpace.from_table(
            table,
            asked.max_depth,
            asked.min_leaf,
            self._n_jobs,
            attributes=[str(tests[k].attribute) for k in kept],
        )
        return space, None if len(kept) == len(tests) else kept

    # --- the best tree

    def _best(self, job: Job, space: TreeSpace, kept: Kept, memory: int) -> Tree | None:
        """Find the best tree; a search continues slice by slice, and sends its bound and the best tree so far."""
        asked = job.asked.plain
        if asked.require and asked.max_size is None:
            # The best of all trees is the answer if it uses the required columns; its search is quicker than the fold.
            free = self._search(
                job, space, kept, memory, Query((asked.objective, "size")), has_what_it_must=False
            )
            if free is None or self._uses(free, kept) >= set(asked.require):
                return free
        return self._search(job, space, kept, memory, _query(asked))

    def _edited(self, job: Job, space: TreeSpace, kept: Kept, memory: int) -> Tree | None:
        """Find the best tree with the reader's nodes; its price is beside the best tree, which is found first."""
        asked = job.asked
        fixed = fixed_of(asked, kept)
        if asked.plain not in self._least:
            self._knows(asked.plain, self._best(job, space, kept, memory))
        tree: Tree | None = None
        seconds = FIRST_EDIT
        while not job.cancelled:
            space.limits = Limits(seconds, memory, _teller(job, "the best tree"))
            try:
                tree = space.best_with(fixed, _query(asked))
            except LimitReached as limit:
                if limit.reason not in ("time", "stopped"):
                    raise
            if tree is not None and tree.info.get("optimal", True):
                return tree
            if tree is not None:
                self._tell(job, **self._tree_part(asked, tree, kept), facts=self._facts(space))
                job.first.set()
                job.status = f"searching … {told(tree.info['objective'])} so far with your {_choices(asked)}"
                if 4 * seconds > SEARCH_SECONDS:
                    return tree
            seconds *= 4
        job.status = "Stopped: the best so far, not proved." if tree else "Stopped before there was a tree."
        return None

    def _knows(self, asked: Asked, tree: Tree | None) -> None:
        """Remember the objective of a question, beside which a reader's nodes have a price."""
        if tree is not None:
            with self._lock:
                known = float(tree.info["objective"]), bool(tree.info.get("optimal", True))
                _keep(self._least, asked, known, KEPT_ANSWERS)

    def _price(self, asked: Asked, tree: Tree) -> str:
        best = self._least.get(asked.plain)
        return "" if best is None else price_words(asked.objective, tree, best, asked.n_choices)

    def _uses(self, tree: Tree, kept: Kept) -> set[str]:
        """Return the columns that a tree asks about."""
        tests = self.model.binarizer_.tests_
        return {str(tests[t if kept is None else kept[t]].attribute) for t in tree.key if t >= 0}

    def _search(
        self,
        job: Job,
        space: TreeSpace,
        kept: Kept,
        memory: int,
        query: Query,
        has_what_it_must: bool = True,
    ) -> Tree | None:
        """Return the best tree of a query, or None if the search ended before the proof; the status then says why.

        Where its trees need not use the required columns, only the bound on them is sent.
        """
        asked = job.asked
        in_slices = query.max_size is None and not query.require
        seconds, until = FIRST_SLICE, time.monotonic() + SEARCH_SECONDS
        best: Tree | None = None
        ended = "stopped"
        while not job.cancelled:
            space.limits = Limits(
                seconds if in_slices else SEARCH_SECONDS, memory, _teller(job, "the best tree")
            )
            try:
                best = space.best(query)
            except LimitReached as limit:
                if not in_slices or limit.reason not in ("time", "stopped"):
                    raise
            if best is not None:
                info = best.info
                if info.get("optimal", True):
                    if has_what_it_must:
                        self._knows(asked.plain, best)
                    return best
                bound = told(info["lower_bound"])
                if has_what_it_must and not asked.edits:
                    self._tell(job, **self._tree_part(asked, best, kept), facts=self._facts(space))
                    job.first.set()
                    what = cost_words(asked.objective)
                    least = "not proved yet" if info["lower_bound"] <= 0 else f"none has less than {bound}"
                    job.status = f"searching … {what} {told(info['objective'])} so far, {least}"
                else:
                    job.status = f"searching … none has less {cost_words(asked.objective)} than {bound}"
                if info["stop_reason"] == "memory limit":
                    ended = "ended at the memory limit"
                    break
                if time.monotonic() >= until and has_what_it_must:
                    self._knows(asked.plain, best)
                    return best
                if not in_slices:
                    break
            seconds = SLICE
        if best is None:
            job.status = f"{ended.capitalize()} before there was a tree."
            return None
        bound = f"none has less than {told(best.info['lower_bound'])}."
        if not has_what_it_must:
            names = ", ".join(map(shown, asked.require))
            job.status = f"{ended.capitalize()} before there was a tree that uses {names}; {bound}"
            return None
        job.tell(treeAbout=f"The best tree found before the search {_was(ended)}; not proved.")
        job.status = f"{ended.capitalize()}: the best so far, not proved; {bound}"
        return None

    def _tree_part(self, asked: Asked, tree: Tree, kept: Kept) -> dict[str, Any]:
        """Return a tree together with what is claimed of it, because neither is sent without the other."""
        info = tree.info
        proved = bool(info.get("optimal", True))
        claims = [["training errors", told(tree.error)]]
        if asked.objective != "error":
            claims.insert(0, [cost_words(asked.objective), told(float(info["objective"]))])
        claims.append(
            [f"proved best with your {_choices(asked)}" if asked.edits else "proved best", told(proved)]
        )
        if not proved:
            claims.append(["no tree has less than", told(info["lower_bound"])])
        about = "The best of all trees of this question, proved." if proved else "The best tree so far."
        if asked.edits:
            about = f"The best tree with your {_choices(asked)}{', proved' if proved else ' so far'}. "
            about += self._price(asked, tree)
        made = page_tree(tree, [[DIRICHLET] * tree.n_classes], place=self.page_tests.among(kept))
        least = self._least.get(asked.plain)
        return {
            "tree": made,
            "treeAbout": about,
            "claims": claims,
            "least": None if least is None else least[0],
        }

    # --- the other parts

    def _part(self, job: Job, name: str, notes: list[str], make: Any, again: bool = False) -> None:
        """Make a part of an answer; ``again``: a limit is raised, as there is another way."""
        if job.cancelled:
            return
        try:
            self._tell(job, **{name: make()})
        except (LimitReached, QueryError) as error:
            if job.cancelled:
                return
            if again and isinstance(error, LimitReached) and error.reason != "stopped":
                raise
            job.tell(**{name: job.part.get(name) if name == "front" else None})
            notes.append(f"There is not {PARTS[name]}: {error}")

    def _posterior(
        self, job: Job, space: TreeSpace, kept: Kept, asked: Asked, notes: list[str]
    ) -> dict[str, Any]:
        if asked.require:
            notes.append(
                "The average is over all trees of the space; a column that must be used does not change it."
            )
        key = _average_key(asked)
        with self._lock:
            known = self._averages.get(key)
        if known is None:
            found = space.posterior(asked.prior, DIRICHLET)
            place = self.page_tests.among(kept)
            made = sections.posterior(found, place=place, rules=False)
            facts = [
                ["how trees weigh", shown(prior_words(found.prior))],
                ["log evidence", told(found.log_evidence)],
                ["leaves expected", f"{np.arange(len(made['leaves'])) @ made['leaves']:.2f}"],
            ]
            self._tell(job, posterior=made)
            whole = made | sections.row_rules(found, place, (EPSILON,))
            local, tests = space.table.columns is not None, self._tests
            if local or whole["sum"] is not None:
                tests = tests if kept is None else tests[:, kept]
                whole["intervals"] = sections.row_intervals(found, tests)
            if local:
                whole["averages"] = sections.row_averages(found, tests)
            whole["drawn"] = sections.leaves_of_draws(found, place)
            known = whole, facts
            if job.cancelled:  # parts of it may be missing
                return whole
        with self._lock:
            _keep(self._averages, key, known, KEPT_ANSWERS)
        whole, facts = known
        job.tell(facts=[*job.part["facts"], {"title": "The average", "rows": facts}])
        return whole

    def _held_out(self, job: Job, space: TreeSpace, kept: Kept, reached: int) -> dict[str, Any]:
        """Return how good the tree and the average are on examples left out, beside the two baselines."""
        asked = job.asked
        averaged = replace(asked.plain, max_depth=reached)
        lines: list[dict[str, Any]] = []
        with self._lock:
            known = dict(self._left_out)
        makers: list[tuple[Any, Callable[[], dict[str, Any] | None]]] = [
            (asked, lambda: left_out_tree(space, _query(asked), fixed_of(asked, kept), job, DIRICHLET)),
            (_average_key(averaged), lambda: self._left_out_average(job, space, averaged)),
        ]
        for key, make in makers:
            if key not in known:
                found = make()
                if job.cancelled:
                    break
                with self._lock:
                    _keep(self._left_out, key, found, KEPT_ANSWERS)
            else:
                found = known[key]
            if found is not None:
                lines.append(found)
        averaged_too = len(lines) == len(makers) or job.cancelled
        if self._baselines is None:
            classes = [shown(label) for label in self.model.classes_.tolist()]
            self._baselines = try_baselines(self.frame, self.codes, classes)
        lines += self._baselines
        about = LEFT_OUT if averaged_too else f"{LEFT_OUT} That of the average takes too long here."
        return {"lines": lines, "about": about, **verdict(lines)}

    def _left_out_average(self, job: Job, mine: TreeSpace, averaged: Asked) -> dict[str, Any] | None:
        """Return the figures of the average, which may be over less deep trees than the question asks for."""
        if averaged.max_depth == job.asked.max_depth:
            return left_out_average(mine, averaged.prior, DIRICHLET)
        with self._space(averaged) as (space, _):
            space.limits, job.space = mine.limits, space
            found = left_out_average(space, averaged.prior, DIRICHLET)
            space.limits, job.space = Limits(), mine
        return None if found is None else {**found, "name": f"{found['name']} of depth {averaged.max_depth}"}

    def _judged_front(self, job: Job, space: TreeSpace) -> dict[str, Any]:
        """Return the front with how often its trees are right about examples that they have not seen."""
        asked, front = job.asked, job.part["front"]
        sizes = [point["size"] for point in front["points"]]
        options: dict[str, Any] = {"max_size": asked.max_size, "require": list(asked.require) or None}
        return {**front, "held": left_out_front(space, sizes, asked.objective, **options)}

    # --- one node

    def node(self, asked: Asked, steps: Any) -> dict[str, Any]:
        """Return what a node could ask, and how the values of its rows are spread over the classes."""
        return self._of_nodes().node(asked, steps)

    def prices(self, asked: Asked, steps: Any, tests: Any) -> dict[str, Any]:
        """Return the objective of the best tree with each of some tests at a node."""
        with self._space(asked.plain) as (space, kept):
            space.limits = Limits()
            return self._of_nodes().prices(space, kept, _query(asked), steps, tests)

    def _of_nodes(self) -> Nodes:
        with self._lock:
            if self._nodes is None:
                self._nodes = Nodes(self.model, self.page_tests, self.frame, self.codes)
            return self._nodes

    def _facts(self, space: TreeSpace) -> list[dict[str, Any]]:
        tests = "tests" if space.table.columns is None else "tests that nodes choose from"
        rows = [["examples", f"{space.table.total:,}"], [tests, f"{space.n_tests:,}"]]
        return [{"title": "The question", "rows": rows}]


def _query(asked: Asked) -> Query:
    return Query((asked.objective, "size"), max_size=asked.max_size, require=list(asked.require) or None)


def _average_key(asked: Asked) -> Any:
    return (asked.max_depth, asked.min_leaf, frozenset(asked.forbid), asked.prior)


def _choices(asked: Asked) -> str:
    return "choice" if asked.n_choices == 1 else f"{asked.n_choices} choices"


def _keep(kept: OrderedDict[Any, Any], key: Any, value: Any, most: int) -> None:
    """Keep a value as the newest, and drop the oldest ones."""
    kept[key] = value
    kept.move_to_end(key)
    while len(kept) > most:
        kept.popitem(last=False)


def _was(ended: str) -> str:
    return "was stopped" if ended == "stopped" else ended


def _teller(job: Job, what: str) -> Any:
    """Return a progress function that puts the progress in the status of a job, and passes a call to stop on."""

    def tell(stage: str, done: int, total: int, seconds: float) -> None:
        if job.cancelled:
            job.cancel()  # this call of the core may have begun after the first call to stop
        if seconds > 1:
            share = f", {done / total:.0%}" if total and math.isfinite(total) and done <= total else ""
            if not job.status.startswith("searching … ") or what != "the best tree":
                job.status = f"{what}{share}, {seconds:.0f} s"

    return tell
