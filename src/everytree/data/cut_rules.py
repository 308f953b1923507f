"""The rules by which columns are read and cut, the same for arrays, batches, engines and categories.

``Binarizer``, ``Categorizer``, ``Tally`` and ``count_frame`` check their parameters here, and find here the bins of
each column and the columns of numbers that are codes.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from everytree.common.arguments import argument, refused
from everytree.common.limits import Limits, in_bytes
from everytree.data.cuts import Bins
from everytree.data.frames import Frame
from everytree.errors import Argument, DataError, Wording

__all__ = [
    "BY_CLASSES",
    "DEFAULT_BINS",
    "SMALL",
    "CutRules",
    "check_size",
    "chosen_columns",
    "refuse_holes",
    "refuse_missing",
]

DEFAULT_BINS = 4
BY_CLASSES = ("mdl", "boosted")  # bins whose cuts the classes of the rows choose
MAX_CELLS = 2**32  # the largest matrix of tests that is built: four gigabytes
BYTES_PER_CELL = 3  # the matrix of outcomes, the distinct rows, and what comes and goes
SMALL = 2**24  # bytes that no limit refuses: Python itself takes several times as many
FEWER = "use fewer bins (bins='all' makes one test per distinct value)"
SOME = 5  # how many columns a message lists


@dataclass(frozen=True, slots=True)
class CutRules:
    """The parameters of a ``Binarizer``, which says what each of them means; ``default`` are the bins of other columns.

    >>> CutRules(bins=1).check()
    Traceback (most recent call last):
        ...
    everytree.errors.DataError: bins=1; expected a number of bins of at least 2, 'all', 'mdl', 'boosted', or a dict \
