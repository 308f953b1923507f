"""Strategies as a user meets them: the keyword, what the tree says of its search, limits, and the comparison."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
import pytest

import everytree as et
from everytree import _core
from everytree.query.compare_strategies import StrategyRun, compare_strategies
from everytree.query.strategies import STRATEGIES

MINERS = [name for name in STRATEGIES if name != "auto"]


def noise(n: int = 400, n_tests: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (n, n_tests)).astype(np.uint8), rng.integers(0, 2, n)


@pytest.fixture(scope="module")
def space() -> et.TreeSpace:
    rng = np.random.default_rng(3)
    X = rng.integers(0, 2, (60, 7))
    return et.TreeSpace(X, (X[:, 0] & X[:, 2]) ^ (rng.random(60) < 0.1), max_depth=4, min_leaf=3)


@pytest.mark.parametrize("strategy", MINERS)
def test_the_tree_says_how_it_was_found(space: et.TreeSpace, strategy: str) -> None:
    tree = space.best(strategy=strategy)
    info = tree.info
    assert info["strategy"] == strategy
    assert info["objective"] == tree.error == space.best().error
    assert tree.key == space.best().key  # ties go to the same tree: fewer leaves, then the lowest test
    assert info["counted"] >= info["itemsets"] > 0
    assert info["bytes"] >= 16 * info["states"]  # a result is two numbers and a test
    assert 0 <= info["seconds_mining"] <= info["seconds_total"] < 60
    assert ("relevant" in info) == (not strategy.startswith("closed"))
    assert (info["seconds_mining"] == 0) == (strategy in ("simple", "closed"))


def test_relevancy_and_closures_store_less(space: et.TreeSpace) -> None:
    itemsets = {strategy: space.best(strategy=strategy).info["itemsets"] for strategy in MINERS}
    assert itemsets["closed"] < itemsets["simple"] == itemsets["apriori"] == itemsets["eclat"]
    assert itemsets["apriori"] < itemsets["frequent"] == itemsets["eclat_frequent"]
    assert itemsets["closed"] <= itemsets["closed_frequent"] < itemsets["frequent"]


@pytest.mark.parametrize("strategy", MINERS)
def test_bounds_of_the_query_hold(space: et.TreeSpace, strategy: str) -> None:
    for bounds in ({"max_depth": 2}, {"leaf": 9}, {"max_depth": 3, "leaf": 5}, {"max_depth": 0}):
        tree, expected = space.best(**bounds, strategy=strategy), space.best(**bounds)
        assert (tree.error, tree.size) == (expected.error, expected.size)
    with pytest.raises(et.QueryError, match=r"error ≤ 0; the least is"):
        space.best(max_error=0, max_depth=1, strategy=strategy)
    with pytest.raises(et.QueryError, match="≥ 61 examples in every leaf; the most is 60"):
        space.best(leaf=61, strategy=strategy)


@pytest.mark.parametrize("strategy", MINERS)
@pytest.mark.parametrize(
    "query",
    [
        {"minimize": ("size", "error"), "max_error": 10},
        {"minimize": ("error", "depth")},
        {"max_size": 3},
        {"max_leaves": 3},
        {"max_error": 30, "leaf_penalty": 1},
        {"minimize": ("expected_error", "depth", "size"), "min_accuracy": 0.7, "require": [3]},
    ],
)
def test_every_query_has_the_engines_answer(
    space: et.TreeSpace, query: dict[str, Any], strategy: str
) -> None:
    tree, expected = space.best(**query, strategy=strategy), space.best(**query)
    assert tree.info["objective"] == pytest.approx(expected.info["objective"])
    assert (tree.size, tree.depth) == (expected.size, expected.depth)
    assert tree.info["strategy"] == strategy
    assert tree.info["optimal"]
    few = space.best(**query, k=3, strategy=strategy)
    assert [each.info["objective"] for each in few] == pytest.approx(
        [each.info["objective"] for each in space.best(**query, k=3)]
    )


def test_apriori_stops_at_the_first_level_with_an_answer() -> None:
    """The root split halves the errors; a deeper level would multiply the itemsets."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, 2, (200, 8))
    y = X[:, 4] ^ (rng.random(200) < 0.1)
    space = et.TreeSpace(X, y, max_depth=None, min_leaf=4)
    query = et.Query(("depth", "error"), min_accuracy=0.8)
    shallow, all_levels = space.best(query, strategy="apriori"), space.best(query, strategy="eclat")
    assert (
        (shallow.depth, shallow.error) == (all_levels.depth, all_levels.error) == (1, space.best(query).error)
    )
    assert shallow.info["itemsets"] == 1 + 2 * 8 < all_levels.info["itemsets"] / 50
    nothing = space.best(et.Query(("depth", "error"), min_accuracy=0.1), strategy="apriori")
    assert (nothing.depth, nothing.info["itemsets"]) == (0, 1)
    # Where no level has an answer, all of them are mined, and the message is the engine's.
    with pytest.raises(et.NoTreeError, match="accuracy"):
        space.best(("depth", "error"), min_accuracy=1, max_depth=2, strategy="apriori")


