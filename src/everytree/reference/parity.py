"""The average over every tree as a sum of parities, from the weighted rules.

With z_t = +1 where test t holds and −1 elsewhere, a path I holds where Π_{(t, b) ∈ I} (1 ± z_t)/2 = 1, so

    P(c | x) = Σ_I w_c(I)/u(∅) · Π_{(t, b) ∈ I} (1 ± z_t)/2 = Σ_S a_c(S) · Π_{t ∈ S} z_t

and leaving out the sets D moves class c by at most Σ_{S ∈ D} |a_c(S)|, for every row. Sets are left out in the order of
need(S) = max |a_c(T)| over T ⊇ S and classes; among equals larger sets go first, then those with the least |a|.

Where states choose their cuts, paths are made of conditions, and two of one column are never both needed, for

    t < t':   z(x <= t) · z(x <= t') = 1 + z(x <= t) − z(x <= t')       the first implies the second
    else      z · z' = −1 − z − z'                                      both never hold

so that the sum runs over sets with at most one condition of each column.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import Any

from everytree.reference.bayes import Bayes
from everytree.reference.columns import Condition

Tests = frozenset[Any]  # of numbers of tests, or of conditions


def parity_terms(bayes: Bayes) -> dict[Tests, tuple[float, ...]]:
    """Return a_c(S) of every set of tests that is part of a path.

    >>> from everytree.reference import SizePrior, Space, Table
    >>> space = Space(Table.from_data([[0], [1]], [0, 1], 2), 1, 1)
    >>> terms = parity_terms(Bayes(space, SizePrior(), 1.0))
    >>> [round(x, 3) for x in terms[frozenset()]], [round(x, 3) for x in terms[frozenset({0})]]
    ([0.5, 0.5], [-0.143, 0.143])
    """
    sums: dict[Tests, list[list[float]]] = {}
    for path, log_weights in bayes.log_rules().items():
        weights = [math.exp(log_w - bayes.log_evidence) / 2 ** len(path) for log_w in log_weights]
        for size in range(len(path) + 1):
            for part in combinations(sorted(path), size):
                sign = (-1) ** sum(not outcome for _, outcome in part)
                into = sums.setdefault(frozenset(test for test, _ in part), [[] for _ in weights])
                for column, weight in zip(into, weights, strict=True):
                    column.append(sign * weight)
    return {tests: tuple(map(math.fsum, columns)) for tests, columns in sums.items()}


def kept_terms(terms: dict[Tests, tuple[float, ...]], epsilon: float) -> tuple[set[Tests], float]:
    """Return the non-empty sets kept for an epsilon, and the bound on what is left out."""
    need: dict[Tests, float] = {}
    for tests, a in terms.items():
        largest = max(map(abs, a))
        for size in range(1, len(tests) + 1):
            for part in combinations(sorted(tests), size):
                need[frozenset(part)] = max(need.get(frozenset(part), 0.0), largest)
    order = sorted(
        need, key=lambda tests: (need[tests], -len(tests), max(map(abs, terms[tests])), sorted(tests))
    )
    left_out = [0.0] * len(terms[frozenset()])
    for k, tests in enumerate(order):
        further = [x + abs(a) for x, a in zip(left_out, terms[tests], strict=True)]
        if max(further) > epsilon:
            return set(order[k:]), max(left_out)
        left_out = further
    return set(), max(left_out)


def column_parity_terms(bayes: Bayes) -> dict[Tests, tuple[float, ...]]:
    """Return a_c(S) of a space whose states choose their cuts, and of all subsets, for sets of conditions.

    >>> from everytree.reference import ColumnTable, LocalSpace, SizePrior
    >>> space = LocalSpace(ColumnTable.from_data([[1], [2], [3], [4]], [0, 1, 0, 1], bins=2), max_depth=None)
    >>> terms = column_parity_terms(Bayes(space, SizePrior(), 1.0))
    >>> sorted(condition for tests in terms for condition in tests)
    [(0, '<=', 1.5), (0, '<=', 2.5), (0, '<=', 3.5)]
    """
    plain = parity_terms(bayes)
    sums: dict[Tests, list[list[float]]] = {}
    for tests, a in plain.items():
        for part, factor in _one_per_column(tests).items():
            into = sums.setdefault(part, [[] for _ in a])
            for column, x in zip(into, a, strict=True):
                column.append(factor * x)
    terms = {tests: tuple(map(math.fsum, columns)) for tests, columns in sums.items()}
    zero = tuple(0.0 for _ in terms[frozenset()])
    for tests in list(terms):
        for size in range(1, len(tests)):
            for some in combinations(sorted(tests), size):
                terms.setdefault(frozenset(some), zero)
    return terms


def _one_per_column(conditions: Tests) -> dict[Tests, int]:
    """Return the product of the z of some conditions as a sum over sets with one of each column: set → factor.

    >>> sum(_one_per_column(frozenset({(0, "<=", 1.5), (0, "<=", 2.5), (1, "==", "a")})).values())
    1
    """
    product: dict[Tests, int] = {frozenset(): 1}
    for condition in sorted(conditions):
        further: dict[Tests, int] = {}
        for tests, factor in product.items():
            for part, sign in _times(tests, condition):
                further[part] = further.get(part, 0) + factor * sign
        product = further
    return product


def _times(tests: Tests, condition: Condition) -> list[tuple[Tests, int]]:
    other = next((each for each in tests if each[0] == condition[0]), None)
    if other is None:
        return [(tests | {condition}, 1)]
    rest = tests - {other}
    if other[1] == condition[1] == "<=":
        less, more = sorted((other, condition))
        return [(rest, 1), (rest | {less}, 1), (rest | {more}, -1)]
    return [(rest, -1), (tests, -1), (rest | {condition}, -1)]
