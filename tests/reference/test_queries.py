"""Queries: recursion against listing over rankings × constraints, known traps, numbers by hand, messages."""

from __future__ import annotations

from itertools import permutations, product

import pytest
from reference_helpers import random_table

from everytree.reference import (
    NoTreeError,
    Query,
    Space,
    Table,
    best,
    best_by_listing,
    best_tree,
    chi2,
    chi2_p_value,
    chi2_tail,
    front,
    front_by_listing,
    satisfies,
)
from everytree.reference.criteria import CRITERIA, leaf_allowed, value_of

XOR = Table([(0, 0), (0, 1), (1, 0), (1, 1)], [(1, 0), (0, 1), (0, 1), (1, 0)])
COST = {
    2: [[0, 1], [3, 0]],
    3: [[0, 1, 2], [3, 0, 1], [0.5, 2, 0]],
    4: [[0, 1, 2, 1], [3, 0, 1, 1], [0.5, 2, 0, 1], [1, 1, 1, 0]],
}


def spaces(n_seeds: int) -> list[Space]:
    """Small random spaces of every depth and leaf size."""
    found = []
    for seed in range(n_seeds):
        table = random_table(seed, 2 + seed % 2, 6 + seed % 5, 2 + seed % 3, weights=seed % 2 == 1)
        found.append(Space(table, (None, 2, 3, 1, 0)[seed % 5], min(1 + seed % 3, table.n_examples)))
    return found


SPACES = spaces(15)
CONSTRAINTS: list[dict] = [
    {},
    {"max_size": 5},
    {"max_leaves": 2},
    {"max_depth": 1},
    {"max_error": 2},
    {"max_error": 1, "max_size": 5, "max_depth": 2},
    {"min_support": 3},
    {"min_margin": 1},
    {"min_margin": 2, "max_size": 5},
    {"min_chi2": 0.5},
    {"max_p_value": 0.6, "max_depth": 2},
]
RANKINGS = [
    ("error",),
    ("error", "size"),
    ("error", "depth", "size"),
    ("expected_error", "size"),
    ("cost", "leaves"),
    ("penalised_error",),
    ("gini", "size"),
    ("entropy", "depth"),
    ("size", "error"),
    ("depth", "expected_error", "size"),
]


def both(function, listing, *arguments):
    """The answers of two ways, where "no tree" is an answer too."""
    answers = []
    for each in (function, listing):
        try:
            answers.append(each(*arguments))
        except NoTreeError as none:
            answers.append((none.constraints, none.together, str(none)))
    return answers


@pytest.mark.parametrize("rank", RANKINGS, ids="-".join)
@pytest.mark.parametrize("number", range(len(SPACES)))
def test_best_by_recursion_equals_listing(number: int, rank: tuple[str, ...]) -> None:
    space = SPACES[number]
    for constraints in CONSTRAINTS:
        bounded = {name for name in constraints if name.startswith("max_") and name != "max_p_value"}
        if rank[0] in ("size", "depth") and not bounded:
            continue
        query = Query(rank, penalty=0.75, cost_matrix=COST[space.table.n_classes], **constraints)
        for k in (1, 4):
            got, want = both(best, best_by_listing, space, query, k)
            assert got == want
            if isinstance(got, list):
                assert all(answer.tree in space and satisfies(answer.tree, space, query) for answer in got)
                assert len({answer.tree for answer in got}) == len(got)


@pytest.mark.parametrize("by", ["size", "leaves", "depth"])
@pytest.mark.parametrize("number", range(len(SPACES)))
def test_fronts_by_recursion_equal_listing(number: int, by: str) -> None:
    space = SPACES[number]
    for constraints, criterion in product(CONSTRAINTS, ("error", "expected_error")):
        got, want = both(front, front_by_listing, space, Query((criterion,), **constraints), by)
        assert got == want


@pytest.mark.parametrize("number", range(len(SPACES)))
def test_the_front_meets_the_optimum_under_every_size(number: int) -> None:
    space = SPACES[number]
    points = front(space)
    assert points[-1].value == best(space)[0].rank[0]
    assert points[-1].at == best(space)[0].rank[1]
    for max_size in range(1, 16, 2):
        reachable = [point for point in points if point.at <= max_size]
        assert best(space, Query(max_size=max_size))[0].rank[0] == reachable[-1].value


