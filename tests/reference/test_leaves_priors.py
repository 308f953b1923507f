"""Leaf weights and tree priors: numbers done by hand, and the messages for bad parameters."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from reference_helpers import ATTRIBUTES, random_table

from everytree.reference import (
    Bayes,
    CodingPrior,
    DepthDecay,
    LeafPenaltyPrior,
    ShapePrior,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    added_errors,
    cost,
    dirichlet_at,
    entropy,
    error,
    expected_error,
    gini,
    leaf_probabilities,
    log_marginal,
    log_sum,
)
from everytree.reference.logs import LOG_ZERO


def test_the_marginal_is_the_chain_of_predictions() -> None:
    # Classes 0, 0, 1, 2, 0 one after the other, each predicted by (n_c + a_c) / (n + Σa) of those before.
    a = (0.5, 1.0, 2.5)
    seen = [0, 0, 0]
    product = 1.0
    for c in (0, 0, 1, 2, 0):
        product *= leaf_probabilities(seen, a)[c]
        seen[c] += 1
    assert math.exp(log_marginal(seen, a)) == pytest.approx(product, rel=1e-13)
    # With a = (1, 1): n_1! n_2! / (n + 1)! = 6 · 2 / 720.
    assert math.exp(log_marginal((3, 2), (1.0, 1.0))) == pytest.approx(1 / 60, rel=1e-13)
    assert log_marginal((0, 0), (0.3, 0.3)) == 0.0


def test_the_four_ways_to_give_the_dirichlet() -> None:
    assert dirichlet_at(2.0, 5, 3) == (2.0, 2.0, 2.0)
    assert dirichlet_at("1/C", 5, 4) == (0.25,) * 4
    assert dirichlet_at([1, 2], 5, 2) == (1.0, 2.0)
    assert dirichlet_at(DepthDecay(0.5, 0.5), 2, 2) == (0.125, 0.125)


@pytest.mark.parametrize(
    ("dirichlet", "message"),
    [
        (0.0, "finite and greater than 0"),
        (math.nan, "finite and greater than 0"),
        (math.inf, "finite and greater than 0"),
        ((1.0,), "1 numbers for 2 classes"),
        ("1/N", "give a number, one number per class, '1/C' or a DepthDecay"),
    ],
)
def test_bad_dirichlets_are_refused_when_the_model_is_made(dirichlet: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Bayes(Space(random_table(0)), dirichlet=dirichlet)  # type: ignore[arg-type]


def test_depth_decay_refuses_rates_outside_0_1() -> None:
    with pytest.raises(ValueError, match=r"DepthDecay rate=1\.0"):
        DepthDecay(0.5, 1.0)
    with pytest.raises(ValueError, match="DepthDecay scale=0"):
        DepthDecay(0, 0.5)


def test_errors_by_hand() -> None:
    assert error((3, 2, 1)) == 3
    assert gini((1, 3)) == pytest.approx(4 * (1 - 1 / 16 - 9 / 16))
    assert entropy((1, 3)) == pytest.approx(-math.log(1 / 4) - 3 * math.log(3 / 4))
    assert cost((3, 2), [[0, 1], [1, 0]]) == error((3, 2))
    assert (
        cost((3, 2), [[0, 1, 0.5], [10, 0, 0.5]]) == 2.5
    )  # a third answer, "undecided", at half a unit each


def test_added_errors_by_hand() -> None:
    # One example, no error: 1 − 0.25. Two: 2 (1 − √0.25) = 1.
    assert added_errors(1, 0) == 0.75
    assert added_errors(2, 0) == 1.0
    # e + ½ ≥ N: all remaining examples.
    assert added_errors(2, 2) == 0.0
    assert added_errors(2, 1.5) == 0.5
    # Between 0 and 1 error: on the line from added(N, 0) to added(N, 1).
    assert added_errors(8, 0.25) == pytest.approx(0.75 * added_errors(8, 0) + 0.25 * added_errors(8, 1))
    # Quinlan's printed rates for no error at CF = 25 %: 0.206 for 6 examples, 0.143 for 9.
    assert expected_error((6, 0)) == pytest.approx(6 * 0.206, abs=0.005)
    assert expected_error((9, 0)) == pytest.approx(9 * 0.143, abs=0.005)
    # The general term by hand: N = 16, e = 1, z = 0.6744897502, f = 1.5/16 = 0.09375, z² = 0.4549364231,
    # z²/2N = 0.0142167632, f/N − f²/N + z²/4N² = 0.0053100586 + 0.0004442739 = 0.0057543325,
    # its root 0.0758573165,
    # numerator = 0.09375 + 0.0142167632 + 0.0511649825 = 0.1591317457, denominator = 1.0284335264,
    # r = 0.1547321567, rN = 2.4757145.
    assert expected_error((15, 1)) == pytest.approx(2.4757145, abs=1e-6)


def test_expected_error_exceeds_the_error_and_grows_with_it() -> None:
    for n in range(1, 30):
        values = [e + added_errors(n, e) for e in range(n + 1)]
        assert all(value >= e for e, value in enumerate(values))
        assert all(a <= b + 1e-12 for a, b in pairwise(values))


def test_bad_leaf_parameters_are_refused() -> None:
    with pytest.raises(ValueError, match="cf=1"):
        added_errors(3, 0, cf=1)
    with pytest.raises(ValueError, match="1 rows for 2 classes"):
        cost((1, 1), [[0, 1]])
    with pytest.raises(ValueError, match="differ in length"):
        cost((1, 1), [[0, 1], [0]])


# Priors -----------------------------------------------------------------------------------------------------

FEASIBLE = (0, 2, 3)  # attributes 0, 1, 2 with ATTRIBUTES = (0, 0, 1, 2, 1)


@pytest.mark.parametrize(
    ("prior", "leaf", "split"),
    [
        (UniformPrior(), 1, 1),
        (SizePrior(0.8, 1.0), 1 - 0.8 / 3, 0.8 / 3 / 3),
        (LeafPenaltyPrior(0.3), 0.3, 1),
        (ShapePrior(), 1, 1 / 3),
        (CodingPrior(), 0.5, 1 / 6),
    ],
)
def test_prior_factors_at_depth_two_by_hand(prior, leaf: float, split: float) -> None:
    assert math.exp(prior.log_leaf(2, FEASIBLE)) == pytest.approx(leaf)
    assert math.exp(prior.log_split(2, FEASIBLE, 2)) == pytest.approx(split)


def test_where_no_test_can_be_used_only_the_size_prior_changes() -> None:
    assert SizePrior().log_leaf(2, ()) == 0.0
    assert CodingPrior().log_leaf(2, ()) == -math.log(2)
    assert LeafPenaltyPrior(0.3).log_leaf(2, ()) == math.log(0.3)


def test_attribute_fair_tests_by_hand() -> None:
    # Feasible 0, 1 (attribute 0), 2, 4 (attribute 1), 3 (attribute 2): 1/3 per attribute, shared within it.
    shares = [math.exp(ShapePrior(ATTRIBUTES).log_split(0, (0, 1, 2, 3, 4), test)) for test in range(5)]
    assert shares == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 3, 1 / 6])
    # Without test 1, attribute 0 has one feasible test left.
    shares = [math.exp(CodingPrior(ATTRIBUTES).log_split(0, (0, 2, 4), test)) for test in (0, 2, 4)]
    assert shares == pytest.approx([1 / 4, 1 / 8, 1 / 8])


def test_edges_of_the_size_prior() -> None:
    always, never = SizePrior(1.0, 0.0), SizePrior(0.0, 1.0)
    assert always.log_leaf(0, (0,)) == LOG_ZERO
    assert always.log_leaf(0, ()) == 0.0
    assert never.log_split(0, (0,), 0) == LOG_ZERO
    assert log_sum([]) == LOG_ZERO


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SizePrior(alpha=1.1), "alpha=1.1"),
        (lambda: SizePrior(alpha=math.nan), "alpha=nan"),
        (lambda: SizePrior(beta=-0.1), "beta=-0.1"),
        (lambda: LeafPenaltyPrior(0.0), "omega=0.0"),
    ],
)
def test_bad_prior_parameters_are_refused(make, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize("prior", [SizePrior(), SizePrior(1.0, 0.0), SizePrior(0.95, 0.5, ATTRIBUTES)])
@pytest.mark.parametrize("max_depth", [0, 1, 2, None])
@pytest.mark.parametrize("min_leaf", [1, 2])
@pytest.mark.parametrize("seed", range(5))
def test_the_size_prior_sums_to_one(
    seed: int, min_leaf: int, max_depth: int | None, prior: SizePrior
) -> None:
    model = Bayes(Space(random_table(seed, n_tests=3), max_depth, min_leaf), prior)
    total = math.fsum(math.exp(model.log_prior(tree)) for tree in model.space.enumerate_trees())
    assert total == pytest.approx(1, abs=1e-12)


def test_the_other_priors_do_not_sum_to_one() -> None:
    space = Space(Table([(0,), (1,)], [(1, 0), (0, 1)]))
    for prior, total in [(UniformPrior(), 2), (LeafPenaltyPrior(0.5), 0.75), (CodingPrior(), 0.625)]:
        model = Bayes(space, prior)
        assert sum(math.exp(model.log_prior(tree)) for tree in space.enumerate_trees()) == pytest.approx(
            total
        )
