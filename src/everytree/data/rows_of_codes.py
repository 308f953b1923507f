"""RowsOfCodes: 0/1 rows over all tests of local columns, kept as codes and made when they are first read.

    codes    a number for each row and column          rows    a byte for each row and test

With ``bins="all"`` a column has a test for every value, so the rows take thousands of times the bytes of the codes.
The search over every cut-point reads codes only: no row of tests is made before a question needs one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.cut_rules import check_size
from everytree.data.local_columns import Codes, LocalColumns

__all__ = ["AnyRows", "RowsOfCodes"]


class RowsOfCodes:
    """The rows of some codes, which are distinct and in the order of their rows.

    >>> from everytree.data.binarizer import Binarizer
    >>> columns = Binarizer(cuts="local").fit([[20], [30], [90]]).columns_
    >>> rows = RowsOfCodes(columns, np.array([[2], [0]], dtype=np.int32))
    >>> rows.shape, rows.are_made, rows.made.tolist(), rows.are_made
    ((2, 2), False, [[0, 0], [1, 1]], True)
    """

    __slots__ = ("_made", "codes", "columns")

    def __init__(self, columns: LocalColumns, codes: Codes) -> None:
        self.columns, self.codes = columns, codes
        self.codes.flags.writeable = False
        self._made: npt.NDArray[np.uint8] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """The number of rows and of tests."""
        return self.codes.shape[0], self.columns.n_tests

    @property
    def are_made(self) -> bool:
        """Whether the rows of tests are in memory."""
        return self._made is not None

    @property
    def made(self) -> npt.NDArray[np.uint8]:
        """The rows of tests, read-only; a matrix that is too large is refused."""
        return self.make()

    def make(self, check: Callable[[], object] | None = None) -> npt.NDArray[np.uint8]:
        """The same; ``check`` is called from time to time, and may raise: then nothing is made."""
        if self._made is None:
            check_size(*self.shape)
            made = self.columns.rows(self.codes, check)
            made.flags.writeable = False
            self._made = made
        return self._made

    @property
    def nbytes(self) -> int:
        """The bytes in use."""
        return self.codes.nbytes + (0 if self._made is None else self._made.nbytes)

    def take(self, some: Any) -> RowsOfCodes:
        """Some of the rows, in the same order."""
        return RowsOfCodes(self.columns, self.codes[some])

    def only(
        self, columns: LocalColumns, counts: npt.NDArray[np.int64]
    ) -> tuple[RowsOfCodes, npt.NDArray[np.int64]]:
        """The distinct rows of some of the columns, and the sums of the counts of those that are equal there."""
        places = {column.column: k for k, column in enumerate(self.columns.columns)}
        codes = self.codes[:, [places[column.column] for column in columns.columns]]
        first, place = columns.distinct(codes)
        summed = np.zeros((first.size, counts.shape[1]), dtype=np.int64)
        np.add.at(summed, place, counts)
        return RowsOfCodes(columns, codes[first]), summed

    def outcomes(self, test: int) -> npt.NDArray[np.bool_]:
        """Whether a test holds, row by row, without the other tests."""
        place = next(k for k, column in enumerate(self.columns.columns) if test < column.stop)
        column, codes = self.columns.columns[place], self.codes[:, place]
        return column.holds(codes, test)

    def __reduce__(self) -> tuple[Any, ...]:
        return RowsOfCodes, (self.columns, self.codes)


AnyRows = npt.NDArray[np.uint8] | RowsOfCodes
