"""Where every node chooses its own cuts: the tests that a set of rows offers, by the checker's own code.

    numeric    the codes that occur are cut into bins of equal frequency: with R examples and k bins left, a bin ends at
               the first break where it holds at least R/k of them, or one break earlier if that is strictly closer
    0/1        its test, where both values occur; so too a nominal column with one test
    nominal    the test of every value that occurs, and "missing"; of two of them only that of the last value
    missing    beside the cuts, where it occurs and other values do too

The cut between the codes lo and hi that occur side by side is t(lo, hi), the mid-point of the greatest value of lo and
the least of hi, in as few digits as a twentieth of the gap allows; cut points that were given stay where they are. A
node names it by its *upper*, lo + 1 and the number of different t(lo, h), h > lo, that are less. With more than 1,023
codes t(lo, hi) is the largest such mid-point over lo < h <= hi, and the upper is hi.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import Any

from everytree.verify.model import Model

__all__ = ["Offers", "between", "bits_of", "breaks_of", "threshold", "upper_of"]

READABLE = 6
EXACT = 2**53
LARGEST = 1023


class Group:
    """The tests of one column: ``cuts`` of its codes or values, ``missing`` or None, and whether codes are ordered."""

    def __init__(self, column: int, ordered: bool, cuts: list[int], missing: int | None, bins: int) -> None:
        self.column, self.ordered, self.cuts, self.missing, self.bins = column, ordered, cuts, missing, bins


def groups_of(model: Model) -> list[Group]:
    """Read from a model which tests belong to which column."""
    found = []
    for j, column in enumerate(model.columns):
        mine = [i for i, test in enumerate(model.tests) if test.column == j]
        gone = [i for i in mine if model.tests[i].kind == "missing"]
        cuts = [i for i in mine if i not in gone]
        if not mine:
            continue
        ordered = column.kind != "nominal" or (len(column.values) == 2 and len(cuts) == 1)
        bins = 0 if column.fine is None else column.fine.bins
        found.append(Group(j, ordered, cuts, gone[0] if gone else None, bins))
    return found


class Offers:
    """The offers of any cover, a whole number whose bits are rows.

    ``rows`` are the rows in which each test holds, and ``weights`` are the examples of each row, in any unit.
    """

    def __init__(self, model: Model, rows: list[int], everything: int, weights: list[int]) -> None:
        self.groups = groups_of(model)
        self.weights = weights
        self.known: dict[int, dict[int, int]] = {}
        self.codes: list[
            list[int]
        ] = []  # of each group, the code of each row; beyond all codes where it is missing
        for group in self.groups:
            gone = 0 if group.missing is None else rows[group.missing]
            sets = [rows[test] for test in group.cuts]
            if group.ordered:  # every cut holds where the one before it does
                ends = [*sets, everything & ~gone]
                sets = [ends[0], *(end & ~before for before, end in pairwise(ends))]
            codes = [-1] * len(weights)  # rows without a code: values that no test asks about
            for code, held in enumerate([*sets, gone]):
                for row in bits_of(held):
                    codes[row] = code
            self.codes.append(codes)

    def of(self, cover: int) -> dict[int, int]:
        """Return the tests that a cover offers, each with the code above its cut; 0 where it is none."""
        if cover not in self.known:
            self.known[cover] = self._found(cover)
        return self.known[cover]

    def _found(self, cover: int) -> dict[int, int]:
        found: dict[int, int] = {}
        rows = bits_of(cover)
        for group, codes in zip(self.groups, self.codes, strict=True):
            # Row by row: a cover has fewer rows than a column has codes, soon after the root.
            times: dict[int, int] = {}
            for row in rows:
                times[codes[row]] = times.get(codes[row], 0) + self.weights[row]
            n_codes = len(group.cuts) + group.ordered
            held = sorted(code for code in times if 0 <= code < n_codes)
            gone = group.missing is not None and n_codes in times
            if not held or len(held) + gone < 2:
                continue
            if group.ordered:
                counts = [times[code] for code in held]
                breaks = breaks_of(counts, group.bins) if group.bins else list(range(len(held) - 1))
                found |= {group.cuts[held[j]]: held[j + 1] for j in breaks}
            elif len(held) + gone == 2:
                found[group.cuts[held[-1]]] = 0
                continue
            else:
                found |= {group.cuts[code]: 0 for code in held}
            if gone and group.missing is not None:
                found[group.missing] = 0
        return found


def bits_of(cover: int) -> list[int]:
    """Return the places of the bits that are set, by way of text: shifting would be quadratic.

    >>> bits_of(0b1011)
    [0, 1, 3]
    """
    return [row for row, bit in enumerate(format(cover, "b")[::-1]) if bit == "1"]


def breaks_of(counts: list[int], bins: int) -> list[int]:
    """Return after which of the codes a bin of equal frequency ends, the last one aside.

    >>> breaks_of([1, 1, 1, 1], 2), breaks_of([7, 1, 1, 1], 2)
    ([1], [0])
    """
    found: list[int] = []
    left, held, start = sum(counts), 0, 0  # examples in unfinished bins; in this one; where it begins
    j = 0
    while j < len(counts) - 1 and len(found) < bins - 1:
        before, held = held, held + counts[j]
        k = bins - len(found)
        if held * k < left:
            j += 1
            continue
        here = j
        # One break earlier, if the bin is not empty then and closer to left / k.
        if j > start and left - before * k < held * k - left:
            here, held = j - 1, before
        found.append(here)
        left -= held
        held, start = 0, here + 1
        if here < j:  # what was left of this code opens the next bin, whose first break is looked at later
            held = counts[j]
            k = bins - len(found)
            if len(found) < bins - 1 and held * k >= left:
                found.append(j)
                left -= held
                held, start = 0, j + 1
        j += 1
    last = len(counts) - 2
    if len(found) < bins - 1 and last >= start:
        found.append(last)
    return found


def threshold(low: tuple[Any, ...], high: tuple[Any, ...], given: bool, lower: int, above: int) -> Any:
    """Return t(lower, above) from the least and the greatest values of all codes."""
    if given:
        return low[lower + 1]
    if len(low) > LARGEST:
        return max(between(high[lower], low[h]) for h in range(lower + 1, above + 1))
    return between(high[lower], low[above])


def upper_of(low: tuple[Any, ...], high: tuple[Any, ...], given: bool, lower: int, above: int) -> int:
    """Return the upper of t(lower, above).

    >>> values = (0, 10.88, 10.8800002, 99)
    >>> [upper_of(values, values, False, 0, above) for above in (1, 2, 3)]
    [2, 1, 3]
    """
    if given:
        return lower + 1
    if len(low) > LARGEST:
        return above
    cut = between(high[lower], low[above])
    less = {other for value in low[lower + 1 :] if (other := between(high[lower], value)) < cut}
    return lower + 1 + len(less)


def between(lo: Any, hi: Any) -> Any:
    """Return the mid-point in few digits.

    >>> between(54, 55), between(0.123456789, 0.987654321)
    (54.5, 0.56)
    """
    if isinstance(lo, int) and isinstance(hi, int) and max(-lo, hi) >= EXACT // 2:
        return lo + (hi - lo) // 2
    first, second = Decimal(repr(float(lo))), Decimal(repr(float(hi)))
    middle = ((first + second) / 2).normalize()

    def fits(cut: Decimal) -> bool:
        return float(lo) <= float(cut) < float(hi)

    if len(middle.as_tuple().digits) <= READABLE and fits(middle):
        return float(middle)
    for digits in range(17):
        short = Decimal(f"{middle:.{digits}e}")
        if 20 * abs(short - middle) <= second - first and fits(short):
            return float(short)
    return float(lo)
