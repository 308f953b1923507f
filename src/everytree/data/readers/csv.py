"""CSV and TSV files: one header line, one row per line, quoted fields, any one-character delimiter.

    numeric   every cell that is not missing is a number
    nominal   otherwise

A column's kind is inferred by this rule alone and can be overridden with ``types``. It cannot see that
digits are codes (a zip code, a class named 1, 2, 3): name such columns in ``types``. Booleans are read as
nominal unless ``types`` says "boolean"; a column without any value is numeric. Blanks around a cell do not
count, blank lines are skipped, and a quoted empty cell is empty.
"""

from __future__ import annotations

import csv
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from everytree.common.arguments import argument, refused
from everytree.common.text import show, show_many
from everytree.data.column import Column
from everytree.data.readers.cells import (
    MAX_CELLS,
    CellTable,
    Numbers,
    Place,
    TypeSpec,
    build_column,
    first_place,
    parse_numbers,
    stripped,
)
from everytree.data.readers.dataset import Dataset, kept_positions, unknown_column
from everytree.data.readers.text import Lines, Source, open_lines
from everytree.errors import DataError, Step, Wording

__all__ = ["CHUNK", "MISSING", "read_csv", "read_csv_chunks", "sniff_delimiter"]

# "None" is left out on purpose: it is a value ("no garage") at least as often as it is a missing one.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

CHUNK = 10_000  # rows in a piece of a file that is read in pieces

_DELIMITERS = ",\t;|"
_SAMPLE_LINES = 200
_NO_HEADER = Step("no-header", "pass header=False")
_MANY_NUMBERS, _MOSTLY_NUMBERS = 10, 0.9  # a nominal column with this many numbers deserves a remark


def read_csv(
    source: Source,
    target: str | None = None,
    *,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    delimiter: str | None = None,
    header: bool | Sequence[str] = True,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
    quote: str = '"',
    encoding: str = "utf-8",
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
) -> Dataset:
    """Read a CSV or TSV file, also a gzipped one.

    Parameters
    ----------
    source : str, path or open file
        The file to read.
    target : str, optional
        The column to predict.
    columns : sequence of str, optional
        The columns to read; by default all.
    types : dict, optional
        Kinds of columns that replace what the cells tell: ``{"zip": "nominal", "size": ["small", "large"]}``, where a
        list is the domain, in order.
    delimiter : str, optional
        The character between cells; by default it is found from the first lines.
    header : bool or sequence of str, default True
        Whether the first line names the columns. False names them x0, x1, …; a list of names means that the file has no
        header line and these are its names.
    missing : collection of str
        The cells that mean "missing", such as ``?`` and an empty cell.
    decimal : str, default "."
        The decimal mark of numbers.
    quote : str, default '"'
        The character around cells that hold a delimiter.
    encoding : str, default "utf-8"
        The encoding of the text.
    max_cells : int
        The most cells to read; a larger file is refused.
    memory_limit : float, optional
        The most bytes that reading may take; by default a hundred times the bytes of the file or 1 GiB, whichever is
        more, and never more than three quarters of the memory.

    Returns
    -------
    Dataset
        The columns of the file, each numeric or nominal.

    Raises
    ------
    DataError
        If the file cannot be read; the message names the line.

    Examples
    --------
    >>> import io
    >>> data = read_csv(io.StringIO("age,thal\\n63,normal\\n37,?\\n"))
    >>> [(column.name, column.kind, column.n_missing) for column in data.columns.values()]
    [('age', 'numeric', 0), ('thal', 'nominal', 1)]
    """
    plan = _Plan(columns, types or {}, delimiter, header, frozenset(missing), decimal, quote, max_cells)
    _check_options(delimiter, decimal, quote, missing)
    with open_lines(source, encoding, memory_limit) as lines:
        opened = plan.open(lines, target)
        table = opened.table()
        for line, cells in opened.records:
            table.add(line, cells)
    return plan.typed(opened, table, target, opened.notes)


