"""What can be known of a table's rows without the matrix of all tests, where they are codes of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from everytree.data.counted_rows import CountedRows
from everytree.data.local_columns import Codes

__all__ = ["codes_of", "has_matrix", "holding", "only_tests"]

Made = TypeVar("Made", bound=CountedRows)


def has_matrix(table: CountedRows) -> bool:
    """Whether the outcomes of all tests are in memory."""
    return table.coded is None or table.coded.are_made


def codes_of(table: CountedRows) -> Codes:
    """The codes of the rows of a table whose states choose their own cuts."""
    assert table.columns is not None
    return table.columns.codes_of_rows(table.rows) if table.coded is None else table.coded.codes


def holding(table: CountedRows, test: int) -> npt.NDArray[np.bool_]:
    """For which rows a test holds.

    >>> holding(CountedRows([[0, 1], [1, 1]], [[1], [1]]), 0).tolist()
    [False, True]
    """
    return np.asarray(table.rows[:, test] > 0) if table.coded is None else table.coded.outcomes(test)


def only_tests(table: Made, kept: Sequence[int]) -> Made:
    """The table of some of the tests, ascending and without names, in which equal rows are one.

    Of columns whose cuts are local all tests or none are kept.

    >>> only_tests(CountedRows([[0, 1], [1, 1]], [[1], [1]]), [1]).class_counts.tolist()
    [[2]]
    """
    columns = None if table.columns is None else table.columns.only(kept)
    if table.coded is not None and columns is not None:
        rows, counts = table.coded.only(columns, table.class_counts)
        return type(table).trusted(
            rows, counts, None, table.classes, columns=columns, per_example=table.per_example
        )
    return type(table).trusted(
        table.rows[:, kept], table.class_counts, None, table.classes, distinct=False, columns=columns,
        per_example=table.per_example,
    )  # fmt: skip
