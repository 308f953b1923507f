"""AskedPlaces: rows as the few numbers that a fixed list of trees asks for.

Where states choose their cuts, the trees of a list ask for some cuts of a column, t_0 < t_1 < … , and a row needs one
number for all of them, its *place* among them:

    place = the number of cuts below x               x <= t_i  iff  place <= i
    a test that is no cut: 0 where it holds, 65535 where not; a missing number has the place 65535

So a question is a cell of such a row and the greatest place with which it holds. For rows of a column of m codes that
takes a search among the cuts, where the reach of a row for every tree there is (``LocalColumns.reach``) takes m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from everytree.data.column import Column
from everytree.data.frames import Frame
from everytree.data.local_columns import ALWAYS, NEVER, NOMINAL, LocalColumn, LocalColumns, comparable

__all__ = ["AskedPlaces"]

Numbers = npt.NDArray[np.uint32]
MOST = NEVER - 1  # cuts of a cell; a column with more of them has several cells


@dataclass(frozen=True)
class _Cell:
    """What one number of a row is about: the cuts of a column, or one test that is no cut (``cuts`` is None)."""

    column: LocalColumn
    test: int
    cuts: npt.NDArray[Any] | None


@dataclass(frozen=True)
class AskedPlaces:
    """The cells of a row; ``of`` makes it of questions, with the cell and the upper of each."""

    columns: LocalColumns
    cells: tuple[_Cell, ...]

    @classmethod
    def of(
        cls, columns: LocalColumns, tests: Numbers, uppers: Numbers
    ) -> tuple[AskedPlaces, Numbers, Numbers]:
        """Return the cells that some questions (a test, the upper of its cut) need, and of each its cell and place."""
        packed = tests.astype(np.uint64) << np.uint64(32) | uppers
        asked, which = np.unique(packed, return_inverse=True)
        cells: list[_Cell] = []
        cell_of, place_of = np.zeros(asked.size, dtype=np.uint32), np.zeros(asked.size, dtype=np.uint32)
        own, last = (asked >> np.uint64(32)).astype(np.int64), (asked & np.uint64(2**32 - 1)).astype(np.int64)
        for column in columns.columns:
            here = np.flatnonzero((own >= column.begin) & (own < column.stop))
            cut = column.fine is not None
            numbers = here[own[here] < column.end] if cut else here[:0]
            for k in here[numbers.size :].tolist():
                if not cells or cells[-1].test != own[k]:
                    cells.append(_Cell(column, int(own[k]), None))
                cell_of[k] = len(cells) - 1
            if numbers.size:
                values = [
                    columns.threshold(int(own[k]), upper)
                    for k, upper in zip(numbers, last[numbers], strict=True)
                ]
                cuts = sorted(set(values))
                place = {cut: i for i, cut in enumerate(cuts)}
                places = np.array([place[value] for value in values])
                for first in range(0, len(cuts), MOST):
                    inside = (places >= first) & (places < first + MOST)
                    cell_of[numbers[inside]] = len(cells)
                    place_of[numbers[inside]] = places[inside] - first
                    cells.append(_Cell(column, column.begin, _array(cuts[first : first + MOST])))
        which = which.reshape(-1)
        return cls(columns, tuple(cells)), cell_of[which], place_of[which]

    def rows(self, frame: Frame) -> npt.NDArray[np.uint16]:
        """Return the rows of a frame, one number for each cell."""
        out = np.empty((frame.n_rows, len(self.cells)), dtype=np.uint16)
        known: tuple[LocalColumn, Any] | None = None
        for k, cell in enumerate(self.cells):
            if known is None or known[0] is not cell.column:
                given = self.columns.matched(frame, cell.column)
                known = cell.column, given
            given = known[1]
            if cell.cuts is not None:
                out[:, k] = self._places(cell.column, cell.cuts, given)
                continue
            codes, test = self.columns.codes_of(cell.column, given), cell.test - cell.column.begin
            if cell.test == cell.column.missing:
                holds = codes == cell.column.n_codes
            else:
                holds = codes == test if cell.column.kind == NOMINAL else codes <= test
            out[:, k] = np.where(holds, ALWAYS, NEVER)
        return out

    def _places(self, column: LocalColumn, cuts: npt.NDArray[Any], given: Column) -> npt.NDArray[Any]:
        values, gone = self.columns.numbers_of(column, given)
        points, among = comparable(values, cuts)
        places = np.full(len(given), NEVER)
        places[slice(None) if gone is None else ~gone] = np.searchsorted(among, points, side="left")
        return places


def _array(cuts: list[float | int]) -> npt.NDArray[Any]:
    """Return sorted cuts as floats, or as they are where some are integers that no float holds."""
    made = np.array(cuts, dtype=np.float64)
    exact = all(float(cut) == cut for cut in cuts)
    return made if exact else np.array(cuts, dtype=object)
