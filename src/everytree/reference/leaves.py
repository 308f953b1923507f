"""What one leaf costs or is worth, as a function of its class counts n = (n_1..n_C), N = Σn.

    log marginal   logM(n) = lgamma(Σa) − Σ lgamma(a_c) + Σ lgamma(a_c + n_c) − lgamma(Σa + N)
    probabilities  θ_c = (n_c + a_c) / (N + Σa)
    error          N − max_c n_c
    expected error error + C4.5's added errors
    gini           N · (1 − Σ p_c²),   p_c = n_c / N
    entropy        −Σ n_c ln p_c
    cost           min_k Σ_c n_c · cost[c][k]     (k is the class that the leaf ``says``)

Every cost here adds up over the leaves of a tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import TypeAlias

__all__ = [
    "BaseRate",
    "DepthDecay",
    "Dirichlet",
    "added_errors",
    "check_dirichlet",
    "cost",
    "dirichlet_at",
    "entropy",
]
__all__ += ["error", "expected_error", "gini", "leaf_probabilities", "log_marginal", "says"]


@dataclass(frozen=True)
class DepthDecay:
    """Wallace's parameters, the same for every class: a(depth) = scale · rate^depth, with both in (0, 1).

    >>> DepthDecay(0.5, 0.5).at(2)
    0.125
    """

    scale: float
    rate: float

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("rate", self.rate)):
            if not 0 < value < 1:
                raise ValueError(f"DepthDecay {name}={value!r}; it must lie strictly between 0 and 1")

    def at(self, depth: int) -> float:
        """Return the parameter of each class at this depth."""
        return self.scale * self.rate**depth


@dataclass(frozen=True)
class BaseRate:
    """Parameters in the shares of the training data: a_c = strength · n_c / N.

    >>> BaseRate(2.0).of((3, 1))
    (1.5, 0.5)
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.strength < math.inf:
            raise ValueError(f"strength={self.strength!r}; it must be finite and greater than 0")

    def of(self, counts: Sequence[int]) -> tuple[float, ...]:
        """Return the parameters for these class counts, every one of which must be greater than 0."""
        if not all(counts):
            raise ValueError(f"class counts {tuple(counts)}; base rates need an example of every class")
        return tuple(self.strength * n_c / sum(counts) for n_c in counts)


# One number for every class, one per class, "1/C" (Buntine's choice), or a decay with depth.
Dirichlet: TypeAlias = float | Sequence[float] | str | DepthDecay


def dirichlet_at(dirichlet: Dirichlet, depth: int, n_classes: int) -> tuple[float, ...]:
    """Return the parameters a = (a_1..a_C) at a depth.

    >>> dirichlet_at("1/C", 0, 4)
    (0.25, 0.25, 0.25, 0.25)
    >>> dirichlet_at((1.0, 2.0), 3, 2)
    (1.0, 2.0)
    """
    if isinstance(dirichlet, DepthDecay):
        a = (dirichlet.at(depth),) * n_classes
    elif isinstance(dirichlet, str):
        if dirichlet != "1/C":
            raise ValueError(
                f"dirichlet={dirichlet!r}; give a number, one number per class, '1/C' or a DepthDecay"
            )
        a = (1 / n_classes,) * n_classes
    elif isinstance(dirichlet, Iterable):
        a = tuple(float(each) for each in dirichlet)
        if len(a) != n_classes:
            raise ValueError(f"dirichlet has {len(a)} numbers for {n_classes} classes; give one per class")
    else:
        a = (float(dirichlet),) * n_classes
    if not all(0 < each < math.inf for each in a):
        raise ValueError(f"dirichlet={dirichlet!r}; every parameter must be finite and greater than 0")
    return a


def check_dirichlet(dirichlet: Dirichlet, n_classes: int) -> None:
    """Raise a ValueError unless the parameters suit this number of classes."""
    dirichlet_at(dirichlet, 0, n_classes)


def log_marginal(counts: Sequence[float], a: Sequence[float]) -> float:
    """Return logM(n): the log probability of the classes of a leaf's examples, in a given order, θ integrated out.

    Two examples, one of each class, a = (1, 1): the first has probability 1/2, the second then 1/3.

    >>> round(math.exp(log_marginal((1, 1), (1.0, 1.0))) * 6, 12)
    1.0
    """
    terms = [math.lgamma(sum(a)), -math.lgamma(sum(a) + sum(counts))]
    for n_c, a_c in zip(counts, a, strict=True):
        terms += [math.lgamma(a_c + n_c), -math.lgamma(a_c)]
    return math.fsum(terms)


