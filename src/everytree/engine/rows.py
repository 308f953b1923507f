"""Rows for the core: what a person gives, as the core of a space reads it.

    cuts chosen once       a 0/1 matrix with a column for each test       →  uint8
    cuts of every state    any frame or array of the original columns     →  uint16: how far each row reaches

Inside the package rows of a space with local cuts are ``Reach``, or 0/1 rows of all tests (uint8, as in its table).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.arrays import as_tests
from everytree.data.binarizer import reach_of_frame, transform_frame
from everytree.data.frames import check_columns, read_frame
from everytree.data.local_columns import Reach
from everytree.engine.problem import Problem
from everytree.errors import DataError

__all__ = ["core_rows", "one_core_row", "table_rows", "training_rows"]


def core_rows(space: Problem, X: Any) -> npt.NDArray[Any]:
    """Return rows as the core of a space reads them; a ``DataError`` says what is wrong with them.

    The answer is a ``Reach`` for a space with local cuts, and otherwise uint8; also where there are no tests at all,
    because no state of such a space chooses anything.
    """
    rows = _read_rows(space, X)
    return rows if space.n_tests else np.zeros((len(rows), 0), dtype=np.uint8)


def _read_rows(space: Problem, X: Any) -> npt.NDArray[Any]:
    columns, n_tests = space.table.columns, space.n_tests
    if isinstance(X, Reach):
        if columns is None or X.ndim != 2 or X.shape[1] != n_tests:
            raise DataError(
                f"X holds how far rows reach among {X.shape[-1]} tests; expected rows of this space, {space!r}"
            )
        return np.ascontiguousarray(X).view(Reach)
    if columns is None and not space.reads_frames:
        return _tests(space, X)
    binarizer = space.table.binarizer
    if _is_tests(space, X):
        return _tests(space, X) if columns is None else Reach.of_rows(as_tests(X, space.test_names))
    frame = read_frame(X, binarizer)
    if binarizer is None:
        assert columns is not None
        if len(frame.columns) != len(columns.encodings):
            raise DataError(
                f"X has {len(frame.columns)} columns; expected the {len(columns.encodings)} that the tests are made of"
            )
        return columns.reach(frame)
    check_columns(binarizer, frame, reset=False)
    return transform_frame(binarizer, frame) if columns is None else reach_of_frame(binarizer, frame)


def table_rows(space: Problem, X: Any) -> npt.NDArray[np.uint8]:
    """Return rows as the table of a space holds its own: the outcomes of all tests, by the codes of the values."""
    columns, binarizer = space.table.columns, space.table.binarizer
    if columns is None or not space.n_tests:
        return core_rows(space, X)
    if _is_tests(space, X):
        return _tests(space, X)
    frame = read_frame(X, binarizer)
    if binarizer is not None:
        check_columns(binarizer, frame, reset=False)
    return columns.rows(columns.codes(frame))


def training_rows(space: Problem) -> npt.NDArray[Any]:
    """Return the distinct rows of the table of a space as its core reads new rows."""
    rows = np.ascontiguousarray(space.table.rows)
    return rows if space.table.columns is None or not space.n_tests else Reach.of_rows(rows)


def _is_tests(space: Problem, X: Any) -> bool:
    """Whether X holds the outcomes of all tests, and cannot be taken for the original columns."""
    if not isinstance(X, np.ndarray) or X.dtype != np.uint8 or X.ndim != 2 or X.shape[1] != space.n_tests:
        return False
    binarizer = space.table.binarizer
    return binarizer is None or binarizer.n_features_in_ != space.n_tests


def _tests(space: Problem, X: Any) -> npt.NDArray[np.uint8]:
    rows = as_tests(X, space.test_names)
    if rows.shape[1] != space.n_tests:
        raise DataError(f"X has {rows.shape[1]} columns; expected the {space.n_tests} tests of the space")
    return np.ascontiguousarray(rows)


def one_core_row(space: Problem, x: Any) -> npt.NDArray[Any]:
    """Return one row as the core reads it, of shape (n_tests,); ``x`` may be that row, or a frame of one row."""
    if space.table.columns is None and not space.reads_frames:
        rows: npt.NDArray[Any] = as_tests(np.atleast_2d(np.asarray(x)), space.test_names)
        if rows.shape != (1, space.n_tests):
            raise DataError(f"x has shape {np.shape(x)}; expected one row of {space.n_tests} tests")
        return np.asarray(rows[0])
    flat = isinstance(x, np.ndarray) and x.ndim == 1
    if isinstance(x, list | tuple):
        flat = not (x and isinstance(x[0], list | tuple | np.ndarray))
    rows = core_rows(space, [x] if flat and not isinstance(x, np.ndarray) else x[None, :] if flat else x)
    if rows.shape[0] != 1:
        raise DataError(f"x has {rows.shape[0]} rows; expected one")
    first: npt.NDArray[Any] = rows[0]
    return first
