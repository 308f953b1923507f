"""The exact average: recursion against listing, every prior and kind of Dirichlet, and numbers by hand."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from random import Random

import pytest
from reference_helpers import ATTRIBUTES, all_dirichlets, all_priors, random_table

from everytree.reference import (
    Bayes,
    CodingPrior,
    Listing,
    ShapePrior,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    attribute_inclusion,
    depth,
    depth_distribution,
    expected_depth,
    expected_leaves,
    expected_size,
    leaves_distribution,
    log_map,
    log_sum,
    map_tree,
    n_leaves,
    root_distribution,
    sample,
    size,
    test_inclusion,
    top_trees,
)

CLOSE = {"rel": 1e-10, "abs": 1e-12}


def models(n_seeds: int) -> list[Bayes]:
    """Random tables × priors × Dirichlets, the other options walked through side by side with the seed."""
    found = []
    for seed in range(n_seeds):
        n_classes = 2 + seed % 3
        table = random_table(seed, 2 + seed % 2, 6 + seed % 4, n_classes, weights=seed % 2 == 1)
        max_depth = (None, 2, 3, 1, 0)[seed % 5]
        min_leaf = min(1 + seed % 3, table.n_examples)
        space = Space(table, max_depth, min_leaf)
        priors, dirichlets = all_priors(table.n_tests), all_dirichlets(n_classes)
        found += [Bayes(space, prior, dirichlets[(seed + i) % 4]) for i, prior in enumerate(priors)]
    return found


MODELS = models(12)
NAMES = [f"{number}-{type(model.prior).__name__}" for number, model in enumerate(MODELS)]


@pytest.fixture(params=MODELS, ids=NAMES)
def model(request: pytest.FixtureRequest) -> Bayes:
    """One model of the product."""
    found = request.param
    assert isinstance(found, Bayes)
    return found


def every_row(model: Bayes) -> list[tuple[int, ...]]:
    """All 0/1 rows, those outside the table too."""
    n = model.table.n_tests
    return [tuple(number >> test & 1 for test in range(n)) for number in range(2**n)]


def test_recursion_equals_listing(model: Bayes) -> None:
    listing = Listing(model)
    assert model.log_evidence == pytest.approx(listing.log_evidence, **CLOSE)
    assert math.fsum(listing.posterior.values()) == pytest.approx(1)
    for tree, p in listing.posterior.items():
        assert math.exp(model.log_prob(tree)) == pytest.approx(p, **CLOSE)
    assert test_inclusion(model) == pytest.approx(listing.test_inclusion(), **CLOSE)
    attributes = ATTRIBUTES[: model.table.n_tests]
    assert attribute_inclusion(model, attributes) == pytest.approx(
        listing.attribute_inclusion(attributes), **CLOSE
    )
    assert root_distribution(model) == pytest.approx(listing.root_distribution(), **CLOSE)
    assert leaves_distribution(model) == pytest.approx(listing.leaves_distribution(), **CLOSE)
    assert depth_distribution(model) == pytest.approx(listing.depth_distribution(), **CLOSE)
    assert expected_leaves(model) == pytest.approx(listing.expect(n_leaves))
    assert expected_size(model) == pytest.approx(listing.expect(size))
    assert expected_depth(model) == pytest.approx(listing.expect(depth))


def test_predictions_by_rules_by_states_and_by_listing_agree(model: Bayes) -> None:
    listing = Listing(model)
    for row in every_row(model):
        expected = listing.predict_proba(row)
        assert math.fsum(expected) == pytest.approx(1)
        assert model.predict_proba(row) == pytest.approx(expected, **CLOSE)
        assert model.predict_by_rules(row) == pytest.approx(expected, **CLOSE)
        shares = model.rules_for(row)
        assert [math.fsum(column) for column in zip(*shares.values(), strict=True)] == pytest.approx(
            expected, **CLOSE
        )


def test_the_rules_of_every_row_sum_to_the_evidence(model: Bayes) -> None:
    rules = model.log_rules()
    for row in every_row(model):
        inside = [w for path, ws in rules.items() if all(row[t] == o for t, o in path) for w in ws]
        assert log_sum(inside) == pytest.approx(model.log_evidence, **CLOSE)


def test_v_is_the_weight_of_the_trees_around_a_path(model: Bayes) -> None:
    # v(I) · u(I) / u(∅) is the probability that the tree has a node with path I.
    from everytree.reference import nodes_of

    reach: dict = {}
    for tree, p in Listing(model).posterior.items():
        for node in nodes_of(tree, model.table):
            reach[node.path] = reach.get(node.path, 0.0) + p
    log_v = model.log_v()
    assert set(log_v) == set(reach)
    for path, p in reach.items():
        log_u = model.log_u(model.table.cover_of(path), len(path))
        assert math.exp(log_v[path] + log_u - model.log_evidence) == pytest.approx(p, **CLOSE)


def test_moments_agree_and_split_the_variance(model: Bayes) -> None:
    listing = Listing(model)
    for row in every_row(model)[:4]:
        moments, expected = model.moments(row), listing.moments(row)
        for got, want in zip(moments, expected, strict=True):
            assert got == pytest.approx(want, **CLOSE)
        assert moments.mean == pytest.approx(model.predict_proba(row))
        for mean, second, between, within in zip(*moments, strict=True):
            assert second - mean**2 == pytest.approx(between + within, **CLOSE)


def test_the_most_probable_trees_in_order(model: Bayes) -> None:
    listing = Listing(model)
    for k in (1, 3, 10_000):
        assert top_trees(model, k) == listing.top_trees(k)
    best = max(listing.log_joint.values())
    assert log_map(model) == pytest.approx(best, **CLOSE)
    assert map_tree(model) == listing.map_tree()
    assert model.log_evidence >= log_map(model) - 1e-12
    assert all(model.log_joint(tree) > -math.inf for tree in top_trees(model, 10_000))


# By hand ----------------------------------------------------------------------------------------------------


def test_two_tests_by_hand() -> None:
    # Rows 00 (class 0), 01 (class 1), 11 (class 1), uniform prior, a = (1, 1), depth 1.
    #   leaf (1, 2):                      1! 2! / 4!            = 1/12
    #   test 0: zero (1, 1), one (0, 1):  1/6 · 1/2             = 1/12
    #   test 1: zero (1, 0), one (0, 2):  1/2 · 1/3             = 1/6
    # evidence 4/12; P = 1/4, 1/4, 1/2.
    table = Table([(0, 0), (0, 1), (1, 1)], [(1, 0), (0, 1), (0, 1)])
    model = Bayes(Space(table, max_depth=1), UniformPrior())
    assert math.exp(model.log_evidence) == pytest.approx(1 / 3)
    assert [
        round(math.exp(model.log_prob(tree)), 12) for tree in (None, (0, None, None), (1, None, None))
    ] == [
        0.25,
        0.25,
        0.5,
    ]
    # At 00: leaf 2/5, test 0's zero leaf 1/2, test 1's zero leaf 2/3.
    assert model.predict_proba((0, 0))[0] == pytest.approx(0.25 * 2 / 5 + 0.25 / 2 + 0.5 * 2 / 3)
    # At 10, a row that does not occur: leaf 2/5, test 0's one leaf 1/3, test 1's zero leaf 2/3.
    assert model.predict_proba((1, 0))[0] == pytest.approx(0.25 * 2 / 5 + 0.25 / 3 + 0.5 * 2 / 3)
    assert test_inclusion(model) == pytest.approx([0.25, 0.5])
    assert expected_size(model) == pytest.approx(0.25 * 1 + 0.75 * 3)
    # The ties by hand: the leaf and test 0 have the same weight, 1/12; the smaller tree comes first.
    assert top_trees(model, 3) == [(1, None, None), None, (0, None, None)]


def test_the_size_prior_by_hand() -> None:
    # The same table without a depth limit, α = ½, β = 1, so p(0) = 1/2, p(1) = 1/4.
    #   e(∅) = 2. Below test 0 = 0 are rows 00 and 01, test 1 is feasible; below test 1 = 1 remain 01 and 11,
    #   test 0 is feasible; the other two children cannot be split.
    #   leaf                       1/2 · 1/12                                     = 1/24
    #   test 0, leaves             1/4 · (3/4 · 1/6) · 1/2                        = 1/64
    #   test 0, test 1 below       1/4 · (1/4 · 1/2 · 1/2) · 1/2                  = 1/128
    #   test 1, leaves             1/4 · 1/2 · (3/4 · 1/3)                        = 1/32
    #   test 1, test 0 below       1/4 · 1/2 · (1/4 · 1/2 · 1/2)                  = 1/128
    table = Table([(0, 0), (0, 1), (1, 1)], [(1, 0), (0, 1), (0, 1)])
    model = Bayes(Space(table), SizePrior(0.5, 1.0))
    by_hand = {
        None: Fraction(1, 24),
        (0, None, None): Fraction(1, 64),
        (0, (1, None, None), None): Fraction(1, 128),
        (1, None, None): Fraction(1, 32),
        (1, None, (0, None, None)): Fraction(1, 128),
    }
    assert set(by_hand) == set(model.space.enumerate_trees())
    for tree, joint in by_hand.items():
        assert math.exp(model.log_joint(tree)) == pytest.approx(float(joint))
    assert math.exp(model.log_evidence) == pytest.approx(float(sum(by_hand.values())))


def test_within_leaf_and_between_tree_variance_by_hand() -> None:
    # One test, rows 0 (class 0) and 1 (class 1), uniform prior: P(leaf) = 2/5, P(split) = 3/5.
    # At row 0 the leaf is Beta(2, 2): mean 1/2, variance 1/20; the split's leaf is Beta(2, 1): 2/3, 1/18.
    model = Bayes(Space(Table([(0,), (1,)], [(1, 0), (0, 1)])), UniformPrior())
    moments = model.moments((0,))
    assert moments.mean[0] == pytest.approx(3 / 5)
    assert moments.within[0] == pytest.approx(2 / 5 / 20 + 3 / 5 / 18)
    assert moments.between[0] == pytest.approx(2 / 5 * (1 / 2 - 3 / 5) ** 2 + 3 / 5 * (2 / 3 - 3 / 5) ** 2)


# Identities and edges ---------------------------------------------------------------------------------------


def test_large_counts_do_not_underflow() -> None:
    # 10^5 examples: M is far below the smallest float, its logarithm is not.
    table = Table(
        [(0, 0), (0, 1), (1, 0), (1, 1)], [(30_000, 100), (100, 20_000), (0, 25_000), (24_000, 800)]
    )
    model = Bayes(Space(table, max_depth=2))
    assert model.log_evidence < -4_000
    assert model.predict_by_rules((0, 0)) == pytest.approx(model.predict_proba((0, 0)), rel=1e-9)
    assert model.predict_proba((0, 0))[0] == pytest.approx(30_001 / 30_102, rel=1e-6)


def test_attribute_fair_equals_plain_when_every_test_is_its_own_attribute() -> None:
    space = Space(random_table(4, n_tests=3))
    for plain, fair in [
        (SizePrior(), SizePrior(attributes=(0, 1, 2))),
        (ShapePrior(), ShapePrior((2, 0, 1))),
        (CodingPrior(), CodingPrior((5, 6, 7))),
    ]:
        assert Bayes(space, plain).log_evidence == pytest.approx(Bayes(space, fair).log_evidence)


def test_exact_samples_have_the_posterior_frequencies() -> None:
    model = Bayes(Space(random_table(3, n_tests=2, n_rows=6), max_depth=2), SizePrior())
    posterior = Listing(model).posterior
    rng = Random(20240601)
    n = 4000
    drawn = Counter(sample(model, rng) for _ in range(n))
    assert set(drawn) <= set(posterior)
    for tree, p in posterior.items():
        # Five standard deviations of a binomial count, and one draw for the smallest probabilities.
        assert abs(drawn[tree] - n * p) <= 5 * math.sqrt(n * p * (1 - p)) + 1


def test_bad_arguments_are_refused() -> None:
    model = Bayes(Space(random_table(0, n_tests=3)))
    with pytest.raises(ValueError, match="a row of 1 values; this table has 3 tests"):
        model.predict_proba((0,))
    with pytest.raises(ValueError, match="the row has the value 2 for test 0"):
        model.predict_proba((2, 0, 0))
    with pytest.raises(ValueError, match="2 attributes for 3 tests"):
        attribute_inclusion(model, (0, 1))
    with pytest.raises(ValueError, match="k=0"):
        top_trees(model, 0)
    with pytest.raises(ValueError, match="test 9 is not feasible"):
        model.log_joint((9, None, None))
