"""A reader of JSON from outside, for every file and question, that fails in one way.

A text is refused with ``DataError``, never with another exception, if it is not UTF-8, not JSON, nested deeper than
Python can follow, holds a number that is not finite (also ``1e999``), one with more digits than Python reads, or a key
twice in one object.

``digest`` is a seal for content that nothing else determines: it tells whether a file was changed after it was written.

As lists of Python, an array of small numbers takes ten times its bytes, and as many again as text. ``Listed`` stands
for such lists, and ``pieces`` writes a block of its rows at a time.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from everytree.common.text import clip
from everytree.errors import DataError

__all__ = ["Listed", "digest", "parsed_json", "pieces"]

BLOCK = 2_000  # rows that are lists and text at once


def parsed_json(
    content: bytes | str, what: str = "JSON", expected: str = "the JSON that everytree writes"
) -> Any:
    """Parse a JSON text; the error for another text says "not ``what``", and ends with ``expected``.

    >>> parsed_json(b'{"a": [1, 2.5]}')
    {'a': [1, 2.5]}
    >>> parsed_json("[" * 100_000)
    Traceback (most recent call last):
        ...
    everytree.errors.DataError: not JSON (nested too deep); expected the JSON that everytree writes
    """
    try:
        text = content if isinstance(content, str) else bytes(content).decode("utf-8-sig")
        return json.loads(
            text, parse_constant=_refused, parse_float=_finite, object_pairs_hook=_without_twins
        )
    except DataError:
        raise
    except RecursionError:
        raise DataError(f"not {what} (nested too deep); expected {expected}") from None
    except ValueError as error:  # malformed, not UTF-8, too many digits
        raise DataError(f"not {what} ({error}); expected {expected}") from error


def _refused(text: str) -> Any:
    raise DataError(f"the JSON text holds {text}; expected finite numbers only")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _refused(clip(text))


def _without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise DataError(f"the key {clip(key)} occurs twice in one object")
            seen.add(key)
    return found


@dataclass(frozen=True)
class Listed:
    """An array that is written as the list of its rows."""

    rows: npt.NDArray[Any]

    def plain(self) -> list[Any]:
        """Return the list itself."""
        listed: list[Any] = self.rows.tolist()
        return listed


def pieces(value: Any, **options: Any) -> Iterator[str]:
    """Yield the text that ``json.dumps`` makes of a value, in pieces where it holds something ``Listed``.

    >>> import numpy as np
    >>> list(pieces({"b": Listed(np.eye(2, dtype=int)), "a": 1}, sort_keys=True))
    ['{"a": 1', ', "b": ', '[', '[1, 0], [0, 1]', ']', '}']
    """
    comma, colon = options.get("separators") or (", ", ": ")
    if isinstance(value, Listed):
        yield "["
        for begin in range(0, len(value.rows), BLOCK):
            text = json.dumps(value.rows[begin : begin + BLOCK].tolist(), **options)
            yield (comma if begin else "") + text[1:-1]
        yield "]"
    elif _holds_listed(value):
        before = "{"
        for key in sorted(value) if options.get("sort_keys") else value:
            name = f"{before}{json.dumps(key, **options)}{colon}"
            before = comma
            if _holds_listed(value[key]) or isinstance(value[key], Listed):
                yield name
                yield from pieces(value[key], **options)
            else:
                yield name + json.dumps(value[key], **options)
        yield "}"
    else:
        yield json.dumps(value, **options)


def _holds_listed(value: Any) -> bool:
    return isinstance(value, dict) and any(
        isinstance(each, Listed) or _holds_listed(each) for each in value.values()
    )


def digest(content: Any) -> str:
    """Compute the SHA-256 of plain lists, texts and numbers, whatever the order of keys and the blanks.

    >>> digest({"a": 1, "b": [2.5]}) == digest({"b": [2.5], "a": 1})
    True
    """
    found = hashlib.sha256()
    for piece in pieces(content, sort_keys=True, separators=(",", ":"), allow_nan=False):
        found.update(piece.encode("ascii"))
    return found.hexdigest()
