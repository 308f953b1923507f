"""Columns of values (numbers, nominal values, 0/1, missing ones), their codes, and every test there can be of them.

    code of a number    its rank among the distinct training values; with more than ``fine`` of them (and bins
                        not "all") the number of its equal-frequency bin, ``fine`` bins in all
    code of a value     its place in the sorted training values
    universe            numeric: x <= (between code i and i + 1) for every i;  nominal: x == value for every
                        value, of two values without missing ones only the second;  0/1: x == 1;
                        and "x is missing" where one is

A missing number is below no cut and a missing value equals none: such tests fail. What a state *offers* of the
universe is said in ``local_space``; here are the two laws it uses.

**Equal-frequency breaks** of counts n_0, n_1, … of ordered values into k bins. Bins are filled from the left. With R
examples and k bins left, a bin aims at R/k: at the first break where it holds at least that many it ends, or one
break earlier (if it holds something there) where that is strictly closer to R/k. If the values run out first, the
last break ends one more bin.

**The cut** between neighbours lo < hi is their mid-point in decimals, as they are written. With more than six
significant digits it is shortened: the fewest digits that are off by at most (hi − lo)/20. Always lo <= cut < hi.
Between whole numbers of which one reaches 2^52 the cut is whole, rounded down.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

from everytree.reference.table import Row, Table, amount

__all__ = ["Column", "ColumnTable", "Condition", "cut_between", "equal_frequency_breaks"]

# (column, "<=", cut), (column, "==", value) or (column, "is missing").
Condition = tuple[Any, ...]

FINE = 255


def equal_frequency_breaks(counts: Sequence[int], bins: int | None) -> list[int]:
    """Return the places j of the breaks "between value j and value j + 1"; ``bins=None`` gives all of them.

    >>> equal_frequency_breaks([1, 1, 1, 1], 2), equal_frequency_breaks([7, 1, 1, 1], 2)
    ([1], [0])
    """
    last = len(counts) - 2
    if bins is None:
        return list(range(last + 1))
    breaks: list[int] = []
    begin = 0  # the first value of the bin that is being filled
    while len(breaks) < bins - 1 and begin <= last:
        aim = Fraction(sum(counts[begin:]), bins - len(breaks))
        end, held = begin, counts[begin]
        while held < aim and end < last:
            end += 1
            held += counts[end]
        if held < aim:  # the values ran out
            return [*breaks, last]
        before = held - counts[end]
        if end > begin and aim - before < held - aim:
            end -= 1
        breaks.append(end)
        begin = end + 1
    return breaks


@lru_cache(
    maxsize=None, typed=True
)  # a whole number and an equal float have different cuts where they are large
def cut_between(lo: float, hi: float) -> float | int:
    """Return the number that a person reads between two neighbouring values.

    >>> cut_between(54, 55), cut_between(0.1, 0.2), cut_between(0.123456789, 0.987654321)
    (54.5, 0.15, 0.56)
    """
    if isinstance(lo, int) and isinstance(hi, int) and max(-lo, hi) >= 2**52:
        return (lo + hi) // 2
    low, high = Fraction(repr(float(lo))), Fraction(repr(float(hi)))
    middle = (low + high) / 2
    tries = [middle] if _rounded(middle, 6) == middle else []
    tries += [
        short
        for digits in range(1, 18)
        if abs((short := _rounded(middle, digits)) - middle) <= (high - low) / 20
    ]
    return next((float(each) for each in tries if float(lo) <= float(each) < float(hi)), float(lo))


def _rounded(x: Fraction, digits: int) -> Fraction:
    """Return x with this many significant decimal digits, halves to the even one."""
    if x == 0:
        return x
    unit = Fraction(10) ** (1 - digits)  # of the last digit of a number in [1, 10)
    while abs(x) >= unit * 10**digits:
        unit *= 10
    while abs(x) < unit * 10 ** (digits - 1):
        unit /= 10
    return round(x / unit) * unit


class Column(NamedTuple):
    """A column and its part of the universe: tests ``begin`` to ``end - 1``, and ``missing`` where there is one.

    Numeric: ``values[i]`` is (smallest, largest) training value of code i, and test begin + i asks for code <= i.
    Nominal: ``values[i]`` is the value of code i; test begin + j asks for ``values[asked[j]]``.
    ``bins`` is the number of bins of a state, None for all cuts.
    """

    kind: str
    begin: int
    end: int
    missing: int | None
    bins: int | None
    values: tuple[Any, ...]
    asked: tuple[int, ...] = ()

    def code(self, row: Row) -> int | None:
        """Return the code that a 0/1 row of the universe stands for; None is missing."""
        if self.missing is not None and row[self.missing]:
            return None
        on = [i for i in range(self.end - self.begin) if row[self.begin + i]]
        if self.kind == "numeric":
            return on[0] if on else self.end - self.begin
        if not on and 0 in self.asked:
            raise ValueError(
                f"no test from {self.begin} to {self.end - 1} holds in a row; one value must be there"
            )
        return self.asked[on[0]] if on else 0  # of two values only the second is asked for

    def holds(self, value: Any, test: int) -> int:
        """Return the outcome of a test of the universe for a training value (None is missing)."""
        if test == self.missing:
            return int(value is None)
        if value is None:
            return 0
        if self.kind == "numeric":
            return int(value <= self.values[test - self.begin][1])
        return int(value == self.values[self.asked[test - self.begin]])

    @property
    def tests(self) -> range:
        """Every test of the column; that of missing values is the last."""
        return range(self.begin, self.end + (self.missing is not None))


class ColumnTable:
    """Distinct rows of codes with class counts, and the universe of tests of their columns.

    ``universe`` is the table of all tests as 0/1 columns: ``Space(data.universe)`` is the space of global cuts.
    ``attributes[test]`` is the column of a test, for attribute-fair priors.

    >>> data = ColumnTable.from_data([[1.5, "a"], [2.5, "b"], [None, "c"], [4, "a"]], [0, 1, 0, 1], bins=2)
    >>> data.attributes, data.universe.n_tests
    ((0, 0, 0, 1, 1, 1), 6)
    """

    def __init__(self, universe: Table, columns: Sequence[Column]) -> None:
        self.universe = universe
        self.columns = tuple(columns)
        self.attributes = tuple(number for number, column in enumerate(self.columns) for _ in column.tests)
        if [test for column in self.columns for test in column.tests] != list(range(universe.n_tests)):
            raise ValueError(
                f"the columns do not part the {universe.n_tests} tests; give every test to one column, in order, "
                "the test for missing values last"
            )
        # codes[row][column], None for missing
        self.codes = tuple(tuple(column.code(row) for column in self.columns) for row in universe.rows)

    @classmethod
    def from_data(
        cls,
        X: Iterable[Sequence[Any]],
        y: Iterable[int],
        n_classes: int | None = None,
        sample_weight: Iterable[Any] | None = None,
        bins: int | str | Sequence[int | str] = 4,
        kinds: Sequence[str] | None = None,
        fine: int = FINE,
    ) -> ColumnTable:
        """Return the table of examples: rows of values X (None or NaN is missing), class indices y, weights.

        ``bins`` is the number of bins of a state, one for all columns or one for each, or "all". A kind is "numeric",
        "nominal" or "binary" (0/1, nothing missing); without ``kinds`` the values tell.
        """
        rows, labels = [[_clean(value) for value in row] for row in X], list(y)
        given = [1] * len(rows) if sample_weight is None else sample_weight
        weights = [amount(weight, "a weight") for weight in given]
        if n_classes is None:
            n_classes = max(labels) + 1
        # A row without weight is no example, so its values are nobody's.
        kept = [place for place, weight in enumerate(weights) if weight]
        if not kept:
            raise ValueError("a table needs at least one example; got none")
        width = len(rows[0])
        each_bins = [bins] * width if isinstance(bins, int | str) else list(bins)
        columns: list[Column] = []
        begin = 0
        for j in range(width):
            values = [(rows[place][j], weights[place]) for place in kept]
            column = _column(values, begin, each_bins[j], kinds[j] if kinds else None, fine)
            columns.append(column)
            begin = column.tests.stop
        bits = [
            [
                column.holds(value, test)
                for value, column in zip(rows[i], columns, strict=True)
                for test in column.tests
            ]
            for i in kept
        ]
        universe = Table.from_data(bits, [labels[i] for i in kept], n_classes, [weights[i] for i in kept])
        return cls(universe, columns)

    @classmethod
    def from_universe(
        cls,
        rows: Iterable[Iterable[Any]],
        counts: Iterable[Iterable[Any]],
        columns: Iterable[Sequence[int]],
    ) -> ColumnTable:
        """Return the table of 0/1 rows of the universe; a column is (kind, begin, end, missing, bins).

        Kind 0 is ordered and 1 nominal; missing is -1 for none, bins 0 for all. New rows are then rows of codes.
        """
        made = []
        for kind, begin, end, missing, bins in columns:
            m = int(end) - int(begin)
            ordered = not kind
            made.append(
                Column(
                    "numeric" if ordered else "nominal",
                    int(begin),
                    int(end),
                    None if missing < 0 else int(missing),
                    int(bins) or None,
                    tuple((code, code) for code in range(m + 1)) if ordered else tuple(range(m)),
                    () if ordered else tuple(range(m)),
                )
            )
        return cls(Table(rows, counts), made)

    def condition(self, test: int, upper: int | None = None) -> Condition:
        """Return what a test asks; for a cut, ``upper`` is the code above it (that which follows, unless told)."""
        number = self.attributes[test]
        column = self.columns[number]
        if test == column.missing:
            return (number, "is missing")
        place = test - column.begin
        if column.kind == "nominal":
            return (number, "==", column.values[column.asked[place]])
        above = column.values[place + 1 if upper is None else upper]
        return (number, "<=", cut_between(column.values[place][1], above[0]))

    def holds(self, row: Sequence[Any], condition: Hashable) -> int:
        """Return whether a row of values (any, seen in training or not) meets a condition."""
        assert isinstance(condition, tuple)
        value = _clean(row[condition[0]])
        if condition[1] == "is missing":
            return int(value is None)
        if value is None:
            return 0
        if condition[1] == "<=":
            return int(value <= condition[2])
        if self.columns[condition[0]].values == (
            0,
            1,
        ):  # 0/1: a number that was not seen counts as the nearer one
            return int(value > 0.5)
        return int(value == condition[2])


def _clean(value: Any) -> Any:
    return None if value is None or value != value else value  # NaN differs from itself


def _column(
    values: Sequence[tuple[Any, int]], begin: int, bins: int | str, kind: str | None, fine: int
) -> Column:
    """Return the column of training values with weights, whose tests begin at a number."""
    if isinstance(bins, str) and bins != "all":
        raise ValueError(f"bins={bins!r}; give a number of at least 2, or 'all'")
    if isinstance(bins, int) and bins < 2:
        raise ValueError(f"bins={bins!r}; give a number of at least 2, or 'all'")
    weight: dict[Any, int] = {}
    for value, each in values:
        weight[value] = weight.get(value, 0) + each
    lacking = weight.pop(None, 0) > 0
    distinct = sorted(weight)
    if kind is None:
        kind = _kind(distinct)
    if kind == "binary":
        if not set(distinct) <= {0, 1}:
            raise ValueError(f"a binary column holds 0 and 1 only; this one holds {sorted(weight)[:5]}")
        # A column of one value has no test; there are two codes all the same, so that code 1 is the value 1.
        asked: tuple[int, ...] = (1,) if len(distinct) == 2 else ()
        end = begin + len(asked)
        return Column("nominal", begin, end, end if lacking and distinct else None, None, (0, 1), asked)
    own = lacking and bool(distinct)  # a column of nothing but missing values has no test
    if kind == "nominal":
        asked = tuple(range(len(distinct))) if own or len(distinct) > 2 else tuple(range(1, len(distinct)))
        end = begin + len(asked)
        return Column("nominal", begin, end, end if own else None, None, tuple(distinct), asked)
    if kind != "numeric":
        raise ValueError(f"kind={kind!r}; choose 'numeric', 'nominal' or 'binary'")
    k = None if isinstance(bins, str) else bins
    places = equal_frequency_breaks(
        [weight[value] for value in distinct], fine if k is not None and len(distinct) > fine else None
    )
    starts = [0, *(place + 1 for place in places)]
    ends = [*places, len(distinct) - 1]
    spans = tuple((distinct[i], distinct[j]) for i, j in zip(starts, ends, strict=True)) if distinct else ()
    end = begin + len(places)
    return Column("numeric", begin, end, end if own else None, k, spans)


def _kind(distinct: Sequence[Any]) -> str:
    if any(isinstance(value, str) for value in distinct):
        return "nominal"
    return "binary" if distinct and set(distinct) <= {0, 1} else "numeric"
