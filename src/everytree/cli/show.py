"""Print what commands have to say: tables and text for a person, JSON for a program, remarks on stderr."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from everytree.cli.streams import remark
from everytree.cli.words import in_options

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["console", "finite", "heard", "note", "print_json", "table", "text_of"]


def console() -> Console:
    """Return the console for a person: stdout, no markup in names of the data, long lines left long."""
    from rich.console import Console

    return Console(highlight=False, markup=False, soft_wrap=True)


def table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> None:
    """Print a table; the first ``left`` columns are flush left, numbers after them flush right."""
    from rich.table import Table
    from rich.text import Text

    made = Table(title=Text(title), title_justify="left")
    for place, name in enumerate(header):
        made.add_column(Text(name), justify="left" if place < left else "right", overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
    console().print(made)


def note(text: str) -> None:
    """Print a remark on stderr, so that stdout stays what was asked for."""
    remark(f"note: {text}")


def print_json(value: Any) -> None:
    """Print one JSON value on stdout; numbers that JSON has no word for are null."""
    print(json.dumps(finite(value), indent=2, ensure_ascii=False))


def finite(value: Any) -> Any:
    """Turn a value into plain JSON: arrays become lists, numpy numbers numbers, infinities and NaN null.

    >>> finite({"gap": float("inf"), "sizes": (1, 2)})
    {'gap': None, 'sizes': [1, 2]}
    """
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if hasattr(value, "tolist"):
        return finite(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def text_of(number: float) -> str:
    """Write a number for a person: whole ones whole, the others with six digits.

    >>> text_of(3.0), text_of(0.12345678)
    ('3', '0.123457')
    """
    return f"{number:.0f}" if float(number).is_integer() and abs(number) < 1e15 else f"{number:.6g}"


@contextmanager
def heard() -> Iterator[list[str]]:
    """Collect the warnings inside the block, in the words of the command, instead of Python's own lines on stderr."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield texts
        finally:
            for warning in caught:
                said = warning.message.args[0] if isinstance(warning.message, Warning) else warning.message
                text = in_options(said) if isinstance(said, str) else str(warning.message)
                quiet = issubclass(warning.category, DeprecationWarning | FutureWarning)
                if not quiet and "feature names" not in text and text not in texts:
                    texts.append(text)
