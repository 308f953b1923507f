"""Read what a request brings; whatever is wrong with it ends in a ``DataError`` of one line.

body       UTF-8, JSON without NaN and Infinity, numbers of at most 40 digits, nested at most 8 deep
client     letters, digits, - and _; a request without a client belongs to the client ""
data       the number of the data set that the page is about
"""

from __future__ import annotations

import json
import re
from typing import Any

from everytree.draw.labels import shorten
from everytree.errors import DataError

__all__ = ["MOST_JSON", "client_of", "message_of", "number_of", "read_json"]

MOST_JSON = 2**20
MOST_DEPTH = 8
MOST_DIGITS = 40
MOST_MESSAGE = 600
CLIENT = re.compile(r"[A-Za-z0-9_-]{0,64}")


def read_json(content: bytes) -> Any:
    """Return the value in a body.

    >>> read_json(b'{"max_depth": 3}')
    {'max_depth': 3}
    """
    try:
        text = content.decode("utf-8")
        value = json.loads(text, parse_constant=_refused, parse_int=_whole)
    except UnicodeDecodeError as error:
        raise DataError(f"the request is not UTF-8 ({error}); send JSON in UTF-8") from None
    except RecursionError:
        raise _too_deep() from None
    except json.JSONDecodeError as error:
        raise DataError(f"the request is not JSON: {error}") from None
    level, depth = [value], 0
    while level := [
        inner
        for each in level
        if isinstance(each, dict | list)
        for inner in (each.values() if isinstance(each, dict) else each)
    ]:
        depth += 1
        if depth > MOST_DEPTH:
            raise _too_deep()
    return value


def _too_deep() -> DataError:
    return DataError(
        f"the request is nested too deeply; a question has at most {MOST_DEPTH} levels of brackets"
    )


def _refused(word: str) -> Any:
    raise DataError(f"the request holds {word}, which is no number of JSON")


def _whole(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise DataError(f"the request holds a number of {len(digits)} digits; expected at most {MOST_DIGITS}")
    return int(digits)


def client_of(given: str | None) -> str:
    """Return the name of the client that asks."""
    if given is None:
        return ""
    if not CLIENT.fullmatch(given):
        raise DataError("X-Everytree-Client: expected at most 64 letters, digits, - and _")
    return given


def number_of(given: str | None) -> int | None:
    """Return the number of the data set that a page is about; None where the request does not say."""
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= MOST_DIGITS):
        raise DataError("X-Everytree-Data: expected the number of the data set, as the page has it")
    return int(given)


def message_of(error: BaseException) -> str:
    """Write an error as one printable line."""
    return shorten(str(error) or type(error).__name__, MOST_MESSAGE)
