"""What stands around the table in a text file as programs and people write it: the header, and what is no part of it.

    sep=;             a first line that tells spreadsheets the delimiter
    Orders, May       lines of one field above the header: titles
    id,amount,amount  names that are used twice: the second is called amount.1, as pandas calls it
    …
    Total,,1200       a last row that adds up the others

A title is a record with a text in its first field alone (one field, or at least three), and above a record without
numbers that is as wide as the one below it; so a table of one column, or with an unnamed column, has none. A total is
the last record, the only one that begins with such a word, with a field that is empty or not there.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from everytree.common.arguments import refused
from everytree.common.text import show
from everytree.data.readers.cells import parse_number
from everytree.errors import DataError, Step, Wording

__all__ = ["NO_HEADER", "Heading", "Record", "read_heading", "said_delimiter", "titles", "without_total"]

Record = tuple[int, list[str]]  # the line on which it begins, and its fields

NO_HEADER = Step("no-header", "pass header=False")
MOST_TITLES = 10
TOTALS = frozenset(
    [
        "total",
        "totals",
        "grand total",
        "sum",
        "summe",
        "gesamt",
        "gesamtsumme",
        "insgesamt",
        "somme",
        "totale",
        "suma",
    ]
)
_SAID = re.compile(r'"?sep=(?P<mark>[^"\r\n])"?\s*\Z', re.IGNORECASE)


@dataclass(frozen=True)
class Heading:
    """The names of the columns, all different, the line of the header, and what a person should know of them."""

    names: list[str]
    line: int
    unnamed: frozenset[int]  # positions of columns to which the file gives no name
    notes: list[str]


def said_delimiter(line: str) -> str | None:
    """Return the delimiter that a first line such as ``sep=;`` tells; None if it is another line.

    >>> said_delimiter("sep=;"), said_delimiter("sepal,petal")
    (';', None)
    """
    match = _SAID.match(line)
    return None if match is None else match["mark"]


def titles(records: Sequence[Sequence[str]]) -> int:
    """Return how many of the first records are titles above the header.

    >>> titles([["Orders, May"], ["id", "amount"], ["7", "12.50"]]), titles([["id"], ["7"], ["8"]])
    (1, 0)
    """
    count = len(list(itertools.takewhile(_is_title, records)))
    if not 0 < count <= MOST_TITLES or len(records) < count + 2:
        return 0
    header, row = records[count], records[count + 1]
    named = [cell for cell in header if cell.strip()]
    if (
        len(named) < 2
        or len(row) != len(header)
        or any(parse_number(cell.strip()) is not None for cell in named)
    ):
        return 0
    return count


def _is_title(cells: Sequence[str]) -> bool:
    alone = bool(cells[0].strip()) and not any(cell.strip() for cell in cells[1:])
    return alone and len(cells) != 2  # `a,` is a header with an unnamed column


def read_heading(
    records: Iterator[Record], header: bool | Sequence[str], file: str
) -> tuple[Heading, Iterator[Record]]:
    """Return the names of the columns, and the records of the rows."""
    ahead = list(itertools.islice(records, MOST_TITLES + 2))
    if not ahead:
        raise DataError(f"{file}: only blank lines; expected a header line and rows")
    if header is True:
        skipped = titles([cells for _, cells in ahead])
        line, cells = ahead[skipped]
        notes = [] if not skipped else [_titles_note([cells for _, cells in ahead[:skipped]], line)]
        return _named(cells, line, notes), itertools.chain(ahead[skipped + 1 :], records)
    line, cells = ahead[0]
    rest = itertools.chain(ahead, records)
    if header is False:
        return Heading([f"x{position}" for position in range(len(cells))], line, frozenset(), []), rest
    if (
        isinstance(header, str)
        or not isinstance(header, Sequence)
        or not all(isinstance(name, str) for name in header)
    ):
        raise refused(
            DataError, "header", header, "True, False or a list of column names", shown=show(header)
        )
    twice = next((name for place, name in enumerate(header) if name in header[:place]), None)
    if twice is not None:
        raise DataError(f"header=[...]: the name {show(twice)} is used twice; expected different names")
    return Heading(list(header), line, frozenset(), []), rest


def _titles_note(found: list[list[str]], line: int) -> str:
    left = "1 line is left out" if len(found) == 1 else f"{len(found)} lines are left out"
    return f"{left} above the header on line {line}: {show(found[0][0].strip())}"


def _named(cells: Sequence[str], line: int, notes: list[str]) -> Heading:
    """Give every column a name of its own: a second `amount` is amount.1, the third field without a name column 3."""
    found = [cell.strip() for cell in cells]
    unnamed = frozenset(place for place, name in enumerate(found) if not name)
    names, taken = list[str](), {name for name in found if name}
    made, places, last = set[str](), dict[str, int](), dict[str, int]()  # a file may have very many columns
    for place, name in enumerate(found):
        places.setdefault(name, place)
        first = name or f"column {place + 1}"
        new = first
        if new in (made if name else taken):
            k = next(k for k in itertools.count(last.get(first, 1)) if f"{first}.{k}" not in taken)
            new, last[first] = f"{first}.{k}", k
        taken.add(new)
        made.add(new)
        names.append(new)
        if name and new != name:
            notes.append(
                Wording(
                    f"the name {show(name)} on line {line} is used twice (columns {places[name] + 1} and "
                    f"{place + 1}): the second is called {show(new)}. If the file has no header line, ",
                    NO_HEADER,
                )
            )
    if all(parse_number(name) is not None for name in found):
        notes.append(
            Wording(f"the names on line {line} are all numbers; if the file has no header line, ", NO_HEADER)
        )
    return Heading(names, line, unnamed, notes)


def without_total(records: Iterator[Record], width: int, notes: list[str]) -> Iterator[Record]:
    """Yield the records but a last one that adds up the others; ``notes`` is told before the one above it is given."""
    held: Record | None = None
    others = False
    while True:
        record = next(records, None)
        if record is None or _is_total(record[1], width):
            following = None if record is None else next(records, None)
            if record is not None and (others or following is not None):
                others, records = (
                    True,
                    records if following is None else itertools.chain([following], records),
                )
            elif record is not None:
                notes.append(
                    f"the last row, on line {record[0]}, is left out: it begins with {show(_begins(record[1]))}"
                )
                record = None
        if held is not None:
            yield held
        if record is None:
            return
        held = record


def _begins(cells: Sequence[str]) -> str:
    return next((text for cell in cells if (text := cell.strip())), "")


def _is_total(cells: Sequence[str], width: int) -> bool:
    if _begins(cells).rstrip(" :.").lower() not in TOTALS:
        return False
    return len(cells) < width or not all(cell.strip() for cell in cells)
