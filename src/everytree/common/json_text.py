"""A reader of JSON from outside, for every file and question, that fails in one way.

A text is refused with ``DataError``, never with another exception, if it is not UTF-8, not JSON, nested deeper than
Python can follow, holds a number that is not finite (also ``1e999``), one with more digits than Python reads, or a key
twice in one object.

``digest`` is a seal for content that nothing else determines: it tells whether a file was changed after it was written.
"""

from __future__ import annotations

import hashlib
import json
import math
from typing import Any

from everytree.common.text import clip
from everytree.errors import DataError

__all__ = ["digest", "parsed_json"]


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


def digest(content: Any) -> str:
    """Compute the SHA-256 of plain lists, texts and numbers, whatever the order of keys and the blanks.

    >>> digest({"a": 1, "b": [2.5]}) == digest({"b": [2.5], "a": 1})
    True
    """
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("ascii")).hexdigest()
