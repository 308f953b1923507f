"""The table: the distinct rows of 0/1 tests, each with a count per class.

    f_c(cover) = Σ_{rows in cover} counts[row][c],   f(cover) = Σ_c f_c(cover)

Everything in this package depends on the data only through the table, so tables add: table(A ∪ B) = table(A)
+ table(B).

A *cover* is a set of row numbers written as one Python integer, bit r for row r. Intersection is ``&``,
difference is ``& ~``, and equality of covers is equality of integers.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Counts", "Cover", "Path", "Row", "Table", "amount"]

Row = tuple[int, ...]
Counts = tuple[Any, ...]  # of ints, and of Fractions where weights have fractions
Cover = int
# A path (itemset): a set of items (test, outcome); the tests of a local space are conditions.
Path = frozenset[tuple[Any, int]]


class Table:
    """Distinct 0/1 rows with class counts, in lexicographic order of the rows.

    Rows without any example are left out, so that equal data give equal tables.

    >>> table = Table([(0, 1), (1, 1)], [(2, 0), (1, 3)])
    >>> table.n_tests, table.n_classes, table.n_examples
    (2, 2, 6)
    >>> table.class_counts(table.everything)
    (3, 3)
    """

    def __init__(self, rows: Iterable[Iterable[Any]], counts: Iterable[Iterable[Any]]) -> None:
        clean_rows = [_clean_row(row, number) for number, row in enumerate(rows)]
        clean_counts = [_clean_counts(each, number) for number, each in enumerate(counts)]
        if len(clean_rows) != len(clean_counts):
            raise ValueError(
                f"{len(clean_rows)} rows but {len(clean_counts)} count vectors; give one vector per row"
            )
        if not clean_rows:
            raise ValueError("a table needs at least one row; got none")
        _same_length(clean_rows, "row", "tests")
        _same_length(clean_counts, "count vector", "classes")
        if not clean_counts[0]:
            raise ValueError("a table needs at least one class; the count vectors are empty")
        if len(set(clean_rows)) != len(clean_rows):
            raise ValueError("the rows of a table are distinct; use Table.from_data to merge repeated rows")
        self.n_tests = len(clean_rows[0])
        self.n_classes = len(clean_counts[0])
        kept = sorted((row, each) for row, each in zip(clean_rows, clean_counts, strict=True) if any(each))
        self.rows: tuple[Row, ...] = tuple(row for row, _ in kept)
        self.counts: tuple[Counts, ...] = tuple(each for _, each in kept)
        self.everything: Cover = (1 << len(self.rows)) - 1
        self.ones: tuple[Cover, ...] = tuple(
            sum(1 << number for number, row in enumerate(self.rows) if row[test] == 1)
            for test in range(self.n_tests)
        )
        self._counts_of: dict[Cover, Counts] = {}
        self.n_examples = self.n(self.everything)

    @classmethod
    def from_data(
        cls,
        X: Iterable[Iterable[Any]],
        y: Iterable[Any],
        n_classes: int | None = None,
        sample_weight: Iterable[Any] | None = None,
    ) -> Table:
        """Return the table of examples: 0/1 rows X, class indices y; weights are numbers of examples.

        >>> Table.from_data([[0], [1], [0]], [0, 1, 1]).counts
        ((1, 1), (0, 1))
        """
        rows = [_clean_row(row, number) for number, row in enumerate(X)]
        labels = [_whole(label, f"class of row {number}") for number, label in enumerate(y)]
        if len(rows) != len(labels):
            raise ValueError(f"{len(rows)} rows but {len(labels)} classes; give one class index per row")
        if sample_weight is None:
            weights = [1] * len(rows)
        else:
            weights = [
                amount(weight, f"weight of row {number}") for number, weight in enumerate(sample_weight)
            ]
        if len(weights) != len(rows):
            raise ValueError(f"{len(rows)} rows but {len(weights)} weights; give one number per row")
        if not rows:
            raise ValueError("a table needs at least one row; got none")
        found = max(labels) + 1
        if n_classes is None:
            n_classes = found
        if found > n_classes:
            raise ValueError(
                f"class index {found - 1} with n_classes={n_classes}; indices run from 0 to n_classes − 1"
            )
        merged: dict[Row, list[int]] = {}
        for row, label, weight in zip(rows, labels, weights, strict=True):
            merged.setdefault(row, [0] * n_classes)[label] += weight
        return cls(merged.keys(), merged.values())

    def __add__(self, other: Table) -> Table:
        """Return the table of both data sets together."""
        if (self.n_tests, self.n_classes) != (other.n_tests, other.n_classes):
            raise ValueError(
                f"cannot add a table of {other.n_tests} tests and {other.n_classes} classes to one of "
                f"{self.n_tests} tests and {self.n_classes} classes; both must use the same tests and classes"
            )
        merged = dict(zip(self.rows, self.counts, strict=True))
        nothing = (0,) * self.n_classes
        for row, more in zip(other.rows, other.counts, strict=True):
            merged[row] = tuple(a + b for a, b in zip(merged.get(row, nothing), more, strict=True))
        return Table(merged.keys(), merged.values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self.rows, self.counts) == (other.rows, other.counts)

    def __hash__(self) -> int:
        return hash((self.rows, self.counts))

    def __repr__(self) -> str:
        return (
            f"Table({len(self.rows)} distinct rows, {self.n_tests} tests, "
            f"{self.n_classes} classes, {self.n_examples} examples)"
        )

    def class_counts(self, cover: Cover) -> Counts:
        """Return f_c(cover) for every class c."""
        found = self._counts_of.get(cover)
        if found is None:
            inside = [each for number, each in enumerate(self.counts) if cover >> number & 1]
            found = (
                tuple(sum(column) for column in zip(*inside, strict=True))
                if inside
                else (0,) * self.n_classes
            )
            self._counts_of[cover] = found
        return found

    def n(self, cover: Cover) -> int:
        """Return f(cover): the number of examples."""
        return sum(self.class_counts(cover))

    def children(self, cover: Cover, test: int) -> tuple[Cover, Cover]:
        """Return the covers of the zero child and the one child."""
        return cover & ~self.ones[test], cover & self.ones[test]

    def cover_of(self, path: Path) -> Cover:
        """Return t(path): the rows that satisfy every item (test, outcome) of the path.

        >>> table = Table([(0, 1), (1, 1)], [(2, 0), (1, 3)])
        >>> table.cover_of(frozenset({(0, 1)})) == 0b10
        True
        """
        cover = self.everything
        for test, outcome in path:
            cover = self.children(cover, test)[outcome]
        return cover

    def condition(self, cover: Cover, test: int) -> Hashable:
        """Return what a test asks of new rows where it stands: here the test itself, everywhere."""
        return test

    def holds(self, row: Any, condition: Any) -> int:
        """Return the outcome of a condition for a row."""
        outcome: int = row[condition]
        return outcome

    def outcome(self, cover: Cover, test: int, row: Any) -> int:
        """Return the outcome of a test at a cover for a row."""
        return self.holds(row, self.condition(cover, test))

    def check_row(self, row: Iterable[Any]) -> tuple[Any, ...]:
        """Return a new example as a 0/1 tuple of the right length, or a ValueError."""
        clean = _clean_row(row, None)
        if len(clean) != self.n_tests:
            raise ValueError(f"a row of {len(clean)} values; this table has {self.n_tests} tests")
        return clean


def _clean_row(row: Iterable[Any], number: int | None) -> Row:
    where = "the row" if number is None else f"row {number}"
    clean = []
    for test, value in enumerate(row):
        if not (value == 0 or value == 1):
            raise ValueError(
                f"{where} has the value {value!r} for test {test}; tests are 0 or 1: binarise the data first"
            )
        clean.append(int(value))
    return tuple(clean)


def _clean_counts(counts: Iterable[Any], number: int) -> Counts:
    return tuple(amount(count, f"count of row {number}") for count in counts)


def amount(value: Any, what: str) -> Any:
    """Return a number of examples: an int, or where it has a fraction the Fraction that it is, exactly."""
    try:
        exact = Fraction(value)
    except (TypeError, ValueError, OverflowError):  # not a number, NaN, infinite
        exact = Fraction(-1)
    if exact < 0:
        raise ValueError(f"{what} is {value!r}; it must be a finite number of at least 0")
    return int(exact) if exact.denominator == 1 else exact


def _whole(value: Any, what: str) -> int:
    try:
        whole = int(value)
    except (TypeError, ValueError, OverflowError):  # not a number, NaN, infinite
        whole = -1
    if whole != value or whole < 0:
        raise ValueError(f"{what} is {value!r}; it must be a whole number of at least 0")
    return whole


def _same_length(items: Sequence[tuple[int, ...]], what: str, of_what: str) -> None:
    for number, item in enumerate(items):
        if len(item) != len(items[0]):
            raise ValueError(
                f"{what} {number} has {len(item)} {of_what} but {what} 0 has {len(items[0])}; "
                "all must have the same number"
            )
