"""Powers, base rates, leave-one-out by the formula, by listing and by fitting again, and the exponent."""

from __future__ import annotations

import math

import pytest
from local_helpers import KINDS, case, small_space
from reference_helpers import all_dirichlets, all_priors, random_table

from everytree.reference import (
    BaseRate,
    Bayes,
    ColumnTable,
    LeftOut,
    Listing,
    LocalSpace,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    Without,
    best_exponent,
    evidence_slope,
    exponent_log_loss,
    fit_dirichlet,
    leave_one_out,
    leave_one_out_by_listing,
    left_out_examples,
    log_evidence_bracket,
    map_tree,
    tempered,
    test_inclusion,
)

POWERS = (1.0, 0.5, 0.25, 0.1)
EXACT = {"rel": 1e-12, "abs": 1e-12}


def check(model: Bayes) -> None:
    """Every example of the table is left out in three ways."""
    listing = Listing(model)
    assert model.log_evidence == pytest.approx(listing.log_evidence, rel=1e-11, abs=1e-12)
    left_out = left_out_examples(model)
    assert sum(each.weight for each in left_out) == model.table.n_examples
    for row, label, weight, proba in left_out:
        assert weight == model.table.counts[row][label]
        assert math.fsum(proba) == pytest.approx(1.0, **EXACT)
        again = Without(model, row, label)
        assert again.a(1) == model.a(1)
        assert proba == pytest.approx(again.predicted(), **EXACT)
        assert proba == pytest.approx(leave_one_out_by_listing(model, row, label), **EXACT)


@pytest.mark.parametrize("power", POWERS)
@pytest.mark.parametrize("seed", range(6))
def test_leave_one_out_is_fitting_again(seed: int, power: float) -> None:
    n_classes = 2 + seed % 2
    table = random_table(seed, 3, 7, n_classes, weights=seed % 2 == 1)
    space = Space(table, (2, None, 1, 3, 0, 2)[seed], min(1 + seed % 3, table.n_examples))
    dirichlets = all_dirichlets(n_classes)
    for number, prior in enumerate(all_priors(table.n_tests)):
        check(Bayes(space, prior, dirichlets[number % 4], power))
    if all(table.class_counts(table.everything)):
        check(Bayes(space, UniformPrior(), BaseRate(1.5), power))


@pytest.mark.parametrize("power", [1.0, 0.25])
@pytest.mark.parametrize("kind", KINDS)
def test_with_local_cuts_too(kind: str, power: float) -> None:
    looked_at = 0
    for seed, max_depth in enumerate((1, 2, 3, None)):
        for bins in (2, 3, "all"):
            data = case(kind, bins, seed, n_rows=6).table()
            space = small_space(data, max_depth, 1 + seed % 3)
            if space is None:
                continue
            looked_at += 1
            attributes = data.attributes if seed % 2 else None
            counts = data.universe.class_counts(data.universe.everything)
            dirichlet = BaseRate() if all(counts) else 1.0
            check(Bayes(space, SizePrior(attributes=attributes), dirichlet, power))
            check(Bayes(space, UniformPrior(attributes), "1/C", power))
    assert looked_at >= 4


def test_a_leaf_by_hand() -> None:
    # No test: the prediction without an example of class 0 is that of the counts (2, 2).
    model = Bayes(Space(Table([()], [(3, 2)])), power=0.3)
    assert leave_one_out(model, 0, 0) == pytest.approx((0.5, 0.5))
    assert model.log_evidence == pytest.approx(0.3 * (math.log(12) - math.log(720)), rel=1e-12)


def test_an_example_that_is_not_there() -> None:
    model = Bayes(Space(Table([(0,), (1,)], [(2, 0), (0, 1)])))
    with pytest.raises(ValueError, match="row 0 has no example of class 1"):
        Without(model, 0, 1)


def test_base_rates() -> None:
    table = Table([(0,), (1,)], [(2, 1), (0, 1)])
    assert Bayes(Space(table), dirichlet=BaseRate(2)).a(3) == (1.0, 1.0)
    assert Bayes(Space(table), dirichlet=BaseRate()).a(0) == (0.5, 0.5)
    assert Bayes(Space(table), dirichlet="base").a(0) == (0.5, 0.5)
    with pytest.raises(ValueError, match="an example of every class"):
        Bayes(Space(Table([(0,), (1,)], [(2, 0), (1, 0)])), dirichlet=BaseRate())


