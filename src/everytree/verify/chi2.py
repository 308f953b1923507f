"""χ² of a leaf against the rest of the data: exactly, as a ratio of whole numbers, and its p-value.

    χ² = Σ (O − E)² / E  over {leaf, rest} × classes        E = (size of the side) · (size of the class) / n

With n_L examples in the leaf, l_c of class c in it and t_c in all, both sides of one class add up to
(n·l_c − n_L·t_c)² / (t_c · n_L · (n − n_L)), which is what is summed here. Classes that do not occur do not count.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["chi2_statistic", "upper_tail"]


def chi2_statistic(leaf: Sequence[int], total: Sequence[int]) -> Fraction:
    """Compute χ² of a leaf with these class counts in data with the class counts ``total``.

    >>> chi2_statistic((3, 0), (3, 2)), chi2_statistic((3, 2), (3, 2))
    (Fraction(5, 1), Fraction(0, 1))
    """
    n, inside = sum(total), sum(leaf)
    if inside in (0, n):
        return Fraction(0)
    terms = (Fraction((n * l - inside * t) ** 2, t) for l, t in zip(leaf, total, strict=True) if t)
    return sum(terms, Fraction(0)) / (inside * (n - inside))


def upper_tail(x: float, freedom: int) -> float:
    """Compute P(X ≥ x) for χ² with these degrees of freedom: Q(k+2) = Q(k) + (x/2)^(k/2) e^(−x/2) / Γ(k/2 + 1).

    >>> round(upper_tail(3.841458820694124, 1), 12), upper_tail(0.0, 4)
    (0.05, 1.0)
    """
    if freedom <= 0:
        return 1.0 if x <= 0 else 0.0
    if x <= 0:
        return 1.0
    half = x / 2
    tail, k = (math.erfc(math.sqrt(half)), 1) if freedom % 2 else (math.exp(-half), 2)
    while k < freedom:
        tail += math.exp(k / 2 * math.log(half) - half - math.lgamma(k / 2 + 1))
        k += 2
    return tail
