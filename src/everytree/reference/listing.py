"""The answers of ``bayes``, ``marginals`` and ``most_probable`` by listing every tree, without recursion.

    P(T) = joint(T) / Σ_T' joint(T'),   E[anything] = Σ_T P(T) · anything(T)

This is the plainest statement of what the recursions must give.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from everytree.reference.bayes import Bayes, Moments
from everytree.reference.logs import log_sum
from everytree.reference.most_probable import rank_in_posterior
from everytree.reference.table import Cover
from everytree.reference.trees import Tree, depth, leaf_of, n_leaves, used_tests

__all__ = ["Listing"]


class Listing:
    """Every tree of a model's space with its posterior probability.

    >>> from everytree.reference import Space, Table, UniformPrior
    >>> listing = Listing(Bayes(Space(Table([(0,), (1,)], [(1, 0), (0, 1)])), UniformPrior()))
    >>> [(tree, round(p, 12)) for tree, p in listing.posterior.items()]
    [(None, 0.4), ((0, None, None), 0.6)]
    """

    def __init__(self, model: Bayes, at_most: int = 200_000) -> None:
        self.model = model
        self.log_joint: dict[Tree, float] = {
            tree: model.log_joint(tree) for tree in model.space.enumerate_trees(at_most)
        }
        self.log_evidence = log_sum(self.log_joint.values())
        self.posterior: dict[Tree, float] = {
            tree: math.exp(log_joint - self.log_evidence) for tree, log_joint in self.log_joint.items()
        }

    def expect(self, value: Callable[[Tree], float]) -> float:
        """Return E[value(T)]."""
        return math.fsum(p * value(tree) for tree, p in self.posterior.items())

    def distribution(self, value: Callable[[Tree], int]) -> dict[int, float]:
        """Return P(value(T) = k) for every k that occurs."""
        found: dict[int, list[float]] = {}
        for tree, p in self.posterior.items():
            found.setdefault(value(tree), []).append(p)
        return {k: math.fsum(found[k]) for k in sorted(found)}

    def _leaf(self, tree: Tree, row: Sequence[Any]) -> tuple[Cover, int]:
        return leaf_of(tree, self.model.table, row)

    def predict_proba(self, row: Iterable[Any]) -> tuple[float, ...]:
        """Return P(c | x): the mean over trees of the probabilities in the leaf that x reaches."""
        clean = self.model.table.check_row(row)
        return tuple(
            self.expect(lambda tree, c=c: self.model.theta(*self._leaf(tree, clean))[c])  # type: ignore[misc]
            for c in range(self.model.table.n_classes)
        )

    def moments(self, row: Iterable[Any]) -> Moments:
        """Return the moments of θ_c at a row, straight from the law of total variance."""
        clean = self.model.table.check_row(row)
        model = self.model
        columns = []
        for c in range(model.table.n_classes):
            means: list[tuple[float, float]] = []
            inner: list[float] = []
            second: list[float] = []
            for tree, p in self.posterior.items():
                cover, level = self._leaf(tree, clean)
                a = model.a(level)
                counts = model.class_counts(cover)
                b_c, b = counts[c] + a[c], sum(counts) + sum(a)
                means.append((p, b_c / b))
                inner.append(p * b_c * (b - b_c) / (b * b * (b + 1)))
                second.append(p * b_c * (b_c + 1) / (b * (b + 1)))
            mean = math.fsum(p * m for p, m in means)
            between = math.fsum(p * (m - mean) ** 2 for p, m in means)
            columns.append((mean, math.fsum(second), between, math.fsum(inner)))
        return Moments(*(tuple(part) for part in zip(*columns, strict=True)))

    def test_inclusion(self) -> list[float]:
        """Return P(test i is used in the tree)."""
        return [
            math.fsum(p for tree, p in self.posterior.items() if test in used_tests(tree))
            for test in range(self.model.table.n_tests)
        ]

    def attribute_inclusion(self, attributes: Sequence[int]) -> dict[int, float]:
        """Return P(some test of the attribute is used)."""
        return {
            attribute: math.fsum(
                p
                for tree, p in self.posterior.items()
                if attribute in {attributes[t] for t in used_tests(tree)}
            )
            for attribute in sorted(set(attributes))
        }

    def root_distribution(self) -> list[float]:
        """Return P(root = i) for every test i."""
        return [
            math.fsum(p for tree, p in self.posterior.items() if tree is not None and tree[0] == test)
            for test in range(self.model.table.n_tests)
        ]

    def leaves_distribution(self) -> dict[int, float]:
        """Return P(number of leaves = k)."""
        return self.distribution(n_leaves)

    def depth_distribution(self) -> dict[int, float]:
        """Return P(depth = d)."""
        return self.distribution(depth)

    def top_trees(self, k: int) -> list[Tree]:
        """Return the k most probable trees in the order (−log joint, size, key), without those of probability 0."""
        ranked = [
            (rank, tree)
            for tree in self.log_joint
            if (rank := rank_in_posterior(self.model, tree)) is not None
        ]
        return [tree for _, tree in sorted(ranked, key=lambda pair: pair[0])[:k]]

    def map_tree(self) -> Tree:
        """Return the most probable tree."""
        return self.top_trees(1)[0]
