"""Rows counted: which are distinct, and how many examples of each class each of those stands for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.limits import Limits, in_bytes
from everytree.common.reading import check_memory, look, looked
from everytree.data.example_weights import ExampleWeights, example_weights
from everytree.errors import DataError

__all__ = [
    "Given",
    "by_column",
    "check_classes",
    "check_room",
    "counts_of_rows",
    "distinct_by_words",
    "distinct_rows",
    "rows_at",
]

MANY_CLASSES = 4096  # beyond this, tables of mostly zeros take seconds that no limit cuts short
ROWS_OF_A_CLASS = 8  # with fewer on average the labels are numbers or ids, and no classes
BLOCK = 2**22  # cells that are moved between two looks at the clock: some milliseconds
COPIES = 3  # of the counts: those of the table, of the core, and one under way


class Given(NamedTuple):
    """The row of a table that each example is counted in, and its class, in the order in which they were given.

    An example without weight has the place −1.
    """

    places: npt.NDArray[np.int32]
    codes: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        place: npt.NDArray[np.intp],
        y_codes: npt.ArrayLike,
        counts: npt.NDArray[np.int64],
        sample_weight: npt.ArrayLike | ExampleWeights | None,
    ) -> Given:
        """Make it of places among rows of which those without counts are left out."""
        occupied = counts.any(axis=1)
        kept = np.where(occupied, np.cumsum(occupied) - 1, -1).astype(np.int32)
        places, weights = kept[place], example_weights(sample_weight, place.size)
        if weights is not None:
            places[weights.counts == 0] = -1
        return cls(places, np.asarray(y_codes).astype(np.int32))

    def among(self, used: npt.NDArray[Any], n_rows: int) -> Given:
        """Return the same for a longer list of rows, of which these are the used ones."""
        places, codes = np.full(n_rows, -1, dtype=np.int32), np.zeros(n_rows, dtype=np.int32)
        places[used], codes[used] = self.places, self.codes
        return Given(places, codes)


def counts_of_rows(
    place: npt.NDArray[np.intp],
    n_places: int,
    y_codes: npt.ArrayLike,
    n_classes: int | None,
    labels: tuple[Any, ...] | None,
    sample_weight: npt.ArrayLike | ExampleWeights | None,
) -> tuple[npt.NDArray[np.int64], int]:
    """The counts of each class at each place, and how many make an example; ``place`` is that of each row."""
    codes = _class_codes(y_codes, place.size)
    least = int(codes.max()) + 1 if codes.size else 1
    if n_classes is None:
        n_classes = len(labels) if labels is not None else least
    if n_classes < least:
        raise DataError(
            f"y holds class index {least - 1} but n_classes is {n_classes}; "
            "indices run from 0 to n_classes - 1"
        )
    check_room(n_places, n_classes, place.size)
    # Twice: they are counted in one type and kept in another.
    check_memory(16 * n_places * n_classes, f"the counts of {n_places} distinct rows × {n_classes} classes")
    weights = example_weights(sample_weight, place.size)
    cell = place * n_classes + codes
    if weights is None:
        flat = np.bincount(cell, minlength=n_places * n_classes).astype(np.int64)
    else:
        flat = np.zeros(n_places * n_classes, dtype=np.int64)
        np.add.at(flat, cell, weights.counts)
    return flat.reshape(n_places, n_classes), 1 if weights is None else weights.per_example


def check_classes(n_classes: int, n_rows: int) -> None:
    """Refuse labels that are numbers or ids: every leaf would count thousands of classes, nearly all of them 0."""
    if n_classes > MANY_CLASSES and n_classes * ROWS_OF_A_CLASS > n_rows:
        raise DataError(
            f"y has {n_classes} classes in {n_rows} rows; expected at least {ROWS_OF_A_CLASS} rows of a class on "
            "average where there are so many. Is it a number or an id? Make a few classes of it first"
        )


def check_room(n_places: int, n_classes: int, n_rows: int) -> None:
    """Refuse a matrix of counts that no limit of a question would see before it is there."""
    check_classes(n_classes, n_rows)
    n_counts = n_places * n_classes
    if n_counts * 8 * COPIES > Limits().memory:
        raise DataError(
            f"{n_places} distinct rows × {n_classes} classes take {in_bytes(n_counts * 8 * COPIES)} of counts; "
            f"expected at most {in_bytes(Limits().memory)}, three quarters of the memory. Make fewer classes or fewer "
            "bins"
        )


def _class_codes(y_codes: npt.ArrayLike, n_rows: int) -> npt.NDArray[np.intp]:
    codes = np.asarray(y_codes)
    if codes.shape != (n_rows,):
        raise DataError(f"y has shape {codes.shape}; expected one class index per row, shape ({n_rows},)")
    if codes.size == 0:
        return codes.astype(np.intp)
    if codes.dtype.kind not in "iub":
        raise DataError(
            f"y must hold class indices 0..C-1, got values of type {codes.dtype}; encode labels first"
        )
    if codes.dtype.kind == "i" and codes.min() < 0:
        raise DataError(f"y must hold class indices 0..C-1, but holds {codes.min().item()}")
    return codes.astype(np.intp)


def distinct_rows(tests: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Find the distinct rows: ``tests[first]`` are they, in order, and row i is number ``place[i]`` of them.

    Rows are packed into big-endian 64-bit words, whose numeric order is the lexicographic order of the bits. Sorting
    words took 0.25 s for 10^6 rows of 50 tests where np.unique(axis=0) took 5.6 s.
    """
    n, m = tests.shape
    if n == 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    n_words = max(1, -(-m // 64))
    packed = np.zeros((n, 8 * n_words), dtype=np.uint8)
    if m:
        bits = np.packbits(tests, axis=1)
        packed[:, : bits.shape[1]] = bits
    return distinct_by_words([packed.view(">u8")[:, k].astype(np.uint64) for k in looked(range(n_words))])


def distinct_by_words(
    words: list[npt.NDArray[np.uint64]],
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """``distinct_rows`` of rows of at least one word each, given word by word.

    >>> distinct_by_words([np.array([7, 7, 3], dtype=np.uint64), np.array([1, 0, 5], dtype=np.uint64)])[1].tolist()
    [2, 1, 0]
    """
    # The last word first, each sort stable: np.lexsort, with a look at the clock after each word.
    order = np.argsort(words[-1], kind="stable")
    for word in looked(words[-2::-1]):
        order = order[np.argsort(word[order], kind="stable")]
    starts = np.zeros(order.size, dtype=bool)
    starts[0] = True
    for word in looked(words):
        ordered = word[order]
        starts[1:] |= ordered[1:] != ordered[:-1]
    look()
    place = np.empty(order.size, dtype=np.intp)
    place[order] = np.cumsum(starts) - 1
    return order[starts], place


def rows_at(rows: npt.NDArray[np.uint8], at: npt.NDArray[np.intp]) -> npt.NDArray[np.uint8]:
    """``rows[at]``, with a look at the clock after each block: 300,000 rows of 200 tests take 0.1 s."""
    out = np.empty((at.size, rows.shape[1]), dtype=np.uint8)
    step = max(1, BLOCK // max(1, rows.shape[1]))
    for begin in looked(range(0, at.size, step)):
        out[begin : begin + step] = rows[at[begin : begin + step]]
    return out


def by_column(rows: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The transpose in the order of its rows, with a look at the clock after each block."""
    out = np.empty(rows.shape[::-1], dtype=np.uint8)
    step = max(1, BLOCK // max(1, rows.shape[1]))
    for begin in looked(range(0, len(rows), step)):
        out[:, begin : begin + step] = rows[begin : begin + step].T
    return out
