"""Weights of examples as whole counts: a row of weight w stands for w · per_example counts.

The core counts in whole numbers. Where weights have fractions, a count is a part of an example, 1 / per_example of it:

    per_example = 1              all weights are whole
    the least common one         that makes every weight whole, where it is at most 2^20: 2 for halves, 10 for tenths
    a power of two               else the finest that a table can hold; weights are rounded to whole counts

Every number that is said in examples (min_leaf, a margin, a penalty, an error) is multiplied or divided by it where it
meets the counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from everytree.data.arrays import check_total, whole_numbers
from everytree.errors import DataError

__all__ = ["MOST_COUNTS", "ExampleWeights", "example_weights", "too_fine"]

MOST_COUNTS = 2**29 - 1  # that a table of the core holds
FINEST_EXACT = 2**20  # counts of an example where every weight is whole
SAME = Fraction(1, 2**50)  # relative: as far as a quotient of two whole numbers may be rounded


@dataclass(frozen=True)
class ExampleWeights:
    """The weights of rows, in counts.

    Parameters
    ----------
    counts : array of int64, shape (n_rows,)
        The weights, each ``per_example`` times as large as it was given.
    per_example : int, default 1
        The counts that make one example.
    rounding : float, default 0
        The largest difference between a weight and its counts, as a share of the average weight.
    """

    counts: npt.NDArray[np.int64]
    per_example: int = 1
    rounding: float = 0.0

    @property
    def used(self) -> npt.NDArray[np.bool_]:
        """The rows of weight above zero; there is one."""
        used: npt.NDArray[np.bool_] = self.counts > 0
        if not used.any():
            raise DataError("sample_weight is zero for every row; at least one row needs a weight above zero")
        return used

    @property
    def examples(self) -> npt.NDArray[Any]:
        """The weights in examples: whole numbers where ``per_example`` is 1, else floats."""
        return self.counts if self.per_example == 1 else self.counts / self.per_example

    def followed_by(self, other: ExampleWeights) -> ExampleWeights:
        """These weights and then others, in counts that suit both."""
        parts = math.lcm(self.per_example, other.per_example)
        mine, theirs = (parts // each.per_example for each in (self, other))
        total = mine * int(self.counts.sum()) + theirs * int(other.counts.sum())
        if parts > 1 and total > MOST_COUNTS:
            raise DataError(too_fine(total, parts))
        counts = np.concatenate([mine * self.counts, theirs * other.counts])
        return ExampleWeights(counts, parts, max(self.rounding, other.rounding))

    def of(self, rows: npt.NDArray[Any]) -> Self:
        """The weights of some rows."""
        return replace(self, counts=self.counts[rows])


def example_weights(
    sample_weight: npt.ArrayLike | ExampleWeights | None, n_rows: int
) -> ExampleWeights | None:
    """Read sample weights, one for each row, or None if there are none.

    >>> example_weights([0.5, 3, 0], 3)
    ExampleWeights(counts=array([1, 6, 0]), per_example=2, rounding=0.0)
    >>> example_weights([1 / 3, 0.1], 2).per_example
    30
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, ExampleWeights):
        given = sample_weight
        _check_shape(given.counts, n_rows)
        return given
    values = np.asarray(sample_weight)
    if values.ndim == 0:
        values = np.full(n_rows, values)
    _check_shape(values, n_rows)
    if values.dtype == object:
        values = _plain(values)
    if values.dtype.kind == "f":
        if not np.isfinite(values).all():
            raise DataError(
                "sample_weight holds NaN or infinity; give every row a finite weight, 0 to leave it out"
            )
        if (values < 0).any():
            raise DataError(
                f"sample_weight must not be negative, but holds {values.min().item()!r}; use 0 to leave a row out"
            )
        if (values != np.floor(values)).any():
            return _in_parts(values)
    counts = whole_numbers(values, "sample_weight")
    check_total(counts)
    return ExampleWeights(counts)


def too_fine(total: int, parts: int) -> str:
    """Say that the examples of several batches are too many counts, and what to do."""
    return (
        f"the examples would be {total} counts of 1/{parts} example each, and a table holds {MOST_COUNTS}; round the "
        "weights of all batches alike, for example np.round(sample_weight, 2)"
    )


def _check_shape(values: npt.NDArray[Any], n_rows: int) -> None:
    if values.shape != (n_rows,):
        raise DataError(
            f"sample_weight has shape {values.shape}; expected one weight per row, shape ({n_rows},)"
        )


def _plain(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """An array of objects as one of numbers."""
    try:
        return np.asarray([float(x) if isinstance(x, Fraction) else x for x in values.tolist()])
    except (ValueError, OverflowError) as error:
        raise DataError("sample_weight must hold numbers") from error


def _in_parts(values: npt.NDArray[Any]) -> ExampleWeights:
    """Weights with fractions, in parts of an example."""
    # A short float is read as the digits it is written with: np.float32(0.1) is a tenth.
    different, place = np.unique(values, return_inverse=True)
    numbers = [float(str(x)) for x in different] if values.dtype.itemsize < 8 else different.tolist()
    total = math.fsum(numbers[k] for k in place.tolist())
    exact = _common(numbers)
    if exact is not None and exact * total <= MOST_COUNTS:
        whole = np.array([round(x * exact) for x in numbers], dtype=np.int64)
        return ExampleWeights(whole[place], exact)
    # Rounding up, and a whole count for the least weight, may add one to each row.
    room = (MOST_COUNTS - values.size) / total
    if not 1 <= room < math.inf:
        raise DataError(
            f"sample_weight adds up to {total:g} over {values.size} rows; with fractions, the sum must be above 0 and "
            f"with the number of rows at most {MOST_COUNTS}: divide the weights by a common factor, or round them"
        )
    parts = 2 ** min(int(math.log2(room)), 52)
    counts = np.maximum(np.rint(np.array(numbers) * parts), np.array(numbers) > 0).astype(np.int64)
    off = np.abs(counts / parts - np.array(numbers))
    return ExampleWeights(counts[place], parts, float(off.max() * values.size / total))


def _common(numbers: list[float]) -> int | None:
    """Return the least whole number that makes all of them whole; None if it is above 2^20.

    >>> _common([0.5, 0.75, 2.0]), _common([0.1, 1 / 3]), _common([0.7071067811865476])
    (4, 30, None)
    """
    found = 1
    for number in numbers:
        exact = Fraction(number)
        near = exact.limit_denominator(FINEST_EXACT)
        if abs(near - exact) > SAME * exact:
            return None
        found = math.lcm(found, near.denominator)
        if found > FINEST_EXACT:
            return None
    return found
