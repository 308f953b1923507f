"""Tops of trees under a coding prior whose code counts less: their weights are exact sums."""

from __future__ import annotations

import warnings

import pytest
import tops
from tops import Small

from everytree import reference
from everytree.weights.priors import CodingPrior


def test_tops_weigh_what_the_reference_says(monkeypatch: pytest.MonkeyPatch) -> None:
    both = (CodingPrior(weight=0.4), lambda a: reference.CodingPrior(weight=0.4))
    monkeypatch.setitem(tops.PRIORS, "light coding", both)
    for seed, options in enumerate(
        ({"max_depth": 3}, {"max_depth": 4, "min_leaf": 3, "n": 30}, {"max_depth": 2})
    ):
        small = Small(seed, prior="light coding", dirichlet="1", **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            core = small.sampled(n_draws=20, n_chains=1, burn_in=0, random_state=0)._core
        log_tops = small.log_tops()
        for key in list(log_tops)[:: max(1, len(log_tops) // 40)]:
            assert core.log_joint(list(key)) == pytest.approx(log_tops[key], rel=1e-12, abs=1e-12)
