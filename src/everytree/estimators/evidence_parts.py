"""What an ``EveryTreeClassifier`` and its compressed form share: columns in use, rows in batches, evidence."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from everytree.data.frames import Frame
from everytree.data.local_columns import Reach
from everytree.estimators.bayes import BayesOptimalClassifier

__all__ = [
    "columns_of",
    "columns_with_tests",
    "entry_numbers",
    "evidence_from",
    "reach_of_tests",
    "row_batches",
]

Reals = npt.NDArray[np.float64]
LOWEST = 1e-12  # A probability below this says no more than this.
BATCH = 100_000_000  # bytes of a batch of new rows, with what all averages say of them
ENOUGH = 500  # rows of a batch, by which what each batch takes once is shared
TABLE = 2  # places of a table of numbers for each number that is looked up


def evidence_from(said: list[Reals], log_shares: Reals) -> Reals:
    """Return log(p / share) of several averages, of shape (rows, classes, averages)."""
    evidence = np.stack(
        said, axis=2
    )  # In place from here on: with many classes it is the largest thing there is.
    np.log(np.maximum(evidence, LOWEST, out=evidence), out=evidence)
    evidence -= log_shares[None, :, None]
    return evidence


def columns_of(frame: Frame, kept: list[int]) -> Frame:
    """Return some of the columns, under their own names."""
    if len(kept) == len(frame.columns):
        return frame
    columns = tuple(frame.columns[j] for j in kept)
    return Frame(columns, frame.n_rows, tuple(column.name for column in columns))


def columns_with_tests(model: BayesOptimalClassifier) -> list[int]:
    """Return the columns that the trees of an average may use."""
    return [j for j, encoding in enumerate(model.binarizer_.encodings_) if encoding.tests]


def row_batches(n_rows: int, per_row: int, room: int) -> Iterator[npt.NDArray[np.intp]]:
    """Give the numbers of rows, so many at a time that they fit the memory at ``per_row`` bytes each."""
    # An eighth of the room, as beside the limit there are the rows that are asked about, which nobody counts; but fewer
    # rows at a time than ENOUGH, where more fit, would take longer: of 3,000 columns twice as long at 64 MB.
    fit, few = (min(BATCH, most) // max(1, per_row) for most in (room, room // 8))
    size = max(1, few, min(fit, ENOUGH))
    for start in range(0, n_rows, size):
        yield np.arange(start, min(n_rows, start + size))


def entry_numbers(
    entries: tuple[npt.NDArray[np.intp], ...],
    rows: npt.NDArray[np.intp],
    codes: npt.NDArray[np.intp],
    n_classes: int,
) -> npt.NDArray[np.intp]:
    """Return the numbers of some entries (row and class), which are listed in their order.

    A table of the numbers has a place for every class of every row: with many classes it is large, and they are found
    by bisection, which takes ten times as long.

    >>> entry_numbers((np.array([0, 0, 1]), np.array([0, 2, 1])), np.array([1, 0]), np.array([1, 2]), 3).tolist()
    [2, 1]
    """
    listed = entries[0] * n_classes
    listed += entries[1]
    size = int(listed[-1]) + 1 if listed.size else 0
    if size > TABLE * (listed.size + rows.size):
        return np.searchsorted(listed, rows * n_classes + codes)
    numbers = np.empty(size, dtype=np.intp)
    numbers[listed] = np.arange(listed.size)
    del listed
    wanted = rows * n_classes
    wanted += codes
    found: npt.NDArray[np.intp] = numbers[wanted]
    return found


def reach_of_tests(reach: Reach, tests: npt.NDArray[np.intp]) -> Reach:
    """Return the reaches of some tests, ascending, in rows of their own.

    The tests of a column stand together and are copied together: test by test it took forty times as long, 0.1 of
    the 1.7 seconds that 1,000 rows of vowel took.
    """
    pieces = np.split(tests, np.flatnonzero(np.diff(tests) != 1) + 1)
    parts = [reach[:, piece[0] : piece[-1] + 1] for piece in pieces if piece.size]
    joined = np.concatenate([*parts, np.zeros((len(reach), 0), dtype=reach.dtype)], axis=1)
    return np.ascontiguousarray(joined).view(Reach)
