"""Plain twins of the power posterior and of leaving out one example: the reference's recursion with other leaf weights.

    weight of a leaf   M(n)^power            n without the example that is left out, if its row is in the leaf
    what it says       (n_c + a_c) / (n + Σa)    of the same n

The trees are those of all examples. Nothing here divides by p or multiplies by ratios: each left-out example has its
own sum over every tree.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from everytree import (
    BalancedPrior,
    CodingPrior,
    LeafPenaltyPrior,
    ShapePrior,
    SizePrior,
    TreeSpace,
    UniformPrior,
    reference,
)
from everytree.reference.leaves import leaf_probabilities, log_marginal

PRIORS: dict[str, Any] = {
    "uniform": (UniformPrior(), lambda attributes: reference.UniformPrior()),
    "size": (SizePrior(), lambda attributes: reference.SizePrior()),
    "fair size": (SizePrior(0.7, 0.4, attribute_fair=True), lambda a: reference.SizePrior(0.7, 0.4, a)),
    "leaf penalty": (LeafPenaltyPrior(0.3), lambda attributes: reference.LeafPenaltyPrior(0.3)),
    "shapes": (ShapePrior(), lambda attributes: reference.ShapePrior()),
    "fair coding": (CodingPrior(attribute_fair=True), lambda a: reference.CodingPrior(a)),
    "balanced": (BalancedPrior(0.5), lambda attributes: reference.BalancedPrior(0.5)),
}


class Powered(reference.Bayes):
    """Every tree of a space, weighted with a power of the leaf weights, with one example left out or none."""

    def __init__(
        self, space: Any, prior: Any, dirichlet: Any, power: float, left: tuple[int, int] | None = None
    ) -> None:
        super().__init__(space, prior, dirichlet)
        self.power, self.left = power, left

    def counts(self, cover: int) -> tuple[int, ...]:
        found = list(self.table.class_counts(cover))
        if self.left is not None and cover >> self.left[0] & 1:
            found[self.left[1]] -= 1
        return tuple(found)

    def log_m(self, cover: int, depth: int) -> float:
        return self.power * log_marginal(self.counts(cover), self.a(depth))

    def theta(self, cover: int, depth: int) -> tuple[float, ...]:
        return leaf_probabilities(self.counts(cover), self.a(depth))


class Case:
    """Random examples with noise, some repeated, as a space of ours and of the reference."""

    def __init__(
        self, n: int, n_tests: int, n_classes: int, depth: int | None, min_leaf: int, seed: int, most: int = 1
    ) -> None:
        rng = np.random.default_rng(seed)
        self.X = rng.integers(0, 2, (n, n_tests))
        if n_tests > 2:
            self.X[:, n_tests - 1] = self.X[:, 0] ^ (rng.random(n) < 0.1)  # two tests that are nearly one
        self.y = np.where(rng.random(n) < 0.6, self.X[:, : n_classes - 1].sum(axis=1) % n_classes,
                          rng.integers(0, n_classes, n))  # fmt: skip
        self.y[:n_classes] = np.arange(n_classes)
        self.weights = rng.integers(1, most + 1, n)
        self.attributes: Sequence[int] = [i % 2 for i in range(n_tests)]
        self.space = TreeSpace(
            self.X, self.y, max_depth=depth, min_leaf=min_leaf, sample_weight=self.weights,
            attributes=[f"a{a}" for a in self.attributes],
        )  # fmt: skip
        table = reference.Table.from_data(self.X.tolist(), self.y.tolist(), n_classes, self.weights.tolist())
        self.twin = reference.Space(table, depth, min_leaf)

    def plain(self, prior: str, dirichlet: Any, power: float, left: tuple[int, int] | None = None) -> Powered:
        return Powered(self.twin, PRIORS[prior][1](self.attributes), dirichlet, power, left)

    def left_out(self, prior: str, dirichlet: Any, power: float) -> dict[tuple[tuple[int, ...], int], Any]:
        """(row, class) → (probabilities, log evidence without it), each by its own sum over every tree."""
        found = {}
        for number, (row, counts) in enumerate(
            zip(self.twin.table.rows, self.twin.table.counts, strict=True)
        ):
            for c, n in enumerate(counts):
                if n:
                    model = self.plain(prior, dirichlet, power, (number, c))
                    found[row, c] = model.predict_proba(row), model.log_evidence
        return found
