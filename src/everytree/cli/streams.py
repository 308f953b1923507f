"""Remarks on stderr: where they cannot be written they are dropped, as what a command does matters more."""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from typing import Any

__all__ = ["drop", "remark"]


def remark(text: str) -> None:
    """Print a line on stderr; if that is full, nothing more is said there. A closed pipe still ends the command."""
    try:
        print(text, file=sys.stderr)
    except BrokenPipeError:
        raise
    except OSError:
        drop(sys.stderr)


def drop(stream: Any) -> None:
    """Drop what a stream still holds and cannot write, which Python would make an error of its own at the end."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
