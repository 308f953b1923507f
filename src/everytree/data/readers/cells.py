"""From the cells of a text file to typed columns.

A column of cells is a nominal column: its distinct cells, and one code per row,

    cell[row] = labels[data[row]]

so its kind is decided, and every number parsed, once per distinct cell.
"""

from __future__ import annotations

import math
import re
import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everytree.common.limits import Limits
from everytree.common.text import show, show_many
from everytree.data.column import KINDS, Codes, Column, coded
from everytree.data.readers.room import CELL, LABEL, Room
from everytree.errors import DataError, Step, Wording

__all__ = [
    "MAX_CELLS",
    "CellTable",
    "Numbers",
    "Place",
    "TypeSpec",
    "build_column",
    "first_place",
    "parse_number",
    "parse_numbers",
    "stripped",
]

# What a caller may say about a column: its kind, or the ordered domain of a nominal one.
TypeSpec: TypeAlias = str | Sequence[str]
Place: TypeAlias = Callable[[int], str]  # row number → "file:line", for messages

# Four gigabytes of float64: more than this in one piece is a mistake, or a job for a database.
MAX_CELLS = 500_000_000

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z")
_NUMBER_CHARACTERS = re.compile(r"[0-9eE.+-]*\Z")
_INTEGER = re.compile(r"[+-]?[0-9]{1,19}\Z")
_INFINITY = re.compile(r"([+-]?)inf(?:inity)?\Z", re.IGNORECASE)
_TRUE = frozenset({"true", "t", "yes", "y", "1"})
_FALSE = frozenset({"false", "f", "no", "n", "0"})
_EXACT = 2.0**53  # every integer below this size is a float64
_BLOCK_CELLS, _BLOCK_ROWS, _BLOCK_TEXT = 1 << 16, 64, 1 << 24
_SEPARATOR, _NO_CELL = (
    "\0",
    "\udfff",
)  # decoded text has neither: NUL is refused, half a surrogate pair cannot be


def parse_number(text: str, decimal: str = ".") -> float | None:
    """Read a decimal number or an infinity; None if the text is not one.

    Python's own ``float`` would also take ``1_000``, ``nan`` and other alphabets' digits, and would turn
    ``1e999`` into infinity without a word; none of these is a number here.

    >>> parse_number("-1.5e3"), parse_number("1,5", decimal=","), parse_number("1_000"), parse_number("1e999")
    (-1500.0, 1.5, None, None)
    """
    if decimal != ".":
        if "." in text:
            return None
        text = text.replace(decimal, ".")
    if _NUMBER.match(text):
        value = float(text)
        return value if math.isfinite(value) else None
    infinite = _INFINITY.match(text)
    if infinite:
        return -math.inf if infinite.group(1) == "-" else math.inf
    return None


def parse_numbers(texts: Sequence[str], decimal: str = ".") -> list[float | None]:
    """Read many texts by the rule of :func:`parse_number`.

    Where the texts have only the characters of decimal numbers, Python's ``float`` follows that rule too, and
    much faster than a pattern per text does.

    >>> parse_numbers(["1", "2.5", "x"])
    [1.0, 2.5, None]
    """
    if decimal == "." and _NUMBER_CHARACTERS.match("".join(texts)):
        try:
            values = list(map(float, texts))
        except ValueError:
            values = [math.inf]
        if all(map(math.isfinite, values)):
            return list(values)
    return [parse_number(text, decimal) for text in texts]


class Numbers(NamedTuple):
    """The distinct cells that are not missing: their codes, their texts, and the number of each, None for no number."""

    codes: list[int]
    texts: list[str]
    values: list[float | None]

    @classmethod
    def of(cls, cells: Column, missing: frozenset[str], decimal: str) -> Numbers:
        """Parse each distinct cell, once: what tells the kind of a column gives its values too."""
        known = [(code, cell) for code, cell in enumerate(cells.labels) if cell not in missing]
        texts = [cell for _, cell in known]
        return cls([code for code, _ in known], texts, parse_numbers(texts, decimal))


def stripped(cells: Column) -> Column:
    """The same cells without blanks around them; cells that differ only in them become one."""
    texts = tuple(cell.strip() for cell in cells.labels)
    if texts == cells.labels:
        return cells
    places, labels = coded(texts)
    return Column.of(cells.name, "nominal", _at(places, cells, -1), cells.mask, labels)


