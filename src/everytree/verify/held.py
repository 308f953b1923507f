"""How the numbers of a column may have been held where a model learned: a CSV file does not tell.

    float32, float16   0.1 is written, and 0.100000001490116… was learned from: the shortest decimal of a short float
    whole numbers      beyond 2^53, beside missing cells: exact where a frame held them, floats where a file was read

The checker reads float64, and whole numbers where no cell is missing. Where a claim is false of these, and every claim
is true of the same cells held otherwise, the file is not contradicted; but nothing tells that they were held so.
"""

from __future__ import annotations

import re
import struct
import time
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

from everytree.verify.csv_file import CsvTable
from everytree.verify.facts import UNCHECKED, Fact, Report
from everytree.verify.problem import quote

__all__ = ["HELD", "other_report"]

WHOLE = re.compile(r"[+-]?[0-9]{1,19}")
PLAIN = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
EXACT = 2**53
LARGEST = 2**63
MOST_TRIES = 32
DIGITS = {
    "float32": ("f", 9),
    "float16": ("e", 5),
}  # the letter of struct, and the digits that tell all apart


def _short(letter: str, value: int | float) -> float:
    """Return the nearest short float; a number that none is near stays."""
    try:
        return float(struct.unpack(letter, struct.pack(letter, value))[0])
    except OverflowError:
        return float(value)


HELD: dict[str, Callable[[Any], int | float]] = {
    "float32": partial(_short, "f"),
    "float16": partial(_short, "e"),
    "whole numbers": int,
}


def _ways(cells: frozenset[str], decimal: str) -> list[str]:
    """Return in which other ways a column may have been held that has these cells, none of them missing."""
    texts = [cell.replace(decimal, ".") for cell in cells]
    if not all(map(PLAIN.fullmatch, texts)):
        return []
    if all(map(WHOLE.fullmatch, texts)):
        numbers = [int(text) for text in texts]
        beyond = any(abs(number) > EXACT for number in numbers)
        return ["whole numbers"] if beyond and all(-LARGEST <= number < LARGEST for number in numbers) else []
    found = []
    values = [float(text) for text in texts]
    for name, (letter, digits) in DIGITS.items():
        shorts = [_short(letter, value) for value in values]
        if shorts != values and all(
            any(float(f"{short:.{n}g}") == value for n in range(1, digits + 1))
            for short, value in zip(shorts, values, strict=True)
        ):
            found.append(name)
    return found


def other_report(
    table: CsvTable,
    names: Collection[str],
    missing: Collection[str],
    decimal: str,
    check: Callable[[CsvTable], Report],
    time_limit: float,
    short: bool = True,
) -> Report | None:
    """Check the same cells held otherwise; return a report in which nothing is false, or None if there is none.

    ``names`` are the columns that the model knows as numbers; without ``short``, none is tried as short floats.
    """
    gone = frozenset(missing)
    ways = {}
    for name in names:
        gaps = gone.intersection(table.columns[name])
        found = _ways(frozenset(table.columns[name]) - gone, decimal)
        found = [way for way in found if (short if way in DIGITS else gaps)]
        if found:
            ways[name] = found
    end = time.monotonic() + time_limit
    for held in islice(_choices(ways), MOST_TRIES):
        report = check(replace(table, held=held))
        if report.ok:
            told = ", ".join(f"{quote(name)} as {way}" for name, way in held.items())
            note = (
                "the claims are true of columns that were held so where the model learned, and not of the numbers as "
                "they are written; nothing tells how they were held"
            )
            fact = Fact("numbers of columns", told, None, UNCHECKED, note, predicts=True)
            return replace(report, facts=(*report.facts, fact))
        if time.monotonic() > end:
            break
    return None


def _choices(ways: dict[str, list[str]]) -> Iterator[dict[str, str]]:
    """Give the ways to hold columns: all in one way first, then each in its own.

    >>> list(_choices({"a": ["float32"], "b": ["float32"]}))
    [{'a': 'float32', 'b': 'float32'}, {'a': 'float32'}, {'b': 'float32'}]
    """
    seen: list[dict[str, str]] = [{}]
    alike = (
        {
            name: word if word in found else found[0]
            for name, found in ways.items()
            if word in found or found[0] not in DIGITS
        }
        for word in DIGITS
    )
    alone = ({name: way} for name, found in ways.items() for way in found)
    each = (
        {name: way for name, way in zip(ways, chosen, strict=True) if way}
        for chosen in product(*([*found, ""] for found in ways.values()))
    )
    for some in (alike, alone, each):
        for held in some:
            if held not in seen:
                seen.append(held)
                yield held