from column to one of these or to a list of finite cut points
    """

    bins: int | str | Mapping[Any, Bins] = DEFAULT_BINS
    missing: str = "category"
    unknown: str = "ignore"
    nominal: Sequence[str | int] | None = None
    max_categories: int = 256
    default: int = DEFAULT_BINS
    cuts: str = "global"
    words: tuple[str, ...] = ("all", *BY_CLASSES)

    def check(self) -> None:
        """Refuse parameters that mean nothing; the bins of single columns are checked when these are known."""
        for what, value, allowed in (
            ("missing", self.missing, ("error", "category", "impute")),
            ("unknown", self.unknown, ("ignore", "error")),
            ("cuts", self.cuts, ("global", "local")),
        ):
            if value not in allowed:
                raise refused(
                    DataError,
                    what,
                    value,
                    says=f" is not known; expected one of {', '.join(map(repr, allowed))}",
                )
        if not isinstance(self.max_categories, numbers.Integral) or self.max_categories < 1:
            raise refused(DataError, "max_categories", self.max_categories, "a whole number of at least 1")
        if not isinstance(self.bins, Mapping):
            _check_bins(self.bins, "bins", self.words)
        if self.cuts == "local" and (by := self.by_classes):
            raise refused(
                DataError,
                "bins",
                by,
                says=' chooses cuts once, from all rows, and cuts="local" at every node; use a number of bins or '
                '"all", or cuts="global"',
            )

    @property
    def by_classes(self) -> str | None:
        """The word for cuts that the classes of the rows choose, of some columns or all; None if there are none.

        >>> CutRules("mdl").by_classes, CutRules({"age": "boosted"}).by_classes, CutRules("all").by_classes
        ('mdl', 'boosted', None)
        """
        given = self.bins.values() if isinstance(self.bins, Mapping) else [self.bins]
        return next((bins for bins in given if isinstance(bins, str) and bins in BY_CLASSES), None)

    def refuse_classes(self, counted: str) -> None:
        """Refuse cuts that the classes choose where rows are not in memory together; ``counted`` says how they are."""
        if by := self.by_classes:
            raise refused(
                DataError,
                "bins",
                by,
                says=f" chooses cuts by the classes and needs all rows in memory, and this counts {counted}; give a "
                'number of bins, "all" or lists of cut points, for example those of a Binarizer fitted to a sample',
            )

    def coded_columns(self, frame: Frame) -> set[int]:
        """The numeric columns whose numbers are codes."""
        return chosen_columns(self.nominal, frame, "nominal")

    def bins_of(self, frame: Frame) -> list[Bins]:
        """How each column is cut, if it is numeric."""
        if not isinstance(self.bins, Mapping):
            return [self.bins] * len(frame.columns)
        for key, value in self.bins.items():
            _check_bins(value, f"bins[{key!r}]", self.words)
        given = {_index(key, frame, "bins"): value for key, value in self.bins.items()}
        return [given.get(j, self.default) for j in range(len(frame.columns))]

    def check_missing(self, frame: Frame) -> None:
        """Refuse missing values where they are not allowed."""
        if self.missing == "error":
            refuse_missing(frame)


def refuse_missing(frame: Frame) -> None:
    """Raise if a value is missing, and say where."""
    refuse_holes(
        [(column.name, column.n_missing) for column in frame.columns if column.mask is not None],
        frame.n_rows,
    )


def refuse_holes(holes: Sequence[tuple[str, int]], n_rows: int) -> None:
    """Raise if there are columns with missing values: their names, and how many."""
    if holes:
        shown = ", ".join(f"{name!r} ({count} of {n_rows} rows)" for name, count in holes[:SOME])
        more = f" and {len(holes) - SOME} more columns" if len(holes) > SOME else ""
        message = Wording(
            f"Input X contains NaN or other missing values in column {shown}{more}. Choose ",
            argument("missing", "category"),
            " to treat missing as a value of its own, ",
            argument("missing", "impute"),
            " to fill in the training mean or mode, or remove these rows or columns",
        )
        raise DataError(message, code="missing-values", parameter="missing", value="error")


def _check_bins(bins: Any, what: str, words: tuple[str, ...]) -> None:
    if isinstance(bins, str):
        good = bins in words
    elif isinstance(bins, numbers.Integral):
        good = not isinstance(bins, bool) and int(bins) >= 2
    elif isinstance(bins, Sequence | np.ndarray):
        good = all(isinstance(cut, numbers.Real) and math.isfinite(cut) for cut in bins)
    else:
        good = False
    if not good:
        raise refused(
            DataError,
            what,
            bins,
            f"a number of bins of at least 2, {', '.join(map(repr, words))}, or a dict from column to one "
            "of these or to a list of finite cut points",
        )


def _index(key: str | int, frame: Frame, what: str) -> int:
    """The position of a column given by name or index."""
    names = [column.name for column in frame.columns]
    if isinstance(key, str) and key in names:
        return names.index(key)
    if isinstance(key, numbers.Integral) and 0 <= key < len(names):
        return int(key)
    shown = ", ".join(map(repr, names[:SOME])) + (", …" if len(names) > SOME else "")
    message = Wording(
        Argument(what), f" names column {key!r}, which is not in X; its {len(names)} columns are {shown}"
    )
    raise DataError(message, code="unknown-column", parameter=what, value=key, expected="a column of X")


def chosen_columns(keys: Sequence[str | int] | None, frame: Frame, what: str) -> set[int]:
    """The positions of columns given by names or positions."""
    if keys is None:
        return set()
    if isinstance(keys, str) or not isinstance(keys, Iterable):
        raise refused(DataError, what, keys, f"a list of columns, for example [{keys!r}]")
    return {_index(key, frame, what) for key in keys}


def check_size(n_rows: int, n_tests: int, memory_limit: int | None = None) -> None:
    """Refuse a matrix of tests that is too large, before it is made.

    ``memory_limit`` are the most bytes that the question may take; None for three quarters of the machine's memory.
    """
    cells, most = n_rows * n_tests, Limits(memory_limit=memory_limit).most_bytes
    if cells > MAX_CELLS:
        raise DataError(
            f"{n_tests} tests on {n_rows} rows make {cells} cells, more than {MAX_CELLS}; {FEWER}, or fewer rows at a "
            "time"
        )
    if BYTES_PER_CELL * cells > max(most, SMALL):
        whose = "three quarters of the memory" if memory_limit is None else "the memory_limit"
        raise DataError(
            f"{n_tests} tests on {n_rows} rows take {in_bytes(BYTES_PER_CELL * cells)} as zeros and ones; expected at "
            f"most {in_bytes(most)}, {whose}. {FEWER.capitalize()}, cuts='local' where the best tree is asked for, "
            "which needs no such matrix, or fewer columns or rows"
        )
