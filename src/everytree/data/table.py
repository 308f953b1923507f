"""Table: the count table, and every way to make one: from arrays, frames, files, chunks, or a file of its own."""

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

    Rows given twice are merged and rows without any example are left out; the order of the input does not matter.

    Parameters
    ----------
    rows : 0/1 matrix, shape (n_rows, n_tests)
        The outcomes of the tests, one row for each line of ``counts``.
    counts : array of int, shape (n_rows, n_classes)
        The examples of each class that each row stands for: whole numbers ≥ 0, of parts of an example where
        ``per_example`` says so.
    test_names : sequence of str, optional
        One name for each column of ``rows``.
    classes : iterable, optional
        One label for each column of ``counts``.
    per_example : int, default 1
        The counts that make one example: 10 where ``counts`` are in tenths.

    Raises
    ------
    DataError
        If the arrays do not fit together, or hold anything but 0/1 outcomes and whole counts.

    Examples
    --------
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
        missing: str = "category",
        unknown: str = "ignore",
        nominal: Sequence[str | int] | None = None,
        max_categories: int = 256,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        like: CountedRows | None = None,
        unlabelled: str = "error",
        memory_limit: int | None = None,
        cuts: str = "global",
    ) -> Self:
        """Count a data frame where it is: the tests are chosen and the rows grouped inside its engine.

        The result is that of ``Binarizer`` on the same rows in memory, whatever the engine: cuts are exact quantiles.
        The ``binarizer`` of the table is fitted, and ``fit_table`` of a classifier learns from the table.

        Parameters
        ----------
        frame : data frame
            A frame, lazy or not, of polars, DuckDB, PySpark, Ibis, Dask, pyarrow or pandas.
        target : str
            The column to predict.
        bins : int, "all" or dict, default 4
            How numeric columns are cut, as in ``Binarizer``: k bins give at most k − 1 cuts, each of them a test.
        missing : {"error", "category", "impute"}, default "category"
            What a missing value means, as in ``Binarizer``.
        unknown : {"ignore", "error"}, default "ignore"
            What a nominal value not seen in training means, as in ``Binarizer``.
        nominal : sequence of str or int, optional
            The numeric columns whose numbers are codes.
        max_categories : int, default 256
            The most values of a nominal column; one with more is refused.
        weight : str, optional
            A column of whole numbers; a weight is the same as repeating the row. Engines group by whole counts, so that
            fractions are refused here; ``from_chunks`` takes them.
        columns : sequence of str, optional
            The columns to use; by default all others.
        like : Table, optional
            A table whose tests and classes to use, so that the two can be merged. The parameters of ``Binarizer`` are
            those of that table then.
        unlabelled : {"error", "drop"}, default "error"
            Whether rows without a label are refused or left out.
        memory_limit : int, optional
            The most bytes for the grouped rows.
        cuts : {"global", "local"}, default "global"
            Whether the cuts of numeric columns are chosen once, or by every node of a tree, as in ``Binarizer``.

        Returns
        -------
        Table
            The table of the frame's rows.

        Raises
        ------
        DataError
            If a column is not there or holds values that cannot be used.
        LimitReached
            If the grouped rows need more than ``memory_limit``.

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.LazyFrame({"age": [30, 40, 50, 60], "sex": ["m", "f", "f", "m"], "ill": [0, 0, 1, 1]})
        >>> table = Table.from_frame(frame, "ill", bins=2)
        >>> table.test_names, table.class_counts.tolist()
        (('age <= 45', 'sex == m'), [[0, 1], [0, 1], [1, 0], [1, 0]])
        """
        binarizer = Binarizer(
            bins, missing, unknown=unknown, nominal=nominal, max_categories=max_categories, cuts=cuts
        )
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
        """Count Parquet or CSV files, which together may be larger than memory.

        Parameters
        ----------
        paths : str, path or list of these
            A pattern such as ``"folder/*.csv"``, a folder, or a list of files.
        target : str
            The column to predict.
        engine : {"duckdb", "polars"}, optional
            What reads the files; by default DuckDB where it is installed.
        memory_limit : int, optional
            The most bytes for the grouped rows, and for what DuckDB holds before it uses the disk: 128 MiB at least,
            and up to 190 MB for hundreds of columns; where these have few rows, nothing of DuckDB is used.
        **options : object
            Further parameters of ``from_frame``, such as ``bins``.

        Returns
        -------
        Table
            The table of all rows of the files.
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
        """Count Parquet files, as ``from_files`` does.

        Parameters
        ----------
        paths : str, path or list of these
            A pattern such as ``"folder/*.parquet"``, a folder, or a list of files.
        target : str
            The column to predict.
        engine : {"duckdb", "polars"}, optional
            What reads the files; by default DuckDB where it is installed.
        memory_limit : int, optional
            The most bytes for the grouped rows, and for what DuckDB holds before it uses the disk: 128 MiB at least,
            and up to 190 MB for hundreds of columns; where these have few rows, nothing of DuckDB is used.
        **options : object
            Further parameters of ``from_frame``, such as ``bins``.

        Returns
        -------
        Table
            The table of all rows of the files.
        """
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

        The table is that of all rows at once if the cut points of numeric columns are given with ``bins``; otherwise
        they are chosen from the first chunk that has values. With ``cuts="local"`` it always is that of all rows at
        once: the distinct rows of values are kept, and fine codes are made of all of them at the end.

        Parameters
        ----------
        chunks : iterable of data frames or Datasets
            The chunks, all with the same columns.
        target : str
            The column to predict.
        weight : str, optional
            A column of whole numbers; a weight is the same as repeating the row.
        memory_limit : int, optional
            The most bytes for the grouped rows.
        **options : object
            Parameters of ``Binarizer``, such as ``bins``.

        Returns
        -------
        Table
            The table of all chunks together.

        Raises
        ------
        LimitReached
            If the grouped rows need more than ``memory_limit``.
        """
        return cls.of(count_chunks(chunks, target, weight, memory_limit, options))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table to an Arrow IPC file, with names, classes and the tests; this needs pyarrow.

        Parameters
        ----------
        path : str or path
            The file to write. It is written whole or not at all.
        """
        save_table(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a table from a file that ``save`` wrote; its rows are mapped into memory.

        Parameters
        ----------
        path : str or path
            The file to read.

        Returns
        -------
        Table
            The same table.

        Raises
        ------
        DataError
            If the file is not a table; everything that it claims is checked.
        """
        return cls.of(load_table(path))
