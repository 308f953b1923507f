"""No answer at a limit is worse than a greedy tree over the same tests, whatever the limit."""

from __future__ import annotations

import signal
import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import everytree as et
from everytree import _core, cluster
from everytree.query.run import new_search
from everytree.weights.costs import make_cost

Rows = npt.NDArray[np.uint8]
LIMITS = [0.0, 0.001, 0.05]
QUERIES: list[dict[str, Any]] = [
    {},
    {"class_weight": [1, 3.5]},
    {"cost_matrix": [[0, 1], [5, 0]]},
    {"leaf_penalty": 2.5},
]


def numbers(seed: int, rows: int = 400, cuts: int = 40) -> tuple[Rows, npt.NDArray[np.intp]]:
    """Cuts of three columns of numbers, and two classes: hardly any two tests are equally good."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, 3))
    at = np.quantile(X, np.linspace(0, 1, cuts + 2)[1:-1], axis=0)
    tests = np.concatenate([X[:, j, None] <= at[:, j] for j in range(3)], axis=1)
    y = (X[:, 0] * X[:, 1] + X[:, 2] > 0.3) ^ (rng.random(rows) < 0.15)
    return tests.astype(np.uint8), y.astype(np.intp)


def objective(tree: Any, X: Rows, y: Any, query: dict[str, Any]) -> float:
    """What scikit-learn's tree costs under the query, each leaf answering as the query would."""
    ends = tree.apply(X)
    counts = np.zeros((ends.max() + 1, int(y.max()) + 1))
    np.add.at(counts, (ends, y), 1)
    counts = counts[counts.sum(axis=1) > 0]
    n_classes = counts.shape[1]
    matrix = np.asarray(query.get("cost_matrix", 1 - np.eye(n_classes)), dtype=float)
    matrix = matrix * np.asarray(query.get("class_weight", np.ones(n_classes)))[:, None]
    return float((counts @ matrix).min(axis=1).sum() + query.get("leaf_penalty", 0) * len(counts))


def greedy(X: Rows, y: Any, depth: int | None, min_leaf: int, query: dict[str, Any]) -> float:
    """The best of scikit-learn's trees: by Gini's impurity or the entropy, with and without the weights of classes."""
    from sklearn.tree import DecisionTreeClassifier

    weights = query.get("class_weight", [sum(row) for row in query.get("cost_matrix", [[1], [1]])])
    return min(
        objective(
            DecisionTreeClassifier(
                criterion=criterion,
                max_depth=depth,
                min_samples_leaf=min_leaf,
                class_weight=class_weight,
                random_state=0,
            ).fit(X, y),
            X,
            y,
            query,
        )
        for criterion in ("gini", "entropy")
        for class_weight in (None, dict(enumerate(weights)))
    )


def run(space: et.TreeSpace, query: dict[str, Any], seconds: float) -> Any:
    """The search under a clock that may be over before it starts."""
    name = "cost" if "cost_matrix" in query else "error"
    given = {key: query.get(key) for key in ("cost_matrix", "class_weight")}
    cost = make_cost(name, space.table, penalty=query.get("leaf_penalty", 0), **given)
    search = new_search(space, cost, 1)
    found = search.run(
        -1 if space.max_depth is None else space.max_depth,
        True,
        _core.Control(seconds, 2**40, None),
    )
    return found, float(cost.in_query_units(found.cost)), float(cost.in_query_units(found.lower))


@pytest.mark.parametrize("query", QUERIES, ids=["error", "weights", "costs", "penalty"])
@pytest.mark.parametrize("depth", [1, 2, 3, 4, 5])
def test_no_worse_than_greedy_at_any_limit(depth: int, query: dict[str, Any]) -> None:
    for seed in range(3):
        X, y = numbers(seed)
        for min_leaf in (1, 12):
            space = et.TreeSpace(X, y, depth, min_leaf)
            least = greedy(X, y, depth, min_leaf, query)
            for seconds in LIMITS:
                began = time.monotonic()
                found, cost, lower = run(space, query, seconds)
                assert time.monotonic() - began < seconds + 2
                assert cost <= least + 1e-9
                assert lower <= cost + 1e-9
                tree = space.tree_of(found.key)
                assert tree.depth <= depth
                leaves = tree.counts[tree.test < 0]
                assert leaves.sum(axis=1).min() >= min_leaf
                matrix = 1 - np.eye(2)
                if "cost_matrix" in query:
                    matrix = np.array(query["cost_matrix"], dtype=float)
                matrix = matrix * np.array(query.get("class_weight", [1, 1]))[:, None]
                price = query.get("leaf_penalty", 0) * len(leaves)
                assert cost == pytest.approx((leaves @ matrix).min(axis=1).sum() + price)


