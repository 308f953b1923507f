"""Priors over trees: a factor for every inner node and one for every leaf.

    P(tree) ∝ Π_splits exp(log_split[d]) · t  ·  Π_leaves exp(log_leaf_open[d] or log_leaf_closed[d])

d is the depth of the node and t the share of its test: 1, or e^−w with e the number of feasible tests and w usually
1, or, for attribute-fair priors, 1/(attributes with a feasible test) · 1/(feasible tests of that attribute). A leaf is
open if a feasible test could still follow; where κ > 0 it also weighs (n/N)^κ, with n of the N examples in it. So a
prior is three short tables of numbers, a flag and two weights, and a new one is a new class with a ``tables`` method
and the decorator ``@named_prior(word, about)``: no other code changes.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import Any, TypeVar

from everytree.common.arguments import number, refused
from everytree.common.values import TYPES, written
from everytree.errors import QueryError

__all__ = [
    "PRIORS",
    "BalancedPrior",
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


MOST_WEIGHT = 10  # of the choice of a test, and of the share of examples in a leaf


@dataclass(frozen=True)
class PriorTables:
    """A prior as numbers: the logarithms of the factors of splits and leaves, by depth.

    Entry d of a table is for depth d, and the last entry holds for all deeper nodes.

    Parameters
    ----------
    log_split : list of float
        The logarithm of the factor of a split.
    log_leaf_open : list of float
        The logarithm of the factor of a leaf that could still be split.
    log_leaf_closed : list of float
        The logarithm of the factor of a leaf that no feasible test could split.
    per_test : bool
        Whether the factor of a split is shared equally between the feasible tests.
    test_weight : float, default 1.0
        With ``per_test``, how often the choice of a test counts, from 0 to 10: its share among e is e^−weight. It is 1
        for priors with attribute-fair tests.
    kappa : float, default 0.0
        The power, from 0 to 10, of the share of all examples that a leaf holds: each leaf also weighs that.

    Raises
    ------
    QueryError
        If a table is empty, or an entry is infinity or not a number, or a weight is out of its range.

    Examples
    --------
    >>> tables = UniformPrior().tables(deepest=3)
    >>> tables.log_split, tables.per_test, tables.kappa
    ([0.0], False, 0.0)
    """

    log_split: list[float]
    log_leaf_open: list[float]
    log_leaf_closed: list[float]
    per_test: bool
    test_weight: float = 1.0
    kappa: float = 0.0

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
        if not 0 <= self.test_weight <= MOST_WEIGHT:
            raise refused(QueryError, "test_weight", self.test_weight, f"a number from 0 to {MOST_WEIGHT}")
        if not 0 <= self.kappa <= MOST_WEIGHT:
            raise refused(QueryError, "kappa", self.kappa, f"a number from 0 to {MOST_WEIGHT}")

    @property
    def depend_on_depth(self) -> bool:
        """Whether nodes at different depths weigh differently: then equal covers are kept apart by depth."""
        return max(map(len, (self.log_split, self.log_leaf_open, self.log_leaf_closed))) > 1


class Prior(ABC):
    """The base of every prior over trees: a factor for each split and each leaf.

    A new prior is a subclass with a method ``tables``. Its attribute ``attribute_fair`` is False where every feasible
    test of a node has the same share, and True where attributes have equal shares, and then the tests of each.

    Examples
    --------
    >>> class FewLeaves(Prior):
    ...     def tables(self, deepest):
    ...         return PriorTables([0.0], [-3.0], [-3.0], per_test=False)
    >>> FewLeaves().tables(deepest=2).log_leaf_open
    [-3.0]
    """

    attribute_fair: bool = False

    @abstractmethod
    def tables(self, deepest: int) -> PriorTables:
        """Return the factors of splits and leaves by depth.

        Parameters
        ----------
        deepest : int
            The depth of the deepest leaf that a tree may have.

        Returns
        -------
        PriorTables
            Tables with one entry, or with an entry for each depth from 0 to ``deepest``.
        """


@dataclass(frozen=True)
class PriorWord:
    """A prior that has a word: its class, one line about it, and its definition in ``reference``.

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
    """Register a prior under a word, so that it can be named by it and written in files; ``forget_prior`` undoes it."""

    def registered(made: Made) -> Made:
        PRIORS[word] = PriorWord(word, made, about, twin or made.__name__)
        return written(made)

    return registered


