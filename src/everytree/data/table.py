"""The count table: what every algorithm here knows about the data.

A table is a set of distinct rows of 0/1 tests, each with a count per class. It is a sufficient statistic, so

    table(A ∪ B) = table(A) + table(B),        weight w = w repetitions of the row,        weight 0 = no row.

Rows are kept in lexicographic order, so two tables are equal exactly when their arrays are.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt

from everytree.errors import DataError

if TYPE_CHECKING:
    from everytree.data.binarizer import Binarizer
    from everytree.data.folders import Paths

__all__ = ["Table", "as_tests", "whole_weights"]

INT64_MAX = int(np.iinfo(np.int64).max)
FIRST = "Turn other columns into tests with everytree.Binarizer first"
SOME = 5  # how many offending things a message lists
FINGERPRINT_CELLS = 1 << 20  # made into text at a time: what a cache holds


class Table:
    """Distinct rows of 0/1 tests with class counts; an immutable value.

    Rows given twice are merged and rows without any example are left out; the order of the input does not
    matter.

    Parameters
    ----------
    rows : 0/1 matrix, one row per line of ``counts``
    counts : matrix of whole numbers ≥ 0, shape (n_rows, n_classes)
    test_names, classes : names of the columns of ``rows`` and of ``counts``, if they have any

    >>> t = Table([[0, 1], [1, 1], [0, 1]], [[1, 0], [0, 2], [3, 0]])
    >>> t.rows.tolist(), t.class_counts.tolist()
    ([[0, 1], [1, 1]], [[4, 0], [0, 2]])
    >>> t + t == Table(t.rows, 2 * t.class_counts)
    True
    """

    __slots__ = ("_binarizer", "_class_counts", "_classes", "_rows", "_target", "_test_names")

    _rows: npt.NDArray[np.uint8]
    _class_counts: npt.NDArray[np.int64]
    _test_names: tuple[str, ...] | None
    _classes: tuple[Any, ...] | None
    _binarizer: Binarizer | None
    _target: str | None

    def __init__(
        self,
        rows: npt.ArrayLike,
        counts: npt.ArrayLike,
        *,
        test_names: Sequence[str] | None = None,
        classes: Iterable[Any] | None = None,
    ) -> None:
        tests = as_tests(rows, test_names)
        counted = np.asarray(counts)
        if counted.ndim != 2 or counted.shape[0] != tests.shape[0] or counted.shape[1] == 0:
            raise DataError(
                f"counts has shape {counted.shape}; expected (n_rows, n_classes) with "
                f"n_rows = {tests.shape[0]} and at least one class"
            )
        whole = _whole(counted, "counts")
        _check_total(whole)
        self._settle(tests, whole, test_names, classes)

    def _settle(
        self,
        tests: npt.NDArray[np.uint8],
        counts: npt.NDArray[np.int64],
        test_names: Sequence[str] | None,
        classes: Iterable[Any] | None,
    ) -> None:
        """Merge equal rows, leave out empty ones, sort, and freeze."""
        first, place = _distinct(tests)
        merged = np.zeros((first.size, counts.shape[1]), dtype=np.int64)
        np.add.at(merged, place, counts)
        self._freeze(tests[first], merged, test_names, classes)

    def _freeze(
        self,
        rows: npt.NDArray[np.uint8],
        counts: npt.NDArray[np.int64],
        test_names: Sequence[str] | None,
        classes: Iterable[Any] | None,
    ) -> None:
        occupied = counts.any(axis=1)
        if not occupied.all():
            rows, counts = rows[occupied], counts[occupied]
        self._rows = np.ascontiguousarray(rows)
        self._class_counts = np.ascontiguousarray(counts)
        self._rows.flags.writeable = False
        self._class_counts.flags.writeable = False
        self._binarizer = self._target = None
        self._test_names = None if test_names is None else tuple(str(name) for name in test_names)
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
    def from_arrays(
        cls,
        X01: npt.ArrayLike,
        y_codes: npt.ArrayLike,
        n_classes: int | None = None,
        sample_weight: npt.ArrayLike | None = None,
        *,
        test_names: Sequence[str] | None = None,
        classes: Iterable[Any] | None = None,
    ) -> Self:
        """Count the rows of a 0/1 matrix; ``y_codes`` are class indices 0..n_classes−1.

        ``sample_weight`` must be whole numbers: a weight of 3 is the same as giving the row three times, 0 as
        leaving it out.

        >>> Table.from_arrays([[0], [1], [1]], [0, 1, 0], sample_weight=[1, 2, 5]).class_counts.tolist()
        [[1, 0], [5, 2]]
        """
        tests = as_tests(X01, test_names)
        codes = _class_codes(y_codes, tests.shape[0])
        labels = None if classes is None else tuple(classes)
        least = int(codes.max()) + 1 if codes.size else 1
        if n_classes is None:
            n_classes = len(labels) if labels is not None else least
        if n_classes < least:
            raise DataError(
                f"y holds class index {least - 1} but n_classes is {n_classes}; "
                "indices run from 0 to n_classes - 1"
            )
        weights = whole_weights(sample_weight, tests.shape[0])
        first, place = _distinct(tests)
        cell = place * n_classes + codes
        if weights is None:
            flat = np.bincount(cell, minlength=first.size * n_classes).astype(np.int64)
        else:
            flat = np.zeros(first.size * n_classes, dtype=np.int64)
            np.add.at(flat, cell, weights)
        table = cls.__new__(cls)
        table._freeze(tests[first], flat.reshape(first.size, n_classes), test_names, labels)
        return table

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        target: str,
        *,
        bins: int | str | Mapping[str | int, Any] = 4,
        missing: str = "error",
        unknown: str = "ignore",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        like: Table | None = None,
        unlabelled: str = "error",
        memory_limit: int | None = None,
    ) -> Table:
        """Count a data frame where it is: the tests are chosen and the rows grouped inside its engine.

        ``frame`` is a frame, lazy or not, of polars, DuckDB, PySpark, Ibis, Dask, pyarrow or pandas. The result is that
        of ``Binarizer`` (whose parameters ``bins`` to ``max_categories`` are) on the same rows in memory, whatever the
        engine: cuts are exact quantiles. ``binarizer`` of the table is fitted, and ``fit_table`` of a classifier learns
        from it.

        Parameters
        ----------
        target : the column to predict
        weight : a column of whole numbers; a weight is the same as repeating the row
        columns : the columns to use, if not all others
        like : a table whose tests and classes to use, so that the two can be merged; the parameters of ``Binarizer``
            are those of that table then
        unlabelled : "error", or "drop" to leave out rows without a label
        memory_limit : bytes for the grouped rows; more of them end with ``LimitReached``

        >>> import polars as pl
        >>> frame = pl.LazyFrame({"age": [30, 40, 50, 60], "sex": ["m", "f", "f", "m"], "ill": [0, 0, 1, 1]})
        >>> table = Table.from_frame(frame, "ill", bins=2)
        >>> table.test_names, table.class_counts.tolist()
        (('age <= 45', 'sex == m'), [[0, 1], [0, 1], [1, 0], [1, 0]])
        """
        from everytree.data.binarizer import Binarizer
        from everytree.data.counting import count_frame

        binarizer = Binarizer(bins, missing, unknown=unknown, nominal=nominal, max_categories=max_categories)
        return count_frame(
            frame,
            target,
            binarizer,
            weight=weight,
            columns=columns,
            like=like,
            unlabelled=unlabelled,
            memory_limit=memory_limit,
        )

    @classmethod
    def from_files(
        cls,
        paths: Paths,
        target: str,
        *,
        engine: str | None = None,
        memory_limit: int | None = None,
        **options: Any,
    ) -> Table:
        """Count Parquet or CSV files, together larger than memory if need be: a pattern, a folder, or a list of files.

        ``engine`` is "duckdb" (the default where it is installed) or "polars"; ``options`` are those of ``from_frame``.
        ``memory_limit`` also bounds what DuckDB holds before it uses the disk.
        """
        from everytree.data.folders import open_files

        frame = open_files(paths, engine, memory_limit)
        return cls.from_frame(frame, target, memory_limit=memory_limit, **options)

    @classmethod
    def from_parquet(
        cls,
        paths: Paths,
        target: str,
        *,
        engine: str | None = None,
        memory_limit: int | None = None,
        **options: Any,
    ) -> Table:
        """Count Parquet files, such as ``"folder/*.parquet"``; see ``from_files``."""
        return cls.from_files(paths, target, engine=engine, memory_limit=memory_limit, **options)

    @classmethod
    def from_chunks(
        cls,
        chunks: Iterable[Any],
        target: str,
        *,
        weight: str | None = None,
        memory_limit: int | None = None,
        **options: Any,
    ) -> Table:
        """Count frames or data sets that come one after the other, such as those of ``read_chunks``.

        ``options`` are parameters of ``Binarizer``. The table is that of all rows at once if the cut points of numeric
        columns are given with ``bins``; else they are chosen from the first chunk that has values.
        """
        from everytree.data.chunks import count_chunks

        return count_chunks(chunks, target, weight, memory_limit, options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an Arrow IPC file, whole or not at all, with names, classes and the tests; needs pyarrow."""
        from everytree.data.table_file import save_table

        save_table(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Table:
        """The table of a file that ``save`` wrote, mapped into memory; every claim of the file is checked."""
        from everytree.data.table_file import load_table

        return load_table(path)

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
        return self._rows

    @property
    def class_counts(self) -> npt.NDArray[np.int64]:
        """Examples per row and class, int64 of shape (n_rows, n_classes); read-only."""
        return self._class_counts

    @property
    def test_names(self) -> tuple[str, ...] | None:
        """One name per test, or None."""
        return self._test_names

    @property
    def classes(self) -> tuple[Any, ...] | None:
        """One label per class, or None."""
        return self._classes

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return int(self._rows.shape[0])

    @property
    def n_tests(self) -> int:
        """Number of tests (columns)."""
        return int(self._rows.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self._class_counts.shape[1])

    @property
    def total(self) -> int:
        """Number of examples: the sum of all counts."""
        return int(self._class_counts.sum())

    @property
    def class_totals(self) -> npt.NDArray[np.int64]:
        """Examples per class."""
        totals: npt.NDArray[np.int64] = self._class_counts.sum(axis=0, dtype=np.int64)
        return totals

    def fingerprint(self) -> str:
        """SHA-256 of the table as text, in hexadecimal: the same for the same examples in any order.

        The text has a line for each distinct row, in lexicographic order: the outcomes as characters 0 and 1, then for
        each class a blank and its count. Every line ends with a newline; all of it is ASCII.

        >>> import hashlib
        >>> table = Table([[1, 0], [0, 1]], [[2, 0], [0, 3]])
        >>> table.fingerprint() == hashlib.sha256(b"01 0 3\\n10 2 0\\n").hexdigest()
        True
        """
        from hashlib import sha256

        digest = sha256()
        step = max(1, FINGERPRINT_CELLS // max(1, self.n_tests))
        for start in range(0, self.n_rows, step):
            part = slice(start, start + step)
            text = (self._rows[part] + 48).tobytes().decode("ascii")
            width = self.n_tests
            lines = [
                f"{text[i * width : (i + 1) * width]} {' '.join(map(str, counts))}\n"
                for i, counts in enumerate(self._class_counts[part].tolist())
            ]
            digest.update("".join(lines).encode("ascii"))
        return digest.hexdigest()

    def encoded(self, binarizer: Binarizer | None, target: str | None) -> Table:
        """The same table, which knows how its tests are made of columns, and which column its classes are of."""
        table = self.named(self._test_names, self._classes)
        table._binarizer, table._target = binarizer, target
        return table

    def named(self, test_names: Sequence[str] | None, classes: Iterable[Any] | None) -> Table:
        """The same table with other names of tests and classes."""
        table = Table.__new__(Table)
        table._freeze(self._rows, self._class_counts, test_names, classes)
        return table

    def merge(self, other: Table) -> Table:
        """The table of both data sets together; the tests and the classes must be the same."""
        for what, mine, theirs in (
            ("number of tests", self.n_tests, other.n_tests),
            ("number of classes", self.n_classes, other.n_classes),
            ("test names", self._test_names, other._test_names),
            ("classes", self._classes, other._classes),
        ):
            if mine != theirs:
                raise DataError(
                    f"cannot add tables that differ in {what}: {_short(mine)} and {_short(theirs)}; "
                    "build both with the same Binarizer and the same class labels"
                )
        if self.total + other.total > INT64_MAX:
            raise DataError(_too_many(self.total + other.total))
        table = Table.__new__(Table)
        table._settle(
            np.concatenate([self._rows, other._rows]),
            np.concatenate([self._class_counts, other._class_counts]),
            self._test_names,
            self._classes,
        )
        table._binarizer, table._target = self._binarizer, self._target
        return table

    def __add__(self, other: object) -> Table:
        return self.merge(other) if isinstance(other, Table) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Table):
            return NotImplemented
        return (
            np.array_equal(self._rows, other._rows)
            and np.array_equal(self._class_counts, other._class_counts)
            and self._test_names == other._test_names
            and self._classes == other._classes
        )

    def __hash__(self) -> int:
        return hash((self._rows.shape, self._rows.tobytes(), self._class_counts.tobytes()))

    def __repr__(self) -> str:
        shape = f"n_rows={self.n_rows}, n_tests={self.n_tests}, n_classes={self.n_classes}"
        return f"Table({shape}, total={self.total})"

    def __reduce__(self) -> tuple[Any, ...]:
        known = (self._binarizer, self._target)
        return _rebuild, (self._rows, self._class_counts, self._test_names, self._classes, *known)


def _rebuild(
    rows: npt.NDArray[np.uint8],
    counts: npt.NDArray[np.int64],
    test_names: tuple[str, ...] | None,
    classes: tuple[Any, ...] | None,
    binarizer: Binarizer | None = None,
    target: str | None = None,
) -> Table:
    return Table(rows, counts, test_names=test_names, classes=classes).encoded(binarizer, target)


def as_tests(X: npt.ArrayLike, test_names: Sequence[str] | None = None) -> npt.NDArray[np.uint8]:
    """X as a C-contiguous uint8 matrix of 0/1; anything else in it is refused, never rounded.

    >>> as_tests([[True, False]]).tolist()
    [[1, 0]]
    """
    try:
        array = np.asarray(X)
    except ValueError as error:
        raise DataError("X must be a matrix of 0 and 1, but its rows differ in length") from error
    if array.ndim != 2:
        raise DataError(
            f"X must be a matrix of 0 and 1 with shape (n_rows, n_tests); got {array.ndim} dimension(s)"
        )
    if array.dtype == np.bool_:
        return np.ascontiguousarray(array).view(np.uint8)
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise DataError(
                f"X must hold only 0 and 1, but some entries are no numbers ({error}). {FIRST}"
            ) from error
    if array.dtype.kind not in "iuf":
        raise DataError(f"X must hold only 0 and 1, but its values are of type {array.dtype}. {FIRST}")
    if array.dtype == np.uint8 and (array.size == 0 or array.max() <= 1):
        return np.ascontiguousarray(array)
    # NaN fails both comparisons.
    good = (array == 0) | (array == 1)
    if not good.all():
        row, column = (int(i) for i in np.argwhere(~good)[0])
        name = f"column {column}"
        if test_names is not None and column < len(test_names):
            name += f" ({test_names[column]!r})"
        value = array[row, column].item()
        raise DataError(f"X must hold only 0 and 1, but {name} holds {value!r} in row {row}. {FIRST}")
    return np.ascontiguousarray(array, dtype=np.uint8)


def whole_weights(sample_weight: npt.ArrayLike | None, n_rows: int) -> npt.NDArray[np.int64] | None:
    """Sample weights as int64, one per row, or None if there are none.

    Whole numbers ≥ 0 of any numeric type are accepted; everything else is refused, because a table counts
    examples.

    >>> whole_weights([1.0, 3.0, 0.0], 3).tolist()
    [1, 3, 0]
    """
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight)
    if weights.ndim == 0:
        weights = np.full(n_rows, weights)
    if weights.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {weights.shape}; expected one weight per row, shape ({n_rows},)"
        )
    whole = _whole(weights, "sample_weight")
    _check_total(whole)
    return whole


