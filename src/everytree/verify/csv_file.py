"""The checker's own reader of CSV files: a header, then one row per line, with nothing but the standard library.

A field may be quoted; the delimiter is a comma, tab, semicolon or bar, found from the first lines (the one that
cuts all of them into the same number of fields, and into the most); a byte-order mark, any kind of line end,
blank lines, blanks around a cell, and gzip are fine.

Left out are a first line ``sep=;``, titles above the header (a text in the first field alone, of one field or of more
than two, above names that are no numbers and a row as wide) and a last row of totals (the only one that begins with
such a word, with an empty field). The second column called ``a`` is ``a.1``, the third without a name ``column 3``.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import zlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from everytree.verify.problem import InputError, quote

__all__ = ["CsvTable", "read_table"]

DELIMITERS = ",\t;|"
LOOK_AT = 100  # the delimiter is found from so many lines
TITLES = 10
PIECE = 2**20
LONGEST_LINE = 2**24  # where models learn, too
# A file may take a hundred times its own bytes, or 1 GiB where that is more, as where models learn: a packed one of
# 3 MB may hold 100 million rows. Its text is a part of that; rows and cells count as what Python takes for them.
LEAST_ROOM, TIMES, OF_TEXT, ROW, CELL = 2**30, 100, 4, 120, 60
TOTAL = re.compile(
    r"(?:(?:grand )?totals?|sum|summe|gesamt(?:summe)?|insgesamt|somme|totale|suma)[ :.]*", re.IGNORECASE
)
NUMBER = re.compile(r"[+-]?(?:inf(?:inity)?|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?)", re.IGNORECASE)
NOT_CSV = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"SQLite format 3": "an SQLite database",
}


@dataclass(frozen=True)
class CsvTable:
    """Cells as text: ``columns[name][i]`` is the cell of row i, which stands on line ``lines[i]`` of the file.

    ``exact`` are the cells with the blanks around them, where these were asked for; ``unlabelled`` are the different
    cells of rows that were left out for want of a label. ``held`` says how the numbers of a column were held,
    where that is otherwise than they are read (``held.py``).
    """

    file: str
    names: tuple[str, ...]
    columns: dict[str, list[str]]
    lines: list[int]
    exact: dict[str, list[str]] = field(default_factory=dict)
    unlabelled: dict[str, frozenset[str]] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        """Say where a row stands, for messages."""
        return f"{self.file}:{self.lines[row]}"

    def with_labels(self, name: str, missing: Collection[str]) -> CsvTable:
        """Return the rows that have a label, as learning takes them; all where none has one."""
        kept = [row for row, cell in enumerate(self.columns[name]) if cell not in missing]
        if not kept or len(kept) == self.n_rows:
            return self
        columns, exact = (
            {each: [cells[row] for row in kept] for each, cells in given.items()}
            for given in (self.columns, self.exact)
        )
        lines, rest = [self.lines[row] for row in kept], set(range(self.n_rows)) - set(kept)
        others = {
            each: frozenset(cells[row] for row in rest) | self.unlabelled.get(each, frozenset())
            for each, cells in self.columns.items()
        }
        return CsvTable(self.file, self.names, columns, lines, exact, others, self.held)

    def cells(self, name: str, values: Collection[Any]) -> list[str]:
        """Return the cells of a column: with the blanks around them, where one of its known values has some."""
        blanks = any(isinstance(value, str) and value != value.strip() for value in values)
        return self.exact.get(name, self.columns[name]) if blanks else self.columns[name]


def read_table(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
    blanks: bool = False,
) -> CsvTable:
    """Read a CSV file into columns of text, or say on which line it is broken; ``blanks`` asks for exact cells too."""
    name = os.fspath(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"\0 '):
        raise InputError(
            f"delimiter {quote(delimiter)}: expected one character, such as ';'",
            code="parameter", parameter="delimiter", value=delimiter, expected="one character",
        )  # fmt: skip
    text, room = _text(path, name, encoding)
    said = re.match(r'"?sep=([^"\r\n])"?[ \t]*(?=[\r\n])', text, re.IGNORECASE) if header else None
    if said is not None:
        text = text[said.end() :]  # its line end stays, so that lines keep their numbers
    found = said[1] if said is not None else _delimiter_of(text, name)
    chosen = delimiter or ("\t" if name.lower().endswith((".tsv", ".tab")) else found)
    records = list(_within(room, name, _records(text, chosen, name, blanks)))
    if not records:
        raise InputError(f"{name}: the file is empty; expected a header line and rows")
    above = _titles([cells for _, cells in records[: TITLES + 2]]) if header else 0
    width = len(records[above][1])
    names = _names(records[above][1]) if header else [f"x{j}" for j in range(width)]
    rows = records[above + 1 :] if header else records
    totals = [place for place, (_, cells) in enumerate(rows) if _adds_up(cells, width)]
    if totals == [len(rows) - 1]:
        rows = rows[:-1]
    for line, cells in rows:
        if len(cells) != width:
            raise InputError(
                f"{name}:{line}: {len(cells)} fields, expected {width}, with the delimiter {quote(chosen)}"
            )
    if not rows:
        raise InputError(f"{name}: a header line but no rows; expected at least one")
    columns = {each: [cells[j].strip() for _, cells in rows] for j, each in enumerate(names)}
    exact = {each: [cells[j] for _, cells in rows] for j, each in enumerate(names)} if blanks else {}
    return CsvTable(name, tuple(names), columns, [line for line, _ in rows], exact)


def _titles(records: Sequence[Sequence[str]]) -> int:
    """Return how many records stand above the header."""
    place = 0
    while place < len(records):
        filled = [k for k, cell in enumerate(records[place]) if cell.strip()]
        if filled != [0] or len(records[place]) == 2:
            break
        place += 1
    if place > TITLES or place + 1 >= len(records) or len(records[place]) != len(records[place + 1]):
        return 0
    named = [cell.strip() for cell in records[place] if cell.strip()]
    return place if len(named) > 1 and not any(map(NUMBER.fullmatch, named)) else 0


def _names(cells: Sequence[str]) -> list[str]:
    given = [cell.strip() for cell in cells]
    made: dict[str, None] = {}
    there, last = set(given), dict[str, int]()  # a file may have very many columns, all of one name
    for j, name in enumerate(given):
        base = new = name or f"column {j + 1}"
        while new in made or (new in there and new != name):
            last[base] = last.get(base, 0) + 1
            new = f"{base}.{last[base]}"
        made[new] = None
    return list(made)


def _adds_up(cells: Sequence[str], width: int) -> bool:
    filled = [cell.strip() for cell in cells if cell.strip()]
    return bool(filled) and TOTAL.fullmatch(filled[0]) is not None and len(filled) < max(width, len(cells))


def _unpacked(content: bytes, room: int, name: str) -> bytes:
    parts, size = [], 0
    with gzip.open(io.BytesIO(content)) as file:
        while part := file.read(PIECE):
            parts.append(part)
            size += len(part)
            if size > room // OF_TEXT:
                raise InputError(
                    f"{name}: unpacks to more than {room // OF_TEXT} bytes, very much for a packed file of "
                    f"{len(content)}; if that is right, unpack it first"
                )
    return b"".join(parts)


def _within(
    room: int, name: str, records: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Give records on until they take more than there is room for."""
    for line, cells in records:
        room -= ROW + CELL * len(cells)
        if room < 0:
            raise InputError(
                f"{name}:{line}: the rows up to here take very much memory for a file of its size; if it is packed, "
                "unpack it first"
            )
        yield line, cells


