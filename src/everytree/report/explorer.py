"""The explorer without its server: the data set that is open, the questions being answered, and the page.

``opened.py`` answers questions, ``jobs.py`` knows which client asked them. Opening another data set, or another
target, replaces the old one for every client: pages about the old one are refused, so that they never show answers of
the new.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from everytree.common.limits import Limits
from everytree.data.readers.dataset import Dataset
from everytree.errors import DataError, QueryError
from everytree.report.asked import Asked, choices
from everytree.report.cite import citation
from everytree.report.columns import add_ranges, column_rows, page_columns
from everytree.report.jobs import Job, Jobs
from everytree.report.opened import USUAL_DEPTH, Opened
from everytree.report.words import shown

__all__ = ["Explorer"]

WAIT = 0.5  # seconds that a question waits for its first tree before it returns its progress
PATIENCE = 10.0  # seconds that questions may take to stop at the end


class Explorer:
    """A data set with its tests, and the questions being answered.

    ``bins`` and ``cuts`` say how numeric columns are cut, as in ``Binarizer``: of every data set that is opened.
    """

    def __init__(
        self, data: Dataset, file: str, target: str | None = None, n_jobs: int | None = 1, **encoding: Any
    ) -> None:
        self._n_jobs = n_jobs
        self._encoding = encoding
        self._opening = threading.Lock()
        self.jobs = Jobs()
        self.opened = Opened(data, file, target, n_jobs, 1, encoding)

    def open(self, data: Dataset, file: str, target: str | None = None) -> None:
        """Explore another data set, or another target; if it cannot be read, everything stays as it was."""
        with self._opening:
            number = self.opened.number + 1
            self.opened = Opened(data, file, target, self._n_jobs, number, self._encoding)
        self.jobs.cancel_all()

    def now(self, number: int | None = None) -> Opened:
        """Return what is open; if a page names the number of its data set, it must be that one."""
        opened = self.opened
        if number is not None and number != opened.number:
            raise DataError(
                "this page is about data that are no longer open: another page has opened "
                f"{shown(os.path.basename(opened.file))} to predict {shown(opened.target)}; load this page again to "
                "ask about that"
            )
        return opened

    def ask(self, given: Any, client: str = "", number: int | None = None) -> Job:
        """Begin to answer a question, and stop the question that this client asked before.

        It waits a moment for the answer, as most questions are quick.
        """
        opened = self.now(number)
        asked = Asked.of(given, opened.columns)

        def work(job: Job) -> None:
            opened.answer(job, Limits().memory // max(1, self.jobs.running))

        job = self.jobs.begin(client, asked, work)
        job.first.wait(WAIT)
        return job

    def node(self, given: Any, number: int | None = None) -> dict[str, Any]:
        """Return what a node could ask, with the distributions of its columns; or the prices of some of its tests."""
        opened = self.now(number)
        if (
            not isinstance(given, dict)
            or not set(given) <= {"query", "steps", "tests"}
            or "steps" not in given
        ):
            raise QueryError("a node is asked for with the fields query, steps and perhaps tests")
        asked = Asked.of(given.get("query", {}), opened.columns)
        if "tests" in given:
            return opened.prices(asked, given["steps"], given["tests"])
        return opened.node(asked, given["steps"])

    def close(self, seconds: float = PATIENCE) -> bool:
        """Stop every question, wait for them at most so many seconds, and return whether all have ended."""
        return self.jobs.close(seconds)

    def page(self, token: str) -> dict[str, Any]:
        """Return what the page begins with: columns, rows to pick, and the form; trees come with the first answer."""
        opened = self.opened
        model = opened.model
        columns, local = page_columns(model), opened.page_tests.columns is not None
        add_ranges(columns, opened.frame)
        n_tests = f"{len(model.binarizer_.tests_):,} {'cuts and values to choose from' if local else 'tests'}"
        cells = column_rows(model, opened.rows)
        classes = model.classes_.tolist()
        usual = opened.usual
        used = {str(test.attribute) for test in model.binarizer_.tests_}
        names = [name for name in opened.columns if name in used]
        return {
            "format": "everytree.page",
            "version": 1,
            "title": shown(f"{os.path.basename(opened.file)}: {opened.target}"),
            "summary": (
                f"{opened.table.total:,} examples, {len(columns)} columns, {n_tests}, {len(classes)} classes. "
                f"{'Every node chooses its own cuts. ' if local else ''}Change the question; the page says what is "
                f"proved.{_begins(usual.max_depth)}"
            ),
            "answer": "average",
            "classes": [shown(label) for label in classes],
            "columns": columns,
            "tests": []
            if local
            else opened.page_tests.tests,  # cuts of nodes come with the trees that ask them
            "missing": model.missing,
            "tree": None,
            "treeAbout": "",
            "claims": [],
            "text": None,
            "front": None,
            "posterior": None,
            "calibration": None,
            "held_out": None,
            "rows": [
                {"name": f"row {place + 1}", "cells": row, "label": label}
                for place, row, label in zip(
                    opened.places.tolist(), cells, opened.labels.tolist(), strict=True
                )
            ],
            "facts": [],
            "notes": [],
            "cite": citation(),
            "live": {
                "token": token,
                "data": opened.number,
                "file": shown(opened.file),
                "target": shown(opened.target),
                "targets": [shown(name) for name in opened.data.names],
                "attributes": [shown(name) for name in names],
                "names": names,
                "choices": choices(),
                "query": {
                    "max_depth": usual.max_depth,
                    "min_leaf": usual.min_leaf,
                    "max_size": None,
                    "objective": usual.objective,
                    "prior": usual.prior,
                    "require": [],
                    "forbid": [],
                    "edits": [],
                },
            },
        }


def _begins(depth: int) -> str:
    """Say why the first question asks for less than usual."""
    if depth == USUAL_DEPTH:
        return ""
    return f" It begins with {depth} tests on a path; with more, so many rows and tests take longer than a blink."
