"""The weights of leaves, checked and written as numbers: Dirichlet parameters and additive costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import everytree._core as _core
from everytree.common.arguments import number, refused
from everytree.common.values import written
from everytree.errors import QueryError
from everytree.weights.cost_matrix import checked_cost_matrix
from everytree.weights.cost_words import COSTS

__all__ = [
    "BaseRate",
    "DepthDecay",
    "Dirichlet",
    "checked_power",
    "dirichlet_rows",
    "in_numbers",
    "leaf_cost",
]

SMALLEST = 1e-100  # the smallest Dirichlet parameter


@written
@dataclass(frozen=True)
class DepthDecay:
    """Wallace's Dirichlet parameters, which fall with the depth: a(depth) = scale · rate^depth for every class.

    Parameters
    ----------
    scale : float, default 0.9
        The parameter at the root, between 0 and 1.
    rate : float, default 0.9
        The factor from one depth to the next, between 0 and 1.

    Examples
    --------
    >>> DepthDecay(0.5, 0.5).at(2)
    0.125
    """

    scale: float = 0.9
    rate: float = 0.9

    def __post_init__(self) -> None:
        for name, value in (("scale", self.scale), ("rate", self.rate)):
            number(name, value, 0, 1, example=0.9)

    def at(self, depth: int) -> float:
        """Compute the parameter of a depth.

        Parameters
        ----------
        depth : int
            The depth of a node, 0 for the root.

        Returns
        -------
        float
            The parameter a of every class.
        """
        return self.scale * self.rate**depth


@written
@dataclass(frozen=True)
class BaseRate:
    """Dirichlet parameters in the proportion of the classes: a_c = strength · share of class c in the training data.

    A leaf with few examples then says about what the whole data say. ``dirichlet="base"`` is the strength 1.

    Parameters
    ----------
    strength : float, default 1
        The sum of the parameters over the classes: it weighs as many examples.

    Examples
    --------
    >>> BaseRate(2.0).of([30, 10])
    (1.5, 0.5)
    """

    strength: float = 1.0

    def __post_init__(self) -> None:
        number("strength", self.strength, 0, 1e100, example=1)

    def of(self, class_totals: Sequence[int]) -> tuple[float, ...]:
        """Compute the parameters for training data with so many examples of each class.

        Parameters
        ----------
        class_totals : sequence of int
            The number of training examples of each class, at least one in all.

        Returns
        -------
        tuple of float
            The parameter of each class.
        """
        total = sum(map(int, class_totals))
        return tuple(max(self.strength * (int(n) / total), SMALLEST) for n in class_totals)


Dirichlet = float | Sequence[float] | npt.NDArray[Any] | str | DepthDecay | BaseRate


def in_numbers(dirichlet: Dirichlet, class_totals: Sequence[int] | npt.NDArray[Any]) -> Dirichlet:
    """Return base rates as the numbers that they are for this training data; anything else as it is.

    >>> in_numbers("base", [3, 1]), in_numbers(BaseRate(4.0), [3, 1]), in_numbers("1/C", [3, 1])
    ((0.75, 0.25), (3.0, 1.0), '1/C')
    """
    if isinstance(dirichlet, str) and dirichlet == "base":
        dirichlet = BaseRate()
    return dirichlet.of([int(n) for n in class_totals]) if isinstance(dirichlet, BaseRate) else dirichlet


def checked_power(power: float) -> float:
    """Return the power of the leaf weights, checked: above 0, and at most 1.

    >>> checked_power(0.25)
    0.25
    """
    if (
        isinstance(power, bool | np.bool_)
        or not isinstance(power, int | float | np.number)
        or not 0 < power <= 1
    ):
        raise refused(
            QueryError, "power", power, "a number above 0 and at most 1, e.g. 0.25; 1 is the posterior"
        )
    return float(power)


def dirichlet_rows(
    dirichlet: Dirichlet,
    n_classes: int,
    deepest: int,
    class_totals: Sequence[int] | npt.NDArray[Any] | None = None,
) -> list[list[float]]:
    """Return the parameters by depth and class; one row where the depth makes no difference.

    Base rates need ``class_totals``, the training examples of each class.

    >>> dirichlet_rows("1/C", 4, 3)
    [[0.25, 0.25, 0.25, 0.25]]
    >>> dirichlet_rows("base", 2, 3, [30, 10])
    [[0.75, 0.25]]
    """
    if class_totals is not None:
        dirichlet = in_numbers(dirichlet, class_totals)
    if isinstance(dirichlet, DepthDecay):
        return [[max(dirichlet.at(d), SMALLEST)] * n_classes for d in range(deepest + 1)]
    if isinstance(dirichlet, str):
        if dirichlet != "1/C":
            raise refused(
                QueryError,
                "dirichlet",
                dirichlet,
                'a number, one number per class, "1/C", "base", a BaseRate or a DepthDecay',
            )
        return [[1.0 / n_classes] * n_classes]
    try:
        values = np.asarray(dirichlet, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array(np.nan)
    if values.ndim == 0:
        values = np.full(n_classes, float(values))
    if values.shape != (n_classes,):
        raise QueryError(
            f"dirichlet has shape {values.shape}; expected one number, or one for each of the {n_classes} classes"
        )
    if not all(SMALLEST <= v <= 1 / SMALLEST for v in values):
        raise refused(QueryError, "dirichlet", dirichlet, "positive numbers from 1e-100 to 1e100")
    return [[float(v) for v in values]]


def leaf_cost(
    kind: str,
    n_classes: int,
    cost_matrix: npt.ArrayLike | None = None,
    *,
    confidence: float = 0.25,
    per_leaf: float = 0.0,
    rule: _core.LeafRule | None = None,
    per_example: int = 1,
) -> _core.LeafCost:
    """Make the core's leaf cost for a name of ``COSTS``; leaves that ``rule`` forbids cost infinity.

    ``cost_matrix[c, k]`` is the cost of predicting k when c is true. ``per_example`` counts make one example.
    """
    if kind not in COSTS:
        raise QueryError(f"{kind!r} is not a cost of leaves; expected one of {', '.join(COSTS)}")
    number("confidence", confidence, 0, 1, example=0.25)
    matrix: list[float] = []
    if kind == "cost":
        if cost_matrix is None:
            raise QueryError(
                "ranking by cost needs cost_matrix, with one row per true and one column per predicted class"
            )
        matrix = checked_cost_matrix(cost_matrix, n_classes).ravel().tolist()
    return _core.LeafCost(
        kind, n_classes, matrix, confidence, per_leaf, _core.LeafRule() if rule is None else rule, per_example
    )