def test_bounds_keep_lists_short() -> None:
    """Bounds prune inside: a tighter one stores no more."""
    X, y = noise(120, 6)
    space = et.TreeSpace(X, y, 4, 3)
    for strategy in MINERS:
        wide, tight = (
            space.best(("error", "size"), max_size=size, strategy=strategy).info["bytes"] for size in (31, 3)
        )
        assert tight <= wide


@pytest.mark.parametrize("strategy", ["dl8", "", "Apriori", None])
def test_unknown_strategies_are_refused(space: et.TreeSpace, strategy: Any) -> None:
    with pytest.raises(
        et.QueryError, match="expected one of auto, simple, frequent, apriori, eclat, closed, "
    ):
        space.best(strategy=strategy)
    with pytest.raises(et.QueryError, match="expected one of auto"):
        compare_strategies(space, [strategy])


@pytest.mark.parametrize("strategy", MINERS)
def test_limits(strategy: str) -> None:
    X, y = noise()
    hurried = et.TreeSpace(X, y, None, 2, time_limit=0.2)
    start = time.perf_counter()
    with pytest.raises(et.LimitReached, match=f"time limit .* strategy '{strategy}' .* try max_depth=4"):
        hurried.best(strategy=strategy)
    assert 0.15 < time.perf_counter() - start < 0.8
    narrow = et.TreeSpace(X, y, None, 2, memory_limit=2**20)
    with pytest.raises(et.LimitReached, match=r"memory limit .* try max_depth=4"):
        narrow.best(strategy=strategy)


@pytest.mark.parametrize("strategy", MINERS)
def test_progress_and_stop(strategy: str) -> None:
    X, y = noise()
    stages: set[str] = set()

    def progress(stage: str, done: int, total: int, seconds: float) -> None:
        stages.add(stage)
        assert 0 < done <= total

    space = et.TreeSpace(X, y, None, 2, time_limit=20, progress=progress)
    threading.Timer(0.25, space.stop).start()
    with pytest.raises(et.LimitReached, match="stopped"):
        space.best(strategy=strategy)
    assert stages & {"mining itemsets", "building the tree"}


@pytest.mark.parametrize("strategy", MINERS)
def test_degenerate_tables(strategy: str) -> None:
    for X, y in (
        (np.zeros((3, 0), np.uint8), [0, 1, 1]),  # no test
        (np.zeros((3, 2), np.uint8), [0, 1, 1]),  # tests that split nothing
        (np.eye(3, dtype=np.uint8), [1, 1, 1]),  # one class
        (np.array([[0]]), [0]),
        (np.eye(70, dtype=np.uint8), [0] * 69 + [1]),  # rows longer than a word
    ):
        space = et.TreeSpace(X, y, 2)
        tree, expected = space.best(strategy=strategy), space.best()
        assert (tree.error, tree.size) == (expected.error, expected.size)


