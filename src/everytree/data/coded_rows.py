"""CodedRows: distinct rows of codes with class counts, from which tables over any of the columns are made.

    columns → codes, once → the table of some columns with so many bins of a node: rows that are equal there are merged

Only which columns have tests, and how many bins a node makes, differ between the tables; the codes are shared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import Binarizer, fit_locally, set_fitted_locally
from everytree.data.column import Column
from everytree.data.cut_rules import check_size
from everytree.data.example_weights import ExampleWeights
from everytree.data.frames import Frame, check_columns
from everytree.data.listed_tests import TestNames
from everytree.data.local_columns import LocalColumns
from everytree.data.row_counts import check_room
from everytree.data.table import Table

__all__ = ["CodedPart", "CodedRows"]


@dataclass(frozen=True)
class CodedPart:
    """The table of some of the columns, and for each row of codes its place there."""

    table: Table
    place: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Distinct rows of codes, with how many examples of each class they stand for.

    ``codes`` has a column for each one that has tests, as ``binarizer.columns_`` lists them.
    """

    binarizer: Binarizer
    codes: npt.NDArray[np.int32]
    counts: npt.NDArray[np.int64]
    classes: tuple[Any, ...]
    per_example: int = 1  # so many counts make one example, where weights have fractions

    @classmethod
    def of_frame(
        cls,
        binarizer: Binarizer,
        frame: Frame,
        y: npt.NDArray[np.intp],
        classes: Sequence[Any],
        weights: ExampleWeights | None,
    ) -> tuple[CodedRows, npt.NDArray[np.intp]]:
        """Fit a Binarizer with local cuts, and count the rows; return them, and the place of every row of the frame."""
        check_columns(binarizer, frame, reset=True)
        columns = fit_locally(binarizer, frame, weights)
        codes = columns.codes(frame)
        first, place = columns.distinct(codes)
        check_room(first.size, len(classes), place.size)
        counts = np.zeros((first.size, len(classes)), dtype=np.int64)
        np.add.at(counts, (place, y), 1 if weights is None else weights.counts)
        parts = 1 if weights is None else weights.per_example
        return cls(binarizer, codes[first], counts, tuple(classes), parts), place

    @property
    def columns(self) -> LocalColumns:
        """Which tests belong to which column."""
        made = self.binarizer.columns_
        assert made is not None
        return made

    @property
    def total(self) -> float:
        """The number of examples."""
        return int(self.counts.sum()) / self.per_example

    def examples(self, entries: tuple[npt.NDArray[np.intp], ...]) -> npt.NDArray[Any]:
        """Return how many examples some entries (row and class) stand for."""
        counts = self.counts[entries]
        return counts if self.per_example == 1 else counts / self.per_example

    def shares(self) -> npt.NDArray[np.float64]:
        """Return the share of each class."""
        return np.asarray(self.counts.sum(axis=0) / max(1, int(self.counts.sum())))

    def tests_of(self, columns: Sequence[int]) -> npt.NDArray[np.intp]:
        """Return the numbers of all tests of some columns, ascending."""
        kept = set(columns)
        parts = [np.arange(c.begin, c.stop) for c in self.columns.columns if c.column in kept]
        return np.concatenate([*parts, np.zeros(0, dtype=np.intp)]).astype(np.intp)

    def bytes_of(self, columns: Sequence[int]) -> int:
        """Return the most bytes that the rows of the table of some columns take."""
        kept = [column for column in self.columns.columns if column.column in set(columns)]
        rows = min(len(self.codes), math.prod(column.n_codes + 1 for column in kept))
        return rows * sum(column.stop - column.begin for column in kept)

    def only(self, columns: Sequence[int], bins: int) -> CodedPart:
        """Return the table of these columns, for states that make so many bins of a numeric one."""
        kept = set(columns)
        encodings = []
        for j, each in enumerate(self.binarizer.encodings_):
            fine = None if each.fine is None else replace(each.fine, bins=bins)
            encodings.append(replace(each, fine=fine) if j in kept else replace(each, fine=fine, tests=[]))
        made: Binarizer = copy(self.binarizer)
        made.bins = bins
        local = set_fitted_locally(made, encodings, {}, self.columns)
        codes = self.codes[:, [k for k, c in enumerate(self.columns.columns) if c.column in kept]]
        first, place = local.distinct(codes)
        counts = np.zeros((first.size, self.counts.shape[1]), dtype=np.int64)
        np.add.at(counts, place, self.counts)
        check_size(first.size, local.n_tests)
        table = Table.trusted(
            local.rows(codes[first]), counts, TestNames(made.tests_), self.classes, columns=local,
            per_example=self.per_example,
        )  # fmt: skip
        return CodedPart(table.encoded(made, None), place)

    def frame(self, some: npt.NDArray[np.intp]) -> Frame:
        """Return some of the rows as columns again; a number that shares its code with others is the least of them."""
        made = [
            Column.of(f"x{j}", "numeric", np.zeros(some.size)) for j in range(len(self.binarizer.encodings_))
        ]
        for k, column in enumerate(self.columns.columns):
            name = made[column.column].name
            made[column.column] = self.columns.values_of(column, self.codes[some, k], name)
        return Frame(tuple(made), some.size, None)

    def table(self, bins: int) -> Table:
        """Return the table of all columns."""
        return self.only(range(len(self.binarizer.encodings_)), bins).table
