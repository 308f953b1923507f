"""The near-best set against a list of every tree of the space, over a product of options.

The list comes from ``reference.near_best``; what the set says of tests and rows is then computed tree by tree.
"""

from __future__ import annotations

import itertools
from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from everytree import _core, reference
from everytree.query.near_best import NearBest
from everytree.reference.near_best import near_best_by_listing
from everytree.reference.table import Cover
from everytree.reference.trees import key, n_leaves
from everytree.space.tree_space import TreeSpace

EPSILONS = [0, 0.05, Fraction(1, 3), 1.5, 1e6]
PENALTIES = [0.01, 0, 0.125, Fraction(1, 30), 2.0]


class Objective:
    """error / n + penalty · leaves as a cost of the reference."""

    def __init__(self, table: reference.Table, penalty: Fraction | float) -> None:
        self.table = table
        self.total = sum(map(sum, table.counts))
        self.penalty = Fraction(penalty)

    def leaf(self, cover: Cover, depth: int) -> Fraction:
        counts = self.table.class_counts(cover)
        return Fraction(sum(counts) - max(counts), self.total) + self.penalty

    def split(self, cover: Cover, depth: int, test: int) -> Fraction:
        return Fraction(0)


def random_data(rng: Random) -> tuple[npt.NDArray[np.uint8], list[int], list[int], int]:
    """Rows, classes, weights and the number of classes: equal, complementary and constant columns among them."""
    n, n_tests, n_classes = rng.randint(1, 14), rng.randint(0, 5), rng.randint(1, 4)
    X = np.array([[rng.random() < 0.5 for _ in range(n_tests)] for _ in range(n)], dtype=np.uint8)
    X = X.reshape(n, n_tests)
    for j in range(1, n_tests):
        kind = rng.random()
        if kind < 0.15:
            X[:, j] = X[:, rng.randrange(j)]
        elif kind < 0.3:
            X[:, j] = 1 - X[:, rng.randrange(j)]
        elif kind < 0.35:
            X[:, j] = 1
    y = [rng.randrange(n_classes) for _ in range(n)]
    heavy = rng.choice([[1], [1], [1, 2, 3], [1, 1000, 77_777, 1_000_003]])
    return X, y, [rng.choice(heavy) for _ in range(n)], n_classes


def case(seed: int) -> tuple[TreeSpace, reference.Space]:
    rng = Random(seed)
    while True:
        X, y, weights, n_classes = random_data(rng)
        depth, min_leaf = rng.choice([0, 1, 2, 3, 3, 4, None]), rng.randint(1, 3)
        if sum(weights) < min_leaf:
            continue
        twin = reference.Space(reference.Table.from_data(X.tolist(), y, n_classes, weights), depth, min_leaf)
        if twin.count() > 2500:
            continue
        space = TreeSpace(
            X, y, depth, min_leaf, weights, n_jobs=rng.choice([1, 1, 2]), classes=range(n_classes)
        )
        space.switches["merge"] = rng.random() < 0.8
        space.switches["frontier"] = rng.random() < 0.7
        return space, twin


def check_against_listing(near: NearBest, twin: reference.Space, rng: Random, most_asked: int = 120) -> None:
    objective = Objective(twin.table, Fraction(near.leaf_share))
    listed = near_best_by_listing(twin, objective, epsilon=Fraction(near.epsilon))  # type: ignore[arg-type]
    assert near.n_trees == len(near) == len(listed)
    assert near.best_objective == listed[0].cost
    by_level = Counter((n_leaves(each.tree), each.cost) for each in listed)
    assert {(level.leaves, level.objective): level.n_trees for level in near.by_objective} == by_level
    if near.n_trees > most_asked:
        trees = [near[k] for k in rng.sample(range(near.n_trees), 5)]
        assert {tree.key for tree in trees} <= {key(each.tree) for each in listed}
        return
    trees = list(near)
    assert sorted(tree.key for tree in trees) == sorted(key(each.tree) for each in listed)
    assert [tree.info["objective"] for tree in trees] == [each.cost for each in listed]
    assert [tree.info["number"] for tree in trees] == list(range(near.n_trees))
    assert trees[-1] == near[-1] == near[near.n_trees - 1]
    assert all(tree in near and tree.key in near for tree in trees)

    n_tests = near.space.n_tests
    used = [sum(t in tree.key for tree in trees) / len(trees) for t in range(n_tests)]
    assert near.test_use().tolist() == used
    rows = [[rng.randint(0, 1) for _ in range(n_tests)] for _ in range(8)] + near.space.table.rows.tolist()
    X = np.array(rows, dtype=np.uint8).reshape(len(rows), n_tests)
    each_says = np.array([tree.predict_proba(X) for tree in trees])
    np.testing.assert_allclose(near.predict_proba(X), each_says.mean(axis=0), rtol=1e-12, atol=1e-14)
    least, greatest = near.range_of(X)
    np.testing.assert_array_equal(least, each_says.min(axis=0))
    np.testing.assert_array_equal(greatest, each_says.max(axis=0))
    n_classes = len(near.space.classes)
    voted = np.array([[tree.predict(X) == c for c in range(n_classes)] for tree in trees]).mean(axis=0).T
    np.testing.assert_allclose(near.votes(X), voted, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("seed", range(120))
def test_against_the_list_of_every_tree(seed: int) -> None:
    rng = Random(1000 + seed)
    space, twin = case(seed)
    kernels = _core.available_kernels() if seed % 4 == 0 else [""]
    _core.use_kernels(rng.choice(kernels))
    options = list(itertools.product(EPSILONS, PENALTIES))
    for epsilon, penalty in rng.sample(options, 4):
        dirichlet: Any = rng.choice([None, 1.0, [0.5 + c for c in range(len(space.classes))]])
        check_against_listing(space.near_best(epsilon, penalty, dirichlet=dirichlet), twin, rng)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 2000))
