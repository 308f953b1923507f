"""Files that are written whole or not at all: they are written beside their place, then renamed in one step.

A process that is killed cannot tidy up. Texts are therefore written to a file without a name where the system has
such files (Linux: O_TMPFILE), which vanishes with its process. Other drafts carry the number of their process, and
the next draft of the same file removes those whose process has ended.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

__all__ = ["draft_of", "write_pieces", "write_whole"]

FULL = frozenset(getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name))


@contextmanager
def draft_of(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a name beside ``path`` to write to; it replaces ``path`` if the block ends well, else it is removed."""
    place = Path(os.path.realpath(path))  # a link is followed, so that it stays a link
    if place.exists() and not place.is_file():  # /dev/null or a pipe is never replaced
        with _named(path):
            yield place
        return
    remove_left_behind(place)
    draft = new_draft(place)
    try:
        with _named(path, draft):
            yield draft
            with open(draft, "rb") as written:
                os.fsync(written.fileno())
            os.replace(draft, place)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _named(path: str | os.PathLike[str], draft: Path | None = None) -> Iterator[None]:
    """Let an error of writing name the file: not its draft, which is gone, and not nothing, as where a disk is full."""
    try:
        yield
    except OSError as error:
        nothing = error.filename is None and error.errno in FULL  # no reading fails so
        if nothing or (draft is not None and error.filename == os.fspath(draft)):
            raise OSError(error.errno, error.strerror, os.fspath(path)) from error
        raise


def new_draft(place: Path) -> Path:
    """Return a name beside a file that nobody else takes; it tells which process writes."""
    return place.with_name(f".{place.name}.{os.getpid()}-{secrets.token_hex(4)}.tmp")


def remove_left_behind(place: Path) -> None:
    """Remove drafts of a file whose process has ended before it could."""
    drafts = re.compile(re.escape(f".{place.name}.") + r"(\d+)-[0-9a-f]{8}\.tmp")
    with suppress(OSError):  # a folder that cannot be listed is no reason not to write
        for beside in os.listdir(place.parent):
            if (found := drafts.fullmatch(beside)) and not is_running(int(found[1])):
                (place.parent / beside).unlink(missing_ok=True)


def is_running(process: int) -> bool:
    """Say whether a process of that number exists; where the system cannot tell, it is taken to run."""
    if os.name != "posix":  # os.kill would end it there
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def write_whole(text: str, path: str | os.PathLike[str]) -> None:
    """Write a text as UTF-8, with the line ends that it has, whole or not at all.

    Half a surrogate pair, which UTF-8 does not have, is written as an escape (``\\ud800``), which JSON reads back.

    >>> write_whole("a,b\\n", "small.csv")
    >>> Path("small.csv").read_text()
    'a,b\\n'
    """
    write_pieces(lambda: iter([text]), path)


def write_pieces(text: Callable[[], Iterator[str]], path: str | os.PathLike[str]) -> None:
    """Write a long text as ``write_whole`` does, piece by piece; it is made once more where it has to be begun anew."""
    place = Path(os.path.realpath(path))
    remove_left_behind(place)
    with _named(path):
        if not (place.exists() and not place.is_file()) and write_nameless(text, place):
            return
    with draft_of(path) as draft, open(draft, "wb") as file:
        file.writelines(map(encoded, text()))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")


def write_nameless(text: Callable[[], Iterator[str]], place: Path) -> bool:
    """Write through a file without a name, and return whether the system has such files.

    The file gets a name when it is complete. A link cannot replace a file, so that it is first a draft, for an instant.
    """
    if not hasattr(os, "O_TMPFILE"):
        return False
    try:
        handle = os.open(place.parent, os.O_TMPFILE | os.O_WRONLY, 0o666)
    except OSError:  # this file system has none, or the folder is missing: the draft says which
        return False
    with open(handle, "wb") as file:
        file.writelines(map(encoded, text()))
        file.flush()
        os.fsync(file.fileno())
        draft = new_draft(place)
        try:
            os.link(f"/proc/self/fd/{file.fileno()}", draft, follow_symlinks=True)
        except OSError:  # no /proc here
            return False
        try:
            os.replace(draft, place)
        finally:
            draft.unlink(missing_ok=True)
    return True
