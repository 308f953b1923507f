"""The words of the query language, one by one, against a list of every tree.

Fronts, required and forbidden tests, class weights, bounds on any cost, prices of leaves under bounds; and the five
problems of DL8's introduction.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from random import Random
from typing import Any

import pytest
from test_query_product import Case, close

from everytree import reference
from everytree.errors import NoTreeError
from everytree.query.query import Query
from everytree.reference.criteria import value_of
from everytree.reference.greedy_traps import MISLED_XOR, UNBALANCED_PAIR, greedy_root
from everytree.space.tree_space import TreeSpace
from everytree.weights.constraints import ChiSquare, Margin, Support


def small(seed: int, n_classes: int = 2, n_tests: int = 4) -> tuple[TreeSpace, reference.Space]:
    """A space of some hundred or thousand trees, twice."""
    rng = Random(seed)
    n = rng.randrange(6, 13)
    X = [[rng.randrange(2) for _ in range(n_tests)] for _ in range(n)]
    y = [(row[0] + row[1] + (rng.random() < 0.3)) % n_classes for row in X]
    w = [rng.randrange(1, 4) for _ in range(n)]
    depth, min_leaf = rng.choice([1, 2, 2, None]), rng.choice([2, 4, 5])
    space = TreeSpace(X, y, depth, min_leaf, sample_weight=w, classes=range(n_classes))
    return space, reference.Space(reference.Table.from_data(X, y, n_classes, w), depth, min_leaf)


def every(twin: reference.Space) -> list[reference.Tree]:
    return list(twin.enumerate_trees(20_000))


def value(name: str, tree: reference.Tree, twin: reference.Space, **settings: Any) -> Any:
    return value_of(name, tree, twin.table, reference.Query(rank=("error",), **settings))


def used_tests(tree: Any) -> set[int]:
    return set() if tree is None else {tree[0]} | used_tests(tree[1]) | used_tests(tree[2])


# Fronts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["size", "leaves", "depth"])
@pytest.mark.parametrize("cost", ["error", "expected_error", "cost"])
def test_fronts(by: str, cost: str) -> None:
    found = empty = 0
    for seed in range(40_000, 40_040):
        space, twin, ours, theirs, _ = Case(seed, (cost,)).draw()
        words = {
            name: getattr(ours, name) for name in ("max_size", "max_leaves", "max_depth", "max_error", "leaf")
        }
        words |= {"min_accuracy": ours.min_accuracy, "cost_matrix": ours.cost_matrix}
        try:
            wanted = [(float(p.at), float(p.value)) for p in reference.front(twin, theirs, by)]
        except reference.NoTreeError:
            empty += 1
            with pytest.raises(NoTreeError):
                space.front(cost, by=by, **words)
            continue
        found += 1
        points = space.front(cost, by=by, **words)
        assert close([point[:2] for point in points], wanted), f"{ours} {space}"
        for at, least, tree in points:
            assert {"size": tree.size, "leaves": tree.n_leaves, "depth": tree.depth}[by] <= at
            assert float(value_of(cost, tree.nested, twin.table, theirs)) == pytest.approx(least, rel=1e-9)
            assert tree.nested in twin
            assert reference.satisfies(tree.nested, twin, theirs)
    assert found > 10
    assert empty > 2


# Required and forbidden tests -------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [1, 3, 30])
@pytest.mark.parametrize("ranking", [("error", "size"), ("size", "error"), ("error", "depth")], ids="-".join)
def test_required_and_forbidden_tests(ranking: tuple[str, ...], k: int) -> None:
    none = 0
    for seed in range(30):
        rng = Random(f"{seed} {ranking}")
        space, twin = small(seed, rng.choice([2, 3]))
        require = rng.sample(range(4), rng.choice([0, 1, 1, 2]))
        forbid = rng.sample([t for t in range(4) if t not in require], rng.choice([0, 1, 2]))
        max_error = None if rng.random() < 0.5 and ranking[0] == "error" else int(twin.table.n_examples * 0.6)
        fit = [
            tree
            for tree in every(twin)
            if set(require) <= used_tests(tree)
            and not set(forbid) & used_tests(tree)
            and (max_error is None or value("error", tree, twin) <= max_error)
        ]
        wanted = sorted(tuple(float(value(name, tree, twin)) for name in ranking) for tree in fit)[:k]
        query = Query(ranking, require=require, forbid=forbid, max_error=max_error)
        if not wanted:
            none += 1
            with pytest.raises(NoTreeError, match="no tree"):
                space.best(query)
            continue
        found = space.best(query, k=k)
        trees = found if k > 1 else [found]
        assert len({tree.key for tree in trees}) == len(trees)
        ranks = [tuple(float(getattr(tree, name)) for name in ranking) for tree in trees]
        assert close(ranks, wanted), f"{query} {space}"
        for tree in trees:
            assert tree.nested in twin
            assert set(require) <= used_tests(tree.nested)
            assert not set(forbid) & used_tests(tree.nested)
    assert none > 0


def test_attributes_stand_for_their_tests() -> None:
    X = [[0, 0, 1], [0, 1, 1], [1, 1, 0], [1, 1, 1]] * 5
    y = [0, 1, 1, 0] * 5
    names = ["age <= 30", "age <= 50", "smoker"]
    by_name = TreeSpace(X, y, 2, test_names=names)
    by_number = TreeSpace(X, y, 2, test_names=names, attributes=["years", "years", "habit"])
    without_age = TreeSpace([[row[2]] for row in X], y, 2)
    assert by_name.best(forbid="age").error == without_age.best().error
    assert by_number.best(forbid=["years"]).error == without_age.best().error
    assert by_name.best(forbid=[0, 1]).key == by_name.best(forbid="age").key
    assert 2 in by_name.best(require="smoker").key
    assert 2 in by_number.best(("size", "error"), require="habit", max_size=9).key
    tree = by_name.best(("size", "error"), require=["age", "smoker"], max_size=9)
    assert tree.size == 5
    assert set(tree.key) & {0, 1}
    assert 2 in tree.key
    assert tree.test_names == tuple(names)


# Costs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["balanced", {0: 3}, {1: 0.1, 0: 0.3}, [1, 2.5], [1, 1], [0, 1]], ids=str)
def test_class_weights_are_a_cost_matrix(weight: Any) -> None:
    for seed in range(10):
        space, twin = small(seed)
        totals = twin.table.class_counts(twin.table.everything)
        if weight == "balanced":
            occurring = sum(n > 0 for n in totals)
            each = [Fraction(sum(totals), occurring * n) if n else Fraction(1) for n in totals]
        elif isinstance(weight, dict):
            each = [Fraction(str(weight.get(c, 1))) for c in range(2)]
        else:
            each = [Fraction(str(w)) for w in weight]

        def weighted(
            tree: reference.Tree, twin: reference.Space = twin, each: list[Fraction] = each
        ) -> Fraction:
            total = Fraction(0)
            for leaf in reference.leaves_of(tree, twin.table):
                n = twin.table.class_counts(leaf.cover)
                total += min(n[1] * each[1], n[0] * each[0])
            return total

        all_trees = every(twin)
        ranks = sorted((weighted(tree), value("size", tree, twin)) for tree in all_trees)
        trees = space.best(class_weight=weight, k=4)
        assert [(weighted(tree.nested), tree.size) for tree in trees] == ranks[:4]
        assert [tree.info["objective"] for tree in trees] == [float(rank[0]) for rank in ranks[:4]]
        # Bounds are on the weighted error, and exact; accuracy is not weighted.
        bound = float(ranks[0][0])
        assert (
            weighted(space.best(("size", "error"), max_error=bound, class_weight=weight).nested)
            == ranks[0][0]
        )
        most = int(min(value("error", tree, twin) for tree in all_trees))
        accuracy = (twin.table.n_examples - most) / twin.table.n_examples
        tree = space.best(class_weight=weight, min_accuracy=accuracy)
        leaves = tree.counts[tree.leaves]
        assert int((leaves.sum(axis=1) - leaves.max(axis=1)).sum()) == most
        fit = [weighted(each_tree) for each_tree in all_trees if value("error", each_tree, twin) <= most]
        assert weighted(tree.nested) == min(fit)


def test_bounds_on_any_cost() -> None:
    """``max_error`` as a dict bounds costs that are ranked late or not at all."""
    none = 0
    for seed in range(40):
        rng = Random(seed)
        space, twin = small(seed, rng.choice([2, 3]))
        trees = every(twin)
        bounds = {
            name: 0.9 * float(value(name, rng.choice(trees), twin))
            for name in rng.sample(["error", "expected_error", "gini"], rng.choice([1, 2, 3]))
        }
        ranking = rng.choice([("error", "size"), ("expected_error",), ("size", "gini"), ("depth", "error")])
        fit = [
            tree
            for tree in trees
            if all(float(value(name, tree, twin)) <= most + 1e-9 for name, most in bounds.items())
        ]
        query = Query(ranking, max_error=bounds)
        if not fit:
            none += 1
            with pytest.raises(NoTreeError):
                space.best(query)
            continue
        wanted = min(tuple(float(value(name, tree, twin)) for name in ranking) for tree in fit)
        tree = space.best(query)
        ours = tuple(float(value(name, tree.nested, twin)) for name in ranking)
        assert close([ours], [wanted]), f"{query} {space}"
    assert 0 < none < 30


@pytest.mark.parametrize("penalty", [0.1, 1.0, 2.5])
def test_a_price_per_leaf_under_bounds(penalty: float) -> None:
    for seed in range(12):
        rng = Random(seed)
        space, twin = small(seed, 3)
        words: dict[str, Any] = {
            "max_error": rng.choice([None, twin.table.n_examples // 2]),
            "max_size": rng.choice([None, 3, 5]),
            "max_depth": rng.choice([None, 1]),
        }
        for k in (1, 6):
            wanted = sorted(
                Fraction(str(penalty)) * value("leaves", tree, twin) + value("error", tree, twin)
                for tree in every(twin)
                if reference.satisfies(tree, twin, reference.Query(rank=("error",), **words))
            )
            if not wanted:
                continue
            for ranking in (("error",), ("error", "depth")):
                found = space.best(ranking, leaf_penalty=penalty, k=k, **words)
                trees = found if k > 1 else [found]
                assert [tree.error + penalty * tree.n_leaves for tree in trees] == pytest.approx(
                    [float(x) for x in wanted[:k]]
                )
                assert [tree.info["objective"] for tree in trees] == pytest.approx(
                    [float(x) for x in wanted[:k]]
                )


def test_a_query_and_its_keywords_are_the_same() -> None:
    for seed in range(20):
        space, _ = small(seed, 3)
        words: dict[str, Any] = {"max_leaves": 4, "leaf": [Support(2)], "confidence": 0.1, "forbid": [1]}
        query = Query(("expected_error", "size"), **words)
        assert space.best(query).key == space.best(("expected_error", "size"), **words).key
        assert [tree.key for tree in space.best(query, k=3)] == [
            tree.key for tree in space.best(("expected_error", "size"), k=3, **words)
        ]


# DL8 --------------------------------------------------------------------------------------------------------


def problems(twin: reference.Space) -> Iterator[tuple[str, dict[str, Any], reference.Query, int]]:
    """The five problems of the paper's introduction: keywords, the reference's query, and how many trees."""
    total = twin.table.n_examples
    yield "most accurate with large leaves", {"leaf": 4}, reference.Query(min_support=4), 1
    yield "k most accurate with a margin", {"leaf": Margin(3), "k": 4}, reference.Query(min_margin=3), 4
    yield (
        "most accurate with correlated leaves",
        {"leaf": ChiSquare(p_value=0.4)},
        reference.Query(max_p_value=0.4),
        1,
    )
    ranking: tuple[str, ...] = ("expected_error", "size")
    yield "smallest with best expected accuracy", {"minimize": ranking}, reference.Query(rank=ranking), 1
    for first in ("size", "depth"):
        ranking = (first, "error")
        yield (
            f"least {first} with an accuracy",
            {"minimize": ranking, "min_accuracy": 0.75},
            reference.Query(rank=ranking, max_error=total // 4),
            1,
        )


@pytest.mark.parametrize("seed", range(12))
def test_the_five_problems_of_the_introduction(seed: int) -> None:
    space, twin = small(100 + seed, 2)
    for name, words, query, k in problems(twin):
        try:
            wanted = [answer.rank for answer in reference.best(twin, query, k)]
        except reference.NoTreeError:
            with pytest.raises(NoTreeError):
                space.best(**words)
            continue
        found = space.best(**words)
        trees = found if isinstance(found, list) else [found]
        ranks = [
            tuple(float(value_of(c, tree.nested, twin.table, query)) for c in query.rank) for tree in trees
        ]
        assert close(ranks, wanted), name


@pytest.mark.parametrize("table", [UNBALANCED_PAIR, MISLED_XOR], ids=["unbalanced", "xor"])
def test_the_optimum_that_greedy_roots_put_out_of_reach(table: reference.Table) -> None:
    """Section 4: gain and gain ratio pick A, and every tree with that root errs; the best one does not."""
    rows, labels, weights = [], [], []
    for row, counts in zip(table.rows, table.counts, strict=True):
        for label, n in enumerate(counts):
            rows.append(row)
            labels.append(label)
            weights.append(n)
    space = TreeSpace(rows, labels, 3, sample_weight=weights, test_names=["A", "B", "C"], min_leaf=10)
    twin = reference.Space(table, 3, 10)
    for ratio in (False, True):
        assert greedy_root(twin, ratio) == 0
    tree = space.best()
    assert tree.error == 0
    assert tree.key[0] != 0
    rooted = [each for each in every(twin) if each is not None and each[0] == 0]
    assert min(value("error", each, twin) for each in rooted) > 0
