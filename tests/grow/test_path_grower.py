"""The path-average grower against its plain twin, on random tables, for every variant; ties, limits and bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest

import everytree._core as core
from everytree.common.limits import Limits
from everytree.errors import DataError, LimitReached
from everytree.reference import cano_grow, nonuniform_a
from everytree.trees.path_tree import path_means, prior_parameters

SPREAD = {False: core.Spread.uniform, True: core.Spread.own, "parent": core.Spread.parent}


def grow(X, y, n_values, n_classes, s=1.0, nonuniform=False, weights=None, limits=None):
    X = np.asarray(X, dtype=np.int32)
    columns = core.Columns(X.shape[0])
    for j, n in enumerate(n_values):
        columns.add_nominal(np.ascontiguousarray(X[:, j]), n)
    given = None if weights is None else np.asarray(weights, dtype=np.int64)
    columns.set_classes(np.asarray(y, dtype=np.int32), n_classes, given)
    return core.grow_path_average(columns, float(s), SPREAD[nonuniform], (limits or Limits()).control())


def table(seed):
    """Nominal data with a signal; some values and classes never occur, some attributes are constant or copies."""
    rng = np.random.default_rng(seed)
    n, d, n_classes = int(rng.integers(1, 60)), int(rng.integers(1, 6)), int(rng.integers(1, 7))
    n_values = rng.integers(1, 5, d).tolist()
    X = np.column_stack([rng.integers(0, v, n) for v in n_values])
    if d > 2 and n_values[0] == n_values[2]:
        X[:, 2] = n_values[0] - 1 - X[:, 0]  # the same partition, relabelled: an exact tie
    y = np.where(rng.random(n) < 0.7, (X[:, 0] + X[:, -1]) % n_classes, rng.integers(0, n_classes, n))
    if n_classes > 3:
        y[y == 1] = 0  # a class that nobody has
    return X, y, [v + int(rng.integers(0, 2)) for v in n_values], n_classes


def same(node, at, tree, log_leaf, log_b, counts):
    """Compare a plain node and what is below it with node ``at``; returns the number of nodes.

    The twin compares close scores as fractions, so also ties are broken alike.
    """
    assert counts[at].tolist() == list(node.counts)
    assert log_leaf[at] == pytest.approx(node.log_leaf, abs=1e-9)
    split = tree.attribute[at]
    assert node.attribute == (None if split < 0 else split)
    if split < 0:
        assert log_b[at] == 0
        return 1
    assert log_b[at] == pytest.approx(node.log_b, abs=1e-9)
    assert tree.n_children[at] == len(node.children)
    first = int(tree.first_child[at])
    return 1 + sum(
        same(child, first + k, tree, log_leaf, log_b, counts) for k, child in enumerate(node.children)
    )


@pytest.mark.parametrize("nonuniform", [False, True, "parent"])
@pytest.mark.parametrize("s", [1, 2, "classes", 0.3])
def test_trees_and_scores_are_those_of_the_reference(s, nonuniform):
    nodes = 0
    for seed in range(150):
        X, y, n_values, n_classes = table(seed)
        plain = cano_grow(X.tolist(), y.tolist(), n_values, n_classes, s, nonuniform)
        size = n_classes if s == "classes" else s
        tree, log_leaf, log_b = grow(X, y, n_values, n_classes, size, nonuniform)
        counts = tree.counts.reshape(-1, n_classes)
        assert same(plain, 0, tree, log_leaf, log_b, counts) == len(tree.attribute)
        nodes += len(tree.attribute)
    assert nodes > 500


@pytest.mark.parametrize("nonuniform", [False, True, "parent"])
def test_weights_are_repetitions_and_the_order_of_rows_does_not_matter(nonuniform):
    rng = np.random.default_rng(1)
    for seed in range(40):
        X, y, n_values, n_classes = table(seed)
        weights = rng.integers(1, 4, len(y))
        one = grow(X, y, n_values, n_classes, 1, nonuniform, weights)
        rows = rng.permutation(np.repeat(np.arange(len(y)), weights))
        other = grow(X[rows], y[rows], n_values, n_classes, 1, nonuniform)
        assert one[0].attribute.tolist() == other[0].attribute.tolist()
        assert one[0].counts.tolist() == other[0].counts.tolist()
        assert one[1].tolist() == other[1].tolist()
        assert one[2].tolist() == other[2].tolist()


def test_equal_partitions_go_to_the_lowest_attribute():
    rng = np.random.default_rng(2)
    for _ in range(50):
        x = rng.integers(0, 4, 60)
        y = (x + (rng.random(60) < 0.2)) % 3
        X = np.column_stack([rng.permutation(4)[x] for _ in range(5)])
        tree, _, _ = grow(X, y, [4] * 5, 3)
        assert tree.attribute[0] == 0


def test_a_split_as_good_as_the_leaf_is_not_made():
    # A constant attribute changes nothing: its score is that of the leaf, whatever the counts.
    rng = np.random.default_rng(3)
    for n in range(1, 40):
        y = rng.integers(0, 3, n)
        tree, _, _ = grow(np.ones((n, 1)), y, [3], 3)
        assert len(tree.attribute) == 1


def test_an_attribute_is_used_once_per_path():
    inner = 0
    for seed in range(20):
        X, y, n_values, n_classes = table(seed)
        tree, _, _ = grow(X, y, n_values, n_classes, 2, nonuniform=bool(seed % 2))
        todo = [(0, frozenset())]
        while todo:
            node, above = todo.pop()
            j = int(tree.attribute[node])
            if j >= 0:
                inner += 1
                assert j not in above
                first = int(tree.first_child[node])
                todo += [(first + k, above | {j}) for k in range(n_values[j])]
    assert inner > 20


def test_large_counts_are_scored_without_a_table():
    # 2^40 examples: no table is that long. Scores are compared with lgamma.
    weights = [2**40, 3, 5, 2**40]
    tree, log_leaf, log_b = grow([[0], [0], [1], [1]], [0, 1, 0, 1], [2], 2, 1, False, weights)

    def log_m(n0, n1):
        lgamma = math.lgamma
        return lgamma(0.5 + n0) + lgamma(0.5 + n1) - 2 * lgamma(0.5) - lgamma(1 + n0 + n1)

    assert tree.attribute.tolist() == [0, -1, -1]
    assert log_leaf[0] == pytest.approx(log_m(2**40 + 5, 2**40 + 3), rel=1e-9)
    assert log_b[0] == pytest.approx(log_m(2**40, 3) + log_m(5, 2**40) - log_leaf[0], rel=1e-9)


def test_a_thousand_classes():
    rng = np.random.default_rng(4)
    y = np.concatenate([np.arange(1000), rng.integers(0, 1000, 2000)])
    X = np.column_stack([y // 50, rng.integers(0, 5, 3000)])
    for nonuniform in (False, True):
        tree, _, _ = grow(X, y, [20, 5], 1000, 1, nonuniform)
        assert tree.attribute[0] == 0
        assert tree.counts.reshape(-1, 1000)[0].sum() == 3000


def test_few_and_many_cells_are_scored_alike():
    # 30 values and 10 classes: at 20 rows only the cells in use are looked at. The twin sees no difference.
    rng = np.random.default_rng(8)
    X, y = rng.integers(0, 12, (20, 2)), rng.integers(0, 2, 20)
    y[:10], X[:10, 1] = 0, 3
    plain = cano_grow(X.tolist(), y.tolist(), [30] * 2, 10, 1, "parent")
    tree, log_leaf, log_b = grow(X, y, [30] * 2, 10, 1, "parent")
    assert plain.attribute is not None
    assert same(plain, 0, tree, log_leaf, log_b, tree.counts.reshape(-1, 10)) > 30


def test_a_path_as_long_as_there_are_attributes():
    # Attribute j tells class j from the rest.
    n = 300
    y = np.repeat(np.arange(n), 4)
    X = (y[:, None] == np.arange(n)[None, :]).astype(np.int32)
    tree, _, _ = grow(X, y, [2] * n, n)
    assert len(tree.attribute) == 2 * n - 1


def test_limits():
    X, y, n_values, n_classes = table(3)
    with pytest.raises(LimitReached):
        grow(np.tile(X, (20000, 1)), np.tile(y, 20000), n_values, n_classes, limits=Limits(time_limit=1e-9))
    x = np.arange(100) % 50
    with pytest.raises(LimitReached):
        grow(x[:, None], x, [50], 50, limits=Limits(memory_limit=1000))


@pytest.mark.parametrize("s", [0, -1, math.inf, math.nan])
def test_s_must_be_positive(s):
    with pytest.raises(DataError, match="s must be positive and finite"):
        grow([[0]], [0], [1], 1, s)


def test_columns_must_be_nominal_and_known():
    with pytest.raises(DataError, match="column 0 must be nominal, with a declared value in every row"):
        grow([[-1], [0]], [0, 1], [2], 2)
    columns = core.Columns(2)
    columns.add_numeric(np.array([1.0, 2.0]))
    columns.set_classes(np.array([0, 1], dtype=np.int32), 2, None)
    with pytest.raises(DataError, match="must be nominal"):
        core.grow_path_average(columns, 1.0, False, Limits().control())
    with pytest.raises(DataError, match="rows with classes"):
        core.grow_path_average(core.Columns(2), 1.0, False, Limits().control())


# --- the numbers at the nodes


def test_parameters_are_those_of_the_reference():
    rng = np.random.default_rng(6)
    for n_classes in (2, 3, 5, 9):
        counts = rng.integers(0, 3, (20, n_classes))
        parent = np.array([-1, *rng.integers(0, 20, 19)])
        a = prior_parameters(counts, parent, 2.0, nonuniform=True)
        assert a[0].tolist() == [2 / n_classes] * n_classes
        for node in range(1, 20):
            assert a[node].tolist() == pytest.approx(nonuniform_a(counts[parent[node]].tolist(), 2.0))
        assert a.sum(axis=1) == pytest.approx(np.full(20, 2.0))
        assert (prior_parameters(counts, parent, 2.0, nonuniform=False) == 2 / n_classes).all()


def test_with_bayes_factors_of_one_the_average_is_the_plain_mean():
    rng = np.random.default_rng(7)
    theta = rng.dirichlet([1, 1, 1], 12)
    levels = [(np.array([k]), np.array([k + 1])) for k in range(11)]
    means = path_means(theta, np.zeros(12), levels)
    for k in range(12):
        assert means[k] == pytest.approx(theta[: k + 1].mean(axis=0))


def test_huge_bayes_factors_neither_overflow_nor_vanish():
    theta = np.array([[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    levels = [(np.array([0]), np.array([1])), (np.array([1]), np.array([2]))]
    means = path_means(theta, np.array([1e6, math.log(3), 0]), levels)
    assert means[1].tolist() == [0.9, 0.1]
    assert means[2] == pytest.approx([(0.9 + 3 * 0.2) / 4, (0.1 + 3 * 0.8) / 4])
