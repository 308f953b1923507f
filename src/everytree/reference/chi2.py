"""How far a leaf differs from the rest of the data: Pearson's χ² of leaf-versus-rest against the class.

    χ² = Σ_{side, c} (O − E)² / E,   E = (examples on the side) · (examples of class c) / (all examples)

over the two sides (leaf, rest) and the classes that occur, with (classes that occur − 1) degrees of freedom.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

__all__ = ["chi2", "chi2_p_value", "chi2_tail"]


def chi2(leaf: Sequence[int], total: Sequence[int]) -> float:
    """Return χ² of a leaf with these class counts inside data with the class counts ``total``.

    A leaf that holds everything or nothing is independent of the class: 0. A perfect separation gives N:

    >>> chi2((3, 0), (3, 2)), chi2((3, 2), (3, 2))
    (5.0, 0.0)
    """
    n_leaf, n = sum(leaf), sum(total)
    rest = [t - l for l, t in zip(leaf, total, strict=True)]
    statistic = Fraction(0)
    for side, n_side in ((leaf, n_leaf), (rest, n - n_leaf)):
        for observed, n_class in zip(side, total, strict=True):
            if n_side and n_class:
                expected = Fraction(n_side * n_class, n)
                statistic += (observed - expected) ** 2 / expected
    return float(statistic)


def chi2_tail(x: float, dof: int) -> float:
    """Return P(X ≥ x) for a χ² variable with a whole number of degrees of freedom.

        even dof:  e^(−x/2) Σ_{j < dof/2} (x/2)^j / j!
        odd dof:   erfc(√(x/2)) + e^(−x/2) Σ_{1 ≤ j ≤ (dof−1)/2} (x/2)^(j−½) / Γ(j+½)

    >>> chi2_tail(2 * math.log(4), 2), chi2_tail(0.0, 3), chi2_tail(1.0, 0)
    (0.25, 1.0, 0.0)
    """
    half = x / 2
    if dof == 0:
        return 1.0 if x <= 0 else 0.0
    if dof % 2 == 0:
        return math.fsum(math.exp(-half) * half**j / math.factorial(j) for j in range(dof // 2))
    steps = range(1, (dof - 1) // 2 + 1)
    return math.fsum(
        [
            math.erfc(math.sqrt(half)),
            *(math.exp(-half) * half ** (j - 0.5) / math.gamma(j + 0.5) for j in steps),
        ]
    )


def chi2_p_value(leaf: Sequence[int], total: Sequence[int]) -> float:
    """Return the p-value of ``chi2(leaf, total)``.

    >>> chi2_p_value((3, 2), (3, 2))
    1.0
    """
    return chi2_tail(chi2(leaf, total), sum(1 for n_class in total if n_class) - 1)
