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

__all__ = ["by_label", "class_weighted", "counted", "idle_labels", "in_examples"]

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
        told = by_label(given)
        of_class = [Fraction(str(told.get(label, 1))) for label in classes]
    # The product is rounded to a float, as the model's was.
    return [Fraction(float(w * of_class[code])) for code, w in zip(codes, weights, strict=True)]


def idle_labels(given: Any) -> frozenset[Any]:
    """Return the labels whose examples weigh nothing: such a class is none of the model's.

    >>> idle_labels({"a": 0, "b": 2}), idle_labels("balanced")
    (frozenset({'a'}), frozenset())
    """
    return (
        frozenset(label for label, w in by_label(given).items() if w == 0)
        if isinstance(given, dict)
        else frozenset()
    )


def by_label(given: Any) -> dict[Any, int | float]:
    """Return the weights of classes by their labels; 1, 1.0 and true are one label, as they are where models learn.

    >>> by_label({"$dict": [[1.0, 2]]})[1]
    2
    """
    pairs = given.get("$dict", list(map(list, given.items()))) if isinstance(given, dict) else None
    fine = isinstance(pairs, list) and all(
        isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], bool | int | float | str)
        and is_number(pair[1]) and pair[1] >= 0
        for pair in pairs
    )  # fmt: skip
    if not isinstance(pairs, list) or not fine:
        raise InputError(
            f"params.class_weight is {quote(given)}; expected a weight for each label, or 'balanced'"
        )
    return dict(pairs)
