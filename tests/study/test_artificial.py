"""Artificial data: without noise the classes follow the rule, with noise at its rate; seeds, shapes, bad arguments."""

from __future__ import annotations

import numpy as np
import pytest

from everytree.errors import QueryError
from everytree.study.artificial import led, led_bayes_proba, multi_tree, xd6, xor


def near(share: float, p: float, n: int) -> bool:
    """Whether a share of n examples is within five standard deviations of p."""
    return abs(share - p) <= 5 * np.sqrt(p * (1 - p) / n)


def test_xd6():
    X, y = xd6(5000, noise=0, random_state=0)
    assert X.shape == (5000, 10)
    rule = np.array([any(all(row[k : k + 3]) for k in (0, 3, 6)) for row in X.tolist()])
    assert (y == rule).all()
    assert near(y.mean(), 1 - (7 / 8) ** 3, 5000)
    for share in X.mean(axis=0):
        assert near(share, 0.5, 5000)
    noisy, labels = xd6(20000, noise=0.1, random_state=1)
    wrong = labels != noisy[:, :9].reshape(-1, 3, 3).all(axis=2).any(axis=1)
    assert near(wrong.mean(), 0.1, 20000)
    # whether a class is flipped has nothing to do with the class
    assert near(wrong[labels == wrong].mean(), 0.1, int((labels == wrong).sum()))


def test_led():
    X, y = led(3000, noise=0, random_state=0)
    assert X.shape == (3000, 7)
    shown = {tuple(row) for row in np.column_stack([X, y]).tolist()}
    assert len(shown) == 10  # one picture per digit
    assert len({row[:7] for row in shown}) == 10
    assert [sum(row[:7]) for row in sorted(shown, key=lambda row: row[7])] == [6, 2, 5, 5, 4, 5, 6, 3, 7, 6]
    clean = np.array([row[:7] for row in sorted(shown, key=lambda row: row[7])])
    noisy, labels = led(20000, noise=0.1, n_irrelevant=17, random_state=3)
    assert noisy.shape == (20000, 24)
    for share in (noisy[:, :7] != clean[labels]).mean(axis=0):
        assert near(share, 0.1, 20000)
    for share in noisy[:, 7:].mean(axis=0):
        assert near(share, 0.5, 20000)
    for digit in range(10):
        assert near((labels == digit).mean(), 0.1, 20000)


def test_the_best_that_anyone_can_do_on_led():
    X, y = led(50000, noise=0.1, random_state=4)
    proba = led_bayes_proba(X, 0.1)
    assert np.abs(proba.sum(axis=1) - 1).max() < 1e-12
    assert near((proba.argmax(axis=1) == y).mean(), 0.74, 50000)
    # the probabilities are right: where a digit has probability p it occurs with frequency p
    for low in (0.0, 0.2, 0.5, 0.8):
        some = (proba >= low) & (proba < low + 0.2)
        assert near((y[:, None] == np.arange(10))[some].mean(), proba[some].mean(), some.sum())


def test_xor():
    X, y = xor(4000, n_irrelevant=6, random_state=0)
    assert X.shape == (4000, 8)
    assert (y == (X[:, 0] != X[:, 1])).all()
    for j in range(8):  # each test alone says nothing
        assert near((y == X[:, j]).mean(), 0.5, 4000)
    noisy, labels = xor(20000, noise=0.2, random_state=1)
    assert near((labels != (noisy[:, 0] ^ noisy[:, 1])).mean(), 0.2, 20000)


def test_one_tree_is_learnt_without_error_and_needs_every_test():
    data = multi_tree(1, random_state=0)
    assert data.X.shape == (4000, 15)
    assert data.trees.shape == (1, 127)
    leaves = data.leaves(0)
    assert np.bincount(leaves, minlength=128).min() >= 12
    classes = [set(data.y[leaves == leaf]) for leaf in range(128)]
    assert all(len(each) == 1 for each in classes)  # pure
    assert all(classes[leaf] != classes[leaf + 1] for leaf in range(0, 128, 2))  # siblings differ


def test_paths_have_different_tests_and_leaves_are_those_of_the_tests():
    data = multi_tree(2, n=500, n_tests=6, depth=4, min_share=0.01, random_state=3)
    for t, tree in enumerate(data.trees):
        leaves = data.leaves(t)
        for row, leaf in zip(data.X.tolist(), leaves.tolist(), strict=True):
            node, path = 0, []
            while node < 15:
                path.append(int(tree[node]))
                node = 2 * node + 1 + row[path[-1]]
            assert node - 15 == leaf
            assert len(set(path)) == 4
        assert np.bincount(leaves, minlength=16).min() >= 5


def test_more_trees_leave_less_pure_leaves():
    def impurity(n_trees: int, seed: int) -> float:
        data = multi_tree(n_trees, random_state=seed)
        share = []
        for t in range(n_trees):
            counts = np.zeros((128, 2))
            np.add.at(counts, (data.leaves(t), data.y), 1)
            assert counts.sum(axis=1).min() >= 12
            share.append(counts.min(axis=1).sum() / 4000)
        return float(np.mean(share))

    means = [np.mean([impurity(n, seed) for seed in range(4)]) for n in (1, 2, 6)]
    assert means[0] == 0 < means[1] < means[2]


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: xd6(50, random_state=seed),
        lambda seed: led(50, n_irrelevant=2, random_state=seed),
        lambda seed: xor(50, 3, 0.1, random_state=seed),
        lambda seed: multi_tree(2, 300, 8, 3, random_state=seed)[:2],
    ],
)
def test_seeds(make):
    one, same, other = make(1), make(1), make(2)
    goes_on = make(np.random.default_rng(1))
    for a, b, c, d in zip(one, same, other, goes_on, strict=True):
        assert (a == b).all()
        assert (a == d).all()
        assert (a != c).any()
    assert set(np.unique(one[0])) == {0, 1}
    assert one[1].dtype == np.int64


def test_bad_arguments_are_refused():
    for call, message in (
        (lambda: xd6(0), "n=0"),
        (lambda: xd6(5, noise=1.5), r"noise=1\.5"),
        (lambda: led(5, noise=-0.1), r"noise=-0\.1"),
        (lambda: led(5, n_irrelevant=-1), "n_irrelevant=-1"),
        (lambda: led_bayes_proba([[0] * 7], noise=0.0), r"noise=0\.0"),
        (lambda: xor(5, 2.5), r"n_irrelevant=2\.5"),
        (lambda: xor(5, random_state="seed"), "random_state='seed'"),
        (lambda: multi_tree(0), "n_trees=0"),
        (lambda: multi_tree(1, n_tests=5), "depth=7 with n_tests=5; a path needs 7 different tests"),
        (
            lambda: multi_tree(1, min_share=0.03),
            r"128 leaves .* min_share=0\.03",
        ),  # what cannot hold for 128 leaves
        (lambda: multi_tree(1, n=100), "128 leaves"),
        (lambda: multi_tree(1, n=64, n_tests=6, depth=6), "in 1000 draws some leaf had fewer than 1"),
    ):
        with pytest.raises(QueryError, match=message):
            call()
