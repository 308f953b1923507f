"""Moments, intervals and marginals of the posterior: against every tree listed, and at the edges."""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import betainc

import everytree as et
from everytree import reference
from everytree.bayes.uncertainty import Moments
from everytree.errors import DataError, LimitReached, QueryError

PRIORS = {
    "size": (et.SizePrior(0.9, 0.6), lambda attributes: reference.SizePrior(0.9, 0.6)),
    "uniform": (et.UniformPrior(), lambda attributes: reference.UniformPrior()),
    "leaf penalty": (et.LeafPenaltyPrior(0.4), lambda attributes: reference.LeafPenaltyPrior(0.4)),
    "shapes": (et.ShapePrior(), lambda attributes: reference.ShapePrior()),
    "fair coding": (et.CodingPrior(attribute_fair=True), reference.CodingPrior),
}
DIRICHLETS = {
    "number": lambda n: (0.7, 0.7),
    "per class": lambda n: ([0.3 + c for c in range(n)],) * 2,
    "decay": lambda n: (et.DepthDecay(0.8, 0.5), reference.DepthDecay(0.8, 0.5)),
}


class Small:
    """One small random table, its posterior, and the same in the reference."""

    def __init__(
        self, seed: int, prior: str, dirichlet: str, n_classes: int, max_depth: int | None, min_leaf: int
    ) -> None:
        rng = np.random.default_rng(seed)
        n, n_tests = int(rng.integers(6, 18)), int(rng.integers(2, 4))
        self.X = rng.integers(0, 2, (n, n_tests)).astype(np.uint8)
        y = np.where(rng.random(n) < 0.7, self.X[:, 0], rng.integers(0, n_classes, n))
        weight = rng.integers(0, 4, n) if seed % 2 else np.ones(n, dtype=int)
        weight[0] = min_leaf
        self.attributes = [0, 0, 1][:n_tests]
        ours, theirs = PRIORS[prior]
        a, b = DIRICHLETS[dirichlet](n_classes)
        space = et.TreeSpace(
            self.X, y, max_depth, min_leaf, weight, attributes=self.attributes, classes=range(n_classes)
        )
        self.posterior = space.posterior(ours, a)
        table = reference.Table.from_data(self.X.tolist(), y.tolist(), n_classes, weight.tolist())
        self.twin = reference.Space(table, max_depth, min_leaf)
        self.bayes = reference.Bayes(self.twin, theirs(self.attributes), b)
        self.rows = np.array(list(product((0, 1), repeat=n_tests)), dtype=np.uint8)

    def true_cdf(self, row: Any, c: int, t: float) -> float:
        """P(θ_c ≤ t | row), over every tree."""

        def leaf(cover: Any, depth: int) -> list[float]:
            b = [
                n + a for n, a in zip(self.bayes.table.class_counts(cover), self.bayes.a(depth), strict=True)
            ]
            return [float(betainc(b[c], sum(b) - b[c], t))]

        return self.bayes.average(row, leaf)[0]


SETTINGS = list(product(PRIORS, DIRICHLETS, (2, 3), ((1, 1), (2, 2), (3, 1), (None, 3))))


@pytest.mark.parametrize(("prior", "dirichlet", "n_classes", "limits"), SETTINGS)
def test_every_tree_listed(
    prior: str, dirichlet: str, n_classes: int, limits: tuple[int | None, int]
) -> None:
    for seed in range(3):
        small = Small(seed, prior, dirichlet, n_classes, *limits)
        if small.twin.count() > 400:
            continue
        listing = reference.Listing(small.bayes)
        moments = small.posterior.moments(small.rows)
        wanted = [listing.moments(row) for row in small.rows.tolist()]
        for name, theirs in (
            ("mean", "mean"),
            ("second", "second_moment"),
            ("between", "between"),
            ("within", "within"),
        ):
            np.testing.assert_allclose(
                getattr(moments, name), [getattr(each, theirs) for each in wanted], rtol=1e-10, atol=1e-15
            )
        inclusion = listing.attribute_inclusion(small.attributes)
        np.testing.assert_allclose(
            list(small.posterior.attribute_inclusion().values()), list(inclusion.values()), atol=1e-12
        )
        total = math.fsum(math.exp(small.bayes.log_prior(tree)) for tree in listing.log_joint)
        assert math.isclose(math.exp(small.posterior.log_prior_total), total, rel_tol=1e-12)
        single = small.bayes.log_m(small.twin.root, 0)
        assert math.isclose(
            small.posterior.log_bayes_factor, listing.log_evidence - math.log(total) - single, abs_tol=1e-10
        )
        sizes = listing.distribution(reference.size)
        ours = small.posterior.size_distribution()
        np.testing.assert_allclose(ours, [sizes.get(k, 0.0) for k in range(len(ours))], atol=1e-12)


