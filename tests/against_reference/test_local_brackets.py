"""Brackets where nodes choose their own cuts: against the reference, and around what the space without a limit says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_local_product import KINDS, PRIORS, Case, twin_of

import everytree.reference as ref
from everytree.bayes.bracket import ROUNDING

PROPER = ("size", "coding")


def cases() -> list[Any]:
    made = []
    for kinds in KINDS:
        for bins in (2, 3, "all"):
            for depth in (0, 1, 2, 3, 4):
                for min_leaf in (1, 2, 3):
                    seed = 7000 + len(made)
                    words = f"{kinds}-{bins}-{depth}-{min_leaf}"
                    made.append(pytest.param(kinds, bins, depth, min_leaf, seed, id=words))
    return made


@pytest.mark.parametrize(("kinds", "bins", "depth", "min_leaf", "seed"), cases())
def test_a_local_bracket_is_that_of_the_reference(
    kinds: str, bins: Any, depth: int, min_leaf: int, seed: int
) -> None:
    case = Case(kinds, bins, depth, min_leaf, seed)
    free = ref.LocalSpace(case.data, max_depth=None, min_leaf=min_leaf)
    for fair in (False, True):
        name, power = PROPER[(seed + fair) % 2], (1.0, 0.25)[seed % 3 == 0]
        model = ref.Bayes(free, twin_of(name, case.data.attributes if fair else None), 0.7, power=power)
        posterior = case.space.posterior(prior=PRIORS[name](fair), dirichlet=0.7, power=power)
        found, twin = posterior.bracket(), ref.log_evidence_bracket(model, depth)
        room = 2 * ROUNDING * case.space.table.examples + 1e-10
        assert found.lower == pytest.approx(twin.lower, abs=room)
        assert found.upper == pytest.approx(twin.upper, abs=room)
        assert found.lower <= model.log_evidence + 1e-10
        assert found.upper >= model.log_evidence - 1e-10
        bounds = posterior.predict_bracket(case.new_frame)
        expected = np.array([model.predict_proba(row) for row in case.new])
        assert 0 < bounds.known <= 1
        assert (bounds.lower <= expected + 1e-10).all()
        assert (bounds.upper >= expected - 1e-10).all()
        # The share that is known: the trees of depth ≤ δ, whose leaves at depth δ weigh what they weigh at least.
        known = known_weight(model, depth)
        if found.width > 0:
            assert bounds.known == pytest.approx(np.exp(known - twin.upper), abs=1e-9)
        else:
            assert bounds.known == 1
            np.testing.assert_allclose(bounds.lower, expected, atol=1e-10)


def known_weight(model: ref.Bayes, cut: int) -> float:
    """The log weight of the trees that are at most ``cut`` deep, by plain recursion."""
    open_leaf = model.prior.log_leaf(cut, (0,))
    closed_leaf = model.prior.log_leaf(cut, ())

    def below(cover: Any, depth: int) -> float:
        feasible = model.space.feasible(cover, depth)
        leaf = model.log_leaf(cover, depth)
        if depth == cut:
            return leaf - (open_leaf if feasible else closed_leaf) + min(open_leaf, closed_leaf)
        terms = [leaf]
        for test in feasible:
            zero, one = model.table.children(cover, test)
            terms.append(model.log_split(cover, depth, test) + below(zero, depth + 1) + below(one, depth + 1))
        return float(np.logaddexp.reduce(terms))

    return below(model.space.root, 0)
