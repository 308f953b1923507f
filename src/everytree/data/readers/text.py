"""Text files as numbered lines: opened, unpacked, decoded and checked in one place.

Whatever is wrong with the bytes (not UTF-8, binary, a broken gzip stream, an endless line) becomes a
:class:`~everytree.errors.DataError` with file, line and the next step. A file that cannot be opened
raises the usual ``OSError``.
"""

from __future__ import annotations

import codecs
import gzip
import io
import os
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any, TypeAlias

from everytree.common.arguments import argument, refused
from everytree.common.text import show
from everytree.data.readers.room import Room, room_for
from everytree.errors import DataError, Wording

__all__ = [
    "FALLBACK",
    "MAX_LINE",
    "Lines",
    "Source",
    "open_bytes",
    "open_lines",
    "other_encoding",
    "source_name",
]

Source: TypeAlias = str | os.PathLike[str] | IO[bytes] | IO[str]

FALLBACK = "cp1252"  # what programs on Windows write where it is not UTF-8
MAX_LINE = 1 << 24  # characters; a line this long is not a row of a table

# The first bytes of files that people try to read as text, and what to do with them instead.
_OTHER_FORMATS = (
    (b"PAR1", "a Parquet file: use read_parquet"),
    (b"ARROW1", "an Arrow or Feather file: use read_arrow"),
    (b"PK\x03\x04", "a zip archive or an Excel workbook: unpack it, or save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0", "an Excel workbook: save the sheet as CSV"),
    (b"SQLite format 3", "an SQLite database: export the table as CSV"),
    (b"BZh", "packed with bzip2: unpack it first (only .gz is read directly)"),
    (b"\xfd7zXZ", "packed with xz: unpack it first (only .gz is read directly)"),
    (b"\x28\xb5\x2f\xfd", "packed with zstd: unpack it first (only .gz is read directly)"),
)
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def source_name(source: Source) -> str:
    """The name of a source in messages: its path as given, or the name of an open file."""
    if isinstance(source, str | os.PathLike):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else "<stream>"


@contextmanager
def open_bytes(source: Source) -> Iterator[IO[bytes]]:
    """Open a path, or take an open file (read to its end), as seekable bytes."""
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield file
        return
    read = getattr(source, "read", None)
    if read is None:
        raise DataError(f"cannot read from {show(source)}; expected a path or an open file")
    content: Any = read()
    if isinstance(content, str):
        content = content.encode("utf-8", "surrogatepass")
    yield io.BytesIO(content)


def other_encoding(source: str | os.PathLike[str]) -> str | None:
    """Return what a text file on disk seems to be written in where that is not UTF-8: UTF-16, or as Windows writes."""
    with open(source, "rb") as file:
        start = file.read(16)
        if start[:2] in _UTF16_MARKS:
            return "utf-16"
        if (
            start[:2] == b"\x1f\x8b"
            or any(start.startswith(mark) for mark, _ in _OTHER_FORMATS)
            or b"\0" in start
        ):
            return None
        decoder = codecs.getincrementaldecoder("utf-8")()
        piece = start
        try:
            while piece:
                decoder.decode(piece)
                piece = file.read(1 << 20)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return FALLBACK
    return None


class Lines:
    """Iterates over the lines of a text, line ends kept; ``number`` is the number of the last line given."""

    def __init__(self, name: str, text: io.TextIOWrapper, room: Room) -> None:
        self.name = name
        self.room = room
        self.number = 0
        self._text = text

    def place(self, line: int | None = None) -> str:
        """The text "file:line" that opens a message; by default, for the last line given."""
        return f"{self.name}:{self.number if line is None else line}"

    def __iter__(self) -> Lines:
        return self

    def __next__(self) -> str:
        try:
            line = self._text.readline(MAX_LINE)
        except UnicodeDecodeError as error:
            raise DataError(self._undecodable(error), code="encoding", parameter="encoding") from error
        except UnicodeError as error:
            message = f"{self.name}: the text is not {self._text.encoding}: {error}"
            raise DataError(message, code="encoding", parameter="encoding") from error
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise DataError(
                f"{self.place(self.number + 1)}: the gzip stream is damaged or cut short ({error}). Fetch it "
                "again"
            ) from error
        if not line:
            raise StopIteration
        self.number += 1
        if "\0" in line:
            raise DataError(f"{self.place()}: a NUL byte; expected text. Is this a binary file, or UTF-16?")
        if len(line) >= MAX_LINE:
            raise DataError(
                f"{self.place()}: the line is longer than {MAX_LINE} characters; expected a table"
            )
        return line

    def _undecodable(self, error: UnicodeDecodeError) -> Wording:
        # The text before the failing chunk holds no line end (else readline would have returned it), so the
        # line is found by counting line ends in the chunk before the failing byte.
        before = bytes(error.object[: error.start]).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        line = self.number + 1 + before.count(b"\n")
        byte = error.object[error.start]
        return Wording(
            f"{self.place(line)}: byte 0x{byte:02x} is not valid {self._text.encoding.removesuffix('-sig')}. "
            "Save the file as UTF-8, or name its encoding, for example ",
            argument("encoding", "cp1252", '"cp1252"'),
        )


@contextmanager
def open_lines(source: Source, encoding: str = "utf-8", memory_limit: float | None = None) -> Iterator[Lines]:
    """Open a source as text lines, unpacking gzip and skipping a byte-order mark."""
    name = source_name(source)
    with open_bytes(source) as file:
        room = room_for(name, file, memory_limit)
        start = file.read(16)
        file.seek(0)
        if start[:2] == b"\x1f\x8b":
            file = gzip.GzipFile(fileobj=file)  # type: ignore[assignment]
            start = _gzip_start(name, file)
        if not start:
            raise DataError(f"{name}: the file is empty; expected a table")
        for mark, meaning in _OTHER_FORMATS:
            if start.startswith(mark):
                raise DataError(f"{name}: this is {meaning}")
        if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
            encoding = "utf-8-sig"
            if start[:2] in _UTF16_MARKS:
                utf16 = argument("encoding", "utf-16", '"utf-16"')
                says = Wording(f"{name}: the file is UTF-16, not UTF-8; pass ", utf16)
                raise DataError(says, code="encoding", parameter="encoding", value="utf-16")
        try:
            text = io.TextIOWrapper(file, encoding=encoding, newline="")
        except (LookupError, ValueError) as error:
            expected = 'a name such as "utf-8"'
            unknown = f" is not known; expected {expected}"
            raise refused(
                DataError, "encoding", encoding, expected, says=unknown, shown=show(encoding)
            ) from error
        try:
            yield Lines(name, text, room)
        finally:
            text.detach()


def _gzip_start(name: str, file: IO[bytes]) -> bytes:
    try:
        start = file.read(16)
        file.seek(0)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(
            f"{name}: the gzip stream is damaged or cut short ({error}). Fetch it again"
        ) from error
    return start
