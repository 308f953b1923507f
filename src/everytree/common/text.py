"""Short texts of values, for messages."""

from __future__ import annotations

import reprlib

__all__ = ["clip"]


def clip(value: object) -> str:
    """Write a value for a message: short, whatever its size or nesting."""
    try:
        text = reprlib.repr(value)
    except (ValueError, RecursionError):  # an integer of more digits than Python prints; an odd __repr__
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= 60 else text[:57] + "..."
