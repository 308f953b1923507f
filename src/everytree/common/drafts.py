"""Files that are written whole or not at all: they are written beside their place, then renamed in one step."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["draft_of", "write_whole"]


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name beside ``path`` to write to; it replaces ``path`` if the block ends well, else it is removed."""
    place = Path(os.path.realpath(path))  # a link is followed, so that it stays a link
    if place.exists() and not place.is_file():  # /dev/null or a pipe is never replaced
        yield place
        return
    draft = place.with_name(f".{place.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        with open(draft, "rb") as written:
            os.fsync(written.fileno())
        os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


def write_whole(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text as UTF-8, with the line ends that it has, whole or not at all.

    >>> write_whole("a,b\\n", "small.csv")
    >>> Path("small.csv").read_text()
    'a,b\\n'
    """
    with draft_of(path) as draft, open(draft, "w", encoding="utf-8", newline="\n") as file:
        file.write(text)
