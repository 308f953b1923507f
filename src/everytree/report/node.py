"""One node in the explorer: what it could ask, what each choice costs, and the values of its rows by class.

A node is called by the steps to it, [test, outcome] with the numbers of the page, so that it may belong to any tree in
sight. All of it is counts; no row leaves the program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.text import clip
from everytree.data.frames import Frame
from everytree.errors import QueryError
from everytree.query.fixed_tests import rows_at
from everytree.query.query import Query
from everytree.report.asked import MOST_DEPTH, Asked
from everytree.report.columns import column_rows, page_columns
from everytree.report.distributions import Distributions, matrix_of
from everytree.report.edits import listed_tests, prices
from everytree.report.page_tests import PageTests
from everytree.space.tree_space import TreeSpace

__all__ = ["Nodes"]

SECONDS = 1.5  # for the prices of a node's tests
MOST_PRICED = 60
Steps = list[tuple[int, int]]


class Nodes:
    """The rows of a data set, and what can be asked about those at a node."""

    def __init__(self, model: Any, tests: PageTests, frame: Frame, codes: npt.NDArray[np.intp]) -> None:
        self._tests, self._space = tests, model.space_
        self._attributes = [str(test.attribute) for test in model.binarizer_.tests_]
        columns = page_columns(model)
        self._cells = matrix_of(column_rows(model, frame), len(columns))
        self._fill = [column.get("fill") for column in columns]
        self._spread = Distributions(self._cells, codes, columns, len(model.classes_))

    def node(self, asked: Asked, given: Any) -> dict[str, Any]:
        """Describe a node: its tests as [test of the model, number in the page, yes, no], and its distributions."""
        steps = self._steps(given)
        place = rows_at(self._space, [(self._raw(test), outcome) for test, outcome in steps])
        left = asked.max_depth - len(steps)
        found = listed_tests(self._space, place, left, asked.min_leaf) if left > 0 else []
        options = [
            [each.test, self._tests.place(each.test, each.upper), sum(each.yes), sum(each.no)]
            for each in found
            if self._attributes[each.test] not in asked.forbid
        ]
        return {
            "options": options,
            "tests": {str(number): self._tests.tests[number] for _, number, _, _ in options},
            "shapes": self._spread.shapes,
            "counts": self._spread.at(self._rows(steps)),
        }

    def prices(
        self, space: TreeSpace, kept: Sequence[int] | None, query: Query, given: Any, tests: Any
    ) -> dict[str, Any]:
        """Return the objective of the best tree with each test at a node, the nodes above as they are."""
        steps = self._steps(given)
        if not isinstance(tests, list) or not all(type(test) is int for test in tests[:MOST_PRICED]):
            raise QueryError(f"tests={clip(tests)}; expected numbers of tests")
        number = {test: k for k, test in enumerate(kept)} if kept is not None else None

        def inside(test: int) -> int:
            if number is None:
                return test
            if test not in number:
                raise QueryError("this node asks a column that the tree must not use")
            return number[test]

        path = "".join(str(outcome) for _, outcome in steps)
        fixed: dict[str, int | None] = {
            path[:k]: inside(self._raw(test)) for k, (test, _) in enumerate(steps)
        }
        known = [test for test in tests[:MOST_PRICED] if number is None or test in number]
        found = prices(space, query, fixed, path, [inside(test) for test in known], SECONDS)
        return {"prices": [[test, found[inside(test)]] for test in known if inside(test) in found]}

    def _steps(self, given: Any) -> Steps:
        good = isinstance(given, list) and len(given) <= MOST_DEPTH
        for step in given if good else []:
            good = good and isinstance(step, list) and len(step) == 2 and all(type(n) is int for n in step)
            good = good and 0 <= step[0] < len(self._tests.tests) and step[1] in (0, 1)
        if not good:
            raise QueryError(
                f"steps={clip(given)}; expected [test, outcome] from the root down, as the page has them"
            )
        return [(test, outcome) for test, outcome in given]

    def _raw(self, number: int) -> int:
        return int(self._tests.tests[number]["raw"])

    def _rows(self, steps: Steps) -> npt.NDArray[np.intp]:
        """Return the rows of the data at a node."""
        here = np.ones(len(self._cells), dtype=bool)
        for number, outcome in steps:
            test = self._tests.tests[number]
            cells = self._cells[:, test["column"]]
            fill = self._fill[test["column"]]
            if fill is not None:
                cells = np.where(np.isnan(cells), fill, cells)
            with np.errstate(invalid="ignore"):
                if test["kind"] == "threshold":
                    holds = cells <= test["value"]
                elif test["kind"] == "identity":
                    holds = cells > 0.5
                elif test["kind"] == "missing":
                    holds = np.isnan(cells)
                else:
                    holds = cells == test["value"]
            here &= holds == bool(outcome)
        return np.flatnonzero(here)
