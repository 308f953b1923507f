"""LocalTally: examples in batches, where states choose their own cuts, counted as all of them at once would be.

Which fine codes a column has depends on all of its values, and a value that comes later may lie between two earlier
ones. So no tests are counted here but the values themselves: distinct rows of values, with a label and how many
examples they stand for. From these the codes are made anew after each batch, by the road that all rows would take:

    partial_fit(A); partial_fit(B)  =  fit(A and B)        always, also of columns with more than 255 values

What is kept grows with the number of distinct rows, not with that of tests.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from everytree.data.binarizer import Binarizer, fit_locally, rules_of
from everytree.data.column import Codes, Column
from everytree.data.counted_rows import CountedRows
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.data.frames import Frame, check_columns
from everytree.data.listed_tests import TestNames
from everytree.data.tally import Tally, check_same_columns, check_same_kind

__all__ = ["AnyTally", "LocalTally", "local_table", "tally_of"]

Made = TypeVar("Made", bound=CountedRows)


class LocalTally:
    """Distinct rows of any number of batches; ``add`` makes a new tally and leaves the old one as it was."""

    def __init__(self, binarizer: Binarizer) -> None:
        self._binarizer = binarizer
        self._frame: Frame | None = None
        self._of_rows: npt.NDArray[Any] = np.zeros(0)  # the label of each row
        self._weights = ExampleWeights(np.zeros(0, dtype=np.int64))
        self.labels: npt.NDArray[Any] = np.zeros(0)

    @property
    def parameters(self) -> dict[str, Any]:
        """Those of the Binarizer, which hold for every batch."""
        params: dict[str, Any] = self._binarizer.get_params()
        return params

    @property
    def total(self) -> int:
        """Number of examples."""
        return int(self._weights.counts.sum())

    @property
    def n_bytes(self) -> int:
        """Bytes of the rows."""
        columns = () if self._frame is None else self._frame.columns
        counts = self._weights.counts
        own = counts.nbytes if counts.strides != (0,) else 0
        return sum(column.data.nbytes for column in columns) + self._of_rows.nbytes + own

    def check_names(self, frame: Frame) -> None:
        """Refuse a batch whose columns are not those of the batches before."""
        if self._frame is not None:
            check_same_columns([column.name for column in self._frame.columns], frame)

    def add(self, frame: Frame, labels: npt.NDArray[Any], weights: Any, known: Any = None) -> LocalTally:
        """The tally with one more batch, of weights above zero; ``known`` are labels that may be absent from it."""
        rules = rules_of(self._binarizer)
        rules.check()
        rules.check_missing(frame)
        new = copy.copy(self)
        given = example_weights(weights, frame.n_rows)
        if given is None:  # one number, read for every row
            given = ExampleWeights(np.broadcast_to(np.ones(1, dtype=np.int64), frame.n_rows))
        found = [labels] if known is None else [labels, known]
        if self._frame is None:
            new.labels = np.unique(np.concatenate(found))
            every = np.arange(frame.n_rows)  # a copy, because what was given may be changed later
            new._frame, new._of_rows = frame.take(every), labels.copy()
            new._weights = given if weights is None else given.of(every)
            return new
        new.labels = np.unique(np.concatenate([*found, self.labels]))
        columns = [_joined(*pair) for pair in zip(self._frame.columns, frame.columns, strict=True)]
        both = Frame(tuple(columns), self._frame.n_rows + frame.n_rows, self._frame.names)
        of_rows = np.concatenate([self._of_rows, labels])
        first, place = _distinct(both, np.searchsorted(new.labels, of_rows))
        merged = np.zeros(first.size, dtype=np.int64)
        joined = self._weights.followed_by(given)
        np.add.at(merged, place, joined.counts)
        new._frame, new._of_rows = both.take(first), of_rows[first]
        new._weights = replace(joined, counts=merged)
        return new

    def binarized(self) -> tuple[Binarizer, CountedRows]:
        """The fitted Binarizer and the table, as from all rows at once."""
        assert self._frame is not None
        binarizer = Binarizer(**self.parameters)
        check_columns(binarizer, self._frame, reset=True)
        plain = self._weights.per_example == 1 and (self._weights.counts == 1).all()
        weights = None if plain else self._weights
        codes = np.searchsorted(self.labels, self._of_rows)
        return binarizer, local_table(
            CountedRows, binarizer, self._frame, codes, self.labels.tolist(), weights
        )


AnyTally = Tally | LocalTally


def tally_of(binarizer: Binarizer, memory_limit: int | None = None) -> AnyTally:
    """An empty tally, for the cuts that a Binarizer makes; one of codes needs no limit."""
    return LocalTally(binarizer) if binarizer.cuts == "local" else Tally(binarizer, memory_limit)


def local_table(
    made: type[Made],
    binarizer: Binarizer,
    frame: Frame,
    codes: npt.NDArray[np.intp],
    labels: Sequence[Any],
    weights: ExampleWeights | None,
) -> Made:
    """Fit a Binarizer with local cuts to a frame, and count the frame's rows; weights are above zero."""
    columns = fit_locally(binarizer, frame, weights)
    table = made.from_codes(
        columns,
        columns.codes(frame),
        codes,
        len(labels),
        weights,
        test_names=TestNames(binarizer.tests_),
        classes=labels,
    )
    return table.encoded(binarizer, None)


