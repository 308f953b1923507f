"""The tests that a state offers where states choose their own cuts, and the cuts of a tree's nodes.

A state is asked by its rows alone, never by their classes:

    ordered column    the breaks of ``equal_frequency_breaks`` on the examples of each code that occurs, missing ones
                      aside; the break between the codes lo and hi is test begin + lo, and its *upper* says which of
                      the cuts above lo it is (``LocalColumns``)
    nominal column    a test for each value that occurs, and "missing"; of two only that of the last value
    missing           wherever some values are missing and others are not

and of these the tests that leave ``min_leaf`` examples on either side. With a depth limit the two lowest levels both
use the tests of the upper one; a root with one level left uses its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from everytree.data.cuts import equal_frequency_breaks
from everytree.data.local_columns import ORDERED, LocalColumn, LocalColumns
from everytree.data.table import Table
from everytree.data.table_codes import codes_of
from everytree.errors import DataError
from everytree.trees import routes

__all__ = ["LocalCuts"]

Rows = npt.NDArray[np.intp]


class LocalCuts:
    """The codes of a table's rows, from which the cuts of any state follow.

    Parameters
    ----------
    table : Table
        A table whose states choose their own cuts.

    Attributes
    ----------
    columns : LocalColumns
        Which tests belong to which column.
    codes : array of int, shape (n_rows, n_columns)
        The codes of the table's rows.
    """

    def __init__(self, table: Table) -> None:
        assert table.columns is not None
        self.columns: LocalColumns = table.columns
        self.codes = codes_of(table)
        self._weights = table.class_counts.sum(axis=1)
        self._stops = np.array([column.stop for column in self.columns.columns])

    def _place(self, test: int) -> int:
        """The number of the column that a test belongs to."""
        return int(np.searchsorted(self._stops, test, side="right"))

    def _holds(self, rows: Rows, test: int) -> npt.NDArray[np.bool_]:
        """For which of some rows a test holds."""
        k = self._place(test)
        return self.columns.columns[k].holds(self.codes[rows, k], test)

    def offered(self, rows: Rows, min_leaf: int = 1) -> dict[int, int]:
        """Find the tests that a state offers.

        Parameters
        ----------
        rows : array of int
            The rows of the table in the state.
        min_leaf : int, default=1
            The fewest examples on either side of a test.

        Returns
        -------
        dict of int to int
            The upper of each test, 0 where it is no cut.
        """
        found: dict[int, int] = {}
        total = int(self._weights[rows].sum())
        for k, column in enumerate(self.columns.columns):
            for test, upper in self._of_column(k, column, rows):
                inside = int(self._weights[rows[self._holds(rows, test)]].sum())
                if min_leaf <= inside <= total - min_leaf:
                    found[test] = upper
        return found

    def _of_column(self, k: int, column: LocalColumn, rows: Rows) -> list[tuple[int, int]]:
        codes = self.codes[rows, k]
        counts = np.zeros(column.n_codes + 2, dtype=np.int64)
        np.add.at(counts, codes, self._weights[rows])
        held = np.flatnonzero(counts[: column.n_codes])
        gone = [(column.missing, 0)] if column.missing >= 0 and counts[column.n_codes] else []
        if column.kind != ORDERED:
            if held.size + len(gone) == 2:
                return [(column.begin + int(held[-1]), 0)]
            return [*((column.begin + int(code), 0) for code in held), *gone]
        if held.size < 2:
            return gone
        if column.bins:
            breaks = equal_frequency_breaks(counts[held], column.bins)
        else:
            breaks = list(range(held.size - 1))
        pairs = [(int(held[j]), int(held[j + 1])) for j in breaks]
        cuts = [(column.begin + low, self.columns.upper(column, low, following)) for low, following in pairs]
        return [*cuts, *gone]

    def of_tree(
        self, key: Sequence[int], max_depth: int | None, min_leaf: int | None = None
    ) -> tuple[list[int], list[str]]:
        """Find the cut of each node of a tree.

        Parameters
        ----------
        key : sequence of int
            The tests of the tree in preorder, -1 for a leaf.
        max_depth : int or None
            The most tests on any path of the space.
        min_leaf : int or None, default=None
            The fewest examples in a leaf; with it, it is checked that every state offers the test of the tree.

        Returns
        -------
        tuple of two lists
            The upper of each node, and what it asks in words; 0 and "" at leaves.

        Raises
        ------
        DataError
            If a node asks what its state does not offer.
        """
        children = routes.children_of_key(key).tolist()
        upper, asks = [0] * len(key), [""] * len(key)
        everything = np.arange(len(self.codes))
        waiting: list[tuple[int, int, Rows, Rows | None]] = [(0, 0, everything, None)]
        while waiting:
            node, depth, rows, above = waiting.pop()
            test = int(key[node])
            if test < 0:
                continue
            if test >= self.columns.n_tests:
                raise DataError(f"node {node} asks test {test}: expected one below {self.columns.n_tests}.")
            # The lowest level uses the tests of the state above it.
            asked = above if above is not None and max_depth is not None and max_depth - depth == 1 else rows
            upper[node] = self._upper(node, test, asked)
            if min_leaf is not None:
                self._check_offered(node, test, rows, asked, min_leaf)
            asks[node] = self.columns.test(test, upper[node]).name
            holds = self._holds(rows, test)
            for outcome, child in enumerate(children[node]):
                waiting.append((child, depth + 1, rows[holds == bool(outcome)], rows))
        return upper, asks

    def upper_after(self, steps: Sequence[tuple[int, int]], test: int, max_depth: int | None) -> int:
        """Find the upper of a test that is asked at the end of a path.

        Parameters
        ----------
        steps : sequence of (int, int)
            The tests on the path with their outcomes, in order.
        test : int
            The test that is asked at its end.
        max_depth : int or None
            The most tests on any path of the space.

        Returns
        -------
        int
            The upper of its cut; 0 where it is no cut.
        """
        rows, above = np.arange(len(self.codes)), None
        for asked, outcome in steps:
            above, rows = rows, rows[self._holds(rows, asked) == bool(outcome)]
        return self.upper_at(test, rows, rows if above is None else above, len(steps), max_depth)

    def upper_at(self, test: int, rows: Rows, above: Rows, depth: int, max_depth: int | None) -> int:
        """Find the upper of a test that a state asks.

        Parameters
        ----------
        test : int
            The test.
        rows : array of int
            The rows of the table in the state.
        above : array of int
            The rows of the state above it; at the root, its own.
        depth : int
            The number of tests above the state.
        max_depth : int or None
            The most tests on any path of the space.

        Returns
        -------
        int
            The upper of its cut; 0 where it is no cut.
        """
        lowest = max_depth is not None and max_depth - depth == 1
        return self._upper(depth, test, above if lowest else rows)

    def _upper(self, node: int, test: int, rows: Rows) -> int:
        """The upper of a cut in a state that offers it; 0 of a test that is no cut."""
        k = self._place(test)
        column = self.columns.columns[k]
        if column.kind != ORDERED or test == column.missing:
            return 0
        codes, low = self.codes[rows, k], test - column.begin
        higher = codes[(codes > low) & (codes < column.n_codes)]
        if not (codes == low).any() or not higher.size:
            raise DataError(
                f"node {node} asks test {test}, which its rows do not offer: expected a cut between two of them."
            )
        return self.columns.upper(column, low, int(higher.min()))

    def _check_offered(self, node: int, test: int, rows: Rows, asked: Rows, min_leaf: int) -> None:
        k = self._place(test)
        tests = [offered for offered, _ in self._of_column(k, self.columns.columns[k], asked)]
        weights = self._weights[rows]
        inside = int(weights[self._holds(rows, test)].sum())
        if test not in tests or not min_leaf <= inside <= int(weights.sum()) - min_leaf:
            raise DataError(f"node {node} asks test {test}, which its state does not offer.")
