"""Columns as ranks, where every cut-point of a column is a test: no test is made before a tree asks it.

    cut r of a column of ranks    rank <= r, which says ``x <= cut`` with values[r] <= cut < values[r + 1]

A missing value that is a category of its own has the last rank, so that the last cut says whether there is a value.
What is not cut everywhere is a column of codes as in ``fewer_tests``: cuts of a numeric column, or 0 and 1 for a test.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import facts_and_bins
from everytree.data.cut_rules import CutRules
from everytree.data.cuts import cut_between
from everytree.data.encoding import Dropped, Encoding, Test, encode
from everytree.data.example_weights import ExampleWeights
from everytree.data.facts import ColumnFacts
from everytree.data.fewer_tests import Coded, code_columns
from everytree.data.frames import Frame

__all__ = ["RankedColumn", "RankedColumns", "place_of"]


@dataclass(frozen=True)
class RankedColumn:
    """One column of ranks: of the values of an attribute, or of some of its tests.

    ``values`` are the distinct values in order where every cut-point counts; else ``tests`` has the test of each cut.
    """

    attribute: int
    ranks: npt.NDArray[np.uint32]
    values: npt.NDArray[Any] | None = None
    tests: Sequence[Test] = ()

    @property
    def n_cuts(self) -> int:
        """The number of cuts between values."""
        return len(self.tests) if self.values is None else max(0, self.values.size - 1)


class RankedColumns:
    """All columns of a frame as ranks, and the tests that their cuts are.

    Parameters
    ----------
    rules : CutRules
        How columns become tests.
    frame : Frame
        The columns.
    weights : ExampleWeights or None
        The weights of the rows, above zero.
    """

    def __init__(self, rules: CutRules, frame: Frame, weights: ExampleWeights | None) -> None:
        self._facts, self._bins = facts_and_bins(rules, frame, weights)
        self._missing = rules.missing
        self._fills: dict[int, Any] = {}  # of columns that are cut everywhere
        self.columns: list[RankedColumn] = []
        for j, facts in enumerate(self._facts):
            if self._everywhere(j):
                self._fills[j] = facts.fill() if rules.missing == "impute" else None
                self.columns.append(self._of_values(j, facts, frame))
                # Nobody asks how often a value occurs again; of large data these were a tenth of the memory.
                self._facts[j] = replace(facts, counts=facts.counts[:0].copy())
            else:
                encoding = encode(facts, j, self._bins[j], rules.missing)
                self.columns += _of_tests(j, encoding, frame)

    def _everywhere(self, j: int) -> bool:
        facts = self._facts[j]
        return facts.kind == "numeric" and not facts.only_01 and self._bins[j] == "all"

    def _of_values(self, j: int, facts: ColumnFacts, frame: Frame) -> RankedColumn:
        values, column = facts.filled(self._fills[j]).values, frame.columns[j]
        if column.mask is None:
            return RankedColumn(j, _ranks(column.data), values)
        ranks = np.searchsorted(values, column.data).astype(np.uint32)
        absent = len(values) if self._missing != "impute" else int(np.searchsorted(values, self._fills[j]))
        ranks[column.mask] = absent
        return RankedColumn(j, ranks, values)

    @property
    def n_cuts(self) -> int:
        """The number of tests, all told."""
        return sum(column.n_cuts for column in self.columns)

    @property
    def n_bytes(self) -> int:
        """The bytes of the ranks and of the values that they stand for."""
        return sum(
            column.ranks.nbytes + (0 if column.values is None else column.values.nbytes)
            for column in self.columns
        )

    @property
    def some_everywhere(self) -> bool:
        """Whether there is a column of which every cut-point counts."""
        return any(column.values is not None for column in self.columns)

    def without(self, names: Iterable[str]) -> list[RankedColumn]:
        """The columns but those of attributes of these names."""
        gone = set(names)
        return [column for column in self.columns if self._facts[column.attribute].name not in gone]

    def test(self, column: RankedColumn, rank: int) -> tuple[Test, bool]:
        """The test of a cut, and whether it says the opposite: that a value is missing."""
        if column.values is None:
            return column.tests[rank], False
        name, j, values = self._facts[column.attribute].name, column.attribute, column.values
        if rank + 1 == values.size:
            return Test(name, "is", "missing", j), True
        return Test(name, "<=", cut_between(values[rank], values[rank + 1]), j), False

    def encodings(self, used: Iterable[tuple[RankedColumn, int]]) -> list[Encoding]:
        """The encodings of all columns, with the cuts that are used; of a column without one, the middle."""
        cuts: dict[int, set[int]] = {}
        for column, rank in used:
            if column.values is not None and rank + 1 < column.values.size:
                cuts.setdefault(column.attribute, set()).add(rank)
        made = []
        of_values = {column.attribute: column for column in self.columns if column.values is not None}
        for j, facts in enumerate(self._facts):
            if j not in of_values:
                made.append(encode(facts, j, self._bins[j], self._missing))
                continue
            values = of_values[j].values
            assert values is not None
            chosen = sorted(cuts.get(j, {values.size // 2 - 1} if values.size > 1 else ()))
            between = [float(values[0])] if values.size == 1 else []
            between += [cut_between(values[rank], values[rank + 1]) for rank in chosen]
            gone = (
                [Test(facts.name, "is", "missing", j)] if facts.absent and self._missing == "category" else []
            )
            made.append(
                Encoding(
                    "numeric", [*(Test(facts.name, "<=", cut, j) for cut in between), *gone], self._fills[j]
                )
            )
        return made

    def coded(self) -> list[Coded]:
        """The columns as codes of ``fewer_tests``."""
        return [
            Coded(
                column.attribute,
                column.n_cuts if column.values is not None else 0,
                column.ranks.astype(np.int64),
            )
            for column in self.columns
        ]


def _ranks(values: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
    """The rank of each value among the distinct ones. (A search for each value takes twice as long as one sort.)

    >>> _ranks(np.array([0.5, 0.1, 0.5, 0.2])).tolist()
    [2, 0, 2, 1]
    """
    order = np.argsort(values)
    in_order = values[order]
    ranks = np.empty(values.size, dtype=np.uint32)
    ranks[order] = np.concatenate([[0], np.cumsum(in_order[1:] != in_order[:-1])])
    return ranks


def _of_tests(j: int, encoding: Encoding, frame: Frame) -> list[RankedColumn]:
    """The tests of a column: its cuts in order as one column of ranks, every other test as one of two."""
    cuts = [test for test in encoding.tests if test.op == "<="]
    others = [test for test in encoding.tests if test.op != "<="]
    coded = code_columns(Frame((frame.columns[j],), frame.n_rows, None), [encoding])
    tests = [cuts] * bool(cuts) + [[test] for test in others]
    return [
        RankedColumn(j, column.codes.astype(np.uint32), None, asked)
        for column, asked in zip(coded, tests, strict=True)
    ]


def place_of(test: Test, places: Mapping[Test, int], dropped: Mapping[Test, Dropped]) -> tuple[int, bool]:
    """Where a test is among those kept, and whether that one says the opposite."""
    place = places.get(test)
    if place is not None:
        return place, False
    gone = dropped[test]
    assert gone.kept is not None
    return places[gone.kept], gone.reason == "complement"
