"""The best tree with fixed nodes, against all trees of the reference that have these nodes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent / "against_reference"))
from test_local_product import KINDS, Case

import everytree as et
import everytree.reference as ref
from everytree.errors import NoTreeError, QueryError
from everytree.reference.criteria import value_of
from everytree.reference.queries import satisfies

COSTS = ("error", "gini", "entropy", "expected_error")


def agrees(tree: Any, fixed: dict[tuple[int, ...], int | None], path: tuple[int, ...] = ()) -> bool:
    """Whether a nested tree (test, zero, one) has the fixed nodes."""
    if path in fixed and (tree[0] if tree is not None else None) != fixed[path]:
        return False
    return tree is None or all(agrees(tree[1 + k], fixed, (*path, k)) for k in (0, 1))


def holds_all(tree: Any, fixed: dict[tuple[int, ...], int | None]) -> bool:
    """Whether a tree has every fixed node at all, and as it is fixed."""
    for path in fixed:
        node = tree
        for step in path:
            if node is None:
                return False
            node = node[1 + step]
    return agrees(tree, fixed)


def random_fixed(tree: Any, other: Any, rng: np.random.Generator) -> dict[tuple[int, ...], int | None]:
    """The top of one tree down to a random node, where another tree decides what is asked."""
    fixed: dict[tuple[int, ...], int | None] = {}
    path: tuple[int, ...] = ()
    while tree is not None and rng.random() < 0.6:
        fixed[path] = tree[0]
        step = int(rng.integers(0, 2))
        tree, path = tree[1 + step], (*path, step)
    fixed[path] = None if rng.random() < 0.3 or other is None else other[0]
    return fixed


def checked(
    space: et.TreeSpace, twin: Any, fixed: dict[tuple[int, ...], int | None], cost: str, **more: Any
) -> None:
    """Compare with the least of all trees that have the fixed nodes; with none, with a refusal."""
    query = ref.Query((cost, "size"), max_size=more.get("max_size"))
    required = set(more.get("require", ()))

    def tests_of(tree: Any) -> set[int]:
        return set() if tree is None else {tree[0]} | tests_of(tree[1]) | tests_of(tree[2])

    listed = [
        (value_of(cost, tree, twin.table, query), value_of("size", tree, twin.table, query))
        for tree in twin.enumerate_trees(400_000)
        if holds_all(tree, fixed) and satisfies(tree, twin, query) and required <= tests_of(tree)
    ]
    if not listed:
        with pytest.raises((NoTreeError, QueryError)):
            space.best_with(fixed, (cost, "size"), **more)
        return
    found = space.best_with(fixed, (cost, "size"), **more)
    assert holds_all(found.nested, fixed)
    assert found.info["optimal"]
    least = min(listed)
    assert found.info["objective"] == pytest.approx(float(least[0]), abs=1e-9)
    close = [size for value, size in listed if abs(float(value) - float(least[0])) < 1e-9]
    assert found.size == min(close)


@pytest.mark.parametrize("seed", range(60))
def test_of_all_trees_with_these_nodes_it_is_the_best(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, tests, classes = int(rng.integers(6, 30)), int(rng.integers(1, 5)), int(rng.integers(2, 4))
    X, y = rng.integers(0, 2, (n, tests)), rng.integers(0, classes, n)
    depth, least = (None if seed % 7 == 0 and tests < 3 else int(rng.integers(0, 4))), int(rng.integers(1, 3))
    space = et.TreeSpace(X, y, max_depth=depth, min_leaf=least, classes=range(classes))
    twin = ref.Space(
        ref.Table.from_data(X.tolist(), y.tolist(), n_classes=classes), max_depth=depth, min_leaf=least
    )
    trees = list(twin.enumerate_trees(400_000))
    for cost in COSTS:
        first, other = (trees[int(rng.integers(0, len(trees)))] for _ in range(2))
        fixed = random_fixed(first, other, rng)
        checked(space, twin, fixed, cost)
        checked(space, twin, fixed, cost, max_size=int(rng.integers(1, 12)))
        if cost == "error":
            checked(space, twin, fixed, cost, require=[int(rng.integers(0, tests))])
            checked(
                space,
                twin,
                fixed,
                cost,
                require=list(range(min(2, tests))),
                max_size=int(rng.integers(3, 12)),
            )


@pytest.mark.parametrize("kinds", ["numbers", "mixed"])
@pytest.mark.parametrize("bins", [2, 3, "all"])
@pytest.mark.parametrize("depth", [1, 2, 3, None])
@pytest.mark.parametrize("seed", range(4))
def test_where_nodes_choose_their_own_cuts(kinds: str, bins: Any, depth: int | None, seed: int) -> None:
    rng = np.random.default_rng(seed)
    name = sorted(KINDS)[(seed + (kinds == "mixed")) % len(KINDS)]
    case = Case(name, bins, depth, 1 + seed % 2, 100 + seed)
    trees = list(case.twin.enumerate_trees(400_000))
    for cost in COSTS[:2]:
        for _ in range(3):
            # All of its nodes are those of one tree, because a person may also cut where no state offers it (below).
            fixed = random_fixed(trees[int(rng.integers(0, len(trees)))], None, rng)
            checked(case.space, case.twin, fixed, cost)


def best_below(twin: Any, state: int, depth: int, cost: str) -> float:
    """The least cost below a state, by recursion over the tests that it offers."""
    query = ref.Query((cost,))
    least = float(value_of(cost, None, ref.Table([()], [twin.table.class_counts(state)]), query))
    for test in twin.feasible(state, depth):
        zero, one = twin.table.children(state, test)
        least = min(least, best_below(twin, zero, depth + 1, cost) + best_below(twin, one, depth + 1, cost))
    return least


@pytest.mark.parametrize("seed", range(8))
def test_a_cut_that_no_state_offers(seed: int) -> None:
    """A person may cut anywhere, whatever bins the space makes; below it every state offers what it always offers."""
    rng = np.random.default_rng(seed)
    n = 12
    rows = [
        [float(v), str(c)] for v, c in zip(rng.integers(0, 9, n), rng.choice(list("xyz"), n), strict=True)
    ]
    rows[0][0], rows[1][0] = 0.0, 8.0
    y = [0, 1, *rng.integers(0, 2, n - 2).tolist()]
    frame = pd.DataFrame({"a": [row[0] for row in rows], "c": [row[1] for row in rows]})
    for depth in (1, 2, 3):
        space = et.TreeSpace.from_frame(frame, y, bins=2, max_depth=depth, min_leaf=1)
        twin = ref.LocalSpace(ref.ColumnTable.from_data(rows, y, bins=2), max_depth=depth, min_leaf=1)
        tests = space.node_tests()
        assert len([each for each in tests if each.name.startswith("a <=")]) == frame.a.nunique() - 1
        for each in tests:
            found = space.best_with({"": each.test})
            zero, one = twin.table.children(twin.root, each.test)
            wanted = best_below(twin, zero, 1, "error") + best_below(twin, one, 1, "error")
            assert found.error == found.info["objective"] == wanted
            assert found.node_name(0) == each.name
            assert found.counts[found.children[0, 1]].tolist() == list(each.yes)
            below = space.node_tests([(each.test, 1)])
            assert depth > 1 or below == []
            for lower in below[:3]:
                again = space.best_with({"": each.test, "1": lower.test, "10": None})
                low, high = twin.table.children(one, lower.test)
                counts = twin.table.class_counts(low)
                wanted = best_below(twin, zero, 1, "error") + best_below(twin, high, 2, "error")
                assert again.error == wanted + sum(counts) - max(counts)
                assert again.node_name(int(again.children[0, 1])) == lower.name


def test_names_and_numbers_to_cut_near() -> None:
    frame = pd.DataFrame({"age": [20, 30, 40, 50, 60, 70], "sex": list("mfmfmf")})
    y = [0, 0, 1, 1, 0, 1]
    for cuts, near in (("local", "age <= 35"), ("global", "age <= 35")):
        space = et.TreeSpace.from_frame(frame, y, bins=6, cuts=cuts, max_depth=2)
        assert space.best_with({"": ("age", 33)}).node_name(0) == near
        assert space.best_with({"": near, "1": "sex == m"}).node_name(0) == near
        for fixed, words in (
            ({"": "weight <= 3"}, "cannot ask"),
            ({"": ("sex", 3)}, "no cut of"),
            ({"": 999}, "number of a test"),
            ({"": True}, "a test, or None"),
            ({"1": 0}, "not every node above"),
            ({"2": 0}, "outcomes from the root"),
            ({"": None, "1": 0}, "not every node above"),
            ([], "tests by path"),
        ):
            with pytest.raises(QueryError, match=words):
                space.best_with(fixed)
        with pytest.raises(QueryError, match="no other ranking"):
            space.best_with({}, ("size", "error"), max_size=3)
        with pytest.raises(QueryError, match="max_error"):
            space.best_with({}, max_error=1)


def test_no_fixed_node_is_the_best_of_all() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.integers(0, 2, (80, 6)), rng.integers(0, 3, 80)
    space = et.TreeSpace(X, y, max_depth=3, min_leaf=2)
    for options in (
        {},
        {"class_weight": "balanced"},
        {"leaf_penalty": 0.5},
        {"max_leaves": 4},
        {"forbid": [0]},
    ):
        one, other = space.best_with({}, **options), space.best(**options)
        assert one.info["objective"] == pytest.approx(other.info["objective"])
        assert one.size == other.size
    weighed = space.best_with({"": 2}, class_weight="balanced", leaf_penalty=0.25)
    parts = [
        space.best_with({"": 2}, class_weight="balanced", leaf_penalty=0.25, max_leaves=k) for k in (2, 8)
    ]
    assert parts[1].info["objective"] == pytest.approx(weighed.info["objective"])
    assert parts[0].n_leaves <= 2


def test_a_search_that_is_stopped_is_not_proved() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 60)), rng.integers(0, 2, 400)
    space = et.TreeSpace(X, y, max_depth=7, time_limit=0.3)
    found = space.best_with({"": 3})
    assert not found.info["optimal"]
    assert found.info["stop_reason"] == "time limit"
    assert found.info["lower_bound"] <= found.info["objective"] == found.error
    assert found.test[0] == 3
