"""The one error of the checker: an input that cannot be read, so that nothing can be said about the claims."""

from __future__ import annotations

from everytree.errors import DataError

__all__ = ["InputError", "quote"]


class InputError(DataError):
    """The model file or the data cannot be read; the message says where, what was found and what was expected."""


def quote(value: object, limit: int = 60) -> str:
    """A value for a message, cut short.

    >>> quote("a" * 100, 8)
    "'aaaaaaa…"
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with more digits than Python prints
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + "…"