def test_the_value_of_a_tree_is_the_sum_over_its_leaves() -> None:
    # Test 0 on rows 0 (2, 1) and 1 (0, 3): error 1, gini 3 − 5/3 + 0, cost of (2, 1) when it says 1: 2 < 3.
    table = Table([(0,), (1,)], [(2, 1), (0, 3)])
    query = Query(penalty=0.25, cost_matrix=COST[2])
    values = {name: float(value_of(name, (0, None, None), table, query)) for name in CRITERIA}
    assert values == pytest.approx(
        {
            "error": 1,
            "expected_error": values["expected_error"],
            "penalised_error": 1.5,
            "cost": 2,
            "gini": 4 / 3,
            "entropy": values["entropy"],
            "size": 3,
            "leaves": 2,
            "depth": 1,
        }
    )
    assert values["expected_error"] > 1
    assert 0 < values["entropy"] < 3


# Tables on which shortcuts of published solvers go wrong ----------------------------------------------------


def test_six_rows_depth_two_min_leaf_two() -> None:
    rows = ["000", "101", "000", "011", "111", "111"]
    table = Table.from_data([[int(v) for v in row] for row in rows], [1, 0, 0, 1, 1, 1])
    assert best(Space(table, 2, 2))[0].rank[0] == 1
    assert best_by_listing(Space(table, 2, 2))[0].rank[0] == 1


def test_nine_rows_depth_two_min_leaf_three() -> None:
    rows = ["000", "100", "101", "110", "101", "011", "100", "010", "110"]
    table = Table.from_data([[int(v) for v in row] for row in rows], [0, 0, 1, 1, 1, 1, 0, 0, 1])
    assert best(Space(table, 2, 3))[0].rank[0] == 1
    assert best_by_listing(Space(table, 2, 3))[0].rank[0] == 1


def test_depth_does_not_decompose() -> None:
    # Under (error, depth, size) a side may be as deep as its sibling for free and smaller: its own least
    # depth would be the wrong choice.
    for seed in range(40):
        space = Space(random_table(1000 + seed, 3, 12, 2), 3, 1)
        query = Query(("error", "depth", "size"))
        assert best(space, query) == best_by_listing(space, query)


# By hand ----------------------------------------------------------------------------------------------------


def test_xor_by_hand() -> None:
    assert best(Space(XOR))[0] == ((0, 7), (0, (1, None, None), (1, None, None)))
    # Two trees without error, then the size-5 trees with one error, by key: leaves first.
    ranks = [answer.rank for answer in best(Space(XOR), k=9)]
    assert ranks == [(0, 7)] * 2 + [(1, 5)] * 4 + [(2, 1)] + [(2, 3)] * 2
    assert [(point.at, point.value) for point in front(Space(XOR))] == [(1, 2), (5, 1), (7, 0)]
    assert [(point.at, point.value) for point in front(Space(XOR), by="depth")] == [(0, 2), (2, 0)]
    # error + λ · leaves: 2 + λ, 1 + 3λ, 4λ: the leaf wins as soon as 3λ > 2.
    assert best_tree(Space(XOR), Query(("penalised_error", "size"), penalty=0.5)) is not None
    assert best_tree(Space(XOR), Query(("penalised_error", "size"), penalty=0.7)) is None


def test_the_five_problems_of_dl8() -> None:
    table = random_table(7, 3, 14, 2)
    space = Space(table, min_leaf=2)
    questions = [
        (Query(("error", "size")), 1),  # most accurate with leaves of at least n
        (Query(("error", "size"), min_margin=1), 5),  # k most accurate with a margin in every leaf
        (Query(("error", "size"), min_chi2=0.3), 1),  # most accurate with correlated leaves
        (Query(("expected_error", "size")), 1),  # best expected accuracy, then smallest
        (Query(("size", "error"), max_error=4), 1),  # smallest with accuracy above a
        (Query(("depth", "error"), max_error=4), 1),  # shallowest with accuracy above a
    ]
    for query, k in questions:
        answers = best(space, query, k)
        assert answers == best_by_listing(space, query, k)
        assert all(satisfies(answer.tree, space, query) for answer in answers)


@pytest.mark.parametrize(
    ("counts", "constraints", "allowed"),
    [
        ((3, 1), {"min_support": 4}, True),
        ((3, 1), {"min_support": 5}, False),
        ((4, 1, 2), {"min_margin": 2}, True),  # ahead of the second class, not of the third
        ((4, 1, 2), {"min_margin": 3}, False),
        ((4,), {"min_margin": 4}, True),  # a single class leads nothing by all its examples
        ((8, 2), {"min_chi2": 7.2}, True),  # the χ² by hand below
        ((8, 2), {"min_chi2": 7.3}, False),
        ((8, 2), {"max_p_value": 0.01}, True),  # P(χ² ≥ 7.2) = 0.0073 with one degree of freedom
        ((8, 2), {"max_p_value": 0.007}, False),
    ],
)
def test_leaf_constraints_by_hand(counts: tuple[int, ...], constraints: dict, allowed: bool) -> None:
    total = {1: (20,), 2: (10, 10), 3: (10, 10, 10)}[len(counts)]
    table = Table([(0,)], [total])
    assert leaf_allowed(counts, table, Query(**constraints)) is allowed


