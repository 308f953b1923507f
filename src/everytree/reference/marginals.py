"""Facts about a random tree of the posterior, each by one more fold of the same states.

P(no test of B in T) = u_B(∅) / u(∅),       u_B = the fold u without the options of B (weights unchanged)
Σ prior = the fold u with every marginal likelihood 1;   Bayes factor = (u(∅) / Σ prior) / M(f(∅))
leaves: L(s) = P(leaf | s) · [1] + Σ_i P(i | s) · L(zero) ∗ L(one)           (∗ convolution)
depth:  P(depth ≤ d at s) = P(leaf | s) + Σ_i P(i | s) · P(depth ≤ d−1 at zero) · P(depth ≤ d−1 at one)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from everytree.reference.bayes import Bayes
from everytree.reference.logs import log_sum
from everytree.reference.table import Cover

__all__ = ["attribute_inclusion", "depth_distribution", "expected_depth", "expected_leaves", "expected_size"]
__all__ += [
    "leaves_distribution",
    "log_bayes_factor",
    "log_prior_total",
    "log_u_without",
    "root_distribution",
]
__all__ += ["size_distribution", "test_inclusion"]


def log_u_without(model: Bayes, banned: Collection[int]) -> float:
    """Return the log of the summed joint weight of the trees that use none of the banned tests."""
    known: dict[tuple[Cover, int], float] = {}

    def log_u(cover: Cover, depth: int) -> float:
        state = (cover, depth)
        if state not in known:
            terms = [model.log_leaf(cover, depth)]
            for test in model.space.feasible(cover, depth):
                if test not in banned:
                    zero, one = model.table.children(cover, test)
                    log_both = log_u(zero, depth + 1) + log_u(one, depth + 1)
                    terms.append(model.log_split(cover, depth, test) + log_both)
            known[state] = log_sum(terms)
        return known[state]

    return log_u(model.space.root, 0)


def log_prior_total(model: Bayes) -> float:
    """Return the log of the sum over all trees of the prior alone.

    The size prior is a distribution:

    >>> from everytree.reference import Space, Table, UniformPrior
    >>> space = Space(Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(3, 1), (0, 4), (1, 5), (4, 0)]), 2)
    >>> abs(log_prior_total(Bayes(space))) < 1e-12
    True
    >>> round(math.exp(log_prior_total(Bayes(space, UniformPrior())))) == space.count()
    True
    """
    known: dict[tuple[Cover, int], float] = {}

    def log_total(cover: Cover, depth: int) -> float:
        state = (cover, depth)
        if state not in known:
            tests = model.space.feasible(cover, depth)
            terms = [model.log_prior_leaf(cover, depth)]
            for test in tests:
                zero, one = model.table.children(cover, test)
                below = log_total(zero, depth + 1) + log_total(one, depth + 1)
                terms.append(model.log_split(cover, depth, test) + below)
            known[state] = log_sum(terms)
        return known[state]

    return log_total(model.space.root, 0)


def log_bayes_factor(model: Bayes) -> float:
    """Return the log Bayes factor of all trees, under the normalised prior, against the single leaf."""
    return model.log_evidence - log_prior_total(model) - model.log_m(model.space.root, 0)


def test_inclusion(model: Bayes) -> list[float]:
    """Return P(test i is used in the tree), for every test."""
    return [_used(model, {test}) for test in range(model.table.n_tests)]


# Keep pytest from taking the function for a test when a test module imports it.
test_inclusion.__test__ = False  # type: ignore[attr-defined]


def attribute_inclusion(model: Bayes, attributes: Sequence[int]) -> dict[int, float]:
    """Return P(some test of the attribute is used); ``attributes[i]`` is the attribute of test i."""
    if len(attributes) != model.table.n_tests:
        raise ValueError(f"{len(attributes)} attributes for {model.table.n_tests} tests; give one per test")
    return {
        attribute: _used(model, {test for test, owner in enumerate(attributes) if owner == attribute})
        for attribute in sorted(set(attributes))
    }


def _used(model: Bayes, tests: Collection[int]) -> float:
    return max(0.0, -math.expm1(log_u_without(model, tests) - model.log_evidence))


def root_distribution(model: Bayes) -> list[float]:
    """Return P(root = i) for every test i; what is missing to 1 is the probability of the single leaf."""
    split = model.step(model.space.root, 0).split
    return [split.get(test, 0.0) for test in range(model.table.n_tests)]


def leaves_distribution(model: Bayes) -> dict[int, float]:
    """Return P(number of leaves = k) for every k that some tree has."""
    known: dict[tuple[Cover, int], dict[int, float]] = {}

    def leaves(cover: Cover, depth: int) -> dict[int, float]:
        state = (cover, depth)
        if state not in known:
            leaf, split = model.step(cover, depth)
            found = {1: leaf}
            for test, share in split.items():
                zero, one = model.table.children(cover, test)
                for left, p in leaves(zero, depth + 1).items():
                    for right, q in leaves(one, depth + 1).items():
                        found[left + right] = found.get(left + right, 0.0) + share * p * q
            known[state] = found
        return known[state]

    return dict(sorted(leaves(model.space.root, 0).items()))


def size_distribution(model: Bayes) -> dict[int, float]:
    """Return P(number of nodes = k) for every k that some tree has."""
    return {2 * k - 1: p for k, p in leaves_distribution(model).items()}


def depth_distribution(model: Bayes) -> dict[int, float]:
    """Return P(depth = d) for every d up to the deepest tree."""
    known: dict[tuple[Cover, int, int], float] = {}

    def at_most(cover: Cover, depth: int, d: int) -> float:
        state = (cover, depth, d)
        if state not in known:
            leaf, split = model.step(cover, depth)
            total = leaf
            if d > 0:
                for test, share in split.items():
                    zero, one = model.table.children(cover, test)
                    total += share * at_most(zero, depth + 1, d - 1) * at_most(one, depth + 1, d - 1)
            known[state] = total
        return known[state]

    cumulative = [at_most(model.space.root, 0, d) for d in range(model.space.deepest() + 1)]
    return {
        d: max(0.0, p - before)
        for d, (p, before) in enumerate(zip(cumulative, [0.0, *cumulative], strict=False))
    }


def expected_leaves(model: Bayes) -> float:
    """Return the posterior mean of the number of leaves."""
    return math.fsum(k * p for k, p in leaves_distribution(model).items())


def expected_size(model: Bayes) -> float:
    """Return the posterior mean of the number of nodes."""
    return 2 * expected_leaves(model) - 1


def expected_depth(model: Bayes) -> float:
    """Return the posterior mean of the depth of the tree."""
    return math.fsum(d * p for d, p in depth_distribution(model).items())
