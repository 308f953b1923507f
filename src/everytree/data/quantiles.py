"""Exact equal-frequency cuts of a column that stays where it is.

A column of 10^9 values is never sorted or brought here. It is asked for the number of examples in ranges of values, in
order, and the ranges that decide a cut are asked for again, more finely:

    ranges of [min, max]  →  the breaks depend on a few places  →  finer ranges there  →  …  →  one value at each place

The cuts are those that all values in order would have given, to the last digit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.data.cuts import breaks_and_places, cut_between

__all__ = ["Ranges", "exact_bins", "exact_cuts"]

FEW = 1 << 16  # examples in a range whose values are fetched one by one
ROUNDS = 4  # after so many the values are fetched one by one, however many: they lie too unevenly for ranges


class Ranges(NamedTuple):
    """Ranges of values in order: the least and the greatest value of each, and how many examples have one of them."""

    low: npt.NDArray[Any]
    high: npt.NDArray[Any]
    counts: npt.NDArray[np.int64]

    def put(self, place: int, finer: Ranges) -> Ranges:
        """The same with finer ranges in one place."""
        return Ranges(
            *(
                np.concatenate([mine[:place], theirs, mine[place + 1 :]])
                for mine, theirs in zip(self, finer, strict=True)
            )
        )


# (least value, greatest value, whether value by value) → the ranges between them
Ask = Callable[[Any, Any, bool], Ranges]


def exact_cuts(ask: Ask, low: Any, high: Any, n_examples: int, bins: int) -> list[float | int]:
    """The cuts of ``choose_cuts`` for the values from ``low`` to ``high``, which differ."""
    lows, highs = exact_bins(ask, low, high, n_examples, bins)
    return [cut_between(a, b) for a, b in zip(highs[:-1], lows[1:], strict=True)]


def exact_bins(
    ask: Ask, low: Any, high: Any, n_examples: int, bins: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The least and the greatest value of each equal-frequency bin of the values from ``low`` to ``high``."""
    found = ask(low, high, n_examples <= FEW)
    turn = 0
    while True:
        breaks, places = breaks_and_places(found.counts, bins)
        coarse = sorted({place for place in places if found.low[place] < found.high[place]}, reverse=True)
        if not coarse:
            ends = np.array(breaks, dtype=np.intp)
            return found.low[np.append(0, ends + 1)], found.high[np.append(ends, found.high.size - 1)]
        turn += 1
        for place in coarse:  # from the right, so that the places on the left stay where they are
            plain = turn >= ROUNDS or int(found.counts[place]) <= FEW
            found = found.put(place, ask(found.low[place].item(), found.high[place].item(), plain))
