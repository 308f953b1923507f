"""Places where an exact engine is easily a little wrong: units, infinities, ties, tiny probabilities, long steps."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import everytree as et
from everytree import reference


def table(seed: int, rows: int = 40, tests: int = 6, classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.integers(0, 2, (rows, tests)), rng.integers(0, classes, rows)


def cost_of(tree: et.Tree, X: np.ndarray, y: np.ndarray, costs: np.ndarray) -> float:
    return float(costs[y, tree.predict(X, costs)].sum())


@pytest.mark.parametrize("seed", range(5))
def test_the_predictions_of_a_tree_of_least_cost_cost_what_it_promises(seed: int) -> None:
    X, y = table(seed, classes=3)
    costs = np.random.default_rng(seed).integers(0, 9, (3, 3)).astype(float)
    tree = et.TreeSpace(X, y, 3, 2).best("cost", cost_matrix=costs)
    assert cost_of(tree, X, y, costs) == tree.info["objective"]
    model = et.OptimalTreeClassifier(3, 2, minimize=("cost", "size"), cost_matrix=costs, dirichlet=1e-9).fit(
        X, y
    )
    assert float(costs[y, model.predict(X)].sum()) == model.objective_


@pytest.mark.parametrize("power", [-15, -12, -6, 0, 6, 9])
def test_the_best_tree_does_not_depend_on_the_unit_of_cost(power: int) -> None:
    X, y = table(3)
    costs = np.array([[0.0, 1.0], [3.0, 0.0]])
    space = et.TreeSpace(X, y, 3, 2)
    plain, scaled = space.best("cost", cost_matrix=costs), space.best("cost", cost_matrix=costs * 10.0**power)
    assert cost_of(scaled, X, y, costs) == plain.info["objective"]
    front = space.front("cost", costs * 10.0**power)
    assert [size for size, _, _ in front] == [size for size, _, _ in space.front("cost", costs)]
    for _, value, tree in front:
        assert cost_of(tree, X, y, costs) * 10.0**power == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("criterion", ["error", "expected_error", "gini", "entropy"])
def test_the_best_tree_is_the_first_of_the_k_best(criterion: str) -> None:
    for seed in range(60):
        X, y = table(seed, rows=14, tests=4)
        space = et.TreeSpace(X, y, 3)
        one, (first, *_) = space.best((criterion, "size")), space.best((criterion, "size"), k=2)
        assert one.info["objective"] == pytest.approx(first.info["objective"], rel=1e-9, abs=1e-9)
        assert one.n_leaves == first.n_leaves, seed


class OnlySplits(et.Prior):
    """No open node may be a leaf."""

    def tables(self, deepest: int) -> et.PriorTables:
        return et.PriorTables([0.0], [-math.inf], [0.0], per_test=False)


def test_the_most_probable_tree_is_possible_under_a_prior_that_forbids_some() -> None:
    X, y = table(5, rows=20, tests=4)
    post = et.TreeSpace(X, y, 3, 2).posterior(OnlySplits())
    best = post.map_tree()
    assert best.info["log_joint"] == pytest.approx(post.top_trees(1)[0].info["log_joint"])
    assert best.info["probability"] > 0


class Nothing(et.Prior):
    def tables(self, deepest: int) -> et.PriorTables:
        return et.PriorTables([-math.inf], [-math.inf], [-math.inf], per_test=False)


def test_a_prior_that_excludes_every_tree_is_refused() -> None:
    with pytest.raises(et.QueryError, match="probability zero"):
        et.TreeSpace(*table(0), 2).posterior(Nothing())


class Steep(et.Prior):
    """Depends on depth, and says so by its tables alone."""

    def tables(self, deepest: int) -> et.PriorTables:
        return et.PriorTables([-1.0, -2.0, -4.0], [0.0], [0.0], per_test=False)


def test_a_prior_by_depth_keeps_equal_covers_at_different_depths_apart() -> None:
    X, y = table(2, rows=12, tests=4)
    unlimited = et.TreeSpace(X, y, None).posterior(Steep())
    deep = et.TreeSpace(X, y, 11).posterior(Steep())  # no path of 12 rows is longer
    assert unlimited.log_evidence == pytest.approx(deep.log_evidence, rel=1e-12)


def test_negative_leaf_penalties_are_refused() -> None:
    with pytest.raises(et.QueryError, match=r"leaf_penalty=-0\.5"):
        et.TreeSpace(*table(1), 2).best(leaf_penalty=-0.5)


def test_small_probabilities_are_never_zero() -> None:
    X, y = table(7, rows=30, tests=4)
    both = [et.TreeSpace(X, labels, 2).posterior(dirichlet=1e-6).predict_proba(X) for labels in (y, 1 - y)]
    np.testing.assert_allclose(both[0], both[1][:, ::-1], rtol=1e-9, atol=1e-14)
    for a in (1e-12, 1e-18, 1e-60):
        proba = et.TreeSpace(X, X[:, 0], 2).posterior(dirichlet=a).predict_proba(X)
        assert (proba >= a / (30 + 2 * a)).all()
        assert np.isfinite(np.log(proba)).all()


def test_the_k_best_obey_the_time_limit() -> None:
    X, y = table(4, rows=300, tests=12)
    space = et.TreeSpace(X, y, 4, time_limit=0.5)
    space.graph()
    start = time.perf_counter()
    with pytest.raises(et.LimitReached, match="time limit"):
        space.best(k=2**31 - 1)
    assert time.perf_counter() - start < 3


def test_large_covers_obey_the_memory_limit() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (30_000, 60), dtype=np.uint8)
    space = et.TreeSpace(X, X[:, 0] ^ (rng.random(30_000) < 0.1), 4, 50, memory_limit=20 * 2**20)
    with pytest.raises(et.LimitReached, match="memory limit"):
        space.graph()


def test_a_huge_depth_limit_is_as_quick_as_the_depth_there_is() -> None:
    X, y = table(6, rows=20, tests=3)
    space = et.TreeSpace(X, y, 2_000_000, time_limit=5)
    assert space.posterior().rules(top=5)
    assert space.best(("depth", "error"), max_error=20).depth <= 3


def test_fair_shares_count_every_feasible_test() -> None:
    # On 20,000 rows the term of a useless second test is zero in a double; its attribute still has it.
    rng = np.random.default_rng(1)
    a = rng.integers(0, 2, 20_000)
    X = np.column_stack(
        [a, a ^ (rng.random(20_000) < 0.3), rng.integers(0, 2, 20_000), rng.integers(0, 2, 20_000)]
    )
    y = a ^ (rng.random(20_000) < 0.01)
    attributes = [0, 1, 2, 1]
    space = et.TreeSpace(X, y, 2, attributes=attributes)
    post = space.posterior(et.SizePrior(attribute_fair=True))
    cover = reference.Table.from_data(X, y)
    model = reference.Bayes(
        reference.Space(cover, 2, 1), reference.SizePrior(0.8, 0.8, attributes=attributes)
    )
    np.testing.assert_allclose(post.test_inclusion(), reference.test_inclusion(model), rtol=1e-9)
    np.testing.assert_allclose(
        post.predict_proba(X[:4]), [model.predict_proba(r) for r in X[:4].tolist()], atol=1e-10
    )
