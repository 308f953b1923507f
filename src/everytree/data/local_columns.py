"""LocalColumns: which tests belong to which column, for spaces whose states choose their cuts from their own rows.

The tests of a table are then all that any state might ask, column by column:

    ordered    test begin + i holds iff code <= i         numbers, 0/1, nominal columns of two values
    nominal    test begin + v holds iff code == v         one for each value
    missing    after these, where values are missing      no other test of the column holds then

A state that holds the codes lo and hi of an ordered column, and none between them, asks ``x <= t(lo, hi)``, where

    t(lo, hi) = cut_between(greatest training value of lo, least of hi)

and calls it test begin + lo with an *upper*, the position of t(lo, hi) among the cuts above lo (``ordered_cuts``): it
is hi where t rises with hi. So all that the core need know of a new row is its *reach*, a number for each test:

    reach = 0  the test holds, whatever the upper        reach = 65535  it never holds
    else the least upper for which it holds              the outcome is  reach <= upper
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.common.reading import looked
from everytree.data.column import Column
from everytree.data.cuts import places_among
from everytree.data.encoding import Encoding, Test, matched
from everytree.data.fine_codes import FineCodes
from everytree.data.frames import Frame
from everytree.data.listed_tests import FineTests
from everytree.data.ordered_cuts import LARGEST, OrderedCuts, ordered_cuts, rises
from everytree.data.row_counts import distinct_by_words
from everytree.errors import QueryError

__all__ = ["ALWAYS", "NEVER", "NOMINAL", "ORDERED", "LocalColumn", "LocalColumns", "Reach", "comparable"]

ORDERED, NOMINAL = 0, 1
ALWAYS, NEVER = 0, 65535
KEPT = 512  # codes of a column whose cuts are kept, once they are known
BLOCK = 1024  # rows whose outcomes for a column stay in the cache while they are copied
CELLS = 1 << 19  # of cuts or reaches in memory at a time; four arrays of eight bytes for each

Codes = npt.NDArray[np.int32]


class Reach(np.ndarray[Any, np.dtype[np.uint16]]):
    """Rows of reaches, uint16 of shape (n_rows, n_tests): a type of its own, so that no raw numbers are taken for them.

    >>> Reach.of_rows(np.array([[1, 0]], dtype=np.uint8)).tolist()
    [[0, 65535]]
    """

    @classmethod
    def of_rows(cls, rows: npt.NDArray[np.uint8]) -> Reach:
        """The reach of 0/1 rows, whose tests hold, or do not, whatever the upper."""
        found = np.empty(rows.shape, dtype=np.uint16)
        for begin in range(0, len(rows), BLOCK):  # in blocks: what comes and goes is then small
            part = slice(begin, begin + BLOCK)
            # Of two bytes from the start: Python's numbers would make eight of each.
            found[part] = np.where(rows[part] > 0, np.uint16(ALWAYS), np.uint16(NEVER))
        return found.view(cls)


@dataclass(frozen=True, slots=True)
class LocalColumn:
    """The tests of one column: those of its codes, ``begin`` … ``end`` − 1, and that of missing values, or −1.

    ``n_codes`` counts the codes of values; a missing value has the next one, and a nominal value not seen in training
    the one after that. ``fine`` is None of 0/1 and nominal columns. ``bins`` is how many equal-frequency bins a state
    makes, 0 for a cut everywhere.
    """

    column: int
    kind: int
    begin: int
    end: int
    missing: int
    bins: int
    n_codes: int
    fine: FineCodes | None

    @property
    def stop(self) -> int:
        """The number of the first test after those of this column."""
        return self.end + (self.missing >= 0)

    def outcomes(self, codes: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
        """The outcomes of the tests of this column for some codes."""
        tests = np.arange(self.end - self.begin, dtype=np.int32)
        found = np.empty((codes.size, self.stop - self.begin), dtype=bool)
        cuts = found[:, : tests.size]
        (np.equal if self.kind == NOMINAL else np.less_equal)(codes[:, None], tests, out=cuts)
        if self.missing >= 0:
            found[:, -1] = codes == self.n_codes
        return found

    def holds(self, codes: npt.NDArray[np.int32], test: int) -> npt.NDArray[np.bool_]:
        """The outcomes of one test of this column for some codes."""
        if test == self.missing:
            return np.equal(codes, self.n_codes)
        compared = np.equal if self.kind == NOMINAL else np.less_equal
        found: npt.NDArray[np.bool_] = compared(codes, test - self.begin)
        return found

    def ranks(self) -> npt.NDArray[np.int64]:
        """The place of each code among the rows of its tests, in lexicographic order; equal rows have the same one."""
        rank = np.zeros(self.n_codes + 2, dtype=np.int64)
        gone = self.missing >= 0
        rank[self.n_codes] = gone
        codes = np.arange(self.n_codes)
        if self.kind == NOMINAL:
            rank[: self.n_codes] = self.n_codes - codes + gone
        else:  # the last code has zeros only
            rank[: self.n_codes] = np.where(
                codes < self.end - self.begin, self.end - self.begin - codes + gone, 0
            )
        return rank


@dataclass(frozen=True, slots=True, eq=False)
class LocalColumns:
    """The columns of a table whose states choose their own cuts; ``of`` makes it of encodings.

    Every cut lies where ``cut_between`` puts it, but in a column of more than 1,023 codes (with ``bins="all"``): there
    the cut between lo and hi is the greatest of those between lo and h, lo < h <= hi.

    >>> from everytree.data.binarizer import Binarizer
    >>> columns = Binarizer(cuts="local").fit([[20, "a"], [30, "b"], [90, "a"]]).columns_
    >>> columns.array.tolist(), columns.test(0, 2).name, columns.test(2, 1).name
    ([[0, 0, 2, -1, 4], [0, 2, 3, -1, 0]], 'x0 <= 55', 'x1 == b')
    """

    columns: tuple[LocalColumn, ...]
    encodings: tuple[Encoding, ...]
    n_tests: int
    _cuts: dict[int, OrderedCuts] = field(default_factory=dict, repr=False)
    _uppers: dict[int, npt.NDArray[np.uint16] | None] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, encodings: Sequence[Encoding], like: LocalColumns | None = None) -> LocalColumns:
        """The columns of the tests of these encodings, in their order; a column without tests plays no part.

        ``like`` are columns with the same codes in the same places: their cuts are the same, and found once.
        """
        columns, begin = [], 0
        for j, encoding in enumerate(encodings):
            if not encoding.tests:
                continue
            gone = _asks_missing(encoding)
            end = begin + len(encoding.tests) - gone
            n_values = 0 if encoding.codes is None else len(encoding.codes)
            ordered = encoding.codes is None or (n_values == 2 and end - begin == 1)
            fine = encoding.fine
            columns.append(
                LocalColumn(
                    j,
                    ORDERED if ordered else NOMINAL,
                    begin,
                    end,
                    end if gone else -1,
                    0 if fine is None else fine.bins,
                    end - begin + 1 if ordered else n_values,
                    fine,
                )
            )
            begin = end + gone
        if like is None:
            return cls(tuple(columns), tuple(encodings), begin)
        return cls(tuple(columns), tuple(encodings), begin, like._cuts, like._uppers)

    def only(self, kept: Sequence[int]) -> LocalColumns:
        """The columns of some of the tests, ascending, which must be all or none of each column."""
        left = set(kept)
        encodings = list(self.encodings)
        for column in self.columns:
            inside = len(left.intersection(range(column.begin, column.stop)))
            if not inside:
                encodings[column.column] = replace(encodings[column.column], tests=[])
            elif inside < column.stop - column.begin:
                name = encodings[column.column].tests[0].attribute
                raise QueryError(
                    f"some tests of the column {name!r} are left out, and others not; where every node chooses its own "
                    "cuts, name whole columns"
                )
        return LocalColumns.of(encodings)

    @property
    def array(self) -> npt.NDArray[np.int32]:
        """The columns for the core, one line each: kind, begin, end, missing, bins."""
        # More bins than a column has codes cut it everywhere, however many they are.
        lines = [(c.kind, c.begin, c.end, c.missing, min(c.bins, 2**31 - 1)) for c in self.columns]
        return np.array(lines, dtype=np.int32).reshape(len(lines), 5)

    @property
    def nbytes(self) -> int:
        """About the bytes of all cuts and uppers, once they are known, here and in the core."""
        return self.nbytes_of(range(len(self.encodings)))

    def nbytes_of(self, some: Sequence[int]) -> int:
        """The same for some of the columns."""
        kept = set(some)
        codes = [
            c.n_codes for c in self.columns if c.column in kept and c.fine is not None and c.fine.cuts is None
        ]
        return sum(14 * m * m if m <= KEPT else 4 * m * m * (m <= LARGEST) for m in codes)

    def uppers(self, check: Callable[[], object] | None = None) -> list[npt.NDArray[np.uint16] | None]:
        """The uppers of every two codes for the core, an n_codes × n_codes table or, where upper is hi, None.

        ``check`` is called before each column, which may take 10 ms: it looks at the clock.
        """
        found = []
        for column in looked(self.columns):
            if check is not None:
                check()
            found.append(self._uppers_of(column))
        return found

    # --- rows

    def codes(self, frame: Frame) -> Codes:
        """The codes of a frame's rows, a column for each of ``columns``; missing and unseen values have codes too."""
        out = np.empty((frame.n_rows, len(self.columns)), dtype=np.int32)
        for k, column in enumerate(looked(self.columns)):
            out[:, k] = self.codes_of(column, self.matched(frame, column))
        return out

    def matched(self, frame: Frame, column: LocalColumn) -> Column:
        """The column of a frame, as it was in training."""
        return matched(frame.columns[column.column], self.encodings[column.column])

    def codes_of(self, column: LocalColumn, given: Column) -> npt.NDArray[Any]:
        """The codes of one column."""
        encoding = self.encodings[column.column]
        if given.is_empty:
            codes = np.zeros(len(given), dtype=np.int32)
        elif encoding.codes is not None:
            places = given.codes_in(encoding.codes, -1)
            if column.kind == NOMINAL:
                codes = np.where(places < 0, column.n_codes + 1, places).astype(np.int32)
            else:
                codes = (places != encoding.codes[encoding.tests[0].value]).astype(np.int32)
        elif column.fine is None:
            codes = (given.data <= 0.5).astype(np.int32)
        else:
            codes = places_among(given.data, _cuts(encoding, column.end - column.begin))
        if given.mask is not None or given.is_empty:
            codes[given.missing] = self.missing_code(column)
        return codes

    def values_of(self, column: LocalColumn, codes: npt.NDArray[np.int32], name: str) -> Column:
        """A column with these codes: of the numbers that share one, the least of training."""
        encoding, gone = self.encodings[column.column], codes >= column.n_codes
        inside = np.where(gone, 0, codes)
        if encoding.codes is not None:
            labels = sorted(encoding.codes, key=encoding.codes.__getitem__)
            if column.kind == ORDERED:  # two values: the one that is asked for has the code 0
                first = encoding.tests[0].value
                labels.sort(key=lambda value: value != first)
            return Column.of(name, "nominal", np.where(gone, -1, inside), gone, tuple(labels))
        if column.fine is None:
            return Column.of(name, "boolean", (inside == 0).astype(np.uint8), gone)
        return Column.of(name, "numeric", column.fine.low[inside], gone if gone.any() else None)

    def numbers_of(
        self, column: LocalColumn, given: Column
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_] | None]:
        """The numbers of a column, with what stands for missing ones, and where there are none; None for nowhere."""
        fill, gone = self.encodings[column.column].fill, given.missing if given.is_empty else given.mask
        if gone is None:
            return given.data, None
        if fill is None:
            return np.zeros(0) if given.is_empty else given.data[~gone], gone
        if given.is_empty:
            return np.full(len(given), fill), None
        values = given.data.astype(np.float64) if isinstance(fill, float) else given.data.copy()
        values[gone] = fill
        return values, None

    def missing_code(self, column: LocalColumn) -> int:
        """The code of a missing value: that of what stands for it, or one of its own."""
        encoding = self.encodings[column.column]
        if encoding.fill is None:
            return column.n_codes
        if encoding.codes is not None and column.kind == NOMINAL:
            return encoding.codes[encoding.fill]
        return sum(not test.holds(encoding.fill) for test in encoding.tests[: column.end - column.begin])

    def rows(self, codes: Codes, check: Callable[[], object] | None = None) -> npt.NDArray[np.uint8]:
        """The 0/1 rows of codes, over all tests; ``check`` is called between parts of them: it looks at the clock."""
        out = np.empty((codes.shape[0], self.n_tests), dtype=np.uint8)
        known: dict[tuple[int, ...], npt.NDArray[np.uint8]] = {}  # many columns have the same rows of tests
        for k, column in enumerate(self.columns):
            here, part = codes[:, k], out[:, column.begin : column.stop]
            if column.n_codes > KEPT:
                part[:] = column.outcomes(here)
            else:  # rows of a small table are copied, which is quicker than a comparison for each cell
                alike = (column.kind, column.n_codes, column.end - column.begin, column.stop - column.end)
                if alike not in known:
                    all_codes = np.arange(column.n_codes + 2, dtype=np.int32)
                    known[alike] = column.outcomes(all_codes).view(np.uint8)
                small = known[alike]
                for begin in looked(range(0, here.size, BLOCK)):
                    if check is not None:
                        check()
                    part[begin : begin + BLOCK] = small[here[begin : begin + BLOCK]]
        return out

    def codes_of_rows(self, rows: npt.NDArray[np.uint8]) -> Codes:
        """The codes of 0/1 rows; a row without any test that holds has the last code, or that of an unseen value."""
        out = np.empty((rows.shape[0], len(self.columns)), dtype=np.int32)
        for k, column in enumerate(self.columns):
            part = rows[:, column.begin : column.end]
            if column.kind == NOMINAL:
                out[:, k] = np.where(part.any(axis=1), part.argmax(axis=1), column.n_codes + 1)
            else:
                out[:, k] = part.shape[1] - part.sum(axis=1, dtype=np.int32)
            if column.missing >= 0:
                out[rows[:, column.missing] > 0, k] = column.n_codes
        return out

    def distinct(self, codes: Codes) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Find the rows that differ: the first of each, in the order of their 0/1 rows, and the place of each row.

        The places of codes are packed into 64-bit words: sorting a few words is much faster than sorting rows of tests.
        """
        n = codes.shape[0]
        words: list[npt.NDArray[np.uint64]] = []
        room = 0
        for k, column in enumerate(looked(self.columns)):
            bits = max(1, int(column.n_codes + 1).bit_length())
            if room < bits:
                words.append(np.zeros(n, dtype=np.uint64))
                room = 64
            room -= bits
            words[-1] |= column.ranks().astype(np.uint64)[codes[:, k]] << np.uint64(room)
        if n == 0 or not words:
            return np.zeros(min(n, 1), dtype=np.intp), np.zeros(n, dtype=np.intp)
        return distinct_by_words(words)

    # --- cuts

    def column_of(self, test: int) -> LocalColumn:
        """The column that a test belongs to."""
        return next(column for column in self.columns if test < column.stop)

    def upper(self, column: LocalColumn, lower: int, following: int) -> int:
        """The upper of the cut of a state that holds these two codes of an ordered column, and none between them."""
        if column.fine is not None and column.fine.cuts is not None:
            return lower + 1  # whatever follows, the cut is the one that was given
        uppers = self._uppers_of(column)
        return following if uppers is None else int(uppers[lower, following])

    def last_upper(self, test: int) -> int:
        """The greatest upper of a cut; the least is that of its code, plus one."""
        column = self.column_of(test)
        lower = test - column.begin
        if column.fine is not None and column.fine.cuts is not None:
            return lower + 1
        uppers = self._uppers_of(column)
        return column.n_codes - 1 if uppers is None else int(uppers[lower].max())

    def threshold(self, test: int, upper: int) -> float | int:
        """The number t of ``x <= t``, the cut of a test with this upper."""
        column = self.column_of(test)
        fine, lower = column.fine, test - column.begin
        assert fine is not None
        assert lower < upper < column.n_codes
        if fine.cuts is not None:
            return fine.cuts[lower]
        found: float | int = self._ordered(column, fine, lower, lower + 1).cuts.item(0, upper)
        return found

    def test(self, test: int, upper: int) -> Test:
        """What a test with this upper asks; the upper plays no part where it is no cut."""
        column = self.column_of(test)
        encoding = self.encodings[column.column]
        plain = encoding.tests[test - column.begin]
        if column.fine is None or test == column.missing:
            return plain
        return Test(plain.attribute, "<=", self.threshold(test, upper), plain.column)

    def _ordered(self, column: LocalColumn, fine: FineCodes, begin: int, end: int) -> OrderedCuts:
        """The ordered cuts above the codes from ``begin`` to ``end`` − 1; those of a small column are kept."""
        if column.n_codes > KEPT:
            return ordered_cuts(fine, begin, end)
        kept = self._cuts.get(column.column)
        if kept is None:
            kept = self._cuts[column.column] = ordered_cuts(fine, 0, column.n_codes - 1)
        return OrderedCuts(kept.cuts[begin:end], None if kept.uppers is None else kept.uppers[begin:end])

    def _uppers_of(self, column: LocalColumn) -> npt.NDArray[np.uint16] | None:
        """The uppers of every two codes of a column, by the lower and the higher one; None where upper is hi."""
        fine = column.fine
        if fine is None or fine.cuts is not None or column.n_codes > LARGEST:
            return None
        if column.column not in self._uppers:
            self._uppers[column.column] = None if rises(fine) else self._found_uppers(column, fine)
        return self._uppers[column.column]

    def _found_uppers(self, column: LocalColumn, fine: FineCodes) -> npt.NDArray[np.uint16] | None:
        m = column.n_codes
        codes = np.arange(m, dtype=np.uint16)
        table = np.where(codes > codes[:, None], codes, 0).astype(np.uint16)
        known = False
        step = m if m <= KEPT else max(1, CELLS // m)
        for begin in range(0, m - 1, step):
            end = min(m - 1, begin + step)
            uppers = self._ordered(column, fine, begin, end).uppers
            if uppers is not None:
                known, table[begin:end] = True, uppers
        return table if known else None

    def reach(self, frame: Frame) -> Reach:
        """How far each row reaches: for each test the least upper for which it holds, as said above."""
        out = np.empty((frame.n_rows, self.n_tests), dtype=np.uint16).view(Reach)
        for column in self.columns:
            given = self.matched(frame, column)
            if column.fine is not None and column.fine.cuts is None:
                self._numbers_reach(column, column.fine, given, out)
                continue
            codes = self.codes_of(column, given)[:, None]
            tests = np.arange(column.end - column.begin)
            holds = codes == tests if column.kind == NOMINAL else codes <= tests
            out[:, column.begin : column.end] = np.where(holds, ALWAYS, NEVER)
            if column.missing >= 0:
                out[:, column.missing] = np.where(codes[:, 0] == column.n_codes, ALWAYS, NEVER)
        return out

    def _numbers_reach(self, column: LocalColumn, fine: FineCodes, given: Column, out: Reach) -> None:
        """The reach of a column of numbers: each number is placed among the cuts above each lower code."""
        values, gone = self.numbers_of(column, given)
        points, place = np.unique(values, return_inverse=True)
        n, m = points.size, column.n_codes
        kept = slice(None) if gone is None else ~gone
        step = max(1, CELLS // max(n + 1, m))
        for begin in range(0, m - 1, step):
            end = min(m - 1, begin + step)
            cuts = self._ordered(column, fine, begin, end).cuts
            below = np.searchsorted(
                *comparable(points, cuts), side="right"
            )  # numbers that do not exceed each
            lower = np.arange(begin, end)[:, None]
            below[np.arange(m) <= lower] = n
            width = n + 1
            line = (np.arange(end - begin) * width)[:, None]
            passed = np.bincount((below + line).ravel(), minlength=(end - begin) * width).reshape(-1, width)
            passed = np.cumsum(passed[:, :n], axis=1)  # for each number, the uppers for which it lies above
            reach = np.where(passed == 0, ALWAYS, lower + 1 + passed)
            reach[reach >= m] = NEVER
            out[kept, column.begin + begin : column.begin + end] = reach.T.astype(np.uint16)[place]
        if gone is not None:
            out[gone, column.begin : column.end] = NEVER
        if column.missing >= 0:
            out[:, column.missing] = NEVER if gone is None else np.where(gone, ALWAYS, NEVER)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, LocalColumns):
            return NotImplemented
        return self.columns == other.columns

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return LocalColumns.of, (self.encodings,)


def _asks_missing(encoding: Encoding) -> bool:
    """Whether the last of the tests, of which there are some, asks for missing values."""
    if encoding.fine is not None:
        return len(encoding.tests) == encoding.fine.n_codes  # there is a cut less than there are codes
    last = encoding.tests[-1]
    return last.op == "is" and bool(last.value == "missing")


def _cuts(encoding: Encoding, n_cuts: int) -> list[float | int]:
    """The cuts that the tests of a numeric column ask for."""
    tests = encoding.tests
    return tests.cuts if isinstance(tests, FineTests) else [test.value for test in tests[:n_cuts]]


def comparable(points: npt.NDArray[Any], cuts: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Numbers and cuts in one type, in which ``point <= cut`` is what it is for the numbers themselves."""
    if cuts.dtype.kind == "O":
        return points.astype(object), cuts
    if points.dtype.kind == "f":
        return points, cuts
    whole = np.clip(np.floor(cuts), -(2.0**63), 2.0**63 - 1024).astype(np.int64)
    return np.minimum(points, np.iinfo(np.int64).max).astype(np.int64), whole
