"""Cuts chosen by each state: the offers against raw values, recursion against listing, and where local is global."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import pytest
from local_helpers import BINS, DEPTHS, KINDS, Case, case, new_rows, small_space

from everytree.reference import (
    Bayes,
    CodingPrior,
    ColumnTable,
    CriterionCost,
    JointCost,
    LeafPenaltyPrior,
    Listing,
    LocalSpace,
    Prior,
    Query,
    ShapePrior,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    attribute_inclusion,
    best,
    best_by_listing,
    depth_distribution,
    front,
    front_by_listing,
    leaves_distribution,
    log_prior_total,
    map_tree,
    near_best,
    near_best_by_listing,
    root_distribution,
    sample,
    test_inclusion,
    top_trees,
)
from everytree.reference.columns import cut_between, equal_frequency_breaks

CLOSE = {"rel": 1e-10, "abs": 1e-12}


def priors(attributes: tuple[int, ...] | None) -> list[Prior]:
    """Every prior, each test alike (None) or each column."""
    return [
        UniformPrior(attributes),
        SizePrior(0.8, 0.8, attributes),
        LeafPenaltyPrior(0.3, attributes),
        ShapePrior(attributes),
        CodingPrior(attributes),
    ]


# The offers, from the raw values of the rows -----------------------------------------------------------------


def offered(case: Case, rows: list[int]) -> set[tuple[Any, ...]]:
    """The conditions that these examples offer, from their values alone (where no fine bins are needed)."""
    found: set[tuple[Any, ...]] = set()
    for column in range(len(case.X[0])):
        everywhere = [row[column] for row in case.X]
        held = [case.X[i][column] for i in rows for _ in range(case.weights[i])]
        values, gone = sorted(v for v in held if v is not None), None in held
        distinct = sorted(set(values))
        binary = None not in everywhere and set(everywhere) <= {0, 1}
        if binary or any(isinstance(v, str) for v in everywhere):
            present = len(distinct) + gone
            if present == 2:
                found.add((column, "==", distinct[-1]))
            if present > 2:
                found |= {(column, "==", v) for v in distinct} | ({(column, "is missing")} if gone else set())
            continue
        if gone and distinct:
            found.add((column, "is missing"))
        bins, start = case.bins, 0
        if bins == "all":
            found |= {(column, "<=", cut_between(a, b)) for a, b in pairwise(distinct)}
            continue
        assert isinstance(bins, int)
        for left in range(bins, 1, -1):
            # The places in the sorted examples where this bin may end: between different values.
            ends = [i for i in range(start + 1, len(values)) if values[i - 1] < values[i]]
            if not ends:
                break
            aim = Fraction(len(values) - start, left)
            full = [i for i in ends if i - start >= aim]
            end = full[0] if full else ends[-1]
            if full and ends.index(end) > 0:
                before = ends[ends.index(end) - 1]
                end = before if abs(before - start - aim) < abs(end - start - aim) else end
            found.add((column, "<=", cut_between(values[end - 1], values[end])))
            start = end
            if not full:
                break
    return found


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("max_depth", [1, 2, 3, None])
@pytest.mark.parametrize("min_leaf", [1, 2])
def test_every_tree_of_the_definition_and_no_other(
    kind: str, bins: int | str, max_depth: int | None, min_leaf: int
) -> None:
    """Trees are built from raw values, with sets of examples for states and conditions for tests."""
    drawn = case(kind, bins, 1, n_rows=6)
    data = drawn.table()

    def trees(rows: list[int], depth: int, from_above: set[tuple[Any, ...]] | None) -> list[Any]:
        left = None if max_depth is None else max_depth - depth
        if left == 0:
            return [None]
        own = offered(drawn, rows) if from_above is None else from_above
        below = own if left == 2 else None
        found: list[Any] = [None]
        for condition in own:
            sides: list[list[int]] = [[], []]
            for i in rows:
                sides[data.holds(drawn.X[i], condition)].append(i)
            if all(sum(drawn.weights[i] for i in side) >= min_leaf for side in sides):
                parts = [trees(side, depth + 1, below) for side in sides]
                found += [(condition, zero, one) for zero in parts[0] for one in parts[1]]
        return found

    space = LocalSpace(data, max_depth, min_leaf)
    if space.count() > 1500:
        pytest.skip(f"{space.count()} trees are too many to list")
    expected = trees(list(range(len(drawn.X))), 0, None)
    listed = [space.spell(tree) for tree in space.enumerate_trees()]
    assert len(expected) == len(listed) == space.count()
    assert set(expected) == set(listed)


# Recursion against listing -----------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("fair", [True, False], ids=["fair", "plain"])
@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("kind", KINDS)
def test_recursion_is_listing(kind: str, bins: int | str, fair: bool) -> None:
    looked_at = 0
    for number, (max_depth, min_leaf) in enumerate((d, m) for d in DEPTHS for m in (1, 2, 3)):
        data = case(kind, bins, number, n_rows=6).table()
        space = small_space(data, max_depth, min_leaf)
        if space is None:
            continue
        looked_at += 1
        attributes = data.attributes if fair else None
        every = priors(attributes)
        dirichlet = (1.0, "1/C", 0.4)[number % 3]
        for prior in (every[0], every[1 + number % 4]):
            model = Bayes(space, prior, dirichlet)
            listing = Listing(model)
            assert len(listing.posterior) == space.count()
            assert model.log_evidence == pytest.approx(listing.log_evidence, **CLOSE)
            for row in new_rows(kind, number):
                expected = pytest.approx(listing.predict_proba(row), **CLOSE)
                assert model.predict_proba(row) == expected
                assert model.predict_by_rules(row) == expected
            assert test_inclusion(model) == pytest.approx(listing.test_inclusion(), **CLOSE)
            assert attribute_inclusion(model, data.attributes) == pytest.approx(
                listing.attribute_inclusion(data.attributes), **CLOSE
            )
            assert root_distribution(model) == pytest.approx(listing.root_distribution(), **CLOSE)
            assert leaves_distribution(model) == pytest.approx(listing.leaves_distribution(), **CLOSE)
            assert depth_distribution(model) == pytest.approx(listing.depth_distribution(), **CLOSE)
            assert top_trees(model, 4) == listing.top_trees(4)
            assert map_tree(model) == listing.map_tree()
        for query in (
            Query(),
            Query(rank=("penalised_error", "size"), penalty=0.5),
            Query(rank=("expected_error", "depth")),
        ):
            assert best(space, query, 3) == best_by_listing(space, query, 3)
        assert front(space) == front_by_listing(space)
    assert looked_at >= 9


def test_the_size_prior_sums_to_one() -> None:
    for kind in KINDS:
        for max_depth in (1, 2, 3, None):
            data = case(kind, 3, 2).table()
            for attributes in (None, data.attributes):
                model = Bayes(LocalSpace(data, max_depth, 2), SizePrior(0.9, 0.5, attributes))
                assert log_prior_total(model) == pytest.approx(0.0, abs=1e-12)


def test_fair_tests_weigh_what_they_weighed_in_all() -> None:
    data = case("mixed", 4, 3, n_columns=3).table()
    space = LocalSpace(data, 3)
    tests = space.feasible(space.root, 0)
    for prior in (UniformPrior(data.attributes), LeafPenaltyPrior(0.4, data.attributes)):
        weights = {test: math.exp(prior.log_split(0, tests, test)) for test in tests}
        assert math.fsum(weights.values()) == pytest.approx(len(tests), rel=1e-12)
        columns: dict[int, float] = {}
        for test, weight in weights.items():
            columns[data.attributes[test]] = columns.get(data.attributes[test], 0.0) + weight
        assert max(columns.values()) == pytest.approx(min(columns.values()), rel=1e-12)


def test_samples_lie_in_the_space() -> None:
    space = LocalSpace(case("mixed", 3, 5, n_rows=12, n_columns=3).table(), 3)
    model, rng = Bayes(space), Random(0)
    drawn = [sample(model, rng) for _ in range(50)]
    assert all(tree in space for tree in drawn)
    assert len(set(drawn)) > 5


# Where local is global ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_trees_near_the_best(kind: str) -> None:
    for max_depth in (1, 2, None):
        space = small_space(case(kind, 2, 6, n_rows=6).table(), max_depth, 2)
        if space is not None:
            for cost in (CriterionCost(space.table), JointCost(Bayes(space, power=0.5))):
                assert near_best(space, cost, slack=1) == near_best_by_listing(space, cost, slack=1)


@pytest.mark.parametrize("max_depth", [0, 1, 2, 3, None])
@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_over_all_cuts_is_that_of_brute_force(kind: str, max_depth: int | None) -> None:
    for seed, min_leaf in ((0, 1), (1, 2), (2, 3)):
        for bins in ("all", 20):
            data = case(kind, bins, seed, n_rows=9).table()
            local, brute = LocalSpace(data, max_depth, min_leaf), Space(data.universe, max_depth, min_leaf)
            for query in (Query(), Query(rank=("penalised_error", "size"), penalty=0.75)):
                assert best(local, query)[0].rank == best(brute, query)[0].rank
            assert [point[:2] for point in front(local)] == [point[:2] for point in front(brute)]


@pytest.mark.parametrize("bins", BINS)
@pytest.mark.parametrize("max_depth", DEPTHS)
def test_zeros_and_ones_are_global(max_depth: int | None, bins: int | str) -> None:
    for seed, min_leaf in ((0, 1), (1, 2), (2, 3)):
        drawn = case("binary", bins, seed, n_rows=10, n_columns=4)
        data = drawn.table()
        table = Table.from_data(drawn.X, drawn.y, drawn.n_classes, drawn.weights)
        assert data.universe == table
        local, plain = LocalSpace(data, max_depth, min_leaf), Space(table, max_depth, min_leaf)
        assert local.count() == plain.count()
        assert best(local, k=3) == best(plain, k=3)
        for prior in (*priors(None), *priors(data.attributes)):
            one, other = Bayes(local, prior), Bayes(plain, prior)
            assert one.log_evidence == other.log_evidence
            assert one.predict_proba([0, 1, 1, 0]) == other.predict_proba([0, 1, 1, 0])
            assert map_tree(one) == map_tree(other)
            assert test_inclusion(one) == test_inclusion(other)


# Codes, cuts and edges ---------------------------------------------------------------------------------------


def test_the_two_levels_at_the_bottom_share_their_cuts() -> None:
    data = ColumnTable.from_data([[x] for x in range(8)], [0, 1] * 4, bins=2)
    # Two levels: one cut in the middle, which no child can use; three: the children of the root cut anew.
    assert LocalSpace(data, 1).count() == LocalSpace(data, 2).count() == 2
    assert LocalSpace(data, 3).count() == 1 + 2 * 2
    assert LocalSpace(data, None).count() == 1 + (1 + 2 * 2) ** 2


def test_fine_bins_are_codes() -> None:
    rng = Random(7)
    X = [[round(rng.random(), 6)] for _ in range(40)]
    y = [rng.randrange(2) for _ in X]
    exact = ColumnTable.from_data(X, y, bins=4, fine=40)
    coarse = ColumnTable.from_data(X, y, bins=4, fine=8)
    assert len(exact.columns[0].values) == 40
    assert [sum(low <= x <= high for (x,) in X) for low, high in coarse.columns[0].values] == [5] * 8
    # "all" is exact however many values there are.
    assert len(ColumnTable.from_data(X, y, bins="all", fine=8).columns[0].values) == 40
    # The four bins of the root are made of two fine ones each, so the cuts agree there.
    roots = [LocalSpace(data, 1) for data in (exact, coarse)]
    spelled = [[space.spell((test, None, None)) for test in space.feasible(space.root, 0)] for space in roots]
    assert spelled[0] == spelled[1]
    assert len(spelled[0]) == 3


def test_from_universe_is_the_same_table() -> None:
    data = case("mixed", 3, 4, n_rows=10, n_columns=3).table()
    form = [
        (
            0 if column.kind == "numeric" or len(column.asked) == 1 else 1,
            column.begin,
            column.end,
            -1 if column.missing is None else column.missing,
            column.bins or 0,
        )
        for column in data.columns
    ]
    again = ColumnTable.from_universe(data.universe.rows, data.universe.counts, form)
    for max_depth in (1, 2, 3):
        one, other = LocalSpace(data, max_depth), LocalSpace(again, max_depth)
        assert one.count() == other.count()
        assert Bayes(one).log_evidence == Bayes(other).log_evidence
        assert map_tree(Bayes(one)) == map_tree(Bayes(other))


def test_new_rows_fall_where_the_cut_of_the_state_lies() -> None:
    # Below the root's cut, x <= 20.5, the rows 1, 2, 20 are cut between 2 and 20 where only those are left.
    data = ColumnTable.from_data([[1], [2], [20], [21], [22], [23]], [0, 0, 1, 1, 1, 1], bins=2)
    space = LocalSpace(data)
    tree = (2, None, (1, None, None))
    assert space.spell(tree) == ((0, "<=", 20.5), None, ((0, "<=", 11), None, None))
    listing = Listing(Bayes(space))
    assert tree in listing.posterior


def test_a_cut_may_fall_when_the_value_above_it_rises() -> None:
    # Midway between 0 and 10.88 lies 5.44, six digits at most; 5.4400001 is longer, and 5 is near enough.
    assert (cut_between(0, 10.88), cut_between(0, 10.8800002)) == (5.44, 5.0)
    data = ColumnTable.from_data([[0.0], [10.88], [10.8800002]], [0, 1, 1], bins="all")
    table = LocalSpace(data).table
    assert table.offered(table.everything) == {0: 1, 1: 2}
    without_the_middle = 0b101  # rows are in the order of their 0/1 tests: 10.8800002, 10.88, 0
    assert table.offered(without_the_middle) == {0: 2}
    outcomes = [table.outcome(rows, 0, [5.2]) for rows in (table.everything, without_the_middle)]
    assert outcomes == [1, 0]


def test_columns_without_a_choice_offer_nothing() -> None:
    data = ColumnTable.from_data([[5, "a", None, 1], [5, "a", None, 1]], [0, 1])
    assert data.universe.n_tests == 0
    assert LocalSpace(data).count() == 1
    lacking = ColumnTable.from_data([[5, "a"], [None, None], [5, "a"]], [0, 1, 0])
    space = LocalSpace(lacking, 1)
    assert [space.spell((test, None, None))[0] for test in space.feasible(space.root, 0)] == [
        (0, "is missing"),
        (1, "==", "a"),
    ]


def test_breaks_by_hand() -> None:
    assert equal_frequency_breaks([1] * 10, 4) == [2, 4, 7]
    assert equal_frequency_breaks([1, 1, 8], 4) == [1]
    assert equal_frequency_breaks([5], 3) == []
    assert equal_frequency_breaks([], None) == []


@pytest.mark.parametrize(
    ("lo", "hi", "cut"),
    [
        (0, 1, 0.5),
        (-1, 1, 0.0),
        (2.0, 2.0000001, 2.00000005),
        (1 / 3, 2 / 3, 0.5),
        (0.1234567, 0.1234569, 0.1234568),
        (2**60, 2**60 + 1, 2**60),
        (1.0, math.nextafter(1.0, 2), 1.0),
    ],
)
def test_cuts_by_hand(lo: float, hi: float, cut: float) -> None:
    found = cut_between(lo, hi)
    assert lo <= found < hi
    assert found == cut


@pytest.mark.parametrize("bins", [1, 0, "some"])
def test_bins_that_are_none(bins: int | str) -> None:
    with pytest.raises(ValueError, match="at least 2, or 'all'"):
        ColumnTable.from_data([[1], [2]], [0, 1], bins=bins)
