"""The bracket of the engine against the reference, and both against the evidence without a depth limit."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from engine_cases import OPTIONS, PRIORS, Case, Twins, dirichlets

from everytree import reference
from everytree.bayes.bracket import ROUNDING

PROPER = ("size", "size(0.95, 0.5)", "fair size", "coding", "fair coding")


def cases(n: int) -> list[Case]:
    """Random cases of the product with a depth limit and a prior that the bracket is for."""
    rng = Random(5)
    out = []
    for _ in range(n):
        values = {name: rng.choice(OPTIONS[name]) for name in OPTIONS}
        values |= {
            "prior": rng.choice(PROPER),
            "max_depth": rng.choice((0, 1, 2, 2, 3)),
            "dirichlet": rng.choice(("1", "0.3", "per class", "1/C")),
        }
        out.append(Case(seed=rng.randrange(2**31), **values))
    return out


def small(case: Case) -> Twins:
    """The twins of a case, over few enough tests for the reference to look at every depth."""
    twins = Twins(replace(case, table="random" if case.table == "wide" else case.table, max_depth=3))
    data = twins.data
    kept = replace(data, X=np.ascontiguousarray(data.X[:, :5]))
    return Twins(case, kept)


@pytest.mark.parametrize("case", cases(160), ids=lambda case: f"{case.seed}")
def test_brackets(case: Case) -> None:
    twins = small(case)
    engine_prior, twin_prior = PRIORS[case.prior]
    a, twin_a = dirichlets(case.dirichlet, case.n_classes)
    free = reference.Space(twins.table, None, case.min_leaf)
    model = reference.Bayes(free, twin_prior(twins.attributes), twin_a)
    post = twins.space.posterior(engine_prior, a)
    lower, upper = post.bracket()
    assert lower <= model.log_evidence + 1e-12
    assert upper >= model.log_evidence - 1e-12
    assert case.max_depth is not None
    twin = reference.log_evidence_bracket(model, case.max_depth)
    room = 2 * ROUNDING * max(1, twins.table.n_examples) + 1e-11
    assert lower == pytest.approx(twin.lower, abs=room)
    assert upper == pytest.approx(twin.upper, abs=room)

    rows = twins.space.table.rows[:6]
    bounds = post.predict_bracket(rows)
    assert 0 <= bounds.known <= 1
    for k, row in enumerate(rows.tolist()):
        p = np.array(model.predict_proba(row))
        assert (bounds.lower[k] <= p + 1e-12).all()
        assert (bounds.upper[k] >= p - 1e-12).all()