def _text(path: str | os.PathLike[str], name: str, encoding: str) -> tuple[str, int]:
    """Return the text of a file, and how many bytes its rows may take."""
    try:
        with open(path, "rb") as file:
            content = file.read()
        room = max(LEAST_ROOM, TIMES * len(content))
        if content[:2] == b"\x1f\x8b":
            content = _unpacked(content, room, name)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"{name}: the gzip stream is damaged ({error}); fetch it again") from error
    except OSError as error:
        raise InputError(f"{name}: cannot be read ({error.strerror or error})") from error
    for mark, what in NOT_CSV.items():
        if content.startswith(mark):
            raise InputError(f"{name}: this is {what}; the checker reads CSV, so export the table as CSV")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") and encoding.lower() in ("utf-8", "utf8"):
        encoding = "utf-16"
    if encoding.lower() in ("utf-8", "utf8") and not _is(content, "utf-8") and _is(content, "cp1252"):
        encoding = "cp1252"  # as the reader of files does: what programs on Windows write
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except LookupError as error:
        raise InputError(
            f"encoding {quote(encoding)} is not known; expected a name such as utf-8",
            code="parameter", parameter="encoding", value=encoding, expected="a name such as utf-8",
        ) from error  # fmt: skip
    except UnicodeError as error:
        raise InputError(f"{name}: not {encoding} ({error}); name its encoding with --encoding") from error
    if "\0" in text:
        raise InputError(f"{name}: holds NUL characters; expected text. Is it a binary file?")
    return text, room


def _is(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _lines(text: str, name: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=""), 1):
        if len(line) > LONGEST_LINE:
            raise InputError(
                f"{name}:{number}: the line is longer than {LONGEST_LINE} characters; expected a table"
            )
        yield line


def _delimiter_of(text: str, name: str) -> str:
    sample: list[str] = []
    for line in _lines(text, name):
        sample.append(line)
        if len(sample) == LOOK_AT:
            sample.pop()  # it may end inside a quoted field
            break
    best, best_score = ",", (0.0, 0, 0)
    for delimiter in DELIMITERS:
        score = _score(sample, delimiter)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _score(sample: Sequence[str], delimiter: str) -> tuple[float, int, int]:
    """Return (share of the lines as wide as the header, minus the titles above it, its width); zeros for one field."""
    try:
        rows = [row for row in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if row]
    except csv.Error:
        return 0.0, 0, 0
    above = _titles(rows)
    widths = [len(row) for row in rows[above:]]
    if not widths or widths[0] == 1:
        return 0.0, 0, 0
    return sum(width == widths[0] for width in widths) / len(widths), -above, widths[0]


def _records(text: str, delimiter: str, name: str, blanks: bool) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(text, name), delimiter=delimiter, skipinitialspace=not blanks, strict=True)
    while True:
        start = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise InputError(f"{name}:{start}: {error}; is a quote missing?") from error
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield start, cells
