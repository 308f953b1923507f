"""The file of an itemset database: JSON lines.

    {"format": "everytree itemsets", "version": 1, "tests": ["A", "B"], "classes": ["no", "yes"], "min_leaf": 5}
    [[], [40, 60]]
    [[[0, 1]], [10, 30]]

The first line is the header; ``tests`` are names or a number, ``classes``, ``max_depth``, ``extend_pure`` and ``paths``
(the name of a constraint that the itemsets were mined with) may be left out. Each other line is an itemset, as pairs of
test and outcome, with its class counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from everytree.common.drafts import draft_of
from everytree.common.fields import plain_scalar
from everytree.common.json_text import parsed_json
from everytree.common.text import clip
from everytree.errors import DataError

__all__ = ["FORMAT", "VERSION", "read", "write"]

FORMAT, VERSION = "everytree itemsets", 1
LONGEST_LINE = 2**24
MOST_LINES = 10**7
DEFAULTS: dict[str, Any] = {
    "tests": None, "classes": None, "min_leaf": 1, "max_depth": None, "extend_pure": False, "paths": None,
}  # fmt: skip


def write(
    fields: Mapping[str, Any],
    itemsets: Mapping[tuple[int, ...], tuple[int, ...]],
    path: str | os.PathLike[str],
) -> None:
    """Write the fields of a header and the itemsets, whole or not at all."""
    labels = None if fields["classes"] is None else [plain_scalar(label) for label in fields["classes"]]
    for label in labels or ():
        if not isinstance(label, bool | int | float | str):
            raise DataError(
                f"the label {clip(label)} is a {type(label).__name__}; expected texts, numbers or booleans"
            )
    header = {"format": FORMAT, "version": VERSION} | dict(fields) | {"classes": labels}
    with draft_of(path) as draft, open(draft, "w", encoding="utf-8", newline="\n") as file:
        file.write(json.dumps(header, ensure_ascii=False, allow_nan=False) + "\n")
        for items, counts in itemsets.items():
            file.write(json.dumps([[[item >> 1, item & 1] for item in items], list(counts)]) + "\n")


def read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Iterator[Any]]:
    """Read a file: its header, with defaults, and its itemsets one by one."""
    lines = _lines(path)
    header = next(lines, None)
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        raise DataError(
            f'{os.fspath(path)} is no file of itemsets; expected a first line with "format": "{FORMAT}"'
        )
    if header.get("version") != VERSION:
        raise DataError(
            f"the file has version {clip(header.get('version'))}; expected {VERSION}: save it again with this everytree"
        )
    unknown = [name for name in header if name not in DEFAULTS and name not in ("format", "version")]
    if unknown:
        raise DataError(f"the header has the field {clip(unknown[0])}; expected {', '.join(DEFAULTS)}")
    header = DEFAULTS | header
    tests, classes = header["tests"], header["classes"]
    listed = isinstance(tests, list) and all(isinstance(name, str) for name in tests)
    if not (tests is None or listed or type(tests) is int):
        raise DataError(f"tests is {clip(tests)}; expected a list of names, or their number")
    if not (classes is None or isinstance(classes, list)):
        raise DataError(f"classes is {clip(classes)}; expected a list of labels")
    if not isinstance(header["extend_pure"], bool):
        raise DataError(f"extend_pure is {clip(header['extend_pure'])}; expected true or false")
    if not (header["paths"] is None or isinstance(header["paths"], str)):
        raise DataError(f"paths is {clip(header['paths'])}; expected the name of a constraint")
    return header, lines


def _lines(path: str | os.PathLike[str]) -> Iterator[Any]:
    with open(path, "rb") as file:
        for number in range(1, MOST_LINES + 2):
            line = file.readline(LONGEST_LINE + 1)
            if not line:
                return
            if len(line) > LONGEST_LINE:
                raise DataError(
                    f"line {number} is longer than {LONGEST_LINE} bytes; expected one itemset on each line"
                )
            if line.strip():
                yield parsed_json(line, f"JSON on line {number}", "one itemset on each line")
        raise DataError(
            f"the file has more than {MOST_LINES} lines; expected fewer: mine with a larger min_leaf"
        )
