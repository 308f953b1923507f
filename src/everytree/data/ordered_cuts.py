"""The cuts of a column above each of its codes, in order, and the *upper* of each: its position among them.

A state that holds the codes lo and hi, and none between them, asks ``x <= t(lo, hi)`` with

    t(lo, hi) = cut_between(high[lo], low[hi])

and t need not rise with hi: a mid-point of at most six digits is kept, a longer one is shortened. So cuts are ordered
by t, among those with the same lower code, and equal ones are one:

    upper(lo, hi) = lo + 1 + (number of different t(lo, h), h > lo, that are less than t(lo, hi))

where t rises strictly the upper is hi itself. A number x passes the cuts above lo from some upper on, which is all that
need be known of it.

The uppers of a column with m codes are m² numbers. A column with more than 1,023 codes, which ``bins="all"`` may give,
is cut at the running maximum instead, the greatest ``t(lo, h)`` of lo < h <= hi, and the upper is hi.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.data.fine_codes import FineCodes
from everytree.data.shortened import cut_matrix, few_digits

__all__ = ["LARGEST", "OrderedCuts", "ordered_cuts", "rises"]

LARGEST = 1023  # codes of a column whose cuts are ordered


class OrderedCuts(NamedTuple):
    """The cuts above some lower codes, a line each.

    Attributes
    ----------
    cuts : ndarray of shape (n_lower, n_codes)
        The cut whose upper is the number of the column; above the last upper the last cut again.
    uppers : ndarray of uint16 and the same shape, or None
        The upper of lo and each hi, 0 where hi <= lo; None where it is hi itself.
    """

    cuts: npt.NDArray[Any]
    uppers: npt.NDArray[np.uint16] | None


def ordered_cuts(fine: FineCodes, begin: int, end: int) -> OrderedCuts:
    """Order the cuts above the codes from ``begin`` to ``end`` − 1 of a column without cut points that were given.

    >>> low = np.array([0, 10.88, 10.8800002, 99])
    >>> cuts, uppers = ordered_cuts(FineCodes(low, low, 4), 0, 1)
    >>> cuts[0, 1:].tolist(), uppers.tolist()
    ([5.0, 5.44, 49.5], [[0, 2, 1, 3]])
    """
    cuts = cut_matrix(fine.high[begin:end], fine.low)
    if fine.n_codes > LARGEST:
        return OrderedCuts(np.maximum.accumulate(cuts, axis=1), None)
    lower = np.arange(begin, end)[:, None]
    rising = np.asarray(cuts[:, 1:] > cuts[:, :-1], dtype=bool)
    if (rising | (np.arange(1, fine.n_codes) <= lower)).all():
        return OrderedCuts(cuts, None)
    order = np.argsort(cuts, axis=1, kind="stable")  # pairs without a cut, lo + 1 of them, come first
    ranked = np.take_along_axis(cuts, order, axis=1)
    position = np.zeros(cuts.shape, dtype=np.intp)
    position[:, 1:] = np.cumsum(ranked[:, 1:] != ranked[:, :-1], axis=1)
    position[position > 0] += np.broadcast_to(lower, cuts.shape)[position > 0]
    uppers = np.empty(cuts.shape, dtype=np.uint16)
    np.put_along_axis(uppers, order, position.astype(np.uint16), axis=1)
    ordered = np.repeat(ranked[:, -1:], fine.n_codes, axis=1)
    np.put_along_axis(ordered, position, ranked, axis=1)
    return OrderedCuts(ordered, uppers)


def rises(fine: FineCodes) -> bool:
    """Whether every cut is a mid-point of few digits, so that cuts surely rise; False says nothing.

    >>> rises(FineCodes(np.array([1, 4]), np.array([2, 9]), 4))
    True
    """
    return few_digits(np.concatenate([fine.low, fine.high]))
