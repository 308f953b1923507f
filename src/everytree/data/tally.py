"""Tally: examples counted batch by batch, so that the result is what all of them at once would have given.

A table of tests is a sufficient statistic, and tables add. But which tests there are may depend on later batches: a
value not seen before is a new test, a test that was constant or equal to another may not stay so, the mode may change.
So a tally counts *raw* tests, more than are used:

    nominal    x == value     for every value seen; a new one is 0 for every earlier row
    0/1        x
    numeric    x <= cut       cuts as given, or else chosen from the first batch that has a value
    missing    x is missing   where missing values are allowed

and makes from them, whenever asked, the tests and the table that ``Binarizer.fit`` makes from all rows together.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import Binarizer, fit_encodings, rules_of
from everytree.data.column import Column
from everytree.data.counted_rows import CountedRows
from everytree.data.cut_rules import check_size
from everytree.data.cuts import Bins
from everytree.data.encoding import Encoding, Test, encode, matched, outcomes
from everytree.data.facts import ColumnFacts, check_categories, facts_of, is_01, ordered
from everytree.data.frames import Frame, check_columns, named_columns
from everytree.errors import DataError

__all__ = ["Tally"]

Weights = npt.NDArray[np.int64] | None
Bits = npt.NDArray[np.uint8]
NOTHING: npt.NDArray[np.bool_] = np.zeros((0, 0), dtype=bool)


@dataclass
class _Column:
    """What is known of one column: its kind, and what its tests are made of."""

    name: str
    place: int
    bins: Bins
    coded: bool  # numbers that are codes
    kind: str = "empty"
    values: list[Any] = field(default_factory=list)  # nominal: in the order they came
    declared: tuple[Any, ...] | None = None  # nominal: the same order in every batch, or None
    cuts: list[float | int] = field(default_factory=list)
    mean: float | int | None = None
    only_01: bool = True

    @property
    def fixed_cuts(self) -> bool:
        """Whether the cuts were given, and not chosen from data."""
        return not isinstance(self.bins, str | int | np.integer)

    @property
    def gone(self) -> Test:
        return Test(self.name, "is", "missing", self.place)

    @property
    def itself(self) -> Test:
        return Test(self.name, "is", True, self.place)

    def raw(self, missing: str) -> list[Test]:
        """Every test that is counted."""
        tests: list[Test] = []
        if self.kind == "nominal":
            tests += [Test(self.name, "==", value, self.place) for value in self.values]
        elif self.kind == "number":
            tests += [self.itself] if self.only_01 or not self.cuts else []
            tests += [Test(self.name, "<=", cut, self.place) for cut in self.cuts]
        return tests if missing == "error" else [*tests, self.gone]

    def encoding(self, tests: list[Test]) -> Encoding:
        """How a batch answers these tests; a missing value makes all comparisons false."""
        codes = {value: code for code, value in enumerate(self.values)} if self.kind == "nominal" else None
        kind = "numeric" if self.kind == "number" else self.kind
        return Encoding(kind, tests, None, codes)  # type: ignore[arg-type]


class Tally:
    """Examples of any number of batches, counted; ``add`` makes a new one and leaves the old one as it was."""

    def __init__(self, binarizer: Binarizer) -> None:
        self._binarizer = binarizer
        self._columns: list[_Column] = []
        self._tests: dict[Test, int] = {}  # raw test → its column in the counts
        self._table: CountedRows | None = None
        self._by_test: npt.NDArray[np.bool_] = NOTHING  # while tests are made
        self.names: tuple[str, ...] | None = None
        self.labels: npt.NDArray[Any] = np.zeros(0)

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the Binarizer, which hold for every batch."""
        params: dict[str, Any] = self._binarizer.get_params()
        return params

    @property
    def total(self) -> int:
        """Number of examples."""
        return 0 if self._table is None else self._table.total

    @property
    def n_bytes(self) -> int:
        """Bytes of the counts."""
        return 0 if self._table is None else self._table.rows.nbytes + self._table.class_counts.nbytes

    def check_names(self, frame: Frame) -> None:
        """Refuse a batch whose columns are not those of the batches before."""
        if self._table is None:
            return
        before = [column.name for column in self._columns]
        now = [column.name for column in frame.columns]
        if before != now:
            raise DataError(
                f"the columns of a batch are {now[:12]}, and those before were {before[:12]}; give the same columns in "
                "the same order"
            )

    def add(self, frame: Frame, labels: npt.NDArray[Any], weights: Weights, known: Any = None) -> Tally:
        """The tally with one more batch, of weights above zero; ``known`` are labels that may be absent from it."""
        rules = rules_of(self._binarizer)
        rules.check()
        rules.check_missing(frame)
        new = copy.copy(self)
        if self._table is None:
            new.names = frame.names
            coded, bins = rules.coded_columns(frame), rules.bins_of(frame)
            new._columns = [
                _Column(column.name, j, bins[j], j in coded) for j, column in enumerate(frame.columns)
            ]
        else:
            new._columns = copy.deepcopy(self._columns)
        columns = [
            given.as_nominal() if column.coded else given
            for given, column in zip(frame.columns, new._columns, strict=True)
        ]
        for column, given in zip(new._columns, columns, strict=True):
            new._see(column, given, weights)
        raw = [column.raw(self._binarizer.missing) for column in new._columns]
        new._tests = dict(self._tests)
        for test in (test for tests in raw for test in tests):
            new._tests.setdefault(test, len(new._tests))
        check_size(frame.n_rows, len(new._tests))
        bits = np.zeros((frame.n_rows, len(new._tests)), dtype=np.uint8)
        for column, given, tests in zip(new._columns, columns, raw, strict=True):
            encoding = column.encoding(tests)
            for test, outcome in zip(tests, outcomes(matched(given, encoding), encoding), strict=True):
                bits[:, new._tests[test]] = outcome
        new._count(self._table, self.labels, bits, labels, weights, known)
        return new

    def _see(self, column: _Column, given: Column, weights: Weights) -> None:
        """Take note of a batch of one column."""
        if given.is_empty:
            return
        kind = "nominal" if given.kind == "nominal" else "number"
        if column.kind == "empty":
            column.kind = kind
            self._begin(column, given, weights)
        elif column.kind == kind == "nominal":
            most = self._binarizer.max_categories
            known = set(column.values)
            column.values += [value for value in facts_of(given, weights, most).values if value not in known]
            column.declared = column.declared if column.declared == given.categories else None
            check_categories(column.name, len(column.values), "all batches", most)
        elif column.kind != kind:
            was, now = ("text", "numbers") if column.kind == "nominal" else ("numbers", "text")
            raise DataError(
                f"column {column.name!r} held {was} in earlier batches and holds {now} now; convert it to the type "
                "it had"
            )
        elif column.only_01:
            column.only_01 = is_01(given.present())
            if not (column.only_01 or column.cuts):
                raise DataError(
                    f"column {column.name!r} held only 0 and 1 in earlier batches and holds other numbers now, for "
                    f"which no cut-points are known; give them from the start, bins={{{column.name!r}: [...]}}, or "
                    "fit all rows at once"
                )

    def _begin(self, column: _Column, given: Column, weights: Weights) -> None:
        """The first values of a column; cuts that were not given are chosen here, as ``Binarizer`` does."""
        facts = facts_of(given, weights, self._binarizer.max_categories)
        if column.kind == "nominal":
            column.values, column.declared = list(facts.values), given.categories
            return
        column.only_01 = facts.only_01
        if column.only_01 and not column.fixed_cuts:
            return
        if self._binarizer.missing == "impute":
            column.mean = facts.mean()
        column.cuts = facts.cuts_for(column.bins, column.mean)

    def _count(
        self,
        before: CountedRows | None,
        old: npt.NDArray[Any],
        bits: Bits,
        labels: npt.NDArray[Any],
        weights: Weights,
        known: Any,
    ) -> None:
        """Add rows to the counts, which get zeros for tests and labels that are new."""
        found = [labels] if known is None else [labels, known]
        self.labels = np.unique(np.concatenate([*found, *([] if before is None else [old])]))
        codes = np.searchsorted(self.labels, labels)
        batch = CountedRows.from_arrays(bits, codes, len(self.labels), weights)
        if before is None:
            self._table = batch
            return
        rows = np.zeros((before.n_rows, bits.shape[1]), dtype=np.uint8)
        rows[:, : before.n_tests] = before.rows
        counts = np.zeros((before.n_rows, len(self.labels)), dtype=np.int64)
        counts[:, np.searchsorted(self.labels, old)] = before.class_counts
        # Zeros on the right leave rows distinct and in order.
        self._table = CountedRows.trusted(rows, counts, None, None) + batch

    # --- what all rows together would have given

    def binarized(self) -> tuple[Binarizer, CountedRows]:
        """The fitted Binarizer and the table, as from all rows at once."""
        assert self._table is not None
        # One copy with a row for each test: picking columns out of the table took most of the time.
        self._by_test = np.ascontiguousarray(self._table.rows.T).view(np.bool_)
        missing = self._binarizer.missing
        encodings = [encode(self._facts(each), each.place, each.bins, missing) for each in self._columns]
        binarizer = Binarizer(**self.parameters)
        check_columns(
            binarizer, named_columns([column.name for column in self._columns], self.names), reset=True
        )
        kept = fit_encodings(binarizer, encodings, lambda j: self._answers(encodings[j]), self._table.n_rows)
        self._by_test = NOTHING
        names, labels = binarizer.get_feature_names_out().tolist(), self.labels.tolist()
        plain = all(encoding.fill is None for encoding in encodings)
        if plain and [self._tests[test] for test in binarizer.tests_] == list(range(self._table.n_tests)):
            return binarizer, self._table.named(names, labels)  # nothing was left out: these are the rows
        return binarizer, CountedRows.trusted(
            kept.matrix(), self._table.class_counts, names, labels, distinct=False
        )

    def _answers(self, encoding: Encoding) -> Iterator[npt.NDArray[np.bool_]]:
        """The outcomes of the tests of one column on the distinct rows, with the fill in place of what is missing."""
        for test in encoding.tests:
            outcome = self._bits(test)
            if encoding.fill is not None and test.holds(encoding.fill):
                outcome = outcome | self._bits(Test(test.attribute, "is", "missing", test.column))
            yield outcome

    def _bits(self, test: Test) -> npt.NDArray[np.bool_]:
        bits: npt.NDArray[np.bool_] = self._by_test[self._tests[test]]
        return bits

    def _examples(self, test: Test) -> int:
        """How many examples pass a raw test."""
        assert self._table is not None
        return int(self._table.class_counts[self._bits(test)].sum())

    def _facts(self, column: _Column) -> ColumnFacts:
        """What the tests of one column are made of; the counts of values play a part only where a mode is needed."""
        if column.kind == "empty":
            return ColumnFacts(column.name, "empty")
        counts = np.zeros(0, dtype=np.int64)
        absent = 0 if self._binarizer.missing == "error" else self._examples(column.gone)
        impute = self._binarizer.missing == "impute"
        if column.kind == "nominal":
            values = ordered(column.values, column.declared)
            if impute:
                tests = [Test(column.name, "==", value, column.place) for value in values]
                counts = np.array([self._examples(test) for test in tests])
            return ColumnFacts(column.name, "nominal", values, counts, absent)
        if column.only_01:
            if impute:
                ones = self._examples(column.itself)
                counts = np.array([self.total - absent - ones, ones])
            return ColumnFacts(column.name, "numeric", np.array([0, 1]), counts, absent)
        return ColumnFacts(column.name, "numeric", absent=absent, cuts=column.cuts, known_mean=column.mean)
