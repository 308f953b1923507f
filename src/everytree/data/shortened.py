"""Many cuts at once: for arrays of neighbouring values, what ``cut_between`` gives for each pair, to the last bit.

Decimals are slow, and a column of 255 codes has 32,385 pairs of codes. Almost all of them are decided in floats:

    few digits     the mid-point has at most six digits, seen in whole numbers over a power of ten: it is the cut
    many digits    the shortest decimal within a twentieth of the gap, where no rounding of floats comes near a limit

Wherever rounding might decide (a tie, a mid-point of perhaps six digits, neighbours in floating point, very large or
very small numbers) the pair goes to ``cut_between`` itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.cuts import EXACT, READABLE, Bins, cut_between, equal_frequency_breaks, given_cuts

__all__ = ["choose_cuts", "cut_matrix", "cuts_between", "few_digits", "too_large"]

Floats = npt.NDArray[np.float64]
Marks = npt.NDArray[np.bool_]

PLACES = 9  # digits after the point that are looked for
WHOLE = 2.0**48  # whole numbers below this can be added and multiplied by five without rounding
NO_PLACES = 99
MANY = 32  # cuts that numpy finds sooner than one after the other
ROUNDS = 12  # significant digits that are tried in floating point
SMALL, LARGE = 1e-9, 1e9  # mid-points whose powers of ten are exact floats for all these digits


def choose_cuts(values: npt.NDArray[Any], counts: npt.NDArray[np.int64], bins: Bins) -> list[float | int]:
    """The cut points for sorted distinct values: a number of bins, "all", or the cut points themselves.

    >>> choose_cuts(np.array([1, 2, 3, 10]), np.array([1, 1, 1, 1]), "all")
    [1.5, 2.5, 6.5]
    """
    if not isinstance(bins, str | int | np.integer):
        return given_cuts(bins)
    if values.size == 1:
        constant: float | int = values[0].item()  # a constant test, so that this column is accounted for
        return [constant]
    breaks = range(values.size - 1) if isinstance(bins, str) else equal_frequency_breaks(counts, int(bins))
    if len(breaks) < MANY:
        return [cut_between(values[j], values[j + 1]) for j in breaks]
    after = np.asarray(breaks, dtype=np.intp)
    return cuts_between(values[after], values[after + 1])


def cuts_between(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> list[float | int]:
    """The cut of each pair ``left[i] < right[i]``: a float, or a whole number where floats are not exact.

    >>> cuts_between(np.array([54, 0.1, 0.123456789]), np.array([55, 0.2, 0.987654321]))
    [54.5, 0.15, 0.56]
    """
    if too_large(left, right):
        return [cut_between(a, b) for a, b in zip(left, right, strict=True)]
    first, second = left.astype(np.float64), right.astype(np.float64)
    found: list[float | int] = _cuts(first, second, np.maximum(_places(first), _places(second))).tolist()
    return found


def cut_matrix(high: npt.NDArray[Any], low: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The cut of every pair ``high[i] < low[j]``, in row i and column j; elsewhere the least number there is.

    They are floats, or Python's numbers where floats are not exact.

    >>> cut_matrix(np.array([1, 5]), np.array([3, 9]))[0].tolist()
    [2.0, 5.0]
    """
    above = high[:, None] < low[None, :]
    i, j = np.nonzero(above)
    if too_large(high, low):
        exact = np.full(above.shape, -np.inf, dtype=object)
        for row, column in zip(i.tolist(), j.tolist(), strict=True):
            exact[row, column] = cut_between(high[row], low[column])
        return exact
    first, second = high.astype(np.float64), low.astype(np.float64)
    cuts = np.full(above.shape, -np.inf)
    cuts[i, j] = _cuts(first[i], second[j], np.maximum(_places(first)[i], _places(second)[j]))
    return cuts


def too_large(*arrays: npt.NDArray[Any]) -> bool:
    """Whether whole numbers may have cuts that are no exact floats."""
    return any(
        values.size and max(-int(values.min()), int(values.max())) >= EXACT // 2
        for values in arrays
        if values.dtype.kind != "f"
    )


