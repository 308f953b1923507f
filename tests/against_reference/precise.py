"""The exact average of ``reference.Bayes`` in decimal numbers of 50 digits, for covers of any size.

A ``Decimal`` carries its exponent apart, so nothing underflows and no logarithms are needed:

    u(I) = Vleaf(I) + Σ_i Vint(I, i) · u(I∪i) · u(I∪¬i)      in plain numbers

Only log Γ is a formula of its own here: Γ(x) = Γ(x + m) / (x (x+1) … (x+m−1)), and Stirling's series for
x + m ≥ 50.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

from everytree.reference import Bayes

DIGITS = 50
# B_2k / (2k (2k − 1)) for k = 1..12: at x ≥ 50 the next term is below 10^-30.
STIRLING = [
    Fraction(*b) / (2 * k * (2 * k - 1))
    for k, b in enumerate(
        [(1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510), (43867, 798),
         (-174611, 330), (854513, 138), (-236364091, 2730)], 1,
    )
]  # fmt: skip
HALF_LOG_2PI = Decimal("0.91893853320467274178032973640561763986139747363778")


@cache
def log_gamma(x: Decimal) -> Decimal:
    """ln Γ(x) to about 30 digits."""
    product = Decimal(1)
    while x < 50:
        product *= x
        x += 1
    total = (x - Decimal("0.5")) * x.ln() - x + HALF_LOG_2PI - product.ln()
    for k, b in enumerate(STIRLING, 1):
        total += Decimal(b.numerator) / Decimal(b.denominator) / x ** (2 * k - 1)
    return total


class Precise:
    """``reference.Bayes`` in plain decimal numbers."""

    def __init__(self, model: Bayes) -> None:
        self.model = model
        self._u: dict[tuple[int, int], Decimal] = {}

    def leaf(self, cover: int, depth: int) -> Decimal:
        """Vleaf."""
        counts, a = self.model.table.class_counts(cover), [Decimal(x) for x in self.model.a(depth)]
        log_m = log_gamma(sum(a, Decimal(0))) - log_gamma(sum(a, Decimal(0)) + sum(counts))
        for n_c, a_c in zip(counts, a, strict=True):
            log_m += log_gamma(a_c + n_c) - log_gamma(a_c)
        feasible = self.model.space.feasible(cover, depth)
        return (log_m + Decimal(self.model.prior.log_leaf(depth, feasible))).exp()

    def option(self, cover: int, depth: int, test: int) -> Decimal:
        """Vint · u · u of a split."""
        zero, one = self.model.table.children(cover, test)
        split = Decimal(self.model.log_split(cover, depth, test)).exp()
        return split * self.u(zero, depth + 1) * self.u(one, depth + 1)

    def u(self, cover: int, depth: int) -> Decimal:
        """u of a state."""
        state = (cover, depth)
        if state not in self._u:
            total = self.leaf(cover, depth)
            for test in self.model.space.feasible(cover, depth):
                total += self.option(cover, depth, test)
            self._u[state] = total
        return self._u[state]

    @property
    def log_evidence(self) -> float:
        """log u(∅)."""
        with localcontext(prec=DIGITS, Emax=10**17, Emin=-(10**17)):
            return float(self.u(self.model.space.root, 0).ln())

    def root_distribution(self) -> list[float]:
        """P(root = i) for every test."""
        with localcontext(prec=DIGITS, Emax=10**17, Emin=-(10**17)):
            root = self.model.space.root
            feasible = self.model.space.feasible(root, 0)
            return [
                float(self.option(root, 0, test) / self.u(root, 0)) if test in feasible else 0.0
                for test in range(self.model.table.n_tests)
            ]

    def predict_proba(self, row: Sequence[int]) -> list[float]:
        """P(c | x)."""
        with localcontext(prec=DIGITS, Emax=10**17, Emin=-(10**17)):
            return [float(p) for p in self._predict(row, self.model.space.root, 0)]

    def _predict(self, row: Sequence[int], cover: int, depth: int) -> list[Decimal]:
        table = self.model.table
        a = [Decimal(x) for x in self.model.a(depth)]
        counts = table.class_counts(cover)
        weight = self.leaf(cover, depth) / (sum(counts) + sum(a, Decimal(0)))
        total = [weight * (n_c + a_c) for n_c, a_c in zip(counts, a, strict=True)]
        for test in self.model.space.feasible(cover, depth):
            share = self.option(cover, depth, test)
            below = self._predict(row, table.children(cover, test)[row[test]], depth + 1)
            total = [t + share * b for t, b in zip(total, below, strict=True)]
        return [t / self.u(cover, depth) for t in total]
