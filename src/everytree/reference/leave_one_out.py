"""Exact leave-one-out: what the average says of a training example when that example is not in it.

The space (and every cut in it), the prior and the Dirichlet parameters a are held as they are from all rows; a row of
weight w ≥ 1 loses one example. With y the class left out at row i, and for the leaf of x_i

    p_k = (n_k − [k = y] + a_k) / (n − 1 + Σa),    r = p_y^(−η)

the example divides the weight of a leaf by M(n)^η / M(n − e_y)^η = p_y^η, so that

    P(k | x_i, D without i) = E_T[r · p_k] / E_T[r]      expectations under the (power) posterior given all of D

A row and class of weight w < 1 loses all of it: then w stands for 1 in p, and r is M(n − w e_y)^η / M(n)^η, a ratio of
Gamma functions.

``Without`` says it as it is meant: the same space, fitted to one example less.

**The exponent** γ ≥ 0 makes predictions bolder or more modest: p_k^γ / Σ p^γ. It is that of the least leave-one-out
log-loss, Σ w · (log Σ_k p_k^γ − γ · log p_y) / Σ w, which is convex in γ. Where bolder is always better (every example
left out is foreseen), it is the largest that is looked at, ``at_most``.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from everytree.reference.bayes import Bayes
from everytree.reference.leaves import log_marginal
from everytree.reference.listing import Listing
from everytree.reference.logs import log_sum
from everytree.reference.table import Cover
from everytree.reference.trees import Tree, leaves_of

__all__ = ["LeftOut", "Without", "best_exponent", "exponent_log_loss", "leave_one_out", "tempered"]
__all__ += ["leave_one_out_by_listing", "left_out_examples"]


class LeftOut(NamedTuple):
    """Examples that are alike, each left out in turn: row of the table, class, how many, and P(k | x, the others)."""

    row: int
    label: int
    weight: float
    proba: tuple[float, ...]


class Without(Bayes):
    """A model of the same space, prior and parameters, fitted to the data without one example.

    >>> from everytree.reference import Space, Table, UniformPrior
    >>> model = Bayes(Space(Table([(0,), (1,)], [(2, 0), (0, 1)])), UniformPrior())
    >>> [round(p, 12) for p in leave_one_out(model, 0, 0)]
    [0.6, 0.4]
    >>> [round(p, 12) for p in Without(model, 0, 0).predict_proba((0,))]
    [0.6, 0.4]
    """

    def __init__(self, model: Bayes, row: int, label: int) -> None:
        super().__init__(model.space, model.prior, model.dirichlet, model.power)
        if not model.table.counts[row][label]:
            raise ValueError(f"row {row} has no example of class {label} that could be left out")
        self.row = row
        self.label = label
        self.removed = min(1, model.table.counts[row][label])

    def class_counts(self, cover: Cover) -> tuple[int, ...]:
        """Return the examples per class, one less where the row is."""
        counts = self.table.class_counts(cover)
        here = cover >> self.row & 1
        return tuple(n_c - here * (c == self.label) * self.removed for c, n_c in enumerate(counts))

    def predicted(self) -> tuple[float, ...]:
        """Return P(k | x) at the row that lost the example."""
        return self.average_in_table(self.row, self.theta)


def leave_one_out(model: Bayes, row: int, label: int) -> tuple[float, ...]:
    """Return P(k | x, D without one example of this row and class), by the formula, in one pass."""
    removed = min(1, model.table.counts[row][label])
    *above, below = model.average_in_table(
        row, lambda cover, depth: _weighted(model, cover, depth, label, removed)
    )
    return tuple(each / below for each in above)


def _weighted(model: Bayes, cover: Cover, depth: int, label: int, removed: float) -> list[float]:
    """Return r · p_k for every class k of a leaf, and r."""
    a, counts = model.a(depth), model.class_counts(cover)
    left = [n_k - removed * (k == label) for k, n_k in enumerate(counts)]
    total = sum(left) + sum(a)
    p = [(n_k + a_k) / total for n_k, a_k in zip(left, a, strict=True)]
    if removed == 1:
        r = p[label] ** -model.power
    else:
        r = math.exp(model.power * (log_marginal(left, a) - log_marginal(counts, a)))
    return [*(r * p_k for p_k in p), r]


def leave_one_out_by_listing(model: Bayes, row: int, label: int, at_most: int = 200_000) -> tuple[float, ...]:
    """Return the same as the mean over every tree, weighed by the data without the example."""
    again = Without(model, row, label)
    listing = Listing(again, at_most)

    def says(tree: Tree, k: int) -> float:
        leaf = next(leaf for leaf in leaves_of(tree, again.table) if leaf.cover >> row & 1)
        return again.theta(leaf.cover, leaf.depth)[k]

    return tuple(listing.expect(lambda tree, k=k: says(tree, k)) for k in range(model.table.n_classes))  # type: ignore[misc]


def left_out_examples(model: Bayes) -> list[LeftOut]:
    """Return what is said of every example when it is left out, rows in order, then classes."""
    return [
        LeftOut(row, label, weight, leave_one_out(model, row, label))
        for row, counts in enumerate(model.table.counts)
        for label, weight in enumerate(counts)
        if weight
    ]


def tempered(proba: Sequence[float], exponent: float) -> tuple[float, ...]:
    """Return p^γ / Σ p^γ.

    >>> [round(p, 12) for p in tempered((0.8, 0.2), 0.5)], tempered((0.8, 0.2), 0)
    ([0.666666666667, 0.333333333333], (0.5, 0.5))
    """
    logs = [exponent * math.log(p) for p in proba]
    total = log_sum(logs)
    return tuple(math.exp(each - total) for each in logs)


def exponent_log_loss(examples: Iterable[LeftOut], exponent: float) -> float:
    """Return the mean of −log p_y^γ / Σ p^γ over the examples."""
    told = list(examples)
    terms = []
    for each in told:
        logs = [exponent * math.log(p) for p in each.proba]
        terms.append(each.weight * (log_sum(logs) - logs[each.label]))
    return math.fsum(terms) / sum(each.weight for each in told)


def best_exponent(examples: Iterable[LeftOut], at_most: float = 10.0, steps: int = 80) -> float:
    """Return the exponent of least log-loss in [0, at_most], by golden sections.

    Of ten examples told 0.6 for a class that eight of them have, the best probability is 0.8:

    >>> told = [LeftOut(0, 0, 8, (0.6, 0.4)), LeftOut(0, 1, 2, (0.6, 0.4))]
    >>> [round(p, 6) for p in tempered((0.6, 0.4), best_exponent(told))]
    [0.8, 0.2]
    """
    told = list(examples)
    golden = (math.sqrt(5) - 1) / 2
    low, high = 0.0, float(at_most)
    for _ in range(steps):
        first, second = high - golden * (high - low), low + golden * (high - low)
        if exponent_log_loss(told, first) <= exponent_log_loss(told, second):
            high = second
        else:
            low = first
    inner = (low + high) / 2
    return min((inner, 0.0, float(at_most)), key=lambda exponent: exponent_log_loss(told, exponent))