def first_place(cells: Column, cell: str, place: Place) -> str:
    """Where a cell first occurs."""
    return place(int(np.argmax(cells.data == cells.labels.index(cell))))


def _at(table: NDArray[Any], cells: Column, gone: Any) -> NDArray[Any]:
    """The entry of each row in a table by label; ``gone`` where there is no cell."""
    entries: NDArray[Any] = np.append(table, np.array([gone], dtype=table.dtype))[cells.data]
    return entries


class CellTable:
    """Collects rows of cells, then gives them as nominal columns.

    ``keep`` are the positions of the columns to collect; ``place`` turns a line number into "file:line".
    Rows are turned into columns block by block; a block of a column is one text with NUL between the cells
    (no cell has a NUL), which saves an object per cell. Columns are coded one after the other at the end: to
    code all of them while reading keeps every dictionary in use at once, and took twice the time (7.2 against
    3.4 s for 200,000 rows of 30 measurements).
    """

    def __init__(
        self,
        keep: Sequence[int],
        place: Callable[[int], str],
        max_cells: int = MAX_CELLS,
        room: Room | None = None,
    ) -> None:
        self._keep = list(keep)
        self._place = place
        self._max_cells = max_cells
        self._room = room
        self._text = 0  # bytes of the texts so far
        self._waiting = 0  # characters of rows that are not yet in columns
        self._blocks: list[list[str]] = [[] for _ in self._keep]
        self._rows: list[Sequence[str | None]] = []
        self._block_rows = max(_BLOCK_ROWS, _BLOCK_CELLS // max(1, len(self._keep)))
        self._lines = array("q")
        self._control = Limits().control()  # through which a file can be stopped while it is read

    @property
    def n_rows(self) -> int:
        """How many rows were added."""
        return len(self._lines)

    def add(self, line: int, cells: Sequence[str | None]) -> None:
        """Add one row, read from the given line."""
        self._rows.append(cells)
        self._lines.append(line)
        self._waiting += sum(map(len, filter(None, cells)))
        if len(self._rows) >= self._block_rows or self._waiting > _BLOCK_TEXT:
            self._flush()

    def _flush(self) -> None:
        self._control.check()
        n_cells = self.n_rows * len(self._keep)
        if n_cells > self._max_cells:
            raise DataError(
                Wording(
                    f"{self._place(self._lines[-1])}: {self.n_rows} rows × {len(self._keep)} columns are already "
                    f"{n_cells} cells; expected at most max_cells={self._max_cells}. ",
                    Step("fewer-columns", "Read fewer columns with columns=[...]"),
                    ", or raise max_cells if the memory is there",
                )
            )
        if not self._rows:
            return
        for position, blocks in zip(self._keep, self._blocks, strict=True):
            cells = [row[position] for row in self._rows]
            block = _SEPARATOR.join([_NO_CELL if cell is None else cell for cell in cells])
            self._text += sys.getsizeof(block)
            blocks.append(block)
        self._rows.clear()
        self._waiting = 0
        self._look(0)

    def _look(self, labels: int) -> None:
        """Refuse rows that with so many bytes of labels take more than the room for them."""
        if self._room is not None:
            n_cells = self.n_rows * len(self._keep)
            self._room.check(
                self._text + CELL * (n_cells + self.n_rows) + labels, self._place(self._lines[-1])
            )

    def columns(self, names: Sequence[str]) -> Iterator[Column]:
        """All rows so far, as one nominal column of cells per kept position, under the given names."""
        self._flush()
        for name, blocks in zip(names, self._blocks, strict=True):
            seen, parts = Codes({_NO_CELL: 0}), list[NDArray[np.int32]]()
            for block in blocks:  # as coded() does, with a look at what the distinct cells take
                parts.append(np.fromiter(map(seen.__getitem__, block.split(_SEPARATOR)), dtype=np.int32))
                self._look(LABEL * len(seen))
            codes = np.concatenate([*parts, np.zeros(0, dtype=np.int32)]) - np.int32(1)
            if len(codes) != self.n_rows:
                raise DataError(f"column {show(name)} has a NUL character in a cell; expected text")
            yield Column.of(name, "nominal", codes, codes < 0, list(seen)[1:])

    def place(self, row: int) -> str:
        """Where a row was read, for messages."""
        return self._place(self._lines[row])


def build_column(
    cells: Column,
    spec: TypeSpec,
    place: Place,
    *,
    missing: frozenset[str] = frozenset(),
    decimal: str = ".",
    numbers: Numbers | None = None,
) -> Column:
    """Give a column of cells the kind (or the nominal domain) that ``spec`` says.

    Cells in ``missing`` are missing, unless the domain declares them as values. ``numbers`` are those of the cells,
    where they were parsed before.

    >>> from everytree.data.column import nominal_column
    >>> cells = nominal_column("size", ["small", "?", "small"])
    >>> build_column(cells, ["small", "large"], str, missing=frozenset("?")).values
    array(['small', None, 'small'], dtype=object)
    """
    if not isinstance(spec, str):
        return _build_nominal(cells, place, missing, _checked_domain(cells.name, spec))
    if spec == "nominal":
        return _build_nominal(cells, place, missing, None)
    if spec == "numeric":
        found = Numbers.of(cells, missing, decimal) if numbers is None else numbers
        return _build_numeric(cells, place, found)
    if spec == "boolean":
        return _build_boolean(cells, place, missing)
    raise DataError(
        f"types: column {show(cells.name)} is given {show(spec)}; expected one of {', '.join(KINDS)}, "
        "or a list of the values it may take"
    )


def _checked_domain(name: str, domain: Sequence[str]) -> tuple[str, ...]:
    try:
        values = tuple(domain)
    except TypeError:
        values = ()
    if not values or not all(isinstance(value, str) for value in values) or len(set(values)) != len(values):
        raise DataError(
            f"types: column {show(name)} is given {show(domain)}; expected one of {', '.join(KINDS)}, "
            "or a list of different texts: the values it may take"
        )
    return values


def _build_nominal(
    cells: Column, place: Place, missing: frozenset[str], domain: tuple[str, ...] | None
) -> Column:
    allowed = None if domain is None else frozenset(domain)
    kept: list[str | None] = []
    for cell in cells.labels:
        if cell in missing and (allowed is None or cell not in allowed):
            kept.append(None)
            continue
        if allowed is not None and cell not in allowed:
            raise DataError(
                f"{first_place(cells, cell, place)}: {show(cell)} is not a declared value of {show(cells.name)}; "
                f"expected one of {show_many(domain or ())}, or a missing value"
            )
        kept.append(cell)
    places, labels = coded(kept)
    codes = _at(places, cells, -1)
    return Column.of(cells.name, "nominal", codes, codes < 0, labels, domain)


def _build_numeric(cells: Column, place: Place, numbers: Numbers) -> Column:
    if None in numbers.values:
        cell = numbers.texts[numbers.values.index(None)]
        raise DataError(
            f"{first_place(cells, cell, place)}: {show(cell)} in numeric column {show(cells.name)} is not a number "
            "that float64 can hold. Declare the column nominal, or the text as a missing value"
        )
    table = np.full(len(cells.labels), np.nan)
    table[numbers.codes] = numbers.values
    whole = None if cells.mask is not None else _large_integers(cells.labels, table)
    if whole is not None:
        return Column.of(cells.name, "numeric", whole[cells.data])
    values = _at(table, cells, np.nan)
    return Column.of(cells.name, "numeric", values, np.isnan(values))


def _large_integers(texts: Sequence[str], table: NDArray[np.float64]) -> NDArray[np.int64] | None:
    """The same numbers as int64, if rounding to float64 could merge two of them and int64 holds them all."""
    if not (np.abs(table) >= _EXACT).any():  # nan compares false: a missing cell is caught below
        return None
    if not all(_INTEGER.match(cell) for cell in texts):
        return None
    integers = [int(cell) for cell in texts]
    if min(integers) < -(2**63) or max(integers) >= 2**63:
        return None
    return np.array(integers, dtype=np.int64)


def _build_boolean(cells: Column, place: Place, missing: frozenset[str]) -> Column:
    table = np.zeros(len(cells.labels), dtype=np.uint8)
    gone = np.ones(len(cells.labels), dtype=np.bool_)
    for code, cell in enumerate(cells.labels):
        if cell in missing:
            continue
        if cell.lower() not in _TRUE | _FALSE:
            raise DataError(
                f"{first_place(cells, cell, place)}: {show(cell)} in boolean column {show(cells.name)}; "
                "expected true/false, yes/no, t/f, y/n or 1/0. Declare the column nominal if it has other "
                "values"
            )
        table[code], gone[code] = cell.lower() in _TRUE, False
    return Column.of(cells.name, "boolean", _at(table, cells, 0), _at(gone, cells, True))
