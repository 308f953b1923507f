"""Sums over the trees of a forest, beside walking each row down each tree."""

import numpy as np
import pytest

from everytree import _core
from everytree.bayes.forest import Forest


def uneven_forest(rng, n_trees, n_tests, classes, deepest):
    """Trees of which most branches end early and some are as deep as allowed."""
    nodes, trees, theta = [], [], []

    def grow(depth, stop):
        at = len(nodes)
        nodes.append([0, 0, at, at])
        theta.append(rng.random(classes))
        if depth == deepest or rng.random() < stop:
            return at, 0
        nodes[at][:2] = int(rng.integers(n_tests)), int(rng.integers(1, 20))
        (no, below_no), (yes, below_yes) = grow(depth + 1, 0.6), grow(depth + 1, 0.35)
        nodes[at][2:] = no, yes
        return at, 1 + max(below_no, below_yes)

    for _ in range(n_trees):
        root, depth = grow(0, 0.1)
        trees.append([root, depth])
    return Forest(np.array(nodes, np.uint32), np.array(trees, np.uint32), np.array(theta))


def walked(forest, rows):
    out = np.zeros((len(rows), forest.theta.shape[1]))
    for root, _ in forest.trees:
        for r, row in enumerate(rows):
            at = root
            while forest.nodes[at, 2] != at:
                test, upper = forest.nodes[at, :2]
                holds = row[test] <= upper if row.dtype == np.uint16 else row[test] != 0
                at = forest.nodes[at, 3 if holds else 2]
            out[r] += forest.theta[at]
    return out


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize(
    ("n_rows", "n_trees", "classes"), [(1, 3, 2), (7, 5, 3), (8, 1, 1), (65, 9, 2), (203, 40, 11)]
)
def test_sums_are_those_of_walking_each_row(kind, n_rows, n_trees, classes):
    rng = np.random.default_rng(n_rows)
    forest = uneven_forest(rng, n_trees, 6, classes, 23)
    rows = rng.integers(0, 2 if kind == np.uint8 else 22, (n_rows, 6)).astype(kind)
    expected = walked(forest, rows)
    for n_threads in (1, 2, 5):
        sums = _core.forest_sums(forest.nodes, forest.trees, forest.theta, rows, n_threads, _core.Control())
        np.testing.assert_array_equal(sums, expected)


def test_many_rows_in_parts_are_those_asked_alone():
    rng = np.random.default_rng(0)
    forest = uneven_forest(rng, 30, 40, 26, 12)
    rows = rng.integers(0, 22, (5003, 40)).astype(np.uint16)
    together = forest.mean(rows, 2, _core.Control())
    for some in (slice(0, 64), slice(900, 1100), slice(4990, None)):
        np.testing.assert_array_equal(together[some], forest.mean(rows[some], 1, _core.Control()))
