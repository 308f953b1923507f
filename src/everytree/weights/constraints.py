"""Constraints on every leaf of a tree: the words that ``leaf=`` understands.

    Support(n)      f(leaf) ≥ n examples
    Margin(m)       the largest class leads every other class by at least m examples
    ChiSquare(t)    χ² of leaf-versus-rest against the class ≥ t, or its p-value ≤ p

A threshold is reached if the statistic, rounded to the nearest float, reaches it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from everytree.common.arguments import number, refused, whole
from everytree.common.values import written
from everytree.errors import QueryError

if TYPE_CHECKING:
    import everytree._core as _core

__all__ = ["ChiSquare", "LeafConstraints", "Margin", "Support", "chi2_threshold", "leaf_constraints"]


@written
@dataclass(frozen=True)
class Support:
    """Every leaf holds at least ``examples`` examples.

    >>> Support(20)
    Support(20)
    """

    examples: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", whole("Support", self.examples, 1))

    def __repr__(self) -> str:
        return f"Support({self.examples})"


@written
@dataclass(frozen=True)
class Margin:
    """In every leaf the largest class leads every other class by at least ``examples`` examples.

    >>> Margin(5)
    Margin(5)
    """

    examples: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", whole("Margin", self.examples, 0))

    def __repr__(self) -> str:
        return f"Margin({self.examples})"


@written
@dataclass(frozen=True)
class ChiSquare:
    """Every leaf differs from the rest of the data: χ² of leaf-versus-rest against the class is large.

    Give a threshold for χ², or the largest p-value (with one degree of freedom less than classes that occur).

    >>> ChiSquare(3.84), ChiSquare(p_value=0.05)
    (ChiSquare(3.84), ChiSquare(p_value=0.05))
    """

    threshold: float | None = None
    p_value: float | None = None

    def __post_init__(self) -> None:
        if (self.threshold is None) == (self.p_value is None):
            raise QueryError(
                f"ChiSquare({self.threshold!r}, p_value={self.p_value!r}); give a threshold or a p_value, "
                "such as ChiSquare(3.84) or ChiSquare(p_value=0.05)"
            )
        if self.threshold is not None:
            value = number("ChiSquare", self.threshold, 0, math.inf, example=3.84, closed=True)
            object.__setattr__(self, "threshold", value)
        if self.p_value is not None and self.p_value != 1:
            object.__setattr__(
                self, "p_value", number("ChiSquare(p_value)", self.p_value, 0, 1, example=0.05)
            )

    def __repr__(self) -> str:
        return (
            f"ChiSquare({self.threshold:g})"
            if self.p_value is None
            else f"ChiSquare(p_value={self.p_value:g})"
        )


@dataclass(frozen=True)
class LeafConstraints:
    """All constraints on leaves together: the tightest of each kind, None where there is none."""

    support: Support | None = None
    margin: Margin | None = None
    chi2: ChiSquare | None = None
    p_value: ChiSquare | None = None

    def rule(self, totals: Iterable[int]) -> _core.LeafRule:
        """What the core checks, for data with these class totals."""
        import everytree._core as _core

        counts = [int(n) for n in totals]
        threshold = 0.0 if self.chi2 is None or self.chi2.threshold is None else self.chi2.threshold
        if self.p_value is not None and self.p_value.p_value is not None:
            occurring = sum(n > 0 for n in counts)
            threshold = max(threshold, chi2_threshold(self.p_value.p_value, occurring - 1))
        return _core.LeafRule(
            0 if self.support is None else self.support.examples,
            0 if self.margin is None else self.margin.examples,
            threshold,
            counts,
        )


def leaf_constraints(leaf: Any) -> LeafConstraints:
    """The constraints in ``leaf=``: a whole number (the support), one constraint, or a list of them.

    >>> leaf_constraints([5, Margin(2), Margin(3)])
    LeafConstraints(support=Support(5), margin=Margin(3), chi2=None, p_value=None)
    """
    if leaf is None:
        return LeafConstraints()
    given = list(leaf) if isinstance(leaf, list | tuple | set | frozenset) else [leaf]
    found: dict[str, Any] = {}

    def tighten(kind: str, constraint: Any, tightness: float) -> None:
        if kind not in found or tightness > found[kind][0]:
            found[kind] = (tightness, constraint)

    for each in given:
        if isinstance(each, Support):
            tighten("support", each, each.examples)
        elif isinstance(each, Margin):
            tighten("margin", each, each.examples)
        elif isinstance(each, ChiSquare):
            if each.threshold is not None:
                tighten("chi2", each, each.threshold)
            elif each.p_value is not None:
                tighten("p_value", each, -each.p_value)
        else:
            try:
                tighten("support", Support(each), Support(each).examples)
            except QueryError:
                raise refused(
                    QueryError,
                    "leaf",
                    each,
                    "a whole number ≥ 1 (examples in a leaf), et.Support(n), et.Margin(m), "
                    "et.ChiSquare(t), or a list of these",
                ) from None
    return LeafConstraints(**{kind: constraint for kind, (_, constraint) in found.items()})


def chi2_threshold(p_value: float, dof: int) -> float:
    """The least x with P(X ≥ x) ≤ p_value for a χ² variable; infinite where no leaf can reach it.

    >>> round(chi2_threshold(0.05, 1), 6), chi2_threshold(1, 3)
    (3.841459, 0.0)
    """
    if p_value >= 1:
        return 0.0
    if dof <= 0:  # one class: χ² is 0 and its p-value 1
        return math.inf
    low, high = 0.0, 1.0
    while _chi2_tail(high, dof) > p_value:
        low, high = high, 2 * high
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return high
        if _chi2_tail(middle, dof) <= p_value:
            high = middle
        else:
            low = middle


def _chi2_tail(x: float, dof: int) -> float:
    """P(X ≥ x): e^(−x/2) times a sum of powers of x/2, from erfc on if the degrees of freedom are odd."""
    half = x / 2
    terms = [] if dof % 2 == 0 else [math.erfc(math.sqrt(half))]
    power = 0.0 if dof % 2 == 0 else 0.5
    while power < dof / 2:
        log_power = power * math.log(half) if half > 0 else (0.0 if power == 0 else -math.inf)
        terms.append(math.exp(log_power - half - math.lgamma(power + 1)))
        power += 1
    return math.fsum(terms)
