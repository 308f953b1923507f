"""The lattice of DL8, the tables that mislead greedy growers, and the bracket on the unlimited evidence."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
from reference_helpers import ATTRIBUTES, random_table

from everytree.reference import (
    DL8_FIGURE_3,
    DL8_FIGURE_4,
    MISLED_XOR,
    UNBALANCED_PAIR,
    Bayes,
    CodingPrior,
    DepthDecay,
    Lattice,
    SizePrior,
    Space,
    Table,
    UniformPrior,
    best,
    best_by_listing,
    gain_ratio,
    greedy_root,
    information_gain,
    log_evidence_bracket,
    nodes_of,
)
from everytree.reference.trees import size

# The lattice ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("max_depth", [0, 1, 2, None])
@pytest.mark.parametrize("seed", range(12))
def test_relevant_paths_are_those_of_trees_that_split_no_pure_node(seed: int, max_depth: int | None) -> None:
    table = random_table(seed, 3, 8, 2 + seed % 2, weights=seed % 2 == 1)
    space = Space(table, max_depth, min(1 + seed % 3, table.n_examples))
    lattice = Lattice(space)
    expected = set()
    for tree in space.enumerate_trees():
        nodes = list(nodes_of(tree, table))
        if all(node.test is None or lattice.p2(node.path) for node in nodes):
            expected |= {node.path for node in nodes}
    if not lattice.p2(frozenset()):
        expected = set()  # by definition nothing is relevant when the root is pure
    assert lattice.relevant_paths() == expected


@pytest.mark.parametrize("seed", range(12))
def test_frequent_paths_by_definition_and_closures_by_cover(seed: int) -> None:
    table = random_table(seed, 3, 8)
    space = Space(table, (None, 2)[seed % 2], 1 + seed % 3)
    lattice = Lattice(space)
    every = {
        frozenset((test, int(mark)) for test, mark in enumerate(marks) if mark != "-")
        for marks in ((a, b, c) for a in "01-" for b in "01-" for c in "01-")
    }
    frequent = lattice.frequent_paths()
    limit = 3 if space.max_depth is None else space.max_depth
    assert frequent == {
        path for path in every if len(path) <= limit and table.n(table.cover_of(path)) >= space.min_leaf
    }
    for path in frequent:
        closed = lattice.closure(path)
        assert path <= closed
        assert table.cover_of(closed) == table.cover_of(path)
        assert lattice.closure(closed) == closed
    covers = {table.cover_of(path) for path in lattice.relevant_paths()}
    census = lattice.census()
    assert census.closed == len(covers)
    assert census.frequent >= census.relevant >= census.states >= census.closed


# Greedy traps -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("table", "least", "greedy"), [(UNBALANCED_PAIR, 0, 6), (MISLED_XOR, 0, 20)])
def test_gain_and_gain_ratio_pick_a_root_that_cannot_reach_the_optimum(
    table: Table, least: int, greedy: int
) -> None:
    space = Space(table, min_leaf=10)
    assert table.n_examples == 100
    assert greedy_root(space) == greedy_root(space, ratio=True) == 0
    answer = best(space)[0]
    assert answer == best_by_listing(space)[0]
    assert answer.rank[0] == least
    # Among the trees with the greedy root, none comes near: the best of them by listing.
    answers = best_by_listing(space, k=space.count())
    with_greedy_root = [each for each in answers if each.tree is not None and each.tree[0] == 0]
    assert with_greedy_root[0].rank[0] == greedy


def test_the_first_database_of_section_4() -> None:
    space = Space(DL8_FIGURE_3, min_leaf=10)
    assert space.table.n_examples == 100
    assert [round(information_gain(space, test), 3) for test in (0, 1)] == [0.331, 0.269]
    assert [round(gain_ratio(space, test), 3) for test in (0, 1)] == [0.543, 0.373]
    answer = best(space)[0]
    assert answer.tree == (1, (2, None, None), None)  # Figure 1: B, and C where B is false
    assert answer.rank[:1] == (0,)
    with_a = [each for each in best(space, k=space.count()) if each.tree is not None and each.tree[0] == 0]
    assert with_a[0].rank[0] == 5


def test_the_second_database_of_section_4() -> None:
    space = Space(DL8_FIGURE_4)
    assert space.table.n_examples == 100
    assert [round(information_gain(space, test), 4) for test in (0, 2)] == [0.0985, 0.0289]
    assert round(gain_ratio(space, 2), 4) == 0.0298
    assert greedy_root(space) == greedy_root(space, ratio=True) == 0
    answer = best(space)[0]
    assert answer.tree is not None
    assert (answer.tree[0], size(answer.tree), answer.rank[0]) == (2, 7, 0)
    right = [each for each in best(space, k=space.count()) if each.rank[0] == 0 and each.tree is not None]
    assert min(size(each.tree) for each in right if each.tree is not None and each.tree[0] == 0) == 9


def test_gains_by_hand() -> None:
    # XOR: B and C tell nothing. A: 50 examples a side, 40 : 10, so 1 − H(0.2) = 1 − 0.721928 bits.
    space = Space(MISLED_XOR, min_leaf=10)
    assert information_gain(space, 0) == pytest.approx(1 - 0.7219280948873623)
    assert information_gain(space, 1) == pytest.approx(0, abs=1e-12)
    assert gain_ratio(space, 0) == pytest.approx(1 - 0.7219280948873623)
    # "B and C": 40 of 100; B splits 52 (40 : 12) from 48 (0 : 48).
    h = lambda p: -p * math.log2(p) - (1 - p) * math.log2(1 - p)  # noqa: E731
    pair = Space(UNBALANCED_PAIR, min_leaf=10)
    assert information_gain(pair, 1) == pytest.approx(h(0.4) - 0.52 * h(40 / 52))
    assert gain_ratio(pair, 1) == pytest.approx((h(0.4) - 0.52 * h(40 / 52)) / h(0.52))
    assert greedy_root(Space(MISLED_XOR, max_depth=0)) is None


# The bracket ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prior",
    [
        SizePrior(),
        SizePrior(0.95, 0.5),
        SizePrior(1.0, 0.0),
        SizePrior(0.6, 1.0, ATTRIBUTES),
        CodingPrior(),
        CodingPrior(ATTRIBUTES),
    ],
)
@pytest.mark.parametrize("dirichlet", [1.0, "1/C", 2.5])
@pytest.mark.parametrize("seed", range(6))
def test_the_bracket_holds_and_closes(
    seed: int, dirichlet: float | str, prior: SizePrior | CodingPrior
) -> None:
    table = random_table(seed, 4, 12, 2 + seed % 2, weights=seed % 2 == 1)
    model = Bayes(Space(table, None, 1 + seed % 2), prior, dirichlet)
    brackets = [log_evidence_bracket(model, cut) for cut in range(6)]
    for lower, upper in brackets:
        assert lower <= model.log_evidence + 1e-12
        assert upper >= model.log_evidence - 1e-12
    for wide, narrow in pairwise(brackets):
        assert wide.lower <= narrow.lower + 1e-12
        assert wide.upper >= narrow.upper - 1e-12
    # Four tests: no tree is deeper than 4, so nothing is left to bound.
    assert brackets[4] == pytest.approx((model.log_evidence, model.log_evidence))


def test_the_bracket_refuses_what_it_does_not_prove() -> None:
    table = random_table(0)
    for model, message in [
        (
            Bayes(Space(table), UniformPrior()),
            "proved for SizePrior and CodingPrior only; this model has UniformPrior",
        ),
        (Bayes(Space(table, 2)), "max_depth=2"),
        (Bayes(Space(table), dirichlet=DepthDecay(0.5, 0.5)), "same Dirichlet parameters at every depth"),
    ]:
        with pytest.raises(ValueError, match=message):
            log_evidence_bracket(model, 1)
    with pytest.raises(ValueError, match="cut=-1"):
        log_evidence_bracket(Bayes(Space(table)), -1)
