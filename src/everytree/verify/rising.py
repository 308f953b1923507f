"""log Γ(x + n) − log Γ(x), also where x is so much larger than n that both have the same digits.

from 1,000 on, with Stirling's log Γ(x) = (x − ½) log x − x + ½ log 2π + s(x),   s(x) = 1/(12 x) − 1/(360 x³) + …:
n log x + (x + n − ½) log(1 + n/x) − n + s(x + n) − s(x)
"""

from __future__ import annotations

import math
from typing import Any

__all__ = ["log_rising"]

LARGE = 1000.0


def log_rising(x: float, n: Any) -> float:
    """Return log Γ(x + n) − log Γ(x), which for a whole n is log (x (x + 1) … (x + n − 1)).

    >>> round(log_rising(1.0, 3), 9) == round(math.log(6), 9), round(log_rising(1e50, 2) / math.log(10), 9)
    (True, 100.0)
    """
    n = float(n)
    if n == 0:
        return 0.0
    if x < LARGE:
        return math.lgamma(x + n) - math.lgamma(x)
    return math.fsum((n * math.log(x), (x + n - 0.5) * math.log1p(n / x), -n, _series(x + n), -_series(x)))


def _series(x: float) -> float:
    return (1 / 12 - (1 / 360 - 1 / (1260 * x * x)) / (x * x)) / x
