"""Queries: every ranking under every constraint against the reference, and what a bad query is told."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest

from everytree import reference
from everytree.errors import EverytreeError, QueryError
from everytree.query.query import Query
from everytree.space.tree_space import TreeSpace

RANKINGS = [
    ("error",),
    ("error", "size"),
    ("error", "depth"),
    ("error", "size", "depth"),
    ("error", "depth", "size"),
    ("size", "error"),
    ("depth", "error"),
    ("size", "depth", "error"),
    ("depth", "size", "error"),
    ("size", "error", "depth"),
    ("depth", "error", "size"),
]


def random_data(seed: int, n_classes: int = 2) -> tuple[list[list[int]], list[int], list[int]]:
    """A small table with weights; the class follows two of the tests, with noise."""
    rng = Random(seed)
    n, n_tests = rng.randrange(6, 20), rng.randrange(2, 5)
    X = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n)]
    y = [(row[0] + row[1] + (rng.random() < 0.3)) % n_classes for row in X]
    return X, y, [rng.randrange(1, 4) for _ in range(n)]


def both(
    seed: int, max_depth: int | None, min_leaf: int, n_classes: int = 2, leaf: int = 1
) -> tuple[TreeSpace, reference.Space]:
    """The same space twice; ``leaf`` tightens the reference's minimum leaf size only."""
    X, y, w = random_data(seed, n_classes)
    space = TreeSpace(X, y, max_depth, min_leaf, sample_weight=w, classes=range(n_classes))
    table = reference.Table.from_data(X, y, n_classes, w)
    return space, reference.Space(table, max_depth, max(min_leaf, leaf))


def values(tree: Any, ranking: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(getattr(tree, name) for name in ranking)


@pytest.mark.parametrize("ranking", RANKINGS, ids="-".join)
@pytest.mark.parametrize("seed", range(40))
def test_rankings_and_constraints(ranking: tuple[str, ...], seed: int) -> None:
    rng = Random(f"{ranking} {seed}")
    max_depth, min_leaf, n_classes = rng.choice([1, 2, 3, 4]), rng.choice([1, 2, 3]), rng.choice([2, 3])
    leaf = rng.choice([None, None, 2, 5])
    space, twin = both(seed, max_depth, min_leaf, n_classes, leaf or 1)
    least = reference.best(twin, reference.Query(rank=("error",)))[0].rank[0]
    bounds: dict[str, Any] = {
        "max_size": rng.choice([None, None, 1, 2, 3, 5, 6, 7]),
        "max_leaves": rng.choice([None, None, None, 1, 2, 3, 4]),
        "max_depth": rng.choice([None, None, 0, 1, 2]),
        "max_error": rng.choice([None, least - 1, least, least + 1, least + 2]),
    }
    if ranking[0] != "error" and all(bound is None for bound in bounds.values()):
        bounds["max_error"] = least + 1
    try:
        wanted = reference.best(twin, reference.Query(rank=ranking, **bounds))[0].rank
    except reference.NoTreeError:
        with pytest.raises(QueryError, match="no tree"):
            space.best(ranking, leaf=leaf, **bounds)
        return
    tree = space.best(ranking, leaf=leaf, **bounds)
    assert values(tree, ranking) == wanted, f"{bounds}, leaf={leaf}"
    assert tree.nested in twin
    assert reference.satisfies(tree.nested, twin, reference.Query(rank=("error",), **bounds))


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("max_error_above_least", [None, 0, 1, 3])
def test_the_k_best_within_an_error(seed: int, max_error_above_least: int | None) -> None:
    """Fewer than k where fewer satisfy the bound."""
    space, twin = both(seed, 3, 2, 2)
    least = reference.best(twin)[0].rank[0]
    bound = None if max_error_above_least is None else int(least + max_error_above_least)
    found = reference.best(twin, reference.Query(rank=("error", "size"), max_error=bound), k=10)
    trees = space.best(("error", "size"), k=10, max_error=bound)
    assert [values(tree, ("error", "size")) for tree in trees] == [answer.rank for answer in found]
    assert len({tree.key for tree in trees}) == len(trees)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("penalty", [0.0, 0.3, 1.0, 2.5])
@pytest.mark.parametrize("max_depth", [2, 4, None])
def test_a_price_per_leaf(seed: int, penalty: float, max_depth: int | None) -> None:
    """The regularised objective error + λ · leaves."""
    space, twin = both(seed, max_depth, 1, 3)
    query = reference.Query(rank=("penalised_error",), penalty=penalty)
    (answer,) = reference.best(twin, query)
    tree = space.best("error", leaf_penalty=penalty)
    assert tree.error + penalty * tree.n_leaves == pytest.approx(answer.rank[0], rel=1e-12)
    assert tree.info["objective"] == pytest.approx(answer.rank[0], rel=1e-12)
    trees = space.best("error", leaf_penalty=penalty, k=5)
    wanted = [answer.rank[0] for answer in reference.best(twin, query, k=5)]
    assert [tree.error + penalty * tree.n_leaves for tree in trees] == pytest.approx(wanted, rel=1e-9)


def test_a_price_per_leaf_is_in_the_objective_not_in_the_error() -> None:
    space, _ = both(1, 3, 1)
    tree = space.best("error", leaf_penalty=0.7)
    assert tree.info.get("error", tree.error) == tree.error == tree.counts[tree.leaves].min(axis=1).sum()
    assert tree.info["objective"] == pytest.approx(tree.error + 0.7 * tree.n_leaves)


def test_an_error_bound_bounds_the_error_also_with_a_price_per_leaf() -> None:
    space, twin = both(1, 3, 1)
    least = int(reference.best(twin)[0].rank[0])
    tree = space.best("error", max_error=least, leaf_penalty=0.01)
    assert tree.error == least


@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e10])
def test_the_scale_of_costs_does_not_change_the_order_of_the_k_best(scale: float) -> None:
    """Size breaks ties of cost, however small or large the costs are."""
    space, twin = both(5, 3, 1)
    found = reference.best(twin, reference.Query(rank=("error", "size")), k=40)
    trees = space.best(("cost", "size"), k=40, cost_matrix=scale * (1 - np.eye(2)))
    assert [values(tree, ("error", "size")) for tree in trees] == [answer.rank for answer in found]


