"""Cost-complexity pruning: by brute force, by weakest links in fractions, and beside scikit-learn's pruner."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from everytree.data.columns import RawColumn
from everytree.errors import DataError
from everytree.estimators.cart_growth import Growth, asked_of
from everytree.trees.cost_complexity import (
    choose,
    collapse_points,
    errors_by_price,
    prices,
    risks,
    stratified_counts,
)
from everytree.trees.multiway import MultiwayTree


def grown(seed, n=60, n_classes=3, criterion="gini"):
    """A full tree on few different values, so that there are ties and splits that gain nothing; its rows."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 5, (n, 3)).astype(float)
    y = np.where(
        rng.random(n) < 0.6, (X[:, 0] + X[:, 1]).astype(int) % n_classes, rng.integers(0, n_classes, n)
    )
    columns = tuple(RawColumn(f"x{j}", "numeric") for j in range(3))
    growth = Growth(columns, tuple(range(n_classes)), asked_of(X, columns, 9), criterion, 1, None, seed)
    return growth.grow(X, growth.ranked(X), y, np.ones(n, dtype=np.int64)), X, y


def random_tree(rng, n_classes=2):
    """A tree of random shape with up to three branches and random counts of examples in the leaves."""
    attribute, first, width = [-1], [0], [0]
    for node in range(int(rng.integers(0, 12))):
        if node < len(attribute) and rng.random() < 0.7:
            attribute[node], first[node], width[node] = 0, len(attribute), int(rng.integers(2, 4))
            attribute += [-1] * width[node]
            first += [0] * width[node]
            width += [0] * width[node]
    leaves = np.array(attribute) < 0
    counts = np.where(leaves[:, None], rng.integers(0, 6, (len(attribute), n_classes)), 0).astype(float)
    counts[leaves, 0] += 1
    tree = MultiwayTree(
        np.array(attribute, np.int32), np.full(len(attribute), np.nan), np.array(first, np.uint32),
        np.array(width, np.uint32), counts, (), tuple(range(n_classes)),
    )  # fmt: skip
    return MultiwayTree(
        tree.attribute,
        tree.threshold,
        tree.first_child,
        tree.n_children,
        tree.added_up(counts),
        (),
        tree.classes,
    )


def weakest_links(tree):
    """Breiman's definition, with errors in whole numbers: the nodes of least (R(t) − R(T_t))/(leaves − 1) go, again."""
    risk = [int(x) for x in risks(tree.counts, "error")]
    leaf = {node for node in range(tree.n_nodes) if not tree.children(node)}
    found = {}

    def below(node):
        if node in leaf:
            return risk[node], 1
        sums = [below(child) for child in tree.children(node)]
        return sum(a for a, _ in sums), sum(b for _, b in sums)

    def inner(node=0):
        return [] if node in leaf else [node, *(n for child in tree.children(node) for n in inner(child))]

    while inner():
        link = {node: Fraction(risk[node] - below(node)[0], below(node)[1] - 1) for node in inner()}
        least = min(link.values())
        before = set(inner())
        leaf |= {node for node in link if link[node] == least}
        for node in before - set(inner()):
            found[node] = least
    return found


def test_weakest_links_by_the_book():
    rng = np.random.default_rng(0)
    sizes = set()
    for _ in range(400):
        tree = random_tree(rng, int(rng.integers(2, 4)))
        gamma = collapse_points(tree, risks(tree.counts, "error"))
        expected = weakest_links(tree)
        assert {node: gamma[node] for node in expected} == {node: float(x) for node, x in expected.items()}
        assert (gamma[[node for node in range(tree.n_nodes) if node not in expected]] == -np.inf).all()
        sizes.add(len(expected))
    assert max(sizes) >= 5


def subtrees(tree, node=0):
    """(nodes that are leaves, in order) of every subtree with this root."""
    yield (node,)
    if tree.children(node):
        parts = [()]
        for child in tree.children(node):
            parts = [one + other for one in parts for other in subtrees(tree, child)]
        yield from parts


