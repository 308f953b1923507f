"""The count table: the form of the data that every algorithm here works on.

A table is a set of distinct rows of 0/1 tests, each with a count per class. It is a sufficient statistic, so

    table(A ∪ B) = table(A) + table(B),        weight w = w repetitions of the row,        weight 0 = no row.

Where weights have fractions, a count is a part of an example: ``per_example`` counts make one (see example_weights).

Rows are kept in lexicographic order, so two tables are equal exactly when their arrays are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import lcm
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.common.reading import look
from everytree.data.arrays import INT64_MAX, as_tests, check_total, too_many, whole_numbers
from everytree.data.binarizer import Binarizer
from everytree.data.example_weights import MOST_COUNTS, ExampleWeights, too_fine
from everytree.data.listed_tests import TestNames
from everytree.data.local_columns import LocalColumns
from everytree.data.row_counts import Given, counts_of_rows, distinct_rows, rows_at
from everytree.data.rows_of_codes import AnyRows, RowsOfCodes
from everytree.data.table_parts import fingerprint_of, fitting, parts_of, shortened
from everytree.errors import DataError

__all__ = ["CountedRows"]

Names = Sequence[str] | TestNames | None


class CountedRows:
    """The value of a ``Table``, without the ways to make one from frames and files; ``Table`` describes its parameters.

    >>> t = CountedRows([[0, 1], [1, 1], [0, 1]], [[1, 0], [0, 2], [3, 0]])
    >>> t.rows.tolist(), t.class_counts.tolist()
    ([[0, 1], [1, 1]], [[4, 0], [0, 2]])
    """

    __slots__ = (
        "_binarizer", "_class_counts", "_classes", "_columns", "_given", "_per_example", "_rows", "_target",
        "_test_names",
    )  # fmt: skip

    _rows: AnyRows
    _class_counts: npt.NDArray[np.int64]
    _test_names: tuple[str, ...] | TestNames | None
    _classes: tuple[Any, ...] | None
    _binarizer: Binarizer | None
    _columns: LocalColumns | None
    _target: str | None
    _per_example: int
    _given: Given | None

    def __init__(
        self,
        rows: npt.ArrayLike,
        counts: npt.ArrayLike,
        *,
        test_names: Sequence[str] | None = None,
        classes: Iterable[Any] | None = None,
        per_example: int = 1,
    ) -> None:
        tests = as_tests(rows, test_names)
        counted = np.asarray(counts)
        if counted.ndim != 2 or counted.shape[0] != tests.shape[0] or counted.shape[1] == 0:
            raise DataError(
                f"counts has shape {counted.shape}; expected (n_rows, n_classes) with "
                f"n_rows = {tests.shape[0]} and at least one class"
            )
        whole = whole_numbers(counted, "counts")
        check_total(whole)
        self._settle(tests, whole, test_names, classes)
        self._per_example = parts_of(per_example)

    def _settle(
        self,
        tests: npt.NDArray[np.uint8],
        counts: npt.NDArray[np.int64],
        test_names: Names,
        classes: Iterable[Any] | None,
    ) -> None:
        """Merge equal rows, leave out empty ones, sort, and freeze."""
        first, place = distinct_rows(tests)
        merged = np.zeros((first.size, counts.shape[1]), dtype=np.int64)
        look()
        np.add.at(merged, place, counts)
        self._freeze(rows_at(tests, first), merged, test_names, classes)

    def _freeze(
        self,
        rows: AnyRows,
        counts: npt.NDArray[np.int64],
        test_names: Names,
        classes: Iterable[Any] | None,
    ) -> None:
        occupied = counts.any(axis=1)
        some = not occupied.all()
        if isinstance(rows, RowsOfCodes):
            self._rows = rows.take(occupied) if some else rows
        else:
            self._rows = np.ascontiguousarray(rows[occupied] if some else rows)
            self._rows.flags.writeable = False
        self._class_counts = np.ascontiguousarray(counts[occupied] if some else counts)
        self._class_counts.flags.writeable = False
        self._binarizer = self._columns = self._target = self._given = None
        self._per_example = 1
        self._test_names = (
            test_names
            if test_names is None or isinstance(test_names, TestNames)
            else tuple(str(name) for name in test_names)
        )
        self._classes = None if classes is None else tuple(classes)
        if self._test_names is not None and len(self._test_names) != self.n_tests:
            raise DataError(
                f"{len(self._test_names)} test_names for {self.n_tests} tests; give one name per column"
            )
        if self._classes is not None and len(self._classes) != self.n_classes:
            raise DataError(
                f"{len(self._classes)} class labels for {self.n_classes} classes; give one label per class"
            )

    @classmethod
    def trusted(
        cls,
        rows: AnyRows,
        counts: npt.NDArray[np.int64],
        test_names: Names,
        classes: Iterable[Any] | None,
        *,
        distinct: bool = True,
        columns: LocalColumns | None = None,
        per_example: int = 1,
    ) -> Self:
        """Make a table of rows and counts that are known to be good, without checks.

        Parameters
        ----------
        rows : 0/1 matrix of uint8, shape (n_rows, n_tests), or RowsOfCodes
            The outcomes of the tests.
        counts : array of int64, shape (n_rows, n_classes)
            The examples of each class that each row stands for.
        test_names : sequence of str, TestNames or None
            One name for each test.
        classes : iterable or None
            One label for each class.
        distinct : bool, default True
            Whether the rows are distinct and in lexicographic order. If not, equal rows are merged and all are sorted.
        columns : LocalColumns or None, default None
            Which tests belong to which column, where states choose their own cuts.
        per_example : int, default 1
            The counts that make one example.

        Returns
        -------
        Table
            The table.
        """
        table = cls.__new__(cls)
        if distinct:
            table._freeze(rows, counts, test_names, classes)
        else:
            made = rows.made if isinstance(rows, RowsOfCodes) else rows
            table._settle(made, counts, test_names, classes)
        table._columns, table._per_example = fitting(columns, table.n_tests), per_example
        return table

    @classmethod
    def of(cls, other: CountedRows) -> Self:
        """Return the same table as a value of this class.

        Parameters
        ----------
        other : Table
            A table of this class or of the one it stands on.

        Returns
        -------
        Table
            A table with the same rows, counts, names and tests.
        """
        # Names that nobody has asked for stay unmade: with local cuts they were a fifth of fitting a small file.
        same = cls.trusted(
            other._rows, other.class_counts, other._test_names, other.classes, columns=other.columns,
            per_example=other.per_example,
        )  # fmt: skip
        return same.encoded(other.binarizer, other.target)

    @classmethod
    def from_arrays(
        cls,
        X01: npt.ArrayLike,
        y_codes: npt.ArrayLike,
        n_classes: int | None = None,
        sample_weight: npt.ArrayLike | ExampleWeights | None = None,
        *,
        test_names: Sequence[str] | None = None,
        classes: Iterable[Any] | None = None,
        columns: LocalColumns | None = None,
    ) -> Self:
        """Count the rows of a 0/1 matrix.

        Parameters
        ----------
        X01 : 0/1 matrix, shape (n_rows, n_tests)
            The outcomes of the tests for each example.
        y_codes : array of int, shape (n_rows,)
            The class of each example, as an index from 0 to n_classes − 1.
        n_classes : int, optional
            The number of classes; by default that of ``classes``, or else the largest index plus one.
        sample_weight : array of numbers, shape (n_rows,), optional
            A weight of 3 is the same as giving the row three times, 0 as leaving it out; fractions make a table whose
            counts are parts of an example (see ``per_example``).
        test_names : sequence of str, optional
            One name for each test.
        classes : iterable, optional
            One label for each class.
        columns : LocalColumns, optional
            Which tests belong to which column, where states choose their own cuts.

        Returns
        -------
        Table
            The table of the examples.

        Raises
        ------
        DataError
            If the arrays do not fit together.

        Examples
        --------
        >>> CountedRows.from_arrays([[0], [1], [1]], [0, 1, 0], sample_weight=[1, 2, 5]).class_counts.tolist()
        [[1, 0], [5, 2]]
        """
        tests = as_tests(X01, test_names)
        first, place = distinct_rows(tests)
        labels = None if classes is None else tuple(classes)
        counts, per_example = counts_of_rows(place, first.size, y_codes, n_classes, labels, sample_weight)
        table = cls.trusted(
            rows_at(tests, first), counts, test_names, labels, columns=columns, per_example=per_example
        )
        table._given = Given.of(place, y_codes, counts, sample_weight)
        return table

    @classmethod
    def from_codes(
        cls,
        columns: LocalColumns,
        codes: npt.NDArray[np.int32],
        y_codes: npt.ArrayLike,
        n_classes: int | None = None,
        sample_weight: npt.ArrayLike | ExampleWeights | None = None,
        *,
        test_names: Names = None,
        classes: Iterable[Any] | None = None,
    ) -> Self:
        """Count rows of codes, where states choose their own cuts; 0/1 rows are made when they are first read.

        Parameters
        ----------
        columns : LocalColumns
            Which tests belong to which column.
        codes : array of int, shape (n_rows, n_columns)
            The codes of each example, as ``columns.codes`` gives them.
        y_codes : array of int, shape (n_rows,)
            The class of each example, as an index from 0 to n_classes − 1.
        n_classes : int, optional
            The number of classes; by default that of ``classes``, or else the largest index plus one.
        sample_weight : array of numbers, shape (n_rows,), optional
            A weight of 3 is the same as giving the row three times, 0 as leaving it out; fractions make a table whose
            counts are parts of an example (see ``per_example``).
        test_names : sequence of str, optional
            One name for each test.
        classes : iterable, optional
            One label for each class.

        Returns
        -------
        Table
            The table of the examples, over all tests that any state might ask.
        """
        first, place = columns.distinct(codes)
        labels = None if classes is None else tuple(classes)
        look()
        counts, per_example = counts_of_rows(place, first.size, y_codes, n_classes, labels, sample_weight)
        look()
        rows = RowsOfCodes(columns, codes[first])
        table = cls.trusted(rows, counts, test_names, labels, columns=columns, per_example=per_example)
        table._given = Given.of(place, y_codes, counts, sample_weight)
        return table

    @property
    def given(self) -> Given | None:
        """Which row and class each example is, in the order in which they were given; None if counted otherwise."""
        return self._given

    def given_among(self, used: npt.NDArray[np.intp] | npt.NDArray[np.bool_], n_rows: int) -> Self:
        """Say that the examples were some rows of a longer list.

        Parameters
        ----------
        used : array of int or bool
            The rows that were counted.
        n_rows : int
            The length of the list.

        Returns
        -------
        Table
            This table.
        """
        if self._given is not None:
            self._given = self._given.among(used, n_rows)
        return self

    @property
    def columns(self) -> LocalColumns | None:
        """Which tests belong to which column, where states choose their own cuts; else None."""
        return self._columns

    @property
    def binarizer(self) -> Binarizer | None:
        """The fitted Binarizer that makes these tests of columns, where the table knows it."""
        return self._binarizer

    @property
    def target(self) -> str | None:
        """The name of the column that the classes come from, where the table knows it."""
        return self._target

    @property
    def rows(self) -> npt.NDArray[np.uint8]:
        """The distinct rows, uint8 of shape (n_rows, n_tests), in lexicographic order; read-only."""
        return self._rows.made if isinstance(self._rows, RowsOfCodes) else self._rows

    @property
    def coded(self) -> RowsOfCodes | None:
        """The rows as codes of columns, where the table was made of these; the matrix may not be made yet."""
        return self._rows if isinstance(self._rows, RowsOfCodes) else None

    @property
    def class_counts(self) -> npt.NDArray[np.int64]:
        """The examples of each row and class, int64 of shape (n_rows, n_classes); read-only."""
        return self._class_counts

    @property
    def test_names(self) -> tuple[str, ...] | None:
        """The names of the tests, or None."""
        if isinstance(self._test_names, TestNames):
            self._test_names = self._test_names.made
        return self._test_names

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """The labels of the classes, or None."""
        return self._classes

    @property
    def n_rows(self) -> int:
        """The number of distinct rows."""
        return int(self._rows.shape[0])

    @property
    def n_tests(self) -> int:
        """The number of tests (columns)."""
        return int(self._rows.shape[1])

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self._class_counts.shape[1])

    @property
    def per_example(self) -> int:
        """The counts that make one example: 1, or more where weights have fractions."""
        return self._per_example

    @property
    def total(self) -> int:
        """The sum of all counts; where ``per_example`` is 1, the number of examples."""
        return int(self._class_counts.sum())

    @property
    def examples(self) -> int | float:
        """The number of examples, each with its weight."""
        return self.total if self._per_example == 1 else self.total / self._per_example

    @property
    def class_totals(self) -> npt.NDArray[np.int64]:
        """The sum of the counts of each class."""
        totals: npt.NDArray[np.int64] = self._class_counts.sum(axis=0, dtype=np.int64)
        return totals

    @property
    def class_examples(self) -> npt.NDArray[Any]:
        """The number of examples of each class, each with its weight."""
        return self.class_totals if self._per_example == 1 else self.class_totals / self._per_example

    def in_examples(self, counts: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
        """Return counts as numbers of examples.

        Parameters
        ----------
        counts : array of int
            Counts of this table.

        Returns
        -------
        array
            Whole numbers where a count is an example, else floats.
        """
        return counts if self._per_example == 1 else counts / self._per_example

    def fingerprint(self) -> str:
        """Compute the SHA-256 of the table as text: the same for the same examples in any order.

        The text has a line for each distinct row, in lexicographic order: the outcomes as characters 0 and 1, then for
        each class a blank and its count. Every line ends with a newline; all of it is ASCII. Where a count is a part of
        an example, a last line says how many make one, such as ``per example 10``.

        Returns
        -------
        str
            The digest in hexadecimal.

        Examples
        --------
        >>> import hashlib
        >>> table = CountedRows([[1, 0], [0, 1]], [[2, 0], [0, 3]])
        >>> table.fingerprint() == hashlib.sha256(b"01 0 3\\n10 2 0\\n").hexdigest()
        True
        """
        return fingerprint_of(self.rows, self._class_counts, self._per_example)

    def encoded(self, binarizer: Binarizer | None, target: str | None) -> Self:
        """Return the same table with the Binarizer that made its tests and the name of the column to predict.

        Parameters
        ----------
        binarizer : Binarizer or None
            The fitted Binarizer that makes these tests of columns.
        target : str or None
            The column that the classes come from.

        Returns
        -------
        Table
            The same rows and counts.
        """
        table = self.named(self._test_names, self._classes)
        table._binarizer, table._target = binarizer, target
        if binarizer is not None and binarizer.columns_ is not None:
            table._columns = fitting(binarizer.columns_, table.n_tests)
        return table

    def named(self, test_names: Names, classes: Iterable[Any] | None) -> Self:
        """Return the same table with other names of tests and classes.

        Parameters
        ----------
        test_names : sequence of str or None
            One name for each test.
        classes : iterable or None
            One label for each class.

        Returns
        -------
        Table
            The same rows and counts.
        """
        table = type(self).trusted(
            self._rows, self._class_counts, test_names, classes, columns=self._columns,
            per_example=self._per_example,
        )  # fmt: skip
        table._given = self._given
        return table

    def merge(self, other: CountedRows) -> Self:
        """Return the table of both data sets together, as ``+`` does.

        Parameters
        ----------
        other : Table
            A table with the same tests and classes.

        Returns
        -------
        Table
            The sum of both tables.

        Raises
        ------
        DataError
            If the tests or the classes differ.
        """
        for what, mine, theirs in (
            ("number of tests", self.n_tests, other.n_tests),
            ("number of classes", self.n_classes, other.n_classes),
            ("test names", self.test_names, other.test_names),
            ("classes", self._classes, other._classes),
            ("the columns whose cuts are local", self._columns, other._columns),
        ):
            if mine != theirs:
                raise DataError(
                    f"cannot add tables that differ in {what}: {shortened(mine)} and {shortened(theirs)}; "
                    "build both with the same Binarizer and the same class labels"
                )
        parts = lcm(self._per_example, other._per_example)
        mine, theirs = parts // self._per_example, parts // other._per_example
        total = mine * self.total + theirs * other.total
        if total > (INT64_MAX if parts == 1 else MOST_COUNTS):
            raise DataError(too_many(total) if parts == 1 else too_fine(total, parts))
        table = type(self).trusted(
            np.concatenate([self.rows, other.rows]),
            np.concatenate([mine * self._class_counts, theirs * other._class_counts]),
            self._test_names,
            self._classes,
            distinct=False,
            columns=self._columns,
            per_example=parts,
        )
        table._binarizer, table._target = self._binarizer, self._target
        return table

    def __add__(self, other: object) -> Self:
        return self.merge(other) if isinstance(other, CountedRows) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CountedRows):
            return NotImplemented
        return (
            np.array_equal(self.rows, other.rows)
            and np.array_equal(self._class_counts, other._class_counts)
            and self.test_names == other.test_names
            and self._classes == other._classes
            and self._columns == other._columns
            and self._per_example == other._per_example
        )

    def __hash__(self) -> int:
        return hash((self._rows.shape, self.rows.tobytes(), self._class_counts.tobytes()))

    def __repr__(self) -> str:
        shape = f"n_rows={self.n_rows}, n_tests={self.n_tests}, n_classes={self.n_classes}"
        return f"{type(self).__name__}({shape}, total={self.total})"

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self._binarizer, self._target, self._columns, self._per_example)
        return _rebuild, (type(self), self._rows, self._class_counts, self.test_names, self._classes, *known)


def _rebuild(
    made: type[CountedRows],
    rows: AnyRows,
    counts: npt.NDArray[np.int64],
    test_names: tuple[str, ...] | None,
    classes: tuple[Any, ...] | None,
    binarizer: Binarizer | None = None,
    target: str | None = None,
    columns: LocalColumns | None = None,
    per_example: int = 1,
) -> CountedRows:
    table = made.trusted(rows, counts, test_names, classes, columns=columns, per_example=per_example)
    return table.encoded(binarizer, target)
