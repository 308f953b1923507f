"""Whole columns: numbers, nominal values and missing ones, and the tests of them, found at each node.

A column is a list; a numeric one has the kind ``"numeric"``, a nominal one the tuple of its declared values; None is a
missing value. Tests are found at each node:

    nominal   a branch for every value that an example of the node has; with ``binary_nominal``, for more than two
              declared values, one test "value = k or not" for each such value k
    numeric   a cut halfway between two neighbouring values of the node: value <= cut, or greater
    missing   one more branch where an example of the node lacks the value; then "known or missing" is one more cut, ∞

So a cut is a threshold that the rows of a node tell apart, not one of a list made beforehand.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

__all__ = ["ColumnTest", "Rows", "WholeColumns"]

Rows = tuple[int, ...]


class ColumnTest(NamedTuple):
    """A test of a column: ``cut`` is None for a branch per value, else a threshold or the value asked for."""

    column: int
    cut: Any = None


class WholeColumns:
    """Examples as columns, with a class and a whole-number weight each.

    >>> data = WholeColumns([[1.0, 2.0, None], ["a", "b", "a"]], ["numeric", ("a", "b")], [0, 1, 1], 2)
    >>> data.tests(data.everything, 0)
    [ColumnTest(column=0, cut=1.5), ColumnTest(column=0, cut=inf)]
    >>> data.branches(data.everything, ColumnTest(0, 1.5))
    {0: (0,), 1: (1,), 2: (2,)}
    >>> data.branches(data.everything, ColumnTest(1))
    {0: (0, 2), 1: (1,)}
    """

    def __init__(
        self,
        columns: Sequence[Sequence[Any]],
        kinds: Sequence[Any],
        classes: Sequence[int],
        n_classes: int,
        weights: Sequence[int] | None = None,
    ) -> None:
        if len(columns) != len(kinds):
            raise ValueError(f"{len(columns)} columns but {len(kinds)} kinds; give one kind per column")
        weights = [1] * len(classes) if weights is None else weights
        for what, each in (
            *((f"column {j}", column) for j, column in enumerate(columns)),
            ("weights", weights),
        ):
            if len(each) != len(classes):
                raise ValueError(
                    f"{what}: {len(each)} values for {len(classes)} classes; give one per example"
                )
        if not classes or min(weights) < 1:
            raise ValueError("give at least one example, and weights of at least 1")
        self.columns, self.kinds, self.classes, self.n_classes = columns, kinds, classes, n_classes
        self.weights = weights
        self.everything: Rows = tuple(range(len(classes)))

    def counts(self, rows: Rows) -> tuple[int, ...]:
        """Return the number of examples of each class."""
        counts = [0] * self.n_classes
        for row in rows:
            counts[self.classes[row]] += self.weights[row]
        return tuple(counts)

    def n(self, rows: Rows) -> int:
        """Return the number of examples."""
        return sum(self.weights[row] for row in rows)

    def slot(self, test: ColumnTest, value: Any) -> int | None:
        """Return the branch of a value: the place of a nominal one, or 0 (at most the cut, or the asked value) and 1.

        Missing is the branch after these. None for a value that is not declared.
        """
        kind = self.kinds[test.column]
        if kind == "numeric":
            return 2 if value is None else int(value > test.cut)
        if value is not None and value not in kind:
            return None
        if test.cut is None:
            return len(kind) if value is None else list(kind).index(value)
        return 2 if value is None else int(value != test.cut)

    def branches(self, rows: Rows, test: ColumnTest) -> dict[int, Rows]:
        """Return the rows of each branch that has some, in the order of the branches."""
        found: dict[int, list[int]] = {}
        for row in rows:
            slot = self.slot(test, self.columns[test.column][row])
            if slot is None:
                raise ValueError(f"row {row} of column {test.column} has a value that is not declared")
            found.setdefault(slot, []).append(row)
        return {slot: tuple(found[slot]) for slot in sorted(found)}

    def tests(self, rows: Rows, column: int, binary_nominal: bool = False) -> list[ColumnTest]:
        """Return every test of a column at a node, feasible or not, cuts in increasing order."""
        kind = self.kinds[column]
        here = [self.columns[column][row] for row in rows]
        if kind != "numeric":
            values = (
                [value for value in kind if value in here] if binary_nominal and len(kind) > 2 else [None]
            )
            return [ColumnTest(column, value) for value in values]
        known = sorted({value for value in here if value is not None})
        cuts = [_between(low, high) for low, high in pairwise(known)]
        if known and None in here:
            cuts.append(math.inf)
        return [ColumnTest(column, cut) for cut in cuts]


def _between(low: float, high: float) -> float:
    middle = low / 2 + high / 2
    return float(middle) if low <= middle < high else float(low)  # neighbouring doubles have no middle
