"""Fine codes: the places of a numeric column's values, between which any state of a space may cut.

    at most 255 different values, or bins="all"    a code for each value
    more                                           255 equal-frequency bins
    cut points that are given                      a code for each range between them that holds a value

A state that holds the codes lo and hi, and none between them, cuts midway between the greatest training value of lo and
the least of hi, so these two are kept of every code. Cut points that are given stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.reading import look
from everytree.data.cuts import Bins, equal_frequency_breaks, given_cuts, places_among
from everytree.data.shortened import cuts_between, too_large
from everytree.errors import DataError

__all__ = [
    "FINE",
    "FineCodes",
    "codes_between",
    "codes_of_cuts",
    "codes_of_values",
    "fine_breaks",
    "neighbours_of",
]

FINE = 255  # codes of a column, unless every value is asked for
CUTS = 2**15  # cuts that are found at once: 3 MB, and some milliseconds
MOST_CODES = 2**16 - 2  # the core holds codes in sixteen bits, and two of them mean "always" and "never"


@dataclass(frozen=True, slots=True)
class FineCodes:
    """The codes of one numeric column: the least and the greatest training value of each, and how states cut them.

    ``bins`` is how many equal-frequency bins a state makes; 0 lets it cut everywhere. ``cuts`` are cut points that were
    given, or None; they then stand in ``low`` and ``high``, and only the first and the last entry are training values.

    >>> FineCodes(np.array([1, 4]), np.array([2, 9]), 4).neighbours()
    [3.0]
    """

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    bins: int
    cuts: tuple[float | int, ...] | None = None

    @property
    def n_codes(self) -> int:
        """The number of codes."""
        return int(self.low.size)

    def neighbours(self) -> list[float | int]:
        """The cut between each code and the next one."""
        return neighbours_of([self])[0]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FineCodes):
            return NotImplemented
        return (
            (self.bins, self.cuts) == (other.bins, other.cuts)
            and self.low.dtype == other.low.dtype
            and np.array_equal(self.low, other.low)
            and np.array_equal(self.high, other.high)
        )

    __hash__ = None  # type: ignore[assignment]


def neighbours_of(columns: Sequence[FineCodes]) -> list[list[float | int]]:
    """The cuts between neighbouring codes of each column; many columns take little longer than one."""
    found = [list(fine.cuts) if fine.cuts is not None else list[float | int]() for fine in columns]
    together = [
        j for j, fine in enumerate(columns) if fine.cuts is None and not too_large(fine.low, fine.high)
    ]
    for some in _in_parts(together, columns):
        left = np.concatenate([columns[j].high[:-1].astype(np.float64) for j in some])
        right = np.concatenate([columns[j].low[1:].astype(np.float64) for j in some])
        cuts, start = cuts_between(left, right), 0
        for j in some:
            found[j] = cuts[start : start + columns[j].n_codes - 1]
            start += columns[j].n_codes - 1
    at_once = set(together)
    for j, fine in enumerate(columns):
        if fine.cuts is None and j not in at_once:
            found[j] = cuts_between(fine.high[:-1], fine.low[1:])
    return found


def _in_parts(some: list[int], columns: Sequence[FineCodes]) -> Iterator[list[int]]:
    """Yield some columns in parts of not many more than ``CUTS`` cuts, and look at the clock before each."""
    part, size = list[int](), 0
    for j in some:
        part.append(j)
        size += columns[j].n_codes
        if size >= CUTS or j == some[-1]:
            look()
            yield part
            part, size = [], 0


def fine_breaks(counts: npt.NDArray[np.int64], bins: Bins) -> Sequence[int] | npt.NDArray[np.intp]:
    """After which of the distinct values a code ends, the last one aside."""
    if isinstance(bins, str) or counts.size <= FINE:
        return np.arange(counts.size - 1)
    return _breaks(np.ascontiguousarray(counts, dtype=np.int64).tobytes())


@lru_cache(maxsize=4)
def _breaks(counts: bytes) -> list[int]:
    """The breaks of fine bins; columns without ties all have the same counts, so that one of them is cut for all."""
    return equal_frequency_breaks(np.frombuffer(counts, dtype=np.int64), FINE)


def codes_of_values(
    name: str, values: npt.NDArray[Any], counts: npt.NDArray[np.int64], bins: Bins
) -> FineCodes:
    """The codes of a column with these distinct values, in order, and their counts.

    >>> codes_of_values("age", np.array([20, 30, 40]), np.array([1, 1, 1]), [25, 26, 99]).cuts
    (25.0,)
    """
    if not isinstance(bins, str | int | np.integer):
        given = given_cuts(bins)
        return codes_of_cuts(values[0].item(), values[-1].item(), given, places_among(values, given))
    breaks = np.asarray(fine_breaks(counts, bins), dtype=np.intp)
    return codes_between(
        name, values[np.append(0, breaks + 1)], values[np.append(breaks, values.size - 1)], bins
    )


def codes_between(name: str, low: npt.NDArray[Any], high: npt.NDArray[Any], bins: str | int) -> FineCodes:
    """The codes with these least and greatest values."""
    if low.size > MOST_CODES:
        raise DataError(
            f"column {name!r} has {low.size} different numbers, and cuts='local' with bins='all' takes at most "
            f"{MOST_CODES}; give a number of bins for it"
        )
    return FineCodes(low, high, 0 if isinstance(bins, str) else int(bins))


def codes_of_cuts(least: Any, most: Any, cuts: list[float | int], places: npt.NDArray[Any]) -> FineCodes:
    """The codes of cut points that are given: of several that part no two values the first stays.

    ``places`` are the codes among all of the cuts that some value has, from that of ``least`` to that of ``most``.
    """
    held = np.unique(places).tolist()
    kept = [float(cuts[place]) for place in held[:-1]]
    return FineCodes(np.array([least, *kept], float), np.array([*kept, most], float), 0, tuple(kept))
