"""Short texts of values, for messages."""

from __future__ import annotations

import reprlib
from collections.abc import Iterable

__all__ = ["as_number", "clip", "many", "show", "show_many"]


def clip(value: object) -> str:
    """Write a value for a message: short, whatever its size or nesting."""
    try:
        text = reprlib.repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints; an odd __repr__
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."


def as_number(value: float) -> str:
    """Write a number of examples for people: a whole one without a point, another with up to six digits.

    >>> as_number(12), as_number(12.0), as_number(2.5), as_number(1 / 3)
    ('12', '12', '2.5', '0.333333')
    """
    if float(value).is_integer():
        return str(int(value))
    return f"{value:.6g}" if abs(value) < 1e5 else f"{value:.1f}"


def show(value: object, limit: int = 60) -> str:
    """Quote a value for a message, cut short so that a broken file cannot flood the screen.

    >>> show("a" * 100, limit=8)
    "'aaaaaaaa…'"
    """
    if isinstance(value, str) and len(value) > limit:
        return repr(value[:limit] + "…")
    text = repr(value)
    return text if len(text) <= 2 * limit else text[: 2 * limit] + "…"


def show_many(values: Iterable[object], limit: int = 12) -> str:
    """List values for a message: at most ``limit`` of them, then how many more there are.

    >>> show_many(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    items = list(values)
    text = ", ".join(show(item) for item in items[:limit])
    return text if len(items) <= limit else f"{text} and {len(items) - limit} more"


def many(n: int, one: str, several: str | None = None) -> str:
    """Write a number with what it counts.

    >>> many(1, "class", "classes"), many(2, "class", "classes"), many(3, "row")
    ('1 class', '2 classes', '3 rows')
    """
    return f"{n} {one}" if n == 1 else f"{n} {several or one + 's'}"
