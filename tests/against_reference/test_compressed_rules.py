"""Compressed rules against the exact average, over a covering sample of every option.

For every row there is (all 2^tests of them where that is at most 1,024) and every class, a probability of the rules is
within their bound of the engine's; the engine itself is compared with the reference elsewhere, and here on a few rows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from engine_cases import Case, Twins, covering_cases

from everytree import CompressedRules
from everytree.reference import kept_terms, parity_terms

EPSILONS = (0.0, 1e-6, 0.003, 0.02, 0.1, 0.4)
ROUNDING = 1e-12


def every_row(n_tests: int, seed: int) -> npt.NDArray[np.uint8]:
    """All 0/1 rows, or 1,024 random ones where there are more."""
    if n_tests <= 10:
        return (np.arange(2**n_tests)[:, None] >> np.arange(n_tests) & 1).astype(np.uint8)
    return np.random.default_rng(seed).integers(0, 2, (1024, n_tests)).astype(np.uint8)


def check(case: Case) -> None:
    twins = Twins(case)
    rows = every_row(twins.space.n_tests, case.seed)
    exact = twins.posterior.predict_proba(rows)
    for row in range(0, len(rows), max(1, len(rows) // 3)):
        assert twins.bayes.predict_proba(rows[row].tolist()) == pytest.approx(exact[row], abs=1e-9)
    points = twins.posterior.compression_curve(EPSILONS)
    for epsilon, point in zip(EPSILONS, points, strict=True):
        rules = twins.posterior.compress(epsilon)
        assert rules.n_rules == point.n_rules
        assert rules.bound <= epsilon
        assert point.bound <= epsilon
        proba = rules.predict_proba(rows)
        assert np.abs(proba - exact).max() <= rules.bound + ROUNDING
        assert np.abs(proba.sum(axis=1) - 1).max() <= 1e-12
        assert proba.min() > 0
        assert CompressedRules.from_dict(rules.to_dict()) == rules
    assert [point.n_rules for point in points] == sorted((point.n_rules for point in points), reverse=True)


@pytest.mark.parametrize("case", covering_cases(1, seed=5), ids=lambda case: f"{case.table}-{case.seed}")
def test_no_prediction_moves_further_than_the_bound(case: Case) -> None:
    check(case)


@pytest.mark.slow
@pytest.mark.parametrize("block", range(20))
def test_no_prediction_moves_further_on_a_larger_sample(block: int) -> None:
    for case in covering_cases(1, seed=500 + block):
        check(case)


SMALL = [
    Case(seed, table, n_classes, prior=prior, max_depth=depth, dirichlet=dirichlet)
    for seed, (table, n_classes, prior, depth, dirichlet) in enumerate(
        [
            ("random", 2, "size", 3, "1"),
            ("random", 3, "uniform", 2, "0.3"),
            ("xor", 2, "coding", 3, "decay"),
            ("coincident", 2, "fair size", 3, "1/C"),
            ("random", 3, "leaf penalty", None, "per class"),
            ("random", 2, "shapes", 4, "1"),
            ("absent", 3, "size(0.95, 0.5)", 3, "1"),
        ]
    )
]


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.table}-{case.seed}")
def test_the_rules_kept_are_those_of_the_definition(case: Case) -> None:
    twins = Twins(case)
    terms = parity_terms(twins.bayes)
    for epsilon in (0.3, 0.1, 0.03, 0.01, 0.001):
        kept, bound = kept_terms(terms, epsilon)
        point = twins.posterior.compression_curve([epsilon])[0]
        assert point.n_rules == len(kept)
        assert point.bound == pytest.approx(bound, rel=1e-5, abs=1e-12)
        rules = twins.posterior.compress(epsilon)
        assert {frozenset(test for test, _ in rule.items) for rule in rules.rules} == kept


@pytest.mark.parametrize("case", SMALL, ids=lambda case: f"{case.table}-{case.seed}")
def test_an_explanation_is_made_of_the_rules_of_the_definition(case: Case) -> None:
    twins = Twins(case)
    for row in twins.rows(2):
        told = twins.posterior.explain(row, top=6)
        wanted = twins.bayes.rules_for(row.tolist())
        heaviest = sorted((sum(share) for share in wanted.values()), reverse=True)[:6]
        assert sorted((rule.weight for rule in told.rules), reverse=True) == pytest.approx(heaviest)
        for rule in told.rules:
            share = wanted[frozenset((t, bool(b)) for t, b in rule.items)]
            assert [rule.weight * p for p in rule.proba] == pytest.approx(share)
            assert [p * s for p, s in zip(told.proba, rule.share, strict=True)] == pytest.approx(share)
        assert told.covered == pytest.approx(sum(heaviest))
        for c, p in enumerate(told.proba):
            assert told.base[c] + sum(rule.move[c] for rule in told.rules) + told.rest[c] == pytest.approx(p)