def _joined(before: Column, after: Column) -> Column:
    """The column of both batches, one after the other."""
    if before.is_empty and after.is_empty:
        whole = before
    elif before.is_empty or after.is_empty:
        whole = after if before.is_empty else before
    else:
        check_same_kind(before.name, before.kind == "nominal", after.kind == "nominal")
        whole = after if after.kind == "numeric" else before
    masks = np.concatenate([before.missing | before.is_empty, after.missing | after.is_empty])
    if whole.kind == "nominal":
        places = Codes()
        parts = [
            np.full(len(each), -1, dtype=np.int32)
            if each.kind != "nominal"
            else each.codes_in({label: places[label] for label in each.labels}, -1)
            for each in (before, after)
        ]
        other = before if whole is after else after
        same = other.kind != "nominal" or other.categories == whole.categories
        declared = whole.categories if same else None
        return Column.of(before.name, "nominal", np.concatenate(parts), masks, tuple(places), declared)
    data = np.concatenate(
        [
            np.zeros(len(each), dtype=whole.data.dtype) if each.is_empty else each.data
            for each in _one_type(before, after)
        ]
    )
    return Column.of(before.name, whole.kind, data, masks)


def _one_type(before: Column, after: Column) -> tuple[Column, Column]:
    """Both columns, with whole numbers in one type of 64 bits if one holds them all; numpy would make them floats."""
    kinds = {before.data.dtype, after.data.dtype}
    if before.is_empty or after.is_empty or kinds != {np.dtype(np.int64), np.dtype(np.uint64)}:
        return before, after
    signed = before if before.data.dtype.kind == "i" else after
    if signed.present().min() < 0:
        return before, after

    def whole(each: Column) -> Column:
        data = np.maximum(each.data, 0).astype(np.uint64)
        return Column.of(each.name, each.kind, data, each.mask)

    return whole(before), whole(after)


def _distinct(frame: Frame, codes: npt.NDArray[np.intp]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """The rows of values and labels that differ: the first of each, and the place of each row among them."""
    keys = [codes]
    for column in frame.columns:
        key = np.unique(column.data, return_inverse=True)[1].reshape(-1)
        keys.append(key if column.mask is None else np.where(column.mask, -1, key))
    order = np.lexsort(keys)
    starts = np.zeros(order.size, dtype=bool)
    starts[:1] = True
    for key in keys:
        ordered = key[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.cumsum(starts) - 1
    return order[starts], place
