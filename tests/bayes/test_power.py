"""The power posterior: leaves weigh M(n)^power, in every fold, sample, search and chain."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from powers import PRIORS, Case, Powered

import everytree as et
from everytree import reference as ref
from everytree.cluster import fold
from everytree.mcmc.target import PosteriorTarget

POWERS = (0.5, 0.25, 0.1)
CASES = {
    "two classes": (30, 4, 2, 3, 2, 10, 1),
    "three classes": (24, 4, 3, 3, 1, 11, 2),
    "any depth": (14, 3, 2, None, 1, 12, 3),
}


def twin_of(case: Case, prior: str, power: float) -> Powered:
    return case.plain(prior, 1.0, power)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("name", CASES)
def test_folds_and_predictions(name: str, prior: str, power: float) -> None:
    case = Case(*CASES[name])
    post, twin = case.space.posterior(PRIORS[prior][0], 1.0, power), twin_of(case, prior, power)
    assert post.log_evidence == pytest.approx(twin.log_evidence, rel=1e-11)
    rows = np.unique(case.X, axis=0)
    wanted = [twin.predict_proba(row.tolist()) for row in rows]
    np.testing.assert_allclose(post.predict_proba(rows), wanted, rtol=1e-10)
    moments = post.moments(rows[:3])
    for k in range(3):
        np.testing.assert_allclose(moments.within[k], twin.moments(rows[k].tolist()).within, rtol=1e-8)
    listed = ref.Listing(twin)
    best = max(listed.log_joint.values())
    tree = post.map_tree()
    assert post.log_joint(tree) == pytest.approx(best, rel=1e-11)
    found = case.space.most_probable(PRIORS[prior][0], 1.0, power)
    assert found.info["optimal"]
    assert found.info["log_joint"] == pytest.approx(best, rel=1e-11)
    inclusion = [listed.expect(lambda t, i=i: float(i in str_tests(t))) for i in range(case.space.n_tests)]
    np.testing.assert_allclose(post.test_inclusion(), inclusion, rtol=1e-9, atol=1e-12)


def str_tests(tree: object) -> set[int]:
    """The tests of a tree of the reference: (test, zero, one), or None for a leaf."""
    if not isinstance(tree, tuple):
        return set()
    return {tree[0]} | str_tests(tree[1]) | str_tests(tree[2])


@pytest.mark.parametrize("name", CASES)
def test_power_one_is_the_posterior_to_the_last_bit(name: str) -> None:
    case = Case(*CASES[name])
    one, two = case.space.posterior(), case.space.posterior(power=1)
    assert one.log_evidence == two.log_evidence
    assert (one.predict_proba(case.X) == two.predict_proba(case.X)).all()


def test_large_covers_use_linear_tables() -> None:
    # Tables of plain doubles, logarithms, and both without the fast paths give the same.
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (900, 6))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(900) < 0.2)
    fast = et.TreeSpace(X, y, max_depth=3)
    slow = et.TreeSpace(X, y, max_depth=3)
    slow.switches["linear"] = False
    for power in POWERS:
        a, b = fast.posterior(power=power), slow.posterior(power=power)
        assert a.log_evidence == pytest.approx(b.log_evidence, rel=1e-12)
        np.testing.assert_allclose(a.predict_proba(X[:50]), b.predict_proba(X[:50]), rtol=1e-10)


def test_a_low_power_spreads_the_weight() -> None:
    case = Case(*CASES["two classes"])
    shares = [case.space.posterior("uniform", power=p).coverage(5) for p in (1.0, 0.5, 0.1)]
    assert shares[0] > shares[1] > shares[2]


def test_samples_follow_it() -> None:
    case = Case(*CASES["any depth"])
    post = case.space.posterior(power=0.25)
    drawn = post.sample(4000, random_state=0)
    roots = np.bincount([t.key[0] + 1 for t in drawn], minlength=case.space.n_tests + 1)[1:] / len(drawn)
    assert np.abs(roots - post.root_distribution()).max() < 0.03


def test_collapsed_and_chains_follow_it() -> None:
    case = Case(*CASES["two classes"])
    exact = case.space.posterior(power=0.25)
    sampled = case.space.collapsed(n_draws=400, burn_in=50, random_state=0, power=0.25)
    p, error = sampled.predict_proba(case.X[:8], return_error=True)
    assert (np.abs(p - exact.predict_proba(case.X[:8])) < 5 * error + 1e-3).all()
    target = PosteriorTarget(et.SizePrior(), 1.0, 0.25)
    with case.space.question("testing") as control:
        assert target.core(case.space, control) is not None
    assert target.power == 0.25


def test_deepening_bracket_parts_and_pickles_keep_it() -> None:
    case = Case(*CASES["two classes"])
    post = case.space.posterior(power=0.5)
    assert case.space.deepen(power=0.5).posterior.log_evidence == post.log_evidence
    free = et.TreeSpace(case.X, case.y, max_depth=None, min_leaf=2)
    low, high = post.bracket()
    assert low <= free.posterior(power=0.5).log_evidence <= high
    known = pickle.loads(pickle.dumps(post))
    assert (known.power, known.log_evidence) == (0.5, post.log_evidence)
    parts = fold.posterior(case.space, n_parts=3, n_jobs=1, power=0.5)
    assert (parts.power, parts.log_evidence) == (0.5, post.log_evidence)
    assert "power=0.5" in repr(post)


@pytest.mark.parametrize("bad", [0, -1, 1.5, math.nan, True, "half"])
def test_bad_powers_are_refused(bad: object) -> None:
    space = et.TreeSpace([[0], [1]], [0, 1], max_depth=1)
    with pytest.raises(et.QueryError, match="power"):
        space.posterior(power=bad)  # type: ignore[arg-type]


def test_base_rates() -> None:
    X, y = [[0], [0], [0], [1]], ["a", "a", "a", "b"]
    space = et.TreeSpace(X, y, max_depth=1)
    for given, numbers in (("base", (0.75, 0.25)), (et.BaseRate(4.0), (3.0, 1.0))):
        one, two = space.posterior(dirichlet=given), space.posterior(dirichlet=numbers)
        assert one.log_evidence == two.log_evidence
        assert one.parameters == [list(numbers)]
        assert (one.predict_proba(X) == two.predict_proba(X)).all()
        assert space.most_probable(dirichlet=given).info == space.most_probable(dirichlet=numbers).info
        assert (
            space.near_best(dirichlet=given)[0].proba.tolist()
            == space.near_best(dirichlet=numbers)[0].proba.tolist()
        )
    with pytest.raises(et.QueryError, match="strength"):
        et.BaseRate(0)


@pytest.mark.parametrize(
    "model",
    [
        et.BayesOptimalClassifier(max_depth=2), et.MAPTreeClassifier(2), et.OptimalTreeClassifier(max_depth=2),
        et.SmoothedTreeClassifier(), et.OptionTreeClassifier(), et.MCMCTreeClassifier(n_draws=100, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_every_classifier_takes_base_rates(model: object) -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (60, 4))
    y = np.where(rng.random(60) < 0.7, X[:, 0], X[:, 1] + 1)
    share = np.bincount(y) / len(y)
    one = model.set_params(dirichlet="base").fit(X, y)  # type: ignore[attr-defined]
    p = one.predict_proba(X)
    q = model.set_params(dirichlet=tuple(share)).fit(X, y).predict_proba(X)  # type: ignore[attr-defined]
    np.testing.assert_allclose(p, q, rtol=1e-12)
