"""The average over every tree as a sum of parities, from the weighted rules.

With z_t = +1 where test t holds and −1 elsewhere, a path I holds where Π_{(t, b) ∈ I} (1 ± z_t)/2 = 1, so

    P(c | x) = Σ_I w_c(I)/u(∅) · Π_{(t, b) ∈ I} (1 ± z_t)/2 = Σ_S a_c(S) · Π_{t ∈ S} z_t

and leaving out the sets D moves class c by at most Σ_{S ∈ D} |a_c(S)|, for every row. Sets are left out in the order of
need(S) = max |a_c(T)| over T ⊇ S and classes; among equals larger sets go first, then those with the least |a|.
"""

from __future__ import annotations

import math
from itertools import combinations

from everytree.reference.bayes import Bayes

Tests = frozenset[int]


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
