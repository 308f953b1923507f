"""Hyper-parameters that evidence or left-out examples can choose: a name, a grid, and a scale on which to refine it.

    size prior       alpha, beta       of α(1 + d)^−β
    leaf penalty     omega
    Dirichlet        a                 the same for every class, or one a[label] for each
    depth decay      scale, rate       a(d) = scale · rate^d
    base rates       strength          a_c = strength · share of class c; by left-out examples alone
    power            power             of the leaf weights; by left-out examples alone

A *family* is the set of numbers that are chosen together, and how a prior or a Dirichlet parameter is made of them.
Words ask for one: "fit" and "average" for the usual family, "fit_leaf_penalty" or "average_decay" for another; "loo"
and "loo_decay" choose from the grid by the leave-one-out log-loss.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from everytree.common.arguments import number, refused
from everytree.errors import QueryError
from everytree.weights.dirichlet import BaseRate, DepthDecay
from everytree.weights.priors import LeafPenaltyPrior, Prior, SizePrior

__all__ = ["Axis", "Family", "asked", "dirichlet_family", "grid_points", "power_family", "prior_family"]

VERBS = ("fit", "average", "loo")
PRIORS = ("size", "leaf_penalty")
DIRICHLETS = ("symmetric", "per_class", "decay")
LEFT_OUT = ("symmetric", "base", "decay")  # one number for each class has no grid of its own

ALPHAS, BETAS = (0.5, 0.8, 0.95), (0.4, 0.8, 1.6)
OMEGAS = (0.001, 0.01, 0.05, 0.2, 0.5)
SYMMETRIC = (0.25, 0.5, 1.0, 2.0, 4.0)
SHARES = (0.3, 0.6, 0.9)
STRENGTHS = (1.0, 0.25, 0.5, 2.0, 4.0)
POWERS = (1.0, 0.5, 0.25, 0.125)


@dataclass(frozen=True)
class Axis:
    """One number that is chosen: its name, its range, and the scale on which equal steps matter alike."""

    name: str
    low: float
    high: float
    scale: str  # "log" (of x), "logit" (of a share), "log1p"

    def inward(self, value: float) -> float:
        """Return the place of a value on the scale."""
        if self.scale == "log":
            return math.log(value)
        return math.log1p(value) if self.scale == "log1p" else math.log(value / (1 - value))

    def outward(self, place: float) -> float:
        """Return the value at a place on the scale, within the range."""
        if self.scale == "log":
            value = math.exp(place)
        else:
            value = math.expm1(place) if self.scale == "log1p" else 1 / (1 + math.exp(-place))
        return min(max(value, self.low), self.high)


@dataclass(frozen=True)
class Family:
    """Numbers that are chosen together; ``grid[0]`` holds the default values."""

    axes: tuple[Axis, ...]
    grid: tuple[tuple[float, ...], ...]
    make: Callable[[Sequence[float]], Any]
    proper: bool = True  # a prior that sums to one: evidence is comparable as it is


def asked(what: str, value: Any) -> tuple[str, str] | None:
    """Return (verb, family) of a word such as "fit" or "average_decay"; None for a value that stays as it is.

    >>> asked("prior", "fit"), asked("dirichlet", "average_decay"), asked("prior", "coding")
    (('fit', 'size'), ('average', 'decay'), None)
    """
    if not isinstance(value, str):
        return None
    verb, _, family = value.partition("_")
    if verb not in VERBS:
        return None
    known = PRIORS if what == "prior" else LEFT_OUT if verb == "loo" else DIRICHLETS
    if family and family not in known:
        words = ", ".join(f'"{verb}_{name}"' for name in known)
        raise refused(QueryError, what, value, f'"{verb}", or one of {words}')
    return verb, family or known[0]


def prior_family(name: str, start: Prior | None = None) -> Family:
    """Return the family of a prior; ``start`` gives the default values and whether attributes count alike."""
    if name == "size":
        start = SizePrior() if start is None else start
        if not isinstance(start, SizePrior):
            raise refused(QueryError, "start", start, says="; to fit the size prior, expected a SizePrior")
        fair = start.attribute_fair
        return Family(
            (Axis("alpha", 0.001, 0.999, "logit"), Axis("beta", 0.0, 20.0, "log1p")),
            _with((start.alpha, start.beta), [(a, b) for a in ALPHAS for b in BETAS]),
            lambda values: SizePrior(values[0], values[1], fair),
        )
    start = LeafPenaltyPrior() if start is None else start
    if not isinstance(start, LeafPenaltyPrior):
        raise refused(
            QueryError, "start", start, says="; to fit the leaf penalty, expected a LeafPenaltyPrior"
        )
    alike = start.attribute_fair
    return Family(
        (Axis("omega", 1e-9, 0.999, "logit"),),
        _with((start.omega,), [(omega,) for omega in OMEGAS]),
        lambda values: LeafPenaltyPrior(values[0], alike),
        proper=False,
    )


def dirichlet_family(name: str, labels: Sequence[Any]) -> Family:
    """Return the family of Dirichlet parameters of leaves, for classes with these labels."""
    if name == "symmetric":
        return Family(
            (Axis("dirichlet", 1e-4, 1e4, "log"),),
            _with((1.0,), [(a,) for a in SYMMETRIC]),
            lambda values: float(values[0]),
        )
    if name == "per_class":
        return Family(
            tuple(Axis(f"dirichlet[{label}]", 1e-4, 1e4, "log") for label in labels),
            _with((1.0,) * len(labels), [(a,) * len(labels) for a in SYMMETRIC]),
            lambda values: tuple(map(float, values)),
        )
    if name == "base":
        return Family(
            (Axis("strength", 1e-4, 1e4, "log"),),
            tuple((strength,) for strength in STRENGTHS),
            lambda values: BaseRate(float(values[0])),
        )
    usual = DepthDecay()
    return Family(
        (Axis("scale", 0.001, 0.999, "logit"), Axis("rate", 0.001, 0.999, "logit")),
        _with((usual.scale, usual.rate), [(a, b) for a in SHARES for b in SHARES]),
        lambda values: DepthDecay(*values),
    )


def power_family() -> Family:
    """Return the family of powers of the leaf weights; 1 is the posterior itself."""
    return Family(
        (Axis("power", 1e-6, 1.0, "log"),),
        tuple((power,) for power in POWERS),
        lambda values: float(values[0]),
    )


def grid_points(
    parts: Sequence[Family], given: Mapping[str, Sequence[float]] | None
) -> list[tuple[float, ...]]:
    """List every point of the grid, the starting values first."""
    given = dict(given or {})
    axes = [axis for part in parts for axis in part.axes]
    names = [axis.name for axis in axes]
    for name, values in given.items():
        if name not in names:
            raise QueryError(
                f"grid names {name!r}, which is not chosen here; expected some of {', '.join(names)}"
            )
        axis = axes[names.index(name)]
        if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or len(values) == 0:
            raise QueryError(f"grid[{name!r}]={values!r}; expected a list of numbers")
        for value in values:
            number(f"grid[{name!r}]", value, axis.low, axis.high, example=parts[0].grid[0][0], closed=True)
    found = []
    for part in parts:
        points = list(part.grid)
        if any(axis.name in given for axis in part.axes):
            usual = [sorted({point[i] for point in part.grid}) for i in range(len(part.axes))]
            chosen = [given.get(axis.name, usual[i]) for i, axis in enumerate(part.axes)]
            points = [points[0], *(p for p in product(*(map(float, v) for v in chosen)) if p != points[0])]
        found.append(points)
    return [tuple(value for point in points for value in point) for points in product(*found)]


def _with(start: tuple[float, ...], grid: list[tuple[float, ...]]) -> tuple[tuple[float, ...], ...]:
    """Return the grid with the default values first."""
    return (start, *(point for point in grid if point != start))