def test_against_the_list_of_every_tree_at_length(seed: int) -> None:
    rng = Random(seed)
    space, twin = case(seed)
    for epsilon, penalty in itertools.product(EPSILONS, PENALTIES):
        check_against_listing(space.near_best(epsilon, penalty), twin, rng, most_asked=60)


def whole_space_says(
    twin: reference.Space, copies: int, row: tuple[int, ...], a: float
) -> tuple[int, Fraction, Fraction]:
    """The number of trees, and the mean probability and share of votes of class 1, by recursion over a whole space.

    Every test counts ``copies`` times, as if so many equal columns stood for it.
    """
    table = twin.table

    @cache
    def count(cover: Cover, depth: int) -> int:
        n = 1
        for test in twin.feasible(cover, depth):
            zero, one = table.children(cover, test)
            n += copies * count(zero, depth + 1) * count(one, depth + 1)
        return n

    @cache
    def sums(cover: Cover, depth: int) -> tuple[Fraction, int]:
        counts = table.class_counts(cover)
        mean = (counts[1] + Fraction(a)) / (sum(counts) + len(counts) * Fraction(a))
        votes = int(counts.index(max(counts)) == 1)
        for test in twin.feasible(cover, depth):
            children = table.children(cover, test)
            beside = copies * count(children[1 - row[test]], depth + 1)
            below = sums(children[row[test]], depth + 1)
            mean += beside * below[0]
            votes += beside * below[1]
        return mean, votes

    n = count(twin.root, 0)
    mean, votes = sums(twin.root, 0)
    return n, mean / n, Fraction(votes, n)


@pytest.mark.parametrize(
    ("n_tests", "copies", "bits"),
    [(3, 1, range(1, 63)), (5, 8, range(64, 126)), (5, 512, range(126, 1000)), (7, 600, range(1030, 3000))],
)
def test_huge_sets(n_tests: int, copies: int, bits: range) -> None:
    """The whole space of a cube: its count, a test left out, and averages, for numbers of every size."""
    rng = Random(n_tests)
    cube = np.array(list(itertools.product((0, 1), repeat=n_tests)), dtype=np.uint8)
    y = [rng.randrange(2) if n_tests < 6 else int(k == 5) for k in range(len(cube))]
    X = np.tile(cube, copies)
    space = TreeSpace(X, y, n_tests)
    near = space.near_best(1e9, 0.01, dirichlet=1.0)
    twin = reference.Space(reference.Table.from_data(cube.tolist(), y, 2), n_tests)
    row = cube[5]
    n, mean, votes = whole_space_says(twin, copies, tuple(row.tolist()), 1.0)
    assert near.n_trees == space.n_trees == n
    assert n.bit_length() in bits
    without = TreeSpace(X[:, 1:], y, n_tests).n_trees
    assert near.test_use()[0] == (n - without) / n
    assert near.predict_proba([np.tile(row, copies)])[0, 1] == pytest.approx(float(mean), rel=1e-11)
    assert near.votes([np.tile(row, copies)])[0, 1] == pytest.approx(float(votes), rel=1e-11)
    tree = near.sample(1, random_state=0)[0]
    assert tree in near
    assert near[tree.info["number"]] == tree
