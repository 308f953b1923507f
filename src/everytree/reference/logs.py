"""Sums of numbers that are kept as logarithms; log 0 is minus infinity and is a legal value everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterable

__all__ = ["LOG_ZERO", "log", "log_sum"]

LOG_ZERO = -math.inf


def log(x: float) -> float:
    """Return the natural logarithm with log 0 = −∞.

    >>> log(0.0)
    -inf
    """
    return math.log(x) if x > 0 else LOG_ZERO


def log_sum(log_values: Iterable[float]) -> float:
    """Return log Σ exp(log_value); the empty sum is log 0.

    The largest term is taken out first, so nothing overflows and the largest term never underflows.

    >>> round(math.exp(log_sum([math.log(2), math.log(3), LOG_ZERO])), 12)
    5.0
    """
    terms = list(log_values)
    top = max(terms, default=LOG_ZERO)
    if top == LOG_ZERO:
        return LOG_ZERO
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))
