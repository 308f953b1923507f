"""Compressed rules where nodes choose their own cuts: within their bound of the average, and those of the definition.

The rows are all combinations of values that any cut or test could tell apart, seen in training or not.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from test_local_product import KINDS, PRIORS, Case, frame_of, twin_of

import everytree.reference as ref
from everytree import CompressedRules

EPSILONS = (0.0, 1e-6, 0.003, 0.02, 0.1, 0.4)
ROUNDING = 1e-12
VALUES = {
    "b": (0, 1),
    "c": ("x", "y", "z", "unseen"),
    "k": ("x", "y", "unseen", None),
    "n": tuple(np.arange(-2, 34) / 4),
    "m": (*(np.arange(-2, 34) / 4), None),
}
PRIOR_NAMES = tuple(PRIORS)


def cases() -> list[Any]:
    made = []
    for kinds in KINDS:
        for bins in (2, 3, 4, "all"):
            for depth in (0, 1, 2, 3, 4, None):
                for min_leaf in (1, 2):
                    seed = 9000 + len(made)
                    words = f"{kinds}-{bins}-{depth}-{min_leaf}"
                    made.append(pytest.param(kinds, bins, depth, min_leaf, seed, id=words))
    return made


@pytest.mark.parametrize(("kinds", "bins", "depth", "min_leaf", "seed"), cases())
def test_no_prediction_moves_further_than_the_bound(
    kinds: str, bins: Any, depth: int | None, min_leaf: int, seed: int
) -> None:
    case = Case(kinds, bins, depth, min_leaf, seed)
    rows = [list(row) for row in product(*(VALUES[kind] for kind in case.kinds))]
    frame = frame_of(rows, case.kinds)
    for fair in (False, True):
        name, power = PRIOR_NAMES[(seed + 3 * fair) % len(PRIORS)], (1.0, 0.25)[seed % 3 == 0]
        model = ref.Bayes(case.twin, twin_of(name, case.data.attributes if fair else None), 0.7, power=power)
        posterior = case.space.posterior(prior=PRIORS[name](fair), dirichlet=0.7, power=power)
        exact = posterior.predict_proba(frame)
        for row in range(seed % 7, len(rows), max(1, len(rows) // 5)):
            assert model.predict_proba(rows[row]) == pytest.approx(exact[row], abs=1e-9)
        points = posterior.compression_curve(EPSILONS)
        for epsilon, point in zip(EPSILONS, points, strict=True):
            rules = posterior.compress(epsilon)
            assert rules.n_rules == point.n_rules
            assert rules.bound <= epsilon
            assert point.bound <= epsilon
            proba = rules.predict_proba(frame)
            assert np.abs(proba - exact).max() <= rules.bound + ROUNDING
            assert np.abs(proba.sum(axis=1) - 1).max() <= 1e-12
            assert proba.min() > 0
            # 0/1 rows of the rules' own tests say the same, also to rules that were read.
            again = CompressedRules.from_dict(rules.to_dict())
            assert again == rules
            assert (again.predict_proba(rules.binarizer.transform(frame)) == proba).all()
        assert [point.n_rules for point in points] == sorted((p.n_rules for p in points), reverse=True)


@pytest.mark.parametrize("fair", [False, True])
@pytest.mark.parametrize("depth", [2, 3, None])
@pytest.mark.parametrize("kinds", list(KINDS))
def test_the_rules_kept_are_those_of_the_definition(kinds: str, depth: int | None, fair: bool) -> None:
    case = Case(kinds, 3, depth, 1, 400 + 10 * list(KINDS).index(kinds) + (depth or 0))
    model = ref.Bayes(case.twin, twin_of("size", case.data.attributes if fair else None), 0.7)
    posterior = case.space.posterior(prior=PRIORS["size"](fair), dirichlet=0.7)
    terms = ref.column_parity_terms(model)
    compared = 0
    for epsilon in (0.3, 0.1, 0.03, 0.01, 0.001):
        kept, bound = ref.kept_terms(terms, epsilon)
        rules = posterior.compress(epsilon)
        asked = [_condition(test) for test in rules.binarizer.tests_]
        assert rules.n_rules == len(kept)
        assert rules.bound == pytest.approx(bound, rel=1e-5, abs=1e-12) or not kept
        assert {frozenset(asked[test] for test, _ in rule.items) for rule in rules.rules} == kept
        compared += len(kept)
    assert compared > 10


def _condition(test: Any) -> Any:
    """What a test of the rules asks, as the reference says it."""
    if test.op == "is":
        return (test.column, "is missing") if test.value == "missing" else (test.column, "==", 1)
    return (test.column, test.op, test.value)
