"""The explorer without its server: one file, one target, and questions to the space of its trees.

The table of tests is made once; a space (max_depth, min_leaf, columns left out) is kept when it was asked, with what it
has computed, so that a change of a constraint is answered from what is there. A question is a ``Job`` in a thread of
its own, and its answer comes in parts:

    the best tree       searched in slices of time: after each one, the best so far and the bound are told
    the front           the best tree of every size
    the posterior       what the trees use, the most probable ones, the rules for one row
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everytree.common.limits import Limits
from everytree.data.frames import read_frame
from everytree.data.readers.dataset import Dataset, unknown_column
from everytree.data.table import Table
from everytree.errors import DataError, EverytreeError, LimitReached, QueryError
from everytree.estimators.optimal import OptimalTreeClassifier
from everytree.query.query import Query
from everytree.report import sections
from everytree.report.cite import citation
from everytree.report.columns import column_rows, page_columns
from everytree.report.trees import page_tree
from everytree.report.words import shown, told
from everytree.space.tree_space import TreeSpace
from everytree.trees.tree import Tree
from everytree.weights.priors import as_prior

__all__ = ["Explorer", "Job", "guess_target"]

KEPT_SPACES = 8
KEPT_ANSWERS = 32
MOST_CLASSES = 100
FIRST_SLICE, SLICE = 0.1, 0.3  # seconds of search between two looks at the best so far
WAIT = 0.5  # seconds that a question waits for its first tree before it tells its progress
DIRICHLET = 1.0
EPSILON = 0.02  # of the sum of rules for one row
LIKELY_TARGETS = ("class", "target", "label", "y", "outcome", "diagnosis")
OBJECTIVES = ("error", "expected_error", "gini", "entropy")
PRIORS = ("size", "uniform", "leaf_penalty", "shapes", "coding")


def guess_target(data: Dataset) -> str:
    """The column to predict: the one that the file names, one with a telling name, or the last one."""
    if data.target is not None:
        return data.target
    telling = [name for name in data.names if name.strip().lower() in LIKELY_TARGETS]
    return telling[-1] if telling else data.names[-1]


@dataclass(frozen=True)
class Asked:
    """A question, checked: the fields of the page's form."""

    max_depth: int = 4
    min_leaf: int = 5
    max_size: int | None = None
    objective: str = "error"
    prior: str = "size"
    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()

    @classmethod
    def of(cls, given: Any, columns: tuple[str, ...]) -> Asked:
        """The question in an object of JSON; an error names the field."""
        if not isinstance(given, dict) or not set(given) <= set(cls.__dataclass_fields__):
            raise QueryError(f"a question has the fields {', '.join(cls.__dataclass_fields__)}")
        made: dict[str, Any] = dict(given)
        for name, least, most in (
            ("max_depth", 0, 20),
            ("min_leaf", 1, 10**9),
            ("max_size", 1, 10**6),
        ):
            value = given.get(name, 1)
            if value is None and name == "max_size":
                continue
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise QueryError(f"{name}={value!r}; expected a whole number from {least} to {most}")
        for name, known in (("objective", OBJECTIVES), ("prior", PRIORS)):
            if given.get(name, known[0]) not in known:
                raise QueryError(f"{name}={given[name]!r}; expected one of {', '.join(known)}")
        for name in ("require", "forbid"):
            names = given.get(name, [])
            if not isinstance(names, list) or not all(each in columns for each in names):
                raise QueryError(f"{name}={names!r}; expected names of columns")
            made[name] = tuple(dict.fromkeys(names))
        return cls(**made)


