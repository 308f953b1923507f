"""CSV and TSV files: one header line, one row per line, quoted fields, any one-character delimiter.

What stands around the table (``sep=;``, titles, a row of totals) is told apart in heading.py, and a note says so.

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
from dataclasses import dataclass, field

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
    stripped,
)
from everytree.data.readers.dataset import Dataset, kept_positions, unknown_column
from everytree.data.readers.heading import Record, read_heading, said_delimiter, titles, without_total
from everytree.data.readers.room import check_columns
from everytree.data.readers.text import Lines, Source, open_lines
from everytree.errors import DataError, Step, Wording

__all__ = ["CHUNK", "MISSING", "read_csv", "read_csv_chunks", "sniff_delimiter"]

# "None" is left out on purpose: it is a value ("no garage") at least as often as it is a missing one.
MISSING = ("", "?", "NA", "N/A", "NaN", "nan", "null", "NULL")

CHUNK = 10_000  # rows in a piece of a file that is read in pieces

_DELIMITERS = ",\t;|"
_SAMPLE_LINES = 200
_SOME_LINES = 5  # with another number of fields, that a message tells
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
    return plan.typed(opened, table, target)


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
        first = True
        while part := list(itertools.islice(opened.records, rows)):
            table = opened.table()
            for line, cells in part:
                table.add(line, cells)
            yield plan.typed(opened, table, target)
            first = False
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
        said = said_delimiter(sample[0]) if sample and self.header is True else None
        if said is not None:
            sample[0] = "\n"  # a blank line, so that those below keep their numbers
        sniffed = said or sniff_delimiter(sample[:-1] if cut else sample, self.quote)
        separator = self.delimiter or sniffed
        heading, records = read_heading(
            _records(lines, sample, separator, self.quote), self.header, lines.name
        )
        names = heading.names
        if target is not None and target not in names:
            raise _no_target(target, names, separator, sniffed)
        keep = kept_positions(names, self.columns, target, self.types)
        check_columns(len(keep), lines.name)
        origin = f"as on line {heading.line}" if isinstance(self.header, bool) else "as many as header= names"
        notes = heading.notes + _delimiter_notes(names, separator, sniffed)

        def whole() -> Iterator[Record]:
            rest = iter(without_total(records, len(names), notes))
            for line, cells in rest:
                if len(cells) != len(names):
                    more = _others(rest, len(names))
                    raise _ragged(lines.place(line), len(cells), len(names), origin + more, separator)
                yield line, cells

        return _Opened(lines, names, heading.line, heading.unnamed, keep, whole(), notes, self.max_cells)

    def typed(self, opened: _Opened, table: CellTable, target: str | None) -> Dataset:
        """The rows of a table as columns with a kind."""
        if table.n_rows == 0:
            raise opened.no_rows()
        names, remarks = opened.names, opened.taken_notes()
        result: dict[str, Column] = {}
        asked_for = {*self.types, *(self.columns or ()), target}
        unnamed = {opened.names[place]: place for place in opened.unnamed}
        for unstripped in table.columns([names[position] for position in opened.keep]):
            column = stripped(unstripped)
            if column.name in unnamed and column.name not in asked_for:
                useless, remark = opened.unnamed_column(column, unnamed[column.name] + 1)
                remarks += remark
                if useless:
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
    unnamed: frozenset[int]
    keep: list[int]
    records: Iterator[tuple[int, list[str]]]
    notes: list[str]
    max_cells: int
    useless: dict[str, bool] = field(
        default_factory=dict
    )  # of columns without a name, as the first piece told

    def unnamed_column(self, cells: Column, position: int) -> tuple[bool, list[str]]:
        """Whether a column without a name is left out, being empty or a count of the rows (an index of pandas)."""
        if cells.name in self.useless:
            return self.useless[cells.name], []
        texts = cells.values.tolist()
        counts = [[str(row + start) for row in range(len(texts))] for start in (0, 1)]
        why = "no values" if not any(texts) else "only counts the rows" if texts in counts else None
        self.useless[cells.name] = why is not None
        if why is not None:
            return True, [f"column {position} has no name and {why}: left out"]
        return False, [f"column {position} has no name; it is called {show(cells.name)}"]

    def taken_notes(self) -> list[str]:
        """The notes since they were asked for last."""
        taken, self.notes[:] = list(self.notes), []
        return taken

    def table(self) -> CellTable:
        return CellTable(self.keep, self.lines.place, self.max_cells, self.lines.room)

    def no_rows(self) -> DataError:
        return DataError(
            f"{self.lines.name}: no rows after the header on line {self.header_line}; expected at least one"
        )


def sniff_delimiter(lines: Sequence[str], quote: str = '"') -> str:
    """Find the delimiter that cuts every line into as many fields as the header, and into the most fields.

    Where none does so for every line, the one that does for most; where none cuts at all, the comma. Titles above the
    header do not count, but a delimiter with which there are none is preferred.

    >>> sniff_delimiter(["a;b", "1,5;2"]), sniff_delimiter(["a\\tb, c", "1\\t2"]), sniff_delimiter(["a", "1"])
    (';', '\\t', ',')
    >>> sniff_delimiter(["Orders, May", "a;b", "1,5;2"])
    ';'
    """

    def quality(delimiter: str) -> tuple[float, int, int]:
        reader = csv.reader(lines, delimiter=delimiter, quotechar=quote, skipinitialspace=True)
        try:
            records = [record for record in reader if record]
        except csv.Error:  # a field beyond the size limit: not this delimiter's doing, reported when reading
            return 0.0, 0, 0
        above = titles(records)
        counts = [len(record) for record in records[above:]]
        if not counts or counts[0] < 2:
            return 0.0, 0, 0
        return counts.count(counts[0]) / len(counts), -above, counts[0]

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


def _others(rest: Iterator[Record], width: int) -> str:
    """Say how many further records have another number of fields, and where the first ones are."""
    more, shown = 0, list[str]()
    try:
        for line, cells in rest:
            if len(cells) != width:
                more += 1
                if len(shown) < _SOME_LINES:
                    shown.append(f"line {line} ({len(cells)})")
    except DataError:
        pass  # what comes after that cannot be told
    if not more:
        return ""
    several = "line has" if more == 1 else "lines have"
    return f"; {more} more {several} another number: {', '.join(shown)}{', …' if more > len(shown) else ''}"


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


def _delimiter_notes(names: Sequence[str], delimiter: str, sniffed: str) -> list[str]:
    if len(names) == 1 and sniffed != delimiter:
        return [f"only one column was found; the file looks as if it is separated by {show(sniffed)}"]
    return []


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
            Step("missing-cells", "add them to missing=", cells.name),
        )
    ]
