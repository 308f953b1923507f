"""Dirichlet parameters by evidence: the scale t of a = t · base that makes the data most probable.

    L(t) = log u(∅) under a = t · base;   fitted: the largest L

The slope comes from one more fold. With h(x, n) = ψ(x + n) − ψ(x) = Σ_{k<n} 1/(x + k), A = Σa and N = Σn,

    d logM(n) / d log t = Σ_c a_c · h(a_c, n_c) − A · h(A, N)
    d log u(I) / d log t = P(leaf | I) · η · (d logM / d log t) + Σ_i P(i | I) · (the same of both children of i)

where P(leaf | I) and P(i | I) are the posterior probabilities of what a tree does at I: the slope of the log evidence
is the posterior mean of the slope of a tree.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from everytree.reference.bayes import Bayes
from everytree.reference.leaves import DepthDecay, Dirichlet, dirichlet_at
from everytree.reference.priors import Prior
from everytree.reference.space import Space
from everytree.reference.table import Cover

__all__ = ["DirichletFit", "evidence_slope", "fit_dirichlet", "marginal_slope"]


class DirichletFit(NamedTuple):
    """The fitted parameters, their scale and log evidence; and the curve, (scale, log evidence) of every grid point."""

    a: tuple[float, ...]
    scale: float
    log_evidence: float
    curve: tuple[tuple[float, float], ...]


def marginal_slope(counts: Sequence[int], a: Sequence[float]) -> float:
    """Return d logM(n) / d log t of a leaf, where t multiplies every a_c.

    One example of each class has M = 1/2 · a / (2a + 1), so the slope is 1 − 2a / (2a + 1):

    >>> round(marginal_slope((1, 1), (1.0, 1.0)), 12) == round(1 / 3, 12)
    True
    """

    def h(x: float, n: int) -> float:
        return math.fsum(1 / (x + k) for k in range(n))

    terms = [a_c * h(a_c, n_c) for n_c, a_c in zip(counts, a, strict=True)]
    return math.fsum([*terms, -sum(a) * h(sum(a), sum(counts))])


def evidence_slope(model: Bayes) -> float:
    """Return d log evidence / d log t at the parameters of the model, where t multiplies all of them."""
    known: dict[tuple[Cover, int], float] = {}

    def slope(cover: Cover, depth: int) -> float:
        state = (cover, depth)
        if state not in known:
            leaf, split = model.step(cover, depth)
            terms = [leaf * model.power * marginal_slope(model.class_counts(cover), model.a(depth))]
            for test, share in split.items():
                terms += [share * slope(child, depth + 1) for child in model.table.children(cover, test)]
            known[state] = math.fsum(terms)
        return known[state]

    return slope(model.space.root, 0)


def fit_dirichlet(
    space: Space,
    prior: Prior | None = None,
    base: Dirichlet = 1.0,
    low: float = 0.01,
    high: float = 100.0,
    n_grid: int = 17,
    steps: int = 30,
    power: float = 1.0,
) -> DirichletFit:
    """Return the scale of ``base`` in [low, high] with the largest log evidence.

    The curve may have several tops: a grid, even in log t, finds the highest of them, and the sign of the slope halves
    the way to it ``steps`` times. The answer is never less probable than a point of the grid.
    """
    if isinstance(base, DepthDecay):
        raise ValueError(f"base={base!r}; give a number, one number per class, or '1/C'")
    if not 0 < low < high < math.inf:
        raise ValueError(f"low={low!r}, high={high!r}; scales must satisfy 0 < low < high < infinity")
    if n_grid < 2:
        raise ValueError(f"n_grid={n_grid!r}; a grid needs at least its two ends")
    unit = dirichlet_at(base, 0, space.table.n_classes)

    def model_at(t: float) -> Bayes:
        return Bayes(space, prior, tuple(t * each for each in unit), power)

    grid = [low, *(low * (high / low) ** (k / (n_grid - 1)) for k in range(1, n_grid - 1)), high]
    value = {t: model_at(t).log_evidence for t in grid}
    curve = tuple(value.items())
    at = max(range(n_grid), key=lambda k: (value[grid[k]], -k))
    up = evidence_slope(model_at(grid[at])) > 0
    beyond = at + 1 if up else at - 1
    if 0 <= beyond < n_grid:
        near, far = grid[at], grid[beyond]  # the slope at ``near`` points to ``far``
        for _ in range(steps):
            middle = math.sqrt(near * far)
            model = model_at(middle)
            value[middle] = model.log_evidence
            if (evidence_slope(model) > 0) == up:
                near = middle
            else:
                far = middle
    scale = max(value, key=lambda t: value[t])
    return DirichletFit(model_at(scale).a(0), scale, value[scale], curve)
