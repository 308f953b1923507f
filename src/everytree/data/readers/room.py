"""How much memory a file may take while it is read: nobody's small file fills the machine.

    memory_limit by default   the larger of 1 GiB and 100 times the bytes of the file, at most 3/4 of the memory

A file that unpacks to more is refused before the memory is taken: a Parquet file of 400 kB can hold 60 million rows,
and a gzip of 1 MB a gigabyte of text. What cannot be known before (how many different texts a column has) is looked at
while it grows.
"""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from typing import IO, Any

from everytree.common.limits import Limits, in_bytes
from everytree.errors import DataError, Step, Wording

__all__ = ["CELL", "LABEL", "Room", "check_columns", "room_for"]

ALWAYS = 2**30  # bytes that any file may take
UNPACKED = 100  # times its own size
MOST_COLUMNS = 500_000  # each takes about a kilobyte beside its cells, and 40 µs: a row of commas is no table
CELL = 16  # bytes of a cell as a number or a code, with the one that it is made of
LABEL = (
    200  # bytes of a distinct text beside its characters: an object, its place in a dictionary, its number
)


@dataclass(frozen=True)
class Room:
    """The most bytes that a file may take, and whether somebody asked for that."""

    name: str
    limit: int
    asked: bool
    size: int | None

    def check(self, n_bytes: float, place: str | None = None) -> None:
        """Refuse what takes more."""
        if n_bytes <= self.limit:
            return
        why = "" if self.asked else _why(self.size, self.limit)
        raise DataError(
            Wording(
                f"{place or self.name}: reading takes {in_bytes(n_bytes)} or more; expected at most "
                f"memory_limit={self.limit} bytes ({in_bytes(self.limit)}{why}). ",
                Step("fewer-columns", "Read fewer columns with columns=[...]"),
                ", in pieces with read_chunks, or give a larger memory_limit if the memory is there",
            ),
            code="memory",
            parameter="memory_limit",
            value=self.limit,
        )


def _why(size: int | None, limit: int) -> str:
    if size is None or limit > max(ALWAYS, UNPACKED * size) or limit == Limits().memory:
        return ", three quarters of the memory"
    if limit > ALWAYS:
        return f", {UNPACKED} times the {in_bytes(size)} of the file"
    return f", as the file has {in_bytes(size)} only"


def check_columns(n_columns: int, name: str) -> None:
    """Refuse a table that is wider than what anything can be learned from in time."""
    if n_columns > MOST_COLUMNS:
        raise DataError(
            Wording(
                f"{name}: {n_columns} columns; expected at most {MOST_COLUMNS}. ",
                Step("fewer-columns", "Read fewer columns with columns=[...]"),
            ),
            code="memory",
        )


def room_for(name: str, file: IO[Any], memory_limit: float | None = None) -> Room:
    """Return the room for an open file: as asked for, or by its size."""
    memory = Limits(memory_limit=None if memory_limit is None else int(memory_limit)).memory
    if memory_limit is not None:
        return Room(name, memory, True, None)
    size = _size(file)
    return Room(name, memory if size is None else min(memory, max(ALWAYS, UNPACKED * size)), False, size)


def _size(file: IO[Any]) -> int | None:
    """Return the bytes of an open file; None where they are not known, as of a pipe."""
    if isinstance(file, io.BytesIO):
        return file.getbuffer().nbytes
    try:
        size = os.fstat(file.fileno()).st_size
    except (OSError, AttributeError, ValueError):
        return None
    return size or None