def test_no_worse_than_greedy_without_a_depth_limit() -> None:
    X, y = numbers(5, rows=1500)
    for min_leaf in (1, 20):
        space = et.TreeSpace(X, y, None, min_leaf)
        _, cost, _ = run(space, {}, 0.0)
        assert cost <= greedy(X, y, None, min_leaf, {})


def test_more_than_two_classes_and_weights_of_rows() -> None:
    rng = np.random.default_rng(1)
    X, y = numbers(1)
    y = (y + (X[:, 60] & X[:, 100])) % 3
    times = rng.integers(1, 5, len(y))
    space = et.TreeSpace(X, y, 3, 5, sample_weight=times)
    again = et.TreeSpace(np.repeat(X, times, axis=0), np.repeat(y, times), 3, 5)
    found, cost, _ = run(space, {}, 0.0)
    assert list(found.key) == list(run(again, {}, 0.0)[0].key)
    assert cost <= greedy(np.repeat(X, times, axis=0), np.repeat(y, times), 3, 5, {})


def test_a_small_memory_limit_still_gives_the_greedy_tree() -> None:
    X, y = numbers(2)
    space = et.TreeSpace(X, y, 4, memory_limit=1)
    tree = space.best()
    assert tree.info["stop_reason"] == "memory limit"
    assert tree.error <= greedy(X, y, 4, 1, {})
    assert tree.info["lower_bound"] <= tree.error


def test_leaf_constraints_hold_at_a_limit() -> None:
    X, y = numbers(3)
    space = et.TreeSpace(X, y, 4, time_limit=1e-6)
    tree = space.best(leaf=et.Margin(30))
    leaves = np.sort(tree.counts[tree.test < 0], axis=1)
    assert (leaves[:, -1] - leaves[:, -2]).min() >= 30


def test_without_a_limit_the_tree_is_the_one_of_the_fold() -> None:
    for seed in range(3):
        X, y = numbers(seed, rows=120, cuts=6)
        space = et.TreeSpace(X, y, 3, 2)
        assert space.best().error == space.best(k=2)[0].error


def test_a_most_probable_tree_at_a_limit_is_no_less_probable_than_its_greedy_tree() -> None:
    from everytree.weights.dirichlet import dirichlet_rows

    for seed in range(3):
        X, y = numbers(seed)
        space = et.TreeSpace(X, y, 5, 2, attributes=np.repeat(np.arange(3), 40))
        for prior in (et.SizePrior(), et.SizePrior(attribute_fair=True)):
            leaf = et.TreeSpace(X[:, :0], y, 5, 2).most_probable(et.UniformPrior()).info["log_joint"]
            space.limits = type(space.limits)(time_limit=1e-6)
            tree = space.most_probable(prior)
            assert tree.info["stop_reason"] == "time limit"
            grown = greedy_quality(X, y, 2, dirichlet_rows(1.0, 2, 0)[0])
            assert tree.info["log_joint"] > leaf
            assert tree.n_leaves > 1
            assert grown <= log_likelihood(tree.counts[tree.test < 0]) + 1e-9


def log_likelihood(counts: npt.ArrayLike, a: float = 1.0) -> float:
    from math import lgamma

    return sum(
        lgamma(2 * a) - 2 * lgamma(a) + sum(lgamma(a + n) for n in row) - lgamma(2 * a + sum(row))
        for row in np.asarray(counts).tolist()
    )


def greedy_quality(X: Rows, y: Any, min_leaf: int, a: Any) -> float:
    """The log likelihood of the best single split: a greedy tree starts with it."""
    best = -np.inf
    for column in X.T:
        one = np.bincount(y[column == 1], minlength=2)
        zero = np.bincount(y[column == 0], minlength=2)
        if min(one.sum(), zero.sum()) >= min_leaf:
            best = max(best, log_likelihood([one, zero], a[0]))
    return best


@pytest.mark.long
def test_growing_can_be_stopped() -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((20_000, 4_000)) < 0.5).astype(np.uint8)
    space = et.TreeSpace(X, rng.integers(0, 2, 20_000), None)
    space.core_table()
    began = time.monotonic()
    timer = threading.Timer(0.3, space.stop)
    timer.start()
    tree = space.best()
    timer.join()
    assert tree.info["stop_reason"] == "stopped"
    assert time.monotonic() - began < 5

    # A shell that starts the suite in the background may have it ignore the signal.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            space.best()
    finally:
        timer.join()
        signal.signal(signal.SIGINT, before)


def test_a_cluster_gives_no_less() -> None:
    X, y = numbers(4)
    space = et.TreeSpace(X, y, 5, time_limit=0.05)
    assert cluster.best(space).error <= greedy(X, y, 5, 1, {})