def test_listed_spaces_are_not_all_too_large() -> None:
    counts = [
        Small(seed, p, "number", 2, *limits).twin.count()
        for p, _, _, limits in SETTINGS[::6]
        for seed in range(3)
    ]
    assert np.mean(np.array(counts) <= 400) > 0.8


def test_the_parts_add_up() -> None:
    small = Small(5, "size", "number", 3, 2, 1)
    moments = small.posterior.moments(small.rows)
    assert isinstance(moments, Moments)
    np.testing.assert_allclose(moments.variance, moments.second - moments.mean**2, atol=1e-15)
    np.testing.assert_allclose(moments.std**2, moments.between + moments.within)
    np.testing.assert_allclose(moments.mean.sum(axis=1), 1)
    assert moments.mean.shape == (len(small.rows), 3)


def test_variances_without_cancellation() -> None:
    """A million examples of one class: the variance is about 1e-12 and keeps its digits."""
    X = [[0, 0], [0, 1], [1, 0], [1, 1]]
    weight = [250_000, 250_001, 250_002, 250_003]
    space = et.TreeSpace(X, [0, 0, 0, 0], 2, sample_weight=weight, classes=[0, 1])
    moments = space.posterior(et.UniformPrior()).moments(X)
    assert (moments.within > 0.9e-12).all()
    assert (moments.within < 2e-11).all()
    assert (moments.between > 0).all()
    assert (moments.between < 1e-15).all()
    table = reference.Table(X, [(w, 0) for w in weight])
    listing = reference.Listing(reference.Bayes(reference.Space(table, 2), reference.UniformPrior()))
    for row, between, within in zip(X, moments.between, moments.within, strict=True):
        wanted = listing.moments(row)
        np.testing.assert_allclose(within, wanted.within, rtol=1e-6)
        np.testing.assert_allclose(between, wanted.between, rtol=1e-4)


@pytest.mark.parametrize(
    ("n_classes", "prior"), [(2, "size"), (3, "uniform"), (2, "fair coding"), (3, "shapes")]
)
@pytest.mark.parametrize("dirichlet", DIRICHLETS)
def test_intervals_hold_what_they_say(n_classes: int, prior: str, dirichlet: str) -> None:
    n_draws = 4000
    for seed in range(2):
        small = Small(seed, prior, dirichlet, n_classes, 2, 1)
        for level in (0.5, 0.9):
            lower, upper = small.posterior.interval(small.rows, level, n_draws, random_state=seed)
            assert (lower < upper).all()
            for ends, p in ((lower, (1 - level) / 2), (upper, (1 + level) / 2)):
                error = 4.5 * math.sqrt(p * (1 - p) / n_draws)
                for row, each in zip(small.rows.tolist(), ends, strict=True):
                    for c in range(n_classes):
                        assert abs(small.true_cdf(row, c, each[c]) - p) < error


