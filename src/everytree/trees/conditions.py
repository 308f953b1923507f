"""Outcomes of tests in words, with one condition for each attribute.

    age <= 50 holds, age <= 30 does not         30 < age <= 50
    thal == normal holds, thal == fixed not     thal == normal
    thal == normal does not hold, nor fixed     thal not in {fixed, normal}

Attributes, cuts and values are read from the names that ``Binarizer`` gives to tests; a name of another form stays as
it is. A missing value makes every comparison false, so where an attribute has a test ``age is missing``, "age > 50"
alone would promise too much: it becomes "age > 50 or missing".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

__all__ = ["conditions", "conditions_of"]


class _Part(NamedTuple):
    """The parts of a test's name; kind is one of <=, ==, missing, and plain."""

    attribute: str
    kind: str
    value: str
    number: float


def conditions(items: Iterable[tuple[int, int]], names: Sequence[str] | None) -> tuple[str, ...]:
    """Say the items (test, outcome) as conditions, one per attribute, in the order in which attributes first occur.

    >>> names = ["age <= 30", "age <= 50", "thal == fixed", "thal == normal", "smoker"]
    >>> conditions([(0, 0), (1, 1), (2, 0), (4, 0)], names)
    ('30 < age <= 50', 'thal != fixed', 'not smoker')
    >>> conditions([(0, 0), (2, 0), (3, 1)], names)
    ('age > 30', 'thal == normal')
    """
    if names is None:
        return tuple(f"x{test}" if outcome else f"not x{test}" for test, outcome in items)
    return conditions_of(((names[test], outcome) for test, outcome in items), names)


def conditions_of(asked: Iterable[tuple[str, int]], names: Sequence[str]) -> tuple[str, ...]:
    """Say what was asked, in words, with its outcomes; ``names`` are those of all tests.

    >>> conditions_of([("age <= 54.5", 1), ("age <= 20", 0)], ["age <= 20", "age <= 60"])
    ('20 < age <= 54.5',)
    """
    by_attribute: dict[str, list[tuple[_Part, str, int]]] = {}
    for name, outcome in asked:
        part = _taken_apart(name)
        by_attribute.setdefault(part.attribute, []).append((part, name, outcome))
    known = set(names)
    words: list[str] = []
    for attribute, parts in by_attribute.items():
        words += _said(attribute, parts, f"{attribute} is missing" in known)
    return tuple(words)


def _taken_apart(name: str) -> _Part:
    attribute, op, value = name.rpartition(" <= ")
    if op:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if math.isfinite(number):
            return _Part(attribute, "<=", value, number)
    attribute, op, value = name.partition(" == ")
    if op:
        return _Part(attribute, "==", value, math.nan)
    if name.endswith(" is missing"):
        return _Part(name.removesuffix(" is missing"), "missing", "", math.nan)
    return _Part(name, "plain", "", math.nan)


def _said(attribute: str, parts: list[tuple[_Part, str, int]], may_miss: bool) -> list[str]:
    yes = [part for part, _, outcome in parts if outcome]
    no = [part for part, _, outcome in parts if not outcome]
    kinds = {part.kind for part in yes} | {part.kind for part in no}
    literal = [name if outcome else _not(name) for _, name, outcome in parts]
    if "plain" in kinds or {"<=", "=="} <= kinds:
        return literal
    if any(part.kind == "missing" for part in yes):  # then no comparison holds
        return literal if len(yes) > 1 else [f"{attribute} is missing"]
    present = not may_miss or any(part.kind == "missing" for part in no)
    if "==" in kinds:
        if len(yes) > 1:
            return literal
        if yes:
            return [f"{attribute} == {yes[0].value}"]
        values = sorted(part.value for part in no if part.kind == "==")
        apart = (
            f"{attribute} != {values[0]}"
            if len(values) == 1
            else f"{attribute} not in {{{', '.join(values)}}}"
        )
        return [apart, f"{attribute} is not missing"] if may_miss and present else [apart]
    above = max((part for part in no if part.kind == "<="), key=lambda part: part.number, default=None)
    below = min((part for part in yes), key=lambda part: part.number, default=None)
    if below is not None:
        if above is None:
            return [f"{attribute} <= {below.value}"]
        return [f"{above.value} < {attribute} <= {below.value}"] if above.number < below.number else literal
    if above is None:
        return [f"{attribute} is not missing"]
    return [f"{attribute} > {above.value}" + ("" if present else " or missing")]


def _not(name: str) -> str:
    return f"not {name}" if " " not in name else f"not ({name})"