@pytest.mark.parametrize("cost", ["expected_error", "gini", "entropy"])
@pytest.mark.parametrize("seed", range(10))
def test_other_costs_under_a_size_bound(cost: str, seed: int) -> None:
    space, twin = both(seed, 3, 1, 3)
    for max_size in (1, 3, 5, 9):
        (answer,) = reference.best(twin, reference.Query(rank=(cost,), max_size=max_size))
        tree = space.best((cost, "size"), max_size=max_size)
        assert tree.size <= max_size
        assert tree.info["objective"] == pytest.approx(answer.rank[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("confidence", [0.01, 0.25, 0.5, 0.9])
def test_the_confidence_of_the_expected_error(confidence: float) -> None:
    for seed in range(10):
        space, twin = both(seed, 3, 1)
        (answer,) = reference.best(twin, reference.Query(rank=("expected_error",), cf=confidence))
        tree = space.best("expected_error", confidence=confidence)
        assert tree.info["objective"] == pytest.approx(answer.rank[0], rel=1e-9)


def test_a_cost_matrix_of_errors_is_the_error() -> None:
    space, _ = both(3, 3, 1, 3)
    tree = space.best("cost", cost_matrix=1 - np.eye(3))
    assert tree.info["objective"] == space.best("error").error
    assert [point[:2] for point in space.front("cost", 1 - np.eye(3))] == [p[:2] for p in space.front()]


def test_the_questions_of_dl8_s_introduction() -> None:
    """Most accurate with large leaves; k of them; smallest, and shallowest, with an accuracy."""
    space, twin = both(11, 4, 1, 2)
    assert space.best(leaf=4).error == reference.best(reference.Space(twin.table, 4, 4))[0].rank[0]
    assert len(space.best(leaf=4, k=3)) == 3
    least = int(reference.best(twin)[0].rank[0])
    for max_error in range(least, least + 4):
        query = reference.Query(rank=("size", "error"), max_error=max_error)
        smallest = space.best(("size", "error"), max_error=max_error)
        assert (smallest.size, smallest.error) == reference.best(twin, query)[0].rank
        query = reference.Query(rank=("depth", "error"), max_error=max_error)
        shallowest = space.best(("depth", "error"), max_error=max_error)
        assert (shallowest.depth, shallowest.error) == reference.best(twin, query)[0].rank


def test_k_one_gives_a_tree_and_k_two_a_list() -> None:
    space, _ = both(1, 2, 1)
    assert space.best(k=1).key == space.best().key
    assert next(tree.key for tree in space.best(k=2)) == space.best().key
    single = TreeSpace([[0], [0]], [0, 1], 2)
    assert [tree.key for tree in single.best(k=5)] == [(-1,)]


def test_more_trees_than_there_are() -> None:
    space, twin = both(2, 2, 1)
    for k in (10**4, 10**9):
        assert len(space.best(k=k)) == twin.count()
    with pytest.raises(QueryError, match="k=1000000000000 is too large"):
        space.best(k=10**12)


# Messages ---------------------------------------------------------------------------------------------------

SPACE = TreeSpace([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, [0, 1, 1, 0] * 5, max_depth=2)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({"minimize": "accuracy"}, r"'accuracy' is unknown; expected criteria among error"),
        ({"minimize": ()}, r"expected at least one of error"),
        ({"minimize": "size"}, r"expected at least one of error"),
        ({"minimize": ("error", "error")}, r"names a criterion twice"),
        ({"k": 0}, r"k=0; expected a whole number"),
        ({"k": 1.5}, r"k=1.5; expected a whole number"),
        ({"k": True}, r"k=True; expected a whole number"),
        ({"max_size": 0}, r"max_size=0; expected a whole number"),
        ({"max_size": 2.5}, r"max_size=2.5; expected a whole number"),
        ({"max_leaves": 0}, r"max_leaves=0; expected a whole number"),
        ({"max_depth": -1}, r"max_depth=-1; expected a whole number"),
        ({"leaf": 0}, r"leaf=0; expected a whole number"),
        ({"leaf": 21}, r"no tree has ≥ 21 examples in every leaf; the most is 20"),
        ({"max_error": -1}, r"no tree reaches error ≤ -1; the least is 0"),
        (
            {"max_error": 0, "max_size": 5},
            r"no tree with ≤ 5 nodes reaches error ≤ 0; the least is 5; or relax max_size=5 to 7$",
        ),
        ({"minimize": "cost"}, r"needs cost_matrix"),
        ({"minimize": "cost", "cost_matrix": [[1]]}, r"cost_matrix.*expected.*2"),
        ({"minimize": "cost", "cost_matrix": [[0, np.nan], [1, 0]]}, r"cost_matrix.*nan.*expected"),
        ({"minimize": "expected_error", "confidence": 0}, r"confidence=0; expected .*between 0 and 1"),
        ({"minimize": "expected_error", "confidence": 1}, r"confidence=1; expected .*between 0 and 1"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_messages(query: dict[str, Any], message: str) -> None:
    with pytest.raises(QueryError, match=message):
        SPACE.best(**query)


@pytest.mark.parametrize("first", ["size", "depth"])
def test_size_or_depth_before_the_error_needs_a_bound(first: str) -> None:
    """Without one, the answer would always be the single leaf."""
    with pytest.raises(QueryError, match="max_error"):
        SPACE.best((first, "error"))


def test_depth_in_a_ranking_without_a_depth_limit() -> None:
    space, twin = both(4, None, 2)
    ranking = ("error", "depth", "size")
    (answer,) = reference.best(twin, reference.Query(rank=ranking))
    assert values(space.best(ranking), ranking) == answer.rank


@pytest.mark.parametrize("penalty", [np.nan, np.inf, -np.inf])
def test_a_price_that_is_no_number_is_refused(penalty: float) -> None:
    """Run apart from the others: if it is let through, the interpreter may not survive."""
    with pytest.raises(QueryError, match="leaf_penalty"):
        Query("error", leaf_penalty=penalty)


def test_costs_that_overflow_are_refused() -> None:
    """A finite matrix whose sums are not finite."""
    with pytest.raises(QueryError, match="cost_matrix"):
        SPACE.best("cost", cost_matrix=[[0, 1e308], [1e308, 0]])


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"k": "a"}, "k"),
        ({"max_size": "a"}, "max_size"),
        ({"max_depth": [1]}, "max_depth"),
        ({"max_error": "a"}, "max_error"),
        ({"max_error": np.nan}, "max_error"),
        ({"leaf": "a"}, "leaf"),
        ({"leaf_penalty": "a"}, "leaf_penalty"),
        ({"minimize": "expected_error", "confidence": "a"}, "confidence"),
        ({"minimize": "cost", "cost_matrix": "abc"}, "cost_matrix"),
        ({"minimize": 5}, "minimize"),
        ({"minimize": None}, "minimize"),
    ],
    ids=lambda value: str(value)[:50],
)
def test_values_of_the_wrong_type_are_named(query: dict[str, Any], name: str) -> None:
    with pytest.raises(EverytreeError, match=name):
        SPACE.best(**query)


