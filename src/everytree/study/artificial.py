"""Artificial data whose law is known: what a learner should find, and how well anyone could do.

    xd6          (x0 ∧ x1 ∧ x2) ∨ (x3 ∧ x4 ∧ x5) ∨ (x6 ∧ x7 ∧ x8), x9 says nothing; classes flipped (Quinlan)
    led          the digit that seven segments show, each of them faulty with some probability (Breiman et al.)
    xor          whether two tests differ, among tests that say nothing
    multi_tree   examples of which different trees explain different parts (Nijssen)

Every function returns 0/1 tests ``X`` and classes ``y``, the same for the same ``random_state``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from everytree.common.arguments import generator, number, whole
from everytree.errors import QueryError

__all__ = ["MultiTree", "led", "led_bayes_proba", "multi_tree", "xd6", "xor"]

Tests = npt.NDArray[np.int8]
Classes = npt.NDArray[np.int64]

# Segments in the order top, upper left, upper right, middle, lower left, lower right, bottom.
LIT = (
    "1110111",
    "0010010",
    "1011101",
    "1011011",
    "0111010",
    "1101011",
    "1101111",
    "1010010",
    "1111111",
    "1111011",
)
SEGMENTS = np.array([[int(lit) for lit in digit] for digit in LIT], dtype=np.int8)


def xd6(n: int, noise: float = 0.1, random_state: Any = None) -> tuple[Tests, Classes]:
    """Draw examples of ten fair tests whose class is a disjunction of three conjunctions, with noise.

    No tree on the tests alone is small: the class needs three tests of each of three groups. The best possible
    accuracy is 1 − noise.

    Parameters
    ----------
    n : int
        The number of examples.
    noise : float, default=0.1
        The probability that a class is flipped.
    random_state : int, numpy.random.Generator or None, default=None
        The seed; the same number gives the same data.

    Returns
    -------
    tuple of (X, y)
        The 0/1 tests, one row per example, and the classes.

    Examples
    --------
    >>> X, y = xd6(4, noise=0, random_state=1)
    >>> X.shape, bool((y == X[:, :9].reshape(-1, 3, 3).all(axis=2).any(axis=1)).all())
    ((4, 10), True)
    """
    n, noise, rng = (
        whole("n", n, 1),
        number("noise", noise, 0, 1, example=0.1, closed=True),
        generator(random_state),
    )
    X = _fair(rng, n, 10)
    y = np.any(np.all(X[:, :9].reshape(n, 3, 3), axis=2), axis=1)
    return X, (y ^ (rng.random(n) < noise)).astype(np.int64)


def led(n: int, noise: float = 0.1, n_irrelevant: int = 0, random_state: Any = None) -> tuple[Tests, Classes]:
    """Draw digits as the seven segments of a display, with noise and tests that say nothing.

    The usual problems have no irrelevant test, or 17 (LED24). With noise 0.1 the best possible accuracy is 74 %.

    Parameters
    ----------
    n : int
        The number of examples.
    noise : float, default=0.1
        The probability that a segment is inverted.
    n_irrelevant : int, default=0
        The number of fair tests, after the segments, that say nothing.
    random_state : int, numpy.random.Generator or None, default=None
        The seed; the same number gives the same data.

    Returns
    -------
    tuple of (X, y)
        The 0/1 tests, one row per example, and the classes.

    Examples
    --------
    >>> X, y = led(3, noise=0, random_state=2)
    >>> "".join(map(str, X[0])), int(y[0])
    ('1111111', 8)
    """
    n, noise, rng = (
        whole("n", n, 1),
        number("noise", noise, 0, 1, example=0.1, closed=True),
        generator(random_state),
    )
    n_irrelevant = whole("n_irrelevant", n_irrelevant, 0)
    y = rng.integers(0, 10, n)
    X = SEGMENTS[y] ^ (rng.random((n, 7)) < noise)
    return np.hstack([X, _fair(rng, n, n_irrelevant)]), y


def led_bayes_proba(X: npt.ArrayLike, noise: float = 0.1) -> npt.NDArray[np.float64]:
    """Return the probability of each digit by the law of ``led``: no learner can be better on average.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_tests)
        The segments of each example; further tests are ignored.
    noise : float, default=0.1
        The probability that a segment is inverted.

    Returns
    -------
    ndarray of shape (n_rows, 10)
        The probability of each digit.

    Examples
    --------
    >>> led_bayes_proba([[0, 0, 1, 0, 0, 1, 0]], noise=0.1).argmax(axis=1)
    array([1])
    """
    number("noise", noise, 0, 1, example=0.1)
    wrong = (np.asarray(X)[:, None, :7] != SEGMENTS).sum(axis=2)
    likelihood = noise**wrong * (1 - noise) ** (7 - wrong)
    proba: npt.NDArray[np.float64] = likelihood / likelihood.sum(axis=1, keepdims=True)
    return proba


def xor(n: int, n_irrelevant: int = 0, noise: float = 0.0, random_state: Any = None) -> tuple[Tests, Classes]:
    """Draw examples whose class is whether x0 and x1 differ, among tests that say nothing.

    Either test alone says nothing, so a learner that looks one test ahead has nothing to go by.

    Parameters
    ----------
    n : int
        The number of examples.
    n_irrelevant : int, default=0
        The number of fair tests, after x0 and x1, that say nothing.
    noise : float, default=0.0
        The probability that a class is flipped.
    random_state : int, numpy.random.Generator or None, default=None
        The seed; the same number gives the same data.

    Returns
    -------
    tuple of (X, y)
        The 0/1 tests, one row per example, and the classes.

    Examples
    --------
    >>> X, y = xor(5, n_irrelevant=3, random_state=0)
    >>> X.shape, bool((y == X[:, 0] ^ X[:, 1]).all())
    ((5, 5), True)
    """
    n, noise, rng = (
        whole("n", n, 1),
        number("noise", noise, 0, 1, example=0.1, closed=True),
        generator(random_state),
    )
    X = _fair(rng, n, 2 + whole("n_irrelevant", n_irrelevant, 0))
    y = X[:, 0] ^ X[:, 1] ^ (rng.random(n) < noise)
    return X, y.astype(np.int64)


def _fair(rng: np.random.Generator, n: int, n_tests: int) -> Tests:
    return rng.integers(0, 2, (n, n_tests), dtype=np.int8)


class MultiTree(NamedTuple):
    """Tests, classes, and the trees behind them, as ``multi_tree`` draws them.

    Parameters
    ----------
    X : ndarray of shape (n, n_tests)
        The 0/1 tests.
    y : ndarray of shape (n,)
        The classes, 0 or 1.
    trees : ndarray of shape (n_trees, 2^depth - 1)
        The tests of each complete tree; the children of node i are 2i + 1 and 2i + 2.

    Examples
    --------
    >>> multi_tree(2, n=400, n_tests=6, depth=3, random_state=0).trees.shape
    (2, 7)
    """

    X: Tests
    y: Classes
    trees: npt.NDArray[np.int64]

    def leaves(self, tree: int) -> npt.NDArray[np.int64]:
        """Return the leaf that each example reaches in a tree.

        Parameters
        ----------
        tree : int
            The number of the tree, from 0.

        Returns
        -------
        ndarray of shape (n,)
            The leaves, numbered from left to right.
        """
        return _leaves(self.X, self.trees[tree])


def multi_tree(
    n_trees: int = 1,
    n: int = 4000,
    n_tests: int = 15,
    depth: int = 7,
    min_share: float = 0.003,
    random_state: Any = None,
) -> MultiTree:
    """Draw examples of which ``n_trees`` random complete trees of one depth each explain a part.

    The tests are fair, and drawn again until every leaf of every tree has a share ``min_share`` of the examples. Then
    the trees take turns: each labels, among its leaves, the one with the most examples that have no class yet. Such a
    leaf gets the class that its sibling has not; before the sibling has any, the class most frequent in the leaf
    itself, or a random one. One tree is thus learnt without error, and none of its tests can be left out; the more
    trees, the less pure are the leaves of each.

    Parameters
    ----------
    n_trees : int, default=1
        The number of trees.
    n : int, default=4000
        The number of examples.
    n_tests : int, default=15
        The number of tests.
    depth : int, default=7
        The depth of the trees.
    min_share : float, default=0.003
        The smallest share of the examples in a leaf.
    random_state : int, numpy.random.Generator or None, default=None
        The seed; the same number gives the same data.

    Returns
    -------
    MultiTree
        The tests, the classes and the trees.

    Raises
    ------
    QueryError
        If the leaves are too many for the examples.

    Examples
    --------
    >>> data = multi_tree(2, n=400, n_tests=6, depth=3, random_state=0)
    >>> data.X.shape, data.trees.shape, bool(np.bincount(data.leaves(0)).min() >= 2)
    ((400, 6), (2, 7), True)
    """
    n_trees, n, depth = whole("n_trees", n_trees, 1), whole("n", n, 1), whole("depth", depth, 1)
    n_tests, rng = whole("n_tests", n_tests, 1), generator(random_state)
    min_share = number("min_share", min_share, 0, 1, example=0.003, closed=True)
    if depth > n_tests:
        raise QueryError(f"depth={depth} with n_tests={n_tests}; a path needs {depth} different tests")
    if 2**depth * min_share > 1 or 2**depth > n:
        raise QueryError(
            f"{2**depth} leaves (depth={depth}) cannot each have a share min_share={min_share:g} of n={n} examples, "
            "and at least one; expected fewer levels, a smaller share or more examples"
        )
    trees = np.array([_random_tree(rng, n_tests, depth) for _ in range(n_trees)])
    X, leaves = _fill(rng, trees, n, n_tests, max(1.0, min_share * n))
    return MultiTree(X, _label(rng, leaves, 2**depth), trees)


def _random_tree(rng: np.random.Generator, n_tests: int, depth: int) -> list[int]:
    """Draw a complete tree of ``depth`` levels of tests, with different tests on each path."""
    tests: list[int] = []
    paths: list[list[int]] = [[]]
    for _ in range(depth):
        below = []
        for path in paths:
            tests.append(int(rng.choice(np.setdiff1d(np.arange(n_tests), path))))
            below += [[*path, tests[-1]]] * 2
        paths = below
    return tests


def _leaves(X: Tests, tree: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    node, rows = np.zeros(len(X), dtype=np.int64), np.arange(len(X))
    for _ in range((len(tree) + 1).bit_length() - 1):
        node = 2 * node + 1 + X[rows, tree[node]]
    return node - len(tree)


def _fill(
    rng: np.random.Generator, trees: npt.NDArray[np.int64], n: int, n_tests: int, least: float
) -> tuple[Tests, npt.NDArray[np.int64]]:
    """Draw the tests of ``n`` examples, with ``least`` or more examples in every leaf; return them and their leaves."""
    for _ in range(1000):
        X = _fair(rng, n, n_tests)
        leaves = np.array([_leaves(X, tree) for tree in trees])
        if all(np.bincount(each, minlength=trees.shape[1] + 1).min() >= least for each in leaves):
            return X, leaves
    raise QueryError(
        f"in 1000 draws some leaf had fewer than {least:g} of n={n} examples; expected a smaller min_share or more "
        "examples: fair tests leave some leaves small"
    )


def _label(rng: np.random.Generator, leaves: npt.NDArray[np.int64], n_leaves: int) -> Classes:
    y = np.full(leaves.shape[1], -1, dtype=np.int64)
    while (y < 0).any():
        for place in leaves:
            free = np.bincount(place[y < 0], minlength=n_leaves)
            leaf = int(free.argmax())
            if free[leaf] == 0:
                break
            y[(place == leaf) & (y < 0)] = _class_of(rng, y, place, leaf)
    return y


def _class_of(rng: np.random.Generator, y: Classes, place: npt.NDArray[np.int64], leaf: int) -> int:
    sibling, own = (np.bincount(y[(place == each) & (y >= 0)], minlength=2) for each in (leaf ^ 1, leaf))
    if sibling[0] != sibling[1]:
        return int(sibling[0] > sibling[1])
    return int(own[1] > own[0]) if own[0] != own[1] else int(rng.integers(0, 2))