def forget_prior(word: str) -> None:
    """Take a prior out of the registry and out of files again."""
    del TYPES[PRIORS.pop(word).made.__name__]


@named_prior("uniform", "every tree weighs the same")
@dataclass(frozen=True)
class UniformPrior(Prior):
    """The prior under which every tree weighs the same (Nijssen's "Unif", Buntine's I).

    Parameters
    ----------
    attribute_fair : bool, default False
        Whether the feasible tests of a node, which weigh as many as there are, share that weight so that every
        attribute has the same, and in it every test.

    Examples
    --------
    >>> UniformPrior().tables(deepest=3).log_split
    [0.0]
    """

    attribute_fair: bool = False

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.0], [0.0], per_test=False)


@named_prior("size", "a node at depth d is split with probability alpha (1 + d)^-beta")
@dataclass(frozen=True)
class SizePrior(Prior):
    """The prior of Chipman et al.: a node at depth d is split with probability α(1 + d)^−β, by a random feasible test.

    It is the only prior here that is a proper distribution: over all trees of a space it sums to one.

    Parameters
    ----------
    alpha : float, default 0.8
        The probability that the root is split, between 0 and 1.
    beta : float, default 0.8
        How fast the probability falls with the depth, 0 or more.
    attribute_fair : bool, default False
        Whether attributes have equal shares, and then the tests of each, instead of all feasible tests.

    Examples
    --------
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
        """Compute the probability that a node is split.

        Parameters
        ----------
        depth : int
            The depth of the node, 0 for the root.

        Returns
        -------
        float
            The probability α(1 + depth)^−β.
        """
        return float(self.alpha * math.pow(1 + depth, -self.beta))

    def tables(self, deepest: int) -> PriorTables:
        # The numbers are kept as logarithms, because (1 + d)^−β may be below the smallest double.
        log_split = [math.log(self.alpha) - self.beta * math.log1p(d) for d in range(deepest + 1)]
        log_leaf = [math.log1p(-math.exp(x)) for x in log_split]
        return PriorTables(log_split, log_leaf, [0.0], per_test=True)


@named_prior("leaf_penalty", "every leaf costs a factor omega")
@dataclass(frozen=True)
class LeafPenaltyPrior(Prior):
    """The prior under which every leaf costs a factor ω < 1 (Buntine's II).

    Parameters
    ----------
    omega : float, default 0.5
        The factor of each leaf, between 0 and 1; the smaller it is, the smaller the trees.
    attribute_fair : bool, default False
        Whether the feasible tests of a node, which weigh as many as there are, share that weight so that every
        attribute has the same, and in it every test.

    Examples
    --------
    >>> LeafPenaltyPrior(0.5).tables(3).log_leaf_open == [math.log(0.5)]
    True
    """

    omega: float = 0.5
    attribute_fair: bool = False

    def __post_init__(self) -> None:
        number("omega", self.omega, 0, 1, example=0.5)

    def tables(self, deepest: int) -> PriorTables:
        leaf = math.log(self.omega)
        return PriorTables([0.0], [leaf], [leaf], per_test=False)


@named_prior("balanced", "every leaf weighs its share of the examples, to the power kappa")
@dataclass(frozen=True)
class BalancedPrior(Prior):
    """The prior that prefers balanced tests: every leaf weighs its share of the examples, to the power κ.

    Every number of examples but that of the root stands once above a split, and once below where its node is split
    again. So all leaves together weigh the same as all splits, if one of n into n₁ and n₀ of N examples weighs this::

        (n₁ · n₀ / (n · N))^κ

    Beside each other the tests of a node weigh (n₁ · n₀)^κ, most where they halve its examples (Nijssen 2008 names such
    a prior as an alternative, without a formula); and a leaf costs the more, the fewer examples it has. The prior
    looks at the examples, never at their classes.

    Parameters
    ----------
    kappa : float, default 1.0
        The power, above 0 and at most 10; the larger it is, the more balanced and the smaller the trees.
    attribute_fair : bool, default False
        Whether the feasible tests of a node, which weigh as many as there are, share that weight so that every
        attribute has the same, and in it every test.

    Raises
    ------
    QueryError
        If the power is out of its range.

    Examples
    --------
    >>> BalancedPrior(0.5).tables(3).kappa
    0.5
    """

    kappa: float = 1.0
    attribute_fair: bool = False

    def __post_init__(self) -> None:
        if number("kappa", self.kappa, 0, math.inf, example=1) > MOST_WEIGHT:
            raise refused(QueryError, "kappa", self.kappa, f"at most {MOST_WEIGHT}, such as 1")

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.0], [0.0], per_test=False, kappa=float(self.kappa))


@named_prior("shapes", "every shape of tree weighs the same, and in it every test")
@dataclass(frozen=True)
class ShapePrior(Prior):
    """The prior under which every shape of tree weighs the same, and in it every feasible test (Buntine's III).

    Parameters
    ----------
    attribute_fair : bool, default False
        Whether attributes have equal shares, and then the tests of each, instead of all feasible tests.

    Examples
    --------
    >>> ShapePrior().tables(deepest=3).per_test
    True
    """

    attribute_fair: bool = False

    def tables(self, deepest: int) -> PriorTables:
        return PriorTables([0.0], [0.0], [0.0], per_test=True)


@named_prior("coding", "a bit for each node, and the code of its test")
@dataclass(frozen=True)
class CodingPrior(Prior):
    """The minimum encoding prior: one bit per node for "leaf or split", and log₂ e bits for the test (Buntine's IV).

    Here e is the number of feasible tests of the node. Minimum encoding often prunes too much; a weight below 1 lets
    the code of the tree count for less beside that of the classes, which prunes less (Quinlan & Rivest 1989).

    Parameters
    ----------
    attribute_fair : bool, default False
        Whether attributes have equal shares, and then the tests of each, instead of all feasible tests.
    weight : float, default 1.0
        How often the code length of the tree counts, from 0 to 10; other values than 1 only without
        ``attribute_fair``.

    Raises
    ------
    QueryError
        If the weight is out of its range, or not 1 with ``attribute_fair``.

    Examples
    --------
    >>> CodingPrior().tables(deepest=3).log_split == [math.log(0.5)]
    True
    >>> CodingPrior(weight=0.5).tables(deepest=3).log_split == [math.log(0.5) / 2]
    True
    """

    attribute_fair: bool = False
    weight: float = 1.0

    def __post_init__(self) -> None:
        weight = number("weight", self.weight, 0, math.inf, example=0.5, closed=True)
        if weight > MOST_WEIGHT:
            raise refused(QueryError, "weight", self.weight, f"at most {MOST_WEIGHT}, such as 0.5")
        if self.attribute_fair and weight != 1:
            raise refused(
                QueryError,
                "weight",
                self.weight,
                says=" with attribute_fair=True; tests that are shared so count once",
            )

    def tables(self, deepest: int) -> PriorTables:
        """Return the factor ½ of every node, to the power of the weight; see ``Prior.tables``.

        Parameters
        ----------
        deepest : int
            The depth of the deepest leaf; it makes no difference here.

        Returns
        -------
        PriorTables
            Tables with one entry each.
        """
        half = self.weight * math.log(0.5)
        return PriorTables([half], [half], [half], per_test=True, test_weight=float(self.weight))


def as_prior(prior: Prior | str, fair: bool = False) -> Prior:
    """Return the prior of a name, with default parameters, or the prior itself; ``fair`` concerns names alone."""
    if isinstance(prior, Prior):
        return prior
    if isinstance(prior, str) and prior in PRIORS:
        made: Prior = PRIORS[prior].made()
        fields: dict[str, Any] = made.__dataclass_fields__ if is_dataclass(made) else {}
        return replace(made, attribute_fair=True) if fair and "attribute_fair" in fields else made  # type: ignore[type-var]
    names = ", ".join(map(repr, PRIORS))
    raise refused(QueryError, "prior", prior, f"one of {names}, or a prior such as SizePrior(0.8, 0.8)")