def test_an_unknown_keyword_is_named() -> None:
    with pytest.raises((TypeError, QueryError), match=r"best.*'bogus'"):
        SPACE.best(bogus=1)


def test_front_messages() -> None:
    with pytest.raises(QueryError, match="'accuracy' is not a cost of leaves; expected one of error"):
        SPACE.front("accuracy")
    with pytest.raises(QueryError, match="needs cost_matrix"):
        SPACE.front("cost")


def test_negative_costs_are_searched_to_the_end() -> None:
    """A leaf that earns something is not proved best by that alone."""
    X = [[0, 1, 1], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1], [1, 0, 0]]
    tree = TreeSpace(X, [1, 0, 0, 0, 0, 1, 0, 0, 0], 3, 1).best("cost", cost_matrix=[[-1, 1], [1, -2]])
    assert tree.info["objective"] == -11


def test_weights_that_print_alike_are_different_questions() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, (30, 4)), rng.integers(0, 2, 30)
    weights = [np.array([0.333333333, 1.0]), np.array([0.3333333331, 1.0])]
    space = TreeSpace(X, y, 2)
    for weight in weights:
        fresh = TreeSpace(X, y, 2).best("error", class_weight=weight)
        assert space.best("error", class_weight=weight).info["objective"] == fresh.info["objective"]


def test_a_criterion_that_is_no_text_is_refused():
    with pytest.raises(QueryError, match=r"\['error'\] is unknown; expected criteria among error"):
        Query((["error"], "size"))
