"""Buntine: growing a tree, or an option tree, by the posterior probability of the piece being added.

    L_0(I) = log Pr(leaf at I) + logM(f(I)),   L_m(I) = max(L_0(I), max_i Q_m(I, i))
    Q_N(I, i) = log Pr(i) + Σ_outcomes L_{N−1}(outcome)                       N-ply lookahead; one-ply is N = 1

log Pr(test) is what the tree prior charges for the split, log Pr(leaf) what it charges for a leaf, open or closed: the
quality of a test is what it adds to the posterior of the whole tree (equation 5). A state is split by the best test if
its quality exceeds L_0(I) + log factor: the test must beat the leaf by that factor. With a beam, levels below the first
look only at the tests with the best one-ply quality.

Cut-points are averaged over: the quality of an attribute is log Σ exp Q over its tests, so that with
attribute-fair tests it is Pr(attribute) times the mean over its cut-points. The attribute is chosen first,
then its best test.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random

from everytree.reference.bayes import Bayes
from everytree.reference.leaves import log_marginal
from everytree.reference.logs import LOG_ZERO, log, log_sum
from everytree.reference.options import OptionTree
from everytree.reference.table import Cover
from everytree.reference.trees import Tree

__all__ = ["attribute_quality", "grow", "grow_options", "grow_random", "log_quality", "quality"]


def log_quality(outcomes: Sequence[Sequence[int]], a: Sequence[float], log_pr_test: float = 0.0) -> float:
    """Return log Pr(test) + Σ logM of a test with any number of outcomes, from the class counts of each outcome.

    This is its one-ply quality where the prior charges nothing for leaves.

    >>> round(math.exp(log_quality([(2, 0), (0, 1)], (1.0, 1.0))) * 6, 12)  # 1/3 · 1/2
    1.0
    """
    return log_pr_test + math.fsum(log_marginal(counts, a) for counts in outcomes)


def quality(
    model: Bayes, cover: Cover, depth: int, test: int, plies: int = 1, beam: int | None = None
) -> float:
    """Return Q_plies of a feasible test at a state."""
    if plies < 1:
        raise ValueError(f"plies={plies!r}; look at least one level ahead")
    if beam is not None and beam < 1:
        raise ValueError(f"beam={beam!r}; keep at least one test, or None for all")
    children = model.table.children(cover, test)
    looked = math.fsum(_look(model, child, depth + 1, plies - 1, beam) for child in children)
    return model.log_split(cover, depth, test) + looked


def _look(model: Bayes, cover: Cover, depth: int, plies: int, beam: int | None) -> float:
    """Return L_plies of a state."""
    best = model.log_leaf(cover, depth)
    if plies == 0:
        return best
    tests: Sequence[int] = model.space.feasible(cover, depth)
    if beam is not None and len(tests) > beam:
        tests = sorted(tests, key=lambda test: (-quality(model, cover, depth, test), test))[:beam]
    return max([best, *(quality(model, cover, depth, test, plies, beam) for test in tests)])


def attribute_quality(
    model: Bayes, cover: Cover, depth: int, attributes: Sequence[int], plies: int = 1
) -> dict[int, float]:
    """Return the quality of each attribute with a feasible test at a state: log Σ exp Q over its tests."""
    by_attribute: dict[int, list[float]] = {}
    for test in model.space.feasible(cover, depth):
        by_attribute.setdefault(attributes[test], []).append(quality(model, cover, depth, test, plies))
    return {attribute: log_sum(values) for attribute, values in sorted(by_attribute.items())}


def _qualities(model: Bayes, cover: Cover, depth: int, plies: int, beam: int | None) -> dict[int, float]:
    tests = model.space.feasible(cover, depth)
    return {test: quality(model, cover, depth, test, plies, beam) for test in tests}


def _threshold(model: Bayes, cover: Cover, depth: int, factor: float) -> float:
    if not 0 <= factor < math.inf:
        raise ValueError(f"factor={factor!r}; the required lead over the leaf must be finite and at least 0")
    return model.log_leaf(cover, depth) + log(factor)


def grow(
    model: Bayes,
    plies: int = 1,
    factor: float = 1.0,
    beam: int | None = None,
    attributes: Sequence[int] | None = None,
    cover: Cover | None = None,
    depth: int = 0,
) -> Tree:
    """Grow one tree; the lowest test on ties. factor 0 splits as long as any test is feasible.

    With ``attributes`` (the attribute of each test) the attribute is chosen by its averaged quality. With a cover and
    its depth the subtree below that state is grown.
    """

    def build(cover: Cover, depth: int) -> Tree:
        found = _qualities(model, cover, depth, plies, beam)
        threshold = _threshold(model, cover, depth, factor)
        best = max(found.values(), default=LOG_ZERO)
        if attributes is not None and found:
            averaged = attribute_quality(model, cover, depth, attributes, plies)
            best = max(averaged.values())
            chosen = min(attribute for attribute, value in averaged.items() if value == best)
            found = {test: value for test, value in found.items() if attributes[test] == chosen}
        if best <= threshold:
            return None
        test = min(found, key=lambda each: (-found[each], each))
        zero, one = model.table.children(cover, test)
        return (test, build(zero, depth + 1), build(one, depth + 1))

    return build(model.space.root if cover is None else cover, depth)


def grow_options(
    model: Bayes,
    within: float = 10.0,
    at_most: int | None = None,
    plies: int = 1,
    factor: float = 1.0,
    beam: int | None = None,
) -> OptionTree:
    """Grow an option tree: at each state every test with a quality within a factor of the best.

    At most ``at_most`` of them, the best first, lower tests first on ties. A state whose best test does not
    beat the leaf by ``factor`` is left without options; the options of one state need not all beat the leaf.
    """
    if not within >= 1:
        raise ValueError(f"within={within!r}; the factor from the best test must be at least 1")
    if at_most is not None and at_most < 1:
        raise ValueError(f"at_most={at_most!r}; keep at least one option, or None for all")

    def build(cover: Cover, depth: int) -> OptionTree:
        found = _qualities(model, cover, depth, plies, beam)
        best = max(found.values(), default=LOG_ZERO)
        if best <= _threshold(model, cover, depth, factor):
            return ()
        order = sorted(found, key=lambda test: (-found[test], test))
        kept = [test for test in order if found[test] >= best - math.log(within)][:at_most]
        options = []
        for test in kept:
            zero, one = model.table.children(cover, test)
            options.append((test, build(zero, depth + 1), build(one, depth + 1)))
        return tuple(options)

    return build(model.space.root, 0)


def grow_random(model: Bayes, rng: Random, plies: int = 1, factor: float = 1.0) -> Tree:
    """Grow one tree with each test drawn with probability proportional to exp(quality) (for "Mult")."""

    def build(cover: Cover, depth: int) -> Tree:
        found = _qualities(model, cover, depth, plies, None)
        best = max(found.values(), default=LOG_ZERO)
        if best <= _threshold(model, cover, depth, factor):
            return None
        tests = list(found)
        (test,) = rng.choices(tests, [math.exp(found[test] - best) for test in tests])
        zero, one = model.table.children(cover, test)
        return (test, build(zero, depth + 1), build(one, depth + 1))

    return build(model.space.root, 0)