def read_csv_chunks(
    source: Source,
    target: str | None = None,
    *,
    rows: int = CHUNK,
    columns: Sequence[str] | None = None,
    types: Mapping[str, TypeSpec] | None = None,
    delimiter: str | None = None,
    header: bool | Sequence[str] = True,
    missing: Collection[str] = MISSING,
    decimal: str = ".",
    quote: str = '"',
    encoding: str = "utf-8",
    max_cells: int = MAX_CELLS,
    memory_limit: float | None = None,
) -> Iterator[Dataset]:
    """Read a CSV or TSV file in pieces of at most ``rows`` rows, for files larger than memory.

    The other parameters are those of :func:`read_csv`. A column that ``types`` does not name has the kind that its
    cells in one piece tell, which may differ from piece to piece: name all that matter. ``max_cells`` counts for one
    piece.

    >>> import io
    >>> [len(part) for part in read_csv_chunks(io.StringIO("age\\n63\\n37\\n41\\n"), rows=2)]
    [2, 1]
    """
    plan = _Plan(columns, types or {}, delimiter, header, frozenset(missing), decimal, quote, max_cells)
    _check_options(delimiter, decimal, quote, missing)
    if rows < 1:
        raise refused(DataError, "rows", rows, "at least one row in a piece")
    with open_lines(source, encoding, memory_limit) as lines:
        opened = plan.open(lines, target)
        notes, first = opened.notes, True
        while part := list(itertools.islice(opened.records, rows)):
            table = opened.table()
            for line, cells in part:
                table.add(line, cells)
            yield plan.typed(opened, table, target, notes)
            notes, first = [], False
        if first:
            raise opened.no_rows()


@dataclass(frozen=True)
class _Plan:
    """How a file is to be read: the options, checked."""

    columns: Sequence[str] | None
    types: Mapping[str, TypeSpec]
    delimiter: str | None
    header: bool | Sequence[str]
    missing: frozenset[str]
    decimal: str
    quote: str
    max_cells: int

    def open(self, lines: Lines, target: str | None) -> _Opened:
        """Read the header, and find the columns that are wanted."""
        sample = list(itertools.islice(lines, _SAMPLE_LINES))
        cut = len(sample) == _SAMPLE_LINES  # the sample may end inside a quoted field
        sniffed = sniff_delimiter(sample[:-1] if cut else sample, self.quote)
        separator = self.delimiter or sniffed
        records = _records(lines, sample, separator, self.quote)
        names, header_line, first = _header(records, self.header, lines.name)
        if target is not None and target not in names:
            raise _no_target(target, names, separator, sniffed)
        keep = kept_positions(names, self.columns, target, self.types)
        origin = f"as on line {header_line}" if isinstance(self.header, bool) else "as many as header= names"

        def whole() -> Iterator[tuple[int, list[str]]]:
            for line, cells in itertools.chain(first, records):
                if len(cells) != len(names):
                    raise _ragged(lines.place(line), len(cells), len(names), origin, separator)
                yield line, cells

        notes = _header_notes(names, header_line) + _delimiter_notes(names, separator, sniffed)
        return _Opened(lines, names, header_line, keep, whole(), notes, self.max_cells)

    def typed(self, opened: _Opened, table: CellTable, target: str | None, notes: Sequence[str]) -> Dataset:
        """The rows of a table as columns with a kind."""
        if table.n_rows == 0:
            raise opened.no_rows()
        names, remarks = opened.names, list(notes)
        result: dict[str, Column] = {}
        for unstripped in table.columns([names[position] for position in opened.keep]):
            column = stripped(unstripped)
            if not column.name:
                remarks.append(_unnamed(column, names.index("") + 1, opened.header_line, opened.lines.name))
                continue
            spec, numbers = self.types.get(column.name), None
            if spec is None:
                numbers = Numbers.of(column, self.missing, self.decimal)
                spec, more = _inferred(column, numbers, table.place)
                remarks += more
            result[column.name] = build_column(
                column, spec, table.place, missing=self.missing, decimal=self.decimal, numbers=numbers
            )
        return Dataset(result, target=target, notes=tuple(remarks))


@dataclass(frozen=True)
class _Opened:
    """A file whose header is read: its names, the positions to keep, and the records still to come."""

    lines: Lines
    names: list[str]
    header_line: int
    keep: list[int]
    records: Iterator[tuple[int, list[str]]]
    notes: list[str]
    max_cells: int

    def table(self) -> CellTable:
        return CellTable(self.keep, self.lines.place, self.max_cells, self.lines.room)

    def no_rows(self) -> DataError:
        return DataError(
            f"{self.lines.name}: no rows after the header on line {self.header_line}; expected at least one"
        )


