"""The checker's own reader of CSV files: a header, then one row per line, with nothing but the standard library.

A field may be quoted; the delimiter is a comma, tab, semicolon or bar, found from the first lines (the one that
cuts all of them into the same number of fields, and into the most); a byte-order mark, any kind of line end,
blank lines, blanks around a cell, and gzip are fine. A column without a name is left out.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everytree.verify.problem import InputError, quote

__all__ = ["CsvTable", "read_table"]

DELIMITERS = ",\t;|"
LOOK_AT = 100  # the delimiter is found from so many lines
NOT_CSV = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow file",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"SQLite format 3": "an SQLite database",
}


@dataclass(frozen=True)
class CsvTable:
    """Cells as text: ``columns[name][i]`` is the cell of row i, which stands on line ``lines[i]`` of the file."""

    file: str
    names: tuple[str, ...]
    columns: dict[str, list[str]]
    lines: list[int]

    @property
    def n_rows(self) -> int:
        return len(self.lines)

    def place(self, row: int) -> str:
        """Say where a row stands, for messages."""
        return f"{self.file}:{self.lines[row]}"


def read_table(
    path: str | os.PathLike[str],
    delimiter: str | None = None,
    encoding: str = "utf-8",
    header: bool = True,
) -> CsvTable:
    """Read a CSV file into columns of text, or say on which line it is broken."""
    name = os.fspath(path)
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"\0 '):
        raise InputError(
            f"delimiter {quote(delimiter)}: expected one character, such as ';'",
            code="parameter", parameter="delimiter", value=delimiter, expected="one character",
        )  # fmt: skip
    text = _text(path, name, encoding)
    chosen = delimiter or ("\t" if name.lower().endswith((".tsv", ".tab")) else _delimiter_of(text))
    records = _records(text, chosen, name)
    first = next(records, None)
    if first is None:
        raise InputError(f"{name}: the file is empty; expected a header line and rows")
    line, cells = first
    names = [cell.strip() for cell in cells] if header else [f"x{j}" for j in range(len(cells))]
    named = [each for each in names if each]
    if len(set(named)) < len(named):
        twice = next(each for each in named if named.count(each) > 1)
        raise InputError(f"{name}:{line}: the name {quote(twice)} is used twice; expected different names")
    rows: list[list[str]] = [] if header else [[cell.strip() for cell in cells]]
    lines: list[int] = [] if header else [line]
    for line, cells in records:
        if len(cells) != len(names):
            raise InputError(
                f"{name}:{line}: {len(cells)} fields, expected {len(names)}, with the delimiter {quote(chosen)}"
            )
        rows.append([cell.strip() for cell in cells])
        lines.append(line)
    if not rows:
        raise InputError(f"{name}: a header line but no rows; expected at least one")
    columns = {each: [row[j] for row in rows] for j, each in enumerate(names) if each}
    return CsvTable(name, tuple(each for each in names if each), columns, lines)


def _text(path: str | os.PathLike[str], name: str, encoding: str) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read()
        if content[:2] == b"\x1f\x8b":
            content = gzip.decompress(content)
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
    return text


def _is(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeDecodeError:
        return False
    return True


def _lines(text: str) -> Iterator[str]:
    return iter(io.StringIO(text, newline=""))


def _delimiter_of(text: str) -> str:
    sample: list[str] = []
    for line in _lines(text):
        sample.append(line)
        if len(sample) == LOOK_AT:
            sample.pop()  # it may end inside a quoted field
            break
    best, best_score = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        score = _score(sample, delimiter)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def _score(sample: Sequence[str], delimiter: str) -> tuple[float, int]:
    """Return (share of the lines with as many fields as the first, number of fields); zeros for a single field."""
    try:
        widths = [len(row) for row in csv.reader(sample, delimiter=delimiter, skipinitialspace=True) if row]
    except csv.Error:
        return 0.0, 0
    if not widths or widths[0] == 1:
        return 0.0, 0
    return sum(width == widths[0] for width in widths) / len(widths), widths[0]


def _records(text: str, delimiter: str, name: str) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(_lines(text), delimiter=delimiter, skipinitialspace=True, strict=True)
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
