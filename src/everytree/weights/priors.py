"""Priors over trees: a factor for every inner node and one for every leaf.

    P(tree) ∝ Π_splits exp(log_split[d]) · t  ·  Π_leaves exp(log_leaf_open[d] or log_leaf_closed[d])

d is the depth of the node and t the share of its test: 1, or 1/e with e the number of feasible tests, or, for
attribute-fair priors, 1/(attributes with a feasible test) · 1/(feasible tests of that attribute). A leaf is open
if a feasible test could still follow. So a prior is three short tables of numbers and a flag, and a new one is a
new class with a ``tables`` method that says ``@named_prior(word, about)``: nothing else has to know it.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from everytree.common.arguments import number, refused
from everytree.common.values import TYPES, written
from everytree.errors import QueryError

__all__ = [
    "PRIORS",
    "CodingPrior",
    "LeafPenaltyPrior",
    "Prior",
    "PriorTables",
    "PriorWord",
    "ShapePrior",
    "SizePrior",
    "UniformPrior",
    "as_prior",
    "forget_prior",
    "named_prior",
]


@dataclass(frozen=True)
class PriorTables:
    """A prior as numbers; entry d of a table is for depth d, and the last entry holds for all deeper nodes."""

    log_split: list[float]
    log_leaf_open: list[float]
    log_leaf_closed: list[float]
    per_test: bool

    def __post_init__(self) -> None:
        for name in ("log_split", "log_leaf_open", "log_leaf_closed"):
            table = getattr(self, name)
            if not table or not all(x < math.inf for x in table):
                raise refused(
                    QueryError,
                    name,
                    table,
                    says=" of a prior; expected one or more logarithms below infinity",
                )

    @property
    def depend_on_depth(self) -> bool:
        """Whether nodes at different depths weigh differently: then equal covers are kept apart by depth."""
        return max(map(len, (self.log_split, self.log_leaf_open, self.log_leaf_closed))) > 1


class Prior(ABC):
    """A prior over trees. ``attribute_fair`` replaces 1/e by equal shares of attributes, then of their tests."""

    attribute_fair: bool = False

    @abstractmethod
    def tables(self, deepest: int) -> PriorTables:
        """The factors down to a leaf at depth ``deepest``."""


@dataclass(frozen=True)
class PriorWord:
    """A prior by its word: the class, one line about it, and its definition in ``reference``.

    ``twin`` is the name of a class there with the same parameters (``attributes`` for ``attribute_fair``), or a
    function of a prior and of the attribute of each test.
    """

    word: str
    made: type[Prior]
    about: str
    twin: str | Callable[[Any, Sequence[int]], Any]


PRIORS: dict[str, PriorWord] = {}
Made = TypeVar("Made", bound=type)


def named_prior(
    word: str, about: str, twin: str | Callable[[Any, Sequence[int]], Any] = ""
) -> Callable[[Made], Made]:
    """Let a prior be named by a word, and be written in files; ``forget_prior`` takes it out again."""

    def registered(made: Made) -> Made:
        PRIORS[word] = PriorWord(word, made, about, twin or made.__name__)
        return written(made)

    return registered


def forget_prior(word: str) -> None:
    del TYPES[PRIORS.pop(word).made.__name__]


@named_prior("uniform", "every tree weighs the same")
@dataclass(frozen=True)
class UniformPrior(Prior):
    """Every tree weighs the same (Nijssen's "Unif", Buntine's I)."""

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.0], [0.0], per_test=False)


@named_prior("size", "a node at depth d is split with probability alpha (1 + d)^-beta")
@dataclass(frozen=True)
class SizePrior(Prior):
    """A node at depth d is split with probability α(1 + d)^−β, by a feasible test drawn at random (Chipman et al.).

    The only prior here that is a proper distribution: over all trees of a space it sums to one.

    >>> SizePrior(0.8, 0.8).split_probability(0)
    0.8
    """

    alpha: float = 0.8
    beta: float = 0.8
    attribute_fair: bool = False

    def __post_init__(self) -> None:
        number("alpha", self.alpha, 0, 1, example=0.8)
        number("beta", self.beta, 0, 1e6, example=0.8, closed=True)

    def split_probability(self, depth: int) -> float:
        return float(self.alpha * math.pow(1 + depth, -self.beta))

    def tables(self, deepest: int) -> PriorTables:
        # in logarithms: (1 + d)^−β may be below the smallest double
        log_split = [math.log(self.alpha) - self.beta * math.log1p(d) for d in range(deepest + 1)]
        log_leaf = [math.log1p(-math.exp(x)) for x in log_split]
        return PriorTables(log_split, log_leaf, [0.0], per_test=True)


@named_prior("leaf_penalty", "every leaf costs a factor omega")
@dataclass(frozen=True)
class LeafPenaltyPrior(Prior):
    """Every leaf costs a factor ω < 1 (Buntine's II).

    >>> LeafPenaltyPrior(0.5).tables(3).log_leaf_open == [math.log(0.5)]
    True
    """

    omega: float = 0.5

    def __post_init__(self) -> None:
        number("omega", self.omega, 0, 1, example=0.5)

    def tables(self, deepest: int) -> PriorTables:
        leaf = math.log(self.omega)
        return PriorTables([0.0], [leaf], [leaf], per_test=False)


@named_prior("shapes", "every shape of tree weighs the same, and in it every test")
@dataclass(frozen=True)
class ShapePrior(Prior):
    """Every shape of tree weighs the same, and in it every feasible test (Buntine's III)."""

    attribute_fair: bool = False

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.0], [0.0], per_test=True)


@named_prior("coding", "a bit for each node, and the code of its test")
@dataclass(frozen=True)
class CodingPrior(Prior):
    """One bit per node for "leaf or split", and log₂ e bits for the test (Buntine's IV, minimum encoding)."""

    attribute_fair: bool = False

    def tables(self, deepest: int) -> PriorTables:
        half = math.log(0.5)
        return PriorTables([half], [half], [half], per_test=True)


def as_prior(prior: Prior | str) -> Prior:
    """A prior from its name, with default parameters, or the prior itself."""
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, str) and prior in PRIORS:
        return PRIORS[prior].made()
    names = ", ".join(map(repr, PRIORS))
    raise refused(QueryError, "prior", prior, f"one of {names}, or a prior such as SizePrior(0.8, 0.8)")
