"""The one error of the checker: an input that cannot be read, so that nothing can be said about the claims."""

from __future__ import annotations

import math
import sys
from typing import Any, TypeGuard

from everytree.errors import DataError

__all__ = ["InputError", "is_number", "is_share", "quote"]


class InputError(DataError):
    """The model file or the data cannot be read; the message says where, what was found and what was expected."""


def quote(value: object, limit: int = 60) -> str:
    """Write a value for a message, cut short.

    >>> quote("a" * 100, 8)
    "'aaaaaaa…"
    """
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # an integer with more digits than Python prints
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else text[:limit] + "…"


def is_number(value: Any) -> TypeGuard[int | float]:
    """Return whether a value is a finite number that a float can hold; a truth value is none.

    >>> is_number(0.5), is_number(True), is_number(10**400)
    (True, False, False)
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= sys.float_info.max


def is_share(value: Any) -> bool:
    """Return whether a value is a number from 0 to 1.

    >>> is_share(0.5), is_share(1.5), is_share(float("nan"))
    (True, False, False)
    """
    return is_number(value) and 0 <= value <= 1
