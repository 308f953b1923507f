"""Constraints on every leaf of a tree, which the parameter ``leaf`` takes.

    Support(n)      f(leaf) ≥ n examples
    Margin(m)       the largest class leads every other class by at least m examples
    ChiSquare(t)    χ² of leaf-versus-rest against the class ≥ t, or its p-value ≤ p

A threshold is reached if the statistic, rounded to the nearest float, reaches it.

The core checks these three. A new constraint is composed of them: it is a ``ComposedConstraint`` with the decorator
``@leaf_word(...)``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from numbers import Integral
from typing import Any, TypeVar

import everytree._core as _core
from everytree.common.arguments import number, refused, whole
from everytree.common.values import TYPES, written
from everytree.errors import QueryError

__all__ = [
    "LEAF_WORDS",
    "ChiSquare",
    "ComposedConstraint",
    "LeafConstraints",
    "LeafWord",
    "Margin",
    "Support",
    "chi2_threshold",
    "forget_leaf_word",
    "in_a_line",
    "leaf_constraints",
    "leaf_word",
    "listed_constraints",
]


@dataclass(frozen=True)
class LeafWord:
    """A constraint in the query language: ``word >= number`` or ``word <= number`` makes ``made(field=number)``.

    Attributes
    ----------
    word : str
        The word of the query language.
    made : type
        The class of the constraint.
    about : str
        One line that says what the number means.
    at : {">=", "<="}
        The comparison that follows the word.
    field : str
        The field of the class that holds the number.
    whole : bool
        Whether the number is a whole one.
    kind : str or None
        The field of ``LeafConstraints``; None for a constraint that is composed of others.
    twin : str or None
        The field of the reference's ``Query``; None for a constraint that is composed of others.
    """

    word: str
    made: type[Any]
    about: str
    at: str
    field: str
    whole: bool
    kind: str | None
    twin: str | None

    def value(self, constraint: Any) -> Any:
        """Return the number of a constraint, or None where the constraint is of another class."""
        return getattr(constraint, self.field) if isinstance(constraint, self.made) else None

    def condition(self, constraint: Any) -> str:
        """Write the constraint as a condition of the query language."""
        return f"{self.word} {self.at} {in_a_line(self.value(constraint))}"


def in_a_line(number: Any) -> str:
    """Write a number as the query language reads it, also one of numpy, whose ``repr`` holds its type.

    >>> import numpy as np
    >>> in_a_line(np.float64(0.9)), in_a_line(True), in_a_line(7)
    ('0.9', '1', '7')
    """
    return str(int(number)) if isinstance(number, Integral) else repr(float(number))


LEAF_WORDS: dict[str, LeafWord] = {}
Made = TypeVar("Made", bound=type)


def leaf_word(
    word: str,
    about: str,
    field: str,
    at: str = ">=",
    *,
    whole: bool = True,
    kind: str | None = None,
    twin: str | None = None,
) -> Callable[[Made], Made]:
    """Give a constraint a word of the query language, and let files hold it; ``forget_leaf_word`` undoes it."""

    def registered(made: Made) -> Made:
        LEAF_WORDS[word] = LeafWord(word, made, about, at, field, whole, kind, twin)
        return written(made)

    return registered


def forget_leaf_word(word: str) -> None:
    """Take a word out of the query language again, and its class out of files."""
    TYPES.pop(LEAF_WORDS.pop(word).made.__name__, None)


class ComposedConstraint(ABC):
    """A constraint that is made of several constraints of the core."""

    @abstractmethod
    def parts(self) -> tuple[Support | Margin | ChiSquare, ...]:
        """Return the constraints that a leaf must all meet."""


@leaf_word("leaf", "examples in every leaf", "examples", kind="support", twin="min_support")
@dataclass(frozen=True)
class Support:
    """A constraint on leaves: every leaf holds at least so many examples.

    Parameters
    ----------
    examples : int
        The least number of examples, 1 or more.

    Examples
    --------
    >>> Support(20)
    Support(20)
    """

    examples: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", whole("Support", self.examples, 1))

    def __repr__(self) -> str:
        return f"Support({self.examples})"


@leaf_word("margin", "lead of the largest class of every leaf", "examples", kind="margin", twin="min_margin")
@dataclass(frozen=True)
class Margin:
    """A constraint on leaves: the largest class leads every other class by at least so many examples.

    Parameters
    ----------
    examples : int
        The least lead, 0 or more.

    Examples
    --------
    >>> Margin(5)
    Margin(5)
    """

    examples: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "examples", whole("Margin", self.examples, 0))

    def __repr__(self) -> str:
        return f"Margin({self.examples})"


@leaf_word(
    "p",
    "p-value of every leaf against the rest",
    "p_value",
    "<=",
    whole=False,
    kind="p_value",
    twin="max_p_value",
)
@leaf_word(
    "chi2", "χ² of every leaf against the rest", "threshold", whole=False, kind="chi2", twin="min_chi2"
)
@dataclass(frozen=True)
class ChiSquare:
    """A constraint on leaves: every leaf differs from the rest of the data.

    The χ² of leaf-versus-rest against the class must be large. Give a threshold for χ², or the largest p-value.

    Parameters
    ----------
    threshold : float, optional
        The least χ², 0 or more.
    p_value : float, optional
        The largest p-value, above 0 and at most 1, with one degree of freedom less than classes that occur.

    Raises
    ------
    QueryError
        If both are given, or neither.

    Examples
    --------
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
        if self.p_value is not None:
            value = self.p_value
            value = 1.0 if value == 1 else number("ChiSquare(p_value)", value, 0, 1, example=0.05)
            object.__setattr__(self, "p_value", value)

    def __repr__(self) -> str:
        return (
            f"ChiSquare({self.threshold:g})"
            if self.p_value is None
            else f"ChiSquare(p_value={self.p_value:g})"
        )