@pytest.mark.parametrize("n_classes", [2, 3])
def test_intervals_invert_the_mixture_of_the_drawn_trees(n_classes: int) -> None:
    """No noise beside that of the trees: the drawn leaves have exactly the wanted share below each end."""
    small = Small(4, "size", "decay", n_classes, 3, 1)
    rows, n_draws = small.rows, 300
    lower, upper = small.posterior.interval(rows, 0.8, n_draws, random_state=7)
    trees = small.posterior.sample(n_draws, random_state=7)
    assert len(set(trees)) > 2
    for ends, p in ((lower, 0.1), (upper, 0.9)):
        share = np.zeros((len(rows), n_classes))
        for tree in trees:
            leaf = tree.apply(rows)
            a = np.array([[small.bayes.a(int(d))[c] for c in range(n_classes)] for d in tree.node_depths])
            b = (tree.counts + a)[leaf]
            share += betainc(b, b.sum(axis=1, keepdims=True) - b, ends) / n_draws
        np.testing.assert_allclose(share, p, atol=1e-9)


def test_intervals_agree_with_the_moments() -> None:
    """A wider level gives a wider interval around the mean, and its width follows the standard deviation."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (120, 8))
    y = (X[:, 0] & X[:, 1]) ^ (rng.random(120) < 0.15)
    post = et.TreeSpace(X, y, 3, 3).posterior()
    rows = rng.integers(0, 2, (20, 8))
    moments = post.moments(rows)
    last = np.zeros((20, 2))
    for level in (0.3, 0.6, 0.9, 0.99):
        lower, upper = post.interval(rows, level, 500, random_state=1)
        assert (upper - lower > last).all()
        last = upper - lower
    assert (lower < moments.mean).all()
    assert (moments.mean < upper).all()
    lower, upper = post.interval(rows, 0.682, 2000, random_state=1)
    ratio = (upper - lower) / (2 * moments.std)
    assert ratio.min() > 0.5
    assert ratio.max() < 1.3
    np.testing.assert_allclose(lower[:, 0], 1 - upper[:, 1], atol=1e-12)


def test_intervals_are_repeatable_and_batches_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    small = Small(1, "size", "number", 3, 3, 1)
    rows = np.tile(small.rows, (20, 1))
    lower, upper = small.posterior.interval(rows, random_state=3, n_draws=200)
    again = small.posterior.interval(rows, random_state=np.random.default_rng(3), n_draws=200)
    assert np.array_equal(lower, again[0])
    assert np.array_equal(upper, again[1])
    assert np.array_equal(lower[: len(small.rows)], lower[len(small.rows) : 2 * len(small.rows)])
    other, _ = small.posterior.interval(rows, random_state=4, n_draws=200)
    assert not np.array_equal(lower, other)
    few = np.unique(np.random.default_rng(0).integers(0, 2, (300, 8)), axis=0)
    post = et.TreeSpace(few, few[:, 0] ^ few[:, 1], 2).posterior()
    whole, _ = post.interval(few, random_state=0, n_draws=50)
    monkeypatch.setattr("everytree.bayes.uncertainty.BYTES", 1)  # 32 rows at a time
    parts, _ = post.interval(few, random_state=0, n_draws=50)
    np.testing.assert_allclose(parts, whole, atol=1e-12)


@pytest.mark.parametrize("a", [1e-100, 1e-8, 1e8, 1e100])
def test_extreme_parameters(a: float) -> None:
    X = [[0, 0], [0, 1], [1, 0], [1, 1]] * 3
    post = et.TreeSpace(X, [0, 1, 1, 1] * 3, 2).posterior(dirichlet=a)
    moments = post.moments(X)
    lower, upper = post.interval(X, n_draws=50, random_state=0)
    for value in (moments.second, moments.variance, lower, upper):
        assert np.isfinite(value).all()
        assert (value >= 0).all()
        assert (value <= 1).all()
    assert (lower <= upper).all()
    if a >= 1e8:
        np.testing.assert_allclose(moments.std, 0, atol=1e-3)
        np.testing.assert_allclose(lower, 0.5, atol=1e-3)


def test_one_class_and_no_rows() -> None:
    post = et.TreeSpace([[0], [1]], [1, 1], 1).posterior()
    moments = post.moments([[0], [1]])
    assert moments.mean.tolist() == [[1], [1]]
    assert moments.variance.tolist() == [[0], [0]]
    assert [ends.tolist() for ends in post.interval([[0], [1]])] == [[[1], [1]]] * 2
    two = et.TreeSpace([[0], [1]], [0, 1], 1).posterior()
    assert two.moments(np.zeros((0, 1))).mean.shape == (0, 2)
    assert two.interval(np.zeros((0, 1)))[0].shape == (0, 2)
    none = et.TreeSpace(np.zeros((3, 0)), [0, 1, 1]).posterior()
    assert none.interval(np.zeros((2, 0)), random_state=0)[0].shape == (2, 2)
    assert none.attribute_inclusion() == {}
    assert none.log_bayes_factor == pytest.approx(0)
    assert none.size_distribution().tolist() == [0, 1]


def test_bad_questions_say_what_was_expected() -> None:
    post = et.TreeSpace([[0], [0], [1], [1]], [0, 0, 1, 1], 1).posterior()
    with pytest.raises(QueryError, match=r"level=1.0; expected a finite number between 0 and 1"):
        post.interval([[0]], level=1.0)
    with pytest.raises(QueryError, match="level='high'"):
        post.interval([[0]], level="high")  # type: ignore[arg-type]
    with pytest.raises(QueryError, match="n_draws=0; expected a whole number ≥ 1"):
        post.interval([[0]], n_draws=0)
    for ask in (post.moments, post.interval):
        with pytest.raises(DataError, match="2 columns; expected the 1 tests"):
            ask([[0, 1]])


def test_limits_end_the_questions() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, (200, 40))
    space = et.TreeSpace(X, X[:, 0] ^ X[:, 1], 3)
    post = space.posterior()
    space.limits = type(space.limits)(1e-4, None, None)
    with pytest.raises(LimitReached, match="computing moments"):
        post.moments(X)
    with pytest.raises(LimitReached, match="finding intervals"):
        post.interval(X)
    with pytest.raises(LimitReached, match="excluding each attribute"):
        post.attribute_inclusion()
    with pytest.raises(LimitReached, match="folding the prior"):
        _ = post.log_prior_total


def test_attributes_by_name() -> None:
    rng = np.random.default_rng(2)
    X = rng.integers(0, 2, (60, 5))
    y = X[:, 3] ^ (rng.random(60) < 0.1)
    names = ["age <= 30", "age <= 50", "sex", "dose <= 1", "dose <= 2"]
    owners = ["age", "age", "sex", "dose", "dose"]
    post = et.TreeSpace(X, y, 2, 5, test_names=names, attributes=owners).posterior()
    found = post.attribute_inclusion()
    assert list(found) == ["age", "sex", "dose"]
    single = dict(zip(names, post.test_inclusion(), strict=True))
    assert found["sex"] == pytest.approx(single["sex"], abs=1e-14)
    assert found["dose"] >= max(single["dose <= 1"], single["dose <= 2"])
    assert found["dose"] <= single["dose <= 1"] + single["dose <= 2"]
    alone = et.TreeSpace(X, y, 2, 5, test_names=names).posterior().attribute_inclusion()
    assert alone == pytest.approx(single)
    assert list(et.TreeSpace(X, y, 1).posterior().attribute_inclusion()) == ["x0", "x1", "x2", "x3", "x4"]


def test_the_bayes_factor_of_noise_and_of_signal() -> None:
    rng = np.random.default_rng(4)
    X = rng.integers(0, 2, (200, 6))
    noise = et.TreeSpace(X, rng.integers(0, 2, 200), 3).posterior()
    signal = et.TreeSpace(X, X[:, 0] ^ X[:, 1], 3).posterior()
    assert noise.log_bayes_factor < 0 < 50 < signal.log_bayes_factor
    assert abs(noise.log_prior_total) < 1e-12
    uniform = et.TreeSpace(X, X[:, 0], 3)
    total = uniform.posterior(et.UniformPrior()).log_prior_total
    assert total == pytest.approx(uniform.log_n_trees, rel=1e-12)
