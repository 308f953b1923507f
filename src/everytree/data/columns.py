"""Whole columns for the greedy growers: nominal values as codes, numbers as they are, no 0/1 tests.

A nominal column has its declared categories (of a categorical or a data set) or, without any, the values that occur, in
sorted order; every one of them is a branch of a multiway test. Booleans are nominal with the values False and True. A
column without any value in training stays, with no values: nothing can be tested on it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.data.column import Column
from everytree.data.cut_rules import chosen_columns
from everytree.data.cuts import number_text
from everytree.data.encoding import as_trained
from everytree.data.example_weights import ExampleWeights
from everytree.data.facts import facts_of
from everytree.data.frames import Frame
from everytree.errors import DataError

__all__ = ["MISSING", "UNSEEN", "ColumnReader", "RawColumn", "set_classes"]

MISSING, UNSEEN = -1, -2  # as in the core


@dataclass(frozen=True, slots=True)
class RawColumn:
    """What training told about one column: its name, whether it is numeric, and its values if it is not.

    A type beside ``ColumnFacts`` because trees keep it: a small value that is compared, shown and written to files.
    """

    name: str
    kind: Literal["numeric", "nominal"]
    values: tuple[Any, ...] = ()

    def branch_text(self, threshold: float, slot: int) -> str:
        """The condition of one branch of a test on this column, such as ``age <= 54.5``; the last slot is "missing".

        A numeric test has the slots <=, > and missing; a nominal one, with a code as threshold, =, != and missing; and
        with NaN as threshold one slot for every value, then missing.

        >>> age, colour = RawColumn("age", "numeric"), RawColumn("colour", "nominal", ("blue", "red"))
        >>> age.branch_text(54.5, 1), colour.branch_text(math.nan, 0), colour.branch_text(1.0, 1)
        ('age > 54.5', 'colour = blue', 'colour != red')
        >>> age.branch_text(math.inf, 0), colour.branch_text(math.nan, 2)
        ('age is known', 'colour is missing')
        """
        if slot == (len(self.values) if math.isnan(threshold) else 2):
            return f"{self.name} is missing"
        if threshold == math.inf:
            return f"{self.name} is known"
        if self.kind == "numeric":
            return f"{self.name} {('<=', '>')[slot]} {number_text(threshold)}"
        if math.isnan(threshold):
            return f"{self.name} = {self.values[slot]}"
        return f"{self.name} {('=', '!=')[slot]} {self.values[int(threshold)]}"

    def slot(self, threshold: float, value: float) -> int:
        """The branch that a number or a code takes, counted as in ``branch_text``; NaN is missing, −1 is no branch.

        >>> RawColumn("age", "numeric").slot(54.5, 60), RawColumn("colour", "nominal", ("blue", "red")).slot(1.0, 0.0)
        (1, 1)
        """
        if math.isnan(value):
            return len(self.values) if math.isnan(threshold) else 2
        if self.kind == "numeric":
            return int(value > threshold)
        if value < 0:  # not seen in training
            return -1
        return int(value) if math.isnan(threshold) else int(value != threshold and threshold != math.inf)


@dataclass(frozen=True, slots=True)
class ColumnReader:
    """Turns frames into the core's columns, always as in training.

    >>> from everytree.data.frames import read_frame
    >>> frame = read_frame([[1.5, "red"], [2.5, "blue"], [None, "red"]])
    >>> reader = ColumnReader.fit(frame)
    >>> reader.columns[1].values
    ('blue', 'red')
    >>> reader.codes(read_frame([[1.0, "green"], [2.0, None]]).columns[1], 1).tolist()
    [-2, -1]
    """

    columns: tuple[RawColumn, ...]
    fills: tuple[Any, ...] | None = None  # what missing values become, by column; None: they stay missing

    @classmethod
    def fit(
        cls,
        frame: Frame,
        nominal: Sequence[str | int] | None = None,
        *,
        impute: bool = False,
        weights: ExampleWeights | None = None,
    ) -> ColumnReader:
        """Learn kinds and values; ``nominal`` names numeric columns (or their positions) whose numbers are codes.

        With ``impute`` a missing value becomes the mean of its numeric column, or the most frequent value (of a nominal
        column, and of one that holds 0 and 1 only).
        """
        coded = chosen_columns(nominal, frame, "nominal")
        bare = cls(tuple(_described(column, j in coded) for j, column in enumerate(frame.columns)))
        if not impute:
            return bare
        counts = None if weights is None else weights.counts
        return replace(bare, fills=tuple(bare._fill(c, j, counts) for j, c in enumerate(frame.columns)))

    def extended(self, frame: Frame, nominal: Sequence[str | int] | None = None) -> ColumnReader:
        """The reader after more rows: new values of a nominal column come last, so that older codes stay.

        A column that had no value at all so far becomes what it is in these rows.
        """
        coded = chosen_columns(nominal, frame, "nominal")
        columns = []
        for j, (column, known) in enumerate(zip(frame.columns, self.columns, strict=True)):
            now = _described(column, j in coded)
            if known == RawColumn(known.name, "nominal"):
                known = now
            elif known.kind == "nominal" and not column.is_empty:
                self.codes(column, j)  # refuses another kind
                seen = set(known.values)
                values = _described(column, coded=True).values
                known = replace(known, values=(*known.values, *(v for v in values if v not in seen)))
            columns.append(known)
        return replace(self, columns=tuple(columns))

    def read(self, frame: Frame) -> _core.Columns:
        """The frame as columns of the core, without classes; unseen values of nominal columns are marked."""
        return self.columns_of(self.arrays(frame), frame.n_rows)

    def arrays(self, frame: Frame) -> list[npt.NDArray[Any]]:
        """The columns of a frame, each as float64 numbers or as int32 codes."""
        arrays: list[npt.NDArray[Any]] = []
        for j, (column, known) in enumerate(zip(frame.columns, self.columns, strict=True)):
            numeric = known.kind == "numeric"
            array: npt.NDArray[Any] = self.numbers(column) if numeric else self.codes(column, j)
            fill = None if self.fills is None else self.fills[j]
            if fill is not None:
                array[np.isnan(array) if numeric else array == MISSING] = fill
            arrays.append(array)
        return arrays

    def columns_of(self, arrays: Sequence[npt.NDArray[Any]], n_rows: int) -> _core.Columns:
        """Arrays of ``arrays`` as columns of the core."""
        data = _core.Columns(n_rows)
        for array, known in zip(arrays, self.columns, strict=True):
            if known.kind == "numeric":
                data.add_numeric(array)
            else:
                data.add_nominal(array, len(known.values))
        return data

    def cells(self, frame: Frame) -> npt.NDArray[np.float64]:
        """The frame as one matrix: numbers, and codes of nominal values; NaN where missing, UNSEEN where not known."""
        out = np.empty((frame.n_rows, len(self.columns)), order="F")
        for j, (column, known) in enumerate(zip(frame.columns, self.columns, strict=True)):
            out[:, j] = self.numbers(column) if known.kind == "numeric" else self.codes(column, j)
            if known.kind == "nominal":
                out[out[:, j] == MISSING, j] = np.nan
        return out

    def without_rows(self) -> _core.Columns:
        """Columns of the core without a row: what they are, for checks."""
        kinds = {"numeric": np.float64, "nominal": np.int32}
        return self.columns_of([np.zeros(0, dtype=kinds[column.kind]) for column in self.columns], 0)

    def _fill(self, column: Column, j: int, weights: npt.NDArray[np.int64] | None) -> float | int | None:
        """What a missing value of a column becomes: a number, or a code; None where the column has no value."""
        if column.is_empty:
            return None
        if self.columns[j].kind == "nominal":
            return self.columns[j].values.index(facts_of(column.as_nominal(), weights).fill())
        return float(facts_of(column, weights).fill())

    def training(
        self,
        frame: Frame,
        y_codes: npt.NDArray[np.intp],
        n_classes: int,
        weights: ExampleWeights | None,
    ) -> _core.Columns:
        """The frame with the classes and weights of its rows."""
        data = self.read(frame)
        set_classes(data, y_codes, n_classes, weights)
        return data

    def numbers(self, column: Column) -> npt.NDArray[np.float64]:
        """A numeric column as float64 with NaN where it is missing; whole numbers beyond 2^53 are rounded."""
        if column.is_empty:
            return np.full(len(column), np.nan)
        values: npt.NDArray[np.float64] = as_trained(column, None).data.astype(np.float64)
        if column.mask is not None:
            values[column.mask] = np.nan
        return values

    def codes(self, column: Column, j: int) -> npt.NDArray[np.int32]:
        """A nominal column as positions in its values; MISSING or UNSEEN where there is none."""
        known = self.columns[j]
        if column.is_empty:
            return np.full(len(column), MISSING, dtype=np.int32)
        given = as_trained(column, known.values)
        if column.kind == "nominal" and known.values and not any(isinstance(v, str) for v in known.values):
            word = next((value for value in column.values.tolist() if isinstance(value, str)), None)
            if word is not None:
                raise DataError(
                    f"column {column.name!r} held {_kind_of(known.values)} during fit but holds text now (for example "
                    f"{word!r}); convert it to the type it had"
                )
        place = {value: code for code, value in enumerate(known.values)}
        codes = given.codes_in(place, UNSEEN)
        if column.mask is not None:
            codes[column.mask] = MISSING
        return codes


def _kind_of(values: tuple[Any, ...]) -> str:
    return "booleans" if all(isinstance(value, bool) for value in values) else "numbers"


def _described(column: Column, coded: bool) -> RawColumn:
    if column.is_empty:
        return RawColumn(column.name, "nominal")
    if column.kind == "numeric" and not coded:
        return RawColumn(column.name, "numeric")
    if column.kind == "boolean":
        return RawColumn(column.name, "nominal", (False, True))
    if column.categories is not None:
        return RawColumn(column.name, "nominal", tuple(column.categories))
    return RawColumn(column.name, "nominal", tuple(facts_of(column.as_nominal()).values))


def set_classes(
    data: _core.Columns, y_codes: npt.NDArray[np.intp], n_classes: int, weights: ExampleWeights | None
) -> None:
    """Give columns of the core the classes and weights of their rows."""
    codes = np.ascontiguousarray(y_codes, dtype=np.int32)
    if weights is None:
        data.set_classes(codes, n_classes, None)
    else:
        data.set_classes(codes, n_classes, np.ascontiguousarray(weights.counts), weights.per_example)
