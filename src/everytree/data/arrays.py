"""Arrays from outside, checked: 0/1 matrices and whole numbers. Nothing is rounded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.errors import DataError

__all__ = ["INT64_MAX", "as_tests", "check_total", "too_many", "whole_numbers"]

INT64_MAX = int(np.iinfo(np.int64).max)
FIRST = "Turn other columns into tests with everytree.Binarizer first"


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


def whole_numbers(values: npt.NDArray[Any], what: str) -> npt.NDArray[np.int64]:
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
                f"{float(broken.flat[0])!r}); give them in parts of an example, with per_example the number of parts"
            )
    if (values < 0).any():
        raise DataError(
            f"{what} must not be negative, but holds {values.min().item()!r}; use 0 to leave a row out"
        )
    if values.size and int(values.max()) > INT64_MAX:
        raise DataError(too_many(int(values.max())))
    return values.astype(np.int64)


def check_total(counts: npt.NDArray[np.int64]) -> None:
    """Refuse counts whose sum would not fit: int64 sums wrap around silently."""
    if counts.size and int(counts.max()) > INT64_MAX // counts.size:
        total = sum(counts.ravel().tolist())
        if total > INT64_MAX:
            raise DataError(too_many(total))


def too_many(total: int) -> str:
    return f"the counts add up to {total}, more than 2**63 - 1; divide the weights by a common factor"
