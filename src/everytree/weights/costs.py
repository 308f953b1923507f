"""The costs of leaves that a query ranks and bounds by, as the core takes them.

    error            examples outside the largest class; with class weights, each counts the weight of its class
    errors           the same without weights, whatever the weights: what an accuracy bounds
    expected_error   error + C4.5's pessimistic addition
    gini, entropy    impurities, times examples
    cost             the least sum of a cost matrix over the classes; others have a matrix of their own

``cost_words`` registers them by name.
Weights and matrices are read as the numbers they are written as (0.1 is one tenth) and multiplied by a common factor,
so that the core adds whole numbers where they are not too large: then sums and bounds are exact. Where weights of
examples have fractions, the core adds up counts, and ``scale`` has the counts of an example as a factor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import number, refused
from everytree.errors import QueryError
from everytree.weights.cost_matrix import LARGEST_COST
from everytree.weights.cost_words import COSTS
from everytree.weights.dirichlet import leaf_cost

__all__ = ["ClassCounts", "Cost", "as_text", "class_weights", "frozen_matrix", "make_cost", "tied", "written"]

MOST_WHOLE = 10**11  # ``tied`` can tell sums of whole numbers up to here apart


class ClassCounts(Protocol):
    """The part of a table of examples that costs need."""

    @property
    def n_classes(self) -> int: ...
    @property
    def total(self) -> int: ...
    @property
    def class_totals(self) -> npt.NDArray[np.int64]: ...
    @property
    def per_example(self) -> int: ...
    @property
    def classes(self) -> tuple[Any, ...] | None: ...


@dataclass(frozen=True)
class Cost:
    """A cost of leaves; the core's values are ``scale`` times those of the query.

    Attributes
    ----------
    name : str
        The name in ``COSTS``, or "errors".
    core : _core.LeafCost
        The cost as the core computes it.
    scale : Fraction
        The factor by which the core's values are larger.
    whole : bool
        Whether the core's values are whole numbers.
    answers : tuple of tuples of Fraction, or None
        Entry (c, k) is the cost of predicting k when c is true; None where every error costs one.
    """

    name: str
    core: _core.LeafCost
    scale: Fraction
    whole: bool
    answers: tuple[tuple[Fraction, ...], ...] | None = None

    def in_query_units(self, value: float) -> float:
        """Convert a value of the core to the units of the query; an int where it is a whole number of errors."""
        if self.whole and self.scale == 1 and self.name in ("error", "errors"):
            return int(value)
        return float(Fraction(value) / self.scale)

    def bound(self, most: float) -> float:
        """Return the largest value of the core within a bound of the query.

        A value is within it if the value, rounded to a float, is: 1/3 is within 0.3333333333333333.
        """
        if math.isinf(most):
            return most
        exact = written(most) * self.scale
        if not self.whole:
            return float(exact)
        whole = math.floor(exact)
        return float(whole + 1 if self.in_query_units(whole + 1) <= most else whole)

    def within(self, value: float, most: float) -> bool:
        """Return whether a value of the core meets a bound of the query."""
        limit = self.bound(most)
        return value <= limit or (not self.whole and tied(value, limit))


def tied(x: float, y: float) -> bool:
    """Return whether two costs are the same up to the rounding of sums."""
    return _core.tied(x, y)


def as_text(x: float) -> str:
    """Write a number for people: 15, 0.25.

    >>> as_text(15.0), as_text(0.25), as_text(1 / 3)
    ('15', '0.25', '0.333333')
    """
    return str(int(x)) if float(x).is_integer() and abs(x) < 1e15 else f"{x:.6g}"


def written(x: Any) -> Fraction:
    """Return the exact number that the digits of ``x`` say: 0.1 is one tenth.

    >>> written(0.1), written(3)
    (Fraction(1, 10), Fraction(3, 1))
    """
    if isinstance(x, np.integer):
        return Fraction(int(x))
    return Fraction(x) if isinstance(x, int | Fraction) else Fraction(repr(float(x)))


def make_cost(
    name: str,
    table: ClassCounts,
    *,
    cost_matrix: Any = None,
    class_weight: Any = None,
    confidence: float = 0.25,
    penalty: float = 0.0,
    rule: _core.LeafRule | None = None,
) -> Cost:
    """Make the cost of this name for the classes of a table; ``penalty`` is added for every leaf."""
    kind, matrix, scale, whole = name, None, Fraction(1), name in ("error", "errors")
    exact: list[list[Fraction]] | None = None
    if name == "errors":
        kind = "error"
    elif name == "error" and class_weight is not None:
        weights = class_weights(class_weight, table)
        if any(w != 1 for w in weights):
            kind = "cost"
            exact = [
                [Fraction(0) if c == k else w for k in range(len(weights))] for c, w in enumerate(weights)
            ]
    elif name == "cost":
        leaf_cost(kind, table.n_classes, cost_matrix)  # refuses a bad matrix
        exact = _exact(cost_matrix)
    elif name in COSTS and (own := COSTS[name].matrix) is not None:
        kind = "cost"
        leaf_cost(kind, table.n_classes, own(table.n_classes))
        exact = _exact(own(table.n_classes))
    if exact is not None:
        matrix, scale, whole = _scaled(exact, table.total)
    scale *= table.per_example
    core = leaf_cost(
        kind,
        table.n_classes,
        matrix,
        confidence=confidence,
        per_leaf=float(written(penalty) * scale) if penalty else 0.0,
        rule=rule,
        per_example=table.per_example,
    )
    answers = None if exact is None else tuple(map(tuple, exact))
    return Cost(name, core, scale, whole and not penalty, answers)


def _exact(matrix: Any) -> list[list[Fraction]]:
    return [[written(x) for x in row] for row in np.asarray(matrix, dtype=float).tolist()]


def _scaled(matrix: list[list[Fraction]], total: int) -> tuple[list[list[float]], Fraction, bool]:
    """Return the matrix in whole numbers with the factor that makes it so; unchanged if they would be too large."""
    values = [x for row in matrix for x in row]
    common = math.lcm(*(x.denominator for x in values))
    divisor = math.gcd(*(int(x * common) for x in values)) or 1
    factor = Fraction(common, divisor)
    if max(abs(x) for x in values) * factor * max(total, 1) > MOST_WHOLE:
        return [[float(x) for x in row] for row in matrix], Fraction(1), False
    return [[float(x * factor) for x in row] for row in matrix], factor, True


def class_weights(class_weight: Any, table: ClassCounts) -> list[Fraction]:
    """Return the weight of an error on each class: from a dict by label, a list by class, or "balanced".

    Classes that a dict leaves out count 1. Balanced weights are N / (classes that occur · examples of the class).
    """
    totals = [int(n) for n in table.class_totals]
    if isinstance(class_weight, str):
        if class_weight != "balanced":
            raise refused(
                QueryError,
                "class_weight",
                class_weight,
                '"balanced", a dict by label, or a list in the order of the classes',
            )
        occurring = sum(n > 0 for n in totals)
        return [Fraction(table.total, occurring * n) if n else Fraction(1) for n in totals]
    labels = list(table.classes) if table.classes is not None else list(range(table.n_classes))
    if isinstance(class_weight, Mapping):
        unknown = [label for label in class_weight if label not in labels]
        if unknown:
            raise QueryError(f"class_weight names {unknown[0]!r}; expected labels among {labels!r}")
        given: list[Any] = [class_weight.get(label, 1) for label in labels]
    else:
        try:
            given = list(class_weight)
        except TypeError:
            given = []
        if len(given) != len(labels):
            raise refused(
                QueryError,
                "class_weight",
                class_weight,
                f'one number for each of the {len(labels)} classes, a dict by label, or "balanced"',
            )
    for value in given:
        number("class_weight", value, 0, LARGEST_COST, example=1, closed=True)
    return [written(value) for value in given]


def frozen_matrix(cost_matrix: npt.ArrayLike) -> Any:
    """Return a matrix as tuples, so that queries can be compared.

    A value that is no matrix is returned as it is, and is refused by name later.
    """
    try:
        values = np.asarray(cost_matrix, dtype=float)
    except (TypeError, ValueError):
        return cost_matrix
    return tuple(tuple(row) for row in values.tolist()) if values.ndim == 2 else cost_matrix