def test_chi2_by_hand() -> None:
    # Leaf (8, 2) in (10, 10): expected 5, 5 and 5, 5; each cell is off by 3, so 4 · 9/5.
    assert chi2((8, 2), (10, 10)) == pytest.approx(7.2)
    assert chi2((5, 5), (10, 10)) == 0
    assert chi2((0, 0), (10, 10)) == 0
    # A class that does not occur adds nothing, not even a degree of freedom.
    assert chi2((8, 2, 0), (10, 10, 0)) == chi2((8, 2), (10, 10))
    assert chi2_p_value((8, 2, 0), (10, 10, 0)) == chi2_p_value((8, 2), (10, 10))
    assert chi2_p_value((3,), (5,)) == 1.0


@pytest.mark.parametrize(
    ("x", "dof", "p"),
    # The 5 % and 1 % points of printed χ² tables.
    [
        (3.841, 1, 0.05),
        (6.635, 1, 0.01),
        (5.991, 2, 0.05),
        (7.815, 3, 0.05),
        (11.345, 3, 0.01),
        (16.919, 9, 0.05),
    ],
)
def test_the_chi2_tail_matches_printed_tables(x: float, dof: int, p: float) -> None:
    assert chi2_tail(x, dof) == pytest.approx(p, rel=2e-3)


# No tree, and bad queries -----------------------------------------------------------------------------------


def test_the_tightest_constraint_is_named() -> None:
    with pytest.raises(NoTreeError, match=r"max_error=1 is too tight \(2 would do\)") as caught:
        best(Space(XOR, max_depth=1), Query(max_error=1))
    assert caught.value.constraints == ("max_error",)
    assert not caught.value.together
    # Either bound alone could give way: without errors a tree needs 7 nodes, with 5 nodes it makes 1 error.
    with pytest.raises(
        NoTreeError, match=r"max_size=5 .*\(7 would do\), or max_error=0 .*\(1 would do\)"
    ) as caught:
        best(Space(XOR), Query(max_error=0, max_size=5))
    assert caught.value.constraints == ("max_size", "max_error")
    # A margin of 2 fits no leaf of this table; max_depth is innocent.
    with pytest.raises(NoTreeError, match=r"min_margin=2 is too tight$") as caught:
        front(Space(XOR), Query(min_margin=2, max_depth=1))
    assert caught.value.constraints == ("min_margin",)
    # The margin fits no leaf, and without it no tree of depth 1 is free of errors: no single one is to blame.
    with pytest.raises(NoTreeError, match="max_depth=1 and min_margin=2 are too tight together") as caught:
        best(Space(XOR), Query(max_depth=1, max_error=0, min_margin=2))
    assert caught.value.constraints == ("max_depth", "min_margin")
    assert caught.value.together


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rank": ("accuracy",)}, "unknown criterion 'accuracy'; choose from error"),
        ({"rank": "error"}, "give a tuple of criteria"),
        ({"rank": ("size",), "max_size": 3}, "holds no error"),
        ({"rank": ()}, "holds no error"),
        ({"rank": ("error", "error")}, "names a criterion twice"),
        ({"rank": ("cost",)}, "needs a cost_matrix"),
        ({"rank": ("depth", "error")}, "puts depth before the error; give max_error"),
    ],
)
def test_bad_queries_are_refused(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Query(**options)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="k=0"):
        best(Space(XOR), k=0)
    with pytest.raises(ValueError, match="by='error'"):
        front(Space(XOR), by="error")


@pytest.mark.parametrize(
    "rank", [r for n in (1, 2, 3, 4) for r in permutations(("error", "size", "depth", "gini"), n)]
)
def test_every_order_of_criteria(rank: tuple[str, ...]) -> None:
    if not {"error", "gini"} & set(rank):
        with pytest.raises(ValueError, match="holds no error"):
            Query(rank)
        return
    space = Space(random_table(11, 3, 9, 2), 2, 1)
    query = Query(rank, max_error=3)
    assert best(space, query, 3) == best_by_listing(space, query, 3)
