"""Names and numbers as the page shows them: one printable line, never longer than a person reads."""

from __future__ import annotations

import math
from typing import Any

from everytree.draw.labels import shorten

__all__ = ["WIDEST", "large", "shown", "told"]

WIDEST = 160  # letters of a name; the page distinguishes names by their positions, so cutting them is safe


def shown(text: object) -> str:
    """Shorten a name from somebody's data to one printable line.

    >>> shown("two\\nlines"), len(shown("x" * 10_000))
    ('two lines', 160)
    """
    return shorten(text, WIDEST)


def large(n: int) -> str:
    """Write a count, exactly if it is short.

    >>> large(1234567), large(17343653528419225876)
    ('1,234,567', 'about 1.73 × 10^19')
    """
    if abs(n) < 10**12:
        return f"{n:,}"
    exact = _log10(abs(n))
    power = math.floor(exact)
    return f"about {'-' if n < 0 else ''}{10 ** (exact - power):.2f} × 10^{power}"


def _log10(n: int) -> float:
    shift = max(0, n.bit_length() - 900)
    return math.log10(n >> shift) + shift * math.log10(2)


def told(value: Any) -> str:
    """Write a setting or a result for people.

    >>> told(None), told(True), told(0.123456789), told(("error", "size"))
    ('–', 'yes', '0.123457', 'error, size')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return large(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, list | tuple) and all(isinstance(each, str | int | float) for each in value):
        return shown(", ".join(map(told, value)))
    return shown(value)