def sniff_delimiter(lines: Sequence[str], quote: str = '"') -> str:
    """Find the delimiter that cuts every line into as many fields as the first, and into the most fields.

    Where none does so for every line, the one that does for most; where none cuts at all, the comma.

    >>> sniff_delimiter(["a;b", "1,5;2"]), sniff_delimiter(["a\\tb, c", "1\\t2"]), sniff_delimiter(["a", "1"])
    (';', '\\t', ',')
    """

    def quality(delimiter: str) -> tuple[float, int]:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=True)
        try:
            counts = [len(record) for record in reader if record]
        except csv.Error:  # a field beyond the size limit: not this delimiter's doing, reported when reading
            return 0.0, 0
        if not counts or counts[0] < 2:
            return 0.0, 0
        return counts.count(counts[0]) / len(counts), counts[0]

    return max(_DELIMITERS, key=quality)  # max keeps the first of equals: the comma


def _check_options(delimiter: str | None, decimal: str, quote: str, missing: Collection[str]) -> None:
    for option, value in (("delimiter", delimiter), ("quote", quote)):
        if value is not None and (not isinstance(value, str) or len(value) != 1 or value in "\r\n\0"):
            such = Wording("one character, for example ", argument(option, ";", '";"'))
            raise refused(DataError, option, value, such, shown=show(value))
    if delimiter == quote:
        raise DataError(f"delimiter and quote are both {show(quote)}; expected two different characters")
    if delimiter == " ":
        says = " is not supported: blanks around a cell do not count. Use a tab or a comma"
        raise refused(DataError, "delimiter", " ", "a tab or a comma", says=says, shown='" "')
    if decimal not in (".", ","):
        raise refused(DataError, "decimal", decimal, '"." or ","', shown=show(decimal))
    if isinstance(missing, str):
        expected = f"a list of texts, for example [{show(missing)}]"
        raise refused(
            DataError,
            "missing",
            missing,
            expected,
            says=f" is a text; expected {expected}",
            shown=show(missing),
        )


def _records(
    lines: Lines, sample: Sequence[str], delimiter: str, quote: str
) -> Iterator[tuple[int, list[str]]]:
    """The fields of every record that is not blank, with the line on which it starts."""
    reader = csv.reader(
        itertools.chain(sample, lines),
        delimiter=delimiter,
        quotechar=quote,
        skipinitialspace=True,
        strict=True,
    )
    while True:
        start = reader.line_num + 1
        try:
            record = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise DataError(_quoting_message(lines.place(start), str(error), delimiter, quote)) from error
        if len(record) > 1 or (record and record[0].strip()):
            yield start, record


def _quoting_message(place: str, error: str, delimiter: str, quote: str) -> str:
    if "end of data" in error:
        return f"{place}: a field opened with {quote} is never closed; expected a closing {quote}"
    if "field limit" in error:
        limit = csv.field_size_limit()
        return f"{place}: a field is longer than {limit} characters; is a closing {quote} missing?"
    return (
        f"{place}: text after the closing {quote} of a field; expected {show(delimiter)} or the end of the "
        "line. "
        f"Inside a quoted field, write {quote}{quote} for {quote}"
    )


def _header(
    records: Iterator[tuple[int, list[str]]], header: bool | Sequence[str], file: str
) -> tuple[list[str], int, list[tuple[int, list[str]]]]:
    """The column names, their line, and the first record if it was needed to count the columns."""
    first = next(records, None)
    if first is None:
        raise DataError(f"{file}: only blank lines; expected a header line and rows")
    line, cells = first
    if header is True:
        names = [cell.strip() for cell in cells]
        _check_names(names, f"{file}:{line}", Wording(". If the file has no header line, ", _NO_HEADER))
        return names, line, []
    if header is False:
        return [f"x{position}" for position in range(len(cells))], line, [first]
    if (
        isinstance(header, str)
        or not isinstance(header, Sequence)
        or not all(isinstance(n, str) for n in header)
    ):
        raise refused(
            DataError, "header", header, "True, False or a list of column names", shown=show(header)
        )
    names = list(header)
    _check_names(names, "header=[...]", "")
    return names, line, [first]


