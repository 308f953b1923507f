"""Weights of rows as whole counts, where they have fractions, and as weights of classes change them.

A row of weight w stands for w · per_example counts. per_example is 1 where all weights are whole; else the least number
that makes all of them whole, where it is at most 2^20; else the finest power of two with which all counts together stay
below 2^29, and every weight is rounded to a whole number of counts, at least one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from everytree.verify.problem import InputError, is_number, quote

__all__ = ["class_weighted", "counted", "idle_labels", "in_examples"]

MOST = 2**29 - 1
FINEST = 2**20
SAME = Fraction(1, 2**50)


def in_examples(n: int, per_example: int) -> Any:
    """Return counts as examples: an int, or a Fraction where a count is a part of an example."""
    return n if per_example == 1 else Fraction(n, per_example)


def counted(weights: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return the counts of rows with these weights, and how many counts make one example.

    >>> counted([Fraction(1, 2), Fraction(3)])
    ([1, 6], 2)
    """
    if all(w.denominator == 1 for w in weights):
        return [int(w) for w in weights], 1
    near = [w.limit_denominator(FINEST) for w in weights]
    parts = 1
    for each, w in zip(near, weights, strict=True):
        parts = math.lcm(parts, each.denominator) if abs(each - w) <= SAME * w else FINEST + 1
        if parts > FINEST:
            break
    total = sum(weights, Fraction(0))
    if parts <= FINEST and parts * total <= MOST:
        return [round(w * parts) for w in near], parts
    if total > MOST - len(weights):
        raise InputError(
            f"weights with fractions add up to {quote(int(total), 20)}; expected at most {MOST - len(weights)}"
        )
    parts = 2 ** min(int(math.log2((MOST - len(weights)) / total)), 52)
    return [max(round(w * parts), int(w > 0)) for w in weights], parts


def class_weighted(
    given: Any, classes: Sequence[Any], codes: Sequence[int], weights: Sequence[Fraction]
) -> list[Fraction]:
    """Return the weights of rows times those of their classes: a dict by label, or "balanced"."""
    totals = [Fraction(0)] * len(classes)
    for code, w in zip(codes, weights, strict=True):
        totals[code] += w
    if given == "balanced":
        occurring = sum(n > 0 for n in totals)
        of_class = [sum(totals, Fraction(0)) / (occurring * n) if n else Fraction(1) for n in totals]
    else:
        of_class = _by_label(given, classes)
    # The product is rounded to a float, as the model's was.
    return [Fraction(float(w * of_class[code])) for code, w in zip(codes, weights, strict=True)]


def idle_labels(given: Any) -> frozenset[str]:
    """Return the labels, as text, whose examples weigh nothing: such a class is none of the model's.

    >>> idle_labels({"a": 0, "b": 2}), idle_labels("balanced")
    (frozenset({'a'}), frozenset())
    """
    return (
        frozenset(str(label) for label, w in _pairs(given) if w == 0)
        if isinstance(given, dict)
        else frozenset()
    )


def _by_label(given: Any, classes: Sequence[Any]) -> list[Fraction]:
    by_text = {str(label): Fraction(str(w)) for label, w in _pairs(given)}
    return [by_text.get(str(label), Fraction(1)) for label in classes]


def _pairs(given: Any) -> list[list[Any]]:
    pairs = given.get("$dict", list(map(list, given.items()))) if isinstance(given, dict) else None
    fine = isinstance(pairs, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in pairs)
    if pairs is None or not fine or not all(is_number(w) and w >= 0 for _, w in pairs):
        raise InputError(
            f"params.class_weight is {quote(given)}; expected a weight for each label, or 'balanced'"
        )
    return pairs  # type: ignore[no-any-return]
