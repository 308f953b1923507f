"""Tally: examples counted batch by batch, so that the result is what all of them at once would have given.

A table of tests is a sufficient statistic, and tables add. But which tests there are may depend on later batches: a
value not seen before is a new test, a test that was constant or equal to another may not stay so, the mode may change.
So a tally counts *raw* tests, more than are used:

    nominal    x == value     for every value seen; a new one is 0 for every earlier row
    0/1        x
    numeric    x <= cut       cuts as given, or else chosen from the first batch that has a value
    missing    x is missing   where missing values are allowed

and makes from them, whenever asked, the tests and the table that ``Binarizer.fit`` makes from all rows together. Where
states choose their own cuts, ``LocalTally`` (local_tally.py) counts instead.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.reading import looked
from everytree.data.binarizer import Binarizer, fit_encodings, rules_of
from everytree.data.column import Column
from everytree.data.counted_rows import CountedRows
from everytree.data.cut_rules import check_size
from everytree.data.cuts import Bins, given_cuts
from everytree.data.encoding import Encoding, Test, encode, matched, outcomes
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.data.facts import ColumnFacts, check_categories, facts_of, is_01, ordered
from everytree.data.frames import Frame, check_columns, named_columns
from everytree.data.row_counts import by_column
from everytree.errors import DataError

__all__ = ["Tally", "check_same_columns", "check_same_kind"]

Weights = ExampleWeights | None
Bits = npt.NDArray[np.uint8]
NOTHING: npt.NDArray[np.bool_] = np.zeros((0, 0), dtype=bool)


class Tally:
    """Examples of any number of batches, counted; ``add`` makes a new one and leaves the old one as it was.

    ``memory_limit`` are the most bytes that the tests of a batch may take; see ``check_size``.
    """

    def __init__(self, binarizer: Binarizer, memory_limit: int | None = None) -> None:
        self._binarizer = binarizer
        self._memory_limit = memory_limit
        self._facts: list[ColumnFacts] = []  # of all batches: values in the order they came, or cuts
        self._bins: list[Bins] = []
        self._coded: set[int] = set()  # columns of numbers that are codes
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
        check_same_columns([facts.name for facts in self._facts], frame)

    def add(self, frame: Frame, labels: npt.NDArray[Any], given: Any, known: Any = None) -> Tally:
        """The tally with one more batch, of weights above zero; ``known`` are labels that may be absent from it."""
        weights, rules = example_weights(given, frame.n_rows), rules_of(self._binarizer)
        rules.check()
        rules.refuse_classes("batch by batch")
        rules.check_missing(frame)
        new = copy.copy(self)
        if self._table is None:
            new.names = frame.names
            new._coded, new._bins = rules.coded_columns(frame), rules.bins_of(frame)
            new._facts = [ColumnFacts(column.name, "empty") for column in frame.columns]
        columns = [
            column.as_nominal() if j in new._coded else column for j, column in enumerate(frame.columns)
        ]
        new._facts = [
            self._seen(facts, column, bins, weights)
            for facts, column, bins in looked(zip(new._facts, columns, new._bins, strict=True))
        ]
        raw = [new._raw(j) for j in range(len(columns))]
        new._tests = dict(self._tests)
        for test in (test for tests in raw for test in tests):
            new._tests.setdefault(test, len(new._tests))
        check_size(frame.n_rows, len(new._tests), self._memory_limit)
        bits = np.zeros((frame.n_rows, len(new._tests)), dtype=np.uint8)
        for facts, column, tests in zip(new._facts, columns, raw, strict=True):
            encoding = _counting(facts, tests)
            for test, outcome in zip(
                tests, looked(outcomes(matched(column, encoding), encoding)), strict=True
            ):
                bits[:, new._tests[test]] = outcome
        new._count(self._table, self.labels, bits, labels, weights, known)
        return new

    def _raw(self, j: int) -> list[Test]:
        """Every test of a column that is counted."""
        facts, tests = self._facts[j], list[Test]()
        if facts.kind == "nominal":
            tests += [Test(facts.name, "==", value, j) for value in facts.values]
        elif facts.kind == "numeric":
            cuts = given_cuts(self._bins[j]) if facts.cuts is None else facts.cuts
            tests += [_itself(facts, j)] if facts.only_01 or not cuts else []
            tests += [Test(facts.name, "<=", cut, j) for cut in cuts]
        return tests if self._binarizer.missing == "error" else [*tests, _gone(facts, j)]

    def _seen(self, facts: ColumnFacts, column: Column, bins: Bins, weights: Weights) -> ColumnFacts:
        """The facts of a column with one more batch of it."""
        if column.is_empty:
            return facts
        kind = "nominal" if column.kind == "nominal" else "numeric"
        most = self._binarizer.max_categories
        if facts.kind == "empty":
            return self._begun(facts_of(column, None if weights is None else weights.counts, most), bins)
        if facts.kind == kind == "nominal":
            known = set(facts.values)
            new = [
                value
                for value in facts_of(column, None if weights is None else weights.counts, most).values
                if value not in known
            ]
            check_categories(facts.name, len(known) + len(new), "all batches", most)
            declared = facts.categories if facts.categories == column.categories else None
            return replace(facts, values=[*facts.values, *new], categories=declared)
        check_same_kind(facts.name, facts.kind == "nominal", kind == "nominal")
        if not facts.only_01 or is_01(column.present()):
            return facts
        if not given_cuts(bins):
            raise DataError(
                f"column {facts.name!r} held only 0 and 1 in earlier batches and holds other numbers now, for "
                f"which no cut-points are known; give them from the start, bins={{{facts.name!r}: [...]}}, or "
                "fit all rows at once"
            )
        return replace(facts, values=(), cuts=given_cuts(bins))

    def _begun(self, facts: ColumnFacts, bins: Bins) -> ColumnFacts:
        """What is kept of the first batch with a value; cuts that were not given are chosen here."""
        bare: dict[str, Any] = {"counts": (), "absent": 0, "present": 0}  # which are counted with the tests
        if facts.kind == "nominal":
            return replace(facts, **bare)
        mean = facts.mean() if self._binarizer.missing == "impute" else None
        if facts.only_01:
            return replace(facts, **bare, values=np.array([0, 1]), known_mean=mean)
        return replace(facts, **bare, values=(), cuts=facts.cuts_for(bins, mean), known_mean=mean)

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
        self._table = CountedRows.trusted(rows, counts, None, None, per_example=before.per_example) + batch

    # --- what all rows together would have given

    def binarized(self) -> tuple[Binarizer, CountedRows]:
        """The fitted Binarizer and the table, as from all rows at once."""
        assert self._table is not None
        # One copy with a row for each test: picking columns out of the table took most of the time.
        self._by_test = by_column(self._table.rows).view(np.bool_)
        missing = self._binarizer.missing
        encodings = [encode(self._counted(j), j, bins, missing) for j, bins in enumerate(looked(self._bins))]
        binarizer = Binarizer(**self.parameters)
        check_columns(binarizer, named_columns([facts.name for facts in self._facts], self.names), reset=True)
        kept = fit_encodings(binarizer, encodings, lambda j: self._answers(encodings[j]), self._table.n_rows)
        self._by_test = NOTHING
        names, labels = binarizer.get_feature_names_out().tolist(), self.labels.tolist()
        plain = all(encoding.fill is None for encoding in encodings)
        if plain and [self._tests[test] for test in binarizer.tests_] == list(range(self._table.n_tests)):
            return binarizer, self._table.named(names, labels)  # nothing was left out: these are the rows
        return binarizer, CountedRows.trusted(
            kept.matrix(), self._table.class_counts, names, labels, distinct=False,
            per_example=self._table.per_example,
        )  # fmt: skip

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

    def _counted(self, j: int) -> ColumnFacts:
        """What the tests of one column are made of; the counts of values play a part only where a mode is needed."""
        facts, counts, absent = self._facts[j], np.zeros(0, dtype=np.int64), 0
        if facts.kind == "empty":
            return facts
        if self._binarizer.missing != "error":
            absent = self._examples(_gone(facts, j))
        impute = self._binarizer.missing == "impute"
        if facts.kind == "nominal":
            values = ordered(facts.values, facts.categories)
            if impute:
                tests = [Test(facts.name, "==", value, j) for value in values]
                counts = np.array([self._examples(test) for test in tests])
            return replace(facts, values=values, counts=counts, absent=absent)
        if facts.only_01 and impute:
            ones = self._examples(_itself(facts, j))
            counts = np.array([self.total - absent - ones, ones])
        return replace(facts, counts=counts, absent=absent)


def check_same_columns(before: list[str], frame: Frame) -> None:
    """Refuse a batch whose columns are not those of the batches before."""
    now = [column.name for column in frame.columns]
    if before != now:
        raise DataError(
            f"the columns of a batch are {now[:12]}, and those before were {before[:12]}; give the same columns in "
            "the same order"
        )


def check_same_kind(name: str, was_nominal: bool, is_nominal: bool) -> None:
    """Refuse a column that held text in earlier batches and holds numbers now, or the other way round."""
    if was_nominal != is_nominal:
        was, now = ("text", "numbers") if was_nominal else ("numbers", "text")
        raise DataError(
            f"column {name!r} held {was} in earlier batches and holds {now} now; convert it to the type it had"
        )


def _gone(facts: ColumnFacts, j: int) -> Test:
    return Test(facts.name, "is", "missing", j)


def _itself(facts: ColumnFacts, j: int) -> Test:
    return Test(facts.name, "is", True, j)


def _counting(facts: ColumnFacts, tests: list[Test]) -> Encoding:
    """How a batch answers raw tests; a missing value makes all comparisons false."""
    codes = {value: code for code, value in enumerate(facts.values)} if facts.kind == "nominal" else None
    return Encoding(facts.kind, tests, None, codes)