@dataclass
class Job:
    """One question on its way: what is known so far, and whether more will come."""

    id: int
    asked: Asked
    begun: float = field(default_factory=time.monotonic)
    status: str = "searching …"
    error: str | None = None
    part: dict[str, Any] = field(default_factory=dict)
    first: threading.Event = field(default_factory=threading.Event)  # there is something to show
    finished: threading.Event = field(default_factory=threading.Event)
    cancelled: bool = False
    space: TreeSpace | None = None

    def cancel(self) -> None:
        """Stop; what was found stays."""
        self.cancelled = True
        if self.space is not None:
            self.space.stop()

    def told(self) -> dict[str, Any]:
        """The answer as the page reads it."""
        return {
            "id": self.id,
            "done": self.finished.is_set(),
            "status": self.status,
            "seconds": time.monotonic() - self.begun,
            "part": dict(self.part),
            **({} if self.error is None else {"error": self.error}),
        }


class Explorer:
    """A data set with its tests, the spaces asked so far, and the question being answered."""

    def __init__(self, data: Dataset, file: str, target: str | None = None, n_jobs: int | None = 1) -> None:
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._number = 0
        self._n_jobs = n_jobs
        self.job: Job | None = None
        self.open(data, file, target)

    def open(self, data: Dataset, file: str, target: str | None = None) -> None:
        """Explore another data set, or another target; if it cannot be read, all stays as it was."""
        name = guess_target(data) if target is None else target
        if name not in data.names:
            raise unknown_column(name, data.names, role="target column")
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
        missing = any(column.missing is not None for column in frame.columns)
        model = OptimalTreeClassifier(max_depth=0, missing="category" if missing else "error").fit(frame, y)
        if self.job is not None:
            self.job.cancel()
        with self._lock:
            self.data, self.file, self.target = data, file, name
            self._model, self._table = model, model.space_.table
            self._frame, self._codes = frame, np.searchsorted(model.classes_, y)
            self._answers: OrderedDict[Asked, tuple[str, dict[str, Any]]] = OrderedDict()
            self._averages: OrderedDict[Any, tuple[dict[str, Any], list[list[str]]]] = OrderedDict()
            self._spaces: OrderedDict[Any, tuple[TreeSpace, list[int] | None]] = OrderedDict()
            self.columns = tuple(str(each) for each in model.feature_names_in_)

    # --- questions

    def ask(self, given: Any) -> Job:
        """Begin to answer a question; the one before it is stopped. Waits a moment, as most are quick."""
        asked = Asked.of(given, self.columns)
        with self._lock:
            if self.job is not None:
                self.job.cancel()
            self._number += 1
            self.job = job = Job(self._number, asked)
        threading.Thread(target=self._work, args=(job,), daemon=True).start()
        job.first.wait(WAIT)
        return job

    def _work(self, job: Job) -> None:
        with self._working:  # the job before has been stopped and ends soon
            try:
                if not job.cancelled:
                    self._answer(job)
            except EverytreeError as error:
                job.error = str(error)
            except Exception as error:
                job.error = f"{type(error).__name__}: {error}"
                raise
            finally:
                job.finished.set()
                job.first.set()

    def _answer(self, job: Job) -> None:
        asked = job.asked
        space, kept = self._space(asked)
        job.space = space
        if asked in self._answers:
            job.status, job.part = self._answers[asked]
            self._answers.move_to_end(asked)
            return
        rows = [[DIRICHLET] * len(space.classes)]
        notes: list[str] = []
        tree = self._best(job, space, kept)
        if tree is None:
            return
        job.part |= self._tree_part(tree, kept)
        job.part["facts"] = self._facts(space, tree)
        job.first.set()
        proved = "Proved best." if tree.info.get("optimal", True) else "Best so far."
        job.status = f"{proved} Now the best tree of every size …"
        options: dict[str, Any] = {"max_size": asked.max_size, "require": list(asked.require) or None}
        space.limits = Limits(progress=_teller(job, "the best tree of every size"))
        self._part(job, "front", notes, lambda: sections.front(space, rows, asked.objective, kept, **options))
        job.status = f"{proved} Now the average over every tree …"
        space.limits = Limits(progress=_teller(job, "the average over every tree"))
        self._part(job, "posterior", notes, lambda: self._posterior(job, space, asked, kept, notes))
        space.limits = Limits()
        job.part["notes"] = notes
        for name in ("front", "posterior"):
            job.part.setdefault(name, None)
        job.status = "Stopped." if job.cancelled else proved
        if not job.cancelled:
            self._answers[asked] = (proved, job.part)
            while len(self._answers) > KEPT_ANSWERS:
                self._answers.popitem(last=False)

    def _space(self, asked: Asked) -> tuple[TreeSpace, list[int] | None]:
        """The space of a question: kept from an earlier one where it is the same."""
        key = (asked.max_depth, asked.min_leaf, frozenset(asked.forbid))
        if key not in self._spaces:
            tests = self._model.binarizer_.tests_
            kept = [k for k, test in enumerate(tests) if str(test.attribute) not in asked.forbid]
            table = self._table
            if len(kept) < len(tests):
                names = [(table.test_names or ())[k] for k in kept]
                table = Table(
                    table.rows[:, kept], table.class_counts, test_names=names, classes=table.classes
                )
            space = TreeSpace.from_table(
                table,
                asked.max_depth,
                asked.min_leaf,
                self._n_jobs,
                attributes=[str(tests[k].attribute) for k in kept],
            )
            self._spaces[key] = (space, None if len(kept) == len(tests) else kept)
            while len(self._spaces) > KEPT_SPACES:
                self._spaces.popitem(last=False)
        self._spaces.move_to_end(key)
        return self._spaces[key]

    def _best(self, job: Job, space: TreeSpace, kept: list[int] | None) -> Tree | None:
        """The best tree. A search goes on slice by slice, and tells its bound and the best so far."""
        asked = job.asked
        if asked.require and asked.max_size is None:
            # The best of all trees is the answer if it uses what it must; its search is much quicker than the fold.
            free = self._search(job, space, kept, Query((asked.objective, "size")), tell=False)
            if free is None or self._uses(free, kept) >= set(asked.require):
                return free
        query = Query((asked.objective, "size"), max_size=asked.max_size, require=list(asked.require) or None)
        return self._search(job, space, kept, query)

    def _uses(self, tree: Tree, kept: list[int] | None) -> set[str]:
        """The columns that a tree asks about."""
        tests = self._model.binarizer_.tests_
        return {str(tests[t if kept is None else kept[t]].attribute) for t in tree.key if t >= 0}

    def _search(
        self, job: Job, space: TreeSpace, kept: list[int] | None, query: Query, tell: bool = True
    ) -> Tree | None:
        asked = job.asked
        in_slices = query.max_size is None and not query.require
        seconds = FIRST_SLICE
        best: Tree | None = None
        while not job.cancelled:
            space.limits = Limits(seconds if in_slices else None, progress=_teller(job, "the best tree"))
            try:
                best = space.best(query)
            except LimitReached as limit:
                if not in_slices or limit.reason not in ("time", "stopped"):
                    raise
            if best is not None:
                info = best.info
                if not in_slices or info["optimal"]:
                    return best
                if tell:
                    job.part |= self._tree_part(best, kept)
                job.status = (
                    f"searching … {asked.objective.replace('_', ' ')} {told(info['objective'])} so far, none has less "
                    f"than {told(info['lower_bound'])}"
                )
            seconds = SLICE
        if best is not None:
            job.status = f"Stopped: the best so far; none has less than {told(best.info['lower_bound'])}."
        else:
            job.status = "Stopped."
        return None

    def _tree_part(self, tree: Tree, kept: list[int] | None) -> dict[str, Any]:
        proved = tree.info.get("optimal", True)
        about = "The best of all trees of this question, proved." if proved else "The best tree so far."
        return {"tree": page_tree(tree, [[DIRICHLET] * tree.n_classes], kept=kept), "treeAbout": about}

    def _part(self, job: Job, name: str, notes: list[str], make: Any) -> None:
        if job.cancelled:
            return
        try:
            job.part[name] = make()
        except (LimitReached, QueryError) as error:
            if not job.cancelled:
                notes.append(f"{name}: {error}")

    def _posterior(
        self, job: Job, space: TreeSpace, asked: Asked, kept: list[int] | None, notes: list[str]
    ) -> dict[str, Any]:
        if asked.require:
            notes.append(
                "The average is over all trees of the space; a column that must be used does not change it."
            )
        key = (asked.max_depth, asked.min_leaf, frozenset(asked.forbid), asked.prior)
        if key not in self._averages:
            found = space.posterior(as_prior(asked.prior), DIRICHLET)
            made = sections.posterior(found, kept=kept, rules=False)
            facts = [
                ["prior", shown(repr(found.prior))],
                ["log evidence", told(found.log_evidence)],
                ["leaves expected", f"{np.arange(len(made['leaves'])) @ made['leaves']:.2f}"],
            ]
            job.part["posterior"] = made
            whole = made | sections.row_rules(found, kept, (EPSILON,))
            if job.cancelled:  # parts of it may be missing
                return whole
            self._averages[key] = (whole, facts)
            while len(self._averages) > KEPT_ANSWERS:
                self._averages.popitem(last=False)
        self._averages.move_to_end(key)
        whole, facts = self._averages[key]
        job.part["facts"] = [*job.part["facts"], {"title": "The average", "rows": facts}]
        return whole

    def _facts(self, space: TreeSpace, tree: Tree) -> list[dict[str, Any]]:
        info = tree.info
        rows = [
            ["objective", told(float(info["objective"]))],
            ["training errors", told(tree.error)],
            ["proved best", told(bool(info.get("optimal", True)))],
            ["examples", f"{space.table.total:,}"],
            ["tests", f"{space.n_tests:,}"],
        ]
        return [{"title": "The question", "rows": rows}]

    # --- the page

    def page(self, token: str) -> dict[str, Any]:
        """What the page begins with: the columns, rows to pick, and the form; trees come with the first answer."""
        columns, tests = page_columns(self._model)
        places = np.unique(
            np.linspace(0, self._frame.n_rows - 1, min(60, self._frame.n_rows)).round()
        ).astype(np.intp)
        cells = column_rows(self._model, self._frame.take(places))
        classes = self._model.classes_.tolist()
        usual = Asked(min_leaf=max(1, min(5, self._table.total // 20)))
        used = {name for test in self._model.binarizer_.tests_ for name in [str(test.attribute)]}
        names = [name for name in self.columns if name in used]
        return {
            "format": "everytree.page",
            "version": 1,
            "title": shown(f"{os.path.basename(self.file)}: {self.target}"),
            "summary": (
                f"{self._table.total:,} examples, {len(columns)} columns, {len(tests)} tests, {len(classes)} classes. "
                "Change the question; the answer is exact."
            ),
            "answer": "average",
            "classes": [shown(label) for label in classes],
            "columns": columns,
            "tests": tests,
            "missing": self._model.missing,
            "tree": None,
            "treeAbout": "",
            "text": None,
            "front": None,
            "posterior": None,
            "calibration": None,
            "rows": [
                {"name": f"row {place + 1}", "cells": row, "label": int(self._codes[place])}
                for place, row in zip(places.tolist(), cells, strict=True)
            ],
            "facts": [],
            "notes": [],
            "cite": citation(),
            "live": {
                "token": token,
                "file": shown(self.file),
                "target": shown(self.target),
                "targets": [shown(name) for name in self.data.names],
                "attributes": [shown(name) for name in names],
                "names": names,
                "query": {
                    "max_depth": usual.max_depth,
                    "min_leaf": usual.min_leaf,
                    "max_size": None,
                    "objective": usual.objective,
                    "prior": usual.prior,
                    "require": [],
                    "forbid": [],
                },
            },
        }


def _teller(job: Job, what: str) -> Any:
    """A progress function that puts the progress in the status of a job."""

    def tell(stage: str, done: int, total: int, seconds: float) -> None:
        if seconds > 1:
            share = f", {done / total:.0%}" if total and math.isfinite(total) and done <= total else ""
            if not job.status.startswith("searching … ") or what != "the best tree":
                job.status = f"{what}: {stage}{share}, {seconds:.0f} s"

    return tell