@pytest.mark.parametrize("power", [0.0, 1.5, -1, math.nan])
def test_powers_that_are_none(power: float) -> None:
    with pytest.raises(ValueError, match="greater than 0 and at most 1"):
        Bayes(Space(random_table(0)), power=power)


@pytest.mark.parametrize("power", POWERS)
def test_a_power_is_the_posterior_of_the_likelihood_to_it(power: float) -> None:
    for seed in range(4):
        space = Space(random_table(seed, 3, 9), 2)
        plain, model = Bayes(space), Bayes(space, power=power)
        joint = {tree: plain.log_prior(tree) for tree in space.enumerate_trees()}
        for tree in joint:
            joint[tree] += power * (plain.log_joint(tree) - plain.log_prior(tree))
        total = math.fsum(map(math.exp, joint.values()))
        assert model.log_evidence == pytest.approx(math.log(total), rel=1e-11)
        assert map_tree(model) == Listing(model).map_tree()
        assert test_inclusion(model) == pytest.approx(Listing(model).test_inclusion(), rel=1e-10, abs=1e-12)


def test_brackets_and_slopes_with_a_power() -> None:
    for seed in range(4):
        space = Space(random_table(seed, 3, 12))
        model = Bayes(space, power=0.5)
        lower, upper = log_evidence_bracket(model, 1)
        assert lower <= model.log_evidence + 1e-12
        assert model.log_evidence <= upper + 1e-12

        def at(t: float, space: Space = space) -> float:
            return Bayes(space, dirichlet=t, power=0.5).log_evidence

        step = 1e-5
        numeric = (at(math.exp(step)) - at(math.exp(-step))) / (2 * step)
        assert evidence_slope(model) == pytest.approx(numeric, rel=1e-5, abs=1e-7)
        fitted = fit_dirichlet(space, power=0.5, steps=5)
        assert fitted.log_evidence >= model.log_evidence - 1e-9


# The exponent ------------------------------------------------------------------------------------------------


def test_the_exponent_is_the_least_of_a_grid() -> None:
    for seed in range(5):
        data = case("numeric", 3, seed, n_rows=14, n_columns=2).table()
        told = left_out_examples(Bayes(LocalSpace(data, 2), UniformPrior(data.attributes), power=0.25))
        found = best_exponent(told)
        assert 0 <= found <= 10
        least = min(exponent_log_loss(told, gamma / 50) for gamma in range(501))
        assert exponent_log_loss(told, found) <= least + 1e-12


def test_exponents_at_the_ends() -> None:
    right, wrong = LeftOut(0, 0, 1, (0.9, 0.1)), LeftOut(0, 1, 1, (0.9, 0.1))
    assert best_exponent([right]) == 10.0
    assert best_exponent([right], at_most=3) == 3.0
    assert best_exponent([wrong]) == 0.0
    assert best_exponent([right, wrong]) == pytest.approx(0.0, abs=1e-6)
    assert exponent_log_loss([right, wrong], 0) == pytest.approx(math.log(2))


def test_tempered_keeps_the_order() -> None:
    p = (0.5, 0.3, 0.2)
    assert tempered(p, 1) == pytest.approx(p)
    for gamma in (0.2, 3):
        assert list(tempered(p, gamma)) == sorted(tempered(p, gamma), reverse=True)


def test_weights_count_as_repetition() -> None:
    X, y = [[1.0], [2.0], [2.0], [3.0], [3.0]], [0, 1, 1, 0, 1]
    merged = ColumnTable.from_data(
        [[1.0], [2.0], [3.0], [3.0]], [0, 1, 0, 1], sample_weight=[1, 2, 1, 1], bins=2
    )
    told = [
        left_out_examples(Bayes(LocalSpace(data))) for data in (ColumnTable.from_data(X, y, bins=2), merged)
    ]
    assert told[0] == told[1]