def _whole(values: npt.NDArray[Any], what: str) -> npt.NDArray[np.int64]:
    """Non-negative whole numbers as int64, or an error that says which value is not and what to do."""
    if values.dtype == np.bool_:
        return values.astype(np.int64)
    if values.dtype == object:
        try:
            values = np.asarray(values.tolist())
        except (ValueError, OverflowError) as error:
            raise DataError(f"{what} must hold whole numbers") from error
    if values.dtype.kind not in "iuf":
        raise DataError(f"{what} must hold whole numbers; got values of type {values.dtype}")
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise DataError(
                f"{what} holds NaN or infinity; give every row a finite whole number, 0 to leave it out"
            )
        broken = values[values != np.floor(values)]
        if broken.size:
            raise DataError(
                f"{what} must hold whole numbers, but {broken.size} of {values.size} are not (for example "
                f"{float(broken.flat[0])!r}): examples have no fractions. Scale and round them, for "
                "example np.rint(10 * sample_weight), or repeat the rows"
            )
    if (values < 0).any():
        raise DataError(
            f"{what} must not be negative, but holds {values.min().item()!r}; use 0 to leave a row out"
        )
    if values.size and int(values.max()) > INT64_MAX:
        raise DataError(_too_many(int(values.max())))
    return values.astype(np.int64)


