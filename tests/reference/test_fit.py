"""Dirichlet parameters by evidence: the slope against differences, the fit against a fine grid."""

from __future__ import annotations

import math

import pytest
from reference_helpers import all_dirichlets, all_priors, random_table

from everytree.reference import (
    Bayes,
    DepthDecay,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    evidence_slope,
    fit_dirichlet,
    log_marginal,
    marginal_slope,
)
from everytree.reference.leaves import Dirichlet


def scaled(dirichlet: Dirichlet, t: float, n_classes: int) -> Dirichlet:
    if isinstance(dirichlet, DepthDecay):
        return DepthDecay(dirichlet.scale * t, dirichlet.rate)
    unit = (
        [1 / n_classes] * n_classes
        if dirichlet == "1/C"
        else [dirichlet] * n_classes
        if isinstance(dirichlet, float)
        else list(dirichlet)
    )
    return tuple(t * float(each) for each in unit)


@pytest.mark.parametrize("counts", [(0, 0), (3, 0), (2, 5), (1, 0, 7), (40, 60)])
@pytest.mark.parametrize("a", [0.01, 0.5, 1.0, 30.0])
def test_the_slope_of_a_leaf_is_that_of_its_marginal(counts: tuple[int, ...], a: float) -> None:
    parameters = [a * (1 + c) for c in range(len(counts))]
    h = 1e-5
    up, down = (log_marginal(counts, [x * math.exp(sign * h) for x in parameters]) for sign in (1, -1))
    assert marginal_slope(counts, parameters) == pytest.approx((up - down) / (2 * h), abs=1e-6, rel=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_the_slope_of_the_evidence_is_that_of_its_curve(seed: int) -> None:
    n_classes = 2 + seed % 2
    table = random_table(seed, 3, 10, n_classes, weights=seed % 2 == 1)
    space = Space(table, (2, 3, None)[seed % 3], min(1 + seed % 2, table.n_examples))
    h = 1e-5
    for prior in all_priors(3):
        for dirichlet in all_dirichlets(n_classes):
            up, down = (
                Bayes(space, prior, scaled(dirichlet, math.exp(sign * h), n_classes)).log_evidence
                for sign in (1, -1)
            )
            slope = evidence_slope(Bayes(space, prior, dirichlet))
            assert slope == pytest.approx((up - down) / (2 * h), abs=1e-6)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("base", [1.0, "1/C", (1.0, 3.0)])
def test_the_fit_is_at_least_as_good_as_any_scale(seed: int, base: Dirichlet) -> None:
    space = Space(random_table(seed, 3, 14, 2), 2, 1)
    prior = (SizePrior(), UniformPrior())[seed % 2]
    fit = fit_dirichlet(space, prior, base, n_grid=9)
    assert 0.01 <= fit.scale <= 100
    assert fit.a == pytest.approx(scaled(base, fit.scale, 2))
    assert fit.log_evidence == Bayes(space, prior, fit.a).log_evidence
    assert len(fit.curve) == 9
    assert fit.curve[4] == pytest.approx((1, Bayes(space, prior, scaled(base, 1.0, 2)).log_evidence))
    for k in range(41):
        t = 0.01 * 10 ** (k / 10)
        assert Bayes(space, prior, scaled(base, t, 2)).log_evidence <= fit.log_evidence + 1e-9
    if 0.011 < fit.scale < 99:
        assert evidence_slope(Bayes(space, prior, fit.a)) == pytest.approx(0, abs=1e-6)


def test_pure_and_mixed_leaves_pull_to_opposite_ends() -> None:
    pure = Space(Table([(0,), (1,)], [(30, 0), (0, 30)]), 1)
    assert fit_dirichlet(pure).scale == pytest.approx(0.01)
    even = Space(Table([(0,), (1,)], [(15, 15), (15, 15)]), 1)
    assert fit_dirichlet(even).scale == pytest.approx(100)


def test_bad_requests_are_refused() -> None:
    space = Space(random_table(0), 2)
    with pytest.raises(ValueError, match="give a number, one number per class, or '1/C'"):
        fit_dirichlet(space, base=DepthDecay(0.5, 0.5))
    with pytest.raises(ValueError, match="low=2, high=1; scales must satisfy 0 < low < high"):
        fit_dirichlet(space, low=2, high=1)
    with pytest.raises(ValueError, match="n_grid=1; a grid needs at least its two ends"):
        fit_dirichlet(space, n_grid=1)
