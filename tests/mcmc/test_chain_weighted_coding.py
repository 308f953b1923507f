"""Chains under a coding prior whose code counts less: what every tree weighs, and the moves between trees."""

from __future__ import annotations

import chain_cases
import pytest
from chain_cases import Small, tree_of

from everytree import reference
from everytree.weights.priors import CodingPrior


def test_every_tree_weighs_what_the_reference_says(monkeypatch: pytest.MonkeyPatch) -> None:
    both = (CodingPrior(weight=0.4), lambda a: reference.CodingPrior(weight=0.4))
    monkeypatch.setitem(chain_cases.PRIORS, "light coding", both)
    for seed, options in enumerate(
        ({"max_depth": 3}, {"max_depth": 2, "n_classes": 3}, {"max_depth": None, "n": 14})
    ):
        small = Small(seed, "light coding", **options)
        chains = small.chains()
        trees = small.trees()
        for key in trees[:: max(1, len(trees) // 20)]:
            exact = small.log_target(tree_of(key))
            assert sum(chains.log_target(list(key))) == pytest.approx(exact, rel=1e-12, abs=1e-11)
