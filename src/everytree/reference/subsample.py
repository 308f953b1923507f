"""Buntine: at a node with many examples, look at some of them, and at more only while the best test is in doubt.

    Q_m(test) = log Pr(test) + Σ_outcomes (log Pr(leaf) + logM(n_outcome among the first m examples, in random order))
    take the best test as soon as   Q_m(best) − Q_m(second) ≥ log lead,   for m = first, growth · first, …, all

A quality is the logarithm of a probability, so a difference of two is the logarithm of a Bayes factor: a lead of 100
means that the examples seen favour the best test a hundred times over the next. At the last m every example is seen,
and the best test is taken whatever its lead: with an infinite lead this is ordinary one-ply growth.

Which tests are feasible, and whether the chosen one beats the leaf, is asked of all the examples. Whether a test could
follow in a branch is not asked of a part of them: there every branch above the depth limit counts as open.
"""

from __future__ import annotations

import math
from random import Random
from typing import NamedTuple

from everytree.reference.bayes import Bayes
from everytree.reference.buntine import log_quality, quality
from everytree.reference.logs import log
from everytree.reference.table import Cover
from everytree.reference.trees import Tree

__all__ = ["Choice", "choose_on_subsample", "grow_on_subsamples"]


class Choice(NamedTuple):
    """The test chosen, how many examples it took, and the log Bayes factor by which it led the next test."""

    test: int
    n_seen: int
    log_lead: float


def choose_on_subsample(
    model: Bayes,
    cover: Cover,
    depth: int,
    rng: Random,
    lead: float = 100.0,
    first: int = 32,
    growth: float = 2.0,
) -> Choice | None:
    """Return the best test of a state by a growing subsample, or None where no test is feasible.

    The lowest test on ties; a test without a rival leads by infinity.
    """
    if not lead >= 1:
        raise ValueError(
            f"lead={lead!r}; the required Bayes factor must be at least 1 (infinity: see all examples)"
        )
    if first < 1:
        raise ValueError(f"first={first!r}; the first subsample needs at least one example")
    if not growth > 1:
        raise ValueError(f"growth={growth!r}; a subsample must grow by a factor greater than 1")
    tests = model.space.feasible(cover, depth)
    if not tests:
        return None
    examples = _examples(model, cover)
    rng.shuffle(examples)
    m = min(first, len(examples))
    while True:
        found = {
            test: quality(model, cover, depth, test)
            if m == len(examples)
            else _quality_of(model, cover, depth, test, examples[:m])
            for test in tests
        }
        best, *others = sorted(tests, key=lambda test: (-found[test], test))
        log_lead = found[best] - found[others[0]] if others else math.inf
        if log_lead >= math.log(lead) or m == len(examples):
            return Choice(best, m, log_lead)
        m = min(max(m + 1, math.floor(m * growth)), len(examples))


def _examples(model: Bayes, cover: Cover) -> list[tuple[int, int]]:
    """Return every example of a cover as (number of its row, class)."""
    return [
        (number, c)
        for number, counts in enumerate(model.table.counts)
        if cover >> number & 1
        for c, n in enumerate(counts)
        for _ in range(n)
    ]


def _quality_of(model: Bayes, cover: Cover, depth: int, test: int, seen: list[tuple[int, int]]) -> float:
    outcomes = [[0] * model.table.n_classes for _ in range(2)]
    for number, c in seen:
        outcomes[model.table.rows[number][test]][c] += 1
    limit = model.space.max_depth
    open_tests = () if limit is not None and depth + 1 >= limit else (test,)
    leaves = 2 * model.prior.log_leaf(depth + 1, open_tests)
    return log_quality(outcomes, model.a(depth + 1), model.log_split(cover, depth, test) + leaves)


def grow_on_subsamples(
    model: Bayes,
    rng: Random,
    lead: float = 100.0,
    first: int = 32,
    growth: float = 2.0,
    factor: float = 1.0,
) -> Tree:
    """Grow one tree like ``grow`` with one ply, with every test chosen on a subsample."""
    if not 0 <= factor < math.inf:
        raise ValueError(f"factor={factor!r}; the required lead over the leaf must be finite and at least 0")

    def build(cover: Cover, depth: int) -> Tree:
        choice = choose_on_subsample(model, cover, depth, rng, lead, first, growth)
        if choice is None:
            return None
        if quality(model, cover, depth, choice.test) <= model.log_leaf(cover, depth) + log(factor):
            return None
        zero, one = model.table.children(cover, choice.test)
        return (choice.test, build(zero, depth + 1), build(one, depth + 1))

    return build(model.space.root, 0)