@pytest.mark.parametrize("kind", ["gini", "entropy", "error"])
def test_the_smallest_subtree_of_least_cost_by_brute_force(kind):
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(60):
        tree = random_tree(rng)
        if tree.n_leaves > 9:
            continue
        risk = risks(tree.counts, kind)
        gamma = collapse_points(tree, risk)
        every = list(subtrees(tree))
        for price in [*prices(gamma)[:-1], *(rng.random(5) * 3)]:
            cost = [sum(risk[list(leaves)]) + price * len(leaves) for leaves in every]
            least = min(cost) + 1e-9
            best = min((leaves for leaves, c in zip(every, cost, strict=True) if c <= least), key=len)
            found = tree.pruned(gamma <= price)
            assert found.n_leaves == len(best)
            wanted = Counter(map(tuple, tree.counts[list(best)].tolist()))
            assert Counter(map(tuple, found.counts[found.attribute < 0].tolist())) == wanted
            seen += 1
    assert seen > 200


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize("seed", range(8))
def test_the_same_prices_and_trees_as_scikit_learn(seed, criterion):
    tree, X, y = grown(seed, criterion=criterion)
    theirs = DecisionTreeClassifier(criterion=criterion, random_state=seed)
    path = np.maximum(theirs.cost_complexity_pruning_path(X, y).ccp_alphas, 0)
    gamma = collapse_points(tree, risks(tree.counts, criterion)) / len(y)
    steps = np.unique(np.concatenate([[0.0], gamma[gamma > 0]]))
    merged = path[np.concatenate([[True], np.diff(path) > 1e-9])]
    assert steps == pytest.approx(merged, abs=1e-9)
    for price in prices(gamma)[1:-1]:
        pruned = tree.pruned(gamma <= price)
        same = DecisionTreeClassifier(criterion=criterion, random_state=seed, ccp_alpha=price).fit(X, y)
        assert pruned.n_nodes == same.tree_.node_count
        proba = pruned.counts[pruned.apply(X)]
        assert proba / proba.sum(axis=1, keepdims=True) == pytest.approx(same.predict_proba(X), abs=1e-12)


@pytest.mark.parametrize("kind", ["gini", "error"])
@pytest.mark.parametrize("seed", range(6))
def test_errors_at_every_price(seed, kind):
    tree, _, _ = grown(seed)
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-1, 6, (80, 3)).astype(float), rng.integers(0, 3, 80)
    X[rng.random(X.shape) < 0.1] = np.nan  # no branch: such rows stop where they are
    ends = np.zeros(tree.counts.shape, dtype=np.int64)
    np.add.at(ends, (tree.apply(X), y), 1)
    gamma = collapse_points(tree, risks(tree.counts, kind))
    at = prices(gamma)
    expected = []
    for price in at:
        pruned = tree.pruned(gamma <= price)
        expected.append(int((np.argmax(pruned.counts[pruned.apply(X)], axis=1) != y).sum()))
    assert errors_by_price(tree, gamma, ends, at).tolist() == expected
    assert len(set(expected)) > 1


def test_a_long_path_takes_no_time():
    n = 4000
    attribute = np.where(np.arange(2 * n + 1) % 2 == 0, 0, -1).astype(np.int32)
    attribute[-1] = -1
    first = np.where(attribute >= 0, np.arange(2 * n + 1) + 1, 0).astype(np.uint32)
    width = np.where(attribute >= 0, 2, 0).astype(np.uint32)
    leaves = np.zeros((2 * n + 1, 2))
    leaves[attribute < 0, np.arange(n + 1) % 2] = 1
    bare = MultiwayTree(attribute, np.zeros(2 * n + 1), first, width, leaves, (), (0, 1))
    counts = bare.added_up(leaves)
    tree = MultiwayTree(attribute, bare.threshold, first, width, counts, (), (0, 1))
    gamma = collapse_points(tree, risks(counts, "error"))
    assert tree.depth == n
    assert gamma[0] == 0.5  # n/2 errors, n leaves more


@pytest.mark.parametrize(
    ("errors", "n", "expected"),
    [([5, 5, 5], 20, (2, 2)), ([0, 0, 3], 9, (1, 1)), ([4, 3, 4, 9], 12, (1, 2)), ([9, 8, 7], 9, (2, 2))],
)
def test_the_rules(errors, n, expected):
    assert tuple(choose(np.array(errors), n, rule) for rule in ("0-SE", "1-SE")) == expected


def test_folds_are_even_and_weights_are_copies():
    rng = np.random.default_rng(0)
    for _ in range(200):
        y, weights = rng.integers(0, 4, 12), rng.integers(1, 5, 12)
        k = int(rng.integers(2, 9))
        found = stratified_counts(y, weights, k, rng)
        assert found.min() >= 0
        assert found.sum(axis=1).tolist() == weights.tolist()
        assert np.ptp(found.sum(axis=0)) <= 1
        for c in np.unique(y):
            assert np.ptp(found[y == c].sum(axis=0)) <= 1


def test_every_way_to_deal_is_equally_likely():
    # Four examples of one class in two folds of two: the pair that is with the first example is any of three. As a row
    # of weight two and two others: both copies together in one case of three.
    rng = np.random.default_rng(0)
    y, n = np.zeros(3, dtype=int), 3000
    together = sum(
        stratified_counts(y, np.array([2, 1, 1]), 2, rng)[0].max() == 2 for _ in range(n)
    )  # 1000 expected, standard deviation 26
    assert abs(together - n / 3) < 110


def test_too_many_examples_for_folds():
    with pytest.raises(
        DataError, match=r"a class has 2000000000 examples; .* Divide sample_weight, for example by 30"
    ):
        stratified_counts(np.array([0]), np.array([2 * 10**9]), 10, np.random.default_rng(0))
    found = stratified_counts(np.array([0, 0]), np.array([10**8, 1]), 10, np.random.default_rng(0))
    assert found.sum(axis=0).tolist() == [10**7 + 1] + [10**7] * 9