@dataclass(frozen=True)
class LeafConstraints:
    """All constraints on leaves together: the tightest of each kind, or None where there is none of the kind."""

    support: Support | None = None
    margin: Margin | None = None
    chi2: ChiSquare | None = None
    p_value: ChiSquare | None = None

    def rule(self, totals: Iterable[int], per_example: int = 1) -> _core.LeafRule:
        """Return the rule that the core checks, for data with these class totals, of which ``per_example`` make one.

        χ² grows with the counts: that of counts is ``per_example`` times that of examples.
        """
        counts = [int(n) for n in totals]
        threshold = 0.0 if self.chi2 is None or self.chi2.threshold is None else self.chi2.threshold
        if self.p_value is not None and self.p_value.p_value is not None:
            occurring = sum(n > 0 for n in counts)
            threshold = max(threshold, chi2_threshold(self.p_value.p_value, occurring - 1))
        return _core.LeafRule(
            0 if self.support is None else self.support.examples * per_example,
            0 if self.margin is None else self.margin.examples * per_example,
            threshold * per_example,
            counts,
        )


def leaf_constraints(leaf: Any) -> LeafConstraints:
    """Return the constraints in ``leaf=``: a whole number (the support), one constraint, or a list of them.

    >>> leaf_constraints([5, Margin(2), Margin(3)])
    LeafConstraints(support=Support(5), margin=Margin(3), chi2=None, p_value=None)
    """
    found: dict[str, tuple[float, Any]] = {}
    for part in (part for each in listed_constraints(leaf) for part in _parts(each)):
        for record in LEAF_WORDS.values():
            value = record.value(part)
            if record.kind is None or value is None:
                continue
            tightness = value if record.at == ">=" else -value
            if record.kind not in found or tightness > found[record.kind][0]:
                found[record.kind] = (tightness, part)
    return LeafConstraints(**{kind: constraint for kind, (_, constraint) in found.items()})


def listed_constraints(leaf: Any) -> list[Any]:
    """Return the constraints in ``leaf=`` as they were given; a whole number is a support."""
    if leaf is None:
        return []
    known = tuple(record.made for record in LEAF_WORDS.values())
    found = []
    for each in list(leaf) if isinstance(leaf, list | tuple | set | frozenset) else [leaf]:
        if isinstance(each, known):
            found.append(each)
            continue
        try:
            found.append(Support(each))
        except QueryError:
            raise refused(
                QueryError,
                "leaf",
                each,
                "a whole number ≥ 1 (examples in a leaf), et.Support(n), et.Margin(m), et.ChiSquare(t), "
                "or a list of these",
            ) from None
    return found


def _parts(constraint: Any) -> tuple[Any, ...]:
    return constraint.parts() if isinstance(constraint, ComposedConstraint) else (constraint,)


def chi2_threshold(p_value: float, dof: int) -> float:
    """Return the least x with P(X ≥ x) ≤ p_value for a χ² variable; infinite where no leaf can reach it.

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
    """Compute P(X ≥ x): e^(−x/2) times a sum of powers of x/2, which begins with erfc if ``dof`` is odd."""
    half = x / 2
    terms = [] if dof % 2 == 0 else [math.erfc(math.sqrt(half))]
    power = 0.0 if dof % 2 == 0 else 0.5
    while power < dof / 2:
        log_power = power * math.log(half) if half > 0 else (0.0 if power == 0 else -math.inf)
        terms.append(math.exp(log_power - half - math.lgamma(power + 1)))
        power += 1
    return math.fsum(terms)