def leaf_probabilities(counts: Sequence[int], a: Sequence[float]) -> tuple[float, ...]:
    """Return θ_c = (n_c + a_c) / (N + Σa): the posterior mean of the class probabilities in a leaf.

    >>> leaf_probabilities((3, 0), (0.5, 0.5))
    (0.875, 0.125)
    """
    total = sum(counts) + sum(a)
    return tuple((n_c + a_c) / total for n_c, a_c in zip(counts, a, strict=True))


def error(counts: Sequence[int]) -> int:
    """Return the number of examples outside the largest class.

    >>> error((3, 2, 1))
    3
    """
    return sum(counts) - max(counts)


def added_errors(n: float, e: float, cf: float = 0.25) -> float:
    """Return C4.5's pessimistic addition to e errors among n examples, at confidence cf.

    No error among n: the rate at which n successes in a row have probability cf, so n·(1 − cf^(1/n)).

    >>> added_errors(1, 0)
    0.75
    """
    if not 0 < cf < 1:
        raise ValueError(f"cf={cf!r}; the confidence must lie strictly between 0 and 1")
    if n <= 0:
        return 0.0
    if e < 1:
        base = n * (1.0 - math.pow(cf, 1 / n))
        return base if e == 0 else base + e * (added_errors(n, 1, cf) - base)
    if e + 0.5 >= n:
        return max(n - e, 0.0)
    z = NormalDist().inv_cdf(1 - cf)
    f = (e + 0.5) / n
    rate = (f + z * z / (2 * n) + z * math.sqrt(f / n - f * f / n + z * z / (4 * n * n))) / (1 + z * z / n)
    return rate * n - e


def expected_error(counts: Sequence[int], cf: float = 0.25) -> float:
    """Return the errors of a leaf plus C4.5's added errors.

    >>> expected_error((1, 0))
    0.75
    """
    e = error(counts)
    return e + added_errors(sum(counts), e, cf)


def gini(counts: Sequence[int]) -> float:
    """Return N · (1 − Σ p_c²) = N − Σ n_c² / N.

    >>> gini((2, 2)), gini((4, 0)), gini((0, 0))
    (2.0, 0.0, 0.0)
    """
    n = sum(counts)
    return n - sum(n_c * n_c for n_c in counts) / n if n else 0.0


def entropy(counts: Sequence[int]) -> float:
    """Return −Σ n_c ln p_c, in nats; 0 · ln 0 = 0.

    >>> entropy((1, 1)) == 2 * math.log(2), entropy((4, 0))
    (True, 0.0)
    """
    n = sum(counts)
    return math.fsum(n_c * math.log(n / n_c) for n_c in counts if n_c)


def cost(counts: Sequence[int], matrix: Sequence[Sequence[float]]) -> float:
    """Return the least total cost of saying one class k in the leaf: min_k Σ_c n_c · matrix[c][k].

    With 0 on the diagonal and 1 elsewhere this is the error. The matrix has one row per true class.

    >>> cost((3, 2), [[0, 1], [10, 0]])  # saying class 0 costs 20, saying class 1 costs 3
    3
    """
    if len(matrix) != len(counts):
        raise ValueError(
            f"the cost matrix has {len(matrix)} rows for {len(counts)} classes; give one row per true class"
        )
    if len({len(row) for row in matrix}) != 1 or not matrix[0]:
        raise ValueError(
            "the rows of the cost matrix differ in length or are empty; give one column per class to say"
        )
    return min(
        sum(n_c * row[k] for n_c, row in zip(counts, matrix, strict=True)) for k in range(len(matrix[0]))
    )


def says(
    counts: Sequence[int], theta: Sequence[float], matrix: Sequence[Sequence[float | Fraction]] | None = None
) -> int:
    """Return the class k that a leaf predicts, that of least Σ_c n_c · matrix[c][k].

    On ties it is the more probable class, then the first. Numbers are taken as they are written, 0.1 as one tenth.
    Without a matrix every error costs 1.

    >>> says((3, 2), (0.6, 0.4)), says((3, 2), (0.6, 0.4), [[0, 1], [10, 0]]), says((2, 2), (0.4, 0.6))
    (0, 1, 1)
    """
    classes = range(len(counts))
    prices = [-Fraction(n) for n in counts]
    if matrix is not None:
        exact = [[x if isinstance(x, Fraction) else Fraction(str(x)) for x in row] for row in matrix]
        prices = [
            sum((n * row[k] for n, row in zip(counts, exact, strict=True)), Fraction(0)) for k in classes
        ]
    return min(classes, key=lambda k: (prices[k], -theta[k], k))
