"""Table: the count table, and every way to make one: of arrays, frames, files, chunks, or a file of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

from everytree.data.binarizer import Binarizer
from everytree.data.chunks import count_chunks
from everytree.data.counted_rows import CountedRows
from everytree.data.counting import count_frame
from everytree.data.folders import Paths, open_files
from everytree.data.table_file import load_table, save_table

__all__ = ["Table"]


class Table(CountedRows):
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

    __slots__ = ()

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
        like: CountedRows | None = None,
        unlabelled: str = "error",
        memory_limit: int | None = None,
    ) -> Self:
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
        binarizer = Binarizer(bins, missing, unknown=unknown, nominal=nominal, max_categories=max_categories)
        return cls.of(
            count_frame(
                frame,
                target,
                binarizer,
                weight=weight,
                columns=columns,
                like=like,
                unlabelled=unlabelled,
                memory_limit=memory_limit,
            )
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
    ) -> Self:
        """Count Parquet or CSV files, together larger than memory if need be: a pattern, a folder, or a list of files.

        ``engine`` is "duckdb" (the default where it is installed) or "polars"; ``options`` are those of ``from_frame``.
        ``memory_limit`` also bounds what DuckDB holds before it uses the disk.
        """
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
    ) -> Self:
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
    ) -> Self:
        """Count frames or data sets that come one after the other, such as those of ``read_chunks``.

        ``options`` are parameters of ``Binarizer``. The table is that of all rows at once if the cut points of numeric
        columns are given with ``bins``; else they are chosen from the first chunk that has values.
        """
        return cls.of(count_chunks(chunks, target, weight, memory_limit, options))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an Arrow IPC file, whole or not at all, with names, classes and the tests; needs pyarrow."""
        save_table(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The table of a file that ``save`` wrote, mapped into memory; every claim of the file is checked."""
        return cls.of(load_table(path))
