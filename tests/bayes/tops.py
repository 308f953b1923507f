"""Every top of a small space with its weight, from the reference: what collapsed sampling is judged by.

weight(closed state) = u(state)
weight(other state)  = leaf, or split · weight(child 0) · weight(child 1)
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from everytree import reference
from everytree.bayes.collapsed import CollapsedPosterior
from everytree.space.tree_space import TreeSpace
from everytree.weights.dirichlet import DepthDecay
from everytree.weights.priors import (
    BalancedPrior,
    CodingPrior,
    LeafPenaltyPrior,
    Prior,
    ShapePrior,
    SizePrior,
    UniformPrior,
)

ATTRIBUTES = (0, 0, 1, 2, 1, 2, 3, 3)

# name -> our prior, and its twin for attributes
PRIORS: dict[str, tuple[Prior, Any]] = {
    "uniform": (UniformPrior(), lambda a: reference.UniformPrior()),
    "size": (SizePrior(), lambda a: reference.SizePrior()),
    "size 0.95": (SizePrior(0.95, 0.5), lambda a: reference.SizePrior(0.95, 0.5)),
    "fair size": (SizePrior(attribute_fair=True), lambda a: reference.SizePrior(attributes=a)),
    "penalty": (LeafPenaltyPrior(0.3), lambda a: reference.LeafPenaltyPrior(0.3)),
    "shapes": (ShapePrior(), lambda a: reference.ShapePrior()),
    "fair shapes": (ShapePrior(attribute_fair=True), lambda a: reference.ShapePrior(attributes=a)),
    "coding": (CodingPrior(), lambda a: reference.CodingPrior()),
    "fair coding": (CodingPrior(attribute_fair=True), lambda a: reference.CodingPrior(attributes=a)),
    "balanced": (BalancedPrior(), lambda a: reference.BalancedPrior()),
}
DIRICHLETS: dict[str, tuple[Any, Any]] = {
    "1": (1.0, 1.0),
    "0.3": (0.3, 0.3),
    "1/C": ("1/C", "1/C"),
    "decay": (DepthDecay(0.7, 0.6), reference.DepthDecay(0.7, 0.6)),
}

Key = tuple[int, ...]


class Small:
    """A small space, its exact posterior in the reference, and the probability of each of its tops."""

    def __init__(
        self,
        seed: int,
        *,
        n: int = 24,
        n_tests: int = 4,
        n_classes: int = 2,
        max_depth: int | None = 3,
        min_leaf: int = 1,
        prior: str = "size",
        dirichlet: str = "1",
        n_jobs: int = 1,
    ) -> None:
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
        if seed % 3 == 0:  # a test that splits some covers as another one does
            X[:, -1] = X[:, 0] ^ (X[:, 1] & X[:, 2])
        shown = (X[:, 0] + (X[:, 1] if n_classes > 2 else 0)) % n_classes
        y = np.where(rng.random(n) < 0.7, shown, rng.integers(0, n_classes, n))
        attributes = ATTRIBUTES[:n_tests]
        self.X, self.y = X, y
        self.space = TreeSpace(
            X, y, max_depth, min_leaf, attributes=attributes, classes=range(n_classes), n_jobs=n_jobs
        )
        self.prior, twin = PRIORS[prior]
        self.dirichlet, twin_dirichlet = DIRICHLETS[dirichlet]
        table = reference.Table.from_data(X.tolist(), y.tolist(), n_classes)
        self.bayes = reference.Bayes(
            reference.Space(table, max_depth, min_leaf), twin(attributes), twin_dirichlet
        )

    def closed(self, cover: int, depth: int) -> bool:
        space = self.bayes.space
        near = space.max_depth is not None and space.max_depth - depth <= 2
        return near or space.table.n(cover) < 4 * space.min_leaf

    def log_tops(self) -> dict[Key, float]:
        """Log weight of every top."""
        bayes = self.bayes
        known: dict[tuple[int, int], dict[Key, float]] = {}

        def tops(cover: int, depth: int) -> dict[Key, float]:
            if (cover, depth) not in known:
                closed = self.closed(cover, depth)
                end = bayes.log_u(cover, depth) if closed else bayes.log_leaf(cover, depth)
                found: dict[Key, float] = {(-1,): end}
                if not closed:
                    for test in bayes.space.feasible(cover, depth):
                        zero, one = (tops(child, depth + 1) for child in bayes.table.children(cover, test))
                        split = bayes.log_split(cover, depth, test)
                        for (a, x), (b, z) in product(zero.items(), one.items()):
                            found[(test, *a, *b)] = split + x + z
                known[cover, depth] = found
            return known[cover, depth]

        return tops(bayes.space.root, 0)

    def sampled(self, **options: Any) -> CollapsedPosterior:
        return self.space.collapsed(self.prior, self.dirichlet, **options)
