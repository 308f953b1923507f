"""The space of trees whose cuts each state chooses from its own rows.

A state offers, of the universe of tests of ``columns``, with D its rows and examples counted by weight:

    numeric   a cut for each equal-frequency break of the codes present in D, missing ones aside; a break between
              the present codes lo and hi (hi the next present one) is the universe's test "code <= lo", and it
              asks new rows for x <= cut_between(largest training value of lo, smallest of hi);
              and "x is missing", where D lacks some
    0/1       the column itself, where both are present; and "x is missing", where D lacks some
    nominal   two present (a missing value is one): the test of the last value present;  more: a test for each of
              them, "x is missing" included

These are the state's *own* tests, a function of its rows alone. With a depth limit and two levels left, both levels
use the tests of that state; all others (a root with one level left too) use their own. Of these, those with min_leaf
examples on both sides are feasible, and everything else is as in ``space``: the same ``Bayes``, ``Listing``,
``best``, … take a ``LocalSpace``.

A state with one level left is therefore its rows and the rows of its parent. So that the recursions need not know,
the table of a local space has states where the plain one has covers. Such a state is an integer too: bits 0..n−1 are
the rows, bits n..2n−1 the rows that the tests come from if they are not its own, and the rest is the number of levels
left plus one (0: no limit).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

from everytree.reference.columns import Column, ColumnTable, Condition, equal_frequency_breaks
from everytree.reference.space import Space
from everytree.reference.table import Cover, Path, Table
from everytree.reference.trees import Tree

__all__ = ["LocalSpace", "LocalTable", "Place", "own_tests"]


class Place(NamedTuple):
    """What a state says: its rows, the rows its tests come from, and how many levels are left (None: any number)."""

    rows: Cover
    asker: Cover
    left: int | None


def own_tests(data: ColumnTable, rows: Cover) -> dict[int, int | None]:
    """Return the tests that rows offer by themselves, in increasing order; of a cut also the code above it.

    >>> data = ColumnTable.from_data([[1], [2], [3], [4], [9]], [0, 1, 0, 1, 1], bins=2)
    >>> own_tests(data, 0b11111), own_tests(data, 0b11001)  # with rows 1, 2, 9 the cut above 2 has 9 above it
    ({2: 3}, {1: 4})
    """
    inside = [number for number in range(len(data.codes)) if rows >> number & 1]
    found: dict[int, int | None] = {}
    for place, column in enumerate(data.columns):
        weight: dict[int | None, int] = {}
        for number in inside:
            code = data.codes[number][place]
            weight[code] = weight.get(code, 0) + sum(data.universe.counts[number])
        found.update(_offers(column, weight))
    return found


def _offers(column: Column, weight: Mapping[int | None, int]) -> dict[int, int | None]:
    """Return the tests of one column for the examples of each code (None is missing)."""
    present = sorted(code for code in weight if code is not None)
    lacking: dict[int, int | None] = (
        {} if None not in weight or column.missing is None else {column.missing: None}
    )
    if column.kind == "numeric":
        breaks = equal_frequency_breaks([weight[code] for code in present], column.bins)
        following = list(pairwise(present))
        return {column.begin + following[j][0]: following[j][1] for j in breaks} | lacking
    if len(weight) < 2:
        return {}
    if column.missing is not None and 0 not in column.asked:  # 0/1: one test, whatever else is missing
        return ({column.begin: None} if len(present) == 2 else {}) | lacking
    asked = present[-1:] if len(weight) == 2 else present
    tests: dict[int, int | None] = {column.begin + column.asked.index(code): None for code in asked}
    return tests if len(weight) == 2 else tests | lacking


class LocalTable(Table):
    """The universe's table with states in place of covers, for one depth limit."""

    def __init__(self, data: ColumnTable, max_depth: int | None) -> None:
        super().__init__(data.universe.rows, data.universe.counts)
        self.data = data
        self._own: dict[Cover, dict[int, int | None]] = {}
        self.everything = self.state(Place(self.everything, 0, max_depth))

    def state(self, place: Place) -> Cover:
        """Return the integer of a state."""
        n = len(self.rows)
        return place.rows | place.asker << n | (0 if place.left is None else place.left + 1) << 2 * n

    def place(self, state: Cover) -> Place:
        """Return what the integer of a state says."""
        n, all_rows = len(self.rows), (1 << len(self.rows)) - 1
        left = state >> 2 * n
        return Place(state & all_rows, state >> n & all_rows, left - 1 if left else None)

    def children(self, cover: Cover, test: int) -> tuple[Cover, Cover]:
        """Return the states of the zero child and the one child."""
        rows, _, left = self.place(cover)
        asker = rows if left == 2 else 0
        below = None if left is None else max(left - 1, 0)
        zero, one = (Place(part, asker, below) for part in (rows & ~self.ones[test], rows & self.ones[test]))
        return self.state(zero), self.state(one)

    def offered(self, state: Cover) -> dict[int, int | None]:
        """Return the tests that a state offers, whatever min_leaf, each cut with the code above it."""
        rows, asker, left = self.place(state)
        if left == 0:
            return {}
        source = asker or rows
        if source not in self._own:
            self._own[source] = own_tests(self.data, source)
        return self._own[source]

    def condition(self, cover: Cover, test: int) -> Condition:
        """Return what a test that the state offers asks of new rows."""
        return self.data.condition(test, self.offered(cover)[test])

    def holds(self, row: Any, condition: Hashable) -> int:
        """Return whether a row of values meets a condition."""
        return self.data.holds(row, condition)

    def check_row(self, row: Iterable[Any]) -> tuple[Any, ...]:
        """Return a new example as a tuple of values, one for each column, or a ValueError."""
        clean = tuple(row)
        if len(clean) != len(self.data.columns):
            raise ValueError(f"a row of {len(clean)} values; this table has {len(self.data.columns)} columns")
        return clean

    def cover_of(self, path: Path) -> Cover:
        """Refuse: the state at the end of a path depends on the order of its tests."""
        raise ValueError("a path of a local space is no set: walk it with children, from everything")


class LocalSpace(Space):
    """All trees in which every inner node uses a test that its state offers.

    A tree holds numbers of tests of the universe; ``spell`` says what they ask where they stand.

    >>> data = ColumnTable.from_data([[1], [2], [3], [4], [9]], [0, 1, 0, 1, 1], bins=2)
    >>> space = LocalSpace(data)
    >>> space.count()  # 5 rows are cut 3 | 2, 3 rows 2 | 1, and 2 rows 1 | 1
    7
    >>> space.spell((2, None, (1, None, None)))
    ((0, '<=', 3.5), None, ((0, '<=', 2.5), None, None))
    """

    table: LocalTable

    def __init__(self, data: ColumnTable, max_depth: int | None = None, min_leaf: int = 1) -> None:
        super().__init__(LocalTable(data, max_depth), max_depth, min_leaf)
        self.data = data

    def offered(self, cover: Cover) -> Iterable[int]:
        """Return the tests that a state may choose from, whatever min_leaf."""
        return sorted(self.table.offered(cover))

    def spell(self, tree: Tree) -> Any:
        """Return the tree with conditions, (column, "<=", cut) and the like, in place of tests; leaves are None."""
        self.check(tree)

        def walk(part: Tree, state: Cover) -> Any:
            if part is None:
                return None
            test, *below = part
            children = zip(below, self.table.children(state, test), strict=True)
            return (
                self.table.condition(state, test),
                *(walk(child, child_state) for child, child_state in children),
            )

        return walk(tree, self.root)