def test_the_core_checks_what_it_is_given(space: et.TreeSpace) -> None:
    control = space.limits.control()
    table = space.core_table()
    cost = _core.LeafCost("error", 2)

    def ask(strategy: str, cost: _core.LeafCost, min_leaf: int = 1, **given: Any) -> None:
        parts = {"rank": [0, 1], "bounds": [], "required": [], "k": 1} | given
        _core.mine(table, strategy, ([cost], *parts.values()), 2, min_leaf, control)

    with pytest.raises(et.DataError, match="unknown strategy"):
        ask("auto", cost)
    with pytest.raises(et.DataError, match="for 3 classes; the table has 2"):
        ask("closed", _core.LeafCost("error", 3))
    with pytest.raises(et.DataError, match="min_leaf is 0"):
        ask("closed", cost, 0)
    with pytest.raises(et.DataError, match="the ranking names criterion 3"):
        ask("closed", cost, rank=[3])
    with pytest.raises(et.DataError, match="a bound names criterion 4"):
        ask("closed", cost, bounds=[(4, 1.0)])
    with pytest.raises(et.DataError, match="k must be at least 1"):
        ask("closed", cost, k=0)
    with pytest.raises(et.DataError, match="one entry per test"):
        ask("closed", cost, required=[1])


# compare_strategies -----------------------------------------------------------------------------------------


def test_the_comparison_has_a_record_for_every_run(space: et.TreeSpace) -> None:
    runs = compare_strategies(space, min_leaf=[3, 12, 6, 6])
    assert [(run.min_leaf, run.strategy) for run in runs] == [(m, s) for m in (12, 6, 3) for s in STRATEGIES]
    for size in (12, 6, 3):
        same = [run for run in runs if run.min_leaf == size]
        assert len({(run.objective, run.size) for run in same}) == 1
        assert all(run.stopped is None and run.max_depth == 4 for run in same)
        assert all(run.seconds_total is not None and run.seconds_total > 0 for run in same)
        assert all(
            run.itemsets is not None and run.bytes is not None for run in same if run.strategy != "auto"
        )
    frequent = [run.itemsets for run in runs if run.strategy == "frequent"]
    assert frequent == sorted(frequent)  # fewer examples, more itemsets


def test_the_comparison_takes_a_query(space: et.TreeSpace) -> None:
    runs = compare_strategies(space, ("auto", "closed"), 5, minimize="gini", leaf_penalty=0.5)
    expected = space.best("gini", leaf=5, leaf_penalty=0.5)
    assert [run.objective for run in runs] == pytest.approx([expected.info["objective"]] * 2)
    assert compare_strategies(space, "eclat")[0].min_leaf == space.min_leaf


def test_a_strategy_that_reaches_a_limit_is_not_tried_again() -> None:
    X, y = noise()
    space = et.TreeSpace(X, y, None, 2)
    runs = compare_strategies(space, ["simple", "frequent"], [150, 3, 2], time_limit=0.3)
    by = {(run.strategy, run.min_leaf): run for run in runs}
    assert by["simple", 150].stopped is None
    assert by["simple", 3] == StrategyRun("simple", 3, None, stopped="time limit")
    assert by["simple", 2].stopped == "not tried after: time limit"
    narrow = compare_strategies(space, ["closed"], 2, memory_limit=2**20)
    assert [run.stopped for run in narrow] == ["memory limit"]


@pytest.mark.parametrize("sizes", [0, "x", [3, -1], [2.5]])
def test_bad_sizes_are_refused(space: et.TreeSpace, sizes: Any) -> None:
    with pytest.raises(et.QueryError, match=r"min_leaf=.*expected a whole number ≥ 1"):
        compare_strategies(space, min_leaf=sizes)