def few_digits(values: npt.NDArray[Any]) -> bool:
    """Whether all mid-points of these values have at most six digits.

    >>> few_digits(np.array([1.25, 300])), few_digits(np.array([1.25, 30000]))
    (True, False)
    """
    if too_large(values):
        return False
    numbers = values.astype(np.float64)
    places = int(_places(numbers).max(initial=0))
    # A mid-point has one place more, so that ten times the greatest value bounds it in units of its last place.
    return places < NO_PLACES and float(np.abs(numbers).max(initial=0)) * 10.0 ** (places + 1) < 10**READABLE


def _places(values: Floats) -> npt.NDArray[np.int64]:
    """How many digits each value has after the point, if it has few; else ``NO_PLACES``."""
    found = np.full(values.size, NO_PLACES)
    here = np.flatnonzero(np.abs(values) < WHOLE)
    for places in range(PLACES + 1):
        if not here.size:
            break
        power = 10.0**places
        whole = np.rint(values[here] * power)
        good = (np.abs(whole) < WHOLE) & (whole / power == values[here])
        found[here[good]] = places
        here = here[~good]
    return found


def _cuts(left: Floats, right: Floats, places: npt.NDArray[np.int64]) -> Floats:
    """The cut of each pair of floats; ``places`` are the digits after the point of the longer one."""
    cuts = np.empty(left.size)
    here = np.flatnonzero(places < NO_PLACES)
    power = 10.0 ** places[here]
    twice = np.rint(left[here] * power) + np.rint(right[here] * power)
    known = np.abs(twice) < WHOLE
    here, middle, power = here[known], (5 * twice[known]).astype(np.int64), 10 * power[known]
    readable = _few_digits(middle)
    cuts[here[readable]] = middle[readable] / power[readable]
    longer = np.zeros(left.size, dtype=bool)
    longer[here[~readable]] = True
    rest = np.ones(left.size, dtype=bool)
    rest[here[readable]] = False
    rest = np.flatnonzero(rest)
    if rest.size:
        with np.errstate(over="ignore"):
            found, sure = _shortest(left[rest], right[rest], longer[rest])
        cuts[rest[sure]] = found[sure]
        for i in rest[~sure].tolist():
            cuts[i] = cut_between(left[i].item(), right[i].item())
    return cuts


def _few_digits(values: npt.NDArray[np.int64]) -> Marks:
    """Whether whole numbers have at most six significant digits."""
    size = np.abs(values)
    few: Marks = size < 10**READABLE
    long = np.flatnonzero(~few)
    if long.size:
        beyond = (
            np.floor(np.log10(size[long])).astype(np.int64) + 1 - READABLE
        )  # one too many at a power of ten only
        few[long] = size[long] % 10**beyond == 0
    return few


def _shortest(left: Floats, right: Floats, longer: Marks) -> tuple[Floats, Marks]:
    """The shortest decimal within a twentieth of the gap around each mid-point, and where it is sure to be it.

    ``longer`` marks the pairs whose mid-point is known to have more than six digits.
    """
    middle, gap, size = left / 2 + right / 2, right - left, np.abs(left) + np.abs(right)
    reach = np.abs(middle)
    plain = (reach > SMALL) & (reach < LARGE) & (reach > 1e-4 * size) & (gap > 1e-10 * size)
    middle, reach = np.where(plain, middle, 1.0), np.where(plain, reach, 1.0)
    exponent = np.floor(np.log10(reach))
    lead = reach / 10.0**exponent
    plain &= (lead > 1 + 1e-9) & (lead < 10 - 1e-9)
    six = middle * 10.0 ** (READABLE - 1 - exponent)
    plain &= longer | (
        np.abs(six - np.rint(six)) > 1e-7
    )  # else it may have six digits, and be taken as it is
    found, sure = np.empty(left.size), np.zeros(left.size, dtype=bool)
    here = np.flatnonzero(plain)
    for digits in range(1, ROUNDS + 1):
        if not here.size:
            break
        places = digits - 1 - exponent[here]
        down, up = 10.0 ** np.maximum(places, 0), 10.0 ** np.maximum(-places, 0)
        scaled = middle[here] * down / up
        rounded = np.rint(scaled)
        clear = np.abs(np.abs(scaled - rounded) - 0.5) > 1e-7 + 1e-13 * np.abs(scaled)
        short = rounded / down * up
        off, slack = np.abs(short - middle[here]), gap[here] / 20
        loose = 1e-9 * slack + 1e-15 * size[here]
        settled = (off < slack - loose) & clear
        found[here[settled]] = short[settled]
        sure[here[settled]] = True
        here = here[(off > slack + loose) & clear]
    return found, sure
