"""The words of an ARFF line: values, quotes, escapes, comments.

    list    = value { separator value }
    value   = 'quoted' | "quoted" | plain          plain: no blank, comma, quote, brace or percent sign
    separator = comma (blanks around it do not count), or blanks throughout a list without commas
    comment = % at the start of a line or after a blank, up to the end of the line

A plain ``?`` is a missing value (None); a quoted ``'?'`` is the text "?".
"""

from __future__ import annotations

import re

from everytree.common.text import show
from everytree.errors import DataError

__all__ = ["rest_is_comment", "scan_braced", "scan_list", "scan_value", "skip_blanks", "unescape"]

_BLANKS = re.compile(r"[ \t\r\n\f\v]*")
_PLAIN = re.compile(r"""[^ \t\r\n\f\v,'"{}%]+""")
_QUOTED = {
    "'": re.compile(r"'[^'\\]*(?:\\.[^'\\]*)*'", re.DOTALL),
    '"': re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL),
}
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|([0-3]?[0-7]{1,2})|(.))", re.DOTALL)
_NAMED_ESCAPES = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


def skip_blanks(line: str, position: int) -> int:
    """The position of the next character that is not blank."""
    match = _BLANKS.match(line, position)
    return match.end() if match else position


def rest_is_comment(line: str, position: int) -> bool:
    """Whether nothing but blanks and a comment follows."""
    position = skip_blanks(line, position)
    return position >= len(line) or line[position] == "%"


def unescape(text: str) -> str:
    r"""Undo backslash escapes: named ones, octal and \\uXXXX; any other character stands for itself.

    >>> unescape(r"it\'s 5\% \\ caf\u00e9")
    "it's 5% \\ café"
    """
    if "\\" not in text:
        return text
    plain = _ESCAPE.sub(_unescaped, text)
    # Java writes characters beyond U+FFFF as two halves; a half alone is no character.
    return plain.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unescaped(match: re.Match[str]) -> str:
    code, octal, character = match.groups()
    if code:
        return chr(int(code, 16))
    if octal:
        return chr(int(octal, 8))
    return _NAMED_ESCAPES.get(character, character)


def scan_value(line: str, position: int, place: str) -> tuple[str | None, int]:
    """Read one value; gives the value (None if missing) and the position after it."""
    character = line[position : position + 1]
    if character in _QUOTED and character:
        match = _QUOTED[character].match(line, position)
        if match is None:
            raise DataError(
                f"{place}: the quote {character} before {show(line[position + 1 : position + 21].strip())} "
                "is never "
                f"closed on this line; expected {character}, or \\{character} if it is part of the value"
            )
        value = unescape(match.group()[1:-1])
        if "\0" in value:
            raise DataError(f"{place}: an escaped NUL in {show(match.group())}; expected text")
        return value, match.end()
    match = _PLAIN.match(line, position)
    if match is None:
        found = show(character) if character else "the end of the line"
        raise DataError(f"{place}: {found} where a value was expected; write ? for a missing value")
    end = match.end()
    following = line[end : end + 1]
    if following and following in "'\"%":
        raise DataError(
            f"{place}: {following} inside the value {show(match.group() + following)}; "
            "put the whole value in quotes (or a blank before a comment)"
        )
    return (None if match.group() == "?" else match.group()), end


def scan_list(line: str, position: int, place: str) -> tuple[list[str | None], int, bool]:
    """Read a list of values up to a brace, a comment or the end of the line.

    Gives the values, the position after them, and whether the list ends with a comma.

    >>> scan_list("1, 'a b', ?  % note", 0, "x.arff:1")
    (['1', 'a b', None], 13, False)
    """
    values: list[str | None] = []
    comma = blank_joined = 0  # commas seen; position of a value that follows another after blanks only
    position = skip_blanks(line, position)
    after_comma = False
    while position < len(line) and line[position] not in "{}%":
        if values and not after_comma:
            if line[position - 1] not in " \t\r\n\f\v":
                raise DataError(
                    f"{place}: {show(line[position : position + 10])} right after a closing quote; "
                    "expected a comma. Inside quotes, write a backslash before a quote"
                )
            blank_joined = position
        if comma and blank_joined:
            raise _blank_inside(line, blank_joined, place)
        value, position = scan_value(line, position, place)
        values.append(value)
        position = skip_blanks(line, position)
        after_comma = line[position : position + 1] == ","
        if after_comma:
            comma += 1
            if blank_joined:
                raise _blank_inside(line, blank_joined, place)
            position = skip_blanks(line, position + 1)
    return values, position, after_comma


def _blank_inside(line: str, position: int, place: str) -> DataError:
    before = line[:position].rstrip().rsplit(",", 1)[-1].strip()
    word = _PLAIN.match(line, position)
    text = f"{before} {word.group() if word else line[position : position + 10]}"
    return DataError(
        f"{place}: a blank inside {show(text)}; expected a comma, or quotes around a value with blanks"
    )


def scan_braced(line: str, position: int, place: str) -> tuple[list[str | None], int]:
    """Read ``{value, …}`` from its opening brace; gives the values and the position after it."""
    values, position, trailing = scan_list(line, position + 1, place)
    if line[position : position + 1] != "}":
        raise DataError(f"{place}: the brace {{ is never closed on this line; expected }}")
    if trailing:
        raise DataError(f"{place}: a comma before the closing brace; expected another value")
    return values, position + 1
