"""Cut points by minimum description length (Fayyad & Irani 1993): a numeric attribute is cut where the classes change.

An interval of N examples with k classes and entropy E is cut into parts (N1, k1, E1) and (N2, k2, E2) at the point of
least N1·E1 + N2·E2, if the gain pays for the description of the cut:

    E − (N1·E1 + N2·E2)/N  >  (log2(N − 1) + log2(3^k − 2) − k·E + k1·E1 + k2·E2) / N

and then each part in the same way. Only points between two different values can be cuts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.cuts import cut_between
from everytree.errors import DataError

__all__ = ["mdl_cuts", "mdl_cuts_of"]

MAX_CELLS = 2**27  # distinct values × classes: one gigabyte of counts


def mdl_cuts(
    values: npt.NDArray[Any],
    y: npt.NDArray[np.intp],
    n_classes: int,
    weights: npt.NDArray[Any] | None = None,
) -> list[float | int]:
    """The cut points in increasing order; none where no cut pays for itself.

    >>> mdl_cuts(np.arange(20), np.array([0] * 10 + [1] * 10), 2)
    [9.5]
    >>> mdl_cuts(np.arange(20), np.array([0, 1] * 10), 2)
    []
    """
    points, place = np.unique(values, return_inverse=True)
    if points.size * n_classes > MAX_CELLS:
        raise DataError(
            f"{points.size} different values and {n_classes} classes are too many to cut by the classes (more than "
            f"{MAX_CELLS} counts); give a number of bins instead"
        )
    counts = np.zeros((points.size, n_classes), dtype=np.int64 if weights is None else weights.dtype)
    np.add.at(counts, (place, y), 1 if weights is None else weights)
    breaks: list[int] = []
    todo = [(0, points.size)]  # intervals of distinct values: a list, not recursion, as cuts may nest deeply
    while todo:
        start, stop = todo.pop()
        found = _best_break(counts[start:stop])
        if found is not None:
            breaks.append(start + found)
            todo += [(start, start + found + 1), (start + found + 1, stop)]
    return [cut_between(points[j], points[j + 1]) for j in sorted(breaks)]


def mdl_cuts_of(
    column: Column,
    fill: float | int | None,
    y: npt.NDArray[np.intp],
    n_classes: int,
    weights: npt.NDArray[Any] | None = None,
) -> list[float | int]:
    """The cut points of a numeric column, where ``fill`` stands for missing values; without it they play no part."""
    numbers, missing = column.data, column.mask
    if missing is None:
        return mdl_cuts(numbers, y, n_classes, weights)
    if fill is not None:
        return mdl_cuts(np.where(missing, fill, numbers), y, n_classes, weights)
    present = ~missing
    return mdl_cuts(numbers[present], y[present], n_classes, None if weights is None else weights[present])


def _best_break(counts: npt.NDArray[Any]) -> int | None:
    """The index j of the best break after distinct value j of an interval, or None if it does not pay."""
    if counts.shape[0] < 2:
        return None
    left = np.cumsum(counts, axis=0)
    total = left[-1]
    left = left[:-1]
    cost_left, cost_right = _bits(left), _bits(total - left)
    j = int(np.argmin(cost_left + cost_right))  # the first of several
    n, whole = total.sum().item(), float(_bits(total[None])[0])
    if n <= 1:  # parts of one example
        return None
    k, k1, k2 = (int(np.count_nonzero(part)) for part in (total, left[j], total - left[j]))
    n1 = left[j].sum().item()
    own, first, second = k * whole / n, k1 * float(cost_left[j]) / n1, k2 * float(cost_right[j]) / (n - n1)
    described = (
        np.log2(n - 1) + k * np.log2(3.0) + np.log1p(-2 * 3.0**-k) / np.log(2.0) - own + first + second
    )
    return j if whole - float(cost_left[j] + cost_right[j]) > described else None


def _bits(counts: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """n · entropy of each row of class counts, in bits."""
    n = counts.sum(axis=1)
    cells = np.where(counts > 0, counts, 1)
    bits: npt.NDArray[np.float64] = n * np.log2(np.where(n > 0, n, 1)) - (counts * np.log2(cells)).sum(axis=1)
    return bits