def _check_names(names: Sequence[str], place: str, hint: str) -> None:
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if name in seen:
            what = f"the name {show(name)} is used twice" if name else "two columns have no name"
            columns = f"(columns {seen[name]} and {position})"
            raise DataError(Wording(f"{place}: {what} {columns}; expected different names", hint))
        seen[name] = position


def _ragged(place: str, found: int, expected: int, origin: str, delimiter: str) -> DataError:
    return DataError(
        Wording(
            f"{place}: {found} fields, expected {expected}, {origin}. "
            f"Quote cells that contain the delimiter {show(delimiter)}, or ",
            Step("delimiter", "pass another delimiter="),
        )
    )


def _no_target(target: str, names: Sequence[str], delimiter: str, sniffed: str) -> DataError:
    if len(names) == 1 and sniffed != delimiter:
        message = Wording(
            f"there is no target column {show(target)}: with ",
            argument("delimiter", delimiter),
            f" the file has the one column {show(names[0])}. It looks as if it is separated by {show(sniffed)}: pass ",
            argument("delimiter", sniffed),
        )
    elif len(names) == 1:
        message = Wording(
            f"there is no target column {show(target)}: the file has the one column {show(names[0])}. "
            "If its fields are separated by another character, name it, for example ",
            argument("delimiter", ":", '":"'),
        )
    else:
        return unknown_column(target, names, "target column", "target")
    return DataError(message, code="unknown-column", parameter="target", value=target, expected="a column")


def _header_notes(names: Sequence[str], line: int) -> list[str]:
    if None not in parse_numbers(names):
        return [
            Wording(f"the names on line {line} are all numbers; if the file has no header line, ", _NO_HEADER)
        ]
    return []


def _delimiter_notes(names: Sequence[str], delimiter: str, sniffed: str) -> list[str]:
    if len(names) == 1 and sniffed != delimiter:
        return [f"only one column was found; the file looks as if it is separated by {show(sniffed)}"]
    return []


def _unnamed(cells: Column, position: int, line: int, file: str) -> str:
    """Leave out a nameless column that is empty or only counts the rows (as pandas writes its index)."""
    texts = cells.values.tolist()
    counts = [[str(row + start) for row in range(len(texts))] for start in (0, 1)]
    if not any(texts):
        return f"column {position} has no name and no values: left out"
    if texts in counts:
        return f"column {position} has no name and only counts the rows: left out"
    raise DataError(
        f"{file}:{line}: column {position} has no name, and its values are not just row numbers; "
        "give it a name in the header"
    )


def _inferred(cells: Column, found: Numbers, place: Place) -> tuple[str, list[str]]:
    """The kind of a column by the rule at the top, and remarks where a person might have meant another."""
    known = found.texts
    numbers = [cell for cell, value in zip(known, found.values, strict=True) if value is not None]
    if len(numbers) == len(known):
        padded = next(
            (cell for cell in known if len(cell) > 1 and cell[0] == "0" and cell[1].isdigit()), None
        )
        if padded is None:
            return "numeric", []
        return "numeric", [
            Wording(
                f"column {show(cells.name)} has zeros in front ({show(padded)}) and is read as numeric; "
                "if these are codes, ",
                Step("nominal", f'pass types={{{show(cells.name)}: "nominal"}}', cells.name),
            )
        ]
    if len(numbers) < _MANY_NUMBERS:
        return "nominal", []
    rows = np.bincount(cells.present(), minlength=len(cells.labels))
    size = {cell: int(count) for cell, count in zip(cells.labels, rows, strict=True)}
    numeric = set(numbers)
    texts = [cell for cell in known if cell not in numeric]
    n_numbers, n_texts = sum(size[cell] for cell in numbers), sum(size[cell] for cell in texts)
    if n_numbers < _MOSTLY_NUMBERS * (n_numbers + n_texts):
        return "nominal", []
    return "nominal", [
        Wording(
            f"column {show(cells.name)} is read as nominal because of {show_many(texts, 3)} "
            f"(first on {first_place(cells, texts[0], place)}), but {n_numbers} of its {n_numbers + n_texts} values "
            'are numbers; if these texts mean "missing", ',
            Step("missing-cells", "add them to missing="),
        )
    ]
