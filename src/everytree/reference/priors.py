"""Tree priors: a factor for every leaf and every split of a tree, multiplied together.

    name            split at I, test i        leaf I
    uniform         1                         1
    size(α, β)      p(|I|) · q(i)             1 where no test can be used, else 1 − p(|I|)
    leaf penalty ω  1                         ω
    balanced κ      1                         (n / N)^κ    n of the N examples are in the leaf
    shapes          q(i)                      1
    coding w        (½ · q(i))^w              ½^w      the weight w is usually 1

with p(d) = α · (1 + d)^−β, and q the probability of the test among the feasible ones:

    q(i) = 1 / e(I)                                                      every test alike
    q(i) = 1 / (attributes with a feasible test) · 1 / (feasible tests of i's attribute)     attribute-fair

The size prior sums to one over the space; the others are used as they are, unnormalised. Uniform and leaf
penalty and balanced have no q; attribute-fair, a split weighs e(I) · q(i): the tests of a node weigh e(I) in all, as
before, and every attribute the same. Under the balanced prior all leaves together weigh the same as all splits, if
one of n into n_1 and n_0 examples weighs (n_1 · n_0 / (n · N))^κ.

``feasible`` below is what ``Space.feasible`` returns: empty at the depth limit, so "|I| = δ or e(I) = 0" is
"feasible is empty".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from everytree.reference.logs import log

__all__ = [
    "BalancedPrior",
    "CodingPrior",
    "LeafPenaltyPrior",
    "Prior",
    "ShapePrior",
    "SizePrior",
    "UniformPrior",
    "log_held",
    "log_test_probability",
]


class Prior(Protocol):
    """What the recursions ask of a prior; a state counts only by its depth and feasible tests (and see log_held)."""

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return the log of the factor of a leaf."""

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return the log of the factor of a split on this feasible test."""


def log_test_probability(
    feasible: Sequence[int], test: int, attributes: Sequence[int] | None = None
) -> float:
    """Return log q(test). ``attributes[i]`` is the attribute that test i comes from; None makes every test alike.

    Tests 0, 1, 2 come from one attribute and test 3 from another; all but test 1 are feasible:

    >>> [round(math.exp(log_test_probability((0, 2, 3), test, (0, 0, 0, 1))), 12) for test in (0, 2, 3)]
    [0.25, 0.25, 0.5]
    """
    if attributes is None:
        return -math.log(len(feasible))
    present = {attributes[each] for each in feasible}
    alike = sum(1 for each in feasible if attributes[each] == attributes[test])
    return -math.log(len(present)) - math.log(alike)


def log_fair_weight(feasible: Sequence[int], test: int, attributes: Sequence[int] | None) -> float:
    """Return log(e(I) · q(test)): 0 where every test is alike."""
    if attributes is None:
        return 0.0
    return math.log(len(feasible)) + log_test_probability(feasible, test, attributes)


@dataclass(frozen=True)
class UniformPrior:
    """Every tree weighs 1 (Buntine's type I), or every attribute of a node the same."""

    attributes: Sequence[int] | None = None

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return log 1."""
        return 0.0

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return log 1, or log(e · q(test))."""
        return log_fair_weight(feasible, test, self.attributes)


@dataclass(frozen=True)
class SizePrior:
    """A node at depth d splits with probability p(d) = α(1+d)^−β if it can, and then picks a feasible test.

    >>> prior = SizePrior(alpha=0.5, beta=1.0)
    >>> [round(math.exp(prior.log_leaf(d, (0, 1))), 12) for d in (0, 1)], prior.log_leaf(0, ())
    ([0.5, 0.75], 0.0)
    """

    alpha: float = 0.8
    beta: float = 0.8
    attributes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise ValueError(
                f"alpha={self.alpha!r}; the probability of splitting the root must lie in [0, 1]"
            )
        if not 0 <= self.beta < math.inf:
            raise ValueError(f"beta={self.beta!r}; it must be finite and at least 0")

    def split_probability(self, depth: int) -> float:
        """Return p(depth)."""
        return float(self.alpha * (1 + depth) ** -self.beta)

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return log(1 − p), or log 1 where nothing but a leaf is possible."""
        return log(1 - self.split_probability(depth)) if feasible else 0.0

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return log(p · q(test))."""
        return log(self.split_probability(depth)) + log_test_probability(feasible, test, self.attributes)


@dataclass(frozen=True)
class LeafPenaltyPrior:
    """Every leaf weighs ω in (0, 1] (Buntine's type II asks for ω < 1; ω = 1 is the uniform prior)."""

    omega: float = 0.5
    attributes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.omega <= 1:
            raise ValueError(f"omega={self.omega!r}; the weight of a leaf must lie in (0, 1]")

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return log ω."""
        return math.log(self.omega)

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return log 1, or log(e · q(test))."""
        return log_fair_weight(feasible, test, self.attributes)


@dataclass(frozen=True)
class BalancedPrior:
    """Every leaf weighs its share of the examples, to the power κ > 0; ``log_held`` has that.

    A tree with the leaves of 2, 2 and 4 of 8 examples: (1/4 · 1/4 · 1/2); its splits of 8 into 4 and 4, and of 4 into
    2 and 2, weigh (4 · 4 / (8 · 8)) · (2 · 2 / (4 · 8)), the same:

    >>> prior = BalancedPrior()
    >>> math.exp(sum(log_held(prior, n, 8) for n in (2, 2, 4))) * 32, 4 * 4 / 64 * 2 * 2 / 32 * 32
    (1.0, 1.0)
    """

    kappa: float = 1.0
    attributes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.kappa < math.inf:
            raise ValueError(f"kappa={self.kappa!r}; it must be greater than 0 and finite")

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return log 1: what the examples of the leaf weigh is ``log_held``."""
        return 0.0

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return log 1, or log(e · q(test))."""
        return log_fair_weight(feasible, test, self.attributes)


def log_held(prior: Prior, n: int, total: int) -> float:
    """Return log((n / N)^κ) of a leaf with n of N examples under a balanced prior, and 0 under any other."""
    return prior.kappa * math.log(n / total) if isinstance(prior, BalancedPrior) else 0.0


@dataclass(frozen=True)
class ShapePrior:
    """Every shape alike: a split weighs q(test), a leaf 1 (Buntine's type III)."""

    attributes: Sequence[int] | None = None

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return log 1."""
        return 0.0

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return log q(test)."""
        return log_test_probability(feasible, test, self.attributes)


@dataclass(frozen=True)
class CodingPrior:
    """One bit for leaf or split, then the test: ½ per leaf, ½ · q(test) per split (Buntine's type IV).

    The code length of the tree counts ``weight`` times (Quinlan and Rivest).
    """

    attributes: Sequence[int] | None = None
    weight: float = 1.0

    def log_leaf(self, depth: int, feasible: Sequence[int]) -> float:
        """Return w · log ½, also where nothing but a leaf is possible."""
        return -self.weight * math.log(2)

    def log_split(self, depth: int, feasible: Sequence[int], test: int) -> float:
        """Return w · log(½ · q(test))."""
        return self.weight * (-math.log(2) + log_test_probability(feasible, test, self.attributes))
