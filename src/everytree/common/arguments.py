"""Checks of arguments: one message for each kind of mistake, with the name, the value and what was expected."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from everytree.errors import QueryError

__all__ = ["MOST", "generator", "number", "whole"]

MOST = 2**31 - 1  # largest count that the core takes


def whole(name: str, value: Any, least: int, *, none: str | None = None) -> int:
    """``value`` as an int between ``least`` and 2^31 − 1; whole floats and numpy integers are fine."""
    expected = f"expected a whole number ≥ {least}" + (f", or None for {none}" if none else "")
    try:
        if isinstance(value, bool):
            raise TypeError
        exact = int(value) if isinstance(value, float) and value.is_integer() else operator.index(value)
    except TypeError:
        raise QueryError(f"{name}={value!r}; {expected}") from None
    if exact < least:
        raise QueryError(f"{name}={value!r}; {expected}")
    if exact > MOST:
        raise QueryError(f"{name}={value!r} is too large; {expected} and below 2^31")
    return exact


def number(name: str, value: Any, low: float, high: float, *, example: float, closed: bool = False) -> float:
    """``value`` as a float with low < value < high, or low ≤ value < high if ``closed``."""
    try:
        if isinstance(value, bool | str | bytes):
            raise TypeError
        exact = float(value)
    except (TypeError, ValueError, OverflowError):
        exact = math.nan
    if not (low < exact < high or (closed and exact == low)):
        span = f"{'≥' if closed else 'above'} {low:g}" if math.isfinite(low) else ""
        if math.isfinite(high):
            span = f"from {low:g} to {high:g}" if closed else f"between {low:g} and {high:g}"
        raise QueryError(
            f"{name}={value!r}; expected a finite number{' ' + span if span else ''}, such as {example:g}"
        )
    return exact


def generator(random_state: Any) -> np.random.Generator:
    """The generator of a ``random_state``: a seed, a generator that goes on, or None for a new one each time."""
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError):
        raise QueryError(
            f"random_state={random_state!r}; expected a whole number ≥ 0, a numpy Generator, or None"
        ) from None