def _check_total(counts: npt.NDArray[np.int64]) -> None:
    """Refuse counts whose sum would not fit: int64 sums wrap around silently."""
    if counts.size and int(counts.max()) > INT64_MAX // counts.size:
        total = sum(counts.ravel().tolist())
        if total > INT64_MAX:
            raise DataError(_too_many(total))


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


def _distinct(tests: npt.NDArray[np.uint8]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """(first, place): ``tests[first]`` are the distinct rows in order; row i is ``tests[first][place[i]]``.

    Rows are packed into big-endian 64-bit words, whose numeric order is the lexicographic order of the bits.
    Sorting words took 0.25 s for 10^6 rows of 50 tests where np.unique(axis=0) took 5.6 s.
    """
    n, m = tests.shape
    if n == 0:
        return np.zeros(0, dtype=np.intp), np.zeros(0, dtype=np.intp)
    n_words = max(1, -(-m // 64))
    packed = np.zeros((n, 8 * n_words), dtype=np.uint8)
    if m:
        bits = np.packbits(tests, axis=1)
        packed[:, : bits.shape[1]] = bits
    words = packed.view(">u8").astype(np.uint64)
    order = np.argsort(words[:, 0], kind="stable") if n_words == 1 else np.lexsort(words.T[::-1])
    ordered = words[order]
    starts = np.ones(n, dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    place = np.empty(n, dtype=np.intp)
    place[order] = np.cumsum(starts) - 1
    return order[starts], place


def _too_many(total: int) -> str:
    return f"the counts add up to {total}, more than 2**63 - 1; divide the weights by a common factor"


def _short(value: object) -> str:
    if isinstance(value, tuple) and len(value) > SOME:
        return f"({', '.join(repr(v) for v in value[:SOME])}, … {len(value)} in all)"
    return repr(value)
